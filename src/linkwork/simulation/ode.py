"""The view of a simulation as an ordinary differential equation, y' = f(t, y): for integrators that others wrote.

Constraints enter by their accelerations, so that a y on the constraints stays on them but for the error of the integration,
which grows; feedback (`stiffness` and `damping` of the Simulation) draws it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.engines.scalars import TIME
from linkwork.errors import LinkworkError
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.model import Arrangement, State
from linkwork.model.state_transfer import transferred
from linkwork.simulation.editor import Editor
from linkwork.simulation.notes import Notes
from linkwork.simulation.options import Options
from linkwork.simulation.packed_rates import packed_rates
from linkwork.simulation.state_check import refuse_misfit
from linkwork.simulation.system import System
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Vector


@dataclass
class Twin:
    """A System of the same world whose model has packed vectors."""

    system: System
    arrangement: tuple[int, Arrangement]  # version of the world, and what of it is in force

    def sweep(self, *operations: FloatArray) -> None:
        self.system.run(*operations)

    @property
    def packed(self) -> slice:
        first, size = self.system.model.packed
        return slice(first, first + size)


class OdeView:
    """`pack`, `unpack` and `derivative` of a simulation."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._known: Twin | None = None

    def pack(self) -> FloatArray:
        """y: coordinates and velocities of all bodies."""
        system, twin = self._twin()
        _carry(system, twin.system)
        twin.sweep(twin.system.schedules.packed(BodyKernel.PACK))
        return twin.system.work[twin.packed].copy()

    def unpack(self, y: Vector) -> None:
        """Put all bodies where y says."""
        system, twin = self._twin()
        values = self._vector(twin, y)
        if len(wrong := np.flatnonzero(~np.isfinite(values))):
            raise LinkworkError(f"Simulation: y[{wrong[0]}] is {values[wrong[0]]:g}; give finite numbers")
        _carry(system, twin.system)
        twin.system.work[twin.packed] = values
        schedules = twin.system.schedules
        twin.sweep(schedules.packed(BodyKernel.UNPACK), schedules.body(BodyKernel.NORMALISE))
        _carry(twin.system, system)

    def derivative(self, t: float, y: Vector) -> FloatArray:
        """y' at the time t (s)."""
        _, twin = self._twin()
        work, values = twin.system.work, self._vector(twin, y)
        if not np.isfinite(values).all():  # a step of the integrator that went too far: it tries another one
            return np.full_like(values, np.nan)
        work[TIME] = checks.number("Simulation", "t", t)
        return packed_rates(twin.system, values)

    def _twin(self) -> tuple[System, Twin]:
        """The System of now, and one of the same world with the solver `tree` and packed vectors, with the same parameters and
        commands."""
        system, known = self._editor.follow(), self._known
        arrangement = system.version, system.arrangement
        if known is None or known.arrangement != arrangement:
            known = self._known = Twin(_packed(system), arrangement)
        twin = known.system
        twin.put(system.values(), system.commands.entries(system.work, ways=True))
        for name in ("stiffness", "damping"):
            twin.work[GLOBALS.offset(name)] = system.work[GLOBALS.offset(name)]
        return system, known

    def _vector(self, twin: Twin, y: Vector) -> FloatArray:
        try:
            values = np.asarray(y, dtype=float)
        except (TypeError, ValueError):
            raise LinkworkError(f"Simulation: y is {checks.show(y)}; give numbers, as pack() does") from None
        size = twin.system.model.packed[1]
        if values.shape != (size,):
            raise LinkworkError(f"Simulation: y has the shape {values.shape}; give ({size},), as pack() does")
        return values


def _packed(system: System) -> System:
    """A System of the same world as it is arranged now, as built, with the solver `tree` and rk4."""
    options = Options(system.options.dt, "tree", "rk4")
    options.refuse_contact(system.active_world)
    return System.create(system.world, system.arrangement, options, Notes(), compiled_at=system.compiled_at)


def _carry(source: System, target: System) -> None:
    """The state of one System to another of the same world."""
    state, before = source.state(), target.state()
    values = transferred(source.model, target.model, state.values)
    there = State(values, state.time, before.steps, before.age, target.layout, None, before.arrangement)
    refuse_misfit(target, there)
    target.take(there)
