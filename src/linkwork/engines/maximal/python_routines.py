"""Solvers of which a part is no kernel but a routine in Python, on the whole workspace."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from linkwork.codegen.jit import INTERPRETED, routine_address
from linkwork.codegen.trace import Kernel
from linkwork.schedules.schedules import Schedules


class WithRoutines(Schedules):
    calls_python = True

    def _add_routines(self, *routines: Callable[[np.ndarray], None]) -> list[int]:
        """Give routines in Python numbers in the table of kernels, before any sweep is made."""
        numbers = []
        for routine in routines:
            numbers.append(self._id(Kernel(f"{self.name} {routine.__name__}", lambda trace: None)))
            self.table = np.append(self.table, np.int64(routine_address(self._on_array(routine))))
        return numbers

    def _on_array(self, routine):
        """Compiled drivers hand over the address of the workspace, interpreted ones the array."""
        size = self.model.size

        def call(work, offsets):
            if not INTERPRETED:
                work = np.ctypeslib.as_array((ctypes.c_double * size).from_address(work))
            routine(work)

        return call
