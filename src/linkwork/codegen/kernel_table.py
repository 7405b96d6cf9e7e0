"""The kernels of a model's sweeps, by number, and the table of their addresses, which compiled sweeps read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from linkwork.codegen.jit import kernel_table
from linkwork.codegen.trace import Kernel
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
        self._ahead: list[str] | None = None  # those of them whose kernels are not compiled yet

    @contextmanager
    def at_once(self, seldom: bool = False) -> Iterator[None]:
        """Kernels of all sweeps that are asked for in the meantime, and not yet run, are compiled together: while LLVM is at
        work on one of them, others are written. `seldom`: they hardly ever run."""
        if self._ahead is not None:
            yield
            return
        self._ahead = []
        try:
            yield
        finally:
            ahead, self._ahead = self._ahead, None
            self._compile(*ahead, seldom=seldom)

    def _made(self, name: str, operations: np.ndarray) -> np.ndarray:
        """A sweep, from now on."""
        self._known[name] = operations
        if self._ahead is None:
            self._compile(name)
        else:
            self._ahead.append(name)
        return operations

    def _compile(self, *names: str, seldom: bool = False) -> None:
        """Addresses of the kernels that sweeps use; if that fails there are no such sweeps."""
        try:
            with no_collection():
                self._find([self._known[name][:, 0] for name in names], seldom)
        except BaseException:
            for name in names:
                del self._known[name]
            raise

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
