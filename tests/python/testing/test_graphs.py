"""The graph zoo has the shapes that it names, and is the same at every call."""

from __future__ import annotations

import pytest
import torch

from sage_attention.testing import graphs

ZOO = graphs.zoo()


def degrees(name: str) -> list[int]:
    case = ZOO[name]
    result: list[int] = torch.bincount(case.edge_index[1], minlength=case.num_dst).tolist()
    return result


@pytest.mark.parametrize("name", ZOO)
def test_cases_are_valid_and_fixed(name: str) -> None:
    case, again = ZOO[name], graphs.zoo()[name]
    assert torch.equal(case.edge_index, again.edge_index)
    src, dst = case.edge_index
    assert ((src >= 0) & (src < case.num_src)).all()
    assert ((dst >= 0) & (dst < case.num_dst)).all()
    assert case.graph().num_edges == len(src)


def test_cases_have_the_shapes_they_name() -> None:
    assert ZOO["empty"].num_dst == 0
    assert degrees("no_edges") == [0] * 5
    assert degrees("isolated_rows").count(0) >= 22
    assert degrees("last_row_empty")[-1] == 0
    assert degrees("one_row") == [5]
    assert max(degrees("hub")) >= 3000
    assert {31, 32, 33, 0} <= set(degrees("degrees_32"))
    assert {1023, 1024, 1025, 0} <= set(degrees("degrees_1024"))
    assert ZOO["many_rows"].num_dst > 65_535
    assert ZOO["random"].num_dst % 16
    assert (ZOO["self_loops"].edge_index[0] == ZOO["self_loops"].edge_index[1]).sum() >= 13
    pairs = ZOO["duplicate_edges"].edge_index.unique(dim=1)
    assert pairs.shape[1] <= 30
