"""Fixtures and helpers of the op tests: operands on hard graphs, comparison with the formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sage_attention.testing import tolerances

Compare = Callable[..., None]


@pytest.fixture(params=["float32", "float64", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    """Each test that takes it runs in every supported dtype."""
    result: torch.dtype = getattr(torch, request.param)
    return result


@pytest.fixture
def compare() -> Compare:
    """compare(op, oracle, operands): values and all gradients, the oracle's in float64."""

    def run(
        op: Callable[..., tuple[Tensor, ...]],
        oracle: Callable[..., tuple[Tensor, ...]],
        *operands: Tensor,
    ) -> None:
        ours = [t.detach().requires_grad_() for t in operands]
        reference = [t.detach().cpu().double().requires_grad_() for t in operands]
        actual, expected = op(*ours), oracle(*reference)
        upstream = [torch.randn(t.shape, dtype=torch.float64) for t in expected]
        for mine, theirs in zip(actual, expected, strict=True):
            assert mine.shape == theirs.shape
            assert mine.dtype == operands[0].dtype
            tolerances.assert_close(mine, theirs)
        upstream = [u.to(t.dtype).double() for u, t in zip(upstream, actual, strict=True)]
        grads = torch.autograd.grad(
            actual, ours, [u.to(t) for u, t in zip(upstream, actual, strict=True)]
        )
        wanted = torch.autograd.grad(expected, reference, upstream)
        for mine, theirs in zip(grads, wanted, strict=True):
            assert mine.dtype == operands[0].dtype
            # Operands and upstream gradients are of magnitude 1, and so are the terms of a sum.
            tolerances.assert_close(mine, theirs, gradient=True, floor=1.0)

    return run


@pytest.fixture
def misaligned() -> Callable[[Tensor], Tensor]:
    """A copy of a tensor whose data starts one element behind a 64-byte boundary."""

    def copy(value: Tensor) -> Tensor:
        room = torch.empty(value.numel() + 1, dtype=value.dtype, device=value.device)
        result = room[1:].view(value.shape)
        assert value.numel() == 0 or result.data_ptr() % 16
        return result.copy_(value)

    return copy
