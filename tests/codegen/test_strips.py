"""Short strips of numbers in vectors: what numpy gives, however long they are."""

import numpy as np
import pytest

from linkwork.codegen.jit import jit
from linkwork.codegen.strips import add_multiple, six_products, three_products


@jit
def added(target, at, source, begin, count, factor):
    add_multiple(target, at, source, begin, count, factor)


@jit
def multiplied(matrix, at, stride, vector, begin, count):
    return three_products(matrix, at, stride, vector, begin, count), six_products(matrix, at, stride, vector, begin, count)


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
