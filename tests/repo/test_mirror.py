"""tests/ mirrors the source tree: a test has its source, and a kernel or module has its test."""

from __future__ import annotations

import re
from pathlib import Path

from repo_files import ROOT, files, text

GTEST_FOLDERS = ("kernels", "sampling", "csrc")
SOURCES = (".h", ".cuh", ".cpp", ".cu", ".cpp.in", ".cu.in")


def gtests() -> list[Path]:
    folders = [f"tests/{folder}" for folder in GTEST_FOLDERS]
    return [p for p in files(*folders, suffixes=(".cpp", ".cu")) if p.stem.endswith("_test")]


def kernel_sources() -> list[Path]:
    """The files whose names say that they hold an operation: *_cpu.cpp and *_cuda.cu."""
    return [
        path
        for path in files("kernels", "sampling", suffixes=(".cpp", ".cu"))
        if path.stem.endswith("_cpu" if path.suffix == ".cpp" else "_cuda")
    ]


def python_modules() -> list[tuple[Path, Path]]:
    """The public modules, each with the folder under tests/python that mirrors its own."""
    found = []
    for root, mirror in (("python/sage_attention", ""), ("datasets", "datasets")):
        for path in files(root, suffixes=(".py",)):
            if not path.name.startswith("_"):
                inside = path.parent.relative_to(root)
                found.append((path, Path("tests/python") / mirror / inside))
    return found


def test_a_test_has_its_source() -> None:
    stray = []
    for path in gtests():
        folder = ROOT / path.relative_to("tests").parent
        name = path.stem.removesuffix("_test")  # forward_cuda: forward_cuda.cu or forward.cuh
        stems = (name, name.removesuffix("_cuda").removesuffix("_cpu"))
        if not any((folder / f"{stem}{suffix}").is_file() for stem in stems for suffix in SOURCES):
            stray.append(str(path))
    assert stray == []


def test_a_kernel_has_its_test() -> None:
    tests = [Path("tests") / p.with_name(f"{p.stem}_test{p.suffix}") for p in kernel_sources()]
    assert [str(test) for test in tests if not (ROOT / test).is_file()] == []


def test_a_python_module_has_its_test() -> None:
    without = [
        str(module)
        for module, folder in python_modules()
        if not list((ROOT / folder).glob(f"test_{module.stem}*.py"))
    ]
    assert without == []


def test_python_tests_are_named_for_pytest() -> None:
    helpers = ("conftest.py", "__init__.py")
    folders = [p for p in files("tests/python", suffixes=(".py",)) if p.name not in helpers]
    stray = [str(p) for p in folders if not p.name.startswith(("test_", "_"))]
    assert stray == []


def test_every_source_is_built() -> None:
    """Lists in CMake are explicit: a file that none names would never be compiled or tested."""
    lists = "".join(text(Path(p)) for p in ("CMakeLists.txt", "tests/CMakeLists.txt"))
    folders = ("kernels", "sampling", "csrc")
    sources = files(*folders, suffixes=(".cpp", ".cu", ".in"))
    tests = [path.relative_to("tests") for path in gtests()]
    named = set(re.findall(r"[\w./]+", lists))
    assert [str(path) for path in (*sources, *tests) if str(path) not in named] == []
