"""Arguments that the functions on graphs share: checks, per-edge input, the graph's arrays."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..graph import Graph
from . import _autograd

MAX_HEAD_DIM = 512
DTYPES = (torch.float32, torch.float64, torch.bfloat16)


def check_graph(graph: Any) -> Graph:
    """`graph`, or TypeError."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"graph must be a sage_attention.Graph, got {type(graph).__name__}; of an edge_index "
            "make one with Graph.from_edge_index(edge_index)"
        )
    return graph


def check_operands(device: torch.device, **operands: Tensor | None) -> None:
    """All tensors, of one supported dtype, on `device`; the first one given leads."""
    lead_name, lead = next((n, t) for n, t in operands.items() if t is not None)
    for name, tensor in operands.items():
        if tensor is None:
            continue
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
        if tensor.dtype not in DTYPES:
            supported = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
            raise TypeError(
                f"{name} has dtype {tensor.dtype}; supported are {supported}: convert it with "
                f"{name}.to(...)"
            )
        if tensor.dtype != lead.dtype:
            raise TypeError(
                f"{name} has dtype {tensor.dtype} but {lead_name} has {lead.dtype}; convert them "
                "to one dtype"
            )
        if tensor.device != device:
            raise ValueError(
                f"{name} is on {tensor.device}, the graph on {device}; move one with .to(...)"
            )


def check_shape(name: str, tensor: Tensor, shape: tuple[int | None, ...], meaning: str) -> None:
    """ValueError unless `tensor` has `shape`, where None is any size of at least 1."""
    good = tensor.dim() == len(shape)
    if good:
        for size, want in zip(tensor.shape, shape, strict=True):
            good = good and (size >= 1 if want is None else size == want)
    if not good:
        wanted = ", ".join("*" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape {meaning} = [{wanted}], got {list(tensor.shape)}")


def check_head_dim(**operands: Tensor) -> None:
    """ValueError for heads wider than the kernels take."""
    for name, tensor in operands.items():
        if tensor.shape[2] > MAX_HEAD_DIM:
            raise ValueError(
                f"{name} has head_dim {tensor.shape[2]}, at most {MAX_HEAD_DIM} is supported; "
                "use more heads of fewer features"
            )


def edge_input(name: str, value: Tensor | None, num_edges: int, heads: int) -> Tensor | None:
    """Input of [E] or [E, 1] or [E, H] as [E, 1 | H]."""
    if value is None:
        return None
    if value.dim() == 1:
        value = value.unsqueeze(-1)
    if value.dim() != 2 or value.shape[0] != num_edges or value.shape[1] not in (1, heads):
        raise ValueError(
            f"{name} must have shape [E] = [{num_edges}] or [E, H] = [{num_edges}, {heads}], one "
            f"row an edge in the caller's order, got {list(value.shape)}"
        )
    return value


def with_loop_rows(value: Tensor | None, loops: int, fill: float) -> Tensor | None:
    """Per-edge input with rows for the self loops behind it."""
    if value is None:
        return None
    return torch.cat([value, value.new_full((loops, value.shape[1]), fill)])


def check_dropout(dropout: float) -> float:
    """A probability below 1, as a float."""
    dropout = float(dropout)
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must be in [0, 1), got {dropout}")
    return dropout


def draw_seed(dropout: float, device: torch.device) -> Tensor | None:
    """int64 [1] from the device's default generator, so that torch.manual_seed rules dropout."""
    if dropout == 0.0:
        return None
    return torch.randint(-(2**63), 2**63 - 1, (1,), dtype=torch.int64, device=device)


def wants_grad(*operands: Tensor | None) -> bool:
    """Whether a backward may follow, for which alone the transpose is made."""
    if _autograd.in_transform():  # operands may need one in another transform than the innermost
        return True
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in operands)


def forward_arrays(graph: Graph) -> tuple[Tensor | None, ...]:
    """indptr, indices, edge_ids, tasks, splits."""
    graph.check_unchanged()
    with _autograd.outside_transforms(graph.indptr):
        schedule = graph.schedule()
    tasks, splits = (None, None) if schedule is None else schedule
    return graph.indptr, graph.indices, graph.edge_ids, tasks, splits


def with_self_loops(graph: Graph) -> Graph:
    """The graph with self loops, kept with it."""
    with _autograd.outside_transforms(graph.indptr):
        return graph.with_self_loops()


def transpose_arrays(graph: Graph, wanted: bool) -> tuple[Tensor | None, ...]:
    """indptr, indices, edge_ids, perm, position, tasks, splits of the transpose; else all None."""
    if not wanted:
        return (None,) * 7
    with _autograd.outside_transforms(graph.indptr):
        t, schedule = graph.transpose(), graph.transpose_schedule()
    tasks, splits = (None, None) if schedule is None else schedule
    return t.indptr, t.indices, t.edge_ids, t.perm, t.position, tasks, splits


def to_edge_order(value: Tensor, edge_ids: Tensor | None) -> Tensor:
    """[E, ...] in CSR order -> the caller's order."""
    if edge_ids is None:
        return value
    return torch.empty_like(value).index_copy(0, edge_ids.long(), value)


def to_csr_order(value: Tensor, edge_ids: Tensor | None) -> Tensor:
    """[E, ...] in the caller's order -> CSR order."""
    return value if edge_ids is None else value.index_select(0, edge_ids)
