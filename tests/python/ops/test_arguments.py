"""Wrong arguments of every op raise one error that names the argument, what was given, the fix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sage_attention import ops
from sage_attention.testing import graphs

GRAPH = graphs.zoo()["self_loops"].graph()  # 20 nodes, 63 edges
PTR = torch.tensor([0, 30, 63])
A, X, S = torch.zeros(20, 2), torch.zeros(20, 2, 4), torch.zeros(63, 2)

# For each operand, a call that is right except for it.
OPERANDS: dict[str, Callable[[Any], Any]] = {
    "attention q": lambda t: ops.attention(GRAPH, t, X, X),
    "attention k": lambda t: ops.attention(GRAPH, X, t, X),
    "attention v": lambda t: ops.attention(GRAPH, X, X, t),
    "attention edge_bias": lambda t: ops.attention(GRAPH, X, X, X, edge_bias=t),
    "attention edge_weight": lambda t: ops.attention(GRAPH, X, X, X, edge_weight=t),
    "gat_attention a_dst": lambda t: ops.gat_attention(GRAPH, t, A, X),
    "gat_attention a_src": lambda t: ops.gat_attention(GRAPH, A, t, X),
    "gat_attention v": lambda t: ops.gat_attention(GRAPH, A, A, t),
    "aggregate x": lambda t: ops.aggregate(GRAPH, t),
    "aggregate edge_weight": lambda t: ops.aggregate(GRAPH, X, t),
    "segment_softmax src": lambda t: ops.segment_softmax(t, GRAPH),
    "segment_reduce src": lambda t: ops.segment_reduce(t, PTR),
}
every_operand = pytest.mark.parametrize("operand", OPERANDS)
optional = ("edge_bias", "edge_weight")


def refused(operand: str, value: Any, error: type[Exception], message: str) -> None:
    name = operand.split()[1]
    with pytest.raises(error, match=message.replace("NAME", name)):
        OPERANDS[operand](value)


@every_operand
def test_no_tensor(operand: str) -> None:
    refused(operand, "mean", TypeError, "^NAME must be a tensor, got 'mean'")
    refused(operand, [1.0], TypeError, r"^NAME must .* got list; make one with torch.tensor\(NAME")
    array = np.zeros((20, 2))
    refused(operand, array, TypeError, r"got ndarray; make one with torch.from_numpy\(NAME\)")
    if not operand.endswith(optional):
        refused(operand, None, TypeError, "^NAME must be a tensor, got None")


@pytest.mark.filterwarnings("ignore:.*(beta state|prototype stage)")
@every_operand
def test_a_tensor_that_is_not_dense(operand: str) -> None:
    for sparse in (torch.eye(20).to_sparse(), torch.eye(20).to_sparse_csr()):
        refused(operand, sparse, TypeError, r"^NAME must be .* torch.sparse_.*NAME.to_dense\(\)")
    rows = [torch.ones(2, 3), torch.ones(1, 3)]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(rows, layout=layout)
        refused(operand, nested, TypeError, "^NAME must be a dense tensor, got a nested one")


@every_operand
def test_a_tensor_of_another_kind(operand: str) -> None:
    refused(operand, X.long(), TypeError, "^NAME has dtype torch.int64; supported are float32")
    refused(operand, X.half(), TypeError, r"^NAME has dtype torch.float16; .*NAME.bfloat16\(\)")
    place = "indptr" if operand == "segment_reduce src" else "the graph"
    refused(operand, X.to("meta"), ValueError, f"^NAME is on meta, {place} on cpu; a meta tensor")


def test_devices_of_segments(device: str) -> None:
    other = torch.device("meta" if device == "cpu" else "cpu")
    with pytest.raises(ValueError, match=f"src is on {device}.*, indptr on {other}"):
        ops.segment_softmax(S.to(device), PTR.to(other))


@pytest.mark.parametrize("size", [0, 1])
def test_shapes_without_heads_or_features(size: int) -> None:
    empty = X[:, :0] if size == 0 else X[..., :0]
    for operand in ("attention q", "attention v", "gat_attention v"):
        refused(operand, empty, ValueError, r"^NAME must have shape .* with \* at least 1, got")
    refused("aggregate x", empty, ValueError, "^x must have one row, of at least one feature")


@pytest.mark.parametrize(
    "operand", ["attention edge_bias", "attention edge_weight", "aggregate edge_weight"]
)
def test_shapes_are_reported_as_given(operand: str) -> None:
    refused(operand, torch.zeros(6), ValueError, r"^NAME must have .*caller's order, got \[6\]")


@pytest.mark.parametrize("bad", [None, "abc", torch.zeros(2, 3), np.zeros((2, 3))])
def test_graph(bad: Any) -> None:
    for call in (
        lambda: ops.attention(bad, X, X, X),
        lambda: ops.gat_attention(bad, A, A, X),
        lambda: ops.aggregate(bad, X),
    ):
        with pytest.raises(TypeError, match=r"graph must be a sage_attention.Graph, got"):
            call()


def test_indptr() -> None:
    for bad in (None, "abc", PTR.float()):
        with pytest.raises(TypeError, match=r"^indptr must"):
            ops.segment_softmax(S, bad)
    with pytest.raises(TypeError, match=r"^indptr must be a dense tensor, got layout"):
        ops.segment_reduce(S, PTR.to_sparse())


FLAGS = ["self_loops", "return_attention"]
NUMBERS = [("attention", "scale"), ("gat_attention", "negative_slope"), ("attention", "dropout")]


def call(op: str, **arguments: Any) -> Any:
    operands = (X, X, X) if op == "attention" else (A, A, X)
    return getattr(ops, op)(GRAPH, *operands, **arguments)


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("op", ["attention", "gat_attention"])
def test_flags(op: str, name: str) -> None:
    for bad in ("no", 1, None, torch.tensor(True)):
        with pytest.raises(TypeError, match=f"^{name} must be True or False, got"):
            call(op, **{name: bad})
    call(op, **{name: np.bool_(True)})


@pytest.mark.parametrize(("op", "name"), NUMBERS)
def test_numbers(op: str, name: str) -> None:
    for tensor in (torch.tensor(0.5), torch.tensor(0.5, requires_grad=True)):
        with pytest.raises(TypeError, match=rf"^{name} must .* got a tensor.* float\({name}\)"):
            call(op, **{name: tensor})
    for bad in ("0.5", True, np.bool_(True), 1j, np.ones(1)):
        with pytest.raises(TypeError, match=f"^{name} must be a number, got"):
            call(op, **{name: bad})
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match=f"^{name} must be finite, got {bad}"):
            call(op, **{name: bad})
    for good in (np.float32(0.5), np.float64(0.5)):
        torch.manual_seed(0)
        out = call(op, **{name: good})
        torch.manual_seed(0)
        assert torch.equal(out, call(op, **{name: 0.5}))
    call(op, **{name: np.int64(0)})


def test_a_scale_is_learnt_as_its_error_says() -> None:
    x, scale = torch.randn(20, 2, 4), torch.tensor(0.5, requires_grad=True)
    out = ops.attention(GRAPH, x * scale, x, x, scale=1.0)
    assert isinstance(out, Tensor)
    torch.testing.assert_close(out, ops.attention(GRAPH, x, x, x, scale=0.5))
    (gradient,) = torch.autograd.grad(out.square().sum(), scale)
    assert gradient != 0


@pytest.mark.parametrize("bad", [None, 5, ["sum"], torch.ones(2), np.array(["sum", "max"])])
def test_reduce(bad: Any) -> None:
    for run in (
        lambda: ops.aggregate(GRAPH, X, reduce=bad),
        lambda: ops.segment_reduce(S, PTR, bad),
    ):
        with pytest.raises(TypeError, match=r"^reduce must be one of sum, mean, max"):
            run()


def test_reduce_in_the_place_of_weights() -> None:
    with pytest.raises(
        TypeError, match=r"edge_weight must .*got 'mean'; did you mean reduce='mean'"
    ):
        ops.aggregate(GRAPH, X, "mean")
