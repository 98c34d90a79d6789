"""The documentation: its Python blocks run, its links lead somewhere, and the API page is whole."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = ("bench", "csrc", "datasets", "kernels", "python", "sampling", "tests")
OPTIONAL = {"matplotlib", "scipy", "sklearn", "torch_geometric"}
SCREEN = 45  # lines
whole_tree = pytest.mark.skipif(
    not (ROOT / "kernels").is_dir(), reason="needs the source tree, which a bundle does not have"
)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def python_blocks(text: str) -> list[tuple[int, str]]:
    """(line before the block, source) of every fenced block marked as python."""
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, m.start()) + 1, m[1]) for m in found]


def run_block(source: str, names: dict[str, Any], where: str, line: int) -> None:
    if not source.startswith(">>>"):
        exec(compile("\n" * line + source, where, "exec"), names)
        return
    example = doctest.DocTestParser().get_doctest(source, names, where, where, line)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    failed = runner.run(example, out=output.append, clear_globs=False).failed
    names.update(example.globs)
    text = "".join(output)
    missing = re.search(r"^ *ModuleNotFoundError: No module named '([\w.]+)'", text, re.MULTILINE)
    if missing:
        raise ModuleNotFoundError(text, name=missing[1].split(".")[0])
    assert not failed, text


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for line, source in python_blocks(page.read_text(encoding="utf-8")):
        try:
            run_block(source, names, name_of(page), line)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
            pytest.skip(f"{name_of(page)}, from line {line}, needs {error.name}")


@whole_tree
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


@whole_tree
@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(name: str) -> None:
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / name).read_text(encoding="utf-8"))
    made = ("build/", "dist/", "./")
    missing = [n for n in named if not n.startswith(made) and not (ROOT / n).exists()]
    assert missing == []


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert re.findall(r"\((\d{4}-[\w-]+\.md)\)", index) == pages


def test_the_api_page_has_every_public_name_and_no_other() -> None:
    package = importlib.import_module("sage_attention")
    listed = set(re.findall(r"^### `([\w.]+)`$", (ROOT / "docs/api.md").read_text(), re.MULTILINE))
    modules = {"datasets", "nn", "ops", "testing"}
    public = set(package.__all__) - modules
    for module in modules:
        names = importlib.import_module(f"sage_attention.{module}").__all__
        public |= {f"{module}.{name}" for name in names}
    assert listed == public


@whole_tree
@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_say_what_belongs_there_on_one_screen(folder: str) -> None:
    lines = (ROOT / folder / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {folder}"
    assert len(lines) <= SCREEN
    text = "\n".join(lines)
    for heading in ("Belongs here", "Does not belong here", "To add"):
        assert heading in text, f"{folder}/README.md has no part '{heading}'"
