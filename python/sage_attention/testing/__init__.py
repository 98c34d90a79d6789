"""What tests of attention on graphs need: graphs with hard shapes, oracles, tolerances.

`graphs.zoo()` names the graphs that break kernels, `oracles` has every function of
sage_attention.ops as a plain torch formula to compare with (and to differentiate twice), and
`tolerances.assert_close` compares as closely as a dtype allows. Use them to test scores and ops of
your own:

    >>> from sage_attention import ops, testing
    >>> case = testing.graphs.zoo()["hub"]
    >>> x = torch.randn(case.num_src, 2, 5)
    >>> testing.tolerances.assert_close(
    ...     ops.aggregate(case.graph(), x),
    ...     testing.oracles.aggregate(case.edge_index, case.num_dst, x.double()),
    ... )
"""

from .. import _ready as _ready  # first: its errors say what to install
from . import graphs, oracles, tolerances

__all__ = ["graphs", "oracles", "tolerances"]
