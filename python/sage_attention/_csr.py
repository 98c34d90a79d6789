"""What Graph needs of CSR arrays: conversion and checks of input, the ops' shapes for tracing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import _ready as _ready  # the ops that get their shapes below

INT32_LIMIT = 2**31
MAX_NODES = 2**40  # of one side; indptr would be 8 TiB


class Schedule(NamedTuple):
    """How CUDA kernels split the edges of a graph among blocks; opaque, int64 [T, 2] and [S, 2]."""

    tasks: Tensor
    splits: Tensor


class Transpose(NamedTuple):
    """A graph by source: row j lists the destinations that j sends to.

    Attributes:
        indptr: int64 [num_src + 1].
        indices: [E] destinations.
        perm: [E] position in the transpose -> position in the graph's CSR order.
        position: [E] the inverse of `perm`.
        edge_ids: [E] position in the transpose -> the caller's edge id.
    """

    indptr: Tensor
    indices: Tensor
    perm: Tensor
    position: Tensor
    edge_ids: Tensor


def index_dtype(limit: int) -> torch.dtype:
    """int32 where every id below `limit` fits, else int64."""
    return torch.int32 if limit < INT32_LIMIT else torch.int64


def index_tensor(value: Any, name: str, *, keep: bool = False) -> Tensor:
    """`value` (tensor, numpy array or sequence of ints) as a 1-D integer tensor, sharing memory
    where it can. One to `keep` shares memory with tensors only, whose changes can be noticed."""
    if not isinstance(value, Tensor):
        if isinstance(value, Sequence) and len(value) == 0:
            return torch.empty(0, dtype=torch.int64)
        flags = getattr(value, "flags", None)
        read_only = flags is not None and not flags.writeable
        try:
            value = torch.tensor(value) if keep or read_only else torch.as_tensor(value)
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            if "verflow" in str(error):
                raise IndexError(f"{name} holds a number that does not fit into int64") from error
            raise TypeError(
                f"{name} must be a tensor, a numpy array or a sequence of ints: {error}"
            ) from error
    if value.dtype not in (torch.int64, torch.int32):
        if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
            raise TypeError(
                f"{name} must hold integer ids (int32 or int64), got {value.dtype}; "
                f"convert it with {name}.long() if its values are whole numbers"
            )
        unsigned, value = value.dtype == torch.uint64, value.long()
        if unsigned and not torch.compiler.is_compiling() and bool((value < 0).any()):
            raise IndexError(f"{name} holds a number that does not fit into int64")
    if value.dim() != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {tuple(value.shape)}")
    return own(value)


def torch_index(ids: Tensor, count: int) -> Tensor:
    """`ids`, int64, for torch's own indexing of `count` rows. It raises on the CPU for one out of
    range, but on CUDA it would end the process's context: there such an id becomes the last."""
    return ids.long().clamp(0, count - 1) if ids.is_cuda else ids.long()


def own(value: Tensor) -> Tensor:
    """`value`, fit to be saved for a backward: a tensor made in inference mode is copied."""
    if not torch.compiler.is_compiling() and value.is_inference():
        with torch.inference_mode(False):
            return value.clone()
    return value


def split_edge_index(edge_index: Any) -> tuple[Tensor, Tensor]:
    """(src, dst) of an edge_index [2, E]; two one-dimensional arrays of one length."""
    if hasattr(edge_index, "shape") and (len(edge_index.shape) != 2 or edge_index.shape[0] != 2):
        hint = "; transpose it" if tuple(edge_index.shape[1:]) == (2,) else ""
        raise ValueError(
            f"edge_index must have shape [2, E] (row 0: src, row 1: dst), got "
            f"{tuple(edge_index.shape)}{hint}"
        )
    if len(edge_index) != 2:
        raise ValueError(f"edge_index must have two rows (src, dst), got {len(edge_index)}")
    src = index_tensor(edge_index[0], "edge_index[0] (src)")
    dst = index_tensor(edge_index[1], "edge_index[1] (dst)")
    if src.shape != dst.shape:
        raise ValueError(
            f"edge_index must have rows of one length, got {src.shape[0]} src and "
            f"{dst.shape[0]} dst"
        )
    same_device("edge_index[0]", src, "edge_index[1]", dst)
    return (src, dst) if src.dtype == dst.dtype else (src.long(), dst.long())


