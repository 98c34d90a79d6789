"""Every example runs from the command line, for a few steps."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sage_attention

ROOT = Path(__file__).resolve().parents[2]


def start(script: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    package = str(Path(sage_attention.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, str(ROOT / "examples" / script), *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script: str, *arguments: str) -> str:
    """Standard output of an example, which must end well and without a warning."""
    process = start(script, *arguments)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    assert "Warning" not in stderr
    return stdout


@pytest.mark.parametrize("score", ["gat", "dot"])
def test_node_classification_on_digits(score: str) -> None:
    pytest.importorskip("sklearn")
    out = run(
        "node_classification.py",
        *("--dataset", "digits", "--score", score),
        *("--seeds", "2", "--epochs", "30", "--device", "cpu"),
    )
    assert f"digits, score {score}" in out
    assert "lr 0.005" in out  # the recipe is named
    tests = [float(value) for value in re.findall(r"seed \d: .* test ([\d.]+) %", out)]
    assert len(tests) == 2
    assert min(tests) > 50  # chance is 10
    assert re.search(r"test accuracy: [\d.]+ \+- [\d.]+ % \(seeds: 2\)", out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0"], "must be at least 1"),
        (["--epochs", "-1"], "must be at least 1"),
        (["--device", "banana", "--dataset", "digits"], "banana"),
        (["--dataset", "cora"], "SAGE_DATA_DIR is 'no/such/folder', which is no folder"),
    ],
)
def test_node_classification_refuses_in_one_line(arguments: list[str], message: str) -> None:
    if "digits" in arguments:
        pytest.importorskip("sklearn")
    process = start("node_classification.py", *arguments, SAGE_DATA_DIR="no/such/folder")
    stdout, stderr = process.communicate(timeout=600)
    assert (process.returncode, stdout) == (2, "")
    assert "Traceback" not in stderr
    last = stderr.splitlines()[-1]
    assert last.startswith("node_classification.py: error: ")
    assert message in last


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for a child")
def test_node_classification_interrupted() -> None:
    pytest.importorskip("sklearn")
    arguments = ("--dataset", "digits", "--device", "cpu")
    process = start("node_classification.py", *arguments, PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    assert "digits" in process.stdout.readline()  # it trains now
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert (process.returncode, stderr) == (130, "interrupted\n")


def test_node_classification_shows_its_progress_on_a_terminal() -> None:
    pytest.importorskip("sklearn")
    arguments = ("--dataset", "digits", "--seeds", "1", "--epochs", "20", "--device", "cpu")
    process = start("node_classification.py", *arguments, FORCE_COLOR="1", TERM="xterm")
    stdout, _ = process.communicate(timeout=600)
    assert re.search(r"epoch \d+: val [\d.]+ %, best [\d.]+ %", stdout)
    assert re.search(r"test accuracy: [\d.]+ % \(seeds: 1\)", stdout)  # one run has no spread


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
