"""ops.attention and ops.gat_attention against their formulas: values, gradients, corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from sage_attention import ops
from sage_attention.testing import graphs, oracles, tolerances

ZOO = graphs.zoo()
HEADS = 3
SCORES = ["dot", "gat"]


def pick(score: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    if score == "dot":
        return ops.attention, oracles.attention
    return ops.gat_attention, oracles.gat_attention


def operands(case: graphs.Case, score: str, like: Tensor, dim: int = 5) -> list[Tensor]:
    """q, k, v or a_dst, a_src, v; then edge_bias [E, H] and edge_weight [E, H]."""
    inner = (dim,) if score == "dot" else ()
    edges = case.edge_index.shape[1]
    shapes = [
        (case.num_dst, HEADS, *inner),
        (case.num_src, HEADS, *inner),
        (case.num_src, HEADS, 7),
        (edges, HEADS),
    ]
    features = [torch.randn(shape).to(like) for shape in shapes]
    return [*features, torch.rand(edges, HEADS).to(like)]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", ZOO)
def test_matches_the_formula(
    name: str, score: str, dtype: torch.dtype, device: str, compare: Callable[..., None]
) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    op, oracle = pick(score)
    like = torch.empty(0, dtype=dtype, device=device)

    def ours(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (op(graph, q, k, v, edge_bias=bias, edge_weight=weight),)

    def formula(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, weight: Tensor) -> tuple[Tensor]:
        out, _ = oracle(case.edge_index, case.num_dst, q, k, v, edge_bias=bias, edge_weight=weight)
        return (out,)

    compare(ours, formula, *operands(case, score, like))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", ["hub", "self_loops", "isolated_rows", "wide", "empty"])
def test_returned_attention(
    name: str, score: str, dtype: torch.dtype, device: str, compare: Callable[..., None]
) -> None:
    """Attention follows the formula, and carries gradients of its own."""
    case = ZOO[name]
    graph = case.graph(device)
    op, oracle = pick(score)
    like = torch.empty(0, dtype=dtype, device=device)

    def ours(*x: Tensor) -> tuple[Tensor, ...]:
        result: tuple[Tensor, ...] = op(graph, *x[:3], edge_bias=x[3], return_attention=True)
        return result

    def formula(*x: Tensor) -> tuple[Tensor, ...]:
        result: tuple[Tensor, ...] = oracle(case.edge_index, case.num_dst, *x[:3], edge_bias=x[3])
        return result

    compare(ours, formula, *operands(case, score, like)[:4])


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", ["self_loops", "one_row", "no_edges", "bipartite", "wide"])
def test_self_loops(
    name: str, score: str, dtype: torch.dtype, device: str, compare: Callable[..., None]
) -> None:
    """Loops replace loops, with bias 0 and weight 1; their attention is behind the edges'."""
    case = ZOO[name]
    graph = case.graph(device)
    op, oracle = pick(score)
    loops = min(case.num_src, case.num_dst)
    kept = (case.edge_index[0] != case.edge_index[1]).nonzero().flatten()
    edge_index = torch.cat([case.edge_index[:, kept], torch.arange(loops).expand(2, -1)], 1)

    def ours(*x: Tensor) -> tuple[Tensor, ...]:
        bias, weight = x[3], x[4]
        out, alpha = op(
            *(graph, *x[:3]),
            edge_bias=bias,
            edge_weight=weight,
            self_loops=True,
            return_attention=True,
        )
        assert alpha.shape == (graph.num_edges + loops, HEADS)
        replaced = torch.ones(graph.num_edges, dtype=torch.bool)
        replaced[kept] = False
        assert (alpha[: graph.num_edges][replaced.to(device)] == 0).all()
        return out, torch.cat([alpha[kept.to(device)], alpha[graph.num_edges :]])

    def formula(*x: Tensor) -> tuple[Tensor, ...]:
        bias = torch.cat([x[3][kept], torch.zeros(loops, HEADS)])
        weight = torch.cat([x[4][kept], torch.ones(loops, HEADS)])
        result: tuple[Tensor, ...] = oracle(
            edge_index, case.num_dst, *x[:3], edge_bias=bias, edge_weight=weight
        )
        return result

    like = torch.empty(0, dtype=dtype, device=device)
    compare(ours, formula, *operands(case, score, like))


@pytest.mark.parametrize("dim", [1, 4, 8, 16, 33, 64, 128, 512])
def test_every_head_dim(dim: int, dtype: torch.dtype, device: str) -> None:
    case = ZOO["random"]
    q, k, v = (torch.randn(157, 2, dim).to(device, dtype) for _ in range(3))
    out = ops.attention(case.graph(device), q, k, v)
    expected, _ = oracles.attention(
        case.edge_index, 157, q.cpu().double(), k.cpu().double(), v.cpu().double()
    )
    assert isinstance(out, Tensor)
    tolerances.assert_close(out, expected)


