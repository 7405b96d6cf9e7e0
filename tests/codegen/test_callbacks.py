"""Compiled code asks Python for something, and goes on."""

import gc
import weakref

import numpy as np
import pytest

from linkwork.codegen.callbacks import PythonCallback
from linkwork.codegen.jit import jit, sweep
from linkwork.codegen.struct import Struct


class Shelf(Struct):
    numbers: np.ndarray
    refused: np.ndarray
    asking: np.ndarray
    request: np.ndarray


@jit
def add_up(work, shelf, wanted):
    """The sum of as many numbers as are wanted; -1 where there are none to be had."""
    while len(shelf.numbers) < wanted:
        sweep(work, shelf.asking, shelf.request)
        if shelf.refused[0]:
            return -1.0
    return shelf.numbers[:wanted].sum()


class Keeper:
    def __init__(self, most):
        self.most, refused = most, np.zeros(1, dtype=np.int64)
        self.asked = PythonCallback(self.give, refused)
        self.shelf = Shelf(np.zeros(0), refused, self.asked.routine, self.asked.request)

    def give(self):
        if len(self.shelf.numbers) == self.most:
            raise MemoryError("the shelf is full")
        self.shelf.renew(numbers=np.arange(1.0 + len(self.shelf.numbers)))


def test_what_is_asked_for_is_found_at_once():
    keeper, other = Keeper(10), Keeper(10)
    assert add_up(np.zeros(1), keeper.shelf, 5) == 10.0
    assert len(keeper.shelf.numbers) == 5 and len(other.shelf.numbers) == 0


def test_a_failure_is_kept_for_the_caller_and_raised_once():
    keeper = Keeper(3)
    assert add_up(np.zeros(1), keeper.shelf, 5) == -1.0
    with pytest.raises(MemoryError, match="full"):
        keeper.asked.raise_failure()
    keeper.asked.raise_failure()
    assert add_up(np.zeros(1), keeper.shelf, 3) == 3.0


def test_who_answers_is_not_kept_alive_by_that():
    gc.disable()
    try:
        keeper = Keeper(3)
        gone = weakref.ref(keeper)
        del keeper
        assert gone() is None
    finally:
        gc.enable()
