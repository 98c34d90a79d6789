"""SageAttentionConv by itself: shapes, lazy sizes, inputs of every kind, state dicts, errors."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import Tensor

from sage_attention import Block, Graph, ops
from sage_attention.nn import SageAttentionConv
from sage_attention.testing import graphs

CASE = graphs.zoo()["self_loops"]
SCORES = ["dot", "gat"]


def keys(conv: SageAttentionConv) -> list[str]:
    return sorted(conv.state_dict())


def test_state_dict_keys() -> None:
    dot = ["lin_key", "lin_query", "lin_skip", "lin_value"]
    weights = [f"{name}.weight" for name in dot]
    assert keys(SageAttentionConv(4, 2, bias=False)) == weights
    assert keys(SageAttentionConv(4, 2, root_weight=False)) == sorted(
        weights + [f"{name}.bias" for name in dot]
    )
    gat = ["att_dst", "att_src"]
    assert keys(SageAttentionConv(4, 2, score="gat", bias=False)) == [*gat, "lin.weight"]
    assert keys(SageAttentionConv((4, 3), 2, score="gat", root_weight=True)) == [
        *gat,
        *("bias", "lin_dst.weight", "lin_src.weight", "res.weight"),
    ]


def test_repr() -> None:
    assert repr(SageAttentionConv(8, 32, 2)) == "SageAttentionConv(8, 32, heads=2, score='dot')"
    pair = SageAttentionConv((8, 4), 3, score="gat")
    assert repr(pair) == "SageAttentionConv((8, 4), 3, heads=1, score='gat')"


@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("score", SCORES)
def test_formula(score: str, concat: bool, device: str) -> None:
    """The layer is its linear maps around the op, with root term and bias behind."""
    conv = SageAttentionConv(6, 4, 3, score=score, concat=concat, root_weight=True).to(device)
    if conv.score == "gat":
        torch.nn.init.normal_(conv.bias)
    graph, x = CASE.graph(device), torch.randn(20, 6, device=device)

    def heads(y: Tensor) -> Tensor:
        return y.view(-1, 3, 4)

    if score == "dot":
        q, k, v = (heads(f(x)) for f in (conv.lin_query, conv.lin_key, conv.lin_value))
        out = ops.attention(graph, q, k, v)
    else:
        v = heads(x @ conv.lin.weight.t())
        a_dst, a_src = (v * conv.att_dst).sum(-1), (v * conv.att_src).sum(-1)
        out = ops.gat_attention(graph, a_dst, a_src, v, self_loops=True)
    out = out.reshape(20, 12) if concat else out.mean(1)
    out = out + (conv.lin_skip(x) if score == "dot" else conv.res(x) + conv.bias)
    torch.testing.assert_close(conv(x, graph), out)


@pytest.mark.parametrize("score", SCORES)
def test_graph_and_edge_index_agree(score: str, device: str) -> None:
    conv = SageAttentionConv(6, 4, 3, score=score).to(device)
    x = torch.randn(20, 6, device=device)
    out = conv(x, CASE.graph(device))
    assert out.shape == (20, 12)
    assert torch.equal(conv(x, CASE.edge_index.to(device)), out)


@pytest.mark.parametrize("score", SCORES)
def test_bipartite(score: str, device: str) -> None:
    case = graphs.zoo()["bipartite"]
    conv = SageAttentionConv((6, 5), 4, 2, score=score, add_self_loops=False).to(device)
    x = torch.randn(9, 6, device=device), torch.randn(50, 5, device=device)
    out, alpha = conv(x, case.graph(device), return_attention=True)
    assert out.shape == (50, 8)
    assert alpha.shape == (200, 2)
    assert torch.equal(conv(x, case.edge_index.to(device)), out)
    if score == "gat":
        assert conv((x[0], None), case.graph(device)).shape == (50, 8)
    else:
        with pytest.raises(ValueError, match="needs features of the destinations"):
            conv((x[0], None), case.graph(device))


@pytest.mark.parametrize("score", SCORES)
def test_block_takes_the_sources_alone(score: str) -> None:
    block = Block.from_edge_index([[2, 3, 1], [0, 1, 0]], num_src=4, num_dst=2)
    plain = Graph.from_edge_index([[2, 3, 1], [0, 1, 0]], num_src=4, num_dst=2)
    conv = SageAttentionConv(6, 4, score=score)
    x = torch.randn(4, 6)
    out = conv(x, block)
    assert out.shape == (2, 4)
    assert torch.equal(out, conv((x, x[:2]), plain))


@pytest.mark.parametrize("score", SCORES)
def test_lazy_sizes(score: str) -> None:
    lazy = SageAttentionConv(-1, 4, 2, score=score, root_weight=True)
    twin = copy.deepcopy(lazy)
    x = torch.randn(20, 6)
    out = lazy(x, CASE.graph())
    assert out.shape == (20, 8)
    assert sum(p.numel() for p in lazy.parameters()) == sum(
        p.numel() for p in SageAttentionConv(6, 4, 2, score=score, root_weight=True).parameters()
    )
    twin.load_state_dict(lazy.state_dict())  # sizes come with the state
    assert torch.equal(twin(x, CASE.graph()), out)
    pair = SageAttentionConv((-1, -1), 4, score=score, add_self_loops=False)
    bipartite = graphs.zoo()["bipartite"].graph()
    assert pair((torch.randn(9, 3), torch.randn(50, 7)), bipartite).shape == (50, 4)


def test_lazy_state_goes_into_a_state_dict() -> None:
    lazy = SageAttentionConv(-1, 4)
    known = SageAttentionConv(3, 4)
    known.load_state_dict(lazy.state_dict())
    assert known(torch.randn(20, 5), CASE.graph()).shape == (20, 4)


@pytest.mark.parametrize("score", SCORES)
def test_reset_copy_and_pickle(score: str) -> None:
    conv = SageAttentionConv(6, 4, score=score)
    before = copy.deepcopy(conv)
    x, graph = torch.randn(20, 6), CASE.graph()
    assert torch.equal(before(x, graph), conv(x, graph))
    assert torch.equal(pickle.loads(pickle.dumps(conv))(x, graph), conv(x, graph))
    conv.reset_parameters()
    assert not torch.equal(before(x, graph), conv(x, graph))


@pytest.mark.parametrize("score", SCORES)
def test_dropout_only_while_training(score: str, device: str) -> None:
    conv = SageAttentionConv(6, 4, score=score, dropout=0.5).to(device)
    x, graph = torch.randn(20, 6, device=device), CASE.graph(device)
    assert not torch.equal(conv(x, graph), conv(x, graph))
    conv.eval()
    assert torch.equal(conv(x, graph), conv(x, graph))


@pytest.mark.parametrize("score", SCORES)
def test_edge_input_and_attention(score: str, device: str) -> None:
    conv = SageAttentionConv(6, 4, 2, score=score).to(device)
    x, graph = torch.randn(20, 6, device=device), CASE.graph(device)
    zero, one = torch.zeros(63, 2, device=device), torch.ones(63, device=device)
    plain = conv(x, graph)
    torch.testing.assert_close(conv(x, graph, edge_bias=zero, edge_weight=one), plain)
    assert not torch.allclose(conv(x, graph, edge_bias=zero + torch.randn_like(zero)), plain)
    assert not torch.allclose(conv(x, graph, edge_weight=2 * one), plain)
    _, alpha = conv(x, graph, return_attention=True)
    assert alpha.shape == (63 if score == "dot" else 83, 2)


@pytest.mark.parametrize("score", SCORES)
def test_autocast_and_bfloat16(score: str, device: str) -> None:
    conv = SageAttentionConv(6, 4, 2, score=score).to(device)
    x, graph = torch.randn(20, 6, device=device), CASE.graph(device)
    with torch.autocast(device, torch.bfloat16):
        mixed = conv(x, graph, edge_weight=torch.ones(63, device=device))
    torch.testing.assert_close(mixed.float(), conv(x, graph), rtol=0.05, atol=0.05)
    half = copy.deepcopy(conv).bfloat16()(x.bfloat16(), graph)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), conv(x, graph), rtol=0.05, atol=0.05)


@pytest.mark.parametrize("by", ["graph", "edge_index"])
@pytest.mark.parametrize("score", SCORES)
def test_compiles_to_one_graph(score: str, by: str, device: str) -> None:
    conv = SageAttentionConv(6, 4, 2, score=score).to(device)
    x = torch.randn(20, 6, device=device)
    graph = CASE.graph(device) if by == "graph" else CASE.edge_index.to(device)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, graph), conv(x, graph))
    compiled(x, graph).sum().backward()
    first = [p.grad.clone() for p in conv.parameters() if p.grad is not None]
    conv.zero_grad()
    conv(x, graph).sum().backward()
    second = [p.grad for p in conv.parameters() if p.grad is not None]
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b)


def test_empty_graph(device: str) -> None:
    for score in SCORES:
        conv = SageAttentionConv(6, 4, 2, score=score).to(device)
        assert conv(
            torch.zeros(0, 6, device=device), graphs.zoo()["empty"].graph(device)
        ).shape == (
            0,
            8,
        )


@pytest.mark.parametrize("options", [{}, {"root_weight": True}, {"concat": False}, {"bias": False}])
@pytest.mark.parametrize("score", SCORES)
def test_the_output_may_be_changed_in_place(score: str, options: dict[str, bool]) -> None:
    options = {"root_weight": False, **options}
    conv = SageAttentionConv(6, 4, 2, score=score, **options)
    x, graph = torch.randn(20, 6), CASE.graph()
    torch.relu(conv(x, graph)).sum().backward()
    expected = [p.grad for p in conv.parameters()]
    conv.zero_grad()
    torch.relu_(conv(x, graph)).sum().backward()
    for mine, wanted in zip((p.grad for p in conv.parameters()), expected, strict=True):
        assert (mine is None) == (wanted is None)
        assert mine is None or torch.equal(mine, wanted)


@pytest.mark.parametrize("score", SCORES)
def test_torch_func(score: str) -> None:
    """functional_call, the gradient of its parameters, and that of each sample."""
    conv, graph = SageAttentionConv(6, 4, 2, score=score), CASE.graph()
    parameters = dict(conv.named_parameters())
    x = torch.randn(3, 20, 6)

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(conv, parameters, (x, graph))
        return out.square().sum()

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)
    for index, sample in enumerate(x):
        conv.zero_grad()
        conv(sample, graph).square().sum().backward()
        for name, parameter in parameters.items():
            torch.testing.assert_close(gradients[name][index], parameter.grad)


def test_dropout_of_all() -> None:
    conv = SageAttentionConv(6, 4, dropout=1.0, root_weight=False)
    assert (conv(torch.randn(20, 6), CASE.graph()) == 0).all()
