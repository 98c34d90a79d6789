"""Fixtures of the data set tests: the folder with the real files, where there is one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # _python2


@pytest.fixture
def data_dir() -> Path:
    """$SAGE_DATA_DIR; a test that needs it is skipped, and counted, where it is not set."""
    folder = os.environ.get("SAGE_DATA_DIR")
    if not folder:
        pytest.skip("needs the data files: set SAGE_DATA_DIR")
    return Path(folder)
