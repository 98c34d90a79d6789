"""The registered ops are those that the enabled op groups declare, no more and no fewer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repo_files import library

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    document = json.loads(library("op_groups.json").read_text(encoding="utf-8"))
    if not document["built"]:
        pytest.skip("this build has no op libraries")
    return dict(document)


@pytest.fixture(scope="module")
def registered() -> set[str]:
    """Names under sage:: whose schema was defined in C++, by loading the libraries."""
    torch.ops.load_library(str(library("lib/*sage_ops_cpu.*")))
    return {
        name.removeprefix("sage::").split(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("sage::")
    }


def test_ops_and_groups_agree(declared: dict[str, Any], registered: set[str]) -> None:
    groups = declared["groups"].values()
    enabled = {op for group in groups if group["enabled"] for op in group["ops"]}
    defined_by_python = {
        name for name in registered if torch._library.utils.lookup_op(f"sage::{name}") is None
    }
    assert registered - defined_by_python == enabled


def test_no_op_is_in_two_groups(declared: dict[str, Any]) -> None:
    ops = [op for group in declared["groups"].values() for op in group["ops"]]
    assert len(ops) == len(set(ops))


def test_each_op_has_a_cpu_kernel(declared: dict[str, Any], registered: set[str]) -> None:
    without = [
        op
        for group in declared["groups"].values()
        if group["enabled"]
        for op in group["ops"]
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"sage::{op}", "CPU")
    ]
    assert without == []


def test_each_op_has_a_cuda_kernel(declared: dict[str, Any], registered: set[str]) -> None:
    """Registration needs no GPU, and no PyTorch with CUDA: the library loads anywhere."""
    if declared["cuda"] is None:
        pytest.skip("this build has no CUDA ops")
    torch.ops.load_library(str(library("lib/*sage_ops_cuda*")))
    without = [
        op
        for group in declared["groups"].values()
        if group["enabled"]
        for op in group["ops"]
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"sage::{op}", "CUDA")
    ]
    assert without == []
