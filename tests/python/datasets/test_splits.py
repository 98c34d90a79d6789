"""random_split: the same number a class, fixed by the seed."""

from __future__ import annotations

import numpy as np
import pytest
from sage_attention.datasets import random_split


def test_random_split_is_fixed_by_its_seed() -> None:
    y = np.array([0, 1, -1] * 40)
    first, again, other = (random_split(y, 5, 3, seed) for seed in (1, 1, 2))
    for part in first:
        np.testing.assert_array_equal(first[part], again[part])
    assert first["train"].tolist() != other["train"].tolist()
    assert np.bincount(y[first["train"]]).tolist() == [5, 5]
    assert sum(len(nodes) for nodes in first.values()) == 80
    assert len(random_split(y, 40)["test"]) == 0
    with pytest.raises(ValueError, match="class 0 has 40 nodes"):
        random_split(y, 39, 2)
