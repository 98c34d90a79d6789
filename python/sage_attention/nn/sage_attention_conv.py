"""SageAttentionConv: graph attention as a layer, on the fused ops."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from .. import ops
from ..graph import Graph
from ..ops._arguments import choice, flag, number, probability, whole
from . import _checks
from ._linear import Linear, glorot_

_SCORES = ("dot", "gat")
Features: TypeAlias = Tensor | tuple[Tensor, Tensor | None]


class SageAttentionConv(nn.Module):
    """Multi-head attention of each node over its in-neighbours.

    score="dot" (Shi et al., IJCAI 2021; TransformerConv in PyTorch Geometric):
        out_i = W_skip x_i + sum_j softmax_j((W_q x_i) . (W_k x_j) / sqrt(C)) W_v x_j
    score="gat" (Velickovic et al., ICLR 2018; GATConv in PyTorch Geometric):
        out_i = sum_j softmax_j(leaky_relu(a_dst . W x_i + a_src . W x_j)) W x_j + bias

    Parameters carry PyTorch Geometric's names and initialisations, so that state dicts go both
    ways and results agree; torch_geometric itself is not needed.

    Args:
        in_channels: features of a node, or (source's, destination's); -1: taken from the first
            input.
        out_channels: features of a head, C.
        heads: number of heads, H.
        score: "dot" or "gat".
        concat: heads side by side, [N, H * C]; False: their mean, [N, C].
        dropout: of attention weights, while training.
        edge_dim: not available in this version.
        root_weight: add a linear map of the node's own features; None: for "dot" only. Its key is
            lin_skip for "dot" (always there, as in PyTorch Geometric) and res for "gat".
        bias: whether the linear maps ("dot") or the output ("gat") have a bias.
        negative_slope: of gat's leaky_relu.
        add_self_loops: attend to oneself too, replacing self loops that exist; None: for "gat"
            only.
        fill_value: edge features of self loops; needs edge_dim, so only "mean" is taken.
        share_weights: not available for these scores.
        num_neighbors: not available in this version.
        quantize: not available in this version.

    Raises:
        TypeError: an argument of a wrong type.
        ValueError: one that is not available, or out of range.

    Example:
        >>> conv = SageAttentionConv(16, 8, heads=2, score="gat")
        >>> conv
        SageAttentionConv(16, 8, heads=2, score='gat')
        >>> conv(torch.randn(3, 16), torch.tensor([[0, 1], [1, 2]])).shape
        torch.Size([3, 16])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        *,
        score: str = "dot",
        concat: bool = True,
        dropout: float = 0.0,
        edge_dim: int | None = None,
        root_weight: bool | None = None,
        bias: bool = True,
        negative_slope: float = 0.2,
        add_self_loops: bool | None = None,
        fill_value: float | Tensor | str = "mean",
        share_weights: bool = False,
        num_neighbors: Any = None,
        quantize: Any = None,
    ) -> None:
        super().__init__()
        _checks.refuse("edge_dim", edge_dim, None, "edge_bias and edge_weight of forward()")
        _checks.refuse("fill_value", fill_value, "mean", "'mean', without edge features")
        _checks.refuse("share_weights", share_weights, False, "score='gat', which shares W")
        _checks.refuse("num_neighbors", num_neighbors, None, "all neighbours, or a sampled Block")
        _checks.refuse("quantize", quantize, None, "float32, float64 and bfloat16")
        self.in_channels = in_channels = _checks.in_channels(in_channels)
        self.out_channels = out_channels = _checks.out_channels(out_channels)
        self.heads = heads = whole("heads", heads, 1)
        self.score = choice("score", score, _SCORES)
        self.concat = flag("concat", concat)
        self.dropout = probability("dropout", dropout)
        self.edge_dim, self.fill_value, self.share_weights = edge_dim, fill_value, share_weights
        self.num_neighbors, self.quantize = num_neighbors, quantize
        self.negative_slope = number("negative_slope", negative_slope)
        root_weight = score == "dot" if root_weight is None else root_weight
        self.root_weight = flag("root_weight", root_weight)
        loops = score == "gat" if add_self_loops is None else add_self_loops
        self.add_self_loops = flag("add_self_loops", loops)
        bias = flag("bias", bias)
        pair = isinstance(in_channels, tuple)
        src, dst = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        total, out_total = heads * out_channels, out_channels * (heads if concat else 1)
        if score == "dot":
            self.lin_key = Linear(src, total, bias)
            self.lin_query = Linear(dst, total, bias)
            self.lin_value = Linear(src, total, bias)
            self.lin_skip = Linear(dst, out_total, bias)
        else:
            self.lin = None if pair else Linear(src, total, bias=False, glorot=True)
            self.lin_src = Linear(src, total, bias=False, glorot=True) if pair else None
            self.lin_dst = Linear(dst, total, bias=False, glorot=True) if pair else None
            self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
            self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
            self.res = Linear(dst, out_total, bias=False, glorot=True) if self.root_weight else None
            self.bias = nn.Parameter(torch.empty(out_total)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew, in PyTorch Geometric's order."""
        for child in self.children():
            if isinstance(child, Linear):
                child.reset_parameters()
        if self.score == "gat":
            glorot_(self.att_src)
            glorot_(self.att_dst)
            if self.bias is not None:
                nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Features,
        graph: Graph | Tensor,
        edge_attr: Tensor | None = None,
        *,
        edge_bias: Tensor | None = None,
        edge_weight: Tensor | None = None,
        return_attention: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attends.

        Args:
            x: [N, F], dense or sparse (CSR, COO); (x_src [num_src, F_src], x_dst [num_dst, F_dst])
                for a bipartite graph, where "gat" takes x_dst = None, too. For a Block the sources'
                features, dense, are enough.
            graph: a Graph, a Block, or an edge_index [2, E], of which a Graph is made at each
                call: keep a Graph where the edges stay the same.
            edge_attr: not available in this version.
            edge_bias: [E, H] or [E], added to the scores; in the caller's edge order.
            edge_weight: [E, H] or [E], multiplies the attention.
            return_attention: also return the attention, as sage_attention.ops.attention does.

        Returns:
            [num_dst, H * C], or [num_dst, C] without concat; with return_attention also
            [E (+ loops), H].

        Raises:
            TypeError: x or the graph has a wrong type or dtype.
            ValueError: features do not fit the layer or the graph, or edge_attr is given.
        """
        _checks.refuse("edge_attr", edge_attr, None, "edge_bias and edge_weight")
        x_src, x_dst, graph = self._inputs(x, graph)
        attend = self._dot if self.score == "dot" else self._gat
        result = attend(
            *(x_src, x_dst, graph),
            edge_bias=edge_bias,
            edge_weight=edge_weight,
            dropout=self.dropout if self.training else 0.0,
            self_loops=self.add_self_loops,
            return_attention=return_attention,
        )
        out, alpha = result if isinstance(result, tuple) else (result, None)
        out = out.flatten(1) if self.concat else out.mean(1)
        root = self.lin_skip if self.score == "dot" else self.res
        terms = [] if self.score == "dot" or self.bias is None else [self.bias]
        if self.root_weight and root is not None and x_dst is not None:
            terms.insert(0, root(x_dst))
        for term in terms:
            out = out + term
        if self.concat and not terms and torch.is_grad_enabled():
            out = out.clone()  # the backward reads what `out` views, and callers write in place
        return out if alpha is None else (out, alpha)

    def _maps(self) -> tuple[Linear, Linear]:
        """The linear maps of the sources and of the destinations."""
        if self.score == "dot":
            return self.lin_key, self.lin_query
        if self.lin is not None:
            return self.lin, self.lin
        assert self.lin_src is not None
        assert self.lin_dst is not None
        return self.lin_src, self.lin_dst

    def _inputs(self, x: Features, graph: Graph | Tensor) -> tuple[Tensor, Tensor | None, Graph]:
        """x_src, x_dst and the graph, checked against each other and the layer."""
        (src_name, x_src), (dst_name, x_dst) = _checks.split(x)
        to_src, to_dst = self._maps()
        _checks.check_features(src_name, x_src, "sources", to_src)
        if x_dst is not None:
            _checks.check_features(dst_name, x_dst, "destinations", to_dst)
        num_dst = x_src.shape[0] if x_dst is None else x_dst.shape[0]
        graph = _checks.as_graph(graph, x_src.shape[0], num_dst)
        return x_src, _checks.check_rows(graph, src_name, x_src, dst_name, x_dst), graph

    def _split(self, y: Tensor) -> Tensor:
        return y.view(y.shape[0], self.heads, self.out_channels)

    def _dot(self, x_src: Tensor, x_dst: Tensor | None, graph: Graph, **options: Any) -> Any:
        if x_dst is None:
            raise ValueError("score='dot' needs features of the destinations: pass (x_src, x_dst)")
        q = self._split(self.lin_query(x_dst))
        k, v = self._split(self.lin_key(x_src)), self._split(self.lin_value(x_src))
        return ops.attention(graph, q, k, v, **options)

    def _gat(self, x_src: Tensor, x_dst: Tensor | None, graph: Graph, **options: Any) -> Any:
        to_src, to_dst = self._maps()
        v = self._split(to_src(x_src))
        a_src = (v * self.att_src).sum(-1)
        if x_dst is None:
            a_dst = a_src.new_zeros(graph.num_dst, self.heads)
        else:
            shared = to_dst is to_src and x_dst is x_src
            y = v if shared else self._split(to_dst(x_dst))
            a_dst = (y * self.att_dst).sum(-1)
        slope = self.negative_slope
        return ops.gat_attention(graph, a_dst, a_src, v, negative_slope=slope, **options)

    def extra_repr(self) -> str:
        """in_channels, out_channels, heads and score."""
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}, score={self.score!r}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"
