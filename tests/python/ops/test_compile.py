"""torch.compile(fullgraph=True) and torch.library.opcheck of every op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from sage_attention import Graph, ops
from sage_attention.testing import graphs

ZOO = graphs.zoo()
OPS = torch.ops.sage


def loss_dot(graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
    out, alpha = ops.attention(
        *(graph, x, x, x), edge_bias=weight, self_loops=True, return_attention=True
    )
    return out.square().sum() + alpha.square().sum()


def loss_gat(graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
    a = x.sum(-1)
    out = ops.gat_attention(graph, a, a, x, edge_weight=weight, self_loops=True)
    assert isinstance(out, Tensor)
    return out.square().sum()


def loss_aggregate(graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
    mean = ops.aggregate(graph, x, weight, "mean")
    return mean.square().sum() + ops.aggregate(graph, x, weight, "max").sum()


def loss_segment(graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
    soft = ops.segment_softmax(weight, graph)
    return ops.segment_reduce(soft * weight, graph, "max").sum() + x.sum()


LOSSES: dict[str, Callable[[Graph, Tensor, Tensor], Tensor]] = {
    "dot": loss_dot,
    "gat": loss_gat,
    "aggregate": loss_aggregate,
    "segment": loss_segment,
}


def inputs(case: graphs.Case, device: str) -> tuple[Tensor, Tensor]:
    edges = case.edge_index.shape[1]
    x = torch.randn(case.num_src, 2, 4, device=device, requires_grad=True)
    return x, torch.rand(edges, 2, device=device, requires_grad=True)


def check_compiled(name: str, device: str, warm: bool, **options: Any) -> None:
    case, loss = ZOO["self_loops"], LOSSES[name]
    graph = case.graph(device)
    if warm:
        graph.transpose()
        graph.transpose_schedule()
        graph.with_self_loops().transpose()
    compiled = torch.compile(loss, fullgraph=True, **options)
    x, weight = inputs(case, device)
    value, expected = compiled(graph, x, weight), loss(case.graph(device), x, weight)
    torch.testing.assert_close(value, expected)
    for a, b in zip(
        torch.autograd.grad(value, (x, weight)),
        torch.autograd.grad(expected, (x, weight)),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_one_graph(name: str, warm: bool, device: str) -> None:
    check_compiled(name, device, warm, backend="aot_eager")


def test_inductor(device: str) -> None:
    check_compiled("dot", device, warm=True, backend="inductor")


@pytest.mark.parametrize("name", LOSSES)
def test_one_graph_for_many_sizes(name: str, device: str) -> None:
    loss, compiles = LOSSES[name], []

    def backend(module: Any, example: Any) -> Any:
        compiles.append(1)
        return torch._dynamo.backends.debugging.aot_eager(module, example)

    compiled = torch.compile(loss, fullgraph=True, dynamic=True, backend=backend)
    for case in (ZOO["self_loops"], ZOO["random"], ZOO["hub"]):
        graph = case.graph(device)
        x, weight = inputs(case, device)
        torch.testing.assert_close(compiled(graph, x, weight), loss(graph, x, weight))
    assert len(compiles) <= 2  # square and shape assumptions may cost one more


def test_dropout_is_drawn_anew_at_every_call(device: str) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(157, 1, 4, device=device)
    compiled = torch.compile(
        lambda x: ops.attention(graph, x, x, x, dropout=0.5), fullgraph=True, backend="aot_eager"
    )
    assert not torch.equal(compiled(x), compiled(x))


@pytest.mark.parametrize("dynamic", [None, True])
def test_numbers_are_traced(dynamic: bool | None, device: str) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(157, 1, 4, device=device)

    def f(x: Tensor, number: float) -> tuple[Tensor, ...]:
        dot = ops.attention(graph, x, x, x, scale=number)
        gat = ops.gat_attention(graph, x[..., 0], x[..., 1], x, negative_slope=number)
        return dot, gat, ops.attention(graph, x, x, x, dropout=number).sum() * 0

    compiled = torch.compile(f, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for number in (0.5, 0.25, 0.125, 1.0):
        torch.testing.assert_close(compiled(x, number), f(x, number))


def test_cuda_graph_capture() -> None:
    """Captured without a synchronisation, warm caches; every replay follows its input."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    case = ZOO["hub"]
    graph = case.graph("cuda")
    x, weight = inputs(case, "cuda")
    for _ in range(3):
        torch.autograd.grad(loss_dot(graph, x, weight), (x, weight))
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        grads = torch.autograd.grad(loss_dot(graph, x, weight), (x, weight))
    with torch.no_grad():
        x.mul_(0.5)
    captured.replay()
    for a, b in zip(
        grads, torch.autograd.grad(loss_dot(graph, x, weight), (x, weight)), strict=True
    ):
        assert torch.equal(a, b)


