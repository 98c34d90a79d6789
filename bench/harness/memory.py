"""Resident memory of this process: now, at its highest, and how to start the high-water anew."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def resident() -> int | None:
    """Resident bytes now; None where the system has no /proc."""
    return _status("VmRSS")


def high_water() -> int | None:
    """Most resident bytes since start_high_water, or since the process began."""
    found = _status("VmHWM")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def start_high_water() -> bool:
    """Gives freed memory back and starts the high-water mark at what is resident now.

    Returns whether that worked; where it did not, a mark above the later one hides it.
    """
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    try:
        CLEAR.write_text("5")
    except OSError:
        return False
    now, highest = resident(), high_water()
    return now is not None and highest is not None and highest <= now + (8 << 20)


def _status(field: str) -> int | None:
    try:
        text = STATUS.read_text()
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
