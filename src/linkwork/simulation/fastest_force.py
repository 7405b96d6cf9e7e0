"""How fast the forces of a world act on its bodies as its constraints hold them: what decides whether a step is stiff.

For small motions x of a mechanism its accelerations change by -K x - D x', where K and D count how constraints let the bodies
answer. The largest eigenvalue of D and the root of that of K are the rates (1/s) at which dampers and springs act; explicit
steps follow rates up to about 1/dt. Both are found by power iteration, with differences of accelerations in the place of K and
D: what an iteration leaves is an acceleration that the constraints allow, so that the next one stays on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core.element import Element, ForceElement
from linkwork.elements.core.registry import kind_for
from linkwork.errors import LinkworkError
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.active_world import ActiveWorld, whole_of
from linkwork.model.model import Arrangement
from linkwork.simulation.notes import Notes
from linkwork.simulation.options import Options
from linkwork.simulation.packed_rates import packed_rates
from linkwork.simulation.system import System

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray
    from linkwork.world import World

PERTURBED = 1e-6  # m, m/s, rad ...: length of the differences; what is nonlinear in them is smaller by that factor
ITERATIONS = 40  # of the power method, at most
SETTLED = 0.02  # relative: a rate that changes by less in an iteration is known well enough to choose by


def fastest_rate(world: World | ActiveWorld, of: Callable[[ForceElement], bool] = lambda force: True) -> float:
    """1/s: the fastest rate at which those forces act that are chosen, with bodies as built. Those that act only beyond a
    bound count as if they were there."""
    forces = [force for force in world.forces if of(force) and kind_for(force).yields]
    if not forces:
        return 0.0
    system = _system(world, forces)
    try:
        return _Rates(system).fastest()
    except LinkworkError:  # it has no accelerations as built: making the simulation says why
        return 0.0


def _system(world: World | ActiveWorld, forces: list[ForceElement]) -> System:
    """Of a world with these forces alone, and without contact."""
    switched: tuple[frozenset[str], tuple[Element, ...]] = (
        (world.off, world.own) if isinstance(world, ActiveWorld) else (frozenset(), ())
    )
    own = []
    for force in forces:
        for k, always in enumerate(kind_for(force).always_on(force)):
            vars(always)["name"] = f"{force.name} (always on, {k})"
            own.append(always)
    kept = {id(force) for force in forces}
    off = {str(e.name) for e in (*world.forces, *world.contacts) if id(e) not in kept}
    arrangement = Arrangement(switched[0] | off, own=(*switched[1], *own))
    return System.create(whole_of(world), arrangement, Options(1.0, "tree", "rk4"), Notes())


class _Rates:
    """The power method on a System with packed vectors."""

    def __init__(self, system: System) -> None:
        self.system = system
        kinds, at = system.model.bodies.kinds, system.model.packed_at - system.model.packed[0]
        self.q = np.concatenate([np.arange(a, a + kind.nq) for a, kind in zip(at, kinds, strict=True)])
        self.v = np.concatenate([np.arange(a + kind.nq, a + kind.nq + kind.nv) for a, kind in zip(at, kinds, strict=True)])
        first, size = system.model.packed
        system.run(system.schedules.packed(BodyKernel.PACK))
        self.start = system.work[first : first + size].copy()
        self.base = packed_rates(system, self.start)

    def fastest(self) -> float:
        damped, sprung = self._power(self._damped), self._power(self._sprung)
        return max(damped, math.sqrt(sprung))

    def _damped(self, u: FloatArray) -> FloatArray:
        """D u, by velocities that differ by u."""
        y = self.start.copy()
        y[self.v] += PERTURBED * u
        return self._change(y)

    def _sprung(self, u: FloatArray) -> FloatArray:
        """K u, by places to which velocities u lead."""
        y = self.start.copy()
        y[self.v] = u
        moved = packed_rates(self.system, y)[self.q]
        y[:] = self.start
        y[self.q] += PERTURBED * moved
        return self._change(y)

    def _change(self, y: FloatArray) -> FloatArray:
        """Of the accelerations, from those at the start, over the length of the difference."""
        found: FloatArray = (self.base[self.v] - packed_rates(self.system, y)[self.v]) / PERTURBED
        return found

    def _power(self, apply: Callable[[FloatArray], FloatArray]) -> float:
        """The largest eigenvalue, or what is nearest to it after the most iterations."""
        u = apply(np.random.default_rng(0).normal(size=len(self.v)))
        found = 0.0
        for _ in range(ITERATIONS):
            length = float(np.linalg.norm(u))
            if not 0.0 < length < np.inf:
                return 0.0 if length == 0.0 else np.inf
            u = apply(u / length)
            before, found = found, float(np.linalg.norm(u))
            if abs(found - before) <= SETTLED * found:
                break
        return found
