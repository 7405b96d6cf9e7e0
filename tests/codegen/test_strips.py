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
    assert np.array_equal(target, expected)  # to the bit: nothing is fused, and nothing beyond the strip is touched
    matrix, vector = rng.normal(size=6 * 40 + 2), rng.normal(size=50)
    rows = [matrix[2 + 40 * k : 2 + 40 * k + count] @ vector[7 : 7 + count] for k in range(6)]
    three, six = multiplied(matrix, 2, 40, vector, 7, count)
    assert np.allclose(three, rows[:3], rtol=0, atol=1e-13) and np.allclose(six, rows, rtol=0, atol=1e-13)


def test_what_is_opposite_cancels():
    rng = np.random.default_rng(0)
    row, vector = rng.normal(size=12), rng.normal(size=12)
    target = np.zeros(12)
    added(target, 0, row, 0, 12, 1.7)
    added(target, 0, row, 0, 12, -1.7)
    assert not target.any()
    three, _ = multiplied(np.concatenate([row, -row] * 3), 0, 12, vector, 0, 12)
    assert three[0] + three[1] == 0.0 and three[0] == three[2]
