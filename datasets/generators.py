"""Synthetic graphs: power-law twins of public benchmark graphs, of any node and edge count.

A twin has the node count, the edge count and the largest expected degree of the graph it stands
for, and log-normal degrees in between. It is symmetric, and it is a multigraph: self loops and
repeated edges occur, as they do in raw data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from ..graph import Graph

CHUNK = 1 << 24  # edges drawn at a time: 128 MiB of uniforms


@dataclass(frozen=True)
class TwinSize:
    """Size of a twin; edges are directed, so that an undirected edge counts twice."""

    num_nodes: int
    num_edges: int
    max_degree: int


TWINS: dict[str, TwinSize] = {
    "arxiv": TwinSize(169_343, 2_332_486, 13_000),
    "reddit": TwinSize(232_965, 114_615_892, 21_700),
    "products": TwinSize(2_449_029, 123_718_280, 17_500),
    "igb-medium": TwinSize(10_000_000, 120_080_000, 2_000),
}


def twin(name: str, device: str | torch.device = "cpu", *, seed: int = 0) -> Graph:
    """The twin `name` (a key of TWINS) on `device`."""
    if not isinstance(name, str):
        raise TypeError(f"twin: name must be a string, got {name!r}")
    if name not in TWINS:
        raise ValueError(f"twin: no twin is named {name!r}; choose from {', '.join(TWINS)}")
    size = TWINS[name]
    return power_law(size.num_nodes, size.num_edges, size.max_degree, seed=seed, device=device)


def power_law(
    num_nodes: int,
    num_edges: int,
    max_degree: float,
    seed: int = 0,
    device: str | torch.device = "cpu",
    *,
    sigma: float = 1.3,
) -> Graph:
    """A symmetric random graph with log-normal expected degrees, clipped at max_degree.

    Every undirected edge joins two nodes drawn in proportion to their weights; it is stored in both
    directions. An odd num_edges adds one self loop. Edges lie in CSR order, sorted by (dst, src),
    so that edge id = CSR position. The degrees that come out scatter around the expected ones by
    their square root, and may pass max_degree by as much.

    The seed fixes the graph. All random numbers are drawn by NumPy, so that the graph is the same
    on every device.

    Args:
        num_nodes: nodes, N.
        num_edges: directed edges, E.
        max_degree: largest expected degree; at least E / N.
        seed: of NumPy's default generator.
        device: where the graph is built and stays.
        sigma: spread of the logarithm of the degrees; 0 gives equal expected degrees.
    """
    import torch

    from ..graph import Graph

    _check(num_nodes, num_edges, max_degree, sigma)
    where = torch.device(device)
    key = _edge_keys(num_nodes, num_edges, max_degree, seed, where, sigma)
    if where.type == "cpu":
        key.numpy().sort()  # in place: torch.sort would also make E int64 positions
    else:
        key = torch.sort(key).values
    first = torch.arange(num_nodes + 1, device=where) * num_nodes  # smallest key of each row
    indptr = torch.searchsorted(key, first)
    index_type = torch.int32 if num_nodes < 2**31 else torch.int64
    indices = torch.empty(num_edges, dtype=index_type, device=where)
    for begin in range(0, num_edges, CHUNK):
        indices[begin : begin + CHUNK] = key[begin : begin + CHUNK] % num_nodes
    return Graph(indptr, indices, num_src=num_nodes)


def _check(num_nodes: int, num_edges: int, max_degree: float, sigma: float) -> None:
    if not 0 <= num_nodes < 2**31:
        raise ValueError(f"power_law: num_nodes must be in [0, 2^31), got {num_nodes}")
    if num_edges < 0:
        raise ValueError(f"power_law: num_edges must not be negative, got {num_edges}")
    if num_nodes == 0 and num_edges > 0:
        raise ValueError(f"power_law: {num_edges} edges need at least one node")
    if num_edges > max_degree * num_nodes:
        raise ValueError(
            f"power_law: max_degree {max_degree} is below the mean degree "
            f"{num_edges / num_nodes:.1f}; give a larger max_degree or fewer edges"
        )
    if not sigma >= 0:
        raise ValueError(f"power_law: sigma must be at least 0, got {sigma}")


def _edge_keys(
    num_nodes: int,
    num_edges: int,
    max_degree: float,
    seed: int,
    device: torch.device,
    sigma: float,
) -> torch.Tensor:
    """dst * N + src of every directed edge, [E] int64, in no particular order."""
    import numpy as np
    import torch

    key = torch.empty(num_edges, dtype=torch.int64, device=device)
    if num_edges == 0:
        return key
    rng = np.random.default_rng(seed)
    share = torch.from_numpy(_node_shares(rng, num_nodes, num_edges, max_degree, sigma)).to(device)

    def draw(count: int) -> torch.Tensor:
        uniform = torch.from_numpy(rng.random(count)).to(device)
        return torch.searchsorted(share, uniform, right=True).clamp_(max=num_nodes - 1)

    half = num_edges // 2
    for begin in range(0, half, CHUNK):
        end = min(begin + CHUNK, half)
        dst, src = draw(end - begin), draw(end - begin)
        torch.add(src, dst, alpha=num_nodes, out=key[begin:end])
        torch.add(dst, src, alpha=num_nodes, out=key[half + begin : half + end])
    if num_edges % 2:
        key[-1:] = draw(1) * (num_nodes + 1)
    return key


def _node_shares(rng: Any, num_nodes: int, num_edges: int, max_degree: float, sigma: float) -> Any:
    """Cumulative share of edge ends up to each node, [N] float64, ending in 1."""
    import numpy as np

    weight = np.exp(sigma * rng.standard_normal(num_nodes))
    ceiling = max_degree * num_nodes / num_edges
    for _ in range(20):  # clipping lowers the mean, and scaling it back lifts weights over the clip
        weight = np.minimum(weight / weight.mean(), ceiling)
    share = np.cumsum(weight)
    return share / share[-1]
