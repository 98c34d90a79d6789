"""Power-law twins: exact counts, symmetry, CSR order, degrees, and the same graph for a seed."""

from __future__ import annotations

import math

import pytest
import torch
from sage_attention.datasets import generators
from sage_attention.datasets.generators import TWINS, power_law, twin


@pytest.mark.parametrize(
    ("nodes", "edges", "largest"),
    [(1, 0, 1), (1, 5, 5), (2, 1, 1), (7, 100, 40), (1000, 20_000, 300), (1000, 20_001, 300)],
)
def test_counts_symmetry_and_order(nodes: int, edges: int, largest: int, device: str) -> None:
    graph = power_law(nodes, edges, largest, seed=3, device=device)
    assert (graph.num_dst, graph.num_src, graph.num_edges) == (nodes, nodes, edges)
    assert graph.indptr.device.type == device
    assert (graph.indptr.dtype, graph.indices.dtype) == (torch.int64, torch.int32)
    src, dst = graph.edge_index()
    key = dst * nodes + src
    assert bool((key.diff() >= 0).all())
    assert torch.equal(key, (src * nodes + dst).sort().values)


def test_no_nodes() -> None:
    graph = power_law(0, 0, 1)
    assert (graph.num_dst, graph.num_edges) == (0, 0)


def test_degrees_are_skewed_and_clipped() -> None:
    largest = 100
    degree = power_law(5000, 100_000, largest).indptr.diff()
    assert int(degree.max()) <= largest + 6 * math.sqrt(largest)
    assert int((degree > 0.8 * largest).sum()) > 20  # the clip is reached
    assert float(degree.float().median()) < 0.7 * float(degree.float().mean())
    even = power_law(5000, 100_000, largest, sigma=0.0).indptr.diff().float()
    assert float(even.var()) == pytest.approx(20.0, rel=0.2)  # Poisson


def test_seed_fixes_the_graph(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = power_law(300, 5000, 80, seed=1), power_law(300, 5000, 80, seed=2)
    again = power_law(300, 5000, 80, seed=1, device=device)
    assert torch.equal(first.indices, again.indices.cpu())
    assert torch.equal(first.indptr, again.indptr.cpu())
    assert not torch.equal(first.indices, other.indices)
    monkeypatch.setattr(generators, "CHUNK", 999)
    chunked = power_law(300, 5000, 80, seed=1)
    assert chunked.num_edges == 5000
    assert torch.equal(chunked.indptr.diff().sum(), torch.tensor(5000))


@pytest.mark.parametrize(("name", "error"), [("nothing", ValueError), (["arxiv"], TypeError)])
def test_twin_that_does_not_exist(name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="twin: "):
        twin(name)


def test_twins() -> None:
    graph = twin("arxiv")
    assert (graph.num_dst, graph.num_edges) == (169_343, 2_332_486)
    sizes = {name: (size.num_nodes, size.num_edges) for name, size in TWINS.items()}
    assert sizes["reddit"] == (232_965, 114_615_892)
    assert sizes["products"] == (2_449_029, 123_718_280)
    assert sizes["igb-medium"] == (10_000_000, 120_080_000)
    with pytest.raises(ValueError, match="choose from arxiv, reddit"):
        twin("pubmed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0, 1), "num_nodes"),
        ((5, -1, 1), "num_edges"),
        ((0, 4, 1), "at least one node"),
        ((5, 50, 9), "below the mean degree 10.0"),
    ],
)
def test_impossible_sizes(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        power_law(*arguments)
    with pytest.raises(ValueError, match="sigma"):
        power_law(5, 10, 5, sigma=-1.0)
