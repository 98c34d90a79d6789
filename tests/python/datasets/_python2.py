"""Writes the pickles that Python 2 and the NumPy and SciPy of 2016 wrote, opcode by opcode."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


def _int(value: int) -> bytes:
    return b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)


def _text(value: bytes) -> bytes:
    return b"T" + struct.pack("<i", len(value)) + value


def _array(array: Any) -> bytes:
    order = ">" if array.dtype.byteorder == ">" else "<"
    code = array.dtype.str[1:].encode()
    shape = b"".join(_int(n) for n in array.shape) + (b"\x85" if array.ndim == 1 else b"\x86")
    dtype = b"cnumpy\ndtype\n" + _text(code) + b"K\x00K\x01\x87R(K\x03" + _text(order.encode())
    dtype += b"NNN" + _int(-1) + _int(-1) + b"K\x00tb"
    head = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + _text(b"b")
    return head + b"\x87R(K\x01" + shape + dtype + b"\x89" + _text(array.tobytes()) + b"tb"


def pickled_array(array: Any) -> bytes:
    """A one- or two-dimensional array."""
    return b"\x80\x02" + _array(array) + b"."


def pickled_csr(
    data: list[float], indices: list[int], indptr: list[int], shape: tuple[int, int]
) -> bytes:
    """A scipy.sparse.csr_matrix."""
    parts = {
        b"data": np.array(data, "<f4"),
        b"indices": np.array(indices, "<i4"),
        b"indptr": np.array(indptr, "<i4"),
    }
    state = b"".join(_text(key) + _array(value) for key, value in parts.items())
    state += _text(b"_shape") + _int(shape[0]) + _int(shape[1]) + b"\x86"
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + state + b"ub."


def pickled_lists(lists: dict[int, list[int]]) -> bytes:
    """A collections.defaultdict(list)."""
    items = b"".join(
        _int(key) + b"](" + b"".join(_int(n) for n in values) + b"e"
        for key, values in lists.items()
    )
    return b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" + items + b"u."
