"""Cases of `bench/run.py graph`: CSR and transpose of the edge_index that a mini-batch brings."""

_GOALS = {"at_most": {"csr_and_transpose_ms": {"cuda": 0.5, "cpu": 20.0}}}
_SHARED = {
    "num_nodes": 100_000,
    "num_edges": 1_000_000,
    "threads": 1,  # on the CPU
    "samples": 31,
    "seed": 0,
    "goals": _GOALS,
}

CASES = {
    "cases": [
        {"name": "edges-1m", "index_dtype": "int64", **_SHARED},
        {"name": "edges-1m-int32", "index_dtype": "int32", **_SHARED},
    ]
}
