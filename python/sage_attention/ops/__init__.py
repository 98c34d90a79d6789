"""Functions on graphs: fused attention, gather-and-reduce, and operations on segments.

All take a sage_attention.Graph and dense features, are differentiable, run on CPU and CUDA, and
repeat bit for bit. float32, float64 and bfloat16; sums are kept in float32 at least. The
backward of attention and softmax reads their output: it must not be changed in place before that.
"""

from .. import _ready as _ready  # first: its errors say what to install
from .aggregate import aggregate
from .attention import attention, gat_attention
from .segment import segment_reduce, segment_softmax

__all__ = ["aggregate", "attention", "gat_attention", "segment_reduce", "segment_softmax"]
