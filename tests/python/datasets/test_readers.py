"""Readers: small files written here, with the traps of the real ones, and the real ones."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from python2_pickles import pickled_array, pickled_csr, pickled_lists

from sage_attention.datasets import REGISTRY, load, random_split, readers
from sage_attention.datasets.download import DownloadError


def edges(indptr: np.ndarray, indices: np.ndarray) -> list[tuple[int, int]]:
    dst = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return list(zip(dst.tolist(), indices.tolist(), strict=True))


def test_symmetric_csr_drops_loops_and_repeats() -> None:
    indptr, indices = readers.symmetric_csr([0, 1, 1, 3, 0], [1, 0, 1, 0, 1], 5)
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert edges(indptr, indices) == [(0, 1), (0, 3), (1, 0), (3, 0)]
    assert len(indptr) == 6


def test_planetoid_with_test_nodes_that_the_files_do_not_describe(tmp_path: Path) -> None:
    """510 described nodes, then test ids 510, 513 and 511; 512 is in no file."""
    one_hot = np.eye(3, dtype="<i4")
    labels = np.arange(510) % 3
    parts = {
        "y": pickled_array(one_hot[labels[:4]]),
        "ally": pickled_array(one_hot[labels]),
        "allx": pickled_csr([7.0], [1], [0, 1] + [1] * 509, (510, 2)),
        "tx": pickled_csr([1.0, 2.0, 3.0], [0, 0, 1], [0, 1, 2, 3], (3, 2)),
        "ty": pickled_array(one_hot[[2, 0, 1]]),
        "test.index": b"510\n513\n511\n",
        "graph": pickled_lists({0: [1, 1, 0], 1: [0], 510: [511, 0], 513: [513]}),
    }
    for name, content in parts.items():
        (tmp_path / f"ind.small.{name}").write_bytes(content)
    found = readers.planetoid([tmp_path / f"ind.small.{name}" for name in parts])
    assert found.x is not None
    assert found.y is not None
    assert found.x.shape == (514, 2)
    assert found.x[0].tolist() == [0, 7]
    np.testing.assert_array_equal(found.x[510:], [[1, 0], [0, 3], [0, 0], [2, 0]])
    np.testing.assert_array_equal(found.y[:510], labels)
    assert found.y[510:].tolist() == [2, 1, -1, 0]
    assert edges(found.indptr, found.indices) == [
        (0, 1), (0, 510), (1, 0), (510, 0), (510, 511), (511, 510),
    ]  # fmt: skip
    (split,) = found.splits
    assert split["train"].tolist() == [0, 1, 2, 3]
    assert split["val"].tolist() == list(range(4, 504))
    assert split["test"].tolist() == [510, 511, 513]


def test_npz_in_a_zip(tmp_path: Path) -> None:
    y = np.repeat([0, 1], 60)
    content = io.BytesIO()
    np.savez(
        content,
        adj_data=np.ones(3, np.float32),
        adj_indices=np.array([1, 0, 2], np.int32),
        adj_indptr=np.array([0, 1, 3] + [3] * 118, np.int32),
        attr_data=np.array([2.0, 3.0], np.float32),
        attr_indices=np.array([0, 4], np.int32),
        attr_indptr=np.array([0, 0, 2] + [2] * 118, np.int32),
        attr_shape=np.array([120, 5]),
        labels=y,
        class_names=np.array([{"an": "object"}], dtype=object),
    )
    with zipfile.ZipFile(tmp_path / "small.zip", "w") as archive:
        archive.writestr("small.npz", content.getvalue())
    found = readers.npz_graph([tmp_path / "small.zip"])
    assert found.x is not None
    assert edges(found.indptr, found.indices) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert found.x[1].tolist() == [2, 0, 0, 0, 3]
    assert found.x.sum() == 5
    assert len(found.splits) == 10
    for split in found.splits:
        assert np.bincount(y[split["train"]]).tolist() == [20, 20]
        assert np.bincount(y[split["val"]]).tolist() == [30, 30]
        assert np.bincount(y[split["test"]]).tolist() == [10, 10]


def test_user_items(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("0 3 1\n1\n2 0 \n")
    (tmp_path / "test.txt").write_text("0 2\n1 4\n2\n")
    found = readers.user_items([tmp_path / "train.txt", tmp_path / "test.txt"])
    assert edges(found.indptr, found.indices) == [(0, 3), (0, 1), (2, 0)]
    assert found.test_csr is not None
    assert edges(*found.test_csr) == [(0, 2), (1, 4)]
    assert found.num_src == 5
    (tmp_path / "train.txt").write_text("0 3 1\n2 0\n")
    with pytest.raises(ValueError, match=r"train.txt: line n"):
        readers.user_items([tmp_path / "train.txt", tmp_path / "test.txt"])


def test_user_item_lists_from_the_adjacency_matrix(tmp_path: Path) -> None:
    """Two users, three items: user 0 has the items 2 and 0, user 1 the items 0 and 1."""
    indices = np.array([4, 2, 2, 3, 0, 1, 1, 0])
    np.savez(tmp_path / "adjacency.npz", indptr=[0, 2, 4, 6, 7, 8], indices=indices)
    assert readers.user_item_lists(tmp_path / "adjacency.npz") == b"0 0 2\n1 0 1\n"


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
    assert not bool(degree[unknown].any())


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
    assert [len(part) for part in data.splits[0].values()] == [50, 200, 1547]


def test_random_split_is_fixed_by_its_seed() -> None:
    y = np.array([0, 1, -1] * 40)
    first, again, other = (random_split(y, 5, 3, seed) for seed in (1, 1, 2))
    for part in first:
        np.testing.assert_array_equal(first[part], again[part])
    assert first["train"].tolist() != other["train"].tolist()
    assert np.bincount(y[first["train"]]).tolist() == [5, 5]
    assert sum(len(nodes) for nodes in first.values()) == 80
    assert len(random_split(y, 40)["test"]) == 0
    with pytest.raises(ValueError, match="class 0 has 40 nodes"):
        random_split(y, 39, 2)


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="choose from cora, citeseer"):
        load("pubmed")


def test_registry_is_complete() -> None:
    assert list(REGISTRY) == ["cora", "citeseer", "photo", "cs", "minesweeper", "gowalla", "digits"]
    for entry in REGISTRY.values():
        assert entry.licence
        assert callable(getattr(readers, entry.reader))
        for file in entry.files:
            source = file.made_from or file
            assert source.url.startswith("https://")
            assert len(file.sha256) == len(source.sha256) == 64
            assert not Path(file.path).is_absolute()
            assert ".." not in file.path


def test_damaged_file_in_a_given_folder_is_named(tmp_path: Path) -> None:
    file = REGISTRY["minesweeper"].files[0]
    path = tmp_path / file.path
    path.parent.mkdir()
    path.write_bytes(b"short")
    with pytest.raises(DownloadError, match=r"minesweeper.npz has 5 bytes, expected 135045"):
        load("minesweeper", root=tmp_path)
    path.write_bytes(b"x" * file.size)
    with pytest.raises(DownloadError, match="sha256"):
        load("minesweeper", root=tmp_path)
