"""Parts of the benches: environment, timing, numerics, the suites, and how results are written."""
