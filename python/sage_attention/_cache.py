"""What a graph computes once and keeps, safe under tracing, torch.func, capture and streams."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def values_hidden(tensor: Tensor) -> bool:
    """Whether values may not be read now: under torch.compile, or in CUDA graph capture."""
    return torch.compiler.is_compiling() or (
        tensor.is_cuda and torch.cuda.is_current_stream_capturing()
    )


def outside_inference_mode() -> AbstractContextManager[Any]:
    """Tensors made inside can be saved for a backward, even if the caller is in inference mode."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)


def in_transform() -> bool:
    """Whether a transform of torch.func (grad, vjp, vmap, ...) is going on."""
    active: bool = torch._C._are_functorch_transforms_active()
    return active


def outside_transforms(array: Tensor) -> Any:
    """A context whose results outlive the transforms of torch.func that are going on, unless
    `array`, of which they are made, belongs to one."""
    if torch.compiler.is_compiling() or not in_transform():
        return nullcontext()
    if torch._C._functorch.is_functorch_wrapped_tensor(array):
        return nullcontext()
    return torch._C._DisableFuncTorch()


class Cache:
    """Values by name, each a tuple of tensors or an object that has `arrays()`.

    A value made while values are hidden belongs to the trace or to the captured graph's memory
    pool, so it is handed out but not kept. A kept value may be used on another stream than the one
    that makes it: that stream then waits for it.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._made: dict[str, tuple[Any, Any]] = {}  # CUDA: (stream, event)

    def get(self, name: str, probe: Tensor, make: Callable[[], T]) -> T:
        """The value called `name`, made now if it is not kept; `probe` tells device and mode."""
        with outside_transforms(probe):
            return self._get(name, probe, make)

    def _get(self, name: str, probe: Tensor, make: Callable[[], T]) -> T:
        value: Any = self._values.get(name)
        hidden = values_hidden(probe)
        if value is None:
            with outside_inference_mode():
                value = make()
            if not hidden and type(probe) is Tensor:
                self._values[name] = value
                if probe.is_cuda:
                    stream = torch.cuda.current_stream(probe.device)
                    self._made[name] = (stream, stream.record_event())
        elif not hidden and probe.is_cuda:
            made_on, event = self._made[name]
            stream = torch.cuda.current_stream(probe.device)
            if stream != made_on:
                stream.wait_event(event)
                for part in value if isinstance(value, tuple) else value.arrays():
                    part.record_stream(stream)
        return value

    def __contains__(self, name: str) -> bool:
        return name in self._values