def samples(device: str) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """For each op, one call as the public functions make it."""
    case = ZOO["self_loops"]
    graph = case.graph(device)
    schedule = graph.schedule() or (None, None)
    t, t_schedule = graph.transpose(), graph.transpose_schedule() or (None, None)
    x, weight = inputs(case, device)
    q, k, v = (torch.randn(20, 2, 4, device=device, requires_grad=True) for _ in range(3))
    csr = (graph.indptr, graph.indices)
    forward = (*csr, graph.edge_ids, *schedule)
    back = (t.indptr, t.indices, t.edge_ids, t.position, *t_schedule)
    seed = torch.tensor([11], device=device)
    out, lse = OPS.attention(*forward, *back, q, k, v, None, None, None, "dot", 0.5, 0.0)
    soft = OPS.segment_softmax(weight, graph.indptr).detach()
    top, arg = (y.detach() for y in OPS.segment_reduce(weight, graph.indptr, "max"))
    largest, winner = (y.detach() for y in OPS.aggregate(*forward, x, weight, "max"))
    fixed = [y.detach() for y in (q, k, v, out, lse)]
    src, dst = case.edge_index.to(device)
    edge = (weight, weight, seed)
    both = (*csr, *schedule, t.indptr, t.indices, *t_schedule, t.perm, t.position)
    ids = (graph.edge_ids, t.edge_ids)
    backward = (*forward, *back, out.detach(), *fixed)
    return {
        "csr_from_coo": (OPS.csr_from_coo, (dst, src, 20, 20)),
        "csr_transpose": (OPS.csr_transpose, (*csr, 20)),
        "csr_self_loops": (OPS.csr_self_loops, (*csr, graph.edge_ids, 20, 63)),
        "csr_schedule": (OPS.csr_schedule, (graph.indptr, 63)),
        "csr_validate": (OPS.csr_validate, (*csr, 20)),
        "segment_softmax": (OPS.segment_softmax, (weight, graph.indptr)),
        "segment_softmax_backward": (
            OPS.segment_softmax_backward,
            (soft, soft, graph.indptr),
        ),
        "segment_reduce": (OPS.segment_reduce, (weight, graph.indptr, "mean")),
        "segment_reduce max": (OPS.segment_reduce, (weight, graph.indptr, "max")),
        "segment_reduce_backward": (
            OPS.segment_reduce_backward,
            (top, graph.indptr, arg, 63, "max"),
        ),
        "aggregate": (OPS.aggregate, (*forward, x, weight, "mean")),
        "aggregate max": (OPS.aggregate, (*forward, x, weight, "max")),
        "aggregate plain": (OPS.aggregate, (*csr, None, *schedule, x, None, "sum")),
        "aggregate_max_backward": (
            OPS.aggregate_max_backward,
            (
                *(t.indptr, t.indices, t.edge_ids, *t_schedule),
                *(largest, winner, x.detach(), weight.detach(), True),
            ),
        ),
        "aggregate with transpose": (
            torch.ops.sage_autograd.aggregate,
            (x, weight, "mean", *ids, *both),
        ),
        "edge_dot with transpose": (torch.ops.sage_autograd.edge_dot, (q, k, *both)),
        "edge_dot": (OPS.edge_dot, (*csr, *schedule, q, k)),
        "attention dot": (OPS.attention, (*forward, *back, q, k, v, *edge, "dot", 0.5, 0.25)),
        "attention gat": (
            OPS.attention,
            (*forward, *back, q[..., :1], k[..., :1], v, None, None, None, "gat", 0.2, 0.0),
        ),
        "attention_backward": (
            OPS.attention_backward,
            (
                *backward,
                *(weight.detach(), weight.detach(), seed),
                *("dot", 0.5, 0.25, True, True),
            ),
        ),
        "attention_backward bare": (
            OPS.attention_backward,
            (*backward, None, None, None, "dot", 0.5, 0.0, False, False),
        ),
    }


@pytest.mark.parametrize("name", samples("cpu"))
def test_opcheck(name: str, device: str) -> None:
    op, args = samples(device)[name]
    torch.library.opcheck(op.default, args)


def test_every_op_is_checked() -> None:
    registered = {
        str(schema.name).removeprefix("sage::")
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("sage::")
    }
    checked = {name.split()[0] for name in samples("cpu")}
    assert registered - {"gather_ceiling"} == checked
