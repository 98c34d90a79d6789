"""Times and peak memory of a callable. Figures are medians with their spread, never one shot."""

from __future__ import annotations

import contextlib
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

Measurement = dict[str, Any]

SLOW_S = 1.0  # a call above this is measured with SLOW_SAMPLES only
SLOW_SAMPLES = 3
WARMUP = 3


def summary(samples: Sequence[float]) -> Measurement:
    """Median, min and max of samples in milliseconds, and how many there are."""
    return {
        "median": round(statistics.median(samples), 5),
        "min": round(min(samples), 5),
        "max": round(max(samples), 5),
        "samples": len(samples),
    }


def median(measurement: Measurement | None) -> float | None:
    """The median of a measurement, or None where there is a status instead."""
    return measurement.get("median") if measurement else None


def ratio(a: Measurement | None, b: Measurement | None) -> float | None:
    """median(a) / median(b), None unless both were measured."""
    x, y = median(a), median(b)
    return None if x is None or not y else round(x / y, 4)


def attempt(measure: Callable[[], Measurement]) -> Measurement:
    """measure(), or {"status": why not}: out of memory and failing baselines are results too."""
    try:
        return measure()
    except ImportError as error:
        status = f"not installed: {error.name or error}"
    except (torch.OutOfMemoryError, MemoryError):
        status = "out of memory"
    except Exception as error:  # a baseline may fail in any way; ours is checked before it is timed
        lines = str(error).strip().splitlines()
        text = "out of memory" if "out of memory" in str(error).lower() else (lines or [""])[0]
        status = (
            text if text == "out of memory" else f"failed: {type(error).__name__}: {text[:160]}"
        )
    # Outside the handler, so that the traceback no longer holds the tensors of the failed call.
    release()
    return {"status": status}


def release() -> None:
    """Frees what nothing refers to any more, the CUDA cache included."""
    gc.collect()
    if torch.cuda.is_available():
        with contextlib.suppress(
            RuntimeError
        ):  # a context that a baseline broke: the next call says so
            torch.cuda.empty_cache()


def time_call(fn: Callable[[], Any], device: str, samples: int) -> Measurement:
    """Times fn on `device` ("cuda": GPU time by events; "cpu": wall time), after warm-up.

    `first_s` is the first call with everything that happens once (compilation, caches).
    """
    sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    first_s = _wall(fn, sync)
    again_s = _wall(fn, sync)
    if again_s > SLOW_S:
        samples = min(samples, SLOW_SAMPLES)
    else:
        for _ in range(WARMUP):
            fn()
        sync()
    if device == "cuda":
        result = _cuda_events(fn, samples)
    else:
        result = summary([1e3 * _wall(fn, sync) for _ in range(samples)])
    return result | {"first_s": round(first_s, 3)}


def peak_cuda(fn: Callable[[], Any]) -> int:
    """Bytes allocated by torch at the worst moment of fn, what was allocated before included."""
    release()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    fn()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated()


def _wall(fn: Callable[[], Any], sync: Callable[[], Any]) -> float:
    start = time.perf_counter()
    fn()
    sync()
    return time.perf_counter() - start


def _cuda_events(fn: Callable[[], Any], samples: int) -> Measurement:
    """GPU time. The GPU is kept busy while the host enqueues, so launch latency is not in it; what
    the host needs is kept apart as host_ms."""
    start = time.perf_counter()
    fn()
    host_s = time.perf_counter() - start
    torch.cuda.synchronize()
    busy_cycles = int(2e9 * min(2 * host_s + 1e-4, 0.02))
    times, host = [], []
    for _ in range(samples):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(busy_cycles)
        start = time.perf_counter()
        begin.record()
        fn()
        end.record()
        host.append(1e3 * (time.perf_counter() - start))
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return summary(times) | {"host_ms": round(statistics.median(host), 5)}
