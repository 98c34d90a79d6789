"""What a layer is given, constructor and forward: checked by name before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..block import Block
from ..graph import Graph
from ..ops._arguments import shown, whole
from ..ops._operands import MAX_HEAD_DIM, autocasts, check_dense
from ._linear import Linear

_SPARSE = (torch.sparse_csr, torch.sparse_coo)  # what torch's linear maps take besides


def refuse(name: str, value: Any, default: Any, instead: str) -> None:
    """ValueError if an argument that this version does not bring is used."""
    if not (value is default or (isinstance(value, str) and value == default)):
        raise ValueError(f"{name} is not available in this version; available: {instead}")


def in_channels(value: Any) -> int | tuple[int, int]:
    """Features of a node, or (source's, destination's); -1 for unknown."""
    if not isinstance(value, tuple):
        return _width("in_channels", value)
    if len(value) != 2:
        raise ValueError(
            f"in_channels must be an int or (source's, destination's), got {len(value)} entries"
        )
    return _width("in_channels[0]", value[0]), _width("in_channels[1]", value[1])


def _width(name: str, value: Any) -> int:
    if isinstance(value, list | np.ndarray):
        raise TypeError(f"{name} must be an int or a tuple of two ints, got {shown(value)}")
    if isinstance(value, int | np.integer) and value < -1:
        raise ValueError(
            f"{name} must be at least 0, or -1 to take it from the first input, got {value}"
        )
    return whole(name, value, -1)


def out_channels(value: Any) -> int:
    """Features of a head."""
    result = whole("out_channels", value, 1)
    if result > MAX_HEAD_DIM:
        raise ValueError(
            f"out_channels, the features of a head, must be at most {MAX_HEAD_DIM}, got {result}; "
            "use more heads"
        )
    return result


def split(x: Any) -> tuple[tuple[str, Tensor], tuple[str, Tensor | None]]:
    """The sources' features and the destinations', each with the name that the caller knows."""
    if not isinstance(x, tuple | list):
        if not isinstance(x, Tensor):
            hint = "; make one with torch.from_numpy(x)" if isinstance(x, np.ndarray) else ""
            raise TypeError(f"x must be a tensor or (x_src, x_dst), got {shown(x)}{hint}")
        return ("x", x), ("x", x)
    if len(x) != 2:
        raise ValueError(f"x must be a tensor or (x_src, x_dst), got {len(x)} entries")
    return ("x_src", x[0]), ("x_dst", x[1])


def check_features(name: str, features: Any, role: str, linear: Linear) -> None:
    """Whether the linear map of "sources" or "destinations" takes the features."""
    if not (isinstance(features, Tensor) and features.layout in _SPARSE):
        check_dense(name, features)
    weight = linear.weight
    if features.dim() != 2:
        raise ValueError(f"{name} must have shape [N, F], got {list(features.shape)}")
    if not linear.is_lazy and features.shape[1] != linear.in_channels:
        raise ValueError(
            f"{name} has {features.shape[1]} features, but in_channels of the {role} is "
            f"{linear.in_channels}"
        )
    if features.device != weight.device:
        raise ValueError(
            f"{name} is on {features.device}, the layer on {weight.device}; move one with .to(...)"
        )
    _check_dtypes(name, features, weight.dtype)


def _check_dtypes(name: str, features: Tensor, dtype: torch.dtype) -> None:
    if not features.is_floating_point():
        raise TypeError(f"{name} has dtype {features.dtype}; convert it with {name}.to({dtype})")
    if autocasts(features.device) and torch.float64 not in (features.dtype, dtype):
        if torch.get_autocast_dtype(features.device.type) == torch.float16:
            raise TypeError(
                f"torch.autocast casts {name} to float16, which is not supported; give it "
                "dtype=torch.bfloat16"
            )
        return
    if features.dtype != dtype:
        raise TypeError(
            f"{name} has dtype {features.dtype}, the layer {dtype}; convert one with .to(...)"
        )
    if dtype == torch.float16:
        raise TypeError(
            f"{name} and the layer have dtype {dtype}, which is not supported; use bfloat16: "
            f"layer.bfloat16() and {name}.bfloat16()"
        )


def as_graph(graph: Any, num_src: int, num_dst: int) -> Graph:
    """`graph`, made of an edge_index where it is one."""
    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, Tensor | np.ndarray | list | tuple):
        raise TypeError(
            "graph must be a sage_attention.Graph, a Block or an edge_index [2, E], got "
            f"{shown(graph)}; Graph has from_csr, from_scipy and from_pyg, too"
        )
    if isinstance(graph, Tensor):
        check_dense("edge_index", graph)
    return Graph.from_edge_index(graph, num_src=num_src, num_dst=num_dst)


def check_rows(
    graph: Graph, name: str, features: Tensor, dst_name: str, dst: Tensor | None
) -> Tensor | None:
    """Whether the features are the graph's; returns the destinations'."""
    if features.device != graph.device:
        raise ValueError(
            f"{name} is on {features.device}, the graph on {graph.device}; move one with .to(...)"
        )
    if features.shape[0] != graph.num_src:
        raise ValueError(
            f"{name} has {features.shape[0]} rows for the sources, but {graph!r} has "
            f"{graph.num_src}"
        )
    if isinstance(graph, Block) and (dst is features or dst is None):
        check_dense(name, features)
        return features[: graph.num_dst]
    if dst is not None and dst.shape[0] != graph.num_dst:
        raise ValueError(
            f"{dst_name} has {dst.shape[0]} rows for the destinations, but {graph!r} has "
            f"{graph.num_dst}; pass (x_src, x_dst)"
        )
    return dst
