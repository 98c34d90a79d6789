"""Random splits of labelled nodes, the same number a class."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def random_split(
    y: Any, train_per_class: int, val_per_class: int = 0, seed: int = 0
) -> dict[str, np.ndarray[Any, Any]]:
    """Index arrays "train", "val" and "test" (the rest), int64 and sorted; the seed fixes them.

    Labels below 0 mean that nothing is known of a node; it is in no part.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"random_split: y must have one label a node, got the shape {y.shape}")
    if not (y >= 0).any():
        raise ValueError("random_split: no node has a label of 0 or more")
    train_per_class = _count("train_per_class", train_per_class, 1)
    val_per_class = _count("val_per_class", val_per_class, 0)
    rng = np.random.default_rng(seed)
    parts: dict[str, list[np.ndarray[Any, Any]]] = {"train": [], "val": [], "test": []}
    for label in np.unique(y[y >= 0]):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) < train_per_class + val_per_class:
            raise ValueError(
                f"random_split: class {label} has {len(members)} nodes, fewer than the "
                f"{train_per_class} + {val_per_class} asked for"
            )
        cut = np.cumsum([train_per_class, val_per_class])
        for name, nodes in zip(parts, np.split(members, cut), strict=True):
            parts[name].append(nodes)
    return {name: np.sort(np.concatenate(nodes)) for name, nodes in parts.items()}


def _count(name: str, value: Any, least: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"random_split: {name} must be a whole number, got {value!r}") from None
    if count < least:
        raise ValueError(f"random_split: {name} must be at least {least}, got {count}")
    return count
