"""Puts bench/ on the path: its modules are scripts, not part of the package."""

import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))


@pytest.fixture
def document() -> dict[str, Any]:
    """A small result file of the CUDA suite, as run.py writes it."""

    def ms(value: float) -> dict[str, Any]:
        return {"median": value, "min": value - 0.1, "max": value + 0.1, "samples": 11}

    return {
        "format": 1,
        "suite": "attention",
        "device": "cuda",
        "quick": False,
        "date": "2026-01-02T03:04:05Z",
        "commit": "0123456789ab",
        "environment": {
            "gpu": {"name": "Some GPU", "driver": "1.2"},
            "cpu": {"name": "Some CPU", "logical_cores": 2, "isa": "AVX2"},
            "torch": "2.11.0",
            "cuda": "13.0",
            "packages": {"torch_geometric": "2.8.0", "triton": None},
        },
        "cases": [
            {
                "name": "attention/cuda/arxiv",
                "params": {
                    "graph": "arxiv",
                    "nodes": 169343,
                    "edges": 2332486,
                    "heads": 4,
                    "head_dim": 32,
                    "dtype": "bfloat16",
                },
                "numerics": {"forward": 1e-3, "hub": 2e-3, "repeatable": True},
                "times_ms": {
                    "gather_ceiling": ms(2.0),
                    "forward": ms(3.0),
                    "forward_backward": ms(9.0),
                },
                "preprocessing_ms": {"csr": ms(0.5)},
                "memory": {"peak": 3 << 30, "bound": 2 << 30, "over_bound": 1.5},
                "baselines": {
                    "pyg_eager": {
                        "forward": {"status": "out of memory"},
                        "forward_backward": {"status": "out of memory"},
                    },
                    "pyg_compiled": {
                        "forward": ms(6.0),
                        "forward_backward": {"status": "failed: X"},
                    },
                },
                "derived": {"forward_over_gather": 1.5, "pyg_eager_over_forward": None},
                "goals": {"at_most": {"forward_over_gather": 1.6}},
            }
        ],
    }
