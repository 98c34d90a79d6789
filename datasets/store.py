"""Finds the files of a data set: in a folder of the caller's, or downloaded into the cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .download import DownloadError, download, sha256_of, write_verified
from .readers import user_item_lists
from .registry import Entry, File


def cache_dir() -> Path:
    """The user's own folder for downloaded data sets, by the custom of the platform."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "sage_attention" / "datasets"


def search_path(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """The folders that are searched; what is missing is downloaded into the last of them.

    A root is the only folder, where it is given; else $SAGE_DATA_DIR, then the cache. Folders that
    the user names must exist, else a slip of the pen would start a download to the wrong place.
    """
    if root is not None:
        return [_existing("root", root, f"leave root out to download into {cache_dir()}")]
    given = os.environ.get("SAGE_DATA_DIR")
    if not given:
        return [cache_dir()]
    return [_existing("SAGE_DATA_DIR", given, f"unset it to use {cache_dir()}"), cache_dir()]


def _existing(name: str, folder: str | os.PathLike[str], otherwise: str) -> Path:
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(
            f"{name} is {os.fspath(folder)!r}, which is no folder; "
            f"correct it, make it, or {otherwise}"
        )
    return path


def files_of(entry: Entry, root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Verified paths of an entry's files, in the entry's order; downloads what is missing."""
    if not entry.files:
        return []
    folders = search_path(root)
    if not all(any((folder / file.path).exists() for folder in folders) for file in entry.files):
        print(f"{entry.name}: downloading into {folders[-1]}", file=sys.stderr)
    return [locate(file, folders) for file in entry.files]


def locate(file: File, folders: list[Path]) -> Path:
    """The verified path of one file, in the first folder that has it."""
    for folder in folders:
        path = folder / file.path
        if path.exists():
            wrong = _difference(file, path)
            if wrong:
                raise DownloadError(
                    f"{path} is damaged, or not the published file: it {wrong}. Put the right one "
                    f"there, or remove it and load again: it is then downloaded into {folders[-1]}"
                )
            return path
    target = folders[-1] / file.path
    if file.made_from is None:
        download(file, target)
    else:
        write_verified(user_item_lists(locate(file.made_from, folders)), file, target)
    return target


def _difference(file: File, path: Path) -> str:
    """What tells `path` from the registered file; nothing where it is the same."""
    if not path.is_file():
        return "is no file"
    size = path.stat().st_size
    if size != file.size:
        return f"has {size} bytes, expected {file.size}"
    found = sha256_of(path)
    return "" if found == file.sha256 else f"has the sha256 {found}, expected {file.sha256}"
