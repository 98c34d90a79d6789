"""Wrong arguments of SageAttentionConv raise one error with the name, the value and the fix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sage_attention import Graph
from sage_attention.nn import SageAttentionConv
from sage_attention.testing import graphs

CASE = graphs.zoo()["self_loops"]
GRAPH = CASE.graph()  # 20 nodes
SCORES = ["dot", "gat"]

CONSTRUCTOR: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"score": "gatv2"}, ValueError, "score must be one of dot, gat, got 'gatv2'"),
    ({"score": None}, TypeError, "score must be one of dot, gat, got None"),
    ({"edge_dim": 3}, ValueError, "edge_dim is not available in this version; available: edge_b"),
    ({"quantize": "int8"}, ValueError, "quantize is not available .*; available: float32"),
    ({"num_neighbors": 5}, ValueError, "num_neighbors is not available in this version"),
    ({"share_weights": True}, ValueError, "share_weights is not available in this version"),
    ({"fill_value": 1.0}, ValueError, "fill_value is not available in this version"),
    ({"in_channels": -2}, ValueError, "in_channels must be at least 0, or -1.*, got -2"),
    ({"in_channels": 6.0}, TypeError, "in_channels must be an int, got 6.0"),
    ({"in_channels": True}, TypeError, "in_channels must be an int, got True"),
    ({"in_channels": None}, TypeError, "in_channels must be an int, got None"),
    ({"in_channels": [6, 6]}, TypeError, "in_channels must be .* a tuple of two ints, got list"),
    ({"in_channels": (6,)}, ValueError, r"in_channels must be .*\(source's, .*, got 1 entries"),
    ({"in_channels": (6, 6, 6)}, ValueError, "in_channels must be .*, got 3 entries"),
    ({"in_channels": (6, "6")}, TypeError, r"in_channels\[1\] must be an int, got '6'"),
    ({"in_channels": (-3, 6)}, ValueError, r"in_channels\[0\] must be at least 0, or -1"),
    ({"out_channels": 0}, ValueError, "out_channels must be at least 1, got 0"),
    ({"out_channels": 513}, ValueError, "out_channels, .*at most 512, got 513; use more heads"),
    ({"out_channels": "4"}, TypeError, "out_channels must be an int, got '4'"),
    ({"heads": 0}, ValueError, "heads must be at least 1, got 0"),
    ({"heads": True}, TypeError, "heads must be an int, got True"),
    ({"heads": 1.5}, TypeError, "heads must be an int, got 1.5"),
    ({"heads": "2"}, TypeError, "heads must be an int, got '2'"),
    ({"heads": torch.tensor(2)}, TypeError, "heads must be an int, got Tensor"),
    ({"concat": "no"}, TypeError, "concat must be True or False, got 'no'"),
    ({"bias": "no"}, TypeError, "bias must be True or False, got 'no'"),
    ({"bias": None}, TypeError, "bias must be True or False, got None"),
    ({"root_weight": 5}, TypeError, "root_weight must be True or False, got 5"),
    ({"add_self_loops": "yes"}, TypeError, "add_self_loops must be True or False, got 'yes'"),
    ({"dropout": 1.5}, ValueError, r"dropout must be in \[0, 1\], got 1.5"),
    ({"dropout": -0.1}, ValueError, r"dropout must be in \[0, 1\], got -0.1"),
    ({"dropout": "0.5"}, TypeError, "dropout must be a number, got '0.5'"),
    ({"dropout": torch.tensor(0.5)}, TypeError, r"dropout must be a number.*float\(dropout\)"),
    ({"negative_slope": torch.tensor(0.2)}, TypeError, "negative_slope must be a number, got a t"),
    ({"negative_slope": float("nan")}, ValueError, "negative_slope must be finite, got nan"),
]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("arguments", "error", "message"), CONSTRUCTOR)
def test_constructor(
    arguments: dict[str, Any], error: type[Exception], message: str, score: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        SageAttentionConv(**{"in_channels": 6, "out_channels": 4, "score": score, **arguments})


def test_numpy_numbers() -> None:
    conv = SageAttentionConv(
        *(np.int64(6), np.int32(4), np.int64(2)),
        concat=np.bool_(False),
        dropout=np.float32(0.0),
        negative_slope=np.float64(0.1),
    )
    assert repr(conv) == "SageAttentionConv(6, 4, heads=2, score='dot')"
    assert conv(torch.randn(20, 6), GRAPH).shape == (20, 4)
    pair = SageAttentionConv((np.int64(6), np.int64(6)), 4)
    assert pair.in_channels == (6, 6)


X = torch.zeros(20, 6)
FEATURES: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, r"x must be a tensor or \(x_src, x_dst\), got None"),
    ("x", TypeError, r"x must be a tensor or \(x_src, x_dst\), got 'x'"),
    (np.zeros((20, 6)), TypeError, r"x must be .*, got ndarray; make one with torch.from_numpy"),
    ((X,), ValueError, r"x must be a tensor or \(x_src, x_dst\), got 1 entries"),
    ((X, X, X), ValueError, "x must be .*, got 3 entries"),
    ((None, X), TypeError, "x_src must be a tensor, got None"),
    ((X, "x"), TypeError, "x_dst must be a tensor, got 'x'"),
    (X[0], ValueError, r"x must have shape \[N, F\], got \[6\]"),
    (X[None], ValueError, r"x must have shape \[N, F\], got \[1, 20, 6\]"),
    (X[:, :5], ValueError, "x has 5 features, but in_channels of the sources is 6"),
    ((X, X[:, :5]), ValueError, "x_dst has 5 features, but in_channels of the destinations is 6"),
    (X.long(), TypeError, r"x has dtype torch.int64; convert it with x.to\(torch.float32\)"),
    (X.double(), TypeError, "x has dtype torch.float64, the layer torch.float32; convert one"),
    ((X, X.double()), TypeError, "x_dst has dtype torch.float64, the layer torch.float32"),
    (X.half(), TypeError, "x has dtype torch.float16, the layer torch.float32"),
    (X.to_sparse_csc(), TypeError, r"x must be a dense tensor, .*x.to_dense\(\)"),
    (X.to("meta"), ValueError, "x is on meta, the layer on cpu; move one with"),
    (X[:19], ValueError, "x has 19 rows for the sources, but Graph"),
    ((X, X[:19]), ValueError, "x_dst has 19 rows for the destinations, but Graph"),
]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("x", "error", "message"), FEATURES)
def test_features(x: Any, error: type[Exception], message: str, score: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        SageAttentionConv(6, 4, score=score)(x, GRAPH)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_sparse_features(layout: torch.layout, score: str) -> None:
    conv = SageAttentionConv(6, 4, score=score)
    sparse, dense = conv(X.to_sparse(layout=layout), GRAPH), conv(X, GRAPH)
    torch.testing.assert_close(sparse, dense)
    weight = next(conv.parameters())
    grads = [torch.autograd.grad(out.square().sum(), weight)[0] for out in (sparse, dense)]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("score", SCORES)
def test_one_tensor_for_two_widths(score: str) -> None:
    with pytest.raises(ValueError, match="x has 6 features, but in_channels of the destinations"):
        SageAttentionConv((6, 5), 4, score=score)(X, GRAPH)


@pytest.mark.parametrize("score", SCORES)
def test_a_lazy_layer_takes_no_size_from_a_wrong_input(score: str) -> None:
    conv = SageAttentionConv(-1, 4, score=score)
    for bad in (X.long(), X[0], X.half()):
        with pytest.raises((TypeError, ValueError), match=r"^x "):
            conv(bad, GRAPH)
    assert conv(torch.zeros(20, 3), GRAPH).shape == (20, 4)
    with pytest.raises(ValueError, match="x has 6 features, but in_channels of the sources is 3"):
        conv(X, GRAPH)


@pytest.mark.parametrize("bad", [None, "abc", 5, {}])
def test_graph(bad: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^graph must be a sage_attention.Graph, a Block or an edge"
    ):
        SageAttentionConv(6, 4)(X, bad)


def test_edge_index() -> None:
    conv = SageAttentionConv(6, 4)
    edges = CASE.edge_index
    for same in (edges.tolist(), edges.numpy()):
        assert torch.equal(conv(X, same), conv(X, edges))
    with pytest.raises(TypeError, match=r"edge_index must be a dense tensor, got layout"):
        conv(X, torch.eye(20).to_sparse())
    with pytest.raises(IndexError, match=r"edge_index\[0, 0\] = 20 is not in"):
        conv(X, torch.tensor([[20], [0]]))


def test_a_graph_on_another_device(device: str) -> None:
    conv, x = SageAttentionConv(6, 4).to(device), X.to(device)
    with pytest.raises(ValueError, match=f"x is on {device}.*, the graph on meta; move one"):
        conv(x, GRAPH.to("meta"))


def test_options_of_forward() -> None:
    conv = SageAttentionConv(6, 4)
    with pytest.raises(ValueError, match="edge_attr is not available"):
        conv(X, GRAPH, torch.zeros(63, 2))
    with pytest.raises(TypeError, match="return_attention must be True or False, got 1"):
        conv(X, GRAPH, return_attention=1)
    with pytest.raises(TypeError, match="edge_bias must be a tensor, got list"):
        conv(X, GRAPH, edge_bias=[1.0])
    with pytest.raises(ValueError, match=r"edge_weight must have shape .*, got \[6\]"):
        conv(X, GRAPH, edge_weight=torch.ones(6))


@pytest.mark.parametrize("score", SCORES)
def test_float16(score: str, device: str) -> None:
    conv, x = SageAttentionConv(6, 4, score=score).to(device), X.to(device)
    graph: Graph = GRAPH.to(device)
    advice = r"^torch.autocast casts x to float16, .*; give it dtype=torch.bfloat16"
    with torch.autocast(device, torch.float16), pytest.raises(TypeError, match=advice):
        conv(x, graph)
    advice = r"^x and the layer have dtype torch.float16, .*layer.bfloat16\(\) and x.bfloat16\(\)"
    with pytest.raises(TypeError, match=advice):
        conv.half()(x.half(), graph)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("score", SCORES)
def test_autocast_takes_any_input(score: str, dtype: torch.dtype, device: str) -> None:
    conv = SageAttentionConv(6, 4, score=score).to(device)
    x = torch.randn(20, 6, device=device)
    with torch.autocast(device, torch.bfloat16):
        out: Tensor = conv(x.to(dtype), GRAPH.to(device))
        with pytest.raises(TypeError, match=r"x has dtype torch.float64, the layer torch.float32"):
            conv(x.double(), GRAPH.to(device))
    torch.testing.assert_close(out.float(), conv(x, GRAPH.to(device)), rtol=0.05, atol=0.05)
