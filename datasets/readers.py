"""Readers: the files of a data set to NumPy arrays. No reader runs anything that a file names."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .pickles import read_pickle
from .splits import random_split

Array = np.ndarray[Any, Any]
RANDOM_SPLITS = 10


@dataclass
class Arrays:
    """A data set as NumPy arrays; indptr and indices are CSR by destination, without repeats."""

    indptr: Array
    indices: Array
    num_src: int
    x: Array | None = None
    y: Array | None = None
    splits: list[dict[str, Array]] = field(default_factory=list)
    test_csr: tuple[Array, Array] | None = None


def symmetric_csr(dst: Array, src: Array, num_nodes: int) -> tuple[Array, Array]:
    """CSR of the undirected simple graph: both directions, no self loops, no repeated edges."""
    dst, src = np.asarray(dst, np.int64), np.asarray(src, np.int64)
    keep = dst != src
    dst, src = dst[keep], src[keep]
    key = np.unique(np.concatenate([dst * num_nodes + src, src * num_nodes + dst]))
    counts = np.bincount(key // num_nodes, minlength=num_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return indptr, (key % num_nodes).astype(np.int32)


def planetoid(paths: list[Path]) -> Arrays:
    """Cora and CiteSeer with the public split, from the files of the Planetoid paper.

    CiteSeer's test range has 15 nodes that its files do not describe, though papers cite them: they
    get zero features and the label -1, and belong to no split. Self loops and repeated citations
    are dropped.
    """
    part = {path.name.split(".", 2)[2]: path.read_bytes() for path in paths}
    test = np.array(part["test.index"].split(), np.int64)
    y_train, x_all, y_all = (read_pickle(part[key]) for key in ("y", "allx", "ally"))
    num_nodes = max(int(test.max()) + 1, len(x_all))
    x = np.zeros((num_nodes, x_all.shape[1]), np.float32)
    y = np.full(num_nodes, -1, np.int64)
    x[: len(x_all)], y[: len(x_all)] = x_all, y_all.argmax(1)
    x[test], y[test] = read_pickle(part["tx"]), read_pickle(part["ty"]).argmax(1)

    adjacency: dict[int, list[int]] = read_pickle(part["graph"])
    degree = [len(neighbours) for neighbours in adjacency.values()]
    dst = np.repeat(np.fromiter(adjacency.keys(), np.int64, len(adjacency)), degree)
    src = np.array([node for neighbours in adjacency.values() for node in neighbours], np.int64)
    train = np.arange(len(y_train))
    split = {"train": train, "val": train[-1] + 1 + np.arange(500), "test": np.sort(test)}
    return Arrays(*symmetric_csr(dst, src, num_nodes), num_nodes, x, y, [split])


def npz_graph(paths: list[Path]) -> Arrays:
    """Amazon Photo and Coauthor CS: one npz in a zip, features and adjacency as CSR parts.

    The whole graph, raw features. No split is published; the ten here draw 20 nodes a class for
    training and 30 for validation, as the literature does, and leave the rest for the test.
    """
    with zipfile.ZipFile(paths[0]) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".npz"))
        content = io.BytesIO(archive.read(name))
    with np.load(content, allow_pickle=False) as npz:
        num_nodes, num_features = npz["attr_shape"]
        x = np.zeros((num_nodes, num_features), np.float32)
        row = np.repeat(np.arange(num_nodes), np.diff(npz["attr_indptr"]))
        x[row, npz["attr_indices"]] = npz["attr_data"]
        dst = np.repeat(np.arange(num_nodes), np.diff(npz["adj_indptr"]))
        csr = symmetric_csr(dst, npz["adj_indices"], int(num_nodes))
        y = npz["labels"].astype(np.int64)
    splits = [random_split(y, 20, 30, seed) for seed in range(RANDOM_SPLITS)]
    return Arrays(*csr, int(num_nodes), x, y, splits)


def heterophilous(paths: list[Path]) -> Arrays:
    """Minesweeper: edges stored once, ten published splits."""
    with np.load(paths[0], allow_pickle=False) as npz:
        x, y = npz["node_features"].astype(np.float32), npz["node_labels"].astype(np.int64)
        csr = symmetric_csr(npz["edges"][:, 0], npz["edges"][:, 1], len(y))
        masks = {key: npz[f"{key}_masks"] for key in ("train", "val", "test")}
    splits = [
        {key: np.flatnonzero(mask[i]) for key, mask in masks.items()}
        for i in range(len(masks["train"]))
    ]
    return Arrays(*csr, len(y), x, y, splits)


def user_items(paths: list[Path]) -> Arrays:
    """Gowalla: users are destinations, the places that they visited are sources."""
    train, test = (_read_lists(path) for path in paths)
    num_items = 1 + max(int(indices.max(initial=-1)) for _, indices in (train, test))
    return Arrays(*train, num_items, test_csr=test)


def _read_lists(path: Path) -> tuple[Array, Array]:
    """CSR of the lines "user item item ..."; the users are 0, 1, 2, ... in that order."""
    lines = [np.array(line.split(), np.int64) for line in path.read_text("ascii").splitlines()]
    if any(line[0] != user for user, line in enumerate(lines)):
        raise ValueError(f"{path.name}: line n must start with the user n - 1")
    indptr = np.cumsum([0] + [len(line) - 1 for line in lines], dtype=np.int64)
    return indptr, np.concatenate([line[1:] for line in lines]).astype(np.int32)


def user_item_lists(path: Path) -> bytes:
    """The training list of Gowalla in the text form of its test list, from its adjacency matrix.

    The matrix has the users first and the items after them.
    """
    with np.load(path, allow_pickle=False) as npz:
        indptr, indices = npz["indptr"], npz["indices"]
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    num_users = int(row[indices < row].min())  # users point forward to items, items back
    lines = []
    for user in range(num_users):
        items = indices[indptr[user] : indptr[user + 1]] - num_users
        lines.append(" ".join(map(str, [user, *np.sort(items).tolist()])) + "\n")
    return "".join(lines).encode("ascii")


def digits(paths: list[Path]) -> Arrays:
    """scikit-learn's digits, each joined with its 10 nearest neighbours; grey levels from 0 to 1.

    The ten splits draw 5 nodes a class for training and 20 for validation.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError(
            'the digits come with scikit-learn: pip install "sage-graph-attention[demo]"'
        ) from error
    data = load_digits()
    y = data.target.astype(np.int64)
    csr = symmetric_csr(*_nearest(data.data, 10), len(y))
    x = (data.data / 16.0).astype(np.float32)
    splits = [random_split(y, 5, 20, seed) for seed in range(RANDOM_SPLITS)]
    return Arrays(*csr, len(y), x, y, splits)


def _nearest(points: Array, count: int) -> tuple[Array, Array]:
    """(point, neighbour) pairs; of neighbours at the same distance the first ones.

    The coordinates are small integers, so that distances are exact and ties are real ones.
    """
    squares = (points**2).sum(1)
    distance = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :count]
    return np.repeat(np.arange(len(points)), count), nearest.ravel()
