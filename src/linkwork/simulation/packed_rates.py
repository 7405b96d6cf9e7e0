"""A world as y' = f(y): on packed vectors, which are coordinates and velocities of all bodies, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.engines.scalars import KICK
from linkwork.kernels.vocabulary import BodyKernel, RowMode

if TYPE_CHECKING:
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray


def packed_rates(system: System, y: FloatArray) -> FloatArray:
    """The rates of packed vectors of a System that has them: of coordinates, then accelerations, body by body."""
    work, p = system.work, system.schedules
    first, size = system.model.packed
    work[first : first + size] = y
    work[KICK] = 1.0
    system.run(p.packed(BodyKernel.UNPACK), p.body(BodyKernel.ACCELERATE), p.up(RowMode.ACCELERATION), p.backward(),
               p.packed(BodyKernel.RATES))  # fmt: skip
    first, size = system.model.rates
    return work[first : first + size].copy()
