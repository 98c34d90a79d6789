"""torch.ops.sage.csr_*: against the definition, opcheck, and errors that name the argument."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import sage_attention  # noqa: F401

pytest.importorskip("sage_attention.ops")
ops = torch.ops.sage

SIZES = [(0, 0, 0), (0, 4, 3), (1, 1, 1), (50, 7, 9), (3000, 200, 100), (400, 5, 20000)]


def edges(count: int, num_src: int, num_dst: int, device: str) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(count)
    src = torch.randint(max(num_src, 1), (count,), generator=draw)
    dst = torch.randint(max(num_dst, 1), (count,), generator=draw)
    return dst.to(device), src.to(device)


def build(count: int, num_src: int, num_dst: int, device: str) -> tuple[Tensor, ...]:
    dst, src = edges(count, num_src, num_dst, device)
    return ops.csr_from_coo(dst, src, num_dst, num_src)


def starts(keys: Tensor, rows: int) -> Tensor:
    counts = torch.bincount(keys.long(), minlength=rows)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


@pytest.mark.parametrize(("count", "num_src", "num_dst"), SIZES)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_from_coo(count: int, num_src: int, num_dst: int, dtype: torch.dtype, device: str) -> None:
    dst, src = (t.to(dtype) for t in edges(count, num_src, num_dst, device))
    indptr, indices, edge_ids, num_invalid = ops.csr_from_coo(dst, src, num_dst, num_src)
    order = torch.argsort(dst, stable=True)
    assert indices.dtype == edge_ids.dtype == torch.int32
    assert torch.equal(indptr, starts(dst, num_dst))
    assert torch.equal(edge_ids, order.int())
    assert torch.equal(indices, src[order].int())
    assert num_invalid.tolist() == [0]


def test_from_coo_puts_invalid_edges_last(device: str) -> None:
    dst = torch.tensor([1, 0, 2, -1, 0, 1], device=device)
    src = torch.tensor([0, 5, 0, 0, 1, -(2**40)], device=device)
    indptr, indices, edge_ids, num_invalid = ops.csr_from_coo(dst, src, 2, 2)
    assert indptr.tolist() == [0, 1, 2]
    assert indices[:2].tolist() == [1, 0]
    assert edge_ids.tolist() == [4, 0, 1, 2, 3, 5]
    assert num_invalid.tolist() == [4]


def test_from_coo_takes_any_strides(device: str) -> None:
    edge_index = torch.randint(9, (40, 2), device=device).t()
    got = ops.csr_from_coo(edge_index[1], edge_index[0].expand(40), 9, 9)
    expected = ops.csr_from_coo(edge_index[1].contiguous(), edge_index[0].contiguous(), 9, 9)
    assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))


def test_from_coo_wide_sources(device: str) -> None:
    src = torch.tensor([2**40, 1], device=device)
    _, indices, edge_ids, _ = ops.csr_from_coo(src.new_tensor([0, 0]), src, 1, 2**40 + 1)
    assert (indices.dtype, edge_ids.dtype) == (torch.int64, torch.int32)
    assert torch.equal(indices, src)


@pytest.mark.parametrize(("count", "num_src", "num_dst"), SIZES)
def test_transpose(count: int, num_src: int, num_dst: int, device: str) -> None:
    indptr, indices, _, _ = build(count, num_src, num_dst, device)
    t_indptr, t_indices, perm, position = ops.csr_transpose(indptr, indices, num_src)
    order = torch.argsort(indices, stable=True)
    rows = torch.repeat_interleave(torch.arange(num_dst, device=device), indptr.diff())
    assert torch.equal(t_indptr, starts(indices, num_src))
    assert torch.equal(perm, order.int())
    assert torch.equal(t_indices, rows[order].int())
    assert torch.equal(position[order], torch.arange(count, device=device).int())


def test_self_loops(device: str) -> None:
    indptr = torch.tensor([0, 2, 3], device=device)
    indices = torch.tensor([0, 1, 0], dtype=torch.int32, device=device)
    ids = torch.tensor([2, 0, 1], device=device)
    got = ops.csr_self_loops(indptr, indices, ids, 3, 10)
    assert [t.tolist() for t in got] == [[0, 2, 4], [1, 0, 0, 1, 0], [0, 10, 1, 11, 2]]
    got = ops.csr_self_loops(indptr, indices, None, 1, 3)
    assert [t.tolist() for t in got] == [[0, 2, 3], [1, 0, 0, 0], [1, 3, 2, 0]]


def test_schedule(device: str) -> None:
    indptr = torch.tensor([0, 1, 301, 301, 303, *[303] * 8], device=device)
    tasks, splits = ops.csr_schedule(indptr, 303)
    # Packed as ScheduleView says; the row of 300 edges is cut after each 128.
    parts = [(1, 128, 1, 0), (129, 128, 1, 1), (257, 44, 1, 2), (301, 2, 3, -1), (0, 1, 0, -1)]
    parts += [(301, 0, 2, -1)] + [(303, 0, row, -1) for row in range(4, 12)]
    packed = [[begin | count << 40, row | slot << 32] for begin, count, row, slot in parts]
    assert tasks.tolist() == packed
    assert splits.tolist() == [[1, 3 << 32], [-1, 0]]


@pytest.mark.parametrize(
    ("indptr", "indices", "num_src", "faults"),
    [
        ([0, 2, 3], [0, 1, 1], 2, [-1, -1]),
        ([0, 2, 1], [0, 1], 2, [1, -1]),
        ([0, 1, 2], [0, 7], 2, [-1, 1]),
        ([1, 2], [-1, -1], 2, [0, 0]),
        ([0, 2**60], [0, 0], 1, [0, -1]),
        ([0], [], 0, [-1, -1]),
    ],
)
def test_validate(
    indptr: list[int], indices: list[int], num_src: int, faults: list[int], device: str
) -> None:
    starts_, sources = (
        torch.tensor(x, dtype=torch.int64, device=device) for x in (indptr, indices)
    )
    assert ops.csr_validate(starts_, sources, num_src).tolist() == faults


@pytest.mark.parametrize(("count", "num_src", "num_dst"), [(0, 0, 0), (50, 7, 9)])
def test_opcheck(count: int, num_src: int, num_dst: int, device: str) -> None:
    dst, src = edges(count, num_src, num_dst, device)
    indptr, indices, edge_ids, _ = build(count, num_src, num_dst, device)
    check = torch.library.opcheck
    check(ops.csr_from_coo.default, (dst, src, num_dst, num_src))
    check(ops.csr_transpose.default, (indptr, indices, num_src))
    check(ops.csr_self_loops.default, (indptr, indices, edge_ids, num_src, count))
    check(ops.csr_schedule.default, (indptr, count))
    check(ops.csr_validate.default, (indptr, indices, num_src))


INDPTR, INDICES = torch.tensor([0, 1]), torch.tensor([0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.csr_from_coo(INDICES.float(), INDICES, 1, 1), "dst must be int32 or int64"),
        (lambda: ops.csr_from_coo(INDICES, INDICES[None], 1, 1), "src must have 1 dimension, got"),
        (lambda: ops.csr_from_coo(INDICES, INDPTR, 1, 1), "src must have size 1 in dimension 0"),
        (lambda: ops.csr_from_coo(INDICES, INDICES, -1, 1), "num_dst must not be negative, got -1"),
        (lambda: ops.csr_transpose(INDPTR.int(), INDICES, 1), "indptr must be int64, got int32"),
        (lambda: ops.csr_transpose(INDPTR[:0], INDICES, 1), "indptr must have one element more"),
        (lambda: ops.csr_transpose(INDPTR, INDICES, -2), "num_src must not be negative, got -2"),
        (lambda: ops.csr_self_loops(INDPTR, INDICES, INDPTR, 1, 1), "edge_ids must have size 1"),
        (lambda: ops.csr_self_loops(INDPTR, INDICES, None, 1, -1), "num_ids must not be negative"),
        (lambda: ops.csr_schedule(INDPTR, -1), "num_edges must not be negative, got -1"),
        (lambda: ops.csr_schedule(INDPTR, 2**41), "less than 2\\^31 tasks and 2\\^40 edges"),
        (lambda: ops.csr_validate(INDPTR[None], INDICES, 1), "indptr must have 1 dimension, got"),
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_devices_must_agree() -> None:
    with pytest.raises(RuntimeError, match="indices must be on the device of indptr, cuda:0"):
        ops.csr_transpose(INDPTR.cuda(), INDICES, 1)
