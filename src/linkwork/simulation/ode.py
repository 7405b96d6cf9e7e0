"""The view of a simulation as an ordinary differential equation, y' = f(t, y): for integrators that others wrote.

Constraints enter by their accelerations, so that a y on the constraints stays on them but for the error of the integration,
which grows; feedback (`stiffness` and `damping` of the Simulation) draws it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.engines.engine import KICK, TIME
from linkwork.errors import LinkworkError
from linkwork.model.model import Arrangement, State
from linkwork.model.state_transfer import carried
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


@dataclass
class Twin:
    """A simulation of the same world whose model has packed vectors."""

    sim: Simulation
    arrangement: tuple[int, Arrangement]  # version of the world, and what of it is in force

    def sweep(self, *operations: np.ndarray) -> None:
        self.sim.integrator.run(self.sim.work, *operations)

    @property
    def packed(self) -> slice:
        first, size = self.sim.model.packed
        return slice(first, first + size)

    @property
    def rates(self) -> slice:
        first, size = self.sim.model.rates
        return slice(first, first + size)


class OdeView:
    """`pack`, `unpack` and `derivative` of a Simulation."""

    def pack(self) -> np.ndarray:
        """y: coordinates and velocities of all bodies, body by body in order of addition, as the model has them (a rigid body's
        coordinates are a place and a unit quaternion).

        >>> import linkwork as lw
        >>> from scipy.integrate import solve_ivp
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> found = solve_ivp(sim.derivative, (0, 0.1), sim.pack(), rtol=1e-9)
        >>> sim.unpack(found.y[:, -1])
        >>> sim.drift() < 1e-6
        True
        """
        twin = self._twin()
        _carry(self, twin.sim)
        twin.sweep(twin.sim.programs.packed("pack"))
        return twin.sim.work[twin.packed].copy()

    def unpack(self, y) -> None:
        """Put all bodies where y says; time, counted turns and the rest of the state stay. Quaternions are made unit ones."""
        twin = self._twin()
        values = self._vector(twin, y)
        if len(wrong := np.flatnonzero(~np.isfinite(values))):
            raise LinkworkError(f"Simulation: y[{wrong[0]}] is {values[wrong[0]]:g}; give finite numbers")
        _carry(self, twin.sim)
        twin.sim.work[twin.packed] = values
        programs = twin.sim.programs
        twin.sweep(programs.packed("unpack"), programs.body("normalise"))
        _carry(twin.sim, self)

    def derivative(self, t: float, y) -> np.ndarray:
        """y' at the time t (s): rates of coordinates, accelerations. Parameters and commands are those of now. Where y is
        not finite, nothing of it is."""
        twin = self._twin()
        other, work = twin.sim, twin.sim.work
        values = self._vector(twin, y)
        if not np.isfinite(values).all():  # a step of the integrator that went too far: it tries another one
            return np.full_like(values, np.nan)
        work[twin.packed] = values
        work[TIME] = checks.number(self, "t", t)
        work[KICK] = 1.0
        programs = other.programs
        twin.sweep(programs.packed("unpack"), programs.body("accelerate"), programs.up("acceleration"), programs.backward(),
                   programs.packed("rates"))  # fmt: skip
        return work[twin.rates].copy()

    def _twin(self: Any) -> Twin:
        self._follow_world()
        known: Twin | None = self.__dict__.get("_ode")
        arrangement = self.world.version, self._arrangement
        if known is None or known.arrangement != arrangement:
            known = self._ode = Twin(self._twin_with("rk4"), arrangement)
        twin = known.sim
        twin._put({name: self.get(name) for name in self.model.parameters}, self.control.entries(ways=True))
        for name in ("stiffness", "damping"):
            twin.work[GLOBALS.offset(name)] = self.work[GLOBALS.offset(name)]
        return known

    def _vector(self, twin: Twin, y) -> np.ndarray:
        try:
            values = np.asarray(y, dtype=float)
        except (TypeError, ValueError):
            raise LinkworkError(f"Simulation: y is {checks.show(y)}; give numbers, as pack() does") from None
        size = twin.sim.model.packed[1]
        if values.shape != (size,):
            raise LinkworkError(f"Simulation: y has the shape {values.shape}; give ({size},), as pack() does")
        return values


def _carry(source, target) -> None:
    """The state of one simulation to another of the same world."""
    state, before = source.state, target.state
    values = carried(source.model, target.model, state.values)
    target.state = State(values, state.time, before.steps, before.age, target._layout, None, before.arrangement)
