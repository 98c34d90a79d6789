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

    A root is the only folder, where it is given; else $SAGE_DATA_DIR, then the cache.
    """
    if root is not None:
        return [Path(root).expanduser()]
    given = os.environ.get("SAGE_DATA_DIR")
    return ([Path(given).expanduser()] if given else []) + [cache_dir()]


def files_of(entry: Entry, root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Verified paths of an entry's files, in the entry's order; downloads what is missing."""
    folders = search_path(root)
    return [locate(file, folders) for file in entry.files]


def locate(file: File, folders: list[Path]) -> Path:
    """The verified path of one file, in the first folder that has it."""
    for folder in folders:
        path = folder / file.path
        if path.is_file():
            _verify(file, path)
            return path
    target = folders[-1] / file.path
    if file.made_from is None:
        download(file, target)
    else:
        source = locate(file.made_from, folders)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_verified(user_item_lists(source), file, target)
    return target


def _verify(file: File, path: Path) -> None:
    size = path.stat().st_size
    if size != file.size:
        raise DownloadError(f"{path} has {size} bytes, expected {file.size}: remove it to retry")
    found = sha256_of(path)
    if found != file.sha256:
        raise DownloadError(
            f"{path} has the sha256 {found}, expected {file.sha256}: remove it to retry"
        )
