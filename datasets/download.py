"""Downloads one file: resumes, verifies the checksum, and puts the file in place in one step.

The bytes arrive in a file of this process's own beside the target, which only a verified file ever
replaces. What an interrupted download leaves is taken up by the next one, of any process.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .registry import File

TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 4
STALE = 120.0  # seconds without a write after which a partial file has no owner any more
BLOCK = 1 << 16

Advance = Callable[[int], None]  # told how many bytes are there


class DownloadError(OSError):
    """A file could not be had, or is not the file that was expected."""


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(file: File, target: Path, *, attempts: int = ATTEMPTS, pause: float = 1.0) -> None:
    """Brings `file` to `target`; afterwards its checksum is the one in the registry.

    A broken connection is taken up again where it broke, `attempts` times in all, after `pause`
    seconds, twice as many each time. Raises DownloadError; then no file is at `target`.
    """
    with _partial(target) as part, _progress(target.name, file.size) as advance:
        _transfer(file, part, advance, attempts, pause)
        found = sha256_of(part)
        if found != file.sha256:
            part.unlink()
            raise DownloadError(
                f"{file.url} has the sha256 {found}, expected {file.sha256}: "
                "the file at the source is another one, and was not kept"
            )
        os.replace(part, target)


def write_verified(content: bytes, file: File, target: Path) -> None:
    """Writes computed bytes to `target` in one step, if they have the checksum of `file`."""
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DownloadError(f"{target.name} came out with the sha256 {found}, not {file.sha256}")
    part = _fresh(target)
    try:
        with _opened(part) as out:
            out.write(content)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _transfer(file: File, part: Path, advance: Advance, attempts: int, pause: float) -> None:
    for attempt in range(attempts):
        try:
            _receive(file, part, advance)
            if part.stat().st_size == file.size:
                return
            error: Exception = OSError(
                f"the connection ended after {part.stat().st_size} of {file.size} bytes"
            )
        except DownloadError:
            raise
        except urllib.error.HTTPError as failure:
            if failure.code < 500 and failure.code not in (408, 416, 429):
                raise _failed(file, failure) from failure
            error = failure
        except (OSError, http.client.HTTPException) as failure:
            error = failure
        if attempt + 1 < attempts:
            time.sleep(pause * 2**attempt)
    raise _failed(file, error) from error


def _receive(file: File, part: Path, advance: Advance) -> None:
    """One connection: appends to `part`, or starts over where the server does not resume."""
    have = part.stat().st_size if part.exists() else 0
    if have == file.size:
        return
    if have > file.size:
        part.unlink()
        have = 0
    headers = {"User-Agent": "sage_attention", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(file.url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the source is shorter than what is here: not the same file
            part.unlink(missing_ok=True)
        raise
    with response, _opened(part) as out:
        if not _resumes_at(response, have):
            have = 0
            out.truncate(0)
        advance(have)
        while block := response.read(BLOCK):
            have += len(block)
            if have > file.size:
                out.truncate(0)
                raise DownloadError(
                    f"{file.url} sent more than the expected {file.size} bytes: the file at the "
                    "source is another one, and was not kept"
                )
            out.write(block)
            advance(have)


def _opened(part: Path) -> BinaryIO:
    """A partial file, to append to; its folder is made only now that there is something to keep."""
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        return part.open("ab")
    except OSError as error:
        raise DownloadError(f"cannot write into the folder {part.parent}: {error}") from error


def _resumes_at(response: Any, have: int) -> bool:
    if response.status != 206:
        return False
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return match is not None and int(match.group(1)) == have


def _failed(file: File, error: Exception) -> DownloadError:
    return DownloadError(
        f"could not download {file.url}: {error}. Without a network, put the file at "
        f"{file.path} below a folder of your own and set SAGE_DATA_DIR to that folder"
    )


@contextlib.contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A partial file that only this process writes; what is left of it goes back for the next."""
    shared = target.with_name(target.name + ".part")
    part = _fresh(target)
    now = time.time()
    for left in (shared, *target.parent.glob(target.name + ".*.part")):
        with contextlib.suppress(OSError):  # another process was faster
            if left == shared or now - left.stat().st_mtime > STALE:
                os.replace(left, part)
                break
    try:
        yield part
    finally:
        if part.exists():
            os.replace(part, shared)


def _fresh(target: Path) -> Path:
    return target.with_name(f"{target.name}.{uuid.uuid4().hex[:12]}.part")


@contextlib.contextmanager
def _progress(name: str, size: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"Downloading {name}", total=size)
        yield lambda have: progress.update(task, completed=have)
