"""Packed rows: the same numbers as dense matrices, to the bit where both are packed; large trees that no dense matrix could hold."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ArrayError
from linkwork.reduced import ltdl_packed, pack, places, solve_packed, unpack
from tests.oracles import branches

TREES = branches.parent_arrays(40, seed=31)


@pytest.mark.parametrize("parents", TREES)
def test_packed_rows_are_the_matrix(parents):
    rng = np.random.default_rng(1)
    H, x = branches.matrix(parents, rng), rng.normal(size=(len(parents), 3))
    numbers, (rows, columns) = pack(parents, H), places(parents)
    assert np.array_equal(numbers, H[rows, columns]) and np.array_equal(unpack(parents, numbers), H)
    L, D = ltdl_packed(parents, numbers)
    wanted = lw.reduced.ltdl(parents, H)
    np.testing.assert_allclose(unpack(parents, L, symmetric=False), wanted.L, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(D, wanted.D, rtol=1e-9)
    np.testing.assert_allclose(H @ solve_packed(parents, (L, D), x), x, rtol=1e-7, atol=1e-7)
    assert np.array_equal(solve_packed(parents, (L, D), x)[:, 1], solve_packed(parents, (L, D), x[:, 1]))


def test_several_matrices_have_the_bits_of_each_alone():
    rng, parents = np.random.default_rng(2), TREES[20]
    H = np.array([branches.matrix(parents, rng) for _ in range(3)])
    x, numbers = rng.normal(size=(3, len(parents))), pack(parents, H)
    together = ltdl_packed(parents, numbers)
    for k in range(3):
        alone = ltdl_packed(parents, numbers[k])
        assert np.array_equal(together.L[k], alone.L) and np.array_equal(together.D[k], alone.D)
        assert np.array_equal(solve_packed(parents, together, x)[k], solve_packed(parents, alone, x[k]))
    in_place = numbers.copy()
    D = np.empty((3, len(parents)))
    assert ltdl_packed(parents, in_place, (in_place, D)).L is in_place and np.array_equal(in_place, together.L)


def test_a_tree_that_no_dense_matrix_could_hold():
    n = 2**15 - 1
    parents = (np.arange(n) + 1) // 2 - 1
    rows, columns = places(parents)
    off = rows != columns
    numbers = np.where(off, 0.05, 0.0)
    numbers[~off] = 1.0 + 0.05 * (np.bincount(rows[off], minlength=n) + np.bincount(columns[off], minlength=n))
    L, D = ltdl_packed(parents, numbers)
    b = np.random.default_rng(3).normal(size=n)
    x = solve_packed(parents, (L, D), b)
    found = np.zeros(n)
    np.add.at(found, rows, numbers * x[columns])
    np.add.at(found, columns[off], numbers[off] * x[rows[off]])
    np.testing.assert_allclose(found, b, atol=1e-9)


def test_what_does_not_fit_is_named():
    parents = (-1, 0, 0)
    with pytest.raises(ArrayError, match=r"numbers: shape \(4,\) beside 3 parents; give packed rows \(5,\)"):
        ltdl_packed(parents, np.ones(4))
    with pytest.raises(ArrayError, match="H is not positive definite: the pivot of row 0 is -"):
        ltdl_packed(parents, [-4.0, 1, 2, 2, 5])
    with pytest.raises(ArrayError, match=r"factors: give \(L, D\) of ltdl_packed"):
        solve_packed(parents, np.ones(5), np.ones(3))
    with pytest.raises(ArrayError, match=r"b: shape \(2,\) beside factors of 3 rows; give \(3,\)"):
        solve_packed(parents, ltdl_packed(parents, [4.0, 1, 2, 2, 5]), np.ones(2))
    assert ltdl_packed([], []).D.shape == (0,)
