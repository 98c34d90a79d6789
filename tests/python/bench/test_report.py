"""report.py, and that the README's figures are those of bench/results."""

import copy
from pathlib import Path

import pytest

import report
from harness import results

ROOT = Path(__file__).resolve().parents[3]


def test_the_readme_shows_the_recorded_results():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    written = report.replace(readme, report.render(ROOT / "bench" / "results"))
    assert readme == written, "run `python bench/report.py` after changing bench/results"


def test_cuda_figures_with_factors_reasons_and_hardware(tmp_path, document):
    results.write(tmp_path / "a.json", document)
    text = report.render(tmp_path)
    assert "arxiv (169k / 2.33M)" in text
    assert "3 (1.50 x)" in text
    assert "9 (4.50 x)" in text
    assert "6 / failed: X" in text
    assert "| out of memory " in text
    assert "3.00 GiB (1.50 x)" in text
    assert "Some GPU (driver 1.2, CUDA 13.0); torch 2.11.0, torch_geometric 2.8.0" in text
    assert "commit 0123456789ab, 2026-01-02" in text


def test_cpu_and_graph_suites(tmp_path, document):
    ms = document["cases"][0]["times_ms"]["forward"]
    cpu, graph = copy.deepcopy(document), copy.deepcopy(document)
    cpu["device"] = "cpu"
    cpu["cases"] = [
        {
            "name": "attention/cpu/x",
            "params": {
                "num_nodes": 1000, "num_edges": 2000, "heads": 4, "head_dim": 16,
                "dtype": "float32", "threads": 2,
            },
            "times_ms": {"forward": ms, "forward_backward": ms},
            "baselines": {
                "pyg_eager": {"forward": ms | {"median": 30.0}, "forward_backward": ms}
            },
            "memory": {"peak": 1 << 20, "pyg_eager_peak": 8 << 20},
        }
    ]  # fmt: skip
    graph["suite"] = "graph"
    graph["cases"] = [
        {
            "name": "graph/cuda/x",
            "params": {"edges": 1000000, "index_dtype": "int64", "threads": None},
            "times_ms": {"csr_and_transpose": ms},
            "baselines": {"torch_sort": {"csr_and_transpose": ms}},
        }
    ]
    results.write(tmp_path / "a.json", cpu)
    results.write(tmp_path / "b.json", graph)
    text = report.render(tmp_path)
    assert "10.0 x" in text
    assert "1 / 8" in text
    assert "Some CPU (2 cores, AVX2)" in text
    assert "1M edges, int64, CUDA" in text


def test_quick_runs_are_left_out_and_a_missing_gpu_is_said(tmp_path, document):
    results.write(tmp_path / "a.json", document | {"quick": True})
    assert report.render(tmp_path) == "No result from a GPU is recorded for this version yet."


def test_a_wrong_result_is_shown_first(tmp_path, document):
    document["cases"][0]["wrong"] = "relative error above 0.005"
    results.write(tmp_path / "a.json", document)
    assert report.render(tmp_path).startswith("**attention/cuda/arxiv: wrong result, relative")


def test_replacing_needs_both_markers():
    text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    assert report.replace(text, "new") == f"before\n{report.BEGIN}\n\nnew\n\n{report.END}\nafter\n"
    with pytest.raises(ValueError, match="needs one line"):
        report.replace("nothing", "new")


@pytest.mark.parametrize("what", ["no results", "damaged", "no readme"])
def test_refuses_in_one_line_and_leaves_the_readme(tmp_path, document, capsys, what):
    readme = tmp_path / "README.md"
    if what != "no readme":
        readme.write_text(f"a\n{report.BEGIN}\n\nfigures\n\n{report.END}\n")
    if what == "damaged":
        (tmp_path / "a.json").write_text("{")
    before = sorted((path, path.read_text()) for path in tmp_path.iterdir())
    with pytest.raises(SystemExit) as refused:
        report.main(["--results", str(tmp_path), "--readme", str(readme)])
    assert refused.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("report.py: error: ")
    assert sorted((path, path.read_text()) for path in tmp_path.iterdir()) == before
