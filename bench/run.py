"""The one bench runner: `python bench/run.py attention` or `graph`. See bench/README.md.

Prints its progress, then a table; writes JSON with the environment and the commit. Cases are data
in bench/cases. Nothing is asserted here: goals are printed beside the figures.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from baselines.pyg import BASELINES
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
    parser.add_argument("--baselines", help="comma-separated baselines (attention), or none")
    parser.add_argument("--quick", action="store_true", help="small cases, not written by default")
    parser.add_argument(
        "--output", type=Path, help="JSON file; default: one a machine in bench/results"
    )
    options = parser.parse_args(arguments)
    try:
        check(options)
    except ModuleNotFoundError as error:
        parser.error(f"{error}; `make bench` puts the built package on PYTHONPATH")
    except (OSError, ValueError) as error:
        parser.error(str(error))
    return options


def check(options: argparse.Namespace) -> None:
    """Refuses what would fail late or change nothing, and makes lists of the comma-separated."""
    from sage_attention.datasets.generators import TWINS

    gpu = torch.cuda.is_available()
    if options.device == "cuda" and not gpu:
        raise ValueError("--device cuda: torch finds no CUDA device here; use --device cpu")
    if options.graphs is not None:
        if options.suite != "attention" or options.device == "cpu" or not gpu:
            raise ValueError("--graphs is for the suite attention on CUDA")
        options.graphs = names("--graphs", options.graphs, TWINS)
    if options.baselines is not None:
        if options.suite != "attention":
            raise ValueError("--baselines is for the suite attention")
        none = options.baselines == "none"
        options.baselines = [] if none else names("--baselines", options.baselines, BASELINES)
    if options.output:
        if options.output.is_dir():
            raise ValueError(f"--output {options.output} is a folder; name a file")
        if not options.output.parent.is_dir():
            raise ValueError(f"--output: there is no folder {options.output.parent}")
        tempfile.TemporaryFile(dir=options.output.parent).close()  # OSError: not writable


def names(option: str, text: str, known: Collection[str]) -> list[str]:
    """The parts of a comma-separated list; ValueError where one is not known."""
    found = text.split(",")
    unknown = [repr(name) for name in found if name not in known]
    if unknown:
        raise ValueError(f"{option}: unknown {', '.join(unknown)}; choose from {', '.join(known)}")
    return found


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
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
    if options.baselines is not None:
        case["baselines"] = options.baselines
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
    for name in options.graphs or case["graphs"][: 1 if options.quick else None]:
        yield attention_cuda.run(case, tolerance, name, say)


def graphs(device: str, config: dict[str, Any], options: argparse.Namespace) -> Any:
    """Yields the cases of suite `graph` on one device."""
    for case in config["cases"]:
        quick = {"samples": QUICK_SAMPLES} if options.quick else {}
        yield graph.run(case | quick, device, say)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted; the cases that were done are kept where a file is written")
        sys.exit(130)
