"""The ways into a Graph that are not CSR arrays: edge_index, scipy, PyTorch Geometric."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from . import _cache, _csr

B = TypeVar("B", bound="Builders")


class Builders:
    """Alternative constructors, mixed into Graph."""

    def __init__(self, indptr: Any, indices: Any, **options: Any) -> None:
        raise TypeError("Builders is mixed into Graph and not used by itself")

    @classmethod
    def from_edge_index(
        cls: type[B],
        edge_index: Any,
        *,
        num_src: int | None = None,
        num_dst: int | None = None,
        validate: bool = True,
    ) -> B:
        """A graph from [2, E] (row 0: src, row 1: dst), as PyTorch Geometric has it.

        Args:
            edge_index: integers of any strides, or a pair (src, dst); tensors, numpy arrays or
                sequences.
            num_src: number of sources.
            num_dst: number of destinations. If one of the two is missing it equals the other; if
                both are, the graph is square with max(id) + 1 nodes, which are read from the
                device and so cannot be traced.
            validate: check that ids are in range, with one synchronisation on CUDA. Without, and
                under torch.compile or CUDA graph capture, edges with ids out of range are dropped.

        Raises:
            TypeError: ids are not integers.
            ValueError: a wrong shape, or a negative size.
            IndexError: an id is negative or not below its size.

        Example:
            >>> Graph.from_edge_index([[0, 1], [2, 2]], num_src=2, num_dst=3)
            Graph(num_dst=3, num_src=2, num_edges=2, device=cpu)
        """
        src, dst = _csr.split_edge_index(edge_index)
        if num_src is None and num_dst is None:
            num_src = num_dst = _infer_size(src, dst)
            validate = False
        num_src = num_dst if num_src is None else num_src
        num_dst = num_src if num_dst is None else num_dst
        num_src = _csr.size_argument(num_src, "num_src")
        num_dst = _csr.size_argument(num_dst, "num_dst")
        with _cache.outside_inference_mode():
            indptr, indices, edge_ids, num_invalid = torch.ops.sage.csr_from_coo(
                dst, src, num_dst, num_src
            )
        if validate and not _cache.values_hidden(indptr) and int(num_invalid):
            _csr.check_edges(src, dst, num_src, num_dst)
        return cls(indptr, indices, num_src=num_src, edge_ids=edge_ids, validate=False)

    @classmethod
    def from_csr(cls: type[B], indptr: Any, indices: Any, **options: Any) -> B:
        """The constructor by another name, beside from_edge_index and from_scipy."""
        return cls(indptr, indices, **options)

    @classmethod
    def from_scipy(cls: type[B], matrix: Any) -> B:
        """A graph from a scipy sparse matrix A: an edge src -> dst for each stored A[dst, src].

        Edges are in the order of `A.tocoo().data`; stored zeros are edges, duplicates stay.

        Raises:
            TypeError: `matrix` is no scipy sparse matrix.
        """
        if not hasattr(matrix, "tocoo"):
            raise TypeError(f"from_scipy needs a scipy sparse matrix, got {type(matrix).__name__}")
        coo = matrix.tocoo()
        num_dst, num_src = coo.shape
        return cls.from_edge_index((coo.col, coo.row), num_src=num_src, num_dst=num_dst)

    @classmethod
    def from_pyg(cls: type[B], data: Any) -> B:
        """A graph from the `edge_index` and `num_nodes` of a torch_geometric.data.Data.

        Raises:
            TypeError: `data` has no edge_index, as a HeteroData.
        """
        edge_index = getattr(data, "edge_index", None)
        if not isinstance(edge_index, Tensor):
            raise TypeError(
                f"from_pyg needs a homogeneous Data with edge_index, got {type(data).__name__}; "
                "of a HeteroData take one edge type and use Graph.from_edge_index"
            )
        nodes = data.num_nodes
        return cls.from_edge_index(edge_index, num_src=nodes, num_dst=nodes)


def _infer_size(src: Tensor, dst: Tensor) -> int:
    """max(id) + 1, with one read of the device; negative ids are refused on the way."""
    if src.shape[0] == 0:
        return 0
    ends = torch.stack([*torch.aminmax(src), *torch.aminmax(dst)]).tolist()
    size = int(max(ends)) + 1
    if min(ends) < 0:
        _csr.check_edges(src, dst, size, size)
    if size > _csr.MAX_NODES:
        raise IndexError(f"edge_index holds the id {size - 1}; ids must be below 2^40")
    return size
