"""Toys on a floor that they touch: a top, and a ball that is bowled at pins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Capsule, Collider, Contact, ConvexHull, Disc, Plane, RigidBody, Sphere
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import matrix, turn
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2
INCH = 0.0254  # m
PIN = ((0.0, 1.015), (0.75, 1.414), (2.25, 1.953), (3.375, 2.255), (4.5, 2.383), (5.875, 2.2815), (7.25, 1.8515), (12.5, 0.95))
HEAD = (13.727, 1.273)  # inches: height and radius, as in PIN; the neck is stouter than that of a pin, and so convex
AROUND = 16  # corners of a pin
BALL = 4.25 * INCH
POCKET = 2.5 * INCH  # where a ball should arrive, aside of the first pin
APART = 12 * INCH  # between pins


def _gained(sim: Simulation, world: World) -> Fact:
    """Friction and impacts only lose energy."""
    start = facts.energy(sim, world, 0.0).expected
    return Fact("energy gained, J", max(0.0, float(sim.energy().total) - start), 0.0, 1e-6 * abs(start))


def _steady(body: RigidBody, height: float, tilt: float, spin: float) -> float:
    """rad/s: the slow root W of I1 W^2 cos(tilt) - I3 spin W + m g height = 0, about the centre, which stays."""
    I1, I3 = body.inertia[0, 0], body.inertia[2, 2]
    square = (I3 * spin) ** 2 - 4 * I1 * math.cos(tilt) * body.mass * GRAVITY * height
    if square < 0 or spin == 0:
        checks.fail('Scene "spinning-top"', f"spin {spin:g} rad/s is too slow to stand at tilt {tilt:g}", "give a faster spin")
    found: float = 2 * body.mass * GRAVITY * height / (I3 * spin + math.copysign(math.sqrt(square), spin))
    return found


def _jellett(body: RigidBody, orientation: FloatArray, angular_velocity: FloatArray, height: float, tip: float) -> float:
    """kg m^3/s: the angular momentum along the way from the floor to the centre. No force at the tip changes it."""
    R = matrix(np.asarray(orientation))
    return float((R @ body.inertia @ R.T @ angular_velocity) @ (height * R[:, 2] + (0, 0, tip)))


def _spinning_top_facts(
    sim: Simulation, *, height: float, tip: float, tilt: float, spin: float, friction: float, **parameters: float
) -> list[Fact]:
    world = spinning_top(height=height, tip=tip, tilt=tilt, spin=spin, friction=friction, **parameters)
    body = world.find("top")
    axle = matrix(sim.orientation("top"))[:, 2]
    kept = _jellett(body, body.orientation, body.angular_velocity, height, tip)
    found = [
        Fact("height of the tip, m", float(sim.position("top")[2] - height * axle[2]), tip, 5e-3 * tip),
        Fact("Jellett's constant, kg m^3/s", _jellett(body, sim.orientation("top"), sim.angular_velocity("top"), height, tip),
             kept, 1e-5 * abs(kept)),
        _gained(sim, world),
    ]  # fmt: skip
    if friction == 0.0:
        angle = _steady(body, height, tilt, spin) * sim.time
        expected = math.sin(tilt) * np.array([math.cos(angle), math.sin(angle), 0]) + (0, 0, math.cos(tilt))
        found += facts.point("the end of a unit axle", axle, expected, 1e-3)
        found += facts.point("the centre", sim.position("top"), body.position, 1e-5)
    return found


@scene("spinning-top", dt=5e-4, seconds=3.0, facts=_spinning_top_facts)
def spinning_top(
    *,
    mass: float = 0.1,
    radius: float = 0.03,
    thickness: float = 0.015,
    height: float = 0.03,
    tip: float = 0.004,
    tilt: float = 0.3,
    spin: float = 300.0,
    friction: float = 0.3,
) -> World:
    """A top on a floor that its round tip touches: it slides, rises, and rolls round.

    mass kg, radius and thickness m of its disc, height m of the disc above the centre of the tip, which is a ball of radius
    tip m; tilt (rad) of the axle from the vertical; spin (rad/s): the whole angular velocity along the axle. Without friction
    its centre stays, and the axle goes round evenly.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    world.add(Collider(world.ground, Plane(), name="floor"))
    axle = np.array([math.sin(tilt), 0, math.cos(tilt)])
    place = height * axle + (0, 0, tip)
    body = RigidBody(mass, shape=Disc(radius, thickness), position=place, orientation=turn((0, 1, 0), tilt), name="top")
    W = _steady(body, height, tilt, spin)
    body.angular_velocity = spin * axle + W * (np.array([0, 0, 1]) - math.cos(tilt) * axle)
    world.add(body)
    peg = Capsule(tip, 1.8 * height)
    world.add(Collider("top", peg, position=(0, 0, peg.length / 2 - height), name="peg"))
    world.add(Contact(friction=friction))
    return world


