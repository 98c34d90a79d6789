"""Attention on graphs: CSR graphs, fused segmented-softmax attention, and layers on top.

    >>> import sage_attention
    >>> sage_attention.Graph.from_edge_index([[0, 1, 2], [1, 1, 0]])
    Graph(num_dst=3, num_src=3, num_edges=3, device=cpu)

Nothing heavy happens at import: PyTorch is imported, and the op libraries are loaded, when
something that needs them is first touched. Without PyTorch the package still imports and offers
what is torch-free: `HostGraph` and the data sets' readers. Importing never initialises CUDA.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, demo, nn, ops, testing
    from ._core import HostGraph
    from .block import Block
    from .graph import Graph

__version__ = "0.1.0"
__all__ = ["Block", "Graph", "HostGraph", "datasets", "demo", "nn", "ops", "testing"]

_CLASSES = {"Graph": ".graph", "Block": ".block", "HostGraph": "._core"}
_MODULES = ("datasets", "demo", "nn", "ops", "testing")
_NEED_TORCH = ("Graph", "Block", "nn", "ops", "testing")


def __getattr__(name: str) -> Any:
    if name in _NEED_TORCH:
        from . import _library

        _library.require_torch(f"sage_attention.{name}")
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _CLASSES:
        try:
            module = importlib.import_module(_CLASSES[name], __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}._core":
                raise
            raise ImportError(
                "sage_attention.HostGraph needs the compiled module sage_attention/_core, which "
                "this installation lacks; install a wheel, or build it (see CONTRIBUTING.md)"
            ) from error
        value = getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
