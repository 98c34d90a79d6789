"""The bundle for GPU machines: its size limit, its modules, and what it refuses to overwrite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repo_files import ROOT, build_dir

SCRIPT = ROOT / "cmake" / "gpu_bundle" / "make_bundle.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bundle is for Linux")


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """What the script needs of a build with CUDA, with this Python in place of the tests."""
    folder = tmp_path / "build"
    (folder / "package").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "tests" / "sage_cuda_tests").write_bytes(Path("/bin/true").read_bytes())
    (folder / "libsage_kernels.a").write_bytes(b"!<arch>\n")
    return folder


def make(build: Path, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(build), str(out)],
        env={**os.environ, "SAGE_BUNDLE_DATA": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def data(folder: Path, megabytes: int) -> dict[str, str]:
    """The environment that bundles a data set of this size."""
    (folder / "big").mkdir(parents=True)
    with (folder / "big" / "file.bin").open("wb") as stream:
        stream.truncate(megabytes * 1_000_000)  # takes no room on most disks
    return {"SAGE_DATA_DIR": str(folder), "SAGE_BUNDLE_DATA": "big"}


def test_size_limit(build: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    done = make(build, out, **data(tmp_path / "small", 20))
    assert done.returncode == 0, done.stderr
    assert " MB, commit " in done.stdout
    done = make(build, out, **data(tmp_path / "large", 60))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "under 60 MB" in line
    assert "data/big/file.bin 60.0" in line


def test_bundle_of_this_build_keeps_the_limit(tmp_path: Path) -> None:
    if not (build_dir() / "tests" / "sage_cuda_tests").is_file():
        pytest.skip("needs a build with CUDA")
    done = make(build_dir(), tmp_path / "bundle")
    assert done.returncode == 0, done.stderr


def test_bundled_modules_import(build: Path, tmp_path: Path) -> None:
    """pytest and rich start from the bundle's folder alone."""
    assert make(build, tmp_path / "bundle").returncode == 0
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'bundle' / 'site')!r})\n"
        "import pytest, rich.traceback, rich.progress, typer, pygments\n"
        "assert 'bundle' in pytest.__file__ and 'bundle' in pygments.__file__\n"
        "raise SystemExit(pytest.main(['-q', '--color=yes', 'a_test.py']))"
    )
    (tmp_path / "a_test.py").write_text("def test():\n    assert {'a': 1} == {'a': 2}\n")
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed" in done.stdout, done.stderr  # with the difference, in colours
    assert done.returncode == 1


@pytest.mark.parametrize("missing", ["package", "tests/sage_cuda_tests", "libsage_kernels.a"])
def test_incomplete_build_is_named(build: Path, tmp_path: Path, missing: str) -> None:
    (build / missing).rename(tmp_path / "elsewhere")
    done = make(build, tmp_path / "bundle")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"{missing} is missing" in line


def test_other_folders_are_not_overwritten(build: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("work")
    done = make(build, tmp_path / "mine")
    assert done.returncode == 1
    assert "is no bundle" in done.stderr
    assert (tmp_path / "mine" / "work.txt").read_text() == "work"
