"""Softmax and reductions over consecutive rows of a dense array; the operators to copy for a new
one: a public function, the shape for tracing, and the gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _csr
from .._cache import values_hidden
from ..graph import Graph
from . import _arguments, _autograd, _graph, _operands


def segment_softmax(src: Tensor, indptr: Tensor | Graph) -> Tensor:
    """Softmax within each segment: out_e = exp(src_e - logsumexp of e's segment), per feature.

    Args:
        src: [E, *] float32, float64 or bfloat16.
        indptr: int64 [S + 1]; segment s is rows indptr[s] .. indptr[s + 1] - 1. A Graph stands for
            its in-edges, and src is then in the caller's edge order. Values are checked on the CPU.

    Returns:
        [E, *]; rows outside every segment, and segments that are all -inf, give 0.

    Raises:
        TypeError: an unsupported dtype.
        ValueError: a wrong shape or device.

    Example:
        >>> segment_softmax(torch.zeros(3), torch.tensor([0, 2, 3]))
        tensor([0.5000, 0.5000, 1.0000])
    """
    src, ptr, edge_ids = _segments(src, indptr, _operands.full_precision)
    return _graph.to_edge_order(softmax_op(src, ptr), edge_ids)


def segment_reduce(src: Tensor, indptr: Tensor | Graph, reduce: str = "sum") -> Tensor:
    """Sum, mean, max or min of each segment, per feature.

    Args:
        src: [E, *] float32, float64 or bfloat16.
        indptr: int64 [S + 1] or a Graph, as in `segment_softmax`.
        reduce: "sum", "mean", "max" or "min". The gradient of max and min goes to the first winner.

    Returns:
        [S, *]; an empty segment gives 0.

    Raises:
        TypeError: an unsupported dtype.
        ValueError: a wrong shape, device or `reduce`.

    Example:
        >>> segment_reduce(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0, 2, 2, 3]), "max")
        tensor([2., 0., 4.])
    """
    _arguments.choice("reduce", reduce, ("sum", "mean", "max", "min"))
    src, ptr, _ = _segments(src, indptr, _operands.widest)
    out: Tensor = _reduce_op(src, ptr, reduce)[0]
    return out


def _segments(
    src: Tensor, indptr: Tensor | Graph, policy: _operands.Policy
) -> tuple[Tensor, Tensor, Tensor | None]:
    """src in CSR order, the row starts, and the edge ids if src had to be permuted."""
    if isinstance(indptr, Graph):
        graph = indptr
        (src,) = _operands.checked("the graph", graph.device, policy, {"src": src})
        if src.dim() == 0 or src.shape[0] != graph.num_edges:
            raise ValueError(
                f"src must have one row for each of the graph's {graph.num_edges} edges, got "
                f"shape {list(src.shape)}"
            )
        return _graph.to_csr_order(src, graph.edge_ids), graph.indptr, graph.edge_ids
    if isinstance(indptr, Tensor):
        _operands.check_dense("indptr", indptr)
    ptr = _csr.index_tensor(indptr, "indptr").long()
    (src,) = _operands.checked("indptr", ptr.device, policy, {"src": src})
    if src.dim() == 0:
        raise ValueError("src must have at least one dimension, [E, *], got a scalar")
    if ptr.shape[0] == 0:
        raise ValueError("indptr must have S + 1 entries, got none; for no segments pass [0]")
    if ptr.device.type == "cpu" and not values_hidden(ptr):
        _check_row_starts(ptr, src.shape[0])
    return src, ptr, None


def _check_row_starts(ptr: Tensor, num_rows: int) -> None:
    bad = (ptr < 0) | (ptr > num_rows)
    bad[1:] |= ptr[1:] < ptr[:-1]
    if bad.any():
        place = int(bad.nonzero()[0])
        raise ValueError(
            f"indptr must not decrease and must stay in [0, E = {num_rows}]: indptr[{place}] = "
            f"{int(ptr[place])}"
        )


@torch.library.register_fake("sage::segment_softmax")
def _(src: Tensor, indptr: Tensor) -> Tensor:
    return src.new_empty(src.shape)


@torch.library.register_fake("sage::segment_softmax_backward")
def _(grad: Tensor, out: Tensor, indptr: Tensor) -> Tensor:
    return out.new_empty(out.shape)


@torch.library.register_fake("sage::segment_reduce")
def _(src: Tensor, indptr: Tensor, reduce: str) -> tuple[Tensor, Tensor]:
    shape = (indptr.shape[0] - 1, *src.shape[1:])
    arg_shape = shape if reduce in ("max", "min") else (0,)
    return src.new_empty(shape), indptr.new_empty(arg_shape)


@torch.library.register_fake("sage::segment_reduce_backward")
def _(grad: Tensor, indptr: Tensor, arg: Tensor, num_rows: int, reduce: str) -> Tensor:
    return grad.new_empty((num_rows, *grad.shape[1:]))


def _softmax_save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(output, inputs[1])


def _softmax_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    out, indptr = ctx.saved_tensors
    return _softmax_backward_op(grad, out, indptr), None


def _reduce_save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    src, indptr, ctx.reduce = inputs
    ctx.num_rows = src.shape[0]
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(indptr, output[1])


def _reduce_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    indptr, arg = ctx.saved_tensors
    src_grad = _reduce_backward_op(grad, indptr, arg, ctx.num_rows, ctx.reduce)
    return src_grad, None, None


_SOFTMAX, _REDUCE = "sage_attention.ops.segment_softmax", "sage_attention.ops.segment_reduce"
softmax_op = _autograd.differentiable(
    torch.ops.sage.segment_softmax.default, _SOFTMAX, _softmax_save, _softmax_backward
)
_softmax_backward_op = _autograd.once_differentiable(
    torch.ops.sage.segment_softmax_backward.default, _SOFTMAX
)
_reduce_op = _autograd.differentiable(
    torch.ops.sage.segment_reduce.default, _REDUCE, _reduce_save, _reduce_backward
)
_reduce_backward_op = _autograd.once_differentiable(
    torch.ops.sage.segment_reduce_backward.default, _REDUCE
)
