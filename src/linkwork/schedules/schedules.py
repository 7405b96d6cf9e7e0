"""Programs: the sweeps over a workspace as tables of operations (kernel, offsets), made when first asked for.

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
from linkwork.schedules.assembly import Assembly
from linkwork.schedules.operations import AFTER, LAST, Sheet
from linkwork.schedules.readings import Readings
from linkwork.schedules.solver_report import IterativeReport, NewtonReport


class Programs(Assembly):
    """Operation tables of one model, and the table of kernel addresses that they index."""

    name: str
    limbs: bool
    counts_limbs = False  # after a step, beside counting on their way up
    calls_python = False  # in the middle of sweeps
    outside: tuple[str, ...] = ()  # attributes that hold factors, where these are not in the workspace
    iterates = False  # takes starts from the step before, and tolerances
    variant = ""  # of the solver, by its option: the tangent of implicit, the method of cg

    @classmethod
    def layout(cls, tangent: str, iterations: int) -> dict:
        """Options of `compile` for this solver."""
        return {"limbs": cls.limbs}

    def workspace(self) -> np.ndarray:
        """A workspace with the bodies as built, and with what these programs keep in it."""
        return self.model.workspace()

    def report(self, work: np.ndarray) -> IterativeReport | NewtonReport | None:
        """How equations were solved, by a solver that iterates."""
        return None

    def complaint(self, work: np.ndarray) -> str | None:
        """Words about rows that were not met, by such a solver, if there are any."""
        return None

    @cached_property
    def readings(self) -> Readings:
        """The readout of the model, made when somebody first reads."""
        return Readings(self.model)

    @property
    def nbytes(self) -> int:
        return sum(operations.nbytes for operations in self._known.values())

    # -- the sweeps --------------------------------------------------------------------------------------------
    def body(self, *what: str) -> np.ndarray:
        """Body kernels, one body after another, downwards."""

        def make(sheet: Sheet) -> None:
            self._add_bodies(sheet, what, 1)

        return self._keep(f"body {what}", make)

    def up(self, mode: str, *, first: Iterable[str] = (), light: bool = False, warm: bool = False) -> np.ndarray:
        """Body kernels (`first`) just before a body is first asked for; forces, rows and blocks, factors, forward sweep.
        Light: one backward sweep follows, and none for multipliers. Warm: much the same solve is made every step."""

        def make(sheet: Sheet) -> None:
            self._add_first(sheet, first)
            self._add_cleared_fill(sheet)
            self._add_forces(sheet)
            self._add_assembly(sheet, mode)
            self._add_fronts(sheet, "factor")
            self._add_limbs(sheet, f"up-{mode}{'-light' if light else ''}", LAST)

        return self._keep(f"up {mode} {first} {light}{self._manner(warm=warm)}", make)

    def _manner(self, **words: bool) -> str:
        """How a solver that iterates is asked to solve."""
        return "".join(f" {word}" for word, wanted in words.items() if wanted and self.iterates)

    def loads(self) -> np.ndarray:
        """The forces on every body, without inertial ones, times the kick."""

        def make(sheet: Sheet) -> None:
            self._add_first(sheet, ("impulse",))
            self._add_forces(sheet)

        return self._keep("loads", make)

    def forward(self, *, first: Iterable[str] = (), forces: bool = False, predict: bool = False,
                right: str | None = None, rough: bool = False) -> np.ndarray:  # fmt: skip
        """The forward sweep with factors that are there; before it body kernels, forces are added, and right-hand sides
        of rows are extrapolated (predict) or computed (right: a mode). Rough: what is left is solved for once more."""

        def make(sheet: Sheet) -> None:
            self._add_first(sheet, first)
            if right is not None:
                self._add_nodes(sheet, lambda kind, start, b, x: k.node_right_kernel(kind, right, start, b), first=True)
            if forces:
                self._add_forces(sheet)
            if predict:
                self._add_predictions(sheet)
            self._add_fronts(sheet, "forward")
            self._add_limbs(sheet, "forward", LAST)

        return self._keep(f"forward {first} {forces} {predict} {right}{self._manner(warm=predict, rough=rough)}", make)

    def backward(self, *what: str, landing: bool = False, light: bool = False) -> np.ndarray:
        """The backward sweep (light: without multipliers of limbs); then body kernels; then residuals of the position
        stage."""

        def make(sheet: Sheet) -> None:
            self._add_fronts(sheet, "backward", down=True)
            self._add_limbs(sheet, "backward-light" if light else "backward", 0, down=True)
            self._add_bodies(sheet, what, 1)
            if landing:
                self._add_landing(sheet)

        return self._keep(f"backward {what} {landing} {light}", make)

    def flight(self) -> np.ndarray:
        """What `backward("first-fly", landing=True)` does after its backward sweep."""

        def make(sheet: Sheet) -> None:
            self._add_bodies(sheet, ("first-fly",), 1)
            self._add_landing(sheet)

        return self._keep("flight", make)

    def _add_landing(self, sheet: Sheet) -> None:
        """Residuals of the position stage."""
        self._add_limbs(sheet, "landing", LAST, down=True)
        for kind, numbers in self._by_kind(self.front_nodes):  # their bodies may be anywhere: after the whole sweep
            after = np.full(len(numbers), AFTER)
            self._add_all(sheet, after, 0, k.node_landing_kernel(kind), *self._offsets_of(numbers))

    def refine(self) -> list[np.ndarray]:
        """One refinement of solved accelerations and multipliers: what is left of the equations is solved for once more
        with the same factors. Brings elimination, which does not pivot, to the accuracy of one that does."""

        def defects(sheet: Sheet) -> None:
            self._add_nodes(sheet, lambda kind, start, b, x: k.node_defect_kernel(kind, start, b, x), report=True)

        def mended(sheet: Sheet) -> None:
            self._add_nodes(sheet, lambda kind, start, b, x: k.mend_kernel(kind.size, x, kind.behind), report=True)

        return [self.body("defect"), self._keep("defects", defects), self.forward(forces=True), self.backward(),
                self.body("mend"), self._keep("mended", mended)]  # fmt: skip

    def accelerations(self, refinements: int) -> np.ndarray:
        """Accelerations and multipliers of now, refined, in one sweep: where nothing has to be added between its parts."""
        name = f"accelerations {refinements}"
        if name not in self._known:
            first = [self.body("place", "accelerate"), self.up("acceleration"), self.backward()]
            return self._made(name, np.concatenate([*first, *self.refine() * refinements]))
        return self._known[name]

    def check(self) -> np.ndarray:
        """Residual, rate and forcing of every node into the area of reports."""
        return self._keep("check", lambda sheet: self._add_nodes(
            sheet, lambda kind, start, b, x: k.node_check_kernel(kind, start), report=True))  # fmt: skip

    def count(self) -> np.ndarray:
        """What comes after a step: turn counters (but of limbs that count on their way up alone), a look for collapsed ones."""

        def make(sheet: Sheet) -> None:
            self._add_look(sheet)
            if self.counts_limbs:
                self._add_nodes(sheet, lambda kind, start, b, x: k.node_count_kernel(kind, start) if kind.counters else None)
            for kind, numbers in () if self.counts_limbs else self._by_kind(self.front_nodes):
                if kind.counters:
                    kernel = k.node_count_kernel(kind, self._start(numbers[0]))
                    self._add_all(sheet, numbers, 0, kernel, *self._offsets_of(numbers))
            self._add_force_counts(sheet)

        return self._keep("count", make)

    def _add_force_counts(self, sheet: Sheet) -> None:
        for number, force in enumerate(self.model.forces):
            if force.kind.law.counters:
                sheet.add(AFTER, 0, self._id(force_kernels.force_count_kernel(force.kind)), *self._force_offsets(number))

    def count_all(self) -> np.ndarray:
        """All turn counters, those of limbs too."""

        def make(sheet: Sheet) -> None:
            self._add_nodes(sheet, lambda kind, start, b, x: k.node_count_kernel(kind, start) if kind.counters else None)
            self._add_force_counts(sheet)

        return self._keep("count all", make)

    def look(self) -> np.ndarray:
        """A look for collapsed bodies."""
        return self._keep("look", self._add_look)

    def _add_look(self, sheet: Sheet) -> None:
        for kind, numbers in self.by_kind:
            if kind.collapses:
                self._add_body(sheet, kind, "look", numbers, 1)

    def work(self, stage: str = "now") -> np.ndarray:
        """Add the work of prescribed motion of the last solve; rows that are not linear in velocities at `stage`."""
        return self._keep(f"work {stage}", lambda sheet: self._add_nodes(
            sheet, lambda kind, start, b, x: k.node_work_kernel(kind, start, x, stage) if kind.forced else None))  # fmt: skip

    def energy(self) -> np.ndarray:
        def make(sheet: Sheet) -> None:
            self._add_bodies(sheet, ("energy",), 1)
            for number, force in enumerate(self.model.forces):
                self._add_wide(sheet, AFTER, 0, force_kernels.force_energy_kernel(force.kind), *self._force_offsets(number))
            self._add_nodes(sheet, lambda kind, start, b, x: k.rotor_energy_kernel(kind, start) if kind.rotors else None)

        return self._keep("energy", make)

    def jacobian(self, node: int) -> np.ndarray:
        """Blocks of one node into the scratch area."""
        kernel = k.node_jacobian_kernel(self.model.nodes[node].kind, self._start(node))
        return self._keep(f"jacobian {node}", lambda sheet: self._add_wide(
            sheet, 0, 0, kernel, *self._node_offsets(node), self.model.scratch))  # fmt: skip

    def pulls(self, node: int) -> np.ndarray:
        """The same of how the multipliers of one node pull at its bodies."""
        kernel = k.node_pulls_kernel(self.model.nodes[node].kind, self._start(node), together=True)
        return self._keep(f"pulls {node}", lambda sheet: self._add_wide(
            sheet, 0, 0, kernel, *self._node_offsets(node), self.model.scratch))  # fmt: skip

    def all_blocks(self, what: str, at: np.ndarray) -> np.ndarray:
        """Blocks of every node into the entries from at[node] on: of J, the bias behind it ("jacobian"), of dJ/dt ("rate"), or
        of how multipliers pull at bodies where that is not J ("pulls"). `at` is the same whenever one model asks."""
        make = {
            "jacobian": lambda kind, start, b, x: k.node_jacobian_kernel(kind, start),
            "rate": lambda kind, start, b, x: k.node_jacobian_rate_kernel(kind, start),
            "pulls": lambda kind, start, b, x: k.node_pulls_kernel(kind, start, together=True) if kind.force_directed else None,
        }[what]
        return self._keep(f"all blocks {what}", lambda sheet: self._add_nodes(sheet, make, into=at))

    def forces(self) -> np.ndarray:
        """Forces alone, times the kick, added to the right-hand sides of bodies."""
        return self._keep("forces", self._add_forces)

    def loop(self, node: int) -> np.ndarray:
        """Blocks and bias of one node into the scratch area; its residual and rate into that of reports."""
        kind, m = self.model.nodes[node].kind, self.model
        kernels = k.node_jacobian_kernel(kind, self._start(node)), k.node_check_kernel(kind, self._start(node))

        def make(sheet: Sheet) -> None:
            for turn, (kernel, target) in enumerate(zip(kernels, (m.scratch, m.report_at[node]), strict=True)):
                self._add_wide(sheet, 0, turn, kernel, *self._node_offsets(node), target)

        return self._keep(f"loop {node}", make)

    def force(self, number: int, kernel: Kernel) -> np.ndarray:
        """One kernel on one force, into the scratch area."""
        return self._keep(f"force {number} {kernel.key}", lambda sheet: self._add_wide(
            sheet, 0, 0, kernel, *self._force_offsets(number), self.model.scratch))  # fmt: skip

    def spots(self, stage: str = "now") -> np.ndarray:
        """Where the points of Lagrangian bodies are that can be touched, and J of each; `stage`: of the bodies."""
        m = self.model

        def make(sheet: Sheet) -> None:
            for number, spot in enumerate(m.spots):
                kernel = self._id(body_kernels.spot_kernel(m.bodies.kinds[spot.body], stage))
                sheet.add(number, 0, kernel, int(m.body_at[spot.body]), spot.at)

        return self._keep(f"spots {stage}", make)

    def packed(self, what: str) -> np.ndarray:
        """pack, unpack, rates: between the bodies and the packed vectors."""
        m = self.model
        shift = m.rates[0] - m.packed[0] if what == "rates" else 0

        def make(sheet: Sheet) -> None:
            for kind, numbers in self.by_kind:
                kernel = self._id(body_kernels.body_kernel(kind, what))
                sheet.add(-self.place[numbers], 0, kernel, m.body_at[numbers], m.packed_at[numbers] + shift)

        return self._keep(f"packed {what}", make)

    def bare(self, what: str, stage: str = "") -> tuple[np.ndarray, np.ndarray]:
        """The "forward" or "backward" sweep with factors that are there, operation by operation, and the position in the
        elimination that each belongs to: so that a part of the model can be swept alone. `stage`: of an implicit step."""
        sheet, down = Sheet(), what == "backward"
        self._add_fronts(sheet, what, down=down)
        self._add_limbs(sheet, f"{what}-alone-{stage}" if stage else what, 0 if down else LAST, down=down)
        rows, positions = sheet.table()
        self._find([rows[:, 0]])
        return rows, np.abs(positions)
