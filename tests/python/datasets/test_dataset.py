"""load: the real files give the published counts, and their traps are known."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from sage_attention.datasets import REGISTRY, DownloadError, load


@pytest.mark.parametrize(
    ("name", "nodes", "undirected", "features", "classes", "split_sizes"),
    [
        ("cora", 2708, 5278, 1433, 7, (140, 500, 1000)),
        ("citeseer", 3327, 4552, 3703, 6, (120, 500, 1000)),
        ("photo", 7650, 119081, 745, 8, (160, 240, 7250)),
        ("cs", 18333, 81894, 6805, 15, (300, 450, 17583)),
        ("minesweeper", 10000, 39402, 7, 2, (5000, 2500, 2500)),
    ],
)
def test_real_node_data(
    data_dir: Path,
    name: str,
    nodes: int,
    undirected: int,
    features: int,
    classes: int,
    split_sizes: tuple[int, int, int],
) -> None:
    data = load(name)
    assert data.graph.num_dst == data.graph.num_src == nodes
    assert data.graph.num_edges == 2 * undirected
    assert data.x is not None
    assert data.y is not None
    assert data.x.shape == (nodes, features)
    assert (data.x.dtype, data.y.dtype) == (torch.float32, torch.int64)
    assert data.num_classes == classes
    assert len(data.splits) == (1 if name in ("cora", "citeseer") else 10)
    for split in data.splits:
        assert tuple(len(split[part]) for part in ("train", "val", "test")) == split_sizes
        together = torch.cat(list(split.values()))
        assert len(together.unique()) == len(together)
        assert int(data.y[together].min()) == 0
    src, dst = data.graph.edge_index()
    assert not bool((src == dst).any())
    assert torch.equal((dst * nodes + src).sort().values, (src * nodes + dst).sort().values)


def test_citeseer_traps(data_dir: Path) -> None:
    data = load("citeseer")
    assert data.x is not None
    assert data.y is not None
    degree = data.graph.indptr.diff()
    assert int((degree == 0).sum()) == 48
    unknown = data.y < 0
    assert int(unknown.sum()) == 15
    assert not bool(data.x[unknown].any())
    assert bool((degree[unknown] > 0).all())  # they are cited all the same


def test_gowalla(data_dir: Path) -> None:
    data = load("gowalla", root=data_dir)
    assert (data.graph.num_dst, data.graph.num_src) == (29858, 40981)
    assert data.graph.num_edges == 810128
    assert data.test_graph is not None
    assert data.test_graph.num_edges == 217242
    assert data.test_graph.num_src == 40981
    assert data.x is None
    assert data.splits == []


def test_digits() -> None:
    pytest.importorskip("sklearn")
    data = load("digits")
    assert data.x is not None
    assert data.x.shape == (1797, 64)
    assert (float(data.x.min()), float(data.x.max())) == (0.0, 1.0)
    assert int(data.graph.indptr.diff().min()) >= 10
    src, dst = data.graph.edge_index()
    for node in (0, 700, 1796):  # every one of the ten nearest is a neighbour
        distance = (data.x - data.x[node]).double().pow(2).sum(1)
        distance[node] = torch.inf
        tenth = distance.sort().values[9]
        assert set((distance < tenth).nonzero().flatten().tolist()) <= set(
            src[dst == node].tolist()
        )
    assert [len(part) for part in data.splits[0].values()] == [50, 200, 1547]


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="choose from cora, citeseer"):
        load("pubmed")


@pytest.mark.parametrize("name", [["cora"], 5, None, b"cora"])
def test_name_that_is_no_string(name: object) -> None:
    with pytest.raises(TypeError, match="name of a data set must be a string"):
        load(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cora", "digits"])
@pytest.mark.parametrize("root", [5, ["folder"], b"folder"])
def test_root_that_is_no_path(name: str, root: object) -> None:
    with pytest.raises(TypeError, match="root must be the path of a folder"):
        load(name, root=root)  # type: ignore[arg-type]


def test_damaged_file_in_a_given_folder_is_named(tmp_path: Path) -> None:
    file = REGISTRY["minesweeper"].files[0]
    path = tmp_path / file.path
    path.parent.mkdir()
    path.write_bytes(b"short")
    with pytest.raises(DownloadError, match=r"minesweeper.npz is .* 5 bytes, expected 135045"):
        load("minesweeper", root=tmp_path)
    path.write_bytes(b"x" * file.size)
    with pytest.raises(DownloadError, match="sha256"):
        load("minesweeper", root=tmp_path)
