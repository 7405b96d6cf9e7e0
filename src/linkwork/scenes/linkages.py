"""Mechanisms that close on themselves. Joints are chosen so that no row is redundant: where a hinge would hold again what
others hold, there is a point on a line instead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import (
    Ball,
    Box,
    Hinge,
    PlanarBody,
    PointOnLine,
    PointOnPlane,
    RigidBody,
    Slider,
    Spring,
    Universal,
    Wrench,
)
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import rod
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.bodies.ground import Ground
    from linkwork.elements.core.element import Body, ConstraintElement
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, Vector


GRAVITY = 9.81  # m/s^2
ACROSS = (0, 1, 0)  # the axis of all hinges of flat linkages
RADIUS = 0.02  # m, of rods


def _pin(world: World, a: str | Ground, b: str, at: Vector, name: str, loose: bool = False) -> ConstraintElement:
    """A hinge across the plane; a loose one holds the pin only, since others keep its bodies in the plane."""
    joint = PointOnLine(a, b, at=at, axis=ACROSS, name=name) if loose else Hinge(a, b, at=at, axis=ACROSS, name=name)
    return world.add(joint)


def _four_bars_facts(sim: Simulation, *, n: int, speed: float) -> list[Fact]:
    from scipy.integrate import solve_ivp

    rate = GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    moved = solve_ivp(lambda t, y: (y[1], rate * math.sin(y[0])), (0, sim.time), (0, speed), rtol=1e-11, atol=1e-12)
    angle = moved.y[0, -1]
    return facts.point("the first upper pin", sim.point("post1", (0, 0, 0.5)), (math.sin(angle), 0, math.cos(angle)), 1e-3)


@scene("four-bars", dt=2e-3, seconds=5.0, facts=_four_bars_facts, bodies=lambda n: 2 * n + 1, integrator="rk4")
def four_bars(*, n: int = 3, speed: float = 1.0) -> World:
    """Four-bar linkages in a row, n of them, of thin rods of 1 m and 1 kg: they fall over and lie flat on the way.

    speed (m/s) of the upper pins as built, upright. A problem of the IFToMM library of multibody benchmarks.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    thin, turning = (1 / 12, 1 / 12, 1e-3), (0, speed, 0)
    for k in range(n + 1):
        world.add(RigidBody(1.0, thin, position=(k, 0, 0.5), velocity=(speed / 2, 0, 0), angular_velocity=turning,
                            name=f"post{k + 1}"))  # fmt: skip
        _pin(world, world.ground, f"post{k + 1}", (k, 0, 0), f"foot{k + 1}")
    for k in range(n):
        world.add(RigidBody(1.0, thin[::-1], position=(k + 0.5, 0, 1), velocity=(speed, 0, 0), name=f"bar{k + 1}"))
        _pin(world, f"post{k + 1}", f"bar{k + 1}", (k, 0, 1), f"left{k + 1}")
        _pin(world, f"post{k + 2}", f"bar{k + 1}", (k + 1, 0, 1), f"right{k + 1}", loose=True)
    return world


def _slider_crank_facts(sim: Simulation, *, crank: float, length: float, **parameters: Any) -> list[Fact]:
    angle = sim.angle("axle")
    expected = crank * math.cos(angle) + math.sqrt(length**2 - (crank * math.sin(angle)) ** 2)
    world = slider_crank(crank=crank, length=length, **parameters)
    return [Fact("place of the piston by the crank's angle, m", float(sim.position("piston")[0]), expected, 1e-9),
            facts.energy(sim, world, 1e-3 * (1 + parameters["rate"] ** 2))]  # fmt: skip


