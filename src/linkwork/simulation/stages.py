"""Stages: the sweeps of one solve, each by itself, so that what they take can be measured and counted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.codegen.jit import sweep
from linkwork.errors import LinkworkError
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.schedules.operations import OperationList
from linkwork.schedules.schedules import Schedules

ELIMINATION = ("front|", "piece|", "zero|")  # keys of kernels: everything else of an upward sweep is assembly


class Stage:
    """One sweep over a workspace of its own: call it to run it."""

    def __init__(self, stages: Stages, operations: NDArray[np.int32]) -> None:
        self._stages, self._operations = stages, operations

    def __call__(self) -> None:
        sweep(self._stages._work, self._stages._schedules.table, self._operations)

    @property
    def arithmetic(self) -> int:
        """Additions, subtractions, multiplications, divisions and changes of sign that it makes."""
        used, how_often = np.unique(self._operations[:, 0], return_counts=True)
        kernels = self._stages._schedules.kernels
        return sum(int(times) * _arithmetic(kernels[number]) for number, times in zip(used, how_often, strict=True))


class Stages:
    """The stages of a solve on the velocity level, on a workspace of their own: `masses` assembles M, `rows` J and right-hand
    sides, `eliminate` factors and goes forward, `forward` goes forward with the factors that are there, `backward` gives the
    solution, and `nothing` takes what a call takes. `whole` is all of it as a step has it.

    Stages apart are there for the solvers "fronts" and "anticipation" (of the latter: of its tree alone, and `response` forms
    the matrix W of the rows that close loops); others assemble and eliminate in one go, and have `whole` alone.

    >>> import linkwork as lw
    >>> stages = lw.Simulation(lw.scenes.get("chain"), solver="fronts").matrices.stages
    >>> stages.reset(rows=1.0)
    >>> stages.eliminate()
    >>> stages.backward()
    >>> stages.solution.shape == stages.right_side.shape, stages.eliminate.arithmetic > stages.forward.arithmetic
    (True, True)
    """

    def __init__(
        self, schedules: Schedules, work: NDArray[np.float64], entries: Mapping[str, NDArray[np.int64]], columns: int
    ) -> None:
        """`entries` of the workspace with right-hand sides ("b") and solutions ("x"), those of velocities (`columns`) first."""
        self._solver = schedules
        self._work, self._b, self._x, self._columns = work, entries["b"], entries["x"], columns

    @cached_property
    def _schedules(self) -> Schedules:
        """The schedules without what a solver adds behind its way up."""
        if self._solver.joint_pivots or type(self._solver)._swept is not Schedules._swept:
            raise LinkworkError(f'Stages: the solver "{self._solver.name}" assembles and eliminates in one go; ask for the '
                                'whole, or take solver="fronts" or "anticipation"')  # fmt: skip
        return _alone(self._solver)

    @cached_property
    def _assembled(self) -> NDArray[np.float64]:
        self.masses()
        self.rows()
        return self._work.copy()

    def reset(self, forces: Any = 0.0, rows: Any = 0.0, factored: bool = False) -> None:
        """Put the assembled blocks back with these right-hand sides, in the order of `sim.matrices`; then factor, if asked to.
        Right-hand sides of bodies are at the compiler's origins."""
        assembled = self._assembled
        self._work[:] = assembled
        self._work[self._b[: self._columns]], self._work[self._b[self._columns :]] = forces, rows
        if factored:
            self.eliminate()

    @property
    def right_side(self) -> NDArray[np.float64]:
        """(columns + rows,) What the workspace holds."""
        return self._work[self._b]

    @property
    def solution(self) -> NDArray[np.float64]:
        """(columns + rows,) The velocities, at the compiler's origins, and minus the multipliers."""
        return self._work[self._x]

    @cached_property
    def masses(self) -> Stage:
        return Stage(self, self._schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.KICK))

    @cached_property
    def rows(self) -> Stage:
        return Stage(self, self._part_of_up(elimination=False))

    @cached_property
    def eliminate(self) -> Stage:
        return Stage(self, self._part_of_up(elimination=True))

    @cached_property
    def forward(self) -> Stage:
        return Stage(self, self._schedules.forward())

    @cached_property
    def backward(self) -> Stage:
        return Stage(self, self._schedules.backward())

    @cached_property
    def nothing(self) -> Stage:
        return Stage(self, self._schedules.backward()[:0])

    @cached_property
    def _sweeps(self) -> tuple[NDArray[np.int32], ...]:
        p = self._solver
        return p.body(BodyKernel.KICK), p.up(RowMode.VELOCITY), p.backward()

    def whole(self) -> None:
        """M, J, factors and a solve, as the solver makes them in a step."""
        p = self._solver
        kept = {name: getattr(p, name) for name in p.outside}
        for operations in self._sweeps:
            sweep(self._work, p.table, operations)
        for name, value in kept.items():
            setattr(p, name, value)

    def response(self) -> NDArray[np.float64]:
        """W (k, k), its lower triangle, or all of it where constraints name their forces: what the rows that the solver
        "anticipation" leaves out feel of unit multipliers of each other (baraff96 section 8). After `eliminate`."""
        responses = getattr(self._schedules, "responses", None)
        return np.zeros((0, 0)) if responses is None else responses.matrix(self._work)

    def divide(self, W: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """W^-1 rows, as that solver divides by its W: factors, or where it has none the shortest result."""
        from linkwork.engines.maximal.loop_schur import divider

        responses = getattr(self._schedules, "responses", None)
        named = np.zeros(len(rows), dtype=bool) if responses is None else responses.named
        return divider(lambda: np.array(W, order="F"), named)(rows)

    def _part_of_up(self, *, elimination: bool) -> NDArray[np.int32]:
        operations = self._schedules.up(RowMode.VELOCITY)
        chosen = [self._schedules.kernels[row[0]].key.startswith(ELIMINATION) == elimination for row in operations]
        return np.ascontiguousarray(operations[np.array(chosen, dtype=bool)])


def _alone(schedules: Schedules) -> Schedules:
    """The same schedules without what a solver adds behind its way up."""

    class Alone(type(schedules)):  # type: ignore[misc]
        def finish(self, name: str, ops: OperationList) -> OperationList:
            return ops

    return Alone(schedules.model)


def _arithmetic(kernel: Any) -> int:
    from casadi import OP_ADD, OP_DIV, OP_MUL, OP_NEG, OP_SQ, OP_SUB, OP_TWICE

    counted = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_NEG, OP_SQ, OP_TWICE}
    trace = kernel.trace()
    if not trace.results:
        return 0
    function = trace.function()
    return sum(function.instruction_id(k) in counted for k in range(function.n_instructions()))
