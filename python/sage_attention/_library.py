"""Finds the op libraries beside this package and loads them once, with errors that name the fix."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

LIBRARY_DIR = Path(__file__).parent / "lib"
_MIN_TORCH = (2, 10)
_loaded: list[Path] = []
_dll_directories: list[Any] = []  # Windows forgets a directory when its handle is collected


def require_torch(what: str) -> ModuleType:
    """Imports PyTorch for `what`, or says how to get it."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            f"{what} needs PyTorch >= {_MIN_TORCH[0]}.{_MIN_TORCH[1]}, which is not installed: "
            "choose the build for your hardware on pytorch.org/get-started, or run "
            "`pip install torch`. Without it, sage_attention offers HostGraph and datasets."
        ) from error
    found = tuple(int(part) for part in re.findall(r"\d+", str(torch.__version__))[:2])
    if found < _MIN_TORCH:
        raise ImportError(
            f"{what} needs PyTorch >= {_MIN_TORCH[0]}.{_MIN_TORCH[1]}, found {torch.__version__}: "
            "run `pip install --upgrade torch`"
        )
    return torch


def load() -> list[Path]:
    """Loads the op libraries that suit the installed PyTorch; does nothing the second time.

    Raises:
        ImportError: a library is missing or fails to load, or another copy of libtorch_cpu than
            the imported PyTorch's is in the process.
    """
    if _loaded:
        return _loaded
    torch = require_torch("sage_attention")
    check_torch_cpu(mapped_files("libtorch_cpu"), Path(str(torch.__file__)).parent)
    if hasattr(os, "add_dll_directory") and LIBRARY_DIR.is_dir():
        _dll_directories.append(os.add_dll_directory(str(LIBRARY_DIR)))
    paths = wanted_libraries(torch.version.cuda)
    for path in paths:
        try:
            torch.ops.load_library(str(path))
        except OSError as error:
            raise ImportError(
                f"cannot load {path} into PyTorch {torch.__version__}: {error}. It needs PyTorch "
                f">= {_MIN_TORCH[0]}.{_MIN_TORCH[1]} of the same platform; reinstall "
                "sage-graph-attention, or rebuild it against this PyTorch (see CONTRIBUTING.md)"
            ) from error
    _loaded.extend(paths)
    return _loaded


def wanted_libraries(cuda: str | None, directory: Path = LIBRARY_DIR) -> list[Path]:
    """The libraries to load: the CPU's always; of the CUDA ones, for a PyTorch with CUDA, the one
    of the same major version, else the newest."""
    cpu = directory / _file_name("sage_ops_cpu")
    if not cpu.is_file():
        raise ImportError(
            f"{cpu} is missing: the installation is incomplete. Install a wheel of "
            "sage-graph-attention, or build the libraries and put the staged package on "
            "PYTHONPATH (see CONTRIBUTING.md)"
        )
    if cuda is None:
        return [cpu]
    by_major: dict[int, Path] = {}
    for path in directory.glob(_file_name("sage_ops_cuda*")):
        version = re.search(r"cuda(\d+)", path.name)
        if version:
            by_major[int(version[1])] = path
    if not by_major:
        return [cpu]
    return [cpu, by_major.get(int(cuda.split(".")[0]), by_major[max(by_major)])]


def check_torch_cpu(mapped: list[Path], torch_dir: Path) -> None:
    """Refuses a libtorch_cpu that is not the imported PyTorch's: the ops would register there."""
    own = next((torch_dir / "lib").glob("libtorch_cpu.*"), None)
    if own is None:  # a PyTorch without a library of its own, for instance a static build
        return
    for path in mapped:
        if path.resolve() != own.resolve():
            raise ImportError(
                f"{path} is loaded in this process, but PyTorch was imported from {torch_dir}: "
                "take the other libtorch out of LD_LIBRARY_PATH and LD_PRELOAD, or import torch "
                "before whatever loads it"
            )


def mapped_files(stem: str) -> list[Path]:
    """Files of this process whose name starts with `stem`; empty where the system does not tell."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in lines if f"/{stem}." in line}
    return sorted(Path(path) for path in paths if "(deleted)" not in path)


def _file_name(stem: str) -> str:
    if sys.platform == "win32":
        return f"{stem}.dll"
    return f"lib{stem}.dylib" if sys.platform == "darwin" else f"lib{stem}.so"
