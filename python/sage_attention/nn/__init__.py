"""Layers: SageAttentionConv, with PyTorch Geometric's parameters and results."""

from .. import _ready as _ready  # first: its errors say what to install
from .sage_attention_conv import SageAttentionConv

__all__ = ["SageAttentionConv"]
