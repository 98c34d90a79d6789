"""What a result depends on beside the code: hardware, driver, versions and the commit."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]


def describe() -> dict[str, Any]:
    """Returns the environment as JSON-ready values; what cannot be found is None."""
    gpu = None
    if torch.cuda.is_available():
        props = torch.cuda.get_device_properties(0)
        gpu = {
            "name": props.name,
            "multiprocessors": props.multi_processor_count,
            "memory_gib": round(props.total_memory / 2**30, 1),
            "capability": f"{props.major}.{props.minor}",
            "driver": _output(
                ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
            ),
        }
    return {
        "gpu": gpu,
        "cpu": {"name": _cpu_name(), "logical_cores": os.cpu_count(), "isa": _isa()},
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "packages": {
            name: _version(name)
            for name in ("torch_geometric", "triton", "pyg_lib", "torch_scatter", "numpy")
        },
    }


def commit() -> str:
    """SAGE_COMMIT where it is set (a bundle has no git), else git's HEAD, "+" when modified."""
    if os.environ.get("SAGE_COMMIT"):
        return os.environ["SAGE_COMMIT"]
    head = _output(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    if not head:
        return "unknown"
    changes = ["git", "-C", str(ROOT), "status", "--porcelain", "--", ".", ":!bench/results"]
    return head + ("+" if _output([*changes, ":!README.md"]) else "")


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _isa() -> str | None:
    """The instruction sets that decide which CPU kernels run."""
    return torch.backends.cpu.get_cpu_capability()


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _output(command: list[str]) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout else None
