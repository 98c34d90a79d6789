"""Writes the figures of bench/results into README.md, between two markers.

`python bench/report.py` rewrites that section; a test fails when it is not what this would write.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness import results
from harness.timing import median, ratio

HERE = Path(__file__).resolve().parent
BEGIN = "<!-- figures: written by bench/report.py, do not edit -->"
END = "<!-- end of figures -->"
README = HERE.parent / "README.md"


def render(directory: Path) -> str:
    """The Markdown of every result file in `directory`, those of quick runs left out."""
    paths = sorted(directory.glob("*.json"))
    if not paths:
        raise ValueError(f"there are no result files in {directory}")
    documents = [results.read(path) for path in paths]
    documents = [d for d in documents if not d["quick"]]
    documents.sort(key=lambda d: (d["suite"], d["device"] != "cuda"))
    parts = [_section(document) for document in documents]
    if not any(d["device"] == "cuda" for d in documents):
        parts.insert(0, "No result from a GPU is recorded for this version yet.")
    return "\n\n".join(parts)


def replace(readme: str, figures: str) -> str:
    """`readme` with what stands between the markers replaced."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise ValueError(f"README.md needs one line {BEGIN!r} and one line {END!r}")
    head, rest = readme.split(BEGIN)
    return f"{head}{BEGIN}\n\n{figures}\n\n{END}{rest.split(END)[1]}"


def _section(document: dict[str, Any]) -> str:
    table = {
        ("attention", "cuda"): _attention_cuda,
        ("attention", "cpu"): _attention_cpu,
        ("graph", "cuda"): _graph,
        ("graph", "cpu"): _graph,
    }[document["suite"], document["device"]]
    cases = [case for case in document["cases"] if case.get("times_ms")]
    wrong = [
        f"**{c['name']}: wrong result, {c['wrong']}**" for c in document["cases"] if "wrong" in c
    ]
    return "\n\n".join([*wrong, table(document, cases), _source(document)])


def _source(document: dict[str, Any]) -> str:
    env = document["environment"]
    gpu = env["gpu"]
    if document["device"] == "cuda":
        hardware = f"{gpu['name']} (driver {gpu['driver']}, CUDA {env['cuda']})"
    else:
        hardware = (
            f"{env['cpu']['name']} ({env['cpu']['logical_cores']} cores, {env['cpu']['isa']})"
        )
    packages = "".join(
        f", {name} {env['packages'][name]}"
        for name in ("torch_geometric", "triton")
        if env["packages"].get(name)
    )
    return (
        f"<sub>{hardware}; torch {env['torch']}{packages}; commit {document['commit']}, "
        f"{document['date'][:10]}; medians of {_samples(document)} runs.</sub>"
    )


def _samples(document: dict[str, Any]) -> int:
    counts = [
        m["samples"]
        for case in document["cases"]
        for m in results.measurements(case).values()
        if "samples" in m
    ]
    return max(counts, default=0)


def _attention_cuda(document: dict[str, Any], cases: list[dict[str, Any]]) -> str:
    params = cases[0]["params"] if cases else {"heads": 0, "head_dim": 0, "dtype": ""}
    rows = []
    for case in cases:
        times, p, memory = case["times_ms"], case["params"], case["memory"]
        rows.append(
            (
                f"{p['graph']} ({_count(p['nodes'])} / {_count(p['edges'])})",
                results.show_ms(times["gather_ceiling"]),
                _with_ratio(times["forward"], times["gather_ceiling"]),
                _with_ratio(times["forward_backward"], times["gather_ceiling"]),
                _pair(case["baselines"].get("pyg_compiled")),
                _pair(case["baselines"].get("pyg_eager")),
                f"{memory['peak'] / 2**30:.2f} GiB ({memory['over_bound']:.2f} x)",
            )
        )
    header = (
        "graph twin (nodes / directed edges)", "gather ceiling, ms", "forward, ms",
        "forward + backward, ms", "PyG compiled, fwd / fwd + bwd", "PyG eager, fwd / fwd + bwd",
        "peak memory (over the unavoidable)",
    )  # fmt: skip
    text = (
        f"Dot-product attention on the GPU, {params['heads']} heads of {params['head_dim']}, "
        f"{params['dtype']}. The ceiling only reads the rows of K and V that every edge needs, in "
        "the same order, and adds them up; factors in brackets are over it."
    )
    return f"{text}\n\n{results.table(header, rows)}"


def _attention_cpu(document: dict[str, Any], cases: list[dict[str, Any]]) -> str:
    rows = []
    for case in cases:
        p, ours, theirs = case["params"], case["times_ms"], case["baselines"]["pyg_eager"]
        memory = case["memory"]
        for key, what in (("forward", "forward"), ("forward_backward", "forward + backward")):
            times = ratio(theirs.get(key), ours.get(key))
            whole = key == "forward_backward"
            shape = f"{_count(p['num_nodes'])} nodes, {_count(p['num_edges'])} edges"
            rows.append(
                (
                    f"{what}, {shape}, {p['heads']} x {p['head_dim']}, {p['dtype']}",
                    results.show_ms(ours.get(key)),
                    results.show_ms(theirs.get(key)),
                    "-" if times is None else f"{times:.1f} x",
                    f"{_mib(memory['peak'])} / {_mib(memory['pyg_eager_peak'])}" if whole else "",
                )
            )
    header = (
        f"on the CPU, {cases[0]['params']['threads']} threads",
        "sage_attention, ms",
        "PyG eager, ms",
        "faster",
        "peak memory above inputs, MiB",
    )
    return results.table(header, rows)


def _graph(document: dict[str, Any], cases: list[dict[str, Any]]) -> str:
    rows = []
    for case in cases:
        p, ours = case["params"], case["times_ms"]["csr_and_transpose"]
        theirs = case["baselines"]["torch_sort"]["csr_and_transpose"]
        where = document["device"].upper() + (f", {p['threads']} thread" if p["threads"] else "")
        rows.append(
            (
                f"{_count(p['edges'])} edges, {p['index_dtype']}, {where}",
                results.show_ms(ours),
                results.show_ms(theirs),
            )
        )
    header = ("CSR and transpose of an edge_index", "sage_attention, ms", "two torch.sort, ms")
    return results.table(header, rows)


def _with_ratio(a: dict[str, Any], ceiling: dict[str, Any]) -> str:
    times = ratio(a, ceiling)
    return results.show_ms(a) + ("" if times is None else f" ({times:.2f} x)")


def _pair(times: dict[str, Any] | None) -> str:
    if not times:
        return "-"
    forward, both = times["forward"], times["forward_backward"]
    if median(forward) is None and forward == both:
        return results.show_ms(forward)
    return f"{results.show_ms(forward)} / {results.show_ms(both)}"


def _count(n: int) -> str:
    return f"{n / 1e6:.3g}M" if n >= 1_000_000 else f"{n / 1e3:.3g}k"


def _mib(size: int | None) -> str:
    return "-" if size is None else f"{size / 2**20:.0f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Writes the figures of bench/results into README.md."
    )
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--readme", type=Path, default=README)
    options = parser.parse_args(arguments)
    try:
        text = options.readme.read_text(encoding="utf-8")
        written = replace(text, render(options.results))
    except (OSError, ValueError) as error:
        parser.exit(2, f"report.py: error: {error}\n")
    options.readme.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