def same_device(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    """Raises ValueError unless both are on one device."""
    if tensor.device != other.device:
        raise ValueError(
            f"{name} is on {tensor.device}, {other_name} on {other.device}; move them to one device"
        )


def size_argument(value: Any, name: str) -> int:
    """A number of nodes."""
    whole = isinstance(value, int) or hasattr(value, "__index__")  # the former can be traced
    if isinstance(value, bool) or not whole:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must not be negative, got {value}")
    if not torch.compiler.is_compiling() and value > MAX_NODES:
        raise ValueError(f"{name} must be at most 2^40, got {value}")
    return value if isinstance(value, int) else int(value)


def check_edges(src: Tensor, dst: Tensor, num_src: int, num_dst: int) -> None:
    """Raises IndexError for the first id out of range, if any."""
    for row, name, ids, limit in ((0, "src", src, num_src), (1, "dst", dst, num_dst)):
        bad = ((ids < 0) | (ids >= limit)).nonzero()
        if bad.numel():
            edge = int(bad[0])
            value = int(ids[edge])
            raise IndexError(
                f"edge_index[{row}, {edge}] = {value} is not in [0, num_{name} = {limit}): "
                + _range_fix(value, f"num_{name}")
            )


def check_csr(indptr: Tensor, indices: Tensor, num_src: int, edge_ids: Tensor | None) -> None:
    """Raises for the first fault of a caller's CSR arrays; on CUDA one synchronisation if none."""
    num_edges = indices.shape[0]
    faults = torch.ops.sage.csr_validate(indptr, indices, num_src)
    ends = indptr[[0, -1]]
    wrong_ids = torch.zeros_like(ends[:1])
    if edge_ids is not None and num_edges:
        seen = torch.zeros(num_edges, dtype=torch.bool, device=edge_ids.device)
        seen[edge_ids.long().clamp(0, num_edges - 1)] = True
        in_range = (edge_ids >= 0) & (edge_ids < num_edges)
        wrong_ids = (~(seen & in_range).all()).long().view(1)
    row, edge, first, last, ids = torch.cat([faults, ends, wrong_ids]).tolist()
    if first != 0:
        raise ValueError(f"indptr[0] must be 0, got {first}; subtract it from indptr")
    if row >= 0:
        begin, end = indptr[row : row + 2].tolist()
        raise ValueError(
            f"indptr must not decrease and must stay in [0, E = {num_edges}]: indptr[{row}] = "
            f"{begin}, indptr[{row + 1}] = {end}; build the graph with Graph.from_edge_index if "
            "the edges are not grouped by destination"
        )
    if last != num_edges:
        raise ValueError(
            f"indptr[-1] = {last} must be the number of edges, but indices has {num_edges} "
            "entries; cut indices or correct indptr"
        )
    if edge >= 0:
        value = int(indices[edge])
        raise IndexError(
            f"indices[{edge}] = {value} is not in [0, num_src = {num_src}): "
            + _range_fix(value, "num_src")
        )
    if ids:
        raise ValueError(
            f"edge_ids must be a permutation of 0 .. {num_edges - 1}: some id is missing or "
            "out of range"
        )


def _range_fix(value: int, size: str) -> str:
    return "ids must not be negative" if value < 0 else f"pass {size}={value + 1} or more"


@torch.library.register_fake("sage::csr_from_coo")
def _(dst: Tensor, src: Tensor, num_dst: int, num_src: int) -> tuple[Tensor, ...]:
    edges = dst.shape[0]
    return (
        dst.new_empty(num_dst + 1, dtype=torch.int64),
        dst.new_empty(edges, dtype=index_dtype(num_src)),
        dst.new_empty(edges, dtype=index_dtype(edges)),
        dst.new_empty(1, dtype=torch.int64),
    )


@torch.library.register_fake("sage::csr_transpose")
def _(indptr: Tensor, indices: Tensor, num_src: int) -> tuple[Tensor, ...]:
    edges = indices.shape[0]
    return (
        indptr.new_empty(num_src + 1),
        indices.new_empty(edges, dtype=index_dtype(indptr.shape[0] - 1)),
        indices.new_empty(edges, dtype=index_dtype(edges)),
        indices.new_empty(edges, dtype=index_dtype(edges)),
    )


@torch.library.register_fake("sage::csr_self_loops")
def _(
    indptr: Tensor, indices: Tensor, edge_ids: Tensor | None, num_src: int, num_ids: int
) -> tuple[Tensor, ...]:
    loops = torch.sym_min(indptr.shape[0] - 1, num_src)
    edges = indices.shape[0] + loops
    return (
        torch.empty_like(indptr),
        indices.new_empty(edges),
        indices.new_empty(edges, dtype=index_dtype(num_ids + loops)),
    )


@torch.library.register_fake("sage::csr_schedule")
def _(indptr: Tensor, num_edges: int) -> tuple[Tensor, Tensor]:
    size = torch.library.get_ctx()
    tasks, splits = size.new_dynamic_size(), size.new_dynamic_size()
    return indptr.new_empty((tasks, 2)), indptr.new_empty((splits, 2))


@torch.library.register_fake("sage::csr_validate")
def _(indptr: Tensor, indices: Tensor, num_src: int) -> Tensor:
    return indptr.new_empty(2)
