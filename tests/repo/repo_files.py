"""The repository's files and the build that is under test, for the tests in this folder."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    ".ci", "bench", "cmake", "csrc", "datasets", "docs", "examples", "kernels", "python",
    "requirements", "sampling", "tests",
)  # fmt: skip
CPP = (".h", ".cuh", ".cpp", ".cu", ".in")
CODE = (*CPP, ".py", ".pyi", ".cmake", ".sh", ".map")
_SKIPPED = {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache", "results", "data"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def files(*folders: str, suffixes: tuple[str, ...] = ()) -> list[Path]:
    """All files under the folders, sorted, relative to ROOT; with one of the suffixes, if given."""
    found: list[Path] = []
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            relative = path.relative_to(ROOT)
            if path.is_file() and not _SKIPPED & set(relative.parts):
                found.append(relative)
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def top_files() -> list[Path]:
    """The files of the repository's own folder."""
    return sorted(path.relative_to(ROOT) for path in ROOT.iterdir() if path.is_file())


def text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def includes(path: Path) -> list[str]:
    """What a C++ file includes, in order."""
    return _INCLUDE.findall(text(path))


def imports(path: Path) -> Iterator[str]:
    """The absolute module names that a Python file imports, anywhere in it."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def build_dir() -> Path:
    """The build under test: SAGE_BUILD_DIR, else build/dev. Skips the test where there is none."""
    path = Path(os.environ.get("SAGE_BUILD_DIR", ROOT / "build" / "dev"))
    if not (path / "CMakeCache.txt").is_file():
        pytest.skip(f"{path} is no build; run make build")
    return path


def library(name: str) -> Path:
    """A built library of the package, the newest that matches; skips the test without it."""
    matches = sorted((build_dir() / "package/sage_attention").glob(name))
    if not matches:
        pytest.skip(f"{name} is not in this build")
    return matches[-1]
