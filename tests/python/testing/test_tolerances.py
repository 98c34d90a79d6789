"""Tolerances let rounding pass, and nothing else."""

from __future__ import annotations

import math

import pytest
import torch

from sage_attention.testing import tolerances


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_tolerances_catch_errors(dtype: torch.dtype) -> None:
    expected = torch.linspace(-4.0, 4.0, 9, dtype=torch.float64).to(dtype).double()
    actual = expected.to(dtype)
    tolerances.assert_close(actual, expected)
    assert torch.finfo(dtype).eps < tolerances.tolerance(dtype) * 4
    wrong = actual.clone()
    wrong[3] += 4.5 * tolerances.tolerance(dtype)
    with pytest.raises(AssertionError):
        tolerances.assert_close(wrong, expected)
    with pytest.raises(AssertionError):
        tolerances.assert_close(torch.full_like(actual, math.nan), expected)
