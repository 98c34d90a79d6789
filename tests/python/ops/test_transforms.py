"""Transforms of torch.func and forward mode over every op: the right value, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from sage_attention import Graph, ops
from sage_attention.testing import graphs, oracles

CASE = graphs.zoo()["self_loops"]  # 20 nodes
SRC, DST = CASE.edge_index
F = Callable[[Tensor], Tensor]


def features(device: str = "cpu") -> Tensor:
    return torch.randn(20, 2, 3, dtype=torch.float64).to(device)


def loss(out: Any) -> Tensor:
    parts = out if isinstance(out, tuple) else (out,)
    return sum((part.sin() * part).sum() for part in parts)


def by_op(graph: Graph) -> dict[str, F]:
    return {
        "attention": lambda x: loss(ops.attention(graph, x, x, x, return_attention=True)),
        "gat_attention": lambda x: loss(ops.gat_attention(graph, x[..., 0], x[..., 1], x)),
        "aggregate": lambda x: loss(ops.aggregate(graph, x, x[SRC, :, 0], "mean")),
        "aggregate max": lambda x: loss(ops.aggregate(graph, x, x[SRC, :, 0], "max")),
        "segment_softmax": lambda x: loss(ops.segment_softmax(x[SRC], graph)),
        "segment_reduce": lambda x: loss(ops.segment_reduce(x[SRC], graph, "max")),
    }


FORMULAS: dict[str, F] = {
    "attention": lambda x: loss(oracles.attention(CASE.edge_index, 20, x, x, x)),
    "gat_attention": lambda x: loss(
        oracles.gat_attention(CASE.edge_index, 20, x[..., 0], x[..., 1], x)[0]
    ),
    "aggregate": lambda x: loss(
        oracles.aggregate(CASE.edge_index, 20, x, x[SRC, :, 0], reduce="mean")
    ),
    "aggregate max": lambda x: loss(
        oracles.aggregate(CASE.edge_index, 20, x, x[SRC, :, 0], reduce="max")
    ),
    "segment_softmax": lambda x: loss(oracles.softmax_by(x[SRC], DST, 20)),
    "segment_reduce": lambda x: loss(oracles.reduce_by(x[SRC], DST, 20, "max")),
}
every_op = pytest.mark.parametrize("name", FORMULAS)


def expected_gradient(name: str, x: Tensor) -> Tensor:
    on_cpu = x.detach().cpu().requires_grad_()
    return torch.autograd.grad(FORMULAS[name](on_cpu), on_cpu)[0].to(x)


@every_op
def test_reverse_mode(name: str, device: str) -> None:
    f, x = by_op(CASE.graph(device))[name], features(device)
    expected = expected_gradient(name, x)
    one = torch.ones_like(f(x))
    for transformed in (grad(f)(x), vjp(f, x)[1](one)[0], jacrev(f)(x)):
        torch.testing.assert_close(transformed, expected)


@every_op
def test_a_graph_first_used_in_a_transform_works_outside(name: str, device: str) -> None:
    f, x = by_op(CASE.graph(device))[name], features(device)
    torch.testing.assert_close(grad(f)(x), expected_gradient(name, x))
    x.requires_grad_()
    torch.testing.assert_close(torch.autograd.grad(f(x), x)[0], expected_gradient(name, x))


def test_what_a_graph_keeps_does_not_belong_to_a_transform(device: str) -> None:
    graph, x = CASE.graph(device), features(device)
    grad(lambda x: loss(ops.attention(graph, x, x, x, self_loops=True)))(x)
    looped = graph.with_self_loops()
    for array in (*looped.arrays(), *looped.transpose()):
        assert not torch._C._functorch.is_functorch_wrapped_tensor(array)


def test_a_transpose_made_in_a_transform_is_kept_for_all(device: str) -> None:
    graph, x = CASE.graph(device), features(device)
    grad(lambda x: graph.transpose().perm.sum() * x.sum())(x)
    for array in graph.transpose():
        assert not torch._C._functorch.is_functorch_wrapped_tensor(array)


@every_op
def test_batches(name: str, device: str) -> None:
    """Gradients of each sample, of all samples, and values."""
    f = by_op(CASE.graph(device))[name]
    x = torch.stack([features(device) for _ in range(3)])
    each = torch.stack([expected_gradient(name, sample) for sample in x])
    torch.testing.assert_close(vmap(grad(f))(x), each)
    torch.testing.assert_close(grad(lambda x: vmap(f)(x).sum())(x), each)
    values = torch.stack([FORMULAS[name](sample) for sample in x.cpu()]).to(x)
    torch.testing.assert_close(vmap(f)(x), values)
    torch.testing.assert_close(vmap(vmap(f))(x[None])[0], values)
    torch.testing.assert_close(vmap(f, in_dims=-1)(x.movedim(0, -1)), values)


def test_a_batch_of_one_operand_only() -> None:
    graph, x, weights = CASE.graph(), features(), torch.rand(3, 63, dtype=torch.float64)
    out = vmap(lambda w: ops.aggregate(graph, x, w))(weights)
    for mine, weight in zip(out, weights, strict=True):
        torch.testing.assert_close(mine, oracles.aggregate(CASE.edge_index, 20, x, weight))


def test_an_empty_batch() -> None:
    graph = CASE.graph()
    with pytest.raises(ValueError, match=r"vmap over sage_attention.ops.segment_softmax needs a"):
        vmap(lambda s: ops.segment_softmax(s, graph))(torch.zeros(0, 63))


@every_op
def test_second_derivatives(name: str) -> None:
    f, x = by_op(CASE.graph())[name], features()

    def twice(f: F) -> Tensor:
        result: Tensor = grad(lambda x: grad(f)(x).sin().sum())(x)
        return result

    if name == "aggregate":
        torch.testing.assert_close(twice(f), twice(FORMULAS[name]))
    else:
        with pytest.raises(RuntimeError, match=rf"ops.{name.split()[0]}.* differentiated twice"):
            twice(f)


def dual(f: F, x: Tensor, tangent: Tensor) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, tangent))).tangent


@every_op
def test_forward_mode_is_refused(name: str) -> None:
    f, x = by_op(CASE.graph())[name], features()
    ways: dict[str, Callable[[], Any]] = {
        "jvp": lambda: jvp(f, (x,), (x,)),
        "jacfwd": lambda: jacfwd(f)(x),
        "hessian": lambda: hessian(f)(x),
        "grad of jvp": lambda: grad(lambda x: jvp(f, (x,), (x,))[1])(x),
        "dual": lambda: dual(f, x, x),
        "dual with gradient": lambda: dual(f, x.clone().requires_grad_(), x),
    }
    for run in ways.values():
        with pytest.raises(NotImplementedError, match=rf"no forward-mode .*ops.{name.split()[0]}"):
            run()
    with torch.no_grad(), pytest.raises(NotImplementedError, match="no forward-mode"):
        dual(f, x, x)


@every_op
def test_a_tangent_of_the_upstream_gradient_is_refused(name: str) -> None:
    x = features().requires_grad_()
    out = by_op(CASE.graph())[name](x)
    with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
        dual(lambda up: torch.autograd.grad(out, x, up)[0], torch.ones_like(out), out.detach())


@every_op
def test_the_formulas_that_errors_recommend_have_what_is_missing(name: str) -> None:
    f, x = FORMULAS[name], features()
    tangent = jvp(f, (x,), (x,))[1]
    torch.testing.assert_close(tangent, (grad(f)(x) * x).sum())
    assert grad(lambda x: grad(f)(x).sum())(x).isfinite().all()


@every_op
def test_a_dual_level_without_tangents(name: str) -> None:
    f, x = by_op(CASE.graph())[name], features()
    with forward_ad.dual_level():
        torch.testing.assert_close(f(x), FORMULAS[name](x))


@every_op
def test_inside_torch_compile(name: str, device: str) -> None:
    graph = CASE.graph(device)
    for make in (graph.transpose, graph.schedule, graph.transpose_schedule):
        make()
    f, x = by_op(graph)[name], features(device)
    compiled = torch.compile(grad(f), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), expected_gradient(name, x))
    forward = torch.compile(lambda x: jvp(f, (x,), (x,))[1], backend="aot_eager")
    with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
        forward(x)


def test_raw_ops(device: str) -> None:
    """torch.ops.sage.* follow the same rules as the public functions."""
    ptr, x = torch.tensor([0, 3, 7], device=device), torch.randn(7, device=device)

    def f(x: Tensor) -> Tensor:
        out: Tensor = torch.ops.sage.segment_softmax(x, ptr).square().sum()
        return out

    x.requires_grad_()
    expected = torch.autograd.grad(f(x), x)[0]
    torch.testing.assert_close(grad(f)(x.detach()), expected)
    torch.testing.assert_close(vmap(grad(f))(x.detach()[None])[0], expected)
    with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
        jvp(f, (x.detach(),), (x.detach(),))


def test_dropout_of_batches() -> None:
    """vmap's `randomness` rules, as for torch's own dropout."""
    graph, x = CASE.graph(), features().expand(3, -1, -1, -1)

    def f(x: Tensor) -> Any:
        return ops.attention(graph, x, x, x, dropout=0.5)

    with pytest.raises(RuntimeError, match="randomness"):
        vmap(f)(x)
    first, *others = vmap(f, randomness="same")(x)
    assert all(torch.equal(first, other) for other in others)
    first, *others = vmap(f, randomness="different")(x)
    assert not any(torch.equal(first, other) for other in others)
