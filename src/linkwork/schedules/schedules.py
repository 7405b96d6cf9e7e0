"""Schedules: the sweeps over a workspace as tables of operations (kernel, offsets), made when first asked for.

*Up* goes in the order of elimination (leaves to roots), *down* in reverse. Operations on one vertex stand side by side,
so that its record is touched while it is in cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from linkwork.codegen.trace import Kernel
from linkwork.kernels import body_kernels, force_kernels
from linkwork.kernels import node_kernels as k
from linkwork.kernels.measure_kernels import measure_kernel
from linkwork.kernels.vocabulary import BodyKernel, Iteration, NodeBlocks, PivotSweep, RowMode, Sweep
from linkwork.model.graph import GROUND
from linkwork.schedules.assembly import Assembly, BodyWord
from linkwork.schedules.operations import AFTER, LAST, OperationList
from linkwork.schedules.readings import Readings
from linkwork.schedules.solver_report import IterativeReport, NewtonReport
from linkwork.symbolic.vocabulary import Moment


class Schedules(Assembly):
    """Operation tables of one model, and the table of kernel addresses that they index."""

    name: str
    joint_pivots: bool  # bodies and joints are eliminated as one where that is faster
    counts_in_pivots = False  # after a step turns of joint pivots are counted, too, besides in the upward sweep
    calls_python = False  # some operations of sweeps are routines in Python
    outside: tuple[str, ...] = ()  # attributes that hold factors outside of the workspace
    iterates = False  # solves by iterations, from a start of the step before
    variant = ""  # of the solver, by its option: the tangent of implicit, the method of cg

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        """Options of `compile` for this solver."""
        return {"limbs": cls.joint_pivots}

    def workspace(self) -> np.ndarray:
        """A workspace with the bodies as built, and with what these schedules keep in it."""
        return self.model.workspace()

    def report(self, work: np.ndarray) -> IterativeReport | NewtonReport | None:
        """How the equations were solved, of a solver that iterates; else None."""
        return None

    def complaint(self, work: np.ndarray) -> str | None:
        """A sentence about rows that such a solver could not meet, if there are any."""
        return None

    @cached_property
    def readings(self) -> Readings:
        """The readout of the model, made by the first read."""
        return Readings(self.model)

    @property
    def nbytes(self) -> int:
        return sum(operations.nbytes for operations in self._known.values())

    # -- the sweeps --------------------------------------------------------------------------------------------
    def body(self, *what: BodyWord) -> np.ndarray:
        """Body kernels, one body after another, downwards."""

        def make(ops: OperationList) -> None:
            self._add_bodies(ops, what, 1)

        return self._keep(f"body {what}", make)

    def up(self, mode: RowMode, *, first: Iterable[BodyWord] = (), light: bool = False, warm: bool = False) -> np.ndarray:
        """The upward sweep: body kernels (`first`) just before a body is first used; forces; rows and blocks; factors and the
        forward sweep. Light: one backward sweep follows, which finds no multipliers. Warm: an iterative solver starts from
        the solution of the step before."""

        def make(ops: OperationList) -> None:
            self._add_first(ops, first)
            self._add_cleared_fill(ops)
            self._add_forces(ops)
            self._add_assembly(ops, mode)
            self._add_fronts(ops, Sweep.FACTOR)
            self._add_joint_pivots(ops, PivotSweep.UP, LAST, mode, light=light)

        return self._keep(f"up {mode} {first} {light}{self._manner(warm=warm)}", make)

    def _manner(self, **words: bool) -> str:
        """How a solver that iterates is asked to solve."""
        return "".join(f" {word}" for word, wanted in words.items() if wanted and self.iterates)

    def loads(self) -> np.ndarray:
        """The forces on every body, without inertial ones, times the kick."""

        def make(ops: OperationList) -> None:
            self._add_first(ops, (BodyKernel.LOAD,))
            self._add_forces(ops)

        return self._keep("loads", make)

    def forward(self, *, first: Iterable[BodyWord] = (), forces: bool = False, predict: bool = False,
                right: RowMode | None = None, rough: bool = False) -> np.ndarray:  # fmt: skip
        """The forward sweep with factors that are there; before it body kernels, forces are added, and right-hand sides
        of rows are extrapolated (predict) or computed (right: a mode). Rough: what is left is solved for once more."""

        def make(ops: OperationList) -> None:
            self._add_first(ops, first)
            if right is not None:
                self._add_nodes(ops, lambda kind, start, b, x: k.node_right_kernel(kind, right, start, b), first=True)
            if forces:
                self._add_forces(ops)
            if predict:
                self._add_predictions(ops)
            self._add_fronts(ops, Sweep.FORWARD)
            self._add_joint_pivots(ops, PivotSweep.FORWARD, LAST)

        return self._keep(f"forward {first} {forces} {predict} {right}{self._manner(warm=predict, rough=rough)}", make)

    def backward(self, *what: BodyWord, residuals: bool = False, light: bool = False) -> np.ndarray:
        """The backward sweep (light: without multipliers of joint pivots); then body kernels; then residuals of the position
        stage."""

        def make(ops: OperationList) -> None:
            self._add_fronts(ops, Sweep.BACKWARD, down=True)
            self._add_joint_pivots(ops, PivotSweep.BACKWARD, 0, light=light, down=True)
            self._add_bodies(ops, what, 1)
            if residuals:
                self._add_position_residuals(ops)

        return self._keep(f"backward {what} {residuals} {light}", make)

    def drift(self) -> np.ndarray:
        """What `backward(BodyKernel.FIRST_DRIFT, residuals=True)` does after its backward sweep."""

        def make(ops: OperationList) -> None:
            self._add_bodies(ops, (BodyKernel.FIRST_DRIFT,), 1)
            self._add_position_residuals(ops)

        return self._keep("flight", make)

    def _add_position_residuals(self, ops: OperationList) -> None:
        """Residuals of the position stage."""
        self._add_joint_pivots(ops, PivotSweep.RESIDUAL, LAST, down=True)
        for kind, numbers in self._by_kind(self.front_nodes):  # their bodies may be anywhere: after the whole sweep
            after = np.full(len(numbers), AFTER)
            self._add_all(ops, after, 0, k.position_residual_kernel(kind), *self._offsets_of(numbers))

    def refine(self) -> list[np.ndarray]:
        """One refinement of solved accelerations and multipliers: what is left of the equations is solved for once more
        with the same factors. Brings elimination, which does not pivot, to the accuracy of one that does."""

        def defects(ops: OperationList) -> None:
            self._add_nodes(ops, lambda kind, start, b, x: k.node_defect_kernel(kind, start, b, x), report=True)

        def refined(ops: OperationList) -> None:
            self._add_nodes(ops, lambda kind, start, b, x: k.refine_kernel(kind.size, x, kind.behind), report=True)

        return [self.body(BodyKernel.DEFECT), self._keep("defects", defects), self.forward(forces=True), self.backward(),
                self.body(BodyKernel.REFINE), self._keep("mended", refined)]  # fmt: skip

    def accelerations(self, refinements: int) -> np.ndarray:
        """Accelerations and multipliers of now, refined, in one sweep: where nothing has to be added between its parts."""

        def make() -> np.ndarray:
            first = [self.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), self.up(RowMode.ACCELERATION), self.backward()]
            return np.concatenate([*first, *self.refine() * refinements])

        return self._sweep(f"accelerations {refinements}", make)

    def check(self) -> np.ndarray:
        """Residual, rate and forcing of every node into the area of reports."""
        return self._keep("check", lambda ops: self._add_nodes(
            ops, lambda kind, start, b, x: k.node_check_kernel(kind, start), report=True))  # fmt: skip

    def count(self) -> np.ndarray:
        """After a step: count turns (except those that joint pivots count in the upward sweep), and note collapsed bodies."""

        def make(ops: OperationList) -> None:
            self._add_collapse_check(ops)
            if self.counts_in_pivots:
                self._add_nodes(ops, lambda kind, start, b, x: k.node_count_kernel(kind, start) if kind.counters else None)
            for kind, numbers in () if self.counts_in_pivots else self._by_kind(self.front_nodes):
                if kind.counters:
                    kernel = k.node_count_kernel(kind, self._start(numbers[0]))
                    self._add_all(ops, numbers, 0, kernel, *self._offsets_of(numbers))
            self._add_other_counts(ops)

        return self._keep("count", make)

    def _add_other_counts(self, ops: OperationList) -> None:
        for number, force in enumerate(self.model.forces):
            if force.kind.counters:
                self._add_wide(ops, AFTER, 0, force_kernels.force_count_kernel(force.kind), *self._force_offsets(number))
        for measure in self.model.measures:
            if measure.kind.counters:
                ends = [0 if b == GROUND else int(self.model.body_at[b]) for b in measure.ends]
                kernel = k.node_count_kernel(measure.kind, measure.record.offset("parameters"))
                self._add_wide(ops, AFTER, 0, kernel, measure.at, *ends)

    def count_all(self) -> np.ndarray:
        """Update the turn counters of all joints and forces, those that are eliminated with a body included."""

        def make(ops: OperationList) -> None:
            self._add_nodes(ops, lambda kind, start, b, x: k.node_count_kernel(kind, start) if kind.counters else None)
            self._add_other_counts(ops)

        return self._keep("count all", make)

    def check_collapse(self) -> np.ndarray:
        """Note collapsed bodies."""
        return self._keep("look", self._add_collapse_check)

    def _add_collapse_check(self, ops: OperationList) -> None:
        for kind, numbers in self.by_kind:
            if kind.collapses:
                self._add_body(ops, kind, BodyKernel.CHECK_COLLAPSE, numbers, 1)

    def work(self, moment: Moment = Moment.NOW) -> np.ndarray:
        """Add the work of prescribed motion of the last solve; rows that are not linear in velocities at `moment`."""
        return self._keep(f"work {moment}", lambda ops: self._add_nodes(
            ops, lambda kind, start, b, x: k.node_work_kernel(kind, start, x, moment) if kind.forced else None))  # fmt: skip

    def energy(self) -> np.ndarray:
        def make(ops: OperationList) -> None:
            self._add_bodies(ops, (BodyKernel.ENERGY,), 1)
            for number, force in enumerate(self.model.forces):
                self._add_wide(ops, AFTER, 0, force_kernels.force_energy_kernel(force.kind), *self._force_offsets(number))
            self._add_nodes(ops, lambda kind, start, b, x: k.rotor_energy_kernel(kind, start) if kind.rotors else None)

        return self._keep("energy", make)

    def jacobian(self, node: int) -> np.ndarray:
        """Blocks of one node into the scratch area."""
        kernel = k.node_jacobian_kernel(self.model.nodes[node].kind, self._start(node))
        return self._keep(f"jacobian {node}", lambda ops: self._add_wide(
            ops, 0, 0, kernel, *self._node_offsets(node), self.model.scratch))  # fmt: skip

    def pulls(self, node: int) -> np.ndarray:
        """The same of how the multipliers of one node pull at its bodies."""
        kernel = k.node_pulls_kernel(self.model.nodes[node].kind, self._start(node), together=True)
        return self._keep(f"pulls {node}", lambda ops: self._add_wide(
            ops, 0, 0, kernel, *self._node_offsets(node), self.model.scratch))  # fmt: skip

    def all_blocks(self, what: NodeBlocks, at: np.ndarray) -> np.ndarray:
        """Blocks of every node into the entries from at[node] on: of J, the bias behind it, of dJ/dt, or of
        how multipliers pull at bodies where that is not J. `at` is the same whenever one model asks."""
        make = {
            NodeBlocks.JACOBIAN: lambda kind, start, b, x: k.node_jacobian_kernel(kind, start),
            NodeBlocks.RATE: lambda kind, start, b, x: k.node_jacobian_rate_kernel(kind, start),
            NodeBlocks.PULLS: lambda kind, start, b, x: (
                k.node_pulls_kernel(kind, start, together=True) if kind.force_directed else None
            ),
        }[what]
        return self._keep(f"all blocks {what}", lambda ops: self._add_nodes(ops, make, into=at))

    def forces(self) -> np.ndarray:
        """Forces alone, times the kick, added to the right-hand sides of bodies."""
        return self._keep("forces", self._add_forces)

    def loop(self, node: int) -> np.ndarray:
        """Blocks and bias of one node into the scratch area; its residual and rate into that of reports."""
        kind, m = self.model.nodes[node].kind, self.model
        kernels = k.node_jacobian_kernel(kind, self._start(node)), k.node_check_kernel(kind, self._start(node))

        def make(ops: OperationList) -> None:
            for turn, (kernel, target) in enumerate(zip(kernels, (m.scratch, m.report_at[node]), strict=True)):
                self._add_wide(ops, 0, turn, kernel, *self._node_offsets(node), target)

        return self._keep(f"loop {node}", make)

    def force(self, number: int, kernel: Kernel) -> np.ndarray:
        """One kernel on one force, into the scratch area."""
        return self._keep(f"force {number} {kernel.key}", lambda ops: self._add_wide(
            ops, 0, 0, kernel, *self._force_offsets(number), self.model.scratch))  # fmt: skip

    def material_points(self, moment: Moment = Moment.NOW) -> np.ndarray:
        """Where the points are that colliders and ropes name, and J of each; the same of what inequalities bound.
        `moment`: of the bodies."""
        m = self.model

        def make(ops: OperationList) -> None:
            for number, point in enumerate(m.material_points):
                if point.chosen:
                    continue
                kernel = self._id(body_kernels.point_kernel(m.bodies.kinds[point.body], moment))
                ops.add(number, 0, kernel, int(m.body_at[point.body]), point.at)
            for number, measure in enumerate(m.measures, start=len(m.material_points)):
                ends = [0 if b == GROUND else int(m.body_at[b]) for b in measure.ends]
                self._add_wide(ops, number, 0, measure_kernel(measure.kind, moment), measure.at, *ends)

        return self._keep(f"spots {moment}", make)

    def packed(self, what: BodyKernel) -> np.ndarray:
        """PACK, UNPACK, RATES: between the bodies and the packed vectors."""
        m = self.model
        shift = m.rates[0] - m.packed[0] if what == BodyKernel.RATES else 0

        def make(ops: OperationList) -> None:
            for kind, numbers in self.by_kind:
                kernel = self._id(body_kernels.body_kernel(kind, what))
                ops.add(-self.place[numbers], 0, kernel, m.body_at[numbers], m.packed_at[numbers] + shift)

        return self._keep(f"packed {what}", make)

    def bare(self, sweep: Sweep, iteration: Iteration | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The forward or backward sweep with factors that are there, operation by operation, and the position in the
        elimination that each belongs to: so that a part of the model can be swept alone. `iteration`: of an implicit step."""
        ops, down = OperationList(), sweep == Sweep.BACKWARD
        self._add_fronts(ops, sweep, down=down)
        if iteration is None:
            at_pivots = PivotSweep.BACKWARD if down else PivotSweep.FORWARD
        else:
            at_pivots = PivotSweep.BACKWARD_ALONE if down else PivotSweep.FORWARD_ALONE
        self._add_joint_pivots(ops, at_pivots, 0 if down else LAST, iteration, down=down)
        rows, positions = ops.table()
        self._find([rows[:, 0]])
        return rows, np.abs(positions)
