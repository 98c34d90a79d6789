"""The one bench runner: `python bench/run.py attention` or `graph`. See bench/README.md.

Prints its progress, then a table; writes JSON with the environment and the commit. Cases are data
in bench/cases. Nothing is asserted here: goals are printed beside the figures.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Any

import torch

from harness import attention_cpu, attention_cuda, environment, graph, results

HERE = Path(__file__).resolve().parent
STARTED = time.perf_counter()
QUICK_SAMPLES = 3


def say(text: str) -> None:
    """One line of progress with the seconds since the start."""
    print(f"[{time.perf_counter() - STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benches of sage_attention.")
    parser.add_argument("suite", choices=("attention", "graph"))
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), help="default: both, where there is a GPU"
    )
    parser.add_argument("--graphs", help="comma-separated twins (attention on CUDA)")
    parser.add_argument("--baselines", help="comma-separated baselines, or 'none'")
    parser.add_argument("--quick", action="store_true", help="small cases, not written by default")
    parser.add_argument(
        "--output", type=Path, help="JSON file; default: one a machine in bench/results"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("--device cuda: torch finds no CUDA device here; use --device cpu", file=sys.stderr)
        return 2
    wanted = [options.device] if options.device else ["cuda", "cpu"]
    devices = [d for d in wanted if d == "cpu" or torch.cuda.is_available()]
    if options.device is None and "cuda" not in devices:
        say("no CUDA device: only the CPU part runs")
    config = importlib.import_module(f"cases.{options.suite}").CASES
    suite = {"attention": attention, "graph": graphs}[options.suite]
    for device in devices:
        document = {
            "format": results.FORMAT,
            "suite": options.suite,
            "device": device,
            "quick": options.quick,
            "date": environment.now(),
            "commit": environment.commit(),
            "environment": environment.describe(),
            "cases": [],
        }
        path = options.output or (
            None if options.quick else results.default_path(HERE / "results", document)
        )
        if path and options.output and len(devices) > 1:
            path = path.with_name(f"{path.stem}-{device}{path.suffix}")
        for case in suite(device, config, options):
            document["cases"].append(case)
            if path:  # after every case: a later one that dies costs nothing
                results.write(path, document)
        print(results.print_all(document), flush=True)
        say(f"{options.suite} on {device} done" + (f", written to {path}" if path else ""))
    return 0


def attention(device: str, config: dict[str, Any], options: argparse.Namespace) -> Any:
    """Yields the cases of suite `attention` on one device."""
    case, tolerance = dict(config[device]), config["tolerance"]
    if options.baselines:
        case["baselines"] = [b for b in options.baselines.split(",") if b != "none"]
    if options.quick:
        case |= {"samples": QUICK_SAMPLES} | case.get("quick", {})
    check = attention_cuda.gradient_check(case, tolerance, config["gradient_graph"], device)
    errors = ", ".join(f"{key} {value:.1e}" for key, value in check["errors"].items())
    say(f"gradients against float64: {errors}")
    yield {"name": f"attention/{device}/gradients", "numerics": check["errors"]} | (
        {} if check["within_tolerance"] else {"wrong": "errors above the tolerance"}
    )
    if not check["within_tolerance"]:
        say("WRONG RESULT: nothing is timed")
        return
    if device == "cpu":
        yield attention_cpu.run(case, tolerance, say)
        return
    names = options.graphs.split(",") if options.graphs else case["graphs"]
    for name in names[:1] if options.quick and not options.graphs else names:
        yield attention_cuda.run(case, tolerance, name, say)


def graphs(device: str, config: dict[str, Any], options: argparse.Namespace) -> Any:
    """Yields the cases of suite `graph` on one device."""
    for case in config["cases"]:
        quick = {"samples": QUICK_SAMPLES} if options.quick else {}
        yield graph.run(case | quick, device, say)


if __name__ == "__main__":
    sys.exit(main())
