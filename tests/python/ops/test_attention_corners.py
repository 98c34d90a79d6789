"""ops.attention where it is easily wrong: extreme scores, side streams, bad input."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from sage_attention import Graph, ops
from sage_attention.testing import graphs, tolerances

ZOO = graphs.zoo()


def test_raw_op_without_its_transpose(device: str) -> None:
    graph = ZOO["random"].graph(device)
    x = torch.randn(157, 1, 4, device=device, requires_grad=True)
    arrays = (graph.indptr, graph.indices, graph.edge_ids, *(graph.schedule() or (None, None)))
    rest = (None, None, None, "dot", 1.0, 0.0)
    out, lse = torch.ops.sage.attention(*arrays, *(None,) * 6, x, x, x, *rest)
    assert not lse.requires_grad
    with pytest.raises(RuntimeError, match=r"needs the transpose .* for its backward"):
        out.sum().backward()


def test_extreme_scores(dtype: torch.dtype, device: str) -> None:
    """All scores very negative, all zero, all -inf; one NaN stays in its row."""
    graph = Graph.from_edge_index([[0, 1, 2, 0, 1], [0, 0, 0, 1, 1]]).to(device)
    v = torch.tensor([1.0, 2.0, 3.0]).view(3, 1, 1).to(device, dtype)
    zero = torch.zeros(3, 1, 1).to(v)

    def run(bias: list[float]) -> list[float]:
        edge_bias = torch.tensor(bias).to(v)
        out = ops.attention(graph, zero, zero, v, edge_bias=edge_bias)
        assert isinstance(out, Tensor)
        result: list[float] = out.flatten().tolist()
        return result

    def close(*values: float) -> Any:
        return pytest.approx(values, rel=tolerances.tolerance(dtype), abs=0.0)

    inf = math.inf
    assert run([0.0] * 5) == close(2.0, 1.5, 0.0)
    assert run([-1e4] * 5) == close(2.0, 1.5, 0.0)
    assert run([-inf, -inf, -inf, 0.0, 0.0]) == close(0.0, 1.5, 0.0)
    assert run([-inf, 0.0, -inf, 0.0, -inf]) == close(2.0, 1.0, 0.0)
    first, second, third = run([math.nan, 0.0, 0.0, 0.0, 0.0])
    assert math.isnan(first)
    assert (second, third) == close(1.5, 0.0)


def test_rows_of_minus_infinity_have_zero_gradients(device: str) -> None:
    graph = Graph.from_edge_index([[0, 1, 0], [0, 0, 1]]).to(device)
    x = [torch.randn(2, 1, 3, device=device, requires_grad=True) for _ in range(3)]
    bias = torch.tensor([-math.inf, -math.inf, 0.0], device=device, requires_grad=True)
    out, alpha = ops.attention(graph, *x, edge_bias=bias, return_attention=True)
    grads = torch.autograd.grad(out.sum() + alpha.sum(), [*x, bias])
    assert all(grad.isfinite().all() for grad in grads)
    assert alpha.flatten().tolist() == [0.0, 0.0, 1.0]
    assert (out[0] == 0).all()


def test_side_stream() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    case = ZOO["hub"]
    x = [torch.randn(40, 2, 16, device="cuda", requires_grad=True) for _ in range(3)]
    expected = torch.autograd.grad(ops.attention(case.graph("cuda"), *x).sum(), x)
    graph = case.graph("cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        grads = torch.autograd.grad(ops.attention(graph, *x).sum(), x)
    # No synchronisation: the cached arrays order the streams by themselves.
    again = torch.autograd.grad(ops.attention(graph, *x).sum(), x)
    torch.cuda.synchronize()
    for a, b, c in zip(expected, grads, again, strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a, c)


class Sums(torch.utils.data.Dataset[Tensor]):
    """Attention computed where the items are asked for."""

    def __init__(self, graph: Graph, x: Tensor) -> None:
        self.graph, self.x = graph, x

    def __len__(self) -> int:
        return 4

    def __getitem__(self, _: int) -> Tensor:
        out = ops.attention(self.graph, self.x, self.x, self.x)
        assert isinstance(out, Tensor)
        return out.sum()


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_workers_of_a_data_loader() -> None:
    """Forked after this process has used threads."""
    items = Sums(ZOO["degrees_1024"].graph(), torch.randn(ZOO["degrees_1024"].num_src, 2, 4))
    expected = items[0]
    loaded = torch.cat(list(torch.utils.data.DataLoader(items, num_workers=2)))
    torch.testing.assert_close(loaded, expected.expand(4))


def bad(case: graphs.Case, **changes: Any) -> dict[str, Any]:
    x = {name: torch.randn(case.num_src, 2, 4) for name in ("q", "k", "v")}
    return {"graph": case.graph(), **x, **changes}


BAD = {
    "graph": ({"graph": torch.zeros(2, 3)}, TypeError, "Graph.from_edge_index"),
    "q rows": ({"q": torch.zeros(1, 2, 4)}, ValueError, r"q must have shape \[num_dst, H, D\]"),
    "q 2-D": ({"q": torch.zeros(20, 2)}, ValueError, r"= \[20, \*, \*\] with .*, got \[20, 2\]"),
    "k heads": ({"k": torch.zeros(20, 3, 4)}, ValueError, r"k must have .*= \[20, 2, 4\], got"),
    "v rows": ({"v": torch.zeros(9, 2, 4)}, ValueError, r"v must have shape \[num_src, H, Dv\]"),
    "no features": ({"v": torch.zeros(20, 2, 0)}, ValueError, "v must have shape"),
    "wide": ({"v": torch.zeros(20, 2, 513)}, ValueError, "v has head_dim 513, at most 512 is"),
    "half": ({"q": torch.zeros(20, 2, 4).half()}, TypeError, "supported are float32, float64, bf"),
    "mixed": ({"k": torch.zeros(20, 2, 4).double()}, TypeError, "k has dtype .*but q has"),
    "bias rows": ({"edge_bias": torch.zeros(3)}, ValueError, "edge_bias must have .*one row an"),
    "bias heads": ({"edge_bias": torch.zeros(63, 5)}, ValueError, r"edge_bias .* got \[63, 5\]"),
    "weight": ({"edge_weight": torch.zeros(63, 2).double()}, TypeError, "edge_weight has dtype"),
    "list": ({"v": [1.0]}, TypeError, "v must be a tensor, got list"),
    "dropout": ({"dropout": 1.1}, ValueError, r"dropout must be in \[0, 1\], got 1.1"),
    "device": ({"q": torch.zeros(20, 2, 4, device="meta")}, ValueError, "q is on meta, the graph"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    changes, error, message = BAD[name]
    assert ZOO["self_loops"].edge_index.shape[1] == 63
    with pytest.raises(error, match=message):
        ops.attention(**bad(ZOO["self_loops"], **changes))


def test_bad_input_of_gat() -> None:
    graph = ZOO["self_loops"].graph()
    a, v = torch.zeros(20, 2), torch.zeros(20, 2, 4)
    with pytest.raises(ValueError, match=r"a_src must have shape \[num_src, H\] = \[20, 2\]"):
        ops.gat_attention(graph, a, a[:, :1], v)
    with pytest.raises(ValueError, match=r"a_dst must have shape"):
        ops.gat_attention(graph, v, a, v)