@scene("slider-crank", seconds=3.0, facts=_slider_crank_facts)
def slider_crank(*, crank: float = 0.2, length: float = 0.5, rate: float = 10.0, mass: float = 1.0) -> World:
    """A crank turns, and a rod pushes a piston to and fro.

    crank m and length m (of the rod, longer than the crank); rate (rad/s) of the crank as built; mass kg of each of the
    three.
    """
    if not length > crank:
        checks.fail('Scene "slider-crank"', f"length is {length:g}", f"give more than the crank's {crank:g} m")
    world = World(gravity=(0, 0, -GRAVITY))
    world.add(rod((0, 0, 0), (crank, 0, 0), RADIUS, mass, name="crank"))
    world.add(rod((crank, 0, 0), (crank + length, 0, 0), RADIUS, mass, name="rod"))
    world.add(RigidBody(mass, shape=Box(0.1, 0.1, 0.1), position=(crank + length, 0, 0), name="piston"))
    world.find("crank").velocity, world.find("crank").angular_velocity = np.array([0, 0, -rate * crank / 2]), (0, rate, 0)
    world.find("rod").velocity = np.array([0, 0, -rate * crank / 2])
    world.find("rod").angular_velocity = np.array([0, -rate * crank / length, 0])
    _pin(world, world.ground, "crank", (0, 0, 0), "axle")
    _pin(world, "crank", "rod", (crank, 0, 0), "pin")
    _pin(world, "rod", "piston", (crank + length, 0, 0), "wrist", loose=True)
    world.add(Slider(world.ground, "piston", at=(crank + length, 0, 0), axis=(1, 0, 0), name="cylinder"))
    return world


def _ladder_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    return [facts.energy(sim, ladder(**parameters), 1e-3 * GRAVITY * parameters["n"] ** 2)]


@scene("ladder", seconds=2.0, facts=_ladder_facts, bodies=lambda n: 3 * n)
def ladder(*, n: int = 10, step: float = 0.3, width: float = 0.4, mass: float = 0.2) -> World:
    """A ladder of n rungs on jointed side rods, hung by its two ends, let go from the horizontal: n loops in a row.

    step m from rung to rung; width m; mass kg of each rod and rung.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    above: list[Body] = [world.ground, world.ground]
    for k in range(1, n + 1):
        sides = []
        for j, y in enumerate((-width / 2, width / 2)):
            start, end = (step * (k - 1), y, 0), (step * k, y, 0)
            side = world.add(rod(start, end, RADIUS / 2, mass, name=f"side{k}-{j + 1}"))
            world.add(Ball(above[j], side, at=start, name=f"joint{k}-{j + 1}"))
            sides.append(side)
        rung = world.add(rod((step * k, -width / 2, 0), (step * k, width / 2, 0), RADIUS / 2, mass, name=f"rung{k}"))
        for j, side in enumerate(sides):
            world.add(Ball(side, rung, at=(step * k, (j - 0.5) * width, 0), name=f"rest{k}-{j + 1}"))
        above = [rung, rung]
    return world


def _scissor_lift_facts(sim: Simulation, *, n: int, length: float, **_: Any) -> list[Fact]:
    first = np.asarray(sim.point("up1", (0, 0, length / 2))) - np.asarray(sim.point("up1", (0, 0, -length / 2)))
    top = sim.point(f"up{n}", (0, 0, length / 2))
    return [Fact("height of the top by the slope of the first bar, m", float(top[2]), n * float(first[2]), 1e-8)]


@scene("scissor-lift", dt=5e-4, seconds=1.0, facts=_scissor_lift_facts, bodies=lambda n: 2 * n)
def scissor_lift(*, n: int = 4, length: float = 1.0, angle: float = 0.5, push: float = 60.0, mass: float = 0.5) -> World:
    """A lift of n crossed pairs of bars on the ground, one foot pinned and one sliding, pushed together.

    length m and mass kg of a bar; angle (rad) of the bars above the ground as built; push N on the sliding foot.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    wide, high = length * math.cos(angle), length * math.sin(angle)
    for k in range(1, n + 1):
        low = high * (k - 1)
        world.add(rod((0, 0, low), (wide, 0, low + high), RADIUS, mass, name=f"up{k}"))
        world.add(rod((wide, 0, low), (0, 0, low + high), RADIUS, mass, name=f"down{k}"))
        _pin(world, f"up{k}", f"down{k}", (wide / 2, 0, low + high / 2), f"middle{k}")
        if k == 1:
            _pin(world, world.ground, "up1", (0, 0, 0), "foot")
            world.add(PointOnPlane(world.ground, "down1", at=(wide, 0, 0), normal=(0, 0, 1), name="slide"))
        else:
            _pin(world, f"down{k - 1}", f"up{k}", (0, 0, low), f"left{k}")
            _pin(world, f"up{k - 1}", f"down{k}", (wide, 0, low), f"right{k}", loose=True)
    world.add(Wrench("down1", force=(-push, 0, 0), at=(0, 0, -length / 2), name="push"))
    return world


