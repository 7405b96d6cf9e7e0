"""Arrays under one pointer: what is read and written through a bundle is what stands in its arrays."""

import numpy as np
import pytest

from linkwork.codegen.jit import call_compiled, compiled_address, jit
from linkwork.codegen.struct import Struct
from linkwork.collision.vectors import dot


class Inner(Struct):
    total: np.ndarray


class Outer(Struct):
    matrix: np.ndarray
    numbers: np.ndarray
    inner: Inner


@jit
def add_up(outer, scale):
    """Sums of rows, into the inner bundle; the number of rows."""
    for i in range(outer.matrix.shape[0]):
        for j in range(outer.matrix.shape[1]):
            outer.inner.total[i] += scale * outer.matrix[i, j]
        outer.numbers[i] = len(outer.numbers) - i
    return len(outer.matrix)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_compiled_code_reads_and_writes_the_arrays(n):
    matrix, numbers, total = np.arange(3.0 * n).reshape(n, 3), np.zeros(n, dtype=np.int32), np.zeros(n)
    assert add_up(Outer(matrix, numbers, inner=Inner(total)), 2.0) == n
    assert np.array_equal(total, 2.0 * matrix.sum(1)) and numbers.tolist() == list(range(n, 0, -1))


def test_other_kinds_of_numbers_are_another_type():
    single = Outer(np.ones((2, 2), dtype=np.float32), np.zeros(2), Inner(np.zeros(2)))
    add_up(single, 1.0)
    assert single.inner.total.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("given", [(), (np.zeros(1),), (np.zeros(1),) * 4])
def test_what_is_missing_or_too_many_is_refused(given):
    with pytest.raises(TypeError, match="Outer takes matrix, numbers, inner"):
        Outer(*given)


def test_arrays_with_gaps_are_refused():
    with pytest.raises(TypeError, match="Inner: total is not contiguous"):
        Inner(np.zeros(4)[::2])


def test_what_compiled_code_alone_calls_refuses_python():
    with pytest.raises(TypeError, match="dot is for compiled code alone; call a function of `jit` that calls it"):
        dot((1.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def test_others_of_the_same_kinds_take_the_place_of_fields():
    outer = Outer(np.ones((2, 2)), np.zeros(2, dtype=np.int32), Inner(np.zeros(2)))
    place, total = getattr(outer, "address", None), np.zeros(3)
    outer.renew(matrix=np.ones((3, 2)), numbers=np.zeros(3, dtype=np.int32), inner=Inner(total))
    assert getattr(outer, "address", None) == place  # who has the bundle finds them
    assert add_up(outer, 2.0) == 3 and total.tolist() == [4.0, 4.0, 4.0]


@jit
def scaled_sum(numbers, scale):
    return int(scale * numbers.sum())


@jit
def asked(address, numbers):
    return call_compiled(address, (numbers, 2.0))


def test_compiled_functions_are_called_by_their_address():
    numbers = np.arange(4.0)
    assert asked(compiled_address(scaled_sum, numbers, 2.0), numbers) == 12
