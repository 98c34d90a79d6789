"""Downloads from a loopback server: resume, checksum, interruption, and servers that misbehave."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sage_attention.datasets import download as module
from sage_attention.datasets.download import DownloadError, download, write_verified
from sage_attention.datasets.registry import File

CONTENT = bytes(range(256)) * 1200  # several blocks


@dataclass
class Server:
    """A server of CONTENT, and how it misbehaves."""

    url: str = ""
    body: bytes = CONTENT
    status: int = 0  # answers every request with this error
    ranges: bool = True  # False: ignores Range
    shift: int = 0  # a partial answer starts this many bytes too late
    cut: list[int] = field(default_factory=list)  # bytes after which the n-th answer breaks off
    asked: list[str | None] = field(default_factory=list)  # Range headers that came

    def file(self, sha256: str = "") -> File:
        digest = sha256 or hashlib.sha256(CONTENT).hexdigest()
        return File("folder/data.bin", len(CONTENT), digest, self.url)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Starts the server on a free port."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.asked.append(wanted)
            if state.status:
                self.send_error(state.status)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if wanted and state.ranges and start >= len(state.body):
                self.send_error(416)
                return
            if wanted and state.ranges:
                start += state.shift
                self.send_response(206)
                last = len(state.body) - 1
                self.send_header("Content-Range", f"bytes {start}-{last}/{last + 1}")
            else:
                start = 0
                self.send_response(200)
            body = state.body[start:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut.pop(0)] if state.cut else body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_address[1]}/data.bin"
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield state
        http.shutdown()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_whole(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "new" / "data.bin"
    download(server.file(), target)
    assert target.read_bytes() == CONTENT
    assert names(target.parent) == ["data.bin"]
    assert server.asked == [None]


def test_resumes_after_a_broken_connection(server: Server, tmp_path: Path) -> None:
    server.cut = [100_000, 50_000]
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert server.asked[0] is None
    assert server.asked[1] == "bytes=100000-"
    assert server.asked[2] == "bytes=150000-"


def test_gives_up_but_keeps_what_came(server: Server, tmp_path: Path) -> None:
    server.cut = [100_000, 0]
    with pytest.raises(DownloadError, match="100000 of 307200 bytes"):
        download(server.file(), tmp_path / "data.bin", attempts=2, pause=0)
    assert names(tmp_path) == ["data.bin.part"]
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert server.asked[-1] == "bytes=100000-"
    assert names(tmp_path) == ["data.bin"]


@pytest.mark.parametrize("misbehaviour", [{"ranges": False}, {"shift": 10}])
def test_starts_over_where_the_server_does_not_resume(
    server: Server, tmp_path: Path, misbehaviour: dict[str, int]
) -> None:
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:70_000])
    for name, value in misbehaviour.items():
        setattr(server, name, value)
    if server.shift:  # such an answer is useless: only a whole one can help
        with pytest.raises(DownloadError):
            download(server.file(), tmp_path / "data.bin", attempts=1, pause=0)
        assert not (tmp_path / "data.bin").exists()
        return
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert server.asked == ["bytes=70000-"]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_wrong_checksum_is_not_kept(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="expected 0000"):
        download(server.file(sha256="0" * 64), tmp_path / "data.bin", pause=0)
    assert names(tmp_path) == []


def test_damaged_partial_file_is_not_kept(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(b"x" * 70_000)
    with pytest.raises(DownloadError, match="sha256"):
        download(server.file(), tmp_path / "data.bin", pause=0)
    assert names(tmp_path) == []
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("body", [CONTENT + b"more", CONTENT[:1000], b""])
def test_other_length_at_the_source(server: Server, tmp_path: Path, body: bytes) -> None:
    server.body = body
    with pytest.raises(DownloadError):
        download(server.file(), tmp_path / "data.bin", attempts=2, pause=0)
    assert not (tmp_path / "data.bin").exists()


def test_partial_file_longer_than_the_source(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(CONTENT + b"more")
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert server.asked == [None]
    assert names(tmp_path) == ["data.bin"]


@pytest.mark.parametrize(("status", "requests"), [(404, 1), (403, 1), (503, 3), (429, 3)])
def test_errors_say_what_to_do(server: Server, tmp_path: Path, status: int, requests: int) -> None:
    server.status = status
    with pytest.raises(DownloadError, match=f"{status}.*folder/data.bin.*SAGE_DATA_DIR"):
        download(server.file(), tmp_path / "data.bin", attempts=3, pause=0)
    assert len(server.asked) == requests
    assert names(tmp_path) == []


def test_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    nowhere = File("data.bin", 10, "0" * 64, "http://127.0.0.1:9/data.bin")
    with pytest.raises(DownloadError, match="could not download"):
        download(nowhere, tmp_path / "data.bin", attempts=1)


def test_interruption_leaves_a_resumable_part(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rich.progress

    def interrupt(self: object, task: object, completed: int) -> None:
        if completed > 100_000:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rich.progress.Progress, "update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            download(server.file(), tmp_path / "data.bin", pause=0)
    assert names(tmp_path) == ["data.bin.part"]
    have = (tmp_path / "data.bin.part").stat().st_size
    assert 100_000 < have < len(CONTENT)
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert server.asked[-1] == f"bytes={have}-"
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("owner_lives", [True, False])
def test_partial_file_of_another_process(server: Server, tmp_path: Path, owner_lives: bool) -> None:
    part = tmp_path / "data.bin.0123456789ab.part"
    part.write_bytes(CONTENT[:5000])
    age = 0.0 if owner_lives else module.STALE + 60
    os.utime(part, (time.time() - age,) * 2)
    download(server.file(), tmp_path / "data.bin", pause=0)
    assert server.asked == [None if owner_lives else "bytes=5000-"]
    assert part.exists() == owner_lives


def test_at_the_same_time(server: Server, tmp_path: Path) -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            download(server.file(), tmp_path / "data.bin", pause=0)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(tmp_path) == ["data.bin"]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match=r"cannot write into the folder .*file"):
        download(server.file(), tmp_path / "file" / "data.bin")
    assert len(server.asked) == 1  # another attempt would not help


def test_folder_is_made_for_content_only(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(DownloadError, match="404"):
        download(server.file(), tmp_path / "new" / "data.bin", attempts=1)
    assert names(tmp_path) == []


def test_write_verified(server: Server, tmp_path: Path) -> None:
    write_verified(CONTENT, server.file(), tmp_path / "data.bin")
    assert names(tmp_path) == ["data.bin"]
    with pytest.raises(DownloadError, match="sha256"):
        write_verified(b"other", server.file(), tmp_path / "other.bin")
    assert names(tmp_path) == ["data.bin"]
