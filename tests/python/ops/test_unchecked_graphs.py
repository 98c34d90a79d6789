"""Graphs whose arrays were never checked: an error on the CPU, and never a read out of bounds."""

from __future__ import annotations

import pytest
import torch

from sage_attention import Graph, ops

BAD = {
    "indptr rises too far": ([0, 2, 2, 300], [1, 2, 0], None),
    "indptr falls": ([0, 3, 1, 3], [1, 2, 0], None),
    "negative indptr": ([-4, 2, 2, 3], [1, 2, 0], None),
    "source too large": ([0, 2, 2, 3], [1, 10**6, 0], None),
    "negative source": ([0, 2, 2, 3], [1, -1, 0], None),
    "edge id too large": ([0, 2, 2, 3], [1, 2, 0], [0, 1, 10**6]),
    "negative edge id": ([0, 2, 2, 3], [1, 2, 0], [0, -1, 2]),
}


def _graph(case: str, device: str) -> Graph:
    indptr, indices, edge_ids = (
        None if part is None else torch.tensor(part, device=device) for part in BAD[case]
    )
    return Graph(indptr, indices, edge_ids=edge_ids, validate=False)


@pytest.mark.parametrize("case", BAD)
def test_the_cpu_refuses(case: str) -> None:
    graph = _graph(case, "cpu")
    x, weight = torch.ones(3, 2, 4), torch.ones(3, 2)
    with pytest.raises(RuntimeError, match=r"indptr must|\] = -?\d+ is not in \[0, 3\)"):
        ops.aggregate(graph, x, weight)
    with pytest.raises(RuntimeError, match=r"indptr must|\] = -?\d+ is not in \[0, 3\)"):
        ops.attention(graph, x, x, x, edge_bias=weight)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("case", BAD)
def test_cuda_survives(case: str) -> None:
    graph = _graph(case, "cuda")
    x = torch.ones(3, 2, 4, device="cuda", requires_grad=True)
    weight = torch.ones(3, 2, device="cuda", requires_grad=True)
    out = ops.attention(graph, x, x, x, edge_bias=weight) + ops.aggregate(graph, x, weight)
    for reduce in ("mean", "max"):
        out = out + ops.aggregate(graph, x, weight, reduce=reduce)
    out.sum().backward()
    ops.attention(graph, x, x, x, return_attention=True)
    graph.edge_index()
    torch.cuda.synchronize()
    assert torch.ones(2, device="cuda").sum().item() == 2
