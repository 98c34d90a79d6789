"""Calls of ops without what torch.library adds to every call, which for an op of many arguments is
more time than the kernels take on a small graph. Traced calls go the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def call(op: Any, *args: Any) -> Any:
    """op(*args); past autograd where nothing is to be recorded."""
    if torch.compiler.is_compiling() or torch.is_grad_enabled():
        return op(*args)
    with torch._C._AutoDispatchBelowAutograd():
        return op(*args)


def differentiable(op: Any, setup: Callable[..., None], backward: Callable[..., Any]) -> Any:
    """A function like `op`, with the formulas that torch.library.register_autograd takes."""

    class Recorded(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                return op(*args)

    Recorded.setup_context = staticmethod(setup)
    Recorded.backward = staticmethod(backward)

    def run(*args: Any, record: bool) -> Any:
        if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
            return op(*args)
        if record:
            return Recorded.apply(*args)
        with torch._C._AutoDispatchBelowAutograd():
            return op(*args)

    return run
