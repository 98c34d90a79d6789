"""The oracles against numbers worked out by hand."""

from __future__ import annotations

import math

import torch

from sage_attention.testing import graphs, oracles


def test_oracle_by_hand() -> None:
    """Two edges into node 0 with scores 0 and log 3."""
    edge_index = torch.tensor([[0, 1], [0, 0]])
    v = torch.tensor([1.0, 5.0]).view(2, 1, 1)
    bias = torch.tensor([0.0, math.log(3.0)])
    zero = torch.zeros(2, 1, 1)
    out, alpha = oracles.attention(edge_index, 2, zero, zero, v, edge_bias=bias)
    torch.testing.assert_close(alpha.flatten(), torch.tensor([0.25, 0.75]))
    torch.testing.assert_close(out.flatten(), torch.tensor([4.0, 0.0]))
    a_dst, a_src = torch.tensor([[-1.0], [0.0]]), torch.tensor([[1.0], [-4.0]])
    _, alpha = oracles.gat_attention(edge_index, 2, a_dst, a_src, v, negative_slope=0.2)
    odds = math.exp(-5.0 * 0.2)  # against a score of 0
    torch.testing.assert_close(alpha.flatten(), torch.tensor([1.0, odds]) / (1.0 + odds))


def test_oracle_reductions_by_hand() -> None:
    src, group = torch.tensor([3.0, 1.0, 3.0, -2.0]), torch.tensor([0, 0, 0, 2])
    for reduce, expected in {
        "sum": [7.0, 0.0, -2.0],
        "mean": [7.0 / 3.0, 0.0, -2.0],
        "max": [3.0, 0.0, -2.0],
        "min": [1.0, 0.0, -2.0],
    }.items():
        out = oracles.reduce_by(src, group, 3, reduce)
        torch.testing.assert_close(out, torch.tensor(expected))


def test_oracles_can_be_differentiated_twice() -> None:
    case = graphs.zoo()["degrees_32"]
    x = torch.randn(8, 1, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(
        lambda x: oracles.attention(case.edge_index, 8, x, x, x)[0], x, fast_mode=True
    )
