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


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ((0,), ValueError, "train_per_class must be at least 1, got 0"),
        ((-2,), ValueError, "train_per_class must be at least 1, got -2"),
        ((1, -1), ValueError, "val_per_class must be at least 0, got -1"),
        ((3,), ValueError, "class 0 has 2 nodes, fewer than the 3"),
        ((1, 10**20), ValueError, "class 0 has 2 nodes"),
        ((1.5,), TypeError, "train_per_class must be a whole number, got 1.5"),
        ((1, "1"), TypeError, "val_per_class must be a whole number, got '1'"),
    ],
)
def test_counts_that_cannot_be(
    counts: tuple[int, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        random_split([0, 0, 1, 1], *counts)


def test_integers_of_numpy_are_counts() -> None:
    assert len(random_split([0, 0, 1, 1], np.int32(1), np.int64(1))["val"]) == 2


@pytest.mark.parametrize("y", [[], [-1, -1], [[0, 1], [1, 0]], 3])
def test_labels_that_cannot_be_split(y: object) -> None:
    with pytest.raises(ValueError, match=r"random_split: .*(label|shape)"):
        random_split(y, 1)
