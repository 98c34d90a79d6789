"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib

import pytest
import torch

import sage_attention

MODULES = [
    "sage_attention",
    "sage_attention._build",
    "sage_attention.block",
    "sage_attention.graph",
    "sage_attention.nn.sage_attention_conv",
    "sage_attention.ops.aggregate",
    "sage_attention.ops.attention",
    "sage_attention.ops.segment",
    "sage_attention.testing",
    "sage_attention.testing.graphs",
    "sage_attention.testing.oracles",
    "sage_attention.testing.tolerances",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    names = {"torch": torch, "Graph": sage_attention.Graph, "Block": sage_attention.Block}
    result = doctest.testmod(module, extraglobs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def test_public_names_are_documented() -> None:
    for holder in (sage_attention.ops, sage_attention.nn, sage_attention.testing):
        for name in holder.__all__:
            assert getattr(holder, name).__doc__, name
