"""Assembly: parts that are placed roughly come together. Damped Gauss-Newton (Levenberg-Marquardt) on block factors:

    [ M   J^T  ] [ dq ]   [  0 ]
    [ J  -mu I ] [ -y ] = [ -C ]        dq = -M^-1 J^T (J M^-1 J^T + mu)^-1 C

The displacement is the one of least kinetic norm; mu falls where a step makes |C| smaller and grows where it does not, so that
|C| never grows. Rows that cannot be met are left with the least sum of squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from linkwork.codegen.jit import sweep
from linkwork.codegen.trace import Kernel, Trace
from linkwork.elements.core import checks
from linkwork.errors import ModelError
from linkwork.kernels.vocabulary import BodyKernel, Iteration, RowMode
from linkwork.model.compile_model import compile
from linkwork.model.poses import made_at, poses_of, put
from linkwork.schedules.schedules import Schedules
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.views import GLOBALS, load_global
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.kernels.node import NodeKind
    from linkwork.model.active_world import ActiveWorld
    from linkwork.util.array_types import FloatArray
    from linkwork.world import World


TOLERANCE = 1e-12  # m, rad: residuals that are as good as none
MET = 1e-9  # m, rad: and those with which a constraint counts as met
ITERATIONS = 5000  # at most: so that it ends also where |C| falls slowly and never stalls
FIRST, LEAST, MOST = 1e-3, 1e-12, 1e12  # mu, in units of the mean of 1 / mass
LESS, MORE = 0.1, 4.0  # what becomes of mu
STALLED, PATIENCE = 1e-9, 20  # relative decrease of |C|^2 that is none, and how often in a row ends it


@dataclass(frozen=True)
class Assembly:
    """How it went. `off`: what could not be met, by name, and by how much (m or rad, the largest of its rows)."""

    iterations: int
    off: dict[str, float]

    @property
    def met(self) -> bool:
        """Whether every constraint holds."""
        return not self.off


class DampedFactors(Schedules):
    """The sweeps of `fronts` with damped rows: position rows alone, since velocities do not matter here."""

    name, joint_pivots = "damped", False

    def _node_kernel(self, kind: NodeKind, mode: RowMode | Iteration, bodies_first: tuple[bool, ...], soft: bool) -> Kernel:
        def write(trace: Trace) -> None:
            rows = kind.rows_between(trace, kind.views(trace, Moment.NOW), load_global(trace, "time"))
            counts = ca.vertcat(*[1.0 if level == POSITION else 0.0 for level in rows.levels])
            damping = ca.if_else(counts, load_global(trace, "damping"), 1.0)
            trace.store(1, kind.record.offset("D"), blocks.lower(ca.diag(-damping)))
            trace.store(1, kind.record.offset("b"), -ca.if_else(counts, rows.residual, 0))
            for k, (J, first) in enumerate(zip(rows.jacobians, bodies_first, strict=True)):
                if kind.kinds[k] is not None:
                    masked = ca.diag(counts) @ J
                    trace.store(kind.behind + k, 0, masked.T if first else masked)

        return Kernel(f"node|{kind.key}|damped|{bodies_first}", write)


class Assembler:
    """A world whose bodies are moved until its constraints hold."""

    def __init__(self, world: World | ActiveWorld) -> None:
        self.model = compile(world, limbs=False, whole=True)  # whose bodies all get masses below
        self.schedules = DampedFactors(self.model)
        self.work = self.model.workspace()
        p = self.schedules
        self.solve = (p.body(BodyKernel.KICK), p.up(RowMode.DAMPED), p.backward(BodyKernel.CORRECT_POSITION))
        self.look = (p.body(BodyKernel.UPDATE_POSE), p.check())
        sizes = [node.kind.size for node in self.model.nodes]
        self.entries = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(at + np.arange(n) for at, n in zip(self.model.report_at, sizes, strict=True))]
        )
        self.entries = self.entries[[level == POSITION for node in self.model.nodes for level in node.kind.levels]]
        masses = [getattr(body, "mass", 1.0) for body in self.model.bodies.elements]
        self.unit = float(np.mean([1.0 / mass for mass in masses if mass > 0.0]))
        for k, mass in enumerate(masses):
            if mass == 0.0:  # a link that is moved as others are
                for name in ("mass", "inertia"):
                    self.work[self.model.field_of_body(k, name)] = 1.0 / self.unit
        self.run(*self.look)

    def run(self, *sweeps: FloatArray) -> None:
        for operations in sweeps:
            sweep(self.work, self.schedules.table, operations)

    @property
    def residuals(self) -> FloatArray:
        """C of all position rows (m, rad)."""
        found: FloatArray = self.work[self.entries]
        return found

    def come_together(self) -> int:
        """Iterations until nothing gets better."""
        damping, stalled = FIRST, 0
        best = float(self.residuals @ self.residuals)
        for iteration in range(ITERATIONS):
            if not np.isfinite(best) or np.abs(self.residuals).max(initial=0.0) <= TOLERANCE or stalled == PATIENCE:
                return iteration
            before = self.work[self.model.state_index]
            self.work[GLOBALS.offset("kick")], self.work[GLOBALS.offset("damping")] = 0.0, damping * self.unit
            self.run(*self.solve, self.schedules.body(BodyKernel.NORMALISE), *self.look)
            found = float(self.residuals @ self.residuals)
            stalled = 0 if found < (1 - STALLED) * best else stalled + 1
            if found < best:
                best, damping = found, max(LEAST, LESS * damping)
            else:
                self.work[self.model.state_index] = before
                self.run(*self.look)
                damping = min(MOST, MORE * damping)
        return ITERATIONS

    def off(self) -> dict[str, float]:
        """Constraints that do not hold, and by how much, the worst first."""
        found = {}
        for k, node in enumerate(self.model.nodes):
            residual = self.work[self.model.report_at[k] :][: node.kind.size]
            residual = np.where([level == POSITION for level in node.kind.levels], np.abs(residual), 0.0)
            for element in node.elements:
                worst = float(residual[node.rows_of(element)].max(initial=0.0))
                if not worst <= MET:
                    found[str(element.name)] = worst
        return dict(sorted(found.items(), key=lambda pair: -np.nan_to_num(pair[1], nan=np.inf)))


def assemble(world: World, partly: bool = False) -> Assembly:
    """`World.assemble`, which says what it does."""
    assembler = Assembler(world)
    as_built = poses_of(assembler.model, assembler.work)
    iterations = assembler.come_together()
    result = Assembly(iterations, assembler.off())
    if not result.met and not partly:
        parts = ", ".join(f"{checks.label(world.find(name))} is off by {value:.3g}" for name, value in result.off.items())
        raise ModelError(f"World: it cannot be assembled from where its bodies are, {parts}; place them nearer, remove one of "
                         "these, or give partly=True to have them as near as can be")  # fmt: skip
    for element in world.elements:
        if element.built is None:
            made_at(element, as_built)
    for name, pose in poses_of(assembler.model, assembler.work).items():
        put(world.find(name), pose)
    return result
