"""L^T L and L^T D L of a matrix with branch-induced sparsity, without fill: featherstone05 section 2 and appendix.

    H = L^T L   or   H = L^T D L        L lower triangular, D diagonal; L of L^T D L has ones on its diagonal

H is any symmetric positive-definite matrix whose numbers below the diagonal stand only in columns parents[i],
parents[parents[i]], ... of each row i (eq. 6). L has the same pattern. What the pattern leaves out is neither read nor
written, nor is the upper triangle; a fresh L has zeros there.

Parent arrays count from 0, with -1 for a row that has no parent; `from_paper` translates the paper's. Wherever
`parents` is asked for, anything with `expanded_parents` will do. H and L may be one matrix (n, n) or an array of them
(k, n, n), with vectors (n,) or (k, n) and matrices (n, m) or (k, n, m) beside them: the same bits either way.

>>> import numpy as np
>>> parents = from_paper((0, 1, 1))
>>> H = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
>>> L, D = ltdl(parents, H)
>>> np.allclose(L.T @ np.diag(D) @ L, H)
True
>>> np.allclose(H @ solve(parents, (L, D), [1, 2, 3]), [1, 2, 3])
True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from linkwork.codegen.jit import INTERPRETED
from linkwork.errors import ArrayError
from linkwork.reduced import packed_drivers, sparse_drivers, tile_drivers
from linkwork.reduced.parent_array import Parents, ancestor_lists, expanded, from_paper, parent_array
from linkwork.reduced.structure import pattern
from linkwork.reduced.substitution import solving
from linkwork.reduced.tiles import LANES, plan
from linkwork.reduced.ways import Way, packing, way

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linkwork.util.array_types import FloatArray, IntArray, Numbers

__all__ = ["Factors", "expanded", "from_paper", "inverse", "ltdl", "ltl", "mul_L", "mul_LT", "solve", "solve_L", "solve_LT",
           "solve_matrix"]  # fmt: skip

SYMMETRIC = 1e-10  # relative to the largest number of the matrix: a greater difference is no rounding
LANE_NUMBERS = 1 << 16  # of a workspace of lanes that stays near the core


class Factors(NamedTuple):
    """H = L^T D L."""

    L: FloatArray  # (n, n) or (k, n, n), ones on the diagonal
    D: FloatArray  # (n,) or (k, n), positive


Written: TypeAlias = "Factors | tuple[FloatArray | None, FloatArray | None]"  # what L and D are written into
Given: TypeAlias = "Factors | tuple[Numbers, Numbers] | Numbers"  # (L, D), or L


def ltdl(parents: Parents, H: Numbers, out: Written | None = None, *, check: bool = False) -> Factors:
    """L and D of H = L^T D L. `out`: (L, D) to write into; L may be H itself. `check`: look at the zeros and the symmetry.

    >>> L, D = ltdl((-1, 0), [[3.0, 1.0], [1.0, 2.0]])
    >>> L
    array([[1. , 0. ],
           [0.5, 1. ]])
    >>> D
    array([2.5, 2. ])
    """
    above = parent_array(parents)
    H = matrices("H", H, len(above))
    if check:
        _check_pattern(above, H)
    L, D = (None, None) if out is None else out
    L = np.zeros(H.shape) if L is None else written("L", L, H.shape)
    D = np.empty(H.shape[:-1]) if D is None else written("D", D, H.shape[:-1])
    factor_into(above, several(H, 2), several(L, 2), several(D, 1))
    return Factors(L, D)


def ltl(parents: Parents, H: Numbers, out: FloatArray | None = None, *, check: bool = False) -> FloatArray:
    """L of H = L^T L: the Cholesky factor of the rows and columns taken backwards (section 3). `out` may be H itself.

    >>> ltl((-1, 0), [[5.0, 2.0], [2.0, 4.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    L, D = ltdl(parents, H, (out, None), check=check)
    sparse_drivers.scale_rows(*lists(parents), several(L, 2), several(D, 1))
    return L


def mul_L(parents: Parents, L: Numbers, x: Numbers, out: FloatArray | None = None) -> FloatArray:
    """L x. `out` may be x itself, here and below.

    >>> mul_L((-1, 0), [[1.0, 0.0], [0.5, 1.0]], [2.0, 3.0])
    array([2., 4.])
    """
    return _applied(sparse_drivers.mul_L, parents, L, x, out)


def mul_LT(parents: Parents, L: Numbers, x: Numbers, out: FloatArray | None = None) -> FloatArray:
    """L^T x.

    >>> mul_LT((-1, 0), [[1.0, 0.0], [0.5, 1.0]], [2.0, 3.0])
    array([3.5, 3. ])
    """
    return _applied(sparse_drivers.mul_LT, parents, L, x, out)


def solve_L(parents: Parents, L: Numbers, x: Numbers, out: FloatArray | None = None) -> FloatArray:
    """L^-1 x.

    >>> solve_L((-1, 0), [[1.0, 0.0], [0.5, 1.0]], [2.0, 4.0])
    array([2., 3.])
    """
    return _applied(sparse_drivers.solve_L, parents, L, x, out)


def solve_LT(parents: Parents, L: Numbers, x: Numbers, out: FloatArray | None = None) -> FloatArray:
    """L^-T x.

    >>> solve_LT((-1, 0), [[1.0, 0.0], [0.5, 1.0]], [3.5, 3.0])
    array([2., 3.])
    """
    return _applied(sparse_drivers.solve_LT, parents, L, x, out)


def solve(parents: Parents, factors: Given, b: Numbers, out: FloatArray | None = None) -> FloatArray:
    """H^-1 b with the factors of H: (L, D) from `ltdl`, or L from `ltl`.

    >>> solve((-1, 0), ltdl((-1, 0), [[3.0, 1.0], [1.0, 2.0]]), [[5.0, 10.0], [5.0, 0.0]])
    array([[ 1.,  4.],
           [ 2., -2.]])
    """
    n = len(parent_array(parents))
    L, D = _pair(factors, n)
    return _applied(sparse_drivers.solve, parents, L, b, out, several(D, 1))


def solve_matrix(parents: Parents, H: Numbers, b: Numbers, out: FloatArray | None = None, *, check: bool = False) -> FloatArray:
    """H^-1 b in one go, for vectors b; the factors are not kept. `out` may be b itself.

    >>> solve_matrix((-1, 0), [[3.0, 1.0], [1.0, 2.0]], [5.0, 5.0])
    array([1., 2.])
    """
    above = parent_array(parents)
    H = matrices("H", H, len(above))
    if check:
        _check_pattern(above, H)
    x = np.array(b, dtype=float, order="C")
    _shape("b", x, H.shape[:-1])
    out = np.empty(x.shape) if out is None else written("out", out, x.shape)
    solve_into(above, several(H, 2), several(x, 1))
    out[...] = x
    return out


def inverse(parents: Parents, factors: Given, out: FloatArray | None = None) -> FloatArray:
    """H^-1 with the factors of H, both triangles; trees that hang apart have zeros between them.

    >>> inverse((-1, 0), ltdl((-1, 0), [[3.0, 1.0], [1.0, 2.0]]))
    array([[ 0.4, -0.2],
           [-0.2,  0.6]])
    """
    parents = parent_array(parents)
    L, D = _pair(factors, len(parents))
    out = np.empty(L.shape) if out is None else written("out", out, L.shape)
    sparse_drivers.inverse(*lists(parents), several(L, 2), several(D, 1), several(out, 2))
    return out


# -- behind them -----------------------------------------------------------------------------------------------------


def factor_into(parents: IntArray, H: FloatArray, L: FloatArray, D: FloatArray) -> None:
    """H (k, n, n) -> L, D by the way of the parent array; in tiles four matrices at once where there are so many."""
    chosen = way(parents)
    if chosen is Way.ROWS:
        return say(sparse_drivers.ltdl_by_rows(parents, H, L, D), D)
    if chosen is Way.PACKED:
        return say(packed_drivers.ltdl_packed(parents, *packing(parents), H, L, D), D)
    k, n = D.shape
    steps = plan(parents)
    _in_parts(tile_drivers.ltdl_in_lanes, tile_drivers.ltdl_by_tiles, (steps.flat, steps.pivots), steps.program,
              H.reshape(k, n * n), L.reshape(k, n * n), D)  # fmt: skip


def solve_into(parents: IntArray, H: FloatArray, x: FloatArray) -> None:
    """x (k, n) becomes H^-1 x for H (k, n, n)."""
    k, n = x.shape
    D = np.empty((k, n))
    chosen = way(parents)
    if chosen is Way.ROWS:
        L = np.empty(H.shape)
        say(sparse_drivers.ltdl_by_rows(parents, H, L, D), D)
        sparse_drivers.solve(*lists(parents), L, D, x[:, None, :])
        return
    if chosen is Way.PACKED:
        return say(packed_drivers.solve_packed(parents, *packing(parents), H, x, D), D)
    steps, both = plan(parents), solving(parents)
    _in_parts(tile_drivers.solve_in_lanes, tile_drivers.solve_by_tiles, (steps.flat, steps.pivots, both.order),
              both.program, H.reshape(k, n * n), x, D)  # fmt: skip


def _in_parts(in_lanes: Callable[..., int], by_tiles: Callable[..., int], places: tuple[IntArray, ...], program: Any,
              *arrays: FloatArray) -> None:  # fmt: skip
    """Run a program on the first of every array, ...: as many as go side by side in lanes, the rest one by one."""
    k, D = len(arrays[0]), arrays[-1]
    beside = 0 if INTERPRETED or LANES * len(places[0]) > LANE_NUMBERS else k - k % LANES
    if beside:
        say(in_lanes(*places, *program.lanes, *(a[:beside] for a in arrays)), D)
    if beside < k:
        rest = tuple(a[beside:] for a in arrays) if beside else arrays
        say(by_tiles(*places, *program.single, *rest), D, beside)


def say(status: int, D: FloatArray, before: int = 0) -> None:
    """Raise, in words, what a driver found."""
    if status == sparse_drivers.DONE:
        return
    which, row = divmod(status, D.shape[1])
    which += before
    name = "H" if len(D) == 1 else f"H[{which}]"
    raise ArrayError(f"{name} is not positive definite: the pivot of row {row} is {D[which, row]:.3g}; "
                     "give a matrix with positive eigenvalues")  # fmt: skip


def lists(parents: Parents) -> tuple[IntArray, NDArray[np.uint32]]:
    """Ancestors of each row (`ancestor_lists`), kept for the next call."""
    return _known_lists(parent_array(parents).tobytes())


@lru_cache(maxsize=64)
def _known_lists(key: bytes) -> tuple[IntArray, NDArray[np.uint32]]:
    first, ancestors = ancestor_lists(np.frombuffer(key, dtype=np.int64))
    return first, ancestors.astype(np.uint32)  # no negative index to be thought of


def _pair(factors: Given, n: int) -> tuple[FloatArray, FloatArray]:
    """L and D as arrays; D is 1 where there is only an L."""
    if isinstance(factors, tuple) and len(factors) != 2:
        raise ArrayError(f"factors: {len(factors)} arrays; give (L, D) of ltdl, or L of ltl")
    given: Any = factors if isinstance(factors, tuple) else (factors, None)
    L = matrices("L", given[0], n)
    D = np.ones(L.shape[:-1]) if given[1] is None else numbers_of(given[1])
    _shape("D", D, L.shape[:-1])
    return L, D


def _applied(driver: Callable[..., None], parents: Parents, L: Numbers, x: Numbers, out: FloatArray | None,
             *more: FloatArray) -> FloatArray:  # fmt: skip
    """Run a driver on a copy of x (vectors, or the columns of matrices), and put the result in `out`."""
    first, ancestors = lists(parents)
    n = len(first) - 1
    L = matrices("L", L, n)
    x = np.asarray(x, dtype=float)
    batch = L.shape[:-2]
    if x.shape[: len(batch) + 1] != (*batch, n) or x.ndim > len(batch) + 2:
        one = "(n,) or (n, m)" if not batch else "(k, n) or (k, n, m)"
        raise ArrayError(f"x: shape {x.shape} beside L of shape {L.shape}; give {one}, n = {n}")
    out = np.empty(x.shape) if out is None else written("out", out, x.shape)
    vectors = x.ndim == len(batch) + 1
    work: FloatArray = np.array(x[..., None, :] if vectors else np.swapaxes(x, -1, -2), dtype=float, order="C")
    driver(first, ancestors, several(L, 2), *more, several(work, 2))
    out[...] = work[..., 0, :] if vectors else np.swapaxes(work, -1, -2)
    return out


def several(array: FloatArray, dimensions: int) -> FloatArray:
    """One as an array of one."""
    return array[None] if array.ndim == dimensions else array


def numbers_of(given: Numbers) -> FloatArray:
    """As drivers take it: other layouts, and arrays that may not be written into, would be compiled for anew."""
    array = np.ascontiguousarray(given, dtype=float)
    return array if array.flags.carray else array.copy()


def matrices(name: str, given: Numbers, n: int) -> FloatArray:
    array = numbers_of(given)
    if array.ndim not in (2, 3) or array.shape[-2:] != (n, n):
        raise ArrayError(f"{name}: shape {array.shape} beside {n} parents; give ({n}, {n}), or (k, {n}, {n}) for k matrices")
    return array


def _shape(name: str, array: FloatArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ArrayError(f"{name}: shape {array.shape}; give {shape}")


def written(name: str, array: Any, shape: tuple[int, ...]) -> FloatArray:
    """An array of the caller to write into."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or not array.flags.carray:
        raise ArrayError(f"{name}: cannot be written into; give a contiguous array of float64 of shape {shape}")
    _shape(name, array, shape)
    return array


def _check_pattern(parents: IntArray, H: FloatArray) -> None:
    """The sparsity that the parent array promises (eq. 6), and symmetry."""
    broken = np.argwhere(~pattern(parents) & (H != 0))
    if len(broken):
        *which, i, j = broken[0].tolist()
        raise ArrayError(f"H{which or ''}: entry ({i}, {j}) is {H[tuple(broken[0])]:.3g}, and neither row is an ancestor of "
                         "the other; give parents that fit the matrix, or zeros there")  # fmt: skip
    apart = np.abs(H - np.swapaxes(H, -1, -2))
    if H.size and apart.max() > SYMMETRIC * np.abs(H).max():
        *which, i, j = np.unravel_index(int(apart.argmax()), H.shape)
        raise ArrayError(f"H{[int(w) for w in which] or ''}: entries ({i}, {j}) and ({j}, {i}) differ by {apart.max():.3g}; "
                         "give a symmetric matrix")  # fmt: skip