def _stewart_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    """The legs' lengths are the distances of their ends."""
    found = []
    for k in range(1, 7):
        ends = [
            np.asarray(sim.point(f"cylinder{k}", (0, 0, -_REACH / 4))),
            np.asarray(sim.point(f"piston{k}", (0, 0, _REACH / 4))),
        ]
        expected = float(np.linalg.norm(ends[1] - ends[0])) - _REACH
        found.append(Fact(f"travel of leg {k}, m", float(sim.angle(f"leg{k}")), expected, 1e-8))
    return found


_REACH = 1.0  # m, of a leg as built


@scene("stewart", seconds=2.0, facts=_stewart_facts)
def stewart(*, mass: float = 5.0, stiffness: float = 2e4, damping: float = 400.0, tilt: float = 0.05) -> World:
    """A platform on six legs that push by springs along their slides: six freedoms, five loops.

    mass kg of the platform; stiffness N/m and damping N s/m of a leg; tilt m: how much longer every second spring is than
    its leg as built.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    low, high = 0.6, 0.4  # m: the circles of the feet and of the heads
    feet = [2 * math.pi / 3 * (k // 2) + (0.2 if k % 2 else -0.2) for k in range(6)]
    heads = [2 * math.pi / 3 * ((k + 1) // 2) - math.pi / 3 + (-0.2 if k % 2 else 0.2) for k in range(6)]
    spots = [(low * np.array([math.cos(a), math.sin(a), 0]), high * np.array([math.cos(b), math.sin(b), 0]))
             for a, b in zip(feet, heads, strict=True)]  # fmt: skip
    height = math.sqrt(_REACH**2 - float(np.sum((spots[0][1] - spots[0][0]) ** 2)))
    world.add(RigidBody(mass, shape=Box(2 * high, 2 * high, 0.05), position=(0, 0, height), name="platform"))
    for k, (foot, head) in enumerate(spots, start=1):
        head = np.array([*head[:2], height])
        middle, way = (foot + head) / 2, (head - foot) / np.linalg.norm(head - foot)
        world.add(rod(foot, middle, 0.03, 0.5, name=f"cylinder{k}"))
        world.add(rod(middle, head, 0.02, 0.3, name=f"piston{k}"))
        across = np.cross(way, (0.0, 0.0, 1.0))
        side = across / np.linalg.norm(across)
        world.add(Universal(world.ground, f"cylinder{k}", at=foot, first=side, second=np.cross(side, way), name=f"foot{k}"))
        world.add(Slider(f"cylinder{k}", f"piston{k}", at=middle, axis=way, name=f"leg{k}"))
        world.add(Ball(f"piston{k}", "platform", at=head, name=f"head{k}"))
        world.add(Spring(f"cylinder{k}", f"piston{k}", stiffness, rest=_REACH + tilt * (k % 2), damping=damping,
                         on_a=(0, 0, -_REACH / 4), on_b=(0, 0, _REACH / 4), name=f"spring{k}"))  # fmt: skip
    return world


# Andrews' squeezer: kg, kg m^2, m, N/m, N m; angles of the seven bodies as the test set of initial value problems has them
_MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
_INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
_A, _B, _C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
_START = (-0.0617138900142764, 0.0, 0.455279819163070, 0.222668390165886, 0.487364979543843, -0.222668390165886,
          1.23054744454982)  # fmt: skip
_END = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
        0.5347301163226948, 1.048080741042263)  # fmt: skip
D, DA, E, EA, RR, RA, SS, SA, SB, SC, SD = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421


def _direction(angle: float) -> FloatArray:
    return np.array([math.cos(angle), math.sin(angle)])


def _down(angle: float) -> FloatArray:
    return np.array([math.sin(angle), -math.cos(angle)])


def _squeezer_places(q: tuple[float, ...]) -> FloatArray:
    """(7, 3): where the centres of mass of the seven bodies are, and how they are turned, by the angles q."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    turns = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    A, B = np.array(_A), np.array(_B)
    centres = (
        RA * _direction(beta),
        RR * _direction(beta) - DA * _direction(beta + theta),
        B + SA * _down(gamma) + SB * _direction(gamma),
        A + ZT * _direction(delta) + (E - EA) * _down(phi + delta),
        A + TA * _direction(delta) - TB * _down(delta),
        A + U * _down(epsilon) + (ZF - FA) * _direction(omega + epsilon),
        A + UA * _down(epsilon) - UB * _direction(epsilon),
    )
    return np.array([(*centre, turn) for centre, turn in zip(centres, turns, strict=True)])


