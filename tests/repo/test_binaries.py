"""The ABI rules of the package's binaries: what they need, what they export, what is where."""

from __future__ import annotations

import pytest

from elf_file import FUNC, OBJECT, UNIQUE, WEAK, ElfFile
from repo_files import build_dir, library

SYSTEM = {
    "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "librt.so.1",
    "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}  # fmt: skip
BINARIES = {
    "lib/libsage_ops_cpu.so": {"libtorch_cpu.so"},
    "lib/libsage_ops_cuda*.so": {"libtorch_cpu.so"},
    "_core*.so": set[str](),
}


@pytest.mark.parametrize("name", BINARIES)
def test_needs_only_what_its_rule_allows(name: str) -> None:
    elf = ElfFile(library(name))
    assert set(elf.needed()) - SYSTEM <= BINARIES[name]
    assert elf.search_paths() == []


@pytest.mark.parametrize("name", BINARIES)
def test_exports_nothing_but_a_module_entry(name: str) -> None:
    symbols = ElfFile(library(name)).symbols(dynamic=True)
    exported = {s.name for s in symbols if s.defined and s.name and s.kind in (FUNC, OBJECT)}
    assert {name for name in exported if not name.startswith("PyInit_")} == set()


@pytest.mark.parametrize(("isa", "value"), [("avx2", 1), ("avx512", 2)])
def test_code_for_newer_processors_stays_in_its_namespace(isa: str, value: int) -> None:
    """The linker keeps one copy of a weak symbol: it must not be one that needs AVX-512."""
    objects = sorted((build_dir() / "CMakeFiles" / f"sage_kernels_{isa}.dir").rglob("*.o"))
    if not objects:
        pytest.skip("this build has no variants for instruction sets")
    marks = (f"{len(isa)}{isa}", f"3IsaE{value}E")  # namespace sage::avx2, Isa::avx2 as an argument
    shared = {
        f"{path.name}: {symbol.name}"
        for path in objects
        for symbol in ElfFile(path).symbols()
        if symbol.defined and symbol.binding in (WEAK, UNIQUE) and symbol.kind in (FUNC, OBJECT)
        if not symbol.name.startswith("DW.ref.") and not any(m in symbol.name for m in marks)
    }
    assert shared == set()
