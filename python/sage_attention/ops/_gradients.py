"""Gradients of aggregate and edge_dot: each is the other's, over the graph or its transpose.

d/dx sum_j w_ij x_j is an aggregate over the transpose, d/dw of it is the dot product along edges;
the gradients of that are aggregates again. All go through ops with autograd, so that they can be
differentiated any number of times; only "max" cannot be differentiated twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _autograd, _graph
from ._operands import MAX_HEAD_DIM

# A graph in both directions: indptr, indices, tasks, splits; the same of the transpose; then perm
# and position (see sage_attention._csr.Transpose). Without a backward only the first four are set.
Both = tuple[Any, ...]


def _flip(both: Both) -> Both:
    return (*both[4:8], *both[:4], both[9], both[8])


def _mean_gradient(grad: Tensor, indptr: Tensor) -> Tensor:
    """grad of a mean as grad of a sum; divided in float32 at least."""
    degree = indptr.diff().clamp(min=1).view(-1, 1, 1)
    wide = torch.float64 if grad.dtype == torch.float64 else torch.float32
    return (grad.to(wide) / degree.to(wide)).to(grad.dtype)


def _aggregate_gradients(
    grad: Tensor,
    x: Tensor,
    weight: Tensor | None,
    arg: Tensor,
    reduce: str,
    edge_ids: tuple[Tensor | None, Tensor | None],
    both: Both,
    need: tuple[bool, bool],
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of x and weight; edge_ids are the graph's and the transpose's."""
    ids, t_ids = edge_ids
    if reduce == "max":
        dx, dweight = _max_backward_op(
            *(both[4], both[5], t_ids, both[6], both[7]), grad, arg, x, weight, need[1]
        )
        return dx if need[0] else None, dweight if need[1] else None
    if reduce == "mean":
        grad = _mean_gradient(grad, both[0])
    dx = dweight = None
    if need[0]:
        dx = aggregate_op(grad, weight, "sum", t_ids, ids, *_flip(both))[0]
    if need[1] and weight is not None:
        per_head = _graph.to_edge_order(_wide_edge_dot(grad, x, both), ids)
        dweight = per_head if weight.shape[1] > 1 else per_head.sum(1, keepdim=True)
    return dx, dweight


def _wide_edge_dot(x: Tensor, y: Tensor, both: Both) -> Tensor:
    """The dot product along edges of rows of any width, in pieces of what the op takes."""
    pieces = zip(x.split(MAX_HEAD_DIM, -1), y.split(MAX_HEAD_DIM, -1), strict=True)
    dots = [edge_dot_op(a, b, *both) for a, b in pieces]
    total: Tensor = sum(dots[1:], dots[0])
    return total


