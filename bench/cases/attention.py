"""Cases of `bench/run.py attention`."""

CASES = {
    "cuda": {
        "graphs": ["arxiv", "reddit", "products", "igb-medium"],  # twins of sage_attention.datasets
        "heads": 4,
        "head_dim": 32,
        "dtype": "bfloat16",
        "seed": 0,
        "samples": 15,
        "baselines": ["pyg_eager", "pyg_compiled"],
        "goals": {
            "at_most": {
                "forward_over_gather": {
                    "arxiv": 1.6,
                    "reddit": 1.2,
                    "products": 1.2,
                    "igb-medium": 1.2,
                },
                "forward_backward_over_gather": 4.2,
                "memory_over_bound": 1.5,
            },
        },
    },
    "cpu": {
        "name": "transformer-170k",
        "num_nodes": 170_000,
        "num_edges": 1_200_000,
        "max_degree": 13_000,
        "heads": 4,
        "head_dim": 16,
        "dtype": "float32",
        "threads": 2,
        "seed": 0,
        "samples": 11,
        "baselines": ["pyg_eager"],
        "quick": {"num_nodes": 1_700, "num_edges": 12_000, "max_degree": 130},
        "goals": {
            "at_least": {"pyg_eager_over_forward_backward": 5.0},
            "at_most": {"memory_over_pyg_eager": 1 / 3},
        },
    },
    # Largest relative error (Frobenius norm, against float64) of a result that is worth timing.
    "tolerance": {
        "bfloat16": {"forward": 5e-3, "gradients": 1e-2},
        "float32": {"forward": 1e-5, "gradients": 1e-5},
    },
    # The small graph on which gradients are compared in full.
    "gradient_graph": {"num_nodes": 3_000, "num_edges": 40_000, "max_degree": 1_500},
}
