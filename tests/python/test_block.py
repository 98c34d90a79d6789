"""Block: a Graph whose first sources are its destinations."""

from __future__ import annotations

import pickle

import pytest

from sage_attention import Block, Graph


def test_what_it_is() -> None:
    block = Block.from_edge_index([[2, 3], [0, 1]], num_src=4, num_dst=2)
    assert repr(block) == "Block(num_dst=2, num_src=4, num_edges=2, device=cpu)"
    assert block != Graph(block.indptr, block.indices, num_src=4, edge_ids=block.edge_ids)
    assert block == Block([0, 1, 2], [2, 3], num_src=4, edge_ids=[0, 1])


def test_it_stays_a_block() -> None:
    block = Block([0, 1, 2], [2, 3], num_src=4)
    for twin in (block.with_self_loops(), block.to("cpu"), pickle.loads(pickle.dumps(block))):
        assert type(twin) is Block
    assert pickle.loads(pickle.dumps(block)) == block


def test_self_loops_are_of_its_destinations() -> None:
    looped = Block([0, 1, 2], [2, 3], num_src=4).with_self_loops()
    assert looped.edge_index().tolist() == [[2, 3, 0, 1], [0, 1, 0, 1]]


def test_too_few_sources() -> None:
    with pytest.raises(ValueError, match="num_src = 1 must be at least num_dst = 2"):
        Block([0, 1, 1], [0], num_src=1)
