"""Drivers as plain Python and kernels as their CasADi functions: the functions of `jit` where LINKWORK_KERNELS=casadi."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import casadi as ca
import numpy as np

from linkwork.codegen.trace import Evaluated, Kernel, Trace


def jit(function):
    return function


jit_inner = jit_inline = jit


def jit_exactly(*signatures: str):
    return jit


def entry(function, *arguments):
    """The function itself."""
    return function


compiled_address = entry


def call_compiled(function, arguments):
    """The function of these arguments."""
    return function(*arguments)


ROUTINES: list[Callable[[np.ndarray, np.ndarray], None]] = []


def sweep(work, table, operations, cold=False):
    """Run operations in order: rows (kernel, offset, ...) on the workspace."""
    for row in operations:
        ROUTINES[table[row[0]]](work, row[1:])


def sweep_some(work, table, operations, chosen):
    """Run the chosen ones of operations in order."""
    for k in chosen:
        ROUTINES[table[operations[k, 0]]](work, operations[k, 1:])


def _places(groups) -> tuple[np.ndarray, np.ndarray]:
    """Pointer and entry of each number."""
    places = np.array([place for group in groups for place in group], dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _interpreted(trace: Trace):
    if not trace.results:
        return lambda work, offsets: None
    (from_record, from_entry), (to_record, to_entry) = _places(trace.sources), _places(trace.targets)
    results = ca.densify(ca.vertcat(*ca.cse(trace.results)))
    evaluate = Evaluated(ca.Function("kernel", [ca.vertcat(ca.SX.sym("none", 0), *trace.symbols)], [results]))

    def run(work, offsets):
        base = np.concatenate([[0], offsets])
        evaluate.given[:] = work[base[from_record] + from_entry]
        work[base[to_record] + to_entry] = evaluate()

    return run


_KNOWN: dict[str, int] = {}


def kernel_table(kernels: Iterable[Kernel], lanes: int = 1) -> np.ndarray:
    numbers = []
    for kernel in kernels:
        if kernel.key not in _KNOWN:
            ROUTINES.append(_interpreted(kernel.trace()))
            _KNOWN[kernel.key] = len(ROUTINES) - 1
        numbers.append(_KNOWN[kernel.key])
    return np.array(numbers, dtype=np.int64)


def routine_address(routine: Callable[[np.ndarray, np.ndarray], None]) -> int:
    """A Python routine (work, offsets) that stands in a table like a kernel."""
    ROUTINES.append(routine)
    return len(ROUTINES) - 1


def compiled_routine_address(routine: Callable) -> int:
    """A routine of what `opened` takes, that stands in a table like a kernel."""
    return routine_address(lambda work, offsets: routine(work, *offsets))


def opened(work, offset, *others):
    """The workspace and the offsets with which a compiled routine was called."""
    return (work, offset, *others)


def check_interrupt(amount: int) -> None:
    """Nothing: Python itself feels signals."""


def uncounted(work):
    """The workspace itself."""
    return work
