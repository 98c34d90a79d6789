"""Who may include whom: kernels/core at the bottom, then kernels and sampling, csrc, Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_files import CPP, files, imports, includes, text

# folder -> prefixes of the repository's own headers that its files may include
ALLOWED = {
    "kernels/core": ("kernels/core/",),
    "kernels/segment": ("kernels/core/", "kernels/segment/"),
    "kernels/attention": ("kernels/core/", "kernels/attention/"),
    "sampling": ("kernels/core/", "sampling/"),
    "csrc/torch": ("kernels/", "sampling/", "csrc/torch/"),
    "csrc/python": ("kernels/", "sampling/", "csrc/python/"),
    "csrc/c_api": ("kernels/", "sampling/", "csrc/c_api/", "csrc/include/", "sage_attention/"),
}
OWN = ("kernels/", "sampling/", "csrc/", "tests/", "bench/", "sage_attention/")
TORCH_STABLE = ("torch/csrc/stable/", "torch/headeronly/", "torch/csrc/inductor/aoti_torch/c/")
HOST_SUFFIXES = (".h", ".cpp")


def cpp_files(folder: str) -> list[Path]:
    return files(folder, suffixes=CPP)


@pytest.mark.parametrize("folder", ALLOWED)
def test_own_headers(folder: str) -> None:
    bad = [
        f"{path} includes {header}"
        for path in cpp_files(folder)
        for header in includes(path)
        if header.startswith(OWN) and not header.startswith(ALLOWED[folder])
    ]
    assert bad == []


def test_every_source_folder_has_a_rule() -> None:
    sources = [*cpp_files("kernels"), *cpp_files("sampling"), *cpp_files("csrc")]
    without = [str(p) for p in sources if not str(p).startswith((*ALLOWED, "csrc/include"))]
    assert without == []


def test_own_headers_are_named_from_the_root() -> None:
    """`#include "x.h"` would depend on the folder of the includer, and hide its layer."""
    folders = ("kernels", "sampling", "csrc")
    bad = [
        f"{path} includes {line}"
        for path in files(*folders, suffixes=CPP)
        for line in text(path).splitlines()
        if line.startswith('#include "') and not line[10:].startswith((*OWN, "@"))
    ]
    assert bad == []


def test_torch_only_through_the_stable_abi_and_only_in_csrc_torch() -> None:
    bad = []
    for path in files("kernels", "sampling", "csrc", suffixes=CPP):
        for header in includes(path):
            is_torch = header.startswith(("torch/", "ATen/", "c10/", "caffe2/"))
            allowed = header.startswith(TORCH_STABLE) and path.parts[:2] == ("csrc", "torch")
            if is_torch and not allowed:
                bad.append(f"{path} includes {header}")
    assert bad == []


def test_python_headers_only_in_csrc_python() -> None:
    bad = [
        f"{path} includes {header}"
        for path in files("kernels", "sampling", "csrc", suffixes=CPP)
        for header in includes(path)
        if header.startswith(("pybind11/", "Python.h")) and path.parts[:2] != ("csrc", "python")
    ]
    assert bad == []


def test_no_posix_or_vendor_headers() -> None:
    posix = ("unistd.h", "sys/", "pthread.h", "dirent.h", "fcntl.h", "strings.h", "bits/")
    bad = [
        f"{path} includes {header}"
        for path in files("kernels", "sampling", "csrc", suffixes=CPP)
        for header in includes(path)
        if header.startswith(posix) and not path.stem.startswith("os_")
    ]
    assert bad == []


def test_only_pyg_imports_torch_geometric() -> None:
    bad = [
        str(path)
        for path in files("python", "datasets", suffixes=(".py", ".pyi"))
        if path.parts[:3] != ("python", "sage_attention", "pyg")
        for module in imports(path)
        if module.split(".")[0] in ("torch_geometric", "torch_scatter", "torch_sparse", "pyg_lib")
    ]
    assert bad == []


def test_package_imports_nothing_from_outside_it() -> None:
    outside = ("bench", "tests", "examples", "datasets", "harness", "baselines")
    bad = [
        f"{path} imports {module}"
        for path in files("python", "datasets", suffixes=(".py", ".pyi"))
        for module in imports(path)
        if module.split(".")[0] in outside
    ]
    assert bad == []
