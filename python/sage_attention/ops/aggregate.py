"""Gather and reduce over in-edges, and the per-edge dot product that is its gradient's partner."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..graph import Graph
from . import _arguments, _gradients, _graph, _operands


def aggregate(
    graph: Graph, x: Tensor, edge_weight: Tensor | None = None, reduce: str = "sum"
) -> Tensor:
    """Reduces the features of each node's in-neighbours: out_i = reduce_j w_ij x_j.

    Nothing is stored per edge, neither forward nor backward.

    Args:
        graph: the edges j -> i.
        x: [num_src, *] float32, float64 or bfloat16.
        edge_weight: [E], or [E, H] for x [num_src, H, D]; in the caller's edge order.
        reduce: "sum", "mean" (by the number of in-edges) or "max" (per feature; its gradient goes
            to the first winner in CSR order).

    Returns:
        [num_dst, *]; a node without in-edges gives 0.

    Raises:
        TypeError: an unsupported dtype, or operands of two dtypes.
        ValueError: a shape, a device or `reduce` does not fit.

    Example:
        >>> graph = Graph.from_edge_index([[1, 2], [0, 0]])
        >>> aggregate(graph, torch.tensor([1.0, 2.0, 4.0]), reduce="mean")
        tensor([3., 0., 0.])
    """
    graph = _operands.check_graph(graph)
    _arguments.choice("reduce", reduce, ("sum", "mean", "max"))
    if isinstance(edge_weight, str):
        raise TypeError(
            f"edge_weight must be a tensor, got {edge_weight!r}; did you mean "
            f"reduce={edge_weight!r}?"
        )
    x, edge_weight = _operands.checked(
        *("the graph", graph.device, _operands.widest), {"x": x}, {"edge_weight": edge_weight}
    )
    if x.dim() == 0 or x.shape[0] != graph.num_src or 0 in x.shape[1:]:
        raise ValueError(
            f"x must have one row, of at least one feature, for each of the graph's "
            f"{graph.num_src} sources, got shape {list(x.shape)}"
        )
    heads = x.shape[1] if x.dim() == 3 else 1
    weight = _operands.edge_input("edge_weight", edge_weight, graph.num_edges, heads)
    features = x if x.dim() == 3 else x.reshape(x.shape[0], 1, math.prod(x.shape[1:]))
    both, t_edge_ids = _both_directions(graph, x, edge_weight)
    out = _gradients.aggregate_op(features, weight, reduce, graph.edge_ids, t_edge_ids, *both)[0]
    return out.reshape(graph.num_dst, *x.shape[1:])


def edge_dot(graph: Graph, x: Tensor, y: Tensor) -> Tensor:
    """x_i . y_j for each edge j -> i and head: x [num_dst, H, D], y [num_src, H, D] -> [E, H] in
    CSR order, 0 where no row owns the edge. Operands are taken as checked."""
    out: Tensor = _gradients.edge_dot_op(x, y, *_both_directions(graph, x, y)[0])
    return out


def _both_directions(
    graph: Graph, *operands: Tensor | None
) -> tuple[_gradients.Both, Tensor | None]:
    """The arrays for operands that may need a gradient, and the transpose's edge ids."""
    indptr, indices, _, *schedule = _graph.forward_arrays(graph)
    t_indptr, t_indices, t_edge_ids, perm, position, *t_schedule = _graph.transpose_arrays(
        graph, _graph.wants_grad(*operands)
    )
    both = (indptr, indices, *schedule, t_indptr, t_indices, *t_schedule, perm, position)
    return both, t_edge_ids


@torch.library.register_fake("sage::aggregate")
def _(*args: Any) -> tuple[Tensor, Tensor]:
    indptr, *_, x, _weight, reduce = args
    shape = (indptr.shape[0] - 1, x.shape[1], x.shape[2])
    return x.new_empty(shape), indptr.new_empty(shape if reduce == "max" else (0,))


@torch.library.register_fake("sage::aggregate_max_backward")
def _(*args: Any) -> tuple[Tensor, Tensor]:
    x, weight, need_weight = args[-3:]
    return x.new_empty(x.shape), x.new_empty(weight.shape if need_weight else (0,))


@torch.library.register_fake("sage::edge_dot")
def _(
    indptr: Tensor, indices: Tensor, tasks: Tensor | None, splits: Tensor | None, x: Tensor, y: Any
) -> Tensor:
    return x.new_empty((indices.shape[0], x.shape[1]))