@pytest.mark.parametrize("score", SCORES)
def test_edge_input_by_edge(score: str, device: str, compare: Callable[..., None]) -> None:
    """[E] stands for the same number in every head; scale and slope are passed on."""
    case = ZOO["random"]
    graph = case.graph(device)
    op, oracle = pick(score)
    param = {"scale": 0.7} if score == "dot" else {"negative_slope": 0.4}
    like = torch.empty(0, dtype=torch.float64, device=device)
    *features, bias, weight = operands(case, score, like)

    def ours(*x: Tensor) -> tuple[Tensor]:
        return (op(graph, *x[:3], edge_bias=x[3], edge_weight=x[4], **param),)

    def formula(*x: Tensor) -> tuple[Tensor]:
        edge = {"edge_bias": x[3], "edge_weight": x[4]}
        return (oracle(case.edge_index, case.num_dst, *x[:3], **edge, **param)[0],)

    compare(ours, formula, *features, bias[:, 0], weight[:, 0])


@pytest.mark.parametrize("score", SCORES)
def test_gradcheck(score: str, device: str) -> None:
    case = ZOO["self_loops"]
    graph = case.graph(device)
    op, _ = pick(score)
    like = torch.empty(0, dtype=torch.float64, device=device)
    inputs = [t.requires_grad_() for t in operands(case, score, like, dim=2)]

    def f(*x: Tensor) -> Any:
        torch.manual_seed(5)  # the same mask at every call
        return op(
            graph, *x[:3], edge_bias=x[3], edge_weight=x[4], dropout=0.4, return_attention=True
        )

    assert torch.autograd.gradcheck(f, inputs, fast_mode=True)


@pytest.mark.parametrize("needing", range(5))
@pytest.mark.parametrize("score", SCORES)
def test_gradient_of_one_operand_only(score: str, needing: int, device: str) -> None:
    case = ZOO["hub"]
    graph = case.graph(device)
    op, _ = pick(score)
    like = torch.empty(0, dtype=torch.float64, device=device)
    x = operands(case, score, like)
    every = [t.clone().requires_grad_() for t in x]
    x[needing].requires_grad_()

    def loss(x: list[Tensor]) -> Tensor:
        result: Tensor = op(graph, *x[:3], edge_bias=x[3], edge_weight=x[4]).square().sum()
        return result

    (grad,) = torch.autograd.grad(loss(x), x[needing])
    assert torch.equal(grad, torch.autograd.grad(loss(every), every)[needing])


def test_the_transpose_is_only_made_for_a_gradient(device: str) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(157, 1, 4, device=device, requires_grad=True)
    with torch.no_grad():
        ops.attention(graph, x, x, x, return_attention=True)
    ops.attention(graph, x.detach(), x.detach(), x.detach())
    assert "transpose" not in graph._cache
    ops.attention(graph, x, x, x)
    assert "transpose" in graph._cache


@pytest.mark.parametrize("score", SCORES)
def test_double_backward_is_refused(score: str, device: str) -> None:
    graph = ZOO["random"].graph(device)
    op, _ = pick(score)
    x = [
        t.requires_grad_()
        for t in operands(ZOO["random"], score, torch.empty(0, device=device))[:3]
    ]
    (grad,) = torch.autograd.grad(op(graph, *x).sum(), x[2], create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
        grad.sum().backward()


@pytest.mark.parametrize("score", SCORES)
def test_strides_and_alignment_change_nothing(
    score: str, dtype: torch.dtype, device: str, misaligned: Callable[[Tensor], Tensor]
) -> None:
    case = ZOO["random"]
    graph = case.graph(device)
    op, _ = pick(score)
    x = operands(case, score, torch.empty(0, dtype=dtype, device=device))

    def strided(t: Tensor) -> Tensor:
        return torch.stack([t, t], -1)[..., 0]

    def run(change: Callable[[Tensor], Tensor]) -> tuple[Tensor, ...]:
        y = [change(t).requires_grad_() for t in x]
        out, alpha = op(graph, *y[:3], edge_bias=y[3], edge_weight=y[4], return_attention=True)
        upstream = change(torch.ones_like(out))
        return (out, alpha, *torch.autograd.grad(out, y, upstream))

    plain = run(torch.clone)
    for change in (strided, misaligned):
        for a, b in zip(plain, run(change), strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", ["hub", "random", "degrees_1024"])
def test_repeats_bit_for_bit(score: str, name: str, device: str) -> None:
    case = ZOO[name]
    op, _ = pick(score)
    x = [t.requires_grad_() for t in operands(case, score, torch.empty(0, device=device))]

    def run() -> tuple[Tensor, ...]:
        torch.manual_seed(3)
        out, alpha = op(
            *(case.graph(device), *x[:3]),
            edge_bias=x[3],
            edge_weight=x[4],
            dropout=0.3,
            return_attention=True,
        )
        return (out, alpha, *torch.autograd.grad(out.sum() + alpha.square().sum(), x))

    first = run()
    for _ in range(3):
        assert all(torch.equal(a, b) for a, b in zip(first, run(), strict=True))
