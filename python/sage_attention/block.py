"""Block: one hop of a sampled neighbourhood, whose sources start with its destinations."""

from __future__ import annotations

from typing import Any

from .graph import Graph


class Block(Graph):
    """A Graph whose destination i is its source i, for i < num_dst.

    Layers therefore take one tensor of source features [num_src, F] for a block; the destinations
    are its first num_dst rows.

    Raises:
        ValueError: fewer sources than destinations.

    Example:
        >>> Block([0, 2, 3], [2, 3, 0], num_src=4)
        Block(num_dst=2, num_src=4, num_edges=3, device=cpu)
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
        super().__init__(indptr, indices, num_src=num_src, edge_ids=edge_ids, validate=validate)
        if self.num_src < self.num_dst:
            raise ValueError(
                f"num_src = {self.num_src} must be at least num_dst = {self.num_dst}: the first "
                "sources of a block are its destinations; use Graph for other bipartite graphs"
            )
