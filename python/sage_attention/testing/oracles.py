"""Plain torch formulas for sage_attention.ops: slow, differentiable any number of times, obvious.

They take an edge_index [2, E] (src, dst) instead of a Graph and make everything per edge, so memory
grows with E * H * D. Give them float64 to get a reference. No argument is checked.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attention(
    edge_index: Tensor,
    num_dst: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    edge_bias: Tensor | None = None,
    edge_weight: Tensor | None = None,
    keep: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """(out [num_dst, H, Dv], attention [E, H]) of ops.attention.

    Args:
        edge_index: [2, E] (src, dst).
        num_dst: number of destinations.
        q: [num_dst, H, D].
        k: [num_src, H, D].
        v: [num_src, H, Dv].
        scale: default 1 / sqrt(D).
        edge_bias: [E, H] or [E].
        edge_weight: [E, H] or [E].
        keep: [E, H] mask of the attention weights that `dropout` leaves.
        dropout: its probability.

    Example:
        >>> edge_index = torch.tensor([[1, 2], [0, 0]])
        >>> x = torch.ones(3, 1, 2)
        >>> attention(edge_index, 3, x, x, x)[1].flatten()
        tensor([0.5000, 0.5000])
    """
    src, dst = edge_index
    scale = 1.0 / math.sqrt(q.shape[2]) if scale is None else scale
    logits = scale * (q[dst] * k[src]).sum(-1)
    return _finish(edge_index, num_dst, logits, v, edge_bias, edge_weight, keep, dropout)


def gat_attention(
    edge_index: Tensor,
    num_dst: int,
    a_dst: Tensor,
    a_src: Tensor,
    v: Tensor,
    *,
    negative_slope: float = 0.2,
    edge_bias: Tensor | None = None,
    edge_weight: Tensor | None = None,
    keep: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """(out [num_dst, H, Dv], attention [E, H]) of ops.gat_attention; arguments as in `attention`.

    Example:
        >>> edge_index = torch.tensor([[1, 2], [0, 0]])
        >>> gat_attention(edge_index, 3, torch.ones(3, 1), torch.ones(3, 1), torch.ones(3, 1, 1))[1]
        tensor([[0.5000],
                [0.5000]])
    """
    src, dst = edge_index
    logits = torch.nn.functional.leaky_relu(a_dst[dst] + a_src[src], negative_slope)
    return _finish(edge_index, num_dst, logits, v, edge_bias, edge_weight, keep, dropout)


def aggregate(
    edge_index: Tensor,
    num_dst: int,
    x: Tensor,
    edge_weight: Tensor | None = None,
    reduce: str = "sum",
) -> Tensor:
    """ops.aggregate: out_i = reduce_j w_ij x_j, for x [num_src, *] and weights [E] or [E, H].

    Example:
        >>> aggregate(torch.tensor([[1, 2], [0, 0]]), 1, torch.tensor([1.0, 2.0, 4.0]))
        tensor([6.])
    """
    src, dst = edge_index
    messages = x[src]
    if edge_weight is not None:
        messages = messages * _per_message(edge_weight, messages)
    return reduce_by(messages, dst, num_dst, reduce)


def segment_softmax(src: Tensor, indptr: Tensor) -> Tensor:
    """ops.segment_softmax, for segments that cover src [E, *].

    Example:
        >>> segment_softmax(torch.zeros(3), torch.tensor([0, 2, 3]))
        tensor([0.5000, 0.5000, 1.0000])
    """
    return softmax_by(src, _rows(indptr), indptr.shape[0] - 1)


def segment_reduce(src: Tensor, indptr: Tensor, reduce: str = "sum") -> Tensor:
    """ops.segment_reduce, for segments that cover src [E, *].

    Example:
        >>> segment_reduce(torch.ones(3), torch.tensor([0, 2, 3]))
        tensor([2., 1.])
    """
    return reduce_by(src, _rows(indptr), indptr.shape[0] - 1, reduce)


def softmax_by(src: Tensor, group: Tensor, num_groups: int) -> Tensor:
    """Softmax of src [E, *] within each group; a group that is all -inf gives 0."""
    shift = _extreme(src.detach(), group, num_groups, "amax")[group]
    shift = shift.masked_fill(shift == -math.inf, 0.0)
    weight = (src - shift).exp()
    total = torch.zeros(num_groups, *src.shape[1:], dtype=src.dtype, device=src.device)
    total = total.index_add(0, group, weight)[group]
    return weight / total.masked_fill(total == 0, 1.0)


def reduce_by(src: Tensor, group: Tensor, num_groups: int, reduce: str) -> Tensor:
    """Sum, mean, max or min of src [E, *] by group; 0 for an empty group. The first winner of a max
    or min takes the gradient."""
    if reduce in ("max", "min"):
        return _first_winner(src, group, num_groups, f"a{reduce}")
    zeros = torch.zeros(num_groups, *src.shape[1:], dtype=src.dtype, device=src.device)
    out = zeros.index_add(0, group, src)
    if reduce == "mean":
        count = torch.bincount(group, minlength=num_groups).clamp(min=1)
        out = out / count.view(-1, *[1] * (src.dim() - 1))
    return out


def _finish(
    edge_index: Tensor,
    num_dst: int,
    logits: Tensor,
    v: Tensor,
    edge_bias: Tensor | None,
    edge_weight: Tensor | None,
    keep: Tensor | None,
    dropout: float,
) -> tuple[Tensor, Tensor]:
    src, dst = edge_index
    if edge_bias is not None:
        logits = logits + _per_head(edge_bias)
    alpha = softmax_by(logits, dst, num_dst)
    weight = alpha if edge_weight is None else alpha * _per_head(edge_weight)
    if keep is not None:
        weight = weight * keep / (1.0 - dropout)
    return reduce_by(weight.unsqueeze(-1) * v[src], dst, num_dst, "sum"), alpha


def _extreme(src: Tensor, group: Tensor, num_groups: int, reduce: str) -> Tensor:
    empty = -math.inf if reduce == "amax" else math.inf
    out = torch.full((num_groups, *src.shape[1:]), empty, dtype=src.dtype, device=src.device)
    index = group.view(-1, *[1] * (src.dim() - 1)).expand_as(src)
    return out.scatter_reduce(0, index, src, reduce)


def _first_winner(src: Tensor, group: Tensor, num_groups: int, reduce: str) -> Tensor:
    """The extreme of each group, taken from its first row that has it."""
    extreme = _extreme(src.detach(), group, num_groups, reduce)
    rows = torch.arange(len(group), device=group.device).view(-1, *[1] * (src.dim() - 1))
    winners = torch.where(src.detach() == extreme[group], rows, len(group))
    first = torch.full(extreme.shape, len(group), device=group.device)
    first = first.scatter_reduce(0, group.view(rows.shape).expand_as(src), winners, "amin")
    padded = torch.cat([src, src.new_zeros(1, *src.shape[1:])])
    return padded.gather(0, first)


def _per_head(value: Tensor) -> Tensor:
    return value.unsqueeze(-1) if value.dim() == 1 else value


def _per_message(weight: Tensor, messages: Tensor) -> Tensor:
    return weight.view(*weight.shape, *[1] * (messages.dim() - weight.dim()))


def _rows(indptr: Tensor) -> Tensor:
    return torch.repeat_interleave(indptr.diff())
