"""Suite `attention` on CUDA: one graph twin at a time, checked, then timed beside its ceiling."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from baselines.pyg import BASELINES
from harness import numerics
from harness.results import goals_for
from harness.timing import Measurement, attempt, peak_cuda, ratio, release, time_call

Say = Callable[[str], None]


def run(case: dict[str, Any], tolerance: dict[str, Any], name: str, say: Say) -> dict[str, Any]:
    """Returns the results of one twin; `case` is the "cuda" entry of cases/attention.py."""
    from sage_attention.datasets.generators import twin

    from sage_attention import ops

    release()
    before = torch.cuda.memory_allocated()
    graph = twin(name, "cuda")
    release()
    n, e = graph.num_dst, graph.num_edges
    h, d, dtype = case["heads"], case["head_dim"], getattr(torch, case["dtype"])
    say(f"{name}: {n:,} nodes, {e:,} edges, {h} heads of {d}, {case['dtype']}")
    q, k, v, grad = features(n, h, d, dtype, case["seed"], "cuda")
    result: dict[str, Any] = {
        "name": f"attention/cuda/{name}",
        "params": {
            "graph": name, "nodes": n, "edges": e, "heads": h, "head_dim": d,
            "max_degree": int((graph.indptr[1:] - graph.indptr[:-1]).max()),
            "dtype": case["dtype"], "seed": case["seed"], "order": "CSR, random ids",
        },
        "numerics": {}, "times_ms": {}, "preprocessing_ms": {}, "memory": {}, "derived": {},
    }  # fmt: skip
    times = result["times_ms"]

    def forward() -> Any:
        with torch.no_grad():
            return ops.attention(graph, q, k, v)

    def forward_backward() -> tuple[Tensor, ...]:
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        return torch.autograd.grad(ops.attention(graph, *leaves), leaves, grad)

    out = forward()
    errors = numerics.forward_error(graph.indptr, graph.indices, q, k, v, out)
    first, second = [out, *forward_backward()], [forward(), *forward_backward()]
    same = all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    del out, first, second
    result["numerics"] = errors | {"repeatable": same}
    limit = tolerance[case["dtype"]]["forward"]
    if not max(errors["forward"], errors["hub"]) <= limit:  # also when NaN
        result["wrong"] = f"relative error above {limit}: not timed"
        say(f"{name}: WRONG RESULT, {errors}")
        return result

    def measure(key: str, fn: Callable[[], Any]) -> None:
        times[key] = attempt(lambda: time_call(fn, "cuda", case["samples"]))
        say(f"{name}: {key} {_show(times[key])}")

    measure("gather_ceiling", _gather_ceiling(graph, k, v))
    measure("forward", forward)
    measure("forward_backward", forward_backward)
    result["memory"] = _memory(forward_backward, before, n, e, h * d, h, q.element_size())
    result["preprocessing_ms"] = _preprocessing(graph, case["samples"])
    result["baselines"] = {}
    for baseline in case["baselines"]:
        result["baselines"][baseline] = _baseline(
            baseline, graph, (q, k, v, grad), case["samples"], say, f"{name}: {baseline}"
        )
    _finish(result, case["goals"], name)
    return result


def gradient_check(
    case: dict[str, Any], tolerance: dict[str, Any], small: dict[str, Any], device: str
) -> dict[str, Any]:
    """Gradients of ops.attention on a small power-law graph with a hub, against float64."""
    from sage_attention.datasets.generators import power_law

    from sage_attention import ops

    graph = power_law(**small, seed=case["seed"], device=device)
    n = graph.num_dst
    dtype = getattr(torch, case["dtype"])
    q, k, v, grad = features(n, case["heads"], case["head_dim"], dtype, case["seed"] + 1, device)
    errors = numerics.gradient_errors(ops.attention, graph, (q, k, v), grad)
    limits = tolerance[case["dtype"]]
    right = errors["out"] <= limits["forward"] and all(
        errors[g] <= limits["gradients"] for g in ("dq", "dk", "dv")
    )
    return {"errors": errors, "within_tolerance": bool(right)}


def features(
    n: int, heads: int, dim: int, dtype: torch.dtype, seed: int, device: str
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q, k, v and the gradient of the output, each [n, heads, dim] from N(0, 1)."""
    generator = torch.Generator(device=device).manual_seed(seed)

    def draw() -> Tensor:
        return torch.randn(n, heads, dim, device=device, generator=generator).to(dtype)

    return draw(), draw(), draw(), draw()


