"""Suite `graph`: CSR and transpose from an edge_index, beside the same arrays by torch.sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from harness.results import goals_for
from harness.timing import Measurement, attempt, median, ratio, time_call


def run(case: dict[str, Any], device: str, say: Callable[[str], None]) -> dict[str, Any]:
    """Returns the results of one case of cases/graph.py on one device."""
    from sage_attention import Graph  # loads the ops

    del Graph
    n, e = case["num_nodes"], case["num_edges"]
    threads = case["threads"] if device == "cpu" else torch.get_num_threads()
    before, dtype = torch.get_num_threads(), getattr(torch, case["index_dtype"])
    generator = torch.Generator().manual_seed(case["seed"])
    dst, src = (torch.randint(n, (e,), generator=generator).to(dtype).to(device) for _ in range(2))
    sage = torch.ops.sage

    def both() -> tuple[Tensor, ...]:
        indptr, indices, _, _ = sage.csr_from_coo(dst, src, n, n)
        return (indptr, indices, *sage.csr_transpose(indptr, indices, n))

    torch.set_num_threads(threads)
    try:
        same = all(
            torch.equal(a.long(), b.long())
            for a, b in zip(both()[:4], by_sort(dst, src, n), strict=True)
        )

        def measure(fn: Callable[[], Any]) -> Measurement:
            return attempt(lambda: time_call(fn, device, case["samples"]))

        times = {
            "csr": measure(lambda: sage.csr_from_coo(dst, src, n, n)),
            "csr_and_transpose": measure(both),
        }
        baseline = measure(lambda: by_sort(dst, src, n))
    finally:
        torch.set_num_threads(before)
    result = {
        "name": f"graph/{device}/{case['name']}",
        "params": {
            "nodes": n, "edges": e, "index_dtype": case["index_dtype"], "seed": case["seed"],
            "threads": threads if device == "cpu" else None,
        },
        "numerics": {"same_as_torch_sort": same},
        "times_ms": times,
        "baselines": {"torch_sort": {"csr_and_transpose": baseline}},
        "derived": {
            "csr_and_transpose_ms": median(times["csr_and_transpose"]),
            "torch_sort_over_csr_and_transpose": ratio(baseline, times["csr_and_transpose"]),
        },
        "goals": goals_for(case["goals"], device),
    }  # fmt: skip
    if not same:
        result["wrong"] = "the arrays differ from torch.sort's"
    shown = times["csr_and_transpose"]
    say(f"{result['name']}: csr + transpose {shown.get('status') or shown['median']} ms")
    return result


def by_sort(dst: Tensor, src: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(indptr, indices, t_indptr, t_indices) as plain torch makes them: two stable sorts."""
    rows, order = torch.sort(dst, stable=True)
    indices = src[order]
    cols, back = torch.sort(indices, stable=True)
    return _pointers(rows, n), indices, _pointers(cols, n), rows[back]


def _pointers(sorted_ids: Tensor, n: int) -> Tensor:
    bounds = torch.arange(n + 1, device=sorted_ids.device, dtype=sorted_ids.dtype)
    return torch.searchsorted(sorted_ids, bounds)
