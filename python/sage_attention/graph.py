"""Graph: a CSR graph by destination, as tensors, with what attention needs of it cached."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from . import _csr
from ._build import Builders
from ._cache import Cache, values_hidden
from ._csr import Schedule, Transpose

G = TypeVar("G", bound="Graph")
_ARRAYS = ("indptr", "indices", "edge_ids")


class Graph(Builders):
    """Edges j -> i grouped by destination: row i holds indices[indptr[i] : indptr[i + 1]].

    Multi-edges, self loops and isolated nodes are allowed. An edge is known by its id, its place
    in the order in which the caller gave the edges: everything per edge (`edge_bias`,
    `edge_weight`, attention) is in that order. A graph does not change after construction; the
    transpose, the CUDA schedule and the graph with self loops are made at first use and kept.
    Tensors are shared where they can be; using a graph after writing into them is an error.

    Args:
        indptr: [num_dst + 1] row starts; integers, from 0 to E, non-decreasing.
        indices: [E] source ids, in [0, num_src).
        num_src: number of sources; default num_dst (a square graph).
        edge_ids: [E] id of each CSR entry, a permutation of 0 .. E-1; default the CSR order.
        validate: check the values, with one synchronisation on CUDA. Under torch.compile and CUDA
            graph capture values are never checked.

    Tensors, numpy arrays and sequences of ints are accepted.

    Raises:
        TypeError: ids are not integers.
        ValueError: a wrong shape, indptr decreases, or edge_ids is no permutation.
        IndexError: an id is out of range.

    Example:
        >>> graph = Graph([0, 2, 2, 3], [1, 2, 0])  # 1 -> 0, 2 -> 0, 0 -> 2
        >>> graph
        Graph(num_dst=3, num_src=3, num_edges=3, device=cpu)
        >>> graph.edge_index()
        tensor([[1, 2, 0],
                [0, 0, 2]])
    """

    def __init__(
        self,
        indptr: Any,
        indices: Any,
        *,
        num_src: int | None = None,
        edge_ids: Any = None,
        validate: bool = True,
    ) -> None:
        indptr = _csr.index_tensor(indptr, "indptr", keep=True).long().contiguous()
        indices = _csr.index_tensor(indices, "indices", keep=True).contiguous()
        num_edges = indices.shape[0]
        if indptr.shape[0] == 0:
            raise ValueError(
                "indptr must have num_dst + 1 entries, got none; without nodes it is [0]"
            )
        num_src = indptr.shape[0] - 1 if num_src is None else _csr.size_argument(num_src, "num_src")
        _csr.same_device("indices", indices, "indptr", indptr)
        if edge_ids is not None:
            edge_ids = _csr.index_tensor(edge_ids, "edge_ids", keep=True).contiguous()
            _csr.same_device("edge_ids", edge_ids, "indptr", indptr)
            if edge_ids.shape[0] != num_edges:
                raise ValueError(
                    f"edge_ids must have one id an edge, got {edge_ids.shape[0]} for {num_edges} "
                    "edges"
                )
        if validate and not values_hidden(indptr):
            _csr.check_csr(indptr, indices, num_src, edge_ids)
        if edge_ids is not None:
            edge_ids = edge_ids.to(_csr.index_dtype(num_edges))
        self._indptr: Tensor = indptr
        self._indices: Tensor = indices.to(_csr.index_dtype(num_src))
        self._edge_ids: Tensor | None = edge_ids
        self._num_src: int = num_src
        self._cache = Cache()
        self._versions = None if torch.compiler.is_compiling() else self._current_versions()

    @property
    def indptr(self) -> Tensor:
        """int64 [num_dst + 1]."""
        return self._indptr

    @property
    def indices(self) -> Tensor:
        """[E] sources in CSR order; int32 where num_src < 2^31, else int64."""
        return self._indices

    @property
    def edge_ids(self) -> Tensor | None:
        """[E] id of each CSR entry; None: the CSR order is the caller's order."""
        return self._edge_ids

    @property
    def num_dst(self) -> int:
        """Number of destinations, the rows."""
        return self._indptr.shape[0] - 1

    @property
    def num_src(self) -> int:
        """Number of sources."""
        return self._num_src

    @property
    def num_nodes(self) -> int:
        """Number of nodes of a square graph; ValueError for a bipartite one."""
        if not self.is_square:
            raise ValueError(f"{self!r} is bipartite: use num_dst or num_src")
        return self._num_src

    @property
    def num_edges(self) -> int:
        """Number of edge ids: the length of everything per edge."""
        return self._indices.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the arrays are."""
        return self._indptr.device

    @property
    def is_square(self) -> bool:
        """Whether there are as many sources as destinations."""
        return self._num_src == self.num_dst

    def arrays(self) -> tuple[Tensor, ...]:
        """indptr, indices and, if there are any, edge_ids."""
        ids = () if self._edge_ids is None else (self._edge_ids,)
        return (self._indptr, self._indices, *ids)

    def _current_versions(self) -> tuple[int, ...]:
        return tuple(array._version for array in self.arrays())

    def check_unchanged(self) -> None:
        """RuntimeError if an array was written to since construction."""
        if torch.compiler.is_compiling() or self._versions is None:
            return
        for name, array, made in zip(_ARRAYS, self.arrays(), self._versions, strict=False):
            if array._version != made:
                raise RuntimeError(
                    f"{name} of {self!r} was changed in place; make a new graph of the new values, "
                    f"or give this one a copy, {name}.clone()"
                )

    def rows(self) -> Tensor:
        """int64 [E] destination of each CSR entry; num_dst for entries that no row owns."""
        position = torch.arange(self.num_edges, device=self.device)
        return torch.searchsorted(self._indptr[1:], position, right=True)

    def edge_index(self) -> Tensor:
        """int64 [2, E] (src, dst) in the caller's order; -1 for edges that no row owns, which are
        those that `with_self_loops` replaced or that were dropped as out of range."""
        dst = self.rows()
        owned = dst < self.num_dst
        pairs = torch.where(owned, torch.stack([self._indices.long(), dst]), -1)
        if self._edge_ids is None:
            return pairs
        ids = _csr.torch_index(self._edge_ids, self.num_edges)
        return torch.empty_like(pairs).index_copy(1, ids, pairs)

    def transpose(self) -> Transpose:
        """The graph by source, with the edge permutation; made once."""
        self.check_unchanged()

        def make() -> Transpose:
            indptr, indices, perm, position = torch.ops.sage.csr_transpose(
                self._indptr, self._indices, self._num_src
            )
            ids = perm if self._edge_ids is None else self._edge_ids.index_select(0, perm)
            return Transpose(indptr, indices, perm, position, ids)

        return self._cache.get("transpose", self._indptr, make)

    def schedule(self) -> Schedule | None:
        """How CUDA kernels walk the rows; made once. None on the CPU, which needs none."""
        if not self._indptr.is_cuda:
            return None
        return self._cache.get("schedule", self._indptr, lambda: self._schedule(self._indptr))

    def transpose_schedule(self) -> Schedule | None:
        """As `schedule`, for the transpose."""
        if not self._indptr.is_cuda:
            return None
        indptr = self.transpose().indptr
        return self._cache.get("transpose_schedule", indptr, lambda: self._schedule(indptr))

    def _schedule(self, indptr: Tensor) -> Schedule:
        return Schedule(*torch.ops.sage.csr_schedule(indptr, self.num_edges))

    def with_self_loops(self: G) -> G:
        """The graph with exactly one self loop for each node that is source and destination.

        Existing self loops are replaced: their ids stay, but no row owns them. The new loops have
        the ids E .. E + min(num_dst, num_src) - 1. Made once.

        Example:
            >>> looped = Graph.from_edge_index([[0, 1, 1], [1, 0, 1]]).with_self_loops()
            >>> looped.edge_index()  # 1 -> 1 was replaced
            tensor([[ 0,  1, -1,  0,  1],
                    [ 1,  0, -1,  0,  1]])
        """
        self.check_unchanged()

        def make() -> G:
            indptr, indices, edge_ids = torch.ops.sage.csr_self_loops(
                self._indptr, self._indices, self._edge_ids, self._num_src, self.num_edges
            )
            return _rebuild(type(self), indptr, indices, self._num_src, edge_ids)

        return self._cache.get("self_loops", self._indptr, make)

    def to(self: G, device: torch.device | str | int, *, non_blocking: bool = False) -> G:
        """This graph if it is on `device` already, else a copy there, without what was cached."""
        target = torch.empty(0, device=device).device
        if target == self.device:
            return self
        moved = [array.to(target, non_blocking=non_blocking) for array in self.arrays()]
        edge_ids = moved[2] if len(moved) == 3 else None
        return _rebuild(type(self), moved[0], moved[1], self._num_src, edge_ids)

    def cpu(self: G) -> G:
        """`to("cpu")`."""
        return self.to("cpu")

    def cuda(self: G, device: torch.device | str | int = "cuda") -> G:
        """`to("cuda")`, or to that CUDA device."""
        return self.to(device)

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = (self._indptr, self._indices, self._num_src, self._edge_ids)
        return _rebuild, (type(self), *arrays)

    def __eq__(self, other: object) -> bool:
        """Same type, sizes, device and arrays; synchronises on CUDA."""
        if self is other:
            return True
        if not isinstance(other, Graph) or type(self) is not type(other):
            return NotImplemented
        if (self._num_src, self.device) != (other._num_src, other.device):
            return False
        mine, theirs = self._edge_ids, other._edge_ids
        if mine is None or theirs is None:
            return mine is theirs and self._same_csr(other)
        return torch.equal(mine, theirs) and self._same_csr(other)

    def _same_csr(self, other: Graph) -> bool:
        return torch.equal(self._indptr, other._indptr) and torch.equal(
            self._indices, other._indices
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.num_dst, self._num_src, self.num_edges))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(num_dst={self.num_dst}, num_src={self._num_src}, "
            f"num_edges={self.num_edges}, device={self.device})"
        )


def _rebuild(cls: type[G], indptr: Any, indices: Any, num_src: int, edge_ids: Any) -> G:
    """A graph of arrays that are known to be good, and may have entries that no row owns."""
    return cls(indptr, indices, num_src=num_src, edge_ids=edge_ids, validate=False)
