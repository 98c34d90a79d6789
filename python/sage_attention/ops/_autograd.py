"""How ops get gradients, in eager mode and under torch.func and torch.compile.

torch.library.register_autograd is not used: for an op of many arguments it adds more time to a call
than the kernels take on a small graph, and under it forward-mode derivatives come out as 0 and
torch.func.grad fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .._cache import in_transform

_LIBRARIES: dict[str, torch.library.Library] = {}


def differentiable(
    op: Any, public: str, setup: Callable[..., None], backward: Callable[..., Any]
) -> Callable[..., Any]:
    """Gives `op` a gradient, by the two formulas that torch.library.register_autograd takes, and
    returns a function like `op` that costs less per call; errors name the function `public`."""

    class Recorded(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                output = _in_next_transform(op, args) if in_transform() else op(*args)
            setup(ctx, args, output)
            return output

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return backward(ctx, *grads)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            raise NotImplementedError(
                f"no forward-mode derivatives (torch.func.jvp, jacfwd, forward_ad) of {public}; "
                "use reverse mode (torch.func.vjp, jacrev), or sage_attention.testing.oracles, "
                "whose plain torch formulas have them"
            )

    def run(*args: Any) -> Any:
        tangents = forward_ad._current_level >= 0
        if not tangents and not (torch.is_grad_enabled() and torch._C._any_requires_grad(*args)):
            with torch._C._AutoDispatchBelowAutograd():
                return op(*args)
        if not in_transform():
            return Recorded.apply(*args)
        with torch._functorch.utils.enable_single_level_autograd_function():
            return super(torch.autograd.Function, Recorded).apply(*args)

    def call(*args: Any) -> Any:
        if torch.compiler.is_compiling() or in_transform():
            return op(*args)
        return run(*args)

    _library(op).impl(op, run, "Autograd")
    torch.library.register_vmap(op, _one_by_one(op, public), lib=_library(op))
    return call


def once_differentiable(op: Any, public: str) -> Callable[..., Any]:
    """As `differentiable` for the backward of an op, which itself has no gradient."""

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"{public} cannot be differentiated twice; use create_graph=False, or "
            "sage_attention.testing.oracles, whose plain torch formulas can"
        )

    return differentiable(op, public, setup, backward)


def _library(op: Any) -> torch.library.Library:
    name = op.namespace
    if name not in _LIBRARIES:
        _LIBRARIES[name] = torch.library.Library(name, "IMPL")
    return _LIBRARIES[name]


def _in_next_transform(op: Any, args: tuple[Any, ...]) -> Any:
    """op(*args), recorded by the transforms around this one, which forward() has switched off."""
    with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
        return op(*args)


def _one_by_one(op: Any, public: str) -> Callable[..., Any]:
    """A rule for vmap: one call an element of the batch."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        if info.batch_size == 0:
            raise ValueError(f"vmap over {public} needs a batch of at least one element")
        results = [
            op(*(a if d is None else a.select(d, i) for a, d in zip(args, in_dims, strict=True)))
            for i in range(info.batch_size)
        ]
        if isinstance(results[0], Tensor):
            return torch.stack(results), 0
        stacked = tuple(torch.stack(parts) for parts in zip(*results, strict=True))
        return stacked, (0,) * len(stacked)

    return rule