def _gather_ceiling(graph: Any, k: Tensor, v: Tensor) -> Callable[[], Tensor]:
    """The ceiling: the same rows read by the same schedule, and nothing else done."""
    tasks, splits = graph.schedule()
    return lambda: torch.ops.sage.gather_ceiling(graph.indptr, graph.indices, tasks, splits, k, v)


def _memory(
    step: Callable[[], Any], before: int, n: int, e: int, row: int, heads: int, size: int
) -> dict[str, Any]:
    """Peak of a step against what nobody can avoid; all in bytes."""
    peak = peak_cuda(step) - before
    tensors = 8 * n * row * size  # q, k, v, out and their gradients
    structure = 2 * (8 * (n + 1) + 4 * e) + 4 * e  # both CSRs and the permutation
    bound = tensors + structure + e * heads * 2
    return {"peak": peak, "bound": bound, "over_bound": round(peak / bound, 4)}


def _preprocessing(graph: Any, samples: int) -> dict[str, Measurement]:
    """What is built once a graph and cached: the transpose, and a schedule for each direction."""
    sage, n, num_src = torch.ops.sage, graph.num_dst, graph.num_src
    dst = graph.rows()
    parts: dict[str, Callable[[], Any]] = {
        "csr": lambda: sage.csr_from_coo(dst, graph.indices, n, num_src),
        "transpose": lambda: sage.csr_transpose(graph.indptr, graph.indices, num_src),
        "schedule": lambda: sage.csr_schedule(graph.indptr, graph.num_edges),
    }
    return {key: attempt(partial(time_call, fn, "cuda", samples)) for key, fn in parts.items()}


def _baseline(
    name: str, graph: Any, tensors: tuple[Tensor, ...], samples: int, say: Say, label: str
) -> dict[str, Measurement]:
    make = BASELINES[name]
    times: dict[str, Measurement] = {}
    q, k, v, grad = tensors
    dst, src, n = graph.rows(), graph.indices.long(), graph.num_dst

    def forward() -> Measurement:
        attention = make()
        with torch.no_grad():
            return time_call(lambda: attention(dst, src, n, q, k, v), "cuda", samples)

    def forward_backward() -> Measurement:
        attention = make()

        def step() -> tuple[Tensor, ...]:
            leaves = [x.detach().requires_grad_() for x in (q, k, v)]
            return torch.autograd.grad(attention(dst, src, n, *leaves), leaves, grad)

        return time_call(step, "cuda", samples)

    for key, fn in (("forward", forward), ("forward_backward", forward_backward)):
        times[key] = attempt(fn)
        release()
        say(f"{label} {key} {_show(times[key])}")
        if times[key].get("status") == "out of memory":  # a step with gradients needs no less
            times.setdefault("forward_backward", {"status": "out of memory"})
            break
    return times


def _finish(result: dict[str, Any], goals: dict[str, Any], name: str) -> None:
    times, derived = result["times_ms"], result["derived"]
    for key in ("forward", "forward_backward"):
        derived[f"{key}_over_gather"] = ratio(times.get(key), times.get("gather_ceiling"))
        for baseline, measured in result["baselines"].items():
            derived[f"{baseline}_over_{key}"] = ratio(measured.get(key), times.get(key))
    derived["memory_over_bound"] = result["memory"]["over_bound"]
    result["goals"] = goals_for(goals, name)


def _show(measurement: Measurement) -> str:
    return measurement.get("status") or f"{measurement['median']:.3f} ms"
