"""ops.segment_softmax and ops.segment_reduce against their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sage_attention import ops
from sage_attention.testing import graphs, oracles

SEGMENTS = {
    "none": [0],
    "empty": [0, 0, 0],
    "first and last empty": [0, 0, 3, 3],
    "warp": [0, 31, 63, 96, 96, 97],
    "block": [0, 1023, 2047, 3072],
}
WIDTHS = [(), (1,), (3,), (2, 4)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SEGMENTS)
def test_softmax(
    name: str,
    width: tuple[int, ...],
    dtype: torch.dtype,
    device: str,
    compare: Callable[..., None],
) -> None:
    ptr = torch.tensor(SEGMENTS[name])
    src = torch.randn(int(ptr[-1]), *width).to(device, dtype)
    on_device = ptr.to(device)
    compare(
        lambda s: (ops.segment_softmax(s, on_device),),
        lambda s: (oracles.segment_softmax(s, ptr),),
        src,
    )


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SEGMENTS)
def test_reduce(
    name: str,
    width: tuple[int, ...],
    reduce: str,
    dtype: torch.dtype,
    device: str,
    compare: Callable[..., None],
) -> None:
    ptr = torch.tensor(SEGMENTS[name])
    src = torch.randn(int(ptr[-1]), *width)
    on_device = ptr.to(device)
    compare(
        lambda s: (ops.segment_reduce(s, on_device, reduce),),
        lambda s: (oracles.segment_reduce(s, ptr, reduce),),
        src.to(device, dtype),
    )


@pytest.mark.parametrize("reduce", ["max", "min"])
def test_the_first_winner_takes_the_gradient(reduce: str, device: str) -> None:
    src = torch.tensor([2.0, 2.0, 2.0, -1.0], device=device, requires_grad=True)
    out = ops.segment_reduce(src, torch.tensor([0, 3, 3, 4], device=device), reduce)
    assert out.tolist() == [2.0, 0.0, -1.0]
    (grad,) = torch.autograd.grad(out.sum(), src)
    assert grad.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_rows_outside_every_segment(device: str) -> None:
    ptr = torch.tensor([1, 3], device=device)
    src = torch.ones(5, 2, device=device, requires_grad=True)
    soft = ops.segment_softmax(src, ptr)
    assert soft[:, 0].tolist() == [0.0, 0.5, 0.5, 0.0, 0.0]
    assert ops.segment_reduce(src, ptr)[:, 0].tolist() == [2.0]
    grads = torch.autograd.grad(ops.segment_reduce(src, ptr, "mean").sum() + soft.sum(), src)[0]
    assert grads[:, 0].tolist() == [0.0, 0.5, 0.5, 0.0, 0.0]


def test_softmax_of_minus_infinity(device: str) -> None:
    src = torch.tensor([-math.inf, -math.inf, 0.0, -math.inf], device=device, requires_grad=True)
    out = ops.segment_softmax(src, torch.tensor([0, 2, 4], device=device))
    assert out.tolist() == [0.0, 0.0, 1.0, 0.0]
    (grad,) = torch.autograd.grad(out.square().sum(), src)
    assert grad.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_a_graph_stands_for_its_in_edges(device: str) -> None:
    case = graphs.zoo()["self_loops"]
    graph = case.graph(device)
    src = torch.randn(63, 2, device=device)
    _, dst = case.edge_index
    soft = oracles.softmax_by(src.cpu(), dst, 20)
    torch.testing.assert_close(ops.segment_softmax(src, graph).cpu(), soft)
    mean = oracles.reduce_by(src.cpu(), dst, 20, "mean")
    torch.testing.assert_close(ops.segment_reduce(src, graph, "mean").cpu(), mean)
    with pytest.raises(ValueError, match="one row for each of the graph's 63 edges"):
        ops.segment_softmax(src[:5], graph)


@pytest.mark.parametrize("reduce", ["softmax", "sum", "mean", "max", "min"])
def test_gradcheck(reduce: str, device: str) -> None:
    ptr = torch.tensor([0, 4, 4, 7], device=device)
    src = torch.randn(7, 2, dtype=torch.float64, device=device, requires_grad=True)

    def f(src: Tensor) -> Tensor:
        return (
            ops.segment_softmax(src, ptr)
            if reduce == "softmax"
            else ops.segment_reduce(src, ptr, reduce)
        )

    assert torch.autograd.gradcheck(f, src)
    upstream = torch.ones_like(f(src), requires_grad=True)
    (grad,) = torch.autograd.grad(f(src), src, upstream, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
        grad.sum().backward()


def test_strides_and_alignment_change_nothing(
    dtype: torch.dtype, device: str, misaligned: Callable[[Tensor], Tensor]
) -> None:
    ptr = torch.tensor([0, 40, 100], device=device)
    src = torch.randn(100, 3).to(device, dtype)
    strided = src.t().contiguous().t()
    for f in (ops.segment_softmax, ops.segment_reduce):
        assert torch.equal(f(src, ptr), f(strided, ptr))
        assert torch.equal(f(src, ptr), f(misaligned(src), ptr))


def test_bad_input() -> None:
    ptr = torch.tensor([0, 2])
    with pytest.raises(TypeError, match=r"src has dtype torch.int64; supported are float32"):
        ops.segment_softmax(torch.zeros(2).long(), ptr)
    with pytest.raises(TypeError, match="indptr must hold integer ids"):
        ops.segment_softmax(torch.zeros(2), ptr.float())
    with pytest.raises(ValueError, match=r"S \+ 1 entries"):
        ops.segment_softmax(torch.zeros(2), ptr[:0])
    with pytest.raises(ValueError, match=r"stay in \[0, E = 2\]: indptr\[1\] = 3"):
        ops.segment_softmax(torch.zeros(2), torch.tensor([0, 3]))
    with pytest.raises(ValueError, match=r"indptr\[2\] = 1"):
        ops.segment_reduce(torch.zeros(2), torch.tensor([0, 2, 1]))
    with pytest.raises(ValueError, match="at least one dimension"):
        ops.segment_softmax(torch.zeros(()), ptr)
    with pytest.raises(ValueError, match="one of sum, mean, max, min, got 'prod'"):
        ops.segment_reduce(torch.zeros(2), ptr, "prod")
