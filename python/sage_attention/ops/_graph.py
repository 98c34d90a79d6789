"""What the functions on graphs share: a graph's arrays, per-edge rows and the order of edges."""

from __future__ import annotations

import torch
from torch import Tensor

from .._cache import in_transform
from .._csr import torch_index
from ..graph import Graph


def with_loop_rows(value: Tensor | None, loops: int, fill: float) -> Tensor | None:
    """Per-edge input with rows for the self loops behind it."""
    if value is None:
        return None
    return torch.cat([value, value.new_full((loops, value.shape[1]), fill)])


def draw_seed(dropout: float, device: torch.device) -> Tensor | None:
    """int64 [1] from the device's default generator, so that torch.manual_seed rules dropout."""
    if dropout == 0.0:
        return None
    return torch.randint(-(2**63), 2**63 - 1, (1,), dtype=torch.int64, device=device)


def wants_grad(*operands: Tensor | None) -> bool:
    """Whether a backward may follow, for which alone the transpose is made."""
    if in_transform():  # operands may need one in another transform than the innermost
        return True
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in operands)


def forward_arrays(graph: Graph) -> tuple[Tensor | None, ...]:
    """indptr, indices, edge_ids, tasks, splits."""
    graph.check_unchanged()
    schedule = graph.schedule()
    tasks, splits = (None, None) if schedule is None else schedule
    return graph.indptr, graph.indices, graph.edge_ids, tasks, splits


def transpose_arrays(graph: Graph, wanted: bool) -> tuple[Tensor | None, ...]:
    """indptr, indices, edge_ids, perm, position, tasks, splits of the transpose; else all None."""
    if not wanted:
        return (None,) * 7
    t, schedule = graph.transpose(), graph.transpose_schedule()
    tasks, splits = (None, None) if schedule is None else schedule
    return t.indptr, t.indices, t.edge_ids, t.perm, t.position, tasks, splits


def to_edge_order(value: Tensor, edge_ids: Tensor | None) -> Tensor:
    """[E, ...] in CSR order -> the caller's order."""
    if edge_ids is None:
        return value
    return torch.empty_like(value).index_copy(0, torch_index(edge_ids, value.shape[0]), value)


def to_csr_order(value: Tensor, edge_ids: Tensor | None) -> Tensor:
    """[E, ...] in the caller's order -> CSR order."""
    if edge_ids is None:
        return value
    return value.index_select(0, torch_index(edge_ids, value.shape[0]))
