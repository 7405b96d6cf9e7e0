"""Short strips of numbers in vectors: what numpy gives, however long they are."""

import numpy as np
import pytest

from linkwork.codegen.jit import jit
from linkwork.codegen.simd import add_multiple, add_multiples, copy, inner_product, nine_products, six_products, three_products


@jit
def added(target, at, source, begin, count, factor):
    add_multiple(target, at, source, begin, count, factor)


@jit
def multiplied(matrix, at, stride, vector, begin, count):
    return three_products(matrix, at, stride, vector, begin, count), six_products(matrix, at, stride, vector, begin, count)


@jit
def combined(target, at, source, begin, stride, count, factors):
    add_multiples(target, at, source, begin, stride, count, factors)


@jit
def multiplied_by_three(one, at, stride, other, begin, apart, count):
    return nine_products(one, at, stride, other, begin, apart, count), inner_product(one, at, other, begin, count)


@jit
def copied(target, at, source, begin, count):
    copy(target, at, source, begin, count)


@pytest.mark.parametrize("count", [*range(14), 31, 32, 33])
def test_strips_of_several_rows_are_those_of_numpy(count):
    rng = np.random.default_rng(100 + count)
    target, source, factors = rng.normal(size=50), rng.normal(size=4 * 40 + 5), (0.3, -0.7, 0.0, 2.0)
    expected = target.copy()
    expected[3 : 3 + count] += sum(f * source[5 + 40 * k : 5 + 40 * k + count] for k, f in enumerate(factors))
    combined(target, 3, source, 5, 40, count, factors)
    assert np.allclose(target, expected, rtol=0, atol=1e-14)
    assert np.array_equal(target[:3], expected[:3]) and np.array_equal(target[3 + count :], expected[3 + count :])
    one, other = rng.normal(size=3 * 40 + 2), rng.normal(size=3 * 35 + 4)
    rows = [one[2 + 40 * k : 2 + 40 * k + count] for k in range(3)]
    others = [other[4 + 35 * k : 4 + 35 * k + count] for k in range(3)]
    nine, inner = multiplied_by_three(one, 2, 40, other, 4, 35, count)
    assert np.allclose(nine, [a @ b for a in rows for b in others], rtol=0, atol=1e-13)
    assert np.isclose(inner, rows[0] @ others[0], rtol=0, atol=1e-13)
    copied(target, 4, source, 7, count)
    assert np.array_equal(target[4 : 4 + count], source[7 : 7 + count]) and target[3] == pytest.approx(expected[3])


@pytest.mark.parametrize("count", [*range(14), 31, 32, 33])
def test_strips_are_those_of_numpy(count):
    rng = np.random.default_rng(count)
    target, source = rng.normal(size=50), rng.normal(size=50)
    expected = target.copy()
    expected[3 : 3 + count] += -0.7 * source[5 : 5 + count]
    added(target, 3, source, 5, count, -0.7)
    assert np.allclose(target, expected, rtol=0, atol=1e-15)
    assert np.array_equal(target[:3], expected[:3]) and np.array_equal(target[3 + count :], expected[3 + count :])
    matrix, vector = rng.normal(size=6 * 40 + 2), rng.normal(size=50)
    rows = [matrix[2 + 40 * k : 2 + 40 * k + count] @ vector[7 : 7 + count] for k in range(6)]
    three, six = multiplied(matrix, 2, 40, vector, 7, count)
    assert np.allclose(three, rows[:3], rtol=0, atol=1e-13) and np.allclose(six, rows, rtol=0, atol=1e-13)


def test_a_strip_has_the_bits_of_its_pieces():
    rng = np.random.default_rng(0)
    source, whole = rng.normal(size=29), rng.normal(size=29)
    pieces = whole.copy()
    added(whole, 0, source, 0, 29, 0.3)
    for begin, end in ((0, 5), (5, 6), (6, 19), (19, 29)):
        added(pieces, begin, source, begin, end - begin, 0.3)
    assert np.array_equal(whole, pieces)
