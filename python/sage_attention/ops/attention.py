"""Fused graph attention with dot-product and additive scores.

out_i = sum_j w_ij d_ij a_ij v_j over the in-edges j -> i, a_i = softmax_j(score_ij + bias_ij), with
edge weights w and dropout d. Nothing of size edges x heads x head_dim is stored: the backward
recomputes the softmax from its log-sum-exp, over the transposed graph.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..graph import Graph
from . import _arguments, _autograd, _graph, _operands
from .aggregate import edge_dot
from .segment import softmax_op

_NUM_GRAPH_ARGS = 11


def attention(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    edge_bias: Tensor | None = None,
    edge_weight: Tensor | None = None,
    dropout: float = 0.0,
    self_loops: bool = False,
    return_attention: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Scaled dot-product attention over the in-edges of each node (Vaswani et al., 2017).

    score_ij = scale * q_i . k_j, a_i = softmax_j(score_ij + edge_bias_ij),
    out_i = sum_j edge_weight_ij * dropout(a_ij) * v_j. A node without in-edges gives 0, and so does
    one whose scores are all -inf.

    Args:
        graph: the edges j -> i.
        q: [num_dst, H, D] queries; float32, float64 or bfloat16, as everything that follows.
        k: [num_src, H, D] keys.
        v: [num_src, H, Dv] values.
        scale: default 1 / sqrt(D).
        edge_bias: [E, H] or [E], in the caller's edge order, added to the score.
        edge_weight: [E, H] or [E], multiplies the attention after the softmax.
        dropout: probability with which an attention weight is dropped, the others being scaled by
            1 / (1 - dropout); 1 drops all. The mask follows torch.manual_seed and is never stored.
        self_loops: attend to oneself too, over graph.with_self_loops(): existing self loops are
            replaced, and the new ones have bias 0 and weight 1.
        return_attention: also return a, after the softmax and before dropout and weight.

    Returns:
        [num_dst, H, Dv]; with return_attention also [E (+ loops), H] in the caller's edge order,
        self loops behind the edges, 0 where no row owns the edge. Both are differentiable.

    Raises:
        TypeError: a wrong type, an unsupported dtype, or operands of several dtypes.
        ValueError: a shape or device does not fit the graph, or a number is out of range.

    Example:
        >>> graph = Graph.from_edge_index([[1, 2], [0, 0]])
        >>> q, k = torch.zeros(3, 1, 4), torch.zeros(3, 1, 4)
        >>> v = torch.tensor([1.0, 2.0, 4.0]).view(3, 1, 1)
        >>> attention(graph, q, k, v).flatten()  # equal scores: the mean of 2 and 4
        tensor([3., 0., 0.])
    """
    graph = _operands.check_graph(graph)
    per_edge = {"edge_bias": edge_bias, "edge_weight": edge_weight}
    q, k, v, *edge = _operands.checked(
        *("the graph", graph.device, _operands.lower_precision),
        *({"q": q, "k": k, "v": v}, per_edge),
    )
    _operands.check_shape("q", q, (graph.num_dst, None, None), "[num_dst, H, D]")
    _, heads, dim = q.shape
    _operands.check_shape("k", k, (graph.num_src, heads, dim), "[num_src, H, D]")
    _operands.check_shape("v", v, (graph.num_src, heads, None), "[num_src, H, Dv]")
    if scale is None:
        scale = 1.0 / math.sqrt(dim)
    to_learn = "to learn it, pass q * scale with scale=1.0, else "
    param = _arguments.number("scale", scale, to_learn)
    return _attend(graph, q, k, v, edge, "dot", param, dropout, self_loops, return_attention)


