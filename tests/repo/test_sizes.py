"""A file has one purpose, said in its first line, and at most 400 lines."""

from __future__ import annotations

import re
from pathlib import Path

from repo_files import CODE, FOLDERS, files, text, top_files

LIMIT = 400
TOP_FOLDERS = {*FOLDERS, "build", "dist"}
# What opens a file: a comment or a docstring with at least three words.
OPENINGS = {
    "cpp": re.compile(r"// \S+ \S+ \S+"),
    "py": re.compile(r'(r?"""|# )\S+ \S+ \S+'),
    "other": re.compile(r"# \S+ \S+ \S+"),
}


def code_files() -> list[Path]:
    named = ("CMakeLists.txt", "Makefile", "pyproject.toml", "run", ".gitignore")
    found = files(*FOLDERS, suffixes=CODE)
    found += [p for p in (*files(*FOLDERS), *top_files()) if p.name in named]
    found += files("requirements") + files("bench", "tests", suffixes=(".toml",))
    return sorted(set(found))


def opening(path: Path) -> re.Pattern[str]:
    if path.suffix in (".h", ".cuh", ".cpp", ".cu", ".in"):
        return OPENINGS["cpp"]
    return OPENINGS["py" if path.suffix in (".py", ".pyi") else "other"]


def test_there_are_files() -> None:
    assert len(code_files()) > 50


def test_length() -> None:
    lengths = {str(path): len(text(path).splitlines()) for path in code_files()}
    assert {path: lines for path, lines in lengths.items() if lines > LIMIT} == {}


def test_first_line_says_the_purpose() -> None:
    without = {}
    for path in code_files():
        lines = text(path).splitlines() or [""]
        first = lines[1] if lines[0].startswith("#!") else lines[0]
        if not opening(path).match(first) and not (path.name == "__init__.py" and not first):
            without[str(path)] = first
    assert without == {}


def test_examples_are_short() -> None:
    long = {
        str(path): len(text(path).splitlines())
        for path in files("examples", suffixes=(".py", ".cpp"))
        if len(text(path).splitlines()) > (200 if "recommend" in path.stem else 80)
    }
    assert long == {}


def test_top_level_folders_are_fixed() -> None:
    root = Path(__file__).resolve().parents[2]
    found = {p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")}
    assert found - TOP_FOLDERS == set()
