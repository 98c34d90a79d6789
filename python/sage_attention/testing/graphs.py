"""The graph zoo: small graphs, each with a shape that has broken some kernel."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..graph import Graph


class Case(NamedTuple):
    """A graph as an oracle reads it.

    Attributes:
        edge_index: int64 [2, E] (src, dst), in no particular order.
        num_src: number of sources.
        num_dst: number of destinations.
    """

    edge_index: Tensor
    num_src: int
    num_dst: int

    def graph(self, device: torch.device | str = "cpu") -> Graph:
        """The same as a Graph on `device`."""
        return Graph.from_edge_index(
            self.edge_index.to(device), num_src=self.num_src, num_dst=self.num_dst
        )


def zoo() -> dict[str, Case]:
    """All cases by name; the same at every call.

    empty: no nodes. no_edges, isolated_rows, last_row_empty: rows without edges. one_row: one node,
    its edges all self loops. hub: one row with most edges. self_loops: some, and some twice.
    duplicate_edges: every edge three times. degrees_32, degrees_1024: rows of one less and one more
    than a warp's and a block's width. many_rows: more rows than a grid has blocks in y. bipartite,
    wide: many more destinations than sources, and the reverse. random: 157 nodes, so that no tile
    is full.

    Example:
        >>> zoo()["no_edges"].num_dst
        5
    """
    draw = torch.Generator().manual_seed(20)

    def edges(count: int, num_src: int, num_dst: int) -> Tensor:
        src = torch.randint(num_src, (count,), generator=draw)
        return torch.stack([src, torch.randint(num_dst, (count,), generator=draw)])

    def shuffled(edge_index: Tensor) -> Tensor:
        return edge_index[:, torch.randperm(edge_index.shape[1], generator=draw)]

    def of_degrees(degrees: list[int]) -> Case:
        rows = torch.repeat_interleave(torch.arange(len(degrees)), torch.tensor(degrees))
        src = torch.randint(len(degrees), rows.shape, generator=draw)
        return Case(shuffled(torch.stack([src, rows])), len(degrees), len(degrees))

    loops = torch.arange(0, 20, 2).expand(2, -1)
    looped = torch.cat([edges(50, 20, 20), loops, loops[:, :3]], 1)
    hub = torch.cat([edges(60, 40, 40), edges(3000, 40, 1) + torch.tensor([[0], [7]])], 1)
    return {
        "empty": Case(torch.empty(2, 0, dtype=torch.int64), 0, 0),
        "no_edges": Case(torch.empty(2, 0, dtype=torch.int64), 5, 5),
        "isolated_rows": Case(edges(24, 33, 11) * 3, 99, 33),
        "last_row_empty": Case(edges(40, 17, 16), 17, 17),
        "one_row": Case(torch.zeros(2, 5, dtype=torch.int64), 1, 1),
        "hub": Case(shuffled(hub), 40, 40),
        "self_loops": Case(shuffled(looped), 20, 20),
        "duplicate_edges": Case(shuffled(edges(30, 12, 12).repeat(1, 3)), 12, 12),
        "degrees_32": of_degrees([31, 32, 33, 0, 1, 2, 64, 65]),
        "degrees_1024": of_degrees([1023, 1024, 1025, 0, 3]),
        "many_rows": Case(edges(90_001, 70_003, 70_003), 70_003, 70_003),
        "bipartite": Case(edges(200, 9, 50), 9, 50),
        "wide": Case(edges(200, 300, 13), 300, 13),
        "random": Case(edges(1200, 157, 157), 157, 157),
    }
