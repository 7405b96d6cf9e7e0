"""How compiled code asks Python for something and goes on: by an operation like that of a kernel.

What it asks for is found in the bundles that it has (`Bundle.renew`). A failure has nobody to be raised to before compiled code
returns: it is kept, and marked so that compiled code stops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from weakref import WeakMethod, WeakValueDictionary

import numpy as np

from linkwork.codegen.jit import OPERANDS, routine_address


class PythonCallback:
    """Who answers: compiled code calls a method by `sweep(work, asked.routine, asked.request)`."""

    def __init__(self, answer: Callable[[], None], refused: np.ndarray):
        """answer: a method of whoever keeps this; refused: (1,) int64, not zero once it has failed."""
        self._answer, self._refused = WeakMethod(answer), refused
        self.failure: BaseException | None = None
        self.routine = np.array([_routine()], dtype=np.int64)  # a table of kernels
        self.request = np.zeros((1, 1 + OPERANDS), dtype=np.int32)  # an operation
        self.request[0, 1] = number = next(_NUMBERS)
        _ASKED[number] = self

    def answer(self) -> None:
        try:
            answer = self._answer()
            assert answer is not None
            answer()
        except BaseException as failure:
            self.failure, self._refused[0] = failure, 1

    def raise_failure(self) -> None:
        """If compiled code had to stop."""
        if self.failure is not None:
            failure, self.failure, self._refused[0] = self.failure, None, 0
            raise failure


_ASKED: WeakValueDictionary[int, PythonCallback] = WeakValueDictionary()  # by the numbers of their requests
_NUMBERS = count(1)


@cache
def _routine() -> int:
    """The address of the routine that every request calls."""
    return routine_address(lambda _, offsets: _ASKED[int(offsets[0])].answer())
