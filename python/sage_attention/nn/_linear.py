"""Linear with lazy input size and the initialisations of PyTorch Geometric's Linear."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter


def glorot_(weight: Tensor) -> None:
    """U(-b, b) with b = sqrt(6 / (size(-2) + size(-1))) (Glorot and Bengio, AISTATS 2010)."""
    bound = math.sqrt(6.0 / (weight.shape[-2] + weight.shape[-1]))
    with torch.no_grad():
        weight.uniform_(-bound, bound)


class Linear(nn.Module):
    """x W^T + b; in_channels = -1 takes the size from the first input.

    Args:
        in_channels: size of an input row, or -1.
        out_channels: size of an output row.
        bias: whether to add b.
        glorot: initialise W by `glorot_`; else, and b always, U(+-1 / sqrt(in_channels)).
    """

    def __init__(
        self, in_channels: int, out_channels: int, bias: bool = True, glorot: bool = False
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.glorot = glorot
        self.weight: Any = (
            UninitializedParameter()
            if in_channels < 0
            else nn.Parameter(torch.empty(out_channels, in_channels))
        )
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    @property
    def is_lazy(self) -> bool:
        """Whether the input size is still unknown."""
        return isinstance(self.weight, UninitializedParameter)

    def reset_parameters(self) -> None:
        """Draws all parameters anew; those of unknown size when it becomes known."""
        if self.is_lazy or self.in_channels == 0:
            return
        bound = 1.0 / math.sqrt(self.in_channels)
        with torch.no_grad():
            if self.glorot:
                glorot_(self.weight)
            else:
                self.weight.uniform_(-bound, bound)
            if self.bias is not None:
                self.bias.uniform_(-bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """[*, in_channels] -> [*, out_channels]."""
        if self.is_lazy:
            self._materialize(x.shape[-1])
            self.reset_parameters()
        return nn.functional.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """in_channels, out_channels, bias."""
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"

    def _materialize(self, in_channels: int) -> None:
        self.in_channels = in_channels
        self.weight.materialize((self.out_channels, in_channels))

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        if not self.is_lazy:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            return
        destination[prefix + "weight"] = self.weight  # has no data that could be detached
        if self.bias is not None:
            destination[prefix + "bias"] = self.bias if keep_vars else self.bias.detach()

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        weight = state_dict.get(prefix + "weight")
        if isinstance(weight, UninitializedParameter):
            self.in_channels = -1
            self.weight = UninitializedParameter()
        elif weight is not None and self.is_lazy:
            self._materialize(weight.shape[-1])
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
