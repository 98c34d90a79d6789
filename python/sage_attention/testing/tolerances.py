"""How closely results must agree, by dtype."""

from __future__ import annotations

import torch
from torch import Tensor

# A sum of n rounded terms errs by about sqrt(n) * eps of its largest terms: eps is 1.2e-7, 2.2e-16
# and 7.8e-3 (bfloat16, stored; it is summed in float32). Gradients pass through one more rounding.
FORWARD = {torch.float32: 1e-5, torch.float64: 1e-13, torch.bfloat16: 1e-2}
GRADIENT = {torch.float32: 3e-5, torch.float64: 1e-12, torch.bfloat16: 2.5e-2}


def tolerance(dtype: torch.dtype, *, gradient: bool = False) -> float:
    """Largest accepted error, relative to the largest magnitude in the expected tensor.

    Example:
        >>> tolerance(torch.float32)
        1e-05
    """
    return (GRADIENT if gradient else FORWARD)[dtype]


def assert_close(
    actual: Tensor, expected: Tensor, *, gradient: bool = False, floor: float = 0.0
) -> None:
    """Compares with a float64 reference: |actual - expected| <= tolerance * scale, where scale is
    the largest of |expected| and `floor`.

    The bound is for the tensor as a whole, since single elements may cancel to nothing; where all
    of them may, `floor` tells the magnitude of the terms. NaN and infinities must be in the same
    places.

    Raises:
        AssertionError: with the place and size of the largest error.

    Example:
        >>> assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float64))
    """
    finite = expected[expected.isfinite()]
    scale = finite.abs().max().item() if finite.numel() else 0.0
    torch.testing.assert_close(
        actual.detach().double().cpu(),
        expected.detach().double().cpu(),
        rtol=0.0,
        atol=tolerance(actual.dtype, gradient=gradient) * max(scale, floor),
        equal_nan=True,
    )
