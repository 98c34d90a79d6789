"""Where files are looked for, and where they are downloaded to."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from sage_attention.datasets import DownloadError, cache_dir, store
from sage_attention.datasets.registry import Entry, File


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, moved below tmp_path, with SAGE_DATA_DIR unset."""
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.delenv("SAGE_DATA_DIR", raising=False)
    return cache_dir()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Targets of downloads, which write "content" here."""
    targets: list[Path] = []

    def download(file: File, target: Path) -> None:
        targets.append(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"content")

    monkeypatch.setattr(store, "download", download)
    return targets


FILE = File("folder/a.bin", 7, hashlib.sha256(b"content").hexdigest(), "https://host/a.bin")


def put(folder: Path) -> Path:
    path = folder / FILE.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"content")
    return path


def test_downloads_into_the_cache_once(cache: Path, tmp_path: Path, fetched: list[Path]) -> None:
    assert tmp_path in cache.parents
    for _ in range(2):
        assert store.locate(FILE, store.search_path()) == cache / FILE.path
    assert fetched == [cache / FILE.path]


def test_environment_variable_comes_before_the_cache(
    cache: Path, tmp_path: Path, fetched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "given").mkdir()
    monkeypatch.setenv("SAGE_DATA_DIR", str(tmp_path / "given"))
    assert store.locate(FILE, store.search_path()) == cache / FILE.path  # not in given: downloaded
    path = put(tmp_path / "given")
    assert store.locate(FILE, store.search_path()) == path
    assert len(fetched) == 1


def test_root_is_the_only_folder(
    cache: Path, tmp_path: Path, fetched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGE_DATA_DIR", str(tmp_path / "given"))
    put(tmp_path / "given")
    put(cache)
    (tmp_path / "root").mkdir()
    wanted = tmp_path / "root" / FILE.path
    assert store.locate(FILE, store.search_path(tmp_path / "root")) == wanted
    assert fetched == [wanted]


ENTRY = Entry("small", "Small", "digits", (FILE,), "none", "")


@pytest.mark.parametrize("what", ["missing", "a file"])
@pytest.mark.parametrize("name", ["root", "SAGE_DATA_DIR"])
def test_a_named_folder_must_exist(
    cache: Path, tmp_path: Path, fetched: list[Path], monkeypatch: pytest.MonkeyPatch,
    name: str, what: str,
) -> None:  # fmt: skip
    wrong = tmp_path / "wrong"
    if what == "a file":
        wrong.write_text("")
    put(cache)
    if name == "SAGE_DATA_DIR":
        monkeypatch.setenv(name, str(wrong))
    before = sorted(tmp_path.rglob("*"))
    message = f"^{name} is '.*wrong', which is no folder; .*{re.escape(str(cache))}$"
    with pytest.raises(FileNotFoundError, match=message):
        store.files_of(ENTRY, wrong if name == "root" else None)
    assert fetched == []
    assert sorted(tmp_path.rglob("*")) == before


def test_no_folder_is_needed_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGE_DATA_DIR", "no/such/folder")
    assert store.files_of(Entry("made", "Made", "digits", (), "none", "")) == []


def test_says_where_it_downloads_to(
    cache: Path, fetched: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for said in (f"small: downloading into {cache}\n", ""):
        assert store.files_of(ENTRY) == [cache / FILE.path]
        assert capsys.readouterr().err == said


@pytest.mark.parametrize("wrong", ["size", "content", "folder"])
def test_wrong_file_is_named_with_what_to_do(tmp_path: Path, wrong: str) -> None:
    path = put(tmp_path)
    found = {"size": "has 5 bytes, expected 7", "content": "has the sha256 .*, expected .*"}
    if wrong == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(b"short" if wrong == "size" else b"Content")
    said = found.get(wrong, "is no file")
    where = re.escape(str(tmp_path))
    with pytest.raises(
        DownloadError, match=f"^{where}.*a.bin is .*: it {said}. Put .* remove it .* into {where}$"
    ):
        store.files_of(ENTRY, tmp_path)


def test_file_that_is_made_from_another(tmp_path: Path) -> None:
    lists = b"0 0 2\n1 0 1\n"
    source = tmp_path / "adjacency.npz"
    np.savez(source, indptr=[0, 2, 4, 6, 7, 8], indices=[4, 2, 2, 3, 0, 1, 1, 0])
    content = source.read_bytes()
    origin = File("adjacency.npz", len(content), hashlib.sha256(content).hexdigest(), "https://h")
    made = File("made/a.txt", len(lists), hashlib.sha256(lists).hexdigest(), made_from=origin)
    assert store.locate(made, [tmp_path]) == tmp_path / "made" / "a.txt"
    assert (tmp_path / "made" / "a.txt").read_bytes() == lists
