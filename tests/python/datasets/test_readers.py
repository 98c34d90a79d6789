"""Readers: small files written here, with the traps of the real ones."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from _python2 import pickled_array, pickled_csr, pickled_lists
from sage_attention.datasets import readers


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
