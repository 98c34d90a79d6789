"""run.py: its cases, and one small run on the CPU through to the JSON file."""

import importlib
import json
import re
import signal
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


@pytest.mark.parametrize(
    ("gpu", "options", "message"),
    [
        (True, "attention --baselines pyg", "--baselines: unknown 'pyg'; choose from pyg_eager"),
        (True, "attention --baselines none,pyg_eager", "unknown 'none'"),
        (True, "attention --baselines=", "unknown ''"),
        (True, "graph --baselines none", "--baselines is for the suite attention"),
        (True, "attention --graphs arxiv,cora", "--graphs: unknown 'cora'; choose from arxiv"),
        (True, "attention --graphs arxiv --device cpu", "--graphs is for .* on CUDA"),
        (False, "attention --graphs arxiv", "--graphs is for .* on CUDA"),
        (True, "graph --graphs arxiv", "--graphs is for the suite attention"),
        (False, "attention --device cuda", "finds no CUDA device"),
        (False, "graph --output no/such/folder/a.json", "there is no folder no/such/folder"),
        (False, "graph --output .", "is a folder"),
        (False, "graph --output locked/a.json", "Permission denied"),
    ],
)
def test_options_that_cannot_work_are_refused(tmp_path, monkeypatch, capsys, gpu, options, message):
    import run

    def temporary(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    (tmp_path / "locked").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run.torch.cuda, "is_available", lambda: gpu)
    if "locked" in options:
        monkeypatch.setattr(run.tempfile, "TemporaryFile", temporary)
    with pytest.raises(SystemExit) as refused:
        run.main(options.split())
    assert refused.value.code == 2
    assert re.search(message, capsys.readouterr().err.splitlines()[-1])
    assert [path.name for path in tmp_path.rglob("*")] == ["locked"]


def test_lists_of_names(monkeypatch):
    import run

    monkeypatch.setattr(run.torch.cuda, "is_available", lambda: True)
    options = run.parse(["attention", "--graphs", "reddit,arxiv", "--baselines", "none"])
    assert (options.graphs, options.baselines) == (["reddit", "arxiv"], [])
    options = run.parse(["attention", "--baselines", "pyg_compiled"])
    assert (options.graphs, options.baselines) == (None, ["pyg_compiled"])


def test_cpu_worker_knows_the_baselines(monkeypatch):
    from baselines import pyg
    from harness import cpu_worker

    case = cases("attention")["cpu"] | {"num_nodes": 20, "num_edges": 60, "max_degree": 9}
    for name in pyg.BASELINES:
        made = []

        def make(made=made):
            made.append(True)
            return lambda dst, src, n, q, k, v: (q * k * v) + 0 * dst.sum()

        monkeypatch.setitem(pyg.BASELINES, name, make)
        result = cpu_worker.main(name, case | {"samples": 1})
        assert result["times_ms"]["forward_backward"]["median"] > 0
        assert made


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for a child")
def test_interruption_is_one_line(tmp_path):
    command = [sys.executable, str(BENCH / "run.py"), "graph", "--device", "cpu"]
    with subprocess.Popen(
        [*command, "--output", str(tmp_path / "a.json")], stderr=subprocess.PIPE, text=True
    ) as process:
        assert "edges" in process.stderr.readline()  # the first case runs
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted" in rest.splitlines()[-1]
    assert "Traceback" not in rest
    assert {path.name for path in tmp_path.iterdir()} <= {"a.json"}


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
