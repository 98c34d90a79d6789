"""ops.aggregate and the per-edge dot product against their formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from sage_attention import Graph, ops
from sage_attention.ops.aggregate import edge_dot
from sage_attention.testing import graphs, oracles

ZOO = graphs.zoo()


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("name", ZOO)
def test_matches_the_formula(
    name: str, reduce: str, dtype: torch.dtype, device: str, compare: Callable[..., None]
) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    like = torch.empty(0, dtype=dtype, device=device)
    x = torch.randn(case.num_src, 2, 5).to(like)
    weight = torch.rand(case.edge_index.shape[1], 2).to(like)
    if reduce == "max":  # exact products, so that the same edge wins in every precision
        weight = torch.randint(-1, 2, weight.shape).double().exp2().to(like)

    def ours(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (ops.aggregate(graph, x, weight, reduce),)

    def formula(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (oracles.aggregate(case.edge_index, case.num_dst, x, weight, reduce),)

    compare(ours, formula, x, weight)


@pytest.mark.parametrize("shape", [(), (6,), (2, 6), (2, 3, 2)])
def test_any_feature_shape(
    shape: tuple[int, ...], dtype: torch.dtype, device: str, compare: Callable[..., None]
) -> None:
    case = ZOO["wide"]
    graph = case.graph(device)
    like = torch.empty(0, dtype=dtype, device=device)
    x = torch.randn(case.num_src, *shape).to(like)

    def ours(x: Tensor) -> tuple[Tensor]:
        return (ops.aggregate(graph, x),)

    def formula(x: Tensor) -> tuple[Tensor]:
        return (oracles.aggregate(case.edge_index, case.num_dst, x),)

    compare(ours, formula, x)


def test_edge_weight_of_one_number(device: str, compare: Callable[..., None]) -> None:
    case = ZOO["hub"]
    graph = case.graph(device)
    x = torch.randn(case.num_src, 3, 4, device=device, dtype=torch.float64)
    weight = torch.rand(graph.num_edges, device=device, dtype=torch.float64)

    def ours(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (ops.aggregate(graph, x, weight, "mean"),)

    def formula(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (oracles.aggregate(case.edge_index, case.num_dst, x, weight, "mean"),)

    compare(ours, formula, x, weight)


def test_wide_features(device: str, compare: Callable[..., None]) -> None:
    """More features than a head of attention may have."""
    case = ZOO["self_loops"]
    graph = case.graph(device)
    x = torch.randn(20, 1100, device=device, dtype=torch.float64)

    def ours(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (ops.aggregate(graph, x, weight),)

    def formula(x: Tensor, weight: Tensor) -> tuple[Tensor]:
        return (oracles.aggregate(case.edge_index, 20, x, weight),)

    compare(ours, formula, x, torch.rand(63, device=device, dtype=torch.float64))


def test_max_gives_its_gradient_to_the_first_winner(device: str) -> None:
    graph = Graph.from_edge_index([[2, 1, 2, 0], [0, 0, 0, 1]]).to(device)
    x = torch.tensor([-5.0, 4.0, 4.0], device=device, requires_grad=True)
    weight = torch.ones(4, device=device, requires_grad=True)
    out = ops.aggregate(graph, x, weight, "max")
    assert out.tolist() == [4.0, -5.0, 0.0]
    dx, dweight = torch.autograd.grad(out, (x, weight), torch.tensor([1.0, 2.0, 4.0]).to(x))
    assert dx.tolist() == [2.0, 0.0, 1.0]
    assert dweight.tolist() == [4.0, 0.0, 0.0, -10.0]


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_gradcheck(reduce: str, device: str) -> None:
    case = ZOO["self_loops"]
    graph = case.graph(device)
    x = torch.randn(20, 2, 2, device=device, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(63, 2, device=device, dtype=torch.float64, requires_grad=True)

    def f(*inputs: Tensor) -> Tensor:
        return ops.aggregate(graph, *inputs, reduce=reduce)

    assert torch.autograd.gradcheck(f, (x, weight), fast_mode=True)
    if reduce != "max":
        assert torch.autograd.gradgradcheck(f, (x, weight), fast_mode=True)
        return
    (grad,) = torch.autograd.grad(f(x, weight).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
        grad.sum().backward()


@pytest.mark.parametrize("name", ["self_loops", "hub", "wide", "no_edges", "empty"])
def test_edge_dot(name: str, dtype: torch.dtype, device: str, compare: Callable[..., None]) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    assert graph.edge_ids is not None
    ids = graph.edge_ids.long().cpu()
    like = torch.empty(0, dtype=dtype, device=device)
    x, y = (torch.randn(n, 2, 5).to(like) for n in (case.num_dst, case.num_src))

    def formula(x: Tensor, y: Tensor) -> tuple[Tensor]:
        return ((x[case.edge_index[1][ids]] * y[case.edge_index[0][ids]]).sum(-1),)

    compare(lambda x, y: (edge_dot(graph, x, y),), formula, x, y)


def test_raw_ops_find_their_own_transpose(device: str) -> None:
    """torch.ops.sage.* differentiates, too, when called without the public function."""
    case = ZOO["self_loops"]
    graph = case.graph(device)
    schedule = graph.schedule() or (None, None)
    x, y = (torch.randn(20, 2, 3, device=device, requires_grad=True) for _ in range(2))
    weight = torch.rand(63, 2, device=device, requires_grad=True)
    arrays = (graph.indptr, graph.indices, graph.edge_ids, *schedule)
    for reduce in ("sum", "mean", "max"):
        raw, _ = torch.ops.sage.aggregate(*arrays, x, weight, reduce)
        expected = ops.aggregate(graph, x, weight, reduce)
        assert torch.equal(raw, expected)
        for a, b in zip(
            torch.autograd.grad(raw.square().sum(), (x, weight)),
            torch.autograd.grad(expected.square().sum(), (x, weight)),
            strict=True,
        ):
            assert torch.equal(a, b)
    raw = torch.ops.sage.edge_dot(graph.indptr, graph.indices, *schedule, x, y)
    for a, b in zip(
        torch.autograd.grad(raw.square().sum(), (x, y)),
        torch.autograd.grad(edge_dot(graph, x, y).square().sum(), (x, y)),
        strict=True,
    ):
        assert torch.equal(a, b)


def test_strides_and_alignment_change_nothing(
    dtype: torch.dtype, device: str, misaligned: Callable[[Tensor], Tensor]
) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(157, 2, 5).to(device, dtype)
    for reduce in ("sum", "mean", "max"):
        plain = ops.aggregate(graph, x, reduce=reduce)
        assert torch.equal(plain, ops.aggregate(graph, misaligned(x), reduce=reduce))
        strided = x.transpose(0, 2).contiguous().transpose(0, 2)
        assert torch.equal(plain, ops.aggregate(graph, strided, reduce=reduce))


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "graph": ({"graph": None}, TypeError, "graph must be a sage_attention.Graph, got NoneType"),
    "rows": ({"x": torch.zeros(3, 2)}, ValueError, "for each of the graph's 20 sources"),
    "scalar": ({"x": torch.zeros(())}, ValueError, "x must have one row"),
    "no features": ({"x": torch.zeros(20, 0)}, ValueError, "of at least one feature"),
    "reduce": ({"reduce": "min"}, ValueError, "reduce must be one of sum, mean, max, got 'min'"),
    "ints": ({"x": torch.zeros(20, 2).long()}, TypeError, "x has dtype torch.int64; supported are"),
    "weight": (
        {"edge_weight": torch.zeros(63, 2)},
        ValueError,
        r"edge_weight must have shape \[E\] = \[63\] or \[E, H\] = \[63, 1\]",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    changes, error, message = BAD[name]
    with pytest.raises(error, match=message):
        ops.aggregate(**{"graph": ZOO["self_loops"].graph(), "x": torch.zeros(20, 2), **changes})
