"""Suite `attention` on the CPU: a TransformerConv-like step, ours and PyG's, a process each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.results import goals_for
from harness.timing import median, ratio

BENCH = Path(__file__).resolve().parents[1]
TIMEOUT_S = 900


def run(
    case: dict[str, Any], tolerance: dict[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """Returns the results of the CPU case; `case` is the "cpu" entry of cases/attention.py."""
    say(
        f"cpu: {case['num_nodes']:,} nodes, {case['num_edges']:,} edges, {case['heads']} heads of "
        f"{case['head_dim']}, {case['dtype']}, {case['threads']} threads"
    )
    keys = ("num_nodes", "num_edges", "max_degree", "heads", "head_dim", "dtype", "threads", "seed")
    result: dict[str, Any] = {
        "name": f"attention/cpu/{case['name']}",
        "params": {key: case[key] for key in keys},
        "derived": {},
        "goals": goals_for(case["goals"], case["name"]),
    }
    ours = _worker("sage", case)
    result |= {
        "numerics": ours.get("numerics", {}),
        "times_ms": ours.get("times_ms", {"forward_backward": {"status": ours.get("status")}}),
        "preprocessing_ms": ours.get("preprocessing_ms", {}),
        "memory": {k: ours.get(k) for k in ("peak", "peak_is_exact", "inputs")},
        "baselines": {},
    }
    say(f"cpu: sage_attention {_show(ours)}")
    limit = tolerance[case["dtype"]]["forward"]
    errors = result["numerics"]
    if errors and not max(errors["forward"], errors["hub"]) <= limit:
        result["wrong"] = f"relative error above {limit}: times are not comparable"
        result["times_ms"] = {}
        say(f"cpu: WRONG RESULT, {errors}")
    for baseline in case["baselines"]:
        theirs = _worker(baseline, case)
        say(f"cpu: {baseline} {_show(theirs)}")
        times = theirs.get("times_ms") or {"forward_backward": {"status": theirs.get("status")}}
        result["baselines"][baseline] = times
        result["memory"][f"{baseline}_peak"] = theirs.get("peak")
        for key in ("forward", "forward_backward"):
            result["derived"][f"{baseline}_over_{key}"] = ratio(
                times.get(key), result["times_ms"].get(key)
            )
        if ours.get("peak") and theirs.get("peak"):
            result["derived"][f"memory_over_{baseline}"] = round(ours["peak"] / theirs["peak"], 4)
    return result


def _worker(implementation: str, case: dict[str, Any]) -> dict[str, Any]:
    threads = str(case["threads"])
    path = os.pathsep.join(p for p in (str(BENCH), os.environ.get("PYTHONPATH")) if p)
    threads_of = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    environment = os.environ | threads_of | {"PYTHONPATH": path}
    arguments = [sys.executable, "-m", "harness.cpu_worker", implementation, json.dumps(case)]
    try:
        done = subprocess.run(
            arguments,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"status": f"not finished after {TIMEOUT_S} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["killed, probably out of memory"]
        return {"status": f"failed: {lines[-1][:200]}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def _show(result: dict[str, Any]) -> str:
    if "status" in result:
        return str(result["status"])
    peak = result["peak"]
    memory = "" if peak is None else f", peak {peak / 2**20:.0f} MiB above the inputs"
    return f"forward + backward {median(result['times_ms']['forward_backward']):.1f} ms{memory}"
