"""PyTorch Geometric's message passing for dot-product attention, eager and compiled.

The same steps as torch_geometric.nn.TransformerConv without its linear layers: gather both ends of
every edge, dot product, torch_geometric.utils.softmax, weight the messages, scatter them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Attention = Callable[..., Any]


def eager() -> Attention:
    """Returns attention(dst, src, num_dst, q, k, v); raises ImportError without torch_geometric."""
    from torch_geometric.utils import scatter, softmax

    def attention(dst: Any, src: Any, num_dst: int, q: Any, k: Any, v: Any) -> Any:
        query = q.index_select(0, dst)
        key = k.index_select(0, src)
        alpha = (query * key).sum(dim=-1) / math.sqrt(q.size(-1))
        alpha = softmax(alpha, dst, num_nodes=num_dst)
        message = v.index_select(0, src) * alpha.unsqueeze(-1)
        return scatter(message, dst, dim=0, dim_size=num_dst, reduce="sum")

    return attention


def compiled() -> Attention:
    """The same function under torch.compile, specialised to the shapes it meets."""
    import torch

    torch._dynamo.reset()  # else the second graph would get a slower kernel for any shape
    return torch.compile(eager(), dynamic=False)


BASELINES: dict[str, Callable[[], Attention]] = {"pyg_eager": eager, "pyg_compiled": compiled}
