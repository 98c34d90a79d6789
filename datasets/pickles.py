"""Reads the Python 2 pickles of the Planetoid files without running anything that they name.

A pickle may name any importable function and have it called. Here five names are known, and each
of them stands for a plain class of this file: NumPy and SciPy never see the pickle, and it does not
matter that the names inside are those of releases of 2016.
"""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import numpy as np


class UnsafePickleError(pickle.UnpicklingError):
    """The pickle names something that a file of numbers has no use for."""


class _Dtype:
    """numpy.dtype: a type code and a byte order, nothing else."""

    CODES = frozenset({"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1"})

    def __init__(self, code: str, align: object = False, copy: object = True) -> None:
        if code not in self.CODES:
            raise UnsafePickleError(f"pickle: element type {code!r} is not a plain number")
        self.code = code
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order, extra = state[1], state[2:5]
        if order not in ("<", ">", "=", "|") or extra != (None, None, None):
            raise UnsafePickleError(f"pickle: element type with state {state!r}")
        self.order = order

    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.order + self.code)


class _Array:
    """numpy.ndarray, as numpy.core.multiarray._reconstruct leaves it, and its state after that."""

    value: np.ndarray[Any, Any]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if not isinstance(dtype, _Dtype) or not isinstance(raw, str):
            raise UnsafePickleError("pickle: an array of objects instead of numbers")
        flat = np.frombuffer(raw.encode("latin1"), dtype.numpy())
        if any(not isinstance(n, int) or n < 0 for n in shape) or math.prod(shape) != flat.size:
            raise UnsafePickleError(f"pickle: {flat.size} elements cannot have the shape {shape}")
        self.value = flat.reshape(shape, order="F" if fortran else "C")


class _CsrMatrix:
    """scipy.sparse.csr_matrix: three arrays and a shape."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = [state.get(key) for key in ("data", "indices", "indptr")]
        arrays = [part.value for part in parts if isinstance(part, _Array)]
        if len(arrays) != 3:
            raise UnsafePickleError("pickle: a sparse matrix without its three arrays")
        self.data, self.indices, self.indptr = arrays
        self.shape = tuple(state.get("_shape", ()))

    def dense(self) -> np.ndarray[Any, Any]:
        """The matrix as a float32 array; entries named twice are added."""
        if len(self.shape) != 2:
            raise UnsafePickleError(f"pickle: a sparse matrix of shape {self.shape}")
        rows, columns = self.shape
        counts = np.diff(self.indptr)
        if (
            self.indptr.shape != (rows + 1,)
            or self.data.shape != self.indices.shape
            or bool((counts < 0).any())
            or int(counts.sum()) != len(self.indices)
            or not bool(((self.indices >= 0) & (self.indices < columns)).all())
        ):
            raise UnsafePickleError("pickle: a sparse matrix whose arrays do not fit its shape")
        out = np.zeros((rows, columns), np.float32)
        row = np.repeat(np.arange(rows), counts)
        np.add.at(out, (row, self.indices), self.data.astype(np.float32))
        return out


class _Dict(dict[Any, Any]):
    """collections.defaultdict, without its default."""

    def __init__(self, factory: object = None) -> None:
        super().__init__()


def _reconstruct(kind: object, shape: object, code: object) -> _Array:
    return _Array()


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("scipy.sparse.csr", "csr_matrix"): _CsrMatrix,
    ("collections", "defaultdict"): _Dict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise UnsafePickleError(
                f"pickle: refuses {module}.{name}; only arrays, sparse matrices and "
                "adjacency lists are read"
            ) from None


def read_pickle(content: bytes) -> Any:
    """The object in a pickle: an ndarray, a dense float32 array for a sparse matrix, or a dict."""
    try:
        value = _Unpickler(io.BytesIO(content), encoding="latin1").load()
    except UnsafePickleError:
        raise
    except Exception as error:  # a damaged pickle fails in many ways
        raise pickle.UnpicklingError(f"pickle: damaged file ({error})") from error
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, _CsrMatrix):
        return value.dense()
    return value
