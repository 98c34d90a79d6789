"""What surrounds a measurement: summaries, reasons for missing figures, memory readings."""

import pytest
import torch

from harness import memory, timing


def test_summary_keeps_the_spread():
    assert timing.summary([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0, "samples": 3}


def test_ratio_needs_two_figures():
    assert timing.ratio({"median": 3.0}, {"median": 2.0}) == 1.5
    assert timing.ratio({"median": 3.0}, {"status": "out of memory"}) is None
    assert timing.ratio(None, {"median": 2.0}) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried ..."), "out of memory"),
        (MemoryError(), "out of memory"),
        (ImportError("No module named 'x'", name="x"), "not installed: x"),
        (ValueError("first line\nsecond"), "failed: ValueError: first line"),
    ],
)
def test_a_failing_measurement_is_a_result(error, status):
    def measure():
        raise error

    assert timing.attempt(measure) == {"status": status}


def test_cpu_calls_are_counted():
    calls = []
    result = timing.time_call(lambda: calls.append(1), "cpu", samples=5)
    assert result["samples"] == 5
    assert len(calls) == 2 + timing.WARMUP + 5


def test_the_high_water_mark_sees_memory_that_was_freed():
    if memory.resident() is None:
        pytest.skip("this system does not tell a process's memory")
    exact = memory.start_high_water()
    before = memory.resident()
    block = bytearray(64 << 20)
    block[::4096] = b"x" * len(block[::4096])
    del block
    if exact:
        assert memory.high_water() - before >= 60 << 20
    else:
        assert memory.high_water() >= 60 << 20
