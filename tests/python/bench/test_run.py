"""run.py: its cases, and one small run on the CPU through to the JSON file."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"


def cases(suite):
    return importlib.import_module(f"cases.{suite}").CASES


def test_cases_name_what_exists():
    from sage_attention.datasets.generators import TWINS

    from baselines.pyg import BASELINES

    attention = cases("attention")
    assert set(attention["cuda"]["graphs"]) <= set(TWINS)
    for device in ("cuda", "cpu"):
        assert set(attention[device]["baselines"]) <= set(BASELINES)
        assert attention[device]["dtype"] in attention["tolerance"]
    assert attention["cuda"]["samples"] >= 11
    assert set(attention["cuda"]["goals"]["at_most"]["forward_over_gather"]) <= set(TWINS)
    assert all(set(c["goals"]["at_most"]["csr_and_transpose_ms"]) == {"cuda", "cpu"}
               for c in cases("graph")["cases"])  # fmt: skip


def test_unknown_suite_is_refused(capsys):
    import run

    with pytest.raises(SystemExit):
        run.parse(["nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


@pytest.mark.parametrize("suite", ["attention", "graph"])
def test_quick_run_on_the_cpu_writes_a_checked_result(tmp_path, suite):
    output = tmp_path / "result.json"
    command = [sys.executable, str(BENCH / "run.py"), suite, "--device", "cpu", "--quick"]
    done = subprocess.run(
        [*command, "--output", str(output)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text())
    assert document["suite"] == suite
    assert document["quick"]
    assert document["commit"]
    assert document["environment"]["torch"]
    assert not [case["wrong"] for case in document["cases"] if "wrong" in case]
    case = document["cases"][-1]
    timed = case["times_ms"]["forward_backward" if suite == "attention" else "csr_and_transpose"]
    assert timed["median"] > 0
    assert f"{suite} on cpu done" in done.stderr
    assert case["name"] in done.stdout