def _squeezer_facts(sim: Simulation, *, torque: float) -> list[Fact]:
    if torque != 0.033 or abs(sim.time - 0.03) > 1e-9:
        return []
    found = []
    for k, (x, y, _) in enumerate(_squeezer_places(_END), start=1):
        found += facts.point(f"body{k}", sim.position(f"body{k}"), (x, y, 0.0), 1e-7)
    return found


@scene("squeezer", dt=1e-5, seconds=0.03, facts=_squeezer_facts, integrator="rk4")
def squeezer(*, torque: float = 0.033) -> World:
    """Andrews' squeezer: seven flat bodies in three loops, a torque against a spring, 180 turns a second at the end.

    torque N m on the crank. Facts are those of the test set of initial value problems, known for 0.033 N m after 0.03 s.
    """
    world = World(gravity=(0, 0, 0))
    for k, (mass, inertia, (x, y, turn)) in enumerate(zip(_MASSES, _INERTIAS, _squeezer_places(_START), strict=True), start=1):
        world.add(PlanarBody(mass, inertia, position=(x, y), angle=turn, plane="xy", name=f"body{k}"))
    beta, theta, gamma, _, delta, _, epsilon = _START
    pins: dict[str, Any] = {"O": (0.0, 0.0), "A": _A, "B": _B, "F": RR * _direction(beta),
            "G": np.array(_A) + ZT * _direction(delta),
            "H": np.array(_A) + U * _down(epsilon),
            "E": RR * _direction(beta) - D * _direction(beta + theta)}  # fmt: skip
    joints = (("O", 0, 1), ("F", 1, 2), ("B", 0, 3), ("E", 2, 3), ("E", 2, 4), ("G", 4, 5), ("A", 0, 5), ("E", 2, 6),
              ("H", 6, 7), ("A", 0, 7))  # fmt: skip
    for pin, a, b in joints:
        first = world.ground if a == 0 else f"body{a}"
        world.add(Ball(first, f"body{b}", at=(*pins[pin], 0), name=f"{pin}{a}{b}"))
    held = np.array(_B) + SC * _down(gamma) + SD * _direction(gamma)
    centre, turned = world.find("body3").position, world.find("body3").angle
    arm = held - centre
    local = (*(np.array([[math.cos(turned), math.sin(turned)], [-math.sin(turned), math.cos(turned)]]) @ arm), 0.0)
    world.add(Spring(world.ground, "body3", 4530.0, rest=0.07785, on_a=(*_C, 0), on_b=local, name="spring"))
    world.add(Wrench("body1", torque=(0, 0, torque), name="drive"))
    return world
