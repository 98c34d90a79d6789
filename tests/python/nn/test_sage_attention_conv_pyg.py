"""SageAttentionConv against PyTorch Geometric's TransformerConv and GATConv, where it is installed:
the same state dict gives the same output, attention and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from sage_attention.nn import SageAttentionConv
from sage_attention.testing import graphs

pyg = pytest.importorskip("torch_geometric.nn")
ZOO = graphs.zoo()


def pair(score: str, in_channels: Any, **options: Any) -> tuple[SageAttentionConv, Any]:
    """Ours and theirs, drawn from one seed."""
    torch.manual_seed(13)
    ours = SageAttentionConv(in_channels, 5, 3, score=score, **options)
    if score == "gat" and "root_weight" in options:
        options["residual"] = options.pop("root_weight")
    torch.manual_seed(13)
    theirs = (pyg.TransformerConv if score == "dot" else pyg.GATConv)(in_channels, 5, 3, **options)
    return ours.double(), theirs.double()


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("dot", {}),
    ("dot", {"concat": False}),
    ("dot", {"root_weight": False, "bias": False}),
    ("gat", {}),
    ("gat", {"concat": False, "root_weight": True}),
    ("gat", {"add_self_loops": False, "bias": False, "negative_slope": 0.3}),
]


def check(ours: Any, theirs: Any, x: Any, graph: Any, edge_index: Tensor) -> None:
    """Outputs and the gradients of all parameters and inputs."""
    inputs = [t for t in (x if isinstance(x, tuple) else (x,)) if t is not None]
    results = []
    for conv, edges in ((ours, graph), (theirs, edge_index)):
        out = conv(x, edges)
        parameters = [p for _, p in sorted(conv.named_parameters())]
        torch.manual_seed(1)
        grads = torch.autograd.grad(
            out, [*parameters, *inputs], torch.randn_like(out), allow_unused=True
        )
        results.append((out, *grads))
    for a, b in zip(*results, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("score", ["dot", "gat"])
def test_same_seed_gives_the_same_parameters(score: str) -> None:
    ours, theirs = pair(score, 7, root_weight=True)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    for name, value in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], value, rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("name", ["self_loops", "isolated_rows", "duplicate_edges", "random"])
@pytest.mark.parametrize(("score", "options"), OPTIONS)
def test_same_results(score: str, options: dict[str, Any], name: str) -> None:
    case = ZOO[name]
    nodes = max(case.num_src, case.num_dst)
    ours, theirs = pair(score, 7, **dict(options))
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(nodes, 7, dtype=torch.float64, requires_grad=True)
    check(ours, theirs, x, case.edge_index, case.edge_index)


@pytest.mark.parametrize("score", ["dot", "gat"])
@pytest.mark.parametrize("name", ["bipartite", "wide"])
def test_same_results_bipartite(name: str, score: str) -> None:
    case = ZOO[name]
    ours, theirs = pair(score, (7, 4), root_weight=True)
    ours.load_state_dict(theirs.state_dict())
    x_src = torch.randn(case.num_src, 7, dtype=torch.float64, requires_grad=True)
    x_dst = torch.randn(case.num_dst, 4, dtype=torch.float64, requires_grad=True)
    check(ours, theirs, (x_src, x_dst), case.graph(), case.edge_index)


@pytest.mark.parametrize("in_channels", [7, (7, 7)])
def test_gat_without_destinations(in_channels: Any) -> None:
    case = ZOO["random"]
    ours, theirs = pair("gat", in_channels)
    x = torch.randn(157, 7, dtype=torch.float64, requires_grad=True)
    check(ours, theirs, (x, None), case.graph(), case.edge_index)
    check(ours, theirs, (x, x), case.graph(), case.edge_index)


def test_same_attention() -> None:
    """PyG returns GAT's attention by the edge list that it rewrites: loops removed, then added."""
    case = ZOO["self_loops"]
    x = torch.randn(20, 7, dtype=torch.float64)
    ours, theirs = pair("dot", 7)
    _, alpha = ours(x, case.graph(), return_attention=True)
    _, (_, expected) = theirs(x, case.edge_index, return_attention_weights=True)
    torch.testing.assert_close(alpha, expected)
    ours, theirs = pair("gat", 7)
    _, alpha = ours(x, case.graph(), return_attention=True)
    _, (_, expected) = theirs(x, case.edge_index, return_attention_weights=True)
    kept = case.edge_index[0] != case.edge_index[1]
    torch.testing.assert_close(alpha[:63][kept], expected[:-20])
    torch.testing.assert_close(alpha[63:], expected[-20:])


def test_a_lazy_state_of_theirs() -> None:
    theirs = pyg.GATConv(-1, 5, 3)
    case = ZOO["random"]
    x = torch.randn(157, 7)
    expected = theirs(x, case.edge_index)
    ours = SageAttentionConv(-1, 5, 3, score="gat")
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x, case.graph()), expected)
