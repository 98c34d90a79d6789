"""torch.autocast over the ops: dtypes as torch's own ops have them there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sage_attention import ops
from sage_attention.testing import graphs

CASE = graphs.zoo()["self_loops"]
FLOAT, HALF, DOUBLE = torch.float32, torch.bfloat16, torch.float64


def attend(device: str, q: torch.dtype, rest: torch.dtype, score: str = "dot") -> Tensor:
    torch.manual_seed(2)
    graph, inner = CASE.graph(device), (4,) if score == "dot" else ()
    x = [torch.randn(20, 2, *shape).to(device) for shape in (inner, inner, (4,))]
    op = ops.attention if score == "dot" else ops.gat_attention
    weight = torch.rand(63, device=device).to(rest)
    out = op(graph, x[0].to(q), x[1].to(rest), x[2].to(rest), edge_weight=weight)
    assert isinstance(out, Tensor)
    return out


@pytest.mark.parametrize("q", [FLOAT, HALF])
@pytest.mark.parametrize("score", ["dot", "gat"])
def test_attention_in_lower_precision(score: str, q: torch.dtype, device: str) -> None:
    expected = attend(device, FLOAT, FLOAT, score)
    with torch.autocast(device, HALF):
        out = attend(device, q, FLOAT, score)
    assert out.dtype == HALF
    torch.testing.assert_close(out.float(), expected, rtol=0.05, atol=0.05)


def test_gradients_have_the_dtype_of_the_operands(device: str) -> None:
    graph = CASE.graph(device)
    x = torch.randn(20, 2, 4, device=device, requires_grad=True)
    with torch.autocast(device, HALF):
        out = ops.attention(graph, x, x.to(HALF), x, edge_bias=x[:1, 0, 0].expand(63))
    (gradient,) = torch.autograd.grad(out.float().square().sum(), x)
    assert gradient.dtype == FLOAT


def test_float64_stays(device: str) -> None:
    expected = attend(device, DOUBLE, DOUBLE)
    with torch.autocast(device, HALF):
        assert torch.equal(attend(device, DOUBLE, DOUBLE), expected)
        with pytest.raises(TypeError, match=r"k has dtype torch.bfloat16 but q has torch.float64"):
            attend(device, DOUBLE, FLOAT)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_aggregate_in_the_widest(reduce: str, device: str) -> None:
    graph, x = CASE.graph(device), torch.randn(20, 6, device=device)
    weight = torch.rand(63, device=device)
    with torch.autocast(device, HALF):
        mixed = ops.aggregate(graph, x.to(HALF), weight, reduce)
        assert torch.equal(mixed, ops.aggregate(graph, x.to(HALF).float(), weight, reduce))
        assert ops.aggregate(graph, x.to(HALF), reduce=reduce).dtype == HALF
        assert ops.aggregate(graph, x, reduce=reduce).dtype == FLOAT


def test_segments(device: str) -> None:
    graph, src = CASE.graph(device), torch.randn(63, 2, device=device)
    with torch.autocast(device, HALF):
        soft = ops.segment_softmax(src.to(HALF), graph)
        assert torch.equal(soft, ops.segment_softmax(src.to(HALF).float(), graph))
        assert ops.segment_softmax(src.double(), graph).dtype == DOUBLE
        assert ops.segment_reduce(src.to(HALF), graph).dtype == HALF


def test_float16(device: str) -> None:
    """Is not supported: operands of it are refused, with the remedy; others stay as they are."""
    graph, x = CASE.graph(device), torch.randn(20, 2, 4, device=device)
    refused: list[Callable[[], object]] = [
        lambda: ops.attention(graph, x.half(), x, x),
        lambda: ops.aggregate(graph, x.half()),
    ]
    with torch.autocast(device, torch.float16):
        for call in refused:
            with pytest.raises(TypeError, match=r"float16; .*torch.autocast takes dtype=torch.bf"):
                call()
        assert torch.equal(ops.attention(graph, x, x, x), ops.attention(graph, x, x, x))


def test_compiled(device: str) -> None:
    graph, x = CASE.graph(device), torch.randn(20, 2, 4, device=device)

    def f(x: Tensor) -> Tensor:
        out = ops.attention(graph, x, x.to(HALF), x)
        assert isinstance(out, Tensor)
        return out

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    with torch.autocast(device, HALF):
        torch.testing.assert_close(compiled(x), f(x))
    with pytest.raises(TypeError, match=r"k has dtype torch.bfloat16 but q has"):
        f(x)
