"""Checks of results against float64, done before anything is timed.

The reference is the formula in plain torch, materialising what the kernels avoid; large graphs are
compared on sampled rows and on the row with the most edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

SAMPLED_ROWS = 256


def dot_attention(
    dst: Tensor, src: Tensor, num_dst: int, q: Tensor, k: Tensor, v: Tensor
) -> Tensor:
    """softmax over in-edges of q_i . k_j / sqrt(D), times v_j; dst and src int64 [E]; any dtype."""
    logit = (q[dst] * k[src]).sum(-1) / math.sqrt(q.size(-1))
    index = dst[:, None].expand_as(logit)
    top = logit.new_full((num_dst, logit.size(1)), -math.inf)
    top = top.scatter_reduce(0, index, logit.detach(), "amax")
    weight = torch.exp(logit - top[dst])
    total = torch.zeros_like(top).index_add(0, dst, weight)
    message = (weight / total[dst])[:, :, None] * v[src]
    return message.new_zeros(num_dst, *message.shape[1:]).index_add(0, dst, message)


def relative_error(got: Tensor, expected: Tensor) -> float:
    """Frobenius norm of the difference over that of `expected`; NaN where `got` has one."""
    expected = expected.double()
    return float((got.double() - expected).norm() / expected.norm())


def forward_error(
    indptr: Tensor, indices: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor
) -> dict[str, float]:
    """Relative errors of `out` on sampled rows and on the hub, the row with the most edges."""
    degree = indptr[1:] - indptr[:-1]
    generator = torch.Generator(device=q.device).manual_seed(1)
    rows = torch.randint(degree.numel(), (SAMPLED_ROWS,), device=q.device, generator=generator)
    hub = degree.argmax()[None]
    return {
        "forward": _row_error(rows, indptr, indices, q, k, v, out),
        "hub": _row_error(hub, indptr, indices, q, k, v, out),
    }


def gradient_errors(
    attention: Callable[..., Any],
    graph: Any,
    inputs: tuple[Tensor, Tensor, Tensor],
    grad: Tensor,
) -> dict[str, float]:
    """Relative errors of output and gradients on one whole (small) graph."""
    dst, src = graph.rows(), graph.indices.long()
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    out = attention(graph, *leaves)
    got = torch.autograd.grad(out, leaves, grad)
    exact = [x.detach().double().requires_grad_() for x in inputs]
    expected = dot_attention(dst, src, graph.num_dst, *exact)
    wanted = torch.autograd.grad(expected, exact, grad.double())
    names = ("dq", "dk", "dv")
    errors = {n: relative_error(a, b) for n, a, b in zip(names, got, wanted, strict=True)}
    return {"out": relative_error(out.detach(), expected.detach())} | errors


def _row_error(
    rows: Tensor, indptr: Tensor, indices: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor
) -> float:
    begin, count = indptr[rows], indptr[rows + 1] - indptr[rows]
    dst = torch.repeat_interleave(torch.arange(rows.numel(), device=rows.device), count)
    first = torch.cumsum(count, 0) - count
    position = torch.arange(dst.numel(), device=rows.device) - first[dst] + begin[dst]
    src, local = torch.unique(indices[position].long(), return_inverse=True)
    expected = dot_attention(
        dst, local, rows.numel(), q[rows].double(), k[src].double(), v[src].double()
    )
    return relative_error(out[rows], expected)
