"""`load`: a data set by name, as a graph and tensors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import readers
from .registry import entry
from .store import files_of

if TYPE_CHECKING:
    import torch

    from ..graph import Graph


@dataclass
class Dataset:
    """A graph with what is known of its nodes.

    graph: edges in CSR order, both directions of an undirected edge, no self loops; for gowalla
        users (dst) x items (src).
    x: features, float32 [N, F]; None for gowalla.
    y: labels, int64 [N], -1 where none is known; None for gowalla.
    splits: one dict of int64 node ids "train", "val", "test" for each split; empty for gowalla.
    test_graph: gowalla's held-out user-item pairs; else None.
    """

    name: str
    graph: Graph
    x: torch.Tensor | None
    y: torch.Tensor | None
    splits: list[dict[str, torch.Tensor]]
    num_classes: int
    licence: str
    test_graph: Graph | None = None


def load(name: str, root: str | os.PathLike[str] | None = None) -> Dataset:
    """The data set `name`: cora, citeseer, photo, cs, minesweeper, gowalla or digits.

    Its files are looked for below `root` where that is given, else below $SAGE_DATA_DIR, else in
    the user's cache; what is missing is downloaded into `root` or the cache, with its checksum
    verified. A folder that you name must exist; the cache is made when it is needed. The digits
    come with scikit-learn. Features are raw; photo and cs are whole graphs.

    Raises ValueError for an unknown name, FileNotFoundError for a folder that does not exist, and
    DownloadError, an OSError too, for a file that cannot be had or is not the published one.
    """
    from .._library import require_torch

    torch = require_torch("sage_attention.datasets.load")
    from ..graph import Graph

    known = entry(name)
    if root is not None and not isinstance(root, (str, os.PathLike)):
        raise TypeError(f"load: root must be the path of a folder, got {root!r}")
    arrays = getattr(readers, known.reader)(files_of(known, root))

    def csr(parts: tuple[readers.Array, readers.Array]) -> Graph:
        indptr, indices = (torch.from_numpy(part) for part in parts)
        return Graph(indptr, indices, num_src=arrays.num_src)

    return Dataset(
        name=name,
        graph=csr((arrays.indptr, arrays.indices)),
        x=None if arrays.x is None else torch.from_numpy(arrays.x),
        y=None if arrays.y is None else torch.from_numpy(arrays.y),
        splits=[
            {part: torch.from_numpy(nodes) for part, nodes in split.items()}
            for split in arrays.splits
        ],
        num_classes=0 if arrays.y is None else int(arrays.y.max()) + 1,
        licence=known.licence,
        test_graph=None if arrays.test_csr is None else csr(arrays.test_csr),
    )
