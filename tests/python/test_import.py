"""Importing: nothing heavy before it is needed, nothing on the GPU, errors that name the fix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import sage_attention
from sage_attention import _library


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light() -> None:
    assert run("import sys, sage_attention; print('torch' in sys.modules)").strip() == "False"


def test_without_torch() -> None:
    """sys.modules["torch"] = None is how Python lets an import fail."""
    code = """
import sys
sys.modules["torch"] = None
import sage_attention
for touch in ("sage_attention.Graph", "sage_attention.ops", "sage_attention.nn"):
    try:
        eval(touch)
    except ImportError as error:
        assert "pip install torch" in str(error) and touch in str(error), error
    else:
        raise AssertionError(touch)
try:
    import sage_attention.ops
except ImportError as error:
    print(error)
"""
    assert "pip install torch" in run(code)


def test_import_does_not_initialise_cuda() -> None:
    code = "import torch, sage_attention.ops, sage_attention.nn; print(torch.cuda.is_initialized())"
    assert run(code).strip() == "False"


def test_names_resolve() -> None:
    for name in ("Graph", "Block", "ops", "nn", "testing"):
        assert name in dir(sage_attention)
        assert getattr(sage_attention, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'graphs'"):
        _ = sage_attention.graphs


def test_libraries_load_once() -> None:
    first = _library.load()
    assert first
    assert _library.load() is first


def touch(directory: Path, *stems: str) -> list[Path]:
    paths = [directory / _library._file_name(stem) for stem in stems]
    for path in paths:
        path.write_bytes(b"not a library")
    return paths


def test_choice_of_libraries(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"sage_ops_cpu.*incomplete"):
        _library.wanted_libraries(None, tmp_path)
    cpu, cuda12, cuda13 = touch(tmp_path, "sage_ops_cpu", "sage_ops_cuda12", "sage_ops_cuda13")
    assert _library.wanted_libraries(None, tmp_path) == [cpu]
    assert _library.wanted_libraries("12.8", tmp_path) == [cpu, cuda12]
    assert _library.wanted_libraries("13.0", tmp_path) == [cpu, cuda13]
    assert _library.wanted_libraries("14.1", tmp_path) == [cpu, cuda13]


def test_a_library_that_does_not_load_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = touch(tmp_path, "sage_ops_cpu")
    monkeypatch.setattr(_library, "_loaded", [])
    monkeypatch.setattr(_library, "wanted_libraries", lambda cuda: [path])
    with pytest.raises(ImportError, match=r"sage_ops_cpu.*reinstall"):
        _library.load()


def test_another_libtorch_is_refused(tmp_path: Path) -> None:
    ours, other = tmp_path / "torch", tmp_path / "other"
    for folder in (ours / "lib", other):
        folder.mkdir(parents=True)
        (folder / "libtorch_cpu.so").touch()
    _library.check_torch_cpu([ours / "lib" / "libtorch_cpu.so"], ours)
    with pytest.raises(ImportError, match=r"other.*LD_LIBRARY_PATH"):
        _library.check_torch_cpu([other / "libtorch_cpu.so"], ours)


def test_own_libtorch_is_found() -> None:
    mapped = _library.mapped_files("libtorch_cpu")
    if not sys.platform.startswith("linux"):
        pytest.skip("needs /proc")
    assert [path.parent.parent for path in mapped] == [Path(torch.__file__).resolve().parent]


def test_old_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.9.1+cpu")
    with pytest.raises(ImportError, match=r"needs PyTorch >= 2.10, found 2.9.1"):
        _library.require_torch("sage_attention.ops")
