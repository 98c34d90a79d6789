"""Graph: construction, order of edges, caches, moving, pickling, errors."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sage_attention import Graph, ops
from sage_attention.testing import graphs

ZOO = graphs.zoo()


def csr_of(edge_index: torch.Tensor, num_dst: int) -> tuple[list[int], list[int], list[int]]:
    """indptr, indices, edge ids by a stable sort in plain Python."""
    src, dst = edge_index.tolist()
    order = sorted(range(len(dst)), key=lambda e: dst[e])
    indptr = [0] * (num_dst + 1)
    for d in dst:
        indptr[d + 1] += 1
    for i in range(num_dst):
        indptr[i + 1] += indptr[i]
    return indptr, [src[e] for e in order], order


@pytest.mark.parametrize("name", ZOO)
def test_from_edge_index(name: str, device: str) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    indptr, indices, order = csr_of(case.edge_index, case.num_dst)
    assert graph.indptr.tolist() == indptr
    assert graph.indices.tolist() == indices
    assert graph.edge_ids is not None
    assert graph.edge_ids.tolist() == order
    assert (graph.indptr.dtype, graph.indices.dtype) == (torch.int64, torch.int32)
    assert torch.equal(graph.edge_index().cpu(), case.edge_index)
    assert (graph.num_dst, graph.num_src) == (case.num_dst, case.num_src)
    assert graph.num_edges == case.edge_index.shape[1]


@pytest.mark.parametrize("name", ZOO)
def test_transpose(name: str, device: str) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    t = graph.transpose()
    src, dst = case.edge_index
    rows = torch.repeat_interleave(t.indptr.diff()).cpu()
    ids = t.edge_ids.long().cpu()
    assert torch.equal(src[ids], rows)
    assert torch.equal(dst[ids], t.indices.long().cpu())
    assert torch.equal(t.perm[t.position.long()].cpu(), torch.arange(len(src), dtype=t.perm.dtype))
    assert graph.transpose().indptr is t.indptr


def with_loops(case: graphs.Case) -> list[tuple[int, int, int]]:
    """(dst, src, id) of the graph with self loops, sorted."""
    loops = min(case.num_src, case.num_dst)
    src, dst = case.edge_index.tolist()
    kept = [(d, s, e) for e, (s, d) in enumerate(zip(src, dst, strict=True)) if s != d]
    return sorted(kept + [(i, i, len(src) + i) for i in range(loops)])


@pytest.mark.parametrize("name", ZOO)
def test_self_loops(name: str, device: str) -> None:
    case = ZOO[name]
    graph = case.graph(device)
    looped = graph.with_self_loops()
    assert looped is graph.with_self_loops()
    assert looped.num_edges == graph.num_edges + min(case.num_src, case.num_dst)
    src, dst = looped.edge_index().tolist()
    found = [(d, s, e) for e, (s, d) in enumerate(zip(src, dst, strict=True)) if d >= 0]
    assert sorted(found) == with_loops(case)
    assert int(looped.indptr[-1]) == len(found)


def test_sources_of_edges() -> None:
    array = np.array([[0, 1, 4], [2, 2, 0]])
    expected = Graph.from_edge_index(torch.from_numpy(array))
    assert expected.num_nodes == 5
    read_only = array.copy()
    read_only.flags.writeable = False
    for edges in (array, read_only, array.tolist(), (array[0], array[1]), array.astype(np.int16)):
        assert Graph.from_edge_index(edges) == expected
    strided = torch.from_numpy(array).T.contiguous().T
    assert not strided.is_contiguous()
    assert Graph.from_edge_index(strided) == expected
    assert Graph.from_edge_index(torch.from_numpy(array).int()) == expected
    assert Graph.from_edge_index(array, num_src=7).num_dst == 7
    assert Graph.from_edge_index(array, num_dst=7).num_src == 7


def test_index_width_follows_the_number_of_sources() -> None:
    assert Graph([0, 1], [5], num_src=2**31 - 1).indices.dtype == torch.int32
    wide = Graph([0, 1], [5], num_src=2**31)
    assert wide.indices.dtype == torch.int64
    assert wide.edge_index().tolist() == [[5], [0]]


def test_from_csr() -> None:
    graph = Graph([0, 2, 3], np.array([3, 1, 0], dtype=np.uint8), num_src=4)
    assert graph == Graph.from_csr(torch.tensor([0, 2, 3]), torch.tensor([3, 1, 0]), num_src=4)
    assert graph.edge_ids is None
    assert graph.edge_index().tolist() == [[3, 1, 0], [0, 0, 1]]
    named = Graph([0, 2, 3], [3, 1, 0], num_src=4, edge_ids=[2, 0, 1])
    assert named.edge_index().tolist() == [[1, 0, 3], [0, 1, 0]]
    assert named != graph
    assert not graph.is_square
    with pytest.raises(ValueError, match="bipartite: use num_dst or num_src"):
        _ = graph.num_nodes


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_from_scipy(form: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(6, 9, 0.3, format=form, random_state=0)
    graph = Graph.from_scipy(matrix)
    coo = matrix.tocoo()
    assert (graph.num_dst, graph.num_src) == (6, 9)
    assert graph.edge_index().tolist() == [coo.col.tolist(), coo.row.tolist()]
    with pytest.raises(TypeError, match="scipy sparse matrix, got ndarray"):
        Graph.from_scipy(np.zeros((2, 2)))


def test_from_pyg() -> None:
    data = SimpleNamespace(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=4)
    assert Graph.from_pyg(data).num_nodes == 4
    with pytest.raises(TypeError, match="homogeneous Data with edge_index"):
        Graph.from_pyg(SimpleNamespace())


def test_repr_equality_and_hash(device: str) -> None:
    graph = ZOO["bipartite"].graph(device)
    assert repr(graph).startswith("Graph(num_dst=50, num_src=9, num_edges=200, device=" + device)
    twin = ZOO["bipartite"].graph(device)
    twin.transpose()
    assert graph == twin
    assert hash(graph) == hash(twin)
    assert graph != ZOO["random"].graph(device)
    assert graph != Graph(graph.indptr, graph.indices, num_src=9)
    assert graph != "graph"


def test_pickle_and_copy_drop_caches(device: str) -> None:
    graph = ZOO["self_loops"].graph(device).with_self_loops()
    graph.transpose()
    for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert twin == graph
        assert "transpose" not in twin._cache


def test_to(device: str) -> None:
    graph = ZOO["random"].graph()
    moved = graph.to(device)
    assert (moved is graph) == (device == "cpu")
    assert moved.to(device) is moved
    assert moved.to("cpu") == graph


def test_usable_for_training_after_inference_mode(device: str) -> None:
    case = ZOO["random"]
    x = torch.randn(case.num_src, 1, 4, device=device, requires_grad=True)
    with torch.inference_mode():
        graph = case.graph(device)
        parts = Graph(graph.indptr.clone(), graph.indices.clone(), num_src=case.num_src)
        for made in (graph, parts):
            made.transpose()
            made.with_self_loops()
    for made in (graph, parts):
        ops.attention(made, x, x, x, self_loops=True).sum().backward()


BAD = {
    "float indptr": (lambda: Graph([0.0, 1.0], [0]), TypeError, r"indptr must hold integer ids"),
    "float indices": (
        lambda: Graph([0, 1], torch.zeros(1)),
        TypeError,
        r"indices must hold integer ids .* got torch.float32; .*indices.long\(\)",
    ),
    "not an array": (lambda: Graph(object(), [0]), TypeError, "indptr must be a tensor"),
    "no indptr": (lambda: Graph([], []), ValueError, r"num_dst \+ 1 entries"),
    "indptr start": (lambda: Graph([1, 1], [0]), ValueError, r"indptr\[0\] must be 0, got 1"),
    "indptr falls": (
        lambda: Graph([0, 2, 1, 2], [0, 0]),
        ValueError,
        r"indptr\[1\] = 2, indptr\[2\] = 1",
    ),
    "indptr short": (
        lambda: Graph([0, 1], [0, 0]),
        ValueError,
        r"indptr\[-1\] = 1 must be the number of edges, but indices has 2",
    ),
    "indptr long": (lambda: Graph([0, 3], [0, 0]), ValueError, r"stay in \[0, E = 2\]"),
    "id too large": (
        lambda: Graph([0, 1], [1]),
        IndexError,
        r"indices\[0\] = 1 is not in \[0, num_src = 1\): pass num_src=2",
    ),
    "id negative": (lambda: Graph([0, 1], [-1]), IndexError, r"indices\[0\] = -1 .*negative"),
    "id beyond int32": (lambda: Graph([0, 1], [2**32]), IndexError, r"= 4294967296 is not in"),
    "negative size": (lambda: Graph([0], [], num_src=-1), ValueError, "num_src must not be negat"),
    "float size": (lambda: Graph([0], [], num_src=1.5), TypeError, "num_src must be an int, got f"),
    "edge_ids length": (lambda: Graph([0, 1], [0], edge_ids=[0, 1]), ValueError, "got 2 for 1"),
    "edge_ids twice": (lambda: Graph([0, 2], [0, 0], edge_ids=[1, 1]), ValueError, "permutation"),
    "edge_ids range": (lambda: Graph([0, 2], [0, 0], edge_ids=[2, 0]), ValueError, "permutation"),
    "two-dimensional": (lambda: Graph([[0, 1]], [0]), ValueError, r"one-dimensional, got"),
    "edge_index shape": (
        lambda: Graph.from_edge_index(torch.zeros(3, 2, dtype=torch.int64)),
        ValueError,
        r"shape \[2, E\].*got \(3, 2\); transpose it",
    ),
    "edge_index rows": (lambda: Graph.from_edge_index([[0], [0], [0]]), ValueError, "two rows"),
    "edge_index ragged": (lambda: Graph.from_edge_index([[0], [0, 1]]), ValueError, "one length"),
    "edge_index float": (
        lambda: Graph.from_edge_index(torch.zeros(2, 1)),
        TypeError,
        r"edge_index\[0\] \(src\) must hold integer",
    ),
    "src too large": (
        lambda: Graph.from_edge_index([[0, 5], [0, 1]], num_src=5, num_dst=2),
        IndexError,
        r"edge_index\[0, 1\] = 5 is not in \[0, num_src = 5\): pass num_src=6",
    ),
    "dst too large": (
        lambda: Graph.from_edge_index([[0, 0], [0, 9]], num_src=5, num_dst=2),
        IndexError,
        r"edge_index\[1, 1\] = 9 is not in \[0, num_dst = 2\)",
    ),
    "dst negative": (
        lambda: Graph.from_edge_index([[0, 0], [0, -3]]),
        IndexError,
        r"edge_index\[1, 1\] = -3 .*negative",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    make, error, message = BAD[name]
    with pytest.raises(error, match=message):
        make()


def test_bad_input_on_the_device(device: str) -> None:
    with pytest.raises(IndexError, match=r"indices\[1\] = 7"):
        Graph(torch.tensor([0, 2], device=device), torch.tensor([0, 7], device=device))
    with pytest.raises(IndexError, match=r"edge_index\[0, 0\] = 7"):
        Graph.from_edge_index(torch.tensor([[7], [0]], device=device), num_src=1)


def test_without_validation_bad_edges_are_dropped(device: str) -> None:
    edges = torch.tensor([[0, 9, 1, -1, 1], [0, 1, -1, 0, 1]], device=device)
    graph = Graph.from_edge_index(edges, num_src=2, validate=False)
    assert graph.edge_index().tolist() == [[0, -1, -1, -1, 1], [0, -1, -1, -1, 1]]
    x = torch.tensor([1.0, 2.0], device=device)
    assert ops.aggregate(graph, x).tolist() == [1.0, 2.0]


def test_made_inside_compiled_code(device: str) -> None:
    def f(edge_index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        graph = Graph.from_edge_index(edge_index, num_src=x.shape[0])
        return ops.aggregate(graph.with_self_loops(), x)

    case = ZOO["self_loops"]
    x = torch.randn(case.num_src, 4, device=device)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    edge_index = case.edge_index.to(device)
    assert torch.equal(compiled(edge_index, x), f(edge_index, x))


def test_tracing_leaves_the_cache_alone(device: str) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(graph.num_src, 3, device=device, requires_grad=True)
    compiled = torch.compile(
        lambda g, x: ops.aggregate(g.with_self_loops(), x), fullgraph=True, backend="aot_eager"
    )
    for _ in range(2):  # cold, then warm
        (grad,) = torch.autograd.grad(compiled(graph, x).sum(), x)
        (expected,) = torch.autograd.grad(
            ops.aggregate(ZOO["random"].graph(device).with_self_loops(), x).sum(), x
        )
        assert torch.equal(grad, expected)
        if "self_loops" not in graph._cache:
            assert "transpose" not in graph._cache
            graph.with_self_loops().transpose()


def test_arrays_that_change_are_noticed() -> None:
    indptr = torch.tensor([0, 2, 2, 3])
    graph = Graph(indptr, [1, 2, 0])
    indptr[1] = 1000
    with pytest.raises(RuntimeError, match=r"indptr of .* was changed in place"):
        graph.transpose()


def test_numpy_arrays_are_copied() -> None:
    indptr = np.array([0, 2, 2, 3])
    graph = Graph(indptr, [1, 2, 0])
    indptr[1] = 1000
    assert graph.indptr.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize("size", [2**45, 2**70])
def test_sizes_beyond_any_memory(size: int) -> None:
    with pytest.raises(ValueError, match="num_dst must be at most"):
        Graph.from_edge_index([[1], [0]], num_dst=size, num_src=3)


@pytest.mark.parametrize("node", [2**62, 2**63 - 1, 2**64])
def test_huge_ids(node: int) -> None:
    with pytest.raises(IndexError, match=r"below 2\^40|does not fit"):
        Graph.from_edge_index([[node], [0]])
