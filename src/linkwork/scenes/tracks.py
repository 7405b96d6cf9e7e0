"""Things that keep to a track: a skate on a slope, a bead on a helix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Box, Particle, PlanarBody, PointOnCurve, Skate
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.registry import scene
from linkwork.world import World

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.scenes.registry import Fact
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2


def _skate_facts(sim: Simulation, *, slope: float, rate: float, **_: Any) -> list[Fact]:
    pull, angle = GRAVITY * math.sin(slope), rate * sim.time
    reach = pull / (2 * rate**2)
    expected = reach * math.sin(angle) ** 2, reach * (angle - math.sin(2 * angle) / 2), 0.0
    return facts.point("the sled", sim.position("sled"), expected, 1e-4)


@scene("skate", seconds=6.0, facts=_skate_facts)
def skate(*, slope: float = 0.3, rate: float = 2.0, mass: float = 1.0, length: float = 0.3) -> World:
    """A sled on one blade, spinning on a slope: it does not slide down, but moves across in a cycloid.

    slope (rad): x points down it, y across; rate (rad/s) of its spin, other than 0; mass kg, length m of the sled. It
    is let go at rest, its blade along x.
    """
    if rate == 0:
        checks.fail('Scene "skate"', "rate is 0", "give the sled's spin in rad/s, other than 0")
    world = World(gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    shape = Box(length, length / 4, length / 6)
    world.add(PlanarBody(mass=mass, shape=shape, plane="xy", angular_velocity=rate, name="sled"))
    world.add(Skate("sled", (1, 0, 0), normal=(0, 0, 1), name="blade"))
    return world


def _bead_facts(sim: Simulation, *, radius: float, pitch: float, turns: float, **_: Any) -> list[Fact]:
    advance = pitch / (2 * math.pi)  # m a radian
    angle = 2 * math.pi * turns - 0.5 * GRAVITY * advance / (radius**2 + advance**2) * sim.time**2
    expected = np.array([radius * math.cos(angle), radius * math.sin(angle), advance * angle])
    return facts.point("the bead", sim.position("bead"), expected, 1e-3)


@scene("bead-on-wire", seconds=4.0, facts=_bead_facts)
def bead_on_wire(*, radius: float = 0.3, pitch: float = 0.2, turns: float = 5.0, mass: float = 0.1) -> World:
    """A bead that slides down a helical wire: its speed grows evenly.

    radius m of the helix, pitch m a turn, turns that it starts above the origin; mass kg of the bead.
    """
    if pitch == 0 or radius <= 0:
        checks.fail('Scene "bead-on-wire"', f"radius is {radius:g} and pitch {pitch:g}", "give both, other than 0")
    world = World(gravity=(0, 0, -GRAVITY))
    advance = pitch / (2 * math.pi)

    def helix(p: FloatArray | SX) -> tuple[SX | float, SX | float]:
        from linkwork.elements.core.functions import cos, sin

        angle = p[2] / advance
        return p[0] * sin(angle) - p[1] * cos(angle), (p[0] ** 2 + p[1] ** 2 - radius**2) / (2 * radius)

    angle = 2 * math.pi * turns
    place = (radius * math.cos(angle), radius * math.sin(angle), advance * angle)
    world.add(Particle(mass, position=place, name="bead"))
    world.add(PointOnCurve(world.ground, "bead", helix, name="wire"))
    return world
