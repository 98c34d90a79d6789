"""The registered ops are those that the enabled op groups declare, no more and no fewer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repo_files import library

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found = json.loads(library("op_groups.json").read_text(encoding="utf-8"))
    if not found["built"]:
        pytest.skip("this build has no op libraries")
    return dict(found)


@pytest.fixture(scope="module")
def schemas() -> set[str]:
    """Ops under sage:: with a schema, once the CPU library is loaded."""
    torch.ops.load_library(str(library("lib/*sage_ops_cpu.*")))
    names = torch._C._dispatch_get_all_op_names()
    return {name.removeprefix("sage::") for name in names if name.startswith("sage::")}


def declared(document: dict[str, Any], *kinds: str) -> set[str]:
    groups = [group for group in document["groups"].values() if group["enabled"]]
    return {op for group in groups for kind in kinds for op in group[kind]}


def with_kernel(ops: set[str], key: str) -> set[str]:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return {op for op in ops if has_kernel(f"sage::{op}", key)}


def test_schemas(document: dict[str, Any], schemas: set[str]) -> None:
    assert schemas == declared(document, "ops", "cuda_ops")


def test_no_op_is_in_two_groups(document: dict[str, Any]) -> None:
    ops = [op for group in document["groups"].values() for op in group["ops"] + group["cuda_ops"]]
    assert len(ops) == len(set(ops))


def test_cpu_kernels(document: dict[str, Any], schemas: set[str]) -> None:
    assert with_kernel(schemas, "CPU") == declared(document, "ops")


def test_cuda_kernels(document: dict[str, Any], schemas: set[str]) -> None:
    """Needs no GPU, and no PyTorch with CUDA: the library loads and registers anywhere."""
    if document["cuda"] is None:
        pytest.skip("this build has no CUDA ops")
    torch.ops.load_library(str(library("lib/*sage_ops_cuda*")))
    assert with_kernel(schemas, "CUDA") == declared(document, "ops", "cuda_ops")
