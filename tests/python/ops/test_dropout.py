"""Attention dropout: its law, its seed, and the same mask forward and backward."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from sage_attention import Graph, ops
from sage_attention.testing import graphs, oracles, tolerances

P = 0.3


def one_edge_a_row(rows: int, device: str) -> Graph:
    edges = torch.arange(rows, device=device)
    return Graph.from_edge_index(torch.stack([edges.flip(0), edges]))


def masks(rows: int, heads: int, device: str) -> Tensor:
    """Attention of rows with one edge is 1, so that the output is the mask, scaled."""
    graph = one_edge_a_row(rows, device)
    a, v = torch.zeros(rows, heads, device=device), torch.ones(rows, heads, 1, device=device)
    out = ops.gat_attention(graph, a, a, v, dropout=P)
    assert isinstance(out, Tensor)
    kept: Tensor = out.squeeze(-1)
    assert kept.unique().tolist() == pytest.approx([0.0, 1 / (1 - P)])
    return kept > 0


def test_rate_and_independence(device: str) -> None:
    rows, heads = 40_000, 5
    kept = masks(rows, heads, device).double()
    sigma = math.sqrt(P * (1 - P) / rows)
    for head in range(heads):
        assert abs(kept[:, head].mean().item() - (1 - P)) < 5 * sigma
        for other in range(head):
            both = (kept[:, head] * kept[:, other]).mean().item()
            assert abs(both - (1 - P) ** 2) < 5 * sigma
    neighbours = (kept[1:, 0] * kept[:-1, 0]).mean().item()
    assert abs(neighbours - (1 - P) ** 2) < 5 * sigma


def test_manual_seed_rules(device: str) -> None:
    torch.manual_seed(1)
    first, second = masks(500, 2, device), masks(500, 2, device)
    torch.manual_seed(1)
    assert torch.equal(masks(500, 2, device), first)
    assert not torch.equal(first, second)


def test_no_draw_without_dropout(device: str) -> None:
    graph = one_edge_a_row(3, device)
    x = torch.ones(3, 1, 2, device=device)
    torch.manual_seed(1)
    ops.attention(graph, x, x, x)
    after = torch.rand(1, device=device)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1, device=device), after)


@pytest.mark.parametrize("score", ["dot", "gat"])
@pytest.mark.parametrize("name", ["hub", "self_loops", "random", "degrees_1024"])
def test_forward_and_backward_share_a_mask(name: str, score: str, device: str) -> None:
    """With unit weights, dweight = a * mask / (1 - p) * (grad . v) tells the mask; the formula with
    that mask must give the output and every gradient."""
    case = graphs.zoo()[name]
    graph = case.graph(device)
    heads, edges = 3, case.edge_index.shape[1]
    inner = (4,) if score == "dot" else ()
    x = [
        torch.randn(case.num_dst, heads, *inner, dtype=torch.float64),
        torch.randn(case.num_src, heads, *inner, dtype=torch.float64),
        torch.rand(case.num_src, heads, 2, dtype=torch.float64) + 0.1,
    ]
    op = ops.attention if score == "dot" else ops.gat_attention
    formula = oracles.attention if score == "dot" else oracles.gat_attention
    ours = [t.to(device).requires_grad_() for t in x]
    ones = torch.ones(edges, heads, dtype=torch.float64, device=device, requires_grad=True)
    out = op(graph, *ours, edge_weight=ones, dropout=P)
    *grads, dweight = torch.autograd.grad(out.sum(), [*ours, ones])
    keep = (dweight != 0).cpu()
    assert abs(keep.double().mean().item() - (1 - P)) < 5 * math.sqrt(P * (1 - P) / keep.numel())
    theirs = [t.clone().requires_grad_() for t in x]
    expected, _ = formula(case.edge_index, case.num_dst, *theirs, keep=keep, dropout=P)
    tolerances.assert_close(out, expected)
    wanted = torch.autograd.grad(expected.sum(), theirs)
    for mine, want in zip(grads, wanted, strict=True):
        tolerances.assert_close(mine, want, gradient=True, floor=1.0)


def test_the_mask_goes_by_edge_not_by_place(device: str) -> None:
    """The same edges in another CSR order keep their masks, as ids and heads key them."""
    case = graphs.zoo()["random"]
    graph = case.graph(device)
    assert graph.edge_ids is not None
    first, second = graph.indptr[:2].tolist()
    order = torch.arange(graph.num_edges, device=device)
    order[first:second] = order[first:second].flip(0)
    turned = Graph(graph.indptr, graph.indices[order], num_src=157, edge_ids=graph.edge_ids[order])
    x = torch.randn(157, 2, 4, dtype=torch.float64, device=device)

    def run(graph: Graph) -> Tensor:
        torch.manual_seed(9)
        out = ops.attention(graph, x, x, x, dropout=P)
        assert isinstance(out, Tensor)
        return out

    tolerances.assert_close(run(turned), run(graph))


@pytest.mark.parametrize("score", ["dot", "gat"])
def test_all_is_dropped(score: str, device: str) -> None:
    """As F.dropout has p = 1: output and gradients are 0; attention is that before dropout."""
    case = graphs.zoo()["self_loops"]
    graph, op = case.graph(device), ops.attention if score == "dot" else ops.gat_attention
    inner = (4,) if score == "dot" else ()
    x = [
        torch.randn(20, 2, *shape, device=device, requires_grad=True)
        for shape in (inner, inner, (3,))
    ]
    weight = torch.rand(63, device=device, requires_grad=True)
    out, alpha = op(graph, *x, edge_weight=weight, dropout=1.0, return_attention=True)
    assert (out == 0).all()
    assert all((grad == 0).all() for grad in torch.autograd.grad(out.sum(), [*x, weight]))
    assert torch.equal(alpha, op(graph, *x, return_attention=True)[1])
    assert (alpha > 0).any()