def _edge_dot_gradients(
    grad: Tensor, x: Tensor, y: Tensor, both: Both, need: tuple[bool, bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of x and y; `grad` is in CSR order, so that perm is the transpose's edge ids."""
    perm, dx, dy = both[8], None, None
    if need[0]:
        dx = aggregate_op(y, grad, "sum", None, perm, *both)[0]
    if need[1]:
        dy = aggregate_op(x, grad, "sum", perm, None, *_flip(both))[0]
    return dx, dy


def _make_both(
    indptr: Tensor, indices: Tensor, tasks: Tensor | None, splits: Tensor | None, num_src: int
) -> Both:
    """Both directions for an op that was called without its transpose."""
    t_indptr, t_indices, perm, position = torch.ops.sage.csr_transpose(indptr, indices, num_src)
    t_schedule: tuple[Tensor | None, ...] = (None, None)
    if indptr.is_cuda:
        t_schedule = torch.ops.sage.csr_schedule(t_indptr, indices.shape[0])
    return (indptr, indices, tasks, splits, t_indptr, t_indices, *t_schedule, perm, position)


# The two ops with the transpose at hand, so that a backward need not make it.
_LIBRARY = torch.library.Library("sage_autograd", "DEF")
_BOTH_SCHEMA = (
    "Tensor indptr, Tensor indices, Tensor? tasks, Tensor? splits, Tensor? t_indptr, "
    "Tensor? t_indices, Tensor? t_tasks, Tensor? t_splits, Tensor? perm, Tensor? position"
)
_LIBRARY.define(
    "aggregate(Tensor x, Tensor? edge_weight, str reduce, Tensor? edge_ids, "
    f"Tensor? t_edge_ids, {_BOTH_SCHEMA}) -> (Tensor out, Tensor arg)"
)
_LIBRARY.define(f"edge_dot(Tensor x, Tensor y, {_BOTH_SCHEMA}) -> Tensor")


def _aggregate_forward(
    x: Tensor,
    weight: Tensor | None,
    reduce: str,
    edge_ids: Tensor | None,
    t_edge_ids: Tensor | None,
    *both: Tensor | None,
) -> tuple[Tensor, Tensor]:
    indptr, indices, tasks, splits = both[:4]
    result: tuple[Tensor, Tensor] = torch.ops.sage.aggregate(
        indptr, indices, edge_ids, tasks, splits, x, weight, reduce
    )
    return result


def _edge_dot_forward(x: Tensor, y: Tensor, *both: Tensor | None) -> Tensor:
    result: Tensor = torch.ops.sage.edge_dot(*both[:4], x, y)
    return result


def _aggregate_save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, ctx.reduce, *ids_and_both = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, weight, output[1], *ids_and_both)


def _aggregate_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    x, weight, arg, edge_ids, t_edge_ids, *both = ctx.saved_tensors
    grads = _aggregate_gradients(
        *(grad, x, weight, arg, ctx.reduce, (edge_ids, t_edge_ids), tuple(both)),
        ctx.needs_input_grad[:2],
    )
    return (*grads, *(None,) * 13)


def _edge_dot_save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _edge_dot_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    x, y, *both = ctx.saved_tensors
    grads = _edge_dot_gradients(grad, x, y, tuple(both), ctx.needs_input_grad[:2])
    return (*grads, *(None,) * 10)


def _op_save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, ctx.reduce = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*tensors, output[1])


def _op_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    indptr, indices, edge_ids, tasks, splits, x, weight, arg = ctx.saved_tensors
    both = _make_both(indptr, indices, tasks, splits, x.shape[0])
    t_edge_ids = both[8] if edge_ids is None else edge_ids.index_select(0, both[8])
    grads = _aggregate_gradients(
        *(grad, x, weight, arg, ctx.reduce, (edge_ids, t_edge_ids), both),
        ctx.needs_input_grad[5:7],
    )
    return (*(None,) * 5, *grads, None)


def _dot_save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _dot_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    indptr, indices, tasks, splits, x, y = ctx.saved_tensors
    both = _make_both(indptr, indices, tasks, splits, y.shape[0])
    return (*(None,) * 4, *_edge_dot_gradients(grad, x, y, both, ctx.needs_input_grad[4:6]))


for _name, _forward in (("aggregate", _aggregate_forward), ("edge_dot", _edge_dot_forward)):
    _LIBRARY.impl(_name, _forward, "CompositeExplicitAutograd")
    torch.library.register_fake(f"sage_autograd::{_name}", _forward)

_AGGREGATE, _DOT = "sage_attention.ops.aggregate", "the attention that return_attention=True gives"
aggregate_op = _autograd.differentiable(
    torch.ops.sage_autograd.aggregate.default, _AGGREGATE, _aggregate_save, _aggregate_backward
)
edge_dot_op = _autograd.differentiable(
    torch.ops.sage_autograd.edge_dot.default, _DOT, _edge_dot_save, _edge_dot_backward
)
_autograd.differentiable(torch.ops.sage.aggregate.default, _AGGREGATE, _op_save, _op_backward)
_autograd.differentiable(torch.ops.sage.edge_dot.default, _DOT, _dot_save, _dot_backward)
_max_backward_op = _autograd.once_differentiable(
    torch.ops.sage.aggregate_max_backward.default, f'{_AGGREGATE} with reduce="max"'
)
