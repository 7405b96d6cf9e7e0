"""The kernels of a model's sweeps, by number, and the table of their addresses, which compiled sweeps read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from linkwork.codegen.jit import kernel_table
from linkwork.codegen.trace import Kernel
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED, safe_point
from linkwork.util.resources import no_collection

NOT_YET = -1  # the address of a kernel that no sweep has asked for


class Addresses:
    """Kernels are compiled when a sweep first uses them."""

    patient = True  # waits for machine code that is a few percent faster

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.table = np.zeros(0, dtype=np.int64)
        self._number: dict[str, int] = {}
        self._known: dict[str, np.ndarray] = {}  # sweeps that are made: operations (kernel, offsets)
        self._missing: list[str] = []  # those of them whose kernels are not compiled yet
        self._together = False  # whether they are to be compiled together

    @contextmanager
    def at_once(self, seldom: bool = False) -> Iterator[None]:
        """Kernels of all sweeps that are asked for in the meantime, and not yet run, are compiled together: while LLVM is at
        work on one of them, others are written. `seldom`: they hardly ever run. Interrupts are deferred: what stops this, or
        fails, does so between sweeps or kernels, and what is missing then is compiled when it is next asked for."""
        if self._together:
            yield
            return
        with INTERRUPTS_DEFERRED:
            self._together = True
            try:
                yield
            finally:
                self._together = False
            self._compile(seldom)

    def _sweep(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The operations of a sweep, which is made when it is first asked for."""
        if name not in self._known:
            with INTERRUPTS_DEFERRED:
                safe_point()
                self._known[name] = make()
                self._missing.append(name)
        if name in self._missing and not self._together:
            with INTERRUPTS_DEFERRED:
                self._compile()
        return self._known[name]

    def _compile(self, seldom: bool = False) -> None:
        """Addresses of the kernels that sweeps use and that are missing."""
        with no_collection():
            self._find([self._known[name][:, 0] for name in self._missing], seldom)
        self._missing.clear()

    def _find(self, sweeps: list[np.ndarray], seldom: bool = False) -> None:
        """Addresses of the kernels with these numbers, one for each operation of a sweep."""
        fresh = np.full(len(self.kernels) - len(self.table), NOT_YET, dtype=np.int64)
        self.table = np.concatenate([self.table, fresh])
        wanted: dict[int, tuple[float, int]] = {}  # the part of a sweep's operations that use a kernel, and their number
        for operations in sweeps:
            numbers, uses = np.unique(operations, return_counts=True)
            missing = self.table[numbers] == NOT_YET
            for number, count in zip(numbers[missing].tolist(), uses[missing].tolist(), strict=True):
                wanted[number] = max(wanted.get(number, (0.0, 0)), (0.0 if seldom else count / len(operations), count))
        first = sorted(wanted, key=lambda number: -wanted[number][0])  # what takes LLVM long
        self.table[first] = kernel_table([self.kernels[number].worth(*wanted[number], self.patient) for number in first])

    def _id(self, kernel: Kernel) -> int:
        number = self._number.get(kernel.key)
        if number is None:
            number = self._number[kernel.key] = len(self.kernels)
            self.kernels.append(kernel)
        return number
