"""Operands of the functions on graphs: checked by name, and cast as torch.autocast wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..graph import Graph
from ._arguments import shown

MAX_HEAD_DIM = 512
DTYPES = (torch.float32, torch.float64, torch.bfloat16)

# The dtype that autocast gives operands of some dtypes on a kind of device; None: as they are.
Policy = Callable[[str, Sequence[torch.dtype]], torch.dtype | None]


def lower_precision(kind: str, dtypes: Sequence[torch.dtype]) -> torch.dtype | None:
    """autocast's own dtype, as for scaled_dot_product_attention."""
    dtype = torch.get_autocast_dtype(kind)
    return dtype if dtype in DTYPES else None


def widest(kind: str, dtypes: Sequence[torch.dtype]) -> torch.dtype | None:
    """What holds all, as for torch.cat."""
    return None if len(set(dtypes)) == 1 else torch.float32


def full_precision(kind: str, dtypes: Sequence[torch.dtype]) -> torch.dtype | None:
    """float32, as for torch.softmax."""
    return torch.float32


def check_graph(graph: Any) -> Graph:
    """`graph`, or TypeError."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"graph must be a sage_attention.Graph, got {type(graph).__name__}; of an edge_index "
            "make one with Graph.from_edge_index(edge_index)"
        )
    return graph


def checked(
    place: str,
    device: torch.device,
    policy: Policy,
    required: dict[str, Any],
    optional: dict[str, Any] | None = None,
) -> list[Any]:
    """The operands in their order, cast by `policy` under autocast: dense tensors of one supported
    dtype, on the `device` of `place`. The first leads; optional ones may be None."""
    operands = {**required, **(optional or {})}
    for name, value in operands.items():
        if value is not None or name in required:
            check_dense(name, value)
    if autocasts(device):
        operands = _cast(operands, device.type, policy)
    lead = next(iter(operands))
    for name, value in operands.items():
        if value is not None:
            _check_kind(name, value, place, device, lead, operands[lead].dtype)
    return list(operands.values())


def check_dense(name: str, value: Any) -> None:
    """TypeError unless `value` is a tensor of the ordinary, strided kind."""
    if not isinstance(value, Tensor):
        arrays = {np.ndarray: "from_numpy", list: "tensor", tuple: "tensor"}
        make = arrays.get(type(value))
        hint = f"; make one with torch.{make}({name})" if make else ""
        raise TypeError(f"{name} must be a tensor, got {shown(value)}{hint}")
    if value.is_nested:
        raise TypeError(
            f"{name} must be a dense tensor, got a nested one; rows of several lengths are a "
            "graph's or indptr's, over one dense tensor"
        )
    if value.layout != torch.strided:
        raise TypeError(
            f"{name} must be a dense tensor, got layout {value.layout}; make one with "
            f"{name}.to_dense()"
        )


def autocasts(device: torch.device) -> bool:
    """Whether torch.autocast is on there."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def _cast(operands: dict[str, Any], kind: str, policy: Policy) -> dict[str, Any]:
    """float64 stays, as everywhere under autocast."""

    def eligible(value: Tensor | None) -> bool:
        return (
            value is not None
            and value.is_floating_point()
            and value.dtype != torch.float64
            and value.device.type == kind
        )

    dtypes = [value.dtype for value in operands.values() if eligible(value)]
    dtype = policy(kind, dtypes) if dtypes else None
    if dtype is None:
        return operands
    return {n: value.to(dtype) if eligible(value) else value for n, value in operands.items()}


def _check_kind(
    name: str,
    value: Tensor,
    place: str,
    device: torch.device,
    lead_name: str,
    lead_dtype: torch.dtype,
) -> None:
    if value.dtype not in DTYPES:
        supported = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        fix = f"convert it with {name}.to(...)"
        if value.dtype == torch.float16:
            fix = "torch.autocast takes dtype=torch.bfloat16"
            fix = fix if autocasts(device) else f"convert it with {name}.bfloat16()"
        raise TypeError(f"{name} has dtype {value.dtype}; supported are {supported}: {fix}")
    if value.dtype != lead_dtype:
        raise TypeError(
            f"{name} has dtype {value.dtype} but {lead_name} has {lead_dtype}; convert them to one "
            "dtype"
        )
    if value.device != device:
        fix = "move one with .to(...)"
        if value.is_meta:
            fix = "a meta tensor holds no numbers"
        raise ValueError(f"{name} is on {value.device}, {place} on {device}; {fix}")


def check_shape(name: str, tensor: Tensor, shape: tuple[int | None, ...], meaning: str) -> None:
    """ValueError unless `tensor` has `shape`, where None is any size of at least 1."""
    good = tensor.dim() == len(shape)
    if good:
        for size, want in zip(tensor.shape, shape, strict=True):
            good = good and (size >= 1 if want is None else size == want)
    if not good:
        wanted = ", ".join("*" if want is None else str(want) for want in shape)
        open_sizes = " with * at least 1" if None in shape else ""
        raise ValueError(
            f"{name} must have shape {meaning} = [{wanted}]{open_sizes}, got {list(tensor.shape)}"
        )


def check_head_dim(**operands: Tensor) -> None:
    """ValueError for heads wider than the kernels take."""
    for name, tensor in operands.items():
        if tensor.shape[2] > MAX_HEAD_DIM:
            raise ValueError(
                f"{name} has head_dim {tensor.shape[2]}, at most {MAX_HEAD_DIM} is supported; "
                "use more heads of fewer features"
            )


def edge_input(name: str, value: Tensor | None, num_edges: int, heads: int) -> Tensor | None:
    """Input of [E] or [E, 1] or [E, H] as [E, 1 | H]."""
    if value is None:
        return None
    columns = value.unsqueeze(-1) if value.dim() == 1 else value
    if columns.dim() != 2 or columns.shape[0] != num_edges or columns.shape[1] not in (1, heads):
        raise ValueError(
            f"{name} must have shape [E] = [{num_edges}] or [E, H] = [{num_edges}, {heads}], one "
            f"row an edge in the caller's order, got {list(value.shape)}"
        )
    return columns
