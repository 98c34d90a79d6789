"""The kernel instances in the CUDA library, counted against the budget in budget.toml."""

from __future__ import annotations

import re
import sys
from collections import Counter

import pytest

from elf_file import ElfFile
from repo_files import ROOT, build_dir, library

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

BUDGET = tomllib.loads((ROOT / "tests/repo/budget.toml").read_text(encoding="utf-8"))["cuda"]


@pytest.fixture(scope="module")
def cuda_library() -> ElfFile:
    path = library("lib/*sage_ops_cuda*")
    if path.suffix != ".so":
        pytest.skip("kernels are counted in ELF files only")
    return ElfFile(path)


def kernel_names(elf: ElfFile) -> set[str]:
    """The mangled names that host code registers with the CUDA runtime: they stay as strings."""
    names = {name for name in elf.read_only_strings() if name.startswith("_ZN")}
    return {name for name in names if "_INTERNAL_" not in name}  # CCCL's device variables


def test_instances_are_within_the_budget(cuda_library: ElfFile) -> None:
    names = kernel_names(cuda_library)
    by_file = Counter("cub and thrust" if "3cub" in n or "6thrust" in n else "own" for n in names)
    print(f"{len(names)} kernel instances: {dict(by_file)}")
    assert len(names) > 10, "no kernels found: the way of counting no longer fits the compiler"
    assert len(names) <= BUDGET["kernels"]


def test_every_score_has_its_instances(cuda_library: ElfFile) -> None:
    generated = sorted((build_dir() / "generated/kernels/attention").glob("*_instance.cu"))
    listing = (ROOT / "kernels/attention/score_list.h").read_text(encoding="utf-8")
    scores = re.findall(r"(\w+),?\s*// kernels/attention/scores/\w+\.h", listing)
    assert len(generated) == 3 * len(scores)
    for score in scores:
        assert any(score in name for name in kernel_names(cuda_library)), score


def test_library_size(cuda_library: ElfFile) -> None:
    debug = (".debug", ".symtab", ".strtab")
    size = sum(
        s.size for s in cuda_library.sections if s.kind != 8 and not s.name.startswith(debug)
    )
    assert size <= BUDGET["library_mib"] * 2**20
