"""Every example runs from the command line, for a few steps."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sage_attention

ROOT = Path(__file__).resolve().parents[2]


def run(script: str, *arguments: str) -> str:
    """Standard output of an example, which must end well and without a warning."""
    package = str(Path(sage_attention.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / script), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("score", ["gat", "dot"])
def test_node_classification_on_digits(score: str) -> None:
    pytest.importorskip("sklearn")
    out = run(
        "node_classification.py",
        *("--dataset", "digits", "--score", score),
        *("--seeds", "2", "--epochs", "30", "--device", "cpu"),
    )
    assert f"digits, score {score}" in out
    assert "'lr'" in out  # the recipe is named
    tests = [float(value) for value in re.findall(r"seed \d: .* test ([\d.]+) %", out)]
    assert len(tests) == 2
    assert min(tests) > 50  # chance is 10
    assert "over 2 seeds" in out


@pytest.mark.parametrize("dataset", ["cora", "citeseer"])
def test_node_classification_on_citations(dataset: str) -> None:
    if not os.environ.get("SAGE_DATA_DIR"):
        pytest.skip("needs the data files: set SAGE_DATA_DIR")
    out = run(
        "node_classification.py",
        *("--dataset", dataset, "--seeds", "1", "--epochs", "30", "--device", "cpu"),
    )
    (test,) = re.findall(r"seed 0: .* test ([\d.]+) %", out)
    assert float(test) > 40  # chance is 14 and 17
