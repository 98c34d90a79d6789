"""HostGraph: built from numpy arrays, seen without copies, and clear about what is wrong."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

HostGraph: Any = pytest.importorskip("sage_attention._core").HostGraph
from_edge_index = HostGraph.from_edge_index


def expected(edge_index: np.ndarray, num_dst: int) -> tuple[np.ndarray, ...]:
    order = np.argsort(edge_index[1], kind="stable")
    counts = np.bincount(edge_index[1], minlength=num_dst)
    return np.concatenate([[0], np.cumsum(counts)]), edge_index[0][order], order


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("num_threads", [0, 1, 3])
@pytest.mark.parametrize("edges", [0, 1, 1000, 200000])
def test_from_edge_index(dtype: type, num_threads: int, edges: int) -> None:
    edge_index = np.random.default_rng(edges).integers(0, 200, (2, edges)).astype(dtype)
    graph = from_edge_index(edge_index, num_src=200, num_dst=210, num_threads=num_threads)
    indptr, indices, order = expected(edge_index, 210)
    assert np.array_equal(graph.indptr, indptr)
    assert np.array_equal(graph.indices, indices)
    assert np.array_equal(graph.edge_ids, order)
    assert (graph.num_dst, graph.num_src, graph.num_edges) == (210, 200, edges)
    assert (graph.indptr.dtype, graph.indices.dtype, graph.edge_ids.dtype) == ("i8", "i4", "i4")


@pytest.mark.parametrize("num_threads", [0, 1, 3])
def test_transpose(num_threads: int) -> None:
    edge_index = np.random.default_rng(1).integers(0, 300, (2, 100000))
    graph = from_edge_index(edge_index, num_src=300, num_dst=400)
    turned = graph.transpose(num_threads=num_threads)
    order = graph.edge_ids[np.argsort(graph.indices, kind="stable")]
    assert np.array_equal(turned.edge_ids, order)
    assert np.array_equal(turned.indices, edge_index[1][order])
    assert np.array_equal(np.diff(turned.indptr), np.bincount(edge_index[0], minlength=300))
    assert (turned.num_dst, turned.num_src) == (300, 400)


def test_any_layout_and_sequences() -> None:
    rows = np.array([[0, 1], [2, 0], [1, 1]])
    graph = from_edge_index(rows.T)
    assert graph == from_edge_index(np.ascontiguousarray(rows.T))
    assert graph == from_edge_index(rows.T.tolist())
    assert graph == from_edge_index(rows.T.astype(">i8"))
    assert graph == HostGraph([0, 1, 3, 3], [2, 0, 1], edge_ids=[1, 0, 2])
    assert HostGraph([0], []).num_edges == 0
    assert from_edge_index([[], []], num_src=2).num_dst == 2


def test_sizes_that_are_missing() -> None:
    edge_index = np.array([[0, 6], [3, 1]])
    assert repr(from_edge_index(edge_index)) == "HostGraph(num_dst=7, num_src=7, num_edges=2)"
    assert from_edge_index(edge_index, num_src=9).num_dst == 9
    assert from_edge_index(edge_index, num_dst=np.int64(8)).num_src == 8
    assert HostGraph([0, 1], [0]).num_src == 1


def test_index_width_follows_num_src() -> None:
    assert HostGraph([0, 1], [2**40], num_src=2**40 + 1).indices.dtype == np.int64
    assert HostGraph([0, 1], [5], num_src=2**31 - 1).indices.dtype == np.int32


def test_self_loops() -> None:
    looped = HostGraph([0, 2, 3], [0, 1, 0], num_src=3).with_self_loops()
    assert looped.indptr.tolist() == [0, 2, 4]
    assert looped.indices.tolist() == [1, 0, 0, 1, 0]
    assert looped.edge_ids.tolist() == [1, 3, 2, 4, 0]


def test_views_share_memory_and_outlive_the_graph() -> None:
    graph = HostGraph([0, 2, 3], [1, 0, 1])
    indices = graph.indices
    assert np.shares_memory(indices, graph.indices)
    with pytest.raises(ValueError, match="read-only"):
        indices[0] = 5
    del graph
    gc.collect()
    assert indices.tolist() == [1, 0, 1]


def test_dlpack_shares_memory() -> None:
    torch = pytest.importorskip("torch")
    indptr = HostGraph([0, 2, 3], [1, 0, 1]).indptr
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("numpy before 2.1 exports no read-only array")
    assert np.shares_memory(np.from_dlpack(indptr), indptr)
    assert torch.from_dlpack(indptr).data_ptr() == indptr.ctypes.data


def test_equality_hash_and_copies() -> None:
    graph = from_edge_index([[0, 1, 2], [1, 1, 0]], num_src=4, num_dst=3)
    assert graph != from_edge_index([[0, 1, 2], [1, 1, 0]], num_src=5, num_dst=3)
    assert graph != from_edge_index([[1, 0, 2], [1, 1, 0]], num_src=4, num_dst=3)
    assert graph != "graph"
    for same in (pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph)):
        assert same == graph
        assert hash(same) == hash(graph)
    looped = graph.with_self_loops()
    assert pickle.loads(pickle.dumps(looped)) == looped


def test_the_gil_is_released() -> None:
    edge_index = np.random.default_rng(0).integers(0, 100000, (2, 3000000))
    ticks = [0]
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.0005):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks[0]
    from_edge_index(edge_index, num_src=100000, num_threads=1)
    after = ticks[0]
    done.set()
    thread.join()
    assert after > before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[0.5], [1.0]],), TypeError, "edge_index must be int32 or int64, got float64"),
        ((np.zeros((2, 0)),), TypeError, "edge_index must be int32 or int64, got float64"),
        (([[True], [False]],), TypeError, "edge_index must be int32 or int64, got bool"),
        ((np.zeros((2, 1), np.uint64),), TypeError, "edge_index must be int32 or int64, got uint"),
        (([0, 1],), ValueError, r"edge_index must have 2 dimensions, got shape \(2,\)"),
        ((np.zeros((3, 2), int),), ValueError, r"shape \(2, E\), got \(3, 2\); transpose it"),
        (([[0, -1], [1, 1]],), IndexError, r"edge_index\[0, 1\] = -1 is not in \[0, num_src = 2"),
        (([[0, 7], [1, 1]], 3), IndexError, r"edge_index\[0, 1\] = 7 .* pass num_src=8 or more"),
        (([[0], [5]], 3, 2), IndexError, r"edge_index\[1, 0\] = 5 .* pass num_dst=6 or more"),
        (([[0], [1]], -1), ValueError, "num_src must not be negative, got -1"),
        (([[0], [1]], 2**70), ValueError, "num_src must be less than 2\\^63 - 1, got 118"),
        (([[0], [1]], 1.5), TypeError, "num_src must be an int, got float"),
        (([[0], [1]], None, True), TypeError, "num_dst must be an int, got bool"),
    ],
)
def test_edge_index_errors(arguments: tuple[Any, ...], error: type, message: str) -> None:
    names = ("num_src", "num_dst")
    with pytest.raises(error, match=message):
        from_edge_index(arguments[0], **dict(zip(names, arguments[1:], strict=False)))


@pytest.mark.parametrize(
    ("indptr", "indices", "options", "error", "message"),
    [
        ([0, 2, 1], [0, 1], {}, ValueError, r"indptr\[1\] = 2, indptr\[2\] = 1"),
        ([1, 2], [0, 1], {}, ValueError, r"indptr\[0\] must be 0, got 1"),
        ([0, 1], [0, 1], {}, ValueError, r"indptr\[-1\] = 1 .* indices has 2 elements"),
        ([0, 3], [0, 0], {}, ValueError, r"stay in \[0, E = 2\]: indptr\[0\] = 0, indptr\[1\] = 3"),
        ([], [], {}, ValueError, "indptr must have num_dst"),
        ([[0]], [], {}, ValueError, "indptr must have 1 dimension, got shape"),
        ([0, 2], [0, 9], {"num_src": 5}, IndexError, r"indices\[1\] = 9 .* pass num_src=10"),
        ([0, 2], [0, -3], {}, IndexError, r"indices\[1\] = -3 .* must not be negative"),
        ([0, 2], "ab", {}, TypeError, "indices must be int32 or int64"),
        ([0, 2], [0, 0], {"edge_ids": [0, 0]}, ValueError, r"edge_ids\[1\] = 0"),
        ([0, 2], [0, 0], {"edge_ids": [0]}, ValueError, "edge_ids must have as many elements"),
        ([0, 2], [0, 0], {"num_threads": -1}, ValueError, "num_threads must not be negative"),
        ([0, 2], [0, 0], {"num_threads": 9999}, ValueError, "num_threads must be in"),
    ],
)
def test_csr_errors(
    indptr: Any, indices: Any, options: dict[str, Any], error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        HostGraph(indptr, indices, **options)
