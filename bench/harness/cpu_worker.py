"""One implementation of the CPU case in a process of its own, so that its peak memory is its own.

    python -m harness.cpu_worker sage|<baseline> '{"num_nodes": ..., ...}'

Prints one line of JSON. Both implementations start from the same q, k, v and int64 edge_index in
CSR order; what is resident above those at the worst moment is the peak, for sage_attention
including its graph, the transpose and their building.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from harness import memory, numerics
from harness.timing import attempt, time_call

Step = Callable[[Tensor, Tensor, Tensor], Any]


def main(implementation: str, case: dict[str, Any]) -> dict[str, Any]:
    """Times forward and forward + backward, in milliseconds, and the step's peak in bytes."""
    torch.set_num_threads(case["threads"])
    edge_index, n = _edge_index(case["num_nodes"], case["num_edges"], case["max_degree"], case)
    q, k, v, grad = _features(n, case)
    prepare = _sage if implementation == "sage" else partial(_baseline, implementation)
    warm, small = _edge_index(100, 1000, 100, case)
    _step(prepare(warm, small), *_features(small, case))  # code and thread pools are loaded
    del warm

    restarted = memory.start_high_water()
    before = memory.resident() or 0
    attention = prepare(edge_index, n)
    _step(attention, q, k, v, grad)
    highest = memory.high_water()
    result: dict[str, Any] = {
        "peak": None if highest is None else highest - before,
        "peak_is_exact": restarted,
        "inputs": sum(t.numel() * t.element_size() for t in (q, k, v, grad, edge_index)),
        "times_ms": {},
    }
    if implementation == "sage":
        result["numerics"] = _numerics(edge_index, n, q, k, v, attention)
        result["preprocessing_ms"] = _preprocessing(edge_index, n, case["samples"])

    def forward() -> Any:
        with torch.no_grad():
            return attention(q, k, v)

    times = result["times_ms"]
    times["forward"] = time_call(forward, "cpu", case["samples"])
    times["forward_backward"] = time_call(
        lambda: _step(attention, q, k, v, grad), "cpu", case["samples"]
    )
    return result


def _edge_index(num_nodes: int, num_edges: int, max_degree: int, case: Any) -> tuple[Tensor, int]:
    from sage_attention.datasets.generators import power_law

    graph = power_law(num_nodes, num_edges, max_degree, seed=case["seed"], device="cpu")
    return graph.edge_index(), num_nodes


def _features(n: int, case: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from harness.attention_cuda import features

    dtype = getattr(torch, case["dtype"])
    return features(n, case["heads"], case["head_dim"], dtype, case["seed"], "cpu")


def _sage(edge_index: Tensor, n: int) -> Step:
    from sage_attention import Graph, ops

    graph = Graph.from_edge_index(edge_index, num_src=n, num_dst=n)
    return lambda q, k, v: ops.attention(graph, q, k, v)


def _baseline(name: str, edge_index: Tensor, n: int) -> Step:
    from baselines.pyg import BASELINES

    attention, (src, dst) = BASELINES[name](), edge_index
    return lambda q, k, v: attention(dst, src, n, q, k, v)


def _step(attention: Step, q: Tensor, k: Tensor, v: Tensor, grad: Tensor) -> tuple[Tensor, ...]:
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(attention(*leaves), leaves, grad)


def _numerics(
    edge_index: Tensor, n: int, q: Tensor, k: Tensor, v: Tensor, attention: Step
) -> dict[str, Any]:
    src, dst = edge_index
    indptr = torch.zeros(n + 1, dtype=torch.int64)
    indptr[1:] = torch.bincount(dst, minlength=n).cumsum(0)
    with torch.no_grad():
        out, again = attention(q, k, v), attention(q, k, v)
    errors: dict[str, Any] = dict(numerics.forward_error(indptr, src, q, k, v, out))
    return errors | {"repeatable": torch.equal(out, again)}


def _preprocessing(edge_index: Tensor, n: int, samples: int) -> dict[str, Any]:
    from sage_attention import Graph

    src, dst = edge_index
    graph = Graph.from_edge_index(edge_index, num_src=n, num_dst=n)
    sage = torch.ops.sage
    return {
        "csr": time_call(lambda: sage.csr_from_coo(dst, src, n, n), "cpu", samples),
        "transpose": time_call(
            lambda: sage.csr_transpose(graph.indptr, graph.indices, n), "cpu", samples
        ),
    }


if __name__ == "__main__":
    print(json.dumps(attempt(lambda: main(sys.argv[1], json.loads(sys.argv[2])))))
