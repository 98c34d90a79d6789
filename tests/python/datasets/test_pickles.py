"""The restricted unpickler: reads what Python 2 wrote, and refuses everything else."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from _python2 import pickled_array, pickled_csr, pickled_lists
from sage_attention.datasets.pickles import UnsafePickleError, read_pickle


@pytest.mark.parametrize("code", ["i4", "i8", "f4", "f8", "u1"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_array(code: str, order: str) -> None:
    wanted = np.array([[0, 1, 200], [10, 13, 92]]).astype(order + code)
    found = read_pickle(pickled_array(wanted))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_csr() -> None:
    found = read_pickle(pickled_csr([1.0, 2.0, 3.0], [2, 0, 2], [0, 1, 1, 3], (3, 4)))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[0, 0, 1, 0], [0, 0, 0, 0], [2, 0, 3, 0]])


def test_adjacency_lists() -> None:
    assert read_pickle(pickled_lists({0: [1, 2], 1: [], 5: [0]})) == {0: [1, 2], 1: [], 5: [0]}


class Evil:
    """Writes a file when it is unpickled by Python's own unpickler."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_never_calls_what_a_pickle_names(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps(Evil(tmp_path / "trace"), protocol)
    with pytest.raises(UnsafePickleError, match="refuses"):
        read_pickle(content)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'exit 1'\ntR.",
        b"cposix\nsystem\n(S'exit 1'\ntR.",
        b"c__builtin__\neval\n(S'1 + 1'\ntR.",
        b"c__builtin__\ngetattr\n(c__builtin__\nlist\nS'append'\ntR.",
        b"cbuiltins\nlist\n)R.",
        b"cnumpy\nload\n(S'file'\ntR.",
        b"cnumpy.core.multiarray\nscalar\n.",
        b"ccopy_reg\n_reconstructor\n.",
        b"cscipy.sparse.csr\ncsr_matrix.__init__\n.",
        pickled_array(np.zeros(2, "i4")).replace(b"i4", b"O8"),
        pickled_array(np.zeros(2, "i4")).replace(b"i4", b"V4"),
    ],
)
def test_refuses(content: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"refuses|not a plain number"):
        read_pickle(content)


def test_refuses_array_that_does_not_fit_its_shape() -> None:
    whole = pickled_array(np.zeros((2, 3), "i4"))
    with pytest.raises(UnsafePickleError, match="shape"):
        read_pickle(whole.replace(b"K\x02K\x03\x86", b"K\x02K\x09\x86"))


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([0, 0, 3], [0, 1, 1, 3]),
        ([-1, 0, 0], [0, 1, 1, 3]),
        ([0, 0, 0], [0, 3]),
        ([0, 0, 0], [0, 1, 1, 2]),
        ([0, 0, 0], [0, 4, 1, 3]),
    ],
)
def test_refuses_matrix_that_does_not_fit_its_shape(indices: list[int], indptr: list[int]) -> None:
    with pytest.raises(UnsafePickleError, match="sparse matrix"):
        read_pickle(pickled_csr([1.0, 2.0, 3.0], indices, indptr, (3, 3)))


def test_refuses_matrix_without_its_arrays() -> None:
    whole = pickled_csr([1.0], [0], [0, 1], (1, 1))
    with pytest.raises(UnsafePickleError, match="without its three arrays"):
        read_pickle(whole.replace(b"indices", b"others_"))


@pytest.mark.parametrize("length", [0, 1, 30, 100])
def test_damaged(length: int) -> None:
    with pytest.raises(pickle.UnpicklingError):
        read_pickle(pickled_array(np.arange(50))[:length])