def _bowled(speed: float, curve: float, spin: float, oil: float, time: float) -> FloatArray:
    """(3,), m: how far the ball gets. It slides, with friction against the slip, whose direction stays; then it rolls."""
    v = np.array([speed, 0.0, 0.0])
    slip = v - BALL * np.cross(_turning(curve, spin), (0, 0, 1))
    fast = float(np.linalg.norm(slip))
    slides = min(time, 2 * fast / (7 * oil * GRAVITY)) if oil * fast > 0 else 0.0
    braked = oil * GRAVITY * slip / fast if fast > 0 else 0 * slip
    return v * time - braked * slides * (time - slides / 2)


def _arrival(distance: float, speed: float, curve: float, spin: float, oil: float) -> float:
    """s: when the ball is beside the first pin."""
    from scipy.optimize import brentq

    def ahead(time: float) -> float:
        return float(_bowled(speed, curve, spin, oil, time)[0]) - distance

    late = 10 * distance / speed if speed > 0 else 0.0
    if not ahead(late) > 0:
        checks.fail('Scene "bowling"', f"at {speed:g} m/s, spinning at {spin:g} rad/s, the ball does not reach the pins",
                    "give more speed")  # fmt: skip
    found: float = brentq(ahead, 0.0, late)
    return found


def _turning(curve: float, spin: float) -> FloatArray:
    """(3,), rad/s: the ball turns forwards, and to the side by `curve`."""
    return spin * np.array([math.sin(curve), math.cos(curve), 0.0])


def _bowling_facts(
    sim: Simulation, *, rows: int, distance: float, speed: float, curve: float, spin: float, oil: float
) -> list[Fact]:
    world = bowling(rows=rows, distance=distance, speed=speed, curve=curve, spin=spin, oil=oil)
    expected = world.find("ball").position + _bowled(speed, curve, spin, oil, sim.time)
    if expected[0] > -2 * BALL:
        return [_gained(sim, world)]
    found = facts.point("the ball", sim.position("ball"), expected, 1e-3)
    pins: list[Any] = list(world.bodies)
    for pin in pins:
        if pin.name != "ball":
            found += facts.point(pin.name, sim.position(pin.name), pin.position, 1e-5)
    return [*found, _gained(sim, world)]


@scene("bowling", seconds=2.0, facts=_bowling_facts, bodies=lambda rows: 1 + rows * (rows + 1) // 2)
def bowling(
    *, rows: int = 4, distance: float = 6.0, speed: float = 6.0, curve: float = -1.2, spin: float = 40.0, oil: float = 0.15
) -> World:
    """A ball that is bowled with spin, curves down an oiled lane and strikes the pins.

    rows of pins, one more in each; the ball starts distance m before the first, at speed m/s, turning at spin rad/s about an
    axis that lies curve rad to the side of the one it would roll about. The friction of the lane on the ball is oil.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    world.add(Collider(world.ground, Plane(), name="lane"))
    around = 2 * math.pi * np.arange(AROUND) / AROUND
    corners = np.array([(r * math.cos(a), r * math.sin(a), z) for z, r in PIN for a in around]) * INCH
    belly = ConvexHull(corners)
    names = ["ball"]
    for row in range(rows):
        for k in range(row + 1):
            place = (math.sqrt(0.75) * APART * row, APART * (k - row / 2), belly.centre[2])
            names.append(f"pin{len(names)}")
            world.add(RigidBody(1.53, shape=belly, position=place, name=names[-1]))
            world.add(Collider(names[-1], Sphere(HEAD[1] * INCH), position=(0, 0, HEAD[0] * INCH - belly.centre[2]),
                               name=f"head{len(names) - 1}"))  # fmt: skip
    aside = POCKET - float(_bowled(speed, curve, spin, oil, _arrival(distance, speed, curve, spin, oil))[1])
    world.add(RigidBody(6.8, shape=Sphere(BALL), position=(-distance, aside, BALL), velocity=(speed, 0, 0), name="ball",
                        angular_velocity=_turning(curve, spin)))  # fmt: skip
    world.add(Contact(friction=0.3, restitution=0.6))
    world.add(Contact("ball", friction=oil))
    return world