def gat_attention(
    graph: Graph,
    a_dst: Tensor,
    a_src: Tensor,
    v: Tensor,
    *,
    negative_slope: float = 0.2,
    edge_bias: Tensor | None = None,
    edge_weight: Tensor | None = None,
    dropout: float = 0.0,
    self_loops: bool = False,
    return_attention: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Additive attention over the in-edges of each node (Velickovic et al., ICLR 2018).

    score_ij = leaky_relu(a_dst_i + a_src_j), the rest as in `attention`; edge_bias is added after
    the leaky_relu.

    Args:
        graph: the edges j -> i.
        a_dst: [num_dst, H] the destination's part of the score.
        a_src: [num_src, H] the source's part.
        v: [num_src, H, Dv] values.
        negative_slope: of the leaky_relu.
        edge_bias: as in `attention`, like all that follow.
        edge_weight: as in `attention`.
        dropout: as in `attention`.
        self_loops: as in `attention`.
        return_attention: as in `attention`.

    Returns:
        As `attention`.

    Raises:
        TypeError: a wrong type, an unsupported dtype, or operands of several dtypes.
        ValueError: a shape or device does not fit the graph, or a number is out of range.

    Example:
        >>> graph = Graph.from_edge_index([[1, 2], [0, 0]])
        >>> a = torch.zeros(3, 1)
        >>> v = torch.tensor([1.0, 2.0, 4.0]).view(3, 1, 1)
        >>> out, weights = gat_attention(graph, a, a, v, self_loops=True, return_attention=True)
        >>> weights.flatten()  # two edges and three self loops
        tensor([0.3333, 0.3333, 0.3333, 1.0000, 1.0000])
    """
    graph = _operands.check_graph(graph)
    per_edge = {"edge_bias": edge_bias, "edge_weight": edge_weight}
    a_dst, a_src, v, *edge = _operands.checked(
        *("the graph", graph.device, _operands.lower_precision),
        *({"a_dst": a_dst, "a_src": a_src, "v": v}, per_edge),
    )
    _operands.check_shape("a_dst", a_dst, (graph.num_dst, None), "[num_dst, H]")
    heads = a_dst.shape[1]
    _operands.check_shape("a_src", a_src, (graph.num_src, heads), "[num_src, H]")
    _operands.check_shape("v", v, (graph.num_src, heads, None), "[num_src, H, Dv]")
    q, k = a_dst.unsqueeze(-1), a_src.unsqueeze(-1)
    param = _arguments.number("negative_slope", negative_slope)
    return _attend(graph, q, k, v, edge, "gat", param, dropout, self_loops, return_attention)


def _attend(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge: list[Tensor | None],
    score: str,
    param: float,
    dropout: float,
    self_loops: bool,
    return_attention: bool,
) -> Tensor | tuple[Tensor, Tensor]:
    """The checked operands through the op; q and k are [N, H, 1] for one-number scores."""
    heads = q.shape[1]
    _operands.check_head_dim(q=q, v=v)
    dropout = _arguments.probability("dropout", dropout)
    drops_all = dropout == 1.0
    dropout = 0.0 if drops_all else dropout
    self_loops = _arguments.flag("self_loops", self_loops)
    return_attention = _arguments.flag("return_attention", return_attention)
    bias = _operands.edge_input("edge_bias", edge[0], graph.num_edges, heads)
    weight = _operands.edge_input("edge_weight", edge[1], graph.num_edges, heads)
    if self_loops:
        loops = min(graph.num_dst, graph.num_src)
        graph = graph.with_self_loops()
        bias = _graph.with_loop_rows(bias, loops, 0.0)
        weight = _graph.with_loop_rows(weight, loops, 1.0)
    if bias is not None:
        bias = bias.expand(-1, heads)
    seed = _graph.draw_seed(dropout, q.device)
    wanted = _graph.wants_grad(q, k, v, bias, weight)
    t_indptr, t_indices, t_ids, _, t_position, *t_schedule = _graph.transpose_arrays(graph, wanted)
    out, _ = _attention_op(
        *_graph.forward_arrays(graph),
        *(t_indptr, t_indices, t_ids, t_position, *t_schedule),
        *(q, k, v, bias, weight, seed, score, param, dropout),
    )
    if drops_all:  # what F.dropout does to p = 1: numbers and gradients become 0
        out = out * 0.0
    if not return_attention:
        return out
    return out, _attention_weights(graph, q, k, bias, score, param)


def _attention_weights(
    graph: Graph, q: Tensor, k: Tensor, bias: Tensor | None, score: str, param: float
) -> Tensor:
    """[E, H] softmax of the scores in the caller's edge order; bfloat16 is scored in float32."""
    dtype = q.dtype
    if dtype == torch.bfloat16:
        q, k, bias = q.float(), k.float(), None if bias is None else bias.float()
    if score == "dot":
        logits = param * edge_dot(graph, q, k)
    else:  # q_i + k_j = (q_i, 1) . (1, k_j), whose gradient is summed in a fixed order
        pairs = torch.cat([q, torch.ones_like(q)], -1), torch.cat([torch.ones_like(k), k], -1)
        logits = torch.nn.functional.leaky_relu(edge_dot(graph, *pairs), param)
    if bias is not None:
        logits = logits + _graph.to_csr_order(bias, graph.edge_ids)
    alpha = softmax_op(logits, graph.indptr)
    return _graph.to_edge_order(alpha, graph.edge_ids).to(dtype)


@torch.library.register_fake("sage::attention")
def _(*args: Any) -> tuple[Tensor, Tensor]:
    q, v = args[_NUM_GRAPH_ARGS], args[_NUM_GRAPH_ARGS + 2]
    lse_dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = q.new_empty((q.shape[0], q.shape[1], v.shape[2]))
    return out, q.new_empty((q.shape[0], q.shape[1]), dtype=lse_dtype)


@torch.library.register_fake("sage::attention_backward")
def _(*args: Any) -> tuple[Tensor, ...]:
    _, q, k, v, _, _, bias, weight, *_, need_bias, need_weight = args[_NUM_GRAPH_ARGS:]
    dbias = q.new_empty(bias.shape if need_bias else (0,))
    dweight = q.new_empty(weight.shape if need_weight else (0,))
    return q.new_empty(q.shape), q.new_empty(k.shape), q.new_empty(v.shape), dbias, dweight


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, ctx.score, ctx.param, ctx.dropout = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*tensors, *output)


def _backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    *graph_args, q, k, v, bias, weight, seed, out, lse = ctx.saved_tensors
    if graph_args[5] is None:
        raise RuntimeError(
            "torch.ops.sage.attention needs the transpose (t_indptr ...) for its backward; pass "
            "it, or call sage_attention.ops.attention, which does"
        )
    need = ctx.needs_input_grad[_NUM_GRAPH_ARGS : _NUM_GRAPH_ARGS + 5]
    grads = _backward_op(
        *(*graph_args, grad, q, k, v, out, lse, bias, weight, seed),
        *(ctx.score, ctx.param, ctx.dropout, need[3], need[4]),
    )
    given = (g if needed else None for g, needed in zip(grads, need, strict=True))
    return (*(None,) * _NUM_GRAPH_ARGS, *given, None, None, None, None)


_PUBLIC = "sage_attention.ops.attention and ops.gat_attention"
_attention_op = _autograd.differentiable(
    torch.ops.sage.attention.default, _PUBLIC, _save, _backward
)
_backward_op = _autograd.once_differentiable(torch.ops.sage.attention_backward.default, _PUBLIC)
