"""Matrices with branch-induced sparsity that are never dense: rows packed one behind another, of n + D1 numbers.

Row i has a number for each of its ancestors, from the root on, and one for itself (`places` says which). Memory and time are
those of the non-zeros (featherstone05 section 4): a balanced tree of 65,535 rows takes 8 MB, its matrix would take 34 GB.

>>> import numpy as np
>>> from linkwork.reduced import ltdl, solve
>>> parents, H = (-1, 0, 0), np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
>>> numbers = pack(parents, H)
>>> numbers
array([4., 1., 2., 2., 5.])
>>> factors = ltdl_packed(parents, numbers)
>>> np.array_equal(factors.D, ltdl(parents, H).D)
True
>>> np.allclose(H @ solve_packed(parents, factors, [1, 2, 3]), [1, 2, 3])
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import ArrayError
from linkwork.reduced import packed_drivers
from linkwork.reduced.parent_array import Parents, parent_array
from linkwork.reduced.sparse import Factors, Given, Written, matrices, numbers_of, say, several, written
from linkwork.reduced.ways import packing

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, IntArray, Numbers


def places(parents: Parents) -> tuple[IntArray, IntArray]:
    """(rows, columns) of the numbers of packed rows, in their order; rows are not before columns.

    >>> places((-1, 0, 0))
    (array([0, 1, 1, 2, 2]), array([0, 0, 1, 0, 2]))
    """
    parents = parent_array(parents)
    first, _, _ = packing(parents)
    rows = np.repeat(np.arange(len(parents)), np.diff(first))
    columns = np.empty(len(rows), np.int64)
    for i, parent in enumerate(parents.tolist()):
        columns[first[i + 1] - 1] = i
        if parent >= 0:
            columns[first[i] : first[i + 1] - 1] = columns[first[parent] : first[parent + 1]]
    return rows, columns


def pack(parents: Parents, H: Numbers) -> FloatArray:
    """The numbers of H (n, n), or of an array of matrices (k, n, n), that the parent array allows: (numbers,) or (k, numbers).

    >>> pack((-1, -1, 0), [[1.0, 0, 3.0], [0, 2.0, 0], [3.0, 0, 4.0]])
    array([1., 2., 3., 4.])
    """
    parents = parent_array(parents)
    H = matrices("H", H, len(parents))
    first, _, _ = packing(parents)
    found = np.empty((*H.shape[:-2], int(first[-1])))
    packed_drivers.pack_all(parents, first, several(H, 2), several(found, 1))
    return found


def unpack(parents: Parents, numbers: Numbers, *, symmetric: bool = True) -> FloatArray:
    """The dense matrix; `symmetric`: both triangles (of an H), else the lower one alone (of an L).

    >>> unpack((-1, 0), [3.0, 1.0, 2.0])
    array([[3., 1.],
           [1., 2.]])
    """
    parents = parent_array(parents)
    numbers = _rows("numbers", parents, numbers)
    n = len(parents)
    found = np.zeros((*numbers.shape[:-1], n, n))
    packed_drivers.unpack_all(parents, packing(parents)[0], several(numbers, 1), several(found, 2))
    return found + np.swapaxes(np.tril(found, -1), -1, -2) if symmetric else found


def ltdl_packed(parents: Parents, numbers: Numbers, out: Written | None = None) -> Factors:
    """L (packed, ones on its diagonal) and D of H = L^T D L, H packed. `out`: (L, D) to write into; L may be H itself.

    >>> ltdl_packed((-1, 0), [3.0, 1.0, 2.0])
    Factors(L=array([1. , 0.5, 1. ]), D=array([2.5, 2. ]))
    """
    parents = parent_array(parents)
    given = _rows("numbers", parents, numbers)
    L, D = (None, None) if out is None else out
    L = np.empty(given.shape) if L is None else written("L", L, given.shape)
    D = np.empty((*given.shape[:-1], len(parents))) if D is None else written("D", D, (*given.shape[:-1], len(parents)))
    L[...] = given
    each = several(D, 1)
    say(packed_drivers.factor_packed(parents, *packing(parents), several(L, 1), each), each)
    return Factors(L, D)


def solve_packed(parents: Parents, factors: Given, b: Numbers, out: FloatArray | None = None) -> FloatArray:
    """H^-1 b with the factors of `ltdl_packed`: b is (n,) or (n, m), with an array of matrices (k, n) or (k, n, m).

    >>> solve_packed((-1, 0), ltdl_packed((-1, 0), [3.0, 1.0, 2.0]), [5.0, 5.0])
    array([1., 2.])
    """
    parents = parent_array(parents)
    n = len(parents)
    if not isinstance(factors, tuple) or len(factors) != 2:
        raise ArrayError("factors: give (L, D) of ltdl_packed")
    L, D = _rows("L", parents, factors[0]), numbers_of(factors[1])
    batch = L.shape[:-1]
    if D.shape != (*batch, n):
        raise ArrayError(f"D: shape {D.shape}; give {(*batch, n)}")
    b = numbers_of(b)
    if b.shape[: len(batch) + 1] != (*batch, n) or b.ndim > len(batch) + 2:
        raise ArrayError(
            f"b: shape {b.shape} beside factors of {n} rows; give {(*batch, n)}, or {(*batch, n)} with columns behind"
        )
    vectors = b.ndim == len(batch) + 1
    work = np.array(b[..., None, :] if vectors else np.swapaxes(b, -1, -2), order="C")
    packed_drivers.substitute_all(parents, packing(parents)[0], several(L, 1), several(D, 1), several(work, 2))
    out = np.empty(b.shape) if out is None else written("out", out, b.shape)
    out[...] = work[..., 0, :] if vectors else np.swapaxes(work, -1, -2)
    return out


def _rows(name: str, parents: IntArray, given: Numbers) -> FloatArray:
    """Packed rows of one matrix, or of several."""
    array, count = numbers_of(given), int(packing(parents)[0][-1])
    if array.ndim not in (1, 2) or array.shape[-1] != count:
        raise ArrayError(f"{name}: shape {array.shape} beside {len(parents)} parents; give packed rows ({count},), or "
                         f"(k, {count}) for k matrices (`pack` makes them)")  # fmt: skip
    return array
