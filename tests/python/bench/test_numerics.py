"""The benches' float64 reference and the baselines, against loops written from the formula."""

import math

import pytest
import torch

from harness import numerics


def by_loops(dst, src, num_dst, q, k, v):
    out = torch.zeros(num_dst, *v.shape[1:], dtype=v.dtype)
    for i in range(num_dst):
        edges = [e for e in range(len(dst)) if dst[e] == i]
        for h in range(q.shape[1]):
            logits = [float(q[i, h] @ k[src[e], h]) / math.sqrt(q.shape[2]) for e in edges]
            total = sum(math.exp(x) for x in logits)
            for e, logit in zip(edges, logits, strict=True):
                out[i, h] += math.exp(logit) / total * v[src[e], h]
    return out


@pytest.fixture
def case():
    generator = torch.Generator().manual_seed(0)
    dst = torch.tensor([0, 0, 0, 1, 3, 3])  # row 2 has no edges
    src = torch.tensor([1, 1, 2, 0, 3, 4])
    q, k, v = (torch.randn(5, 2, 3, generator=generator, dtype=torch.float64) for _ in range(3))
    return dst, src, 5, q, k, v


def test_reference_is_the_formula(case):
    torch.testing.assert_close(numerics.dot_attention(*case), by_loops(*case))


def test_baseline_is_the_formula(case):
    pytest.importorskip("torch_geometric")
    from baselines.pyg import eager

    torch.testing.assert_close(eager()(*case), by_loops(*case))


def test_errors_of_right_and_wrong_outputs(case):
    _, src, _, q, k, v = case
    indptr = torch.tensor([0, 3, 4, 4, 6, 6])
    out = by_loops(*case)
    right = numerics.forward_error(indptr, src, q, k, v, out)
    assert max(right.values()) < 1e-12
    out[0] *= 1.5  # row 0 is the hub
    assert numerics.forward_error(indptr, src, q, k, v, out)["hub"] == pytest.approx(0.5)
    out[0] = math.nan
    assert not numerics.forward_error(indptr, src, q, k, v, out)["hub"] <= 1.0


def test_gradients_are_compared(case):
    dst, src, n, q, k, v = case

    class Rows:
        indices, num_dst = src, n

        @staticmethod
        def rows():
            return dst

    grad = torch.ones_like(v)

    def attention(graph, q, k, v):
        return numerics.dot_attention(dst, src, n, q, k, v)

    def wrong(graph, q, k, v):
        return attention(graph, q.detach() + 0 * q, k, v)

    errors = numerics.gradient_errors(attention, Rows, (q, k, v), grad)
    assert max(errors.values()) < 1e-12
    errors = numerics.gradient_errors(wrong, Rows, (q, k, v), grad)
    assert errors["dq"] == pytest.approx(1.0)
    assert errors["dk"] < 1e-12
