"""A chain that runs on sprockets by contact alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Capsule, Collider, Contact, Cylinder, Hinge, JointSpring, PlanarBody, Sphere, Wrench
from linkwork.elements.core import checks
from linkwork.scenes.layout import along, turn
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, Vector


PITCH = 0.0127  # m, from roller to roller
ROLLER = 0.3 * PITCH  # m, radius
PLAY = 0.02 * PITCH  # m, between a roller and the tooth on either side of it
CRANK, WHEEL = 1e-3, 2e-3  # kg m^2, of the two sprockets and what is on their axles
LINK = 0.003  # kg
SAG = 0.25  # part of a link by which the lower run is longer than its straight way, at least


def _pitch_radius(teeth: int) -> float:
    return PITCH / (2 * math.sin(math.pi / teeth))


def _wrapped(centre: FloatArray, teeth: int, start: float, way: float, reach: float) -> FloatArray:
    """Places of rollers on a sprocket, from the angle `start` on, until `reach` rad are covered."""
    step = 2 * math.pi / teeth
    angles = start + way * step * np.arange(math.ceil(reach / step - 1e-9) + 1)
    return centre + _pitch_radius(teeth) * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _arc(start: FloatArray, end: FloatArray, links: int) -> FloatArray:
    """Places (links - 1, 2) between two points from one to the other along an arc of equal chords of one PITCH, bulging to the
    left of the way."""
    from scipy.optimize import brentq

    chord = end - start
    apart = float(np.linalg.norm(chord))
    half = brentq(lambda a: PITCH * math.sin(links * a) / math.sin(a) - apart, 1e-9, math.pi / links)  # of the turn a link
    heading = math.atan2(chord[1], chord[0]) + (links - 1) * half
    turns = heading - 2 * half * np.arange(links)
    return start + PITCH * np.cumsum(np.stack([np.cos(turns), np.sin(turns)], axis=1), axis=0)[:-1]


def _loop(front: int, rear: int, run: int) -> tuple[FloatArray, FloatArray]:
    """(n, 2), m: rollers from the front sprocket's top over its front and below to the rear one, and back above; and where the
    axle of the rear sprocket is. The upper run is straight, of `run` links."""
    big, small = _pitch_radius(front), _pitch_radius(rear)
    slope = math.atan2(big - small, run * PITCH)  # of the upper run
    rear_axle = -math.hypot(big - small, run * PITCH) * np.array([1.0, 0.0])
    up = math.pi / 2 + slope
    on_front = _wrapped(np.zeros(2), front, up, -1.0, math.pi + 2 * slope)
    on_rear = _wrapped(rear_axle, rear, up, 1.0, math.pi - 2 * slope)
    lower = int(np.linalg.norm(on_rear[-1] - on_front[-1]) / PITCH + SAG) + 1
    hangs = _arc(on_front[-1], on_rear[-1], lower)
    share = np.arange(1, run)[:, None] / run
    above = (1 - share) * on_rear[0] + share * on_front[0]
    return np.concatenate([on_front, hangs, on_rear[::-1], above]), rear_axle


def _sprocket(world: World, name: str, axle: Vector, teeth: int, first: float, mass: float, inertia: float) -> None:
    """A disc below the rollers, and a tooth in each gap between them."""
    radius = _pitch_radius(teeth)
    root, flank = radius - ROLLER, PITCH / 2 - ROLLER - PLAY
    world.add(PlanarBody(mass, inertia, position=axle, name=name))
    world.add(Collider(name, Cylinder(root - PLAY, ROLLER), orientation=turn((1, 0, 0), math.pi / 2), name=f"{name}-disc",
                       group=name))  # fmt: skip
    for k in range(teeth):
        angle = first + (2 * k + 1) * math.pi / teeth
        outwards = np.array([math.cos(angle), 0.0, math.sin(angle)])
        middle = radius * math.cos(math.pi / teeth)  # half way between two rollers
        world.add(Collider(name, Capsule(flank, ROLLER), position=middle * outwards, orientation=along(outwards),
                           name=f"{name}-tooth{k}", group=name))  # fmt: skip
    world.add(Hinge(world.ground, name, at=(axle[0], 0, axle[1]), axis=(0, 1, 0), name=f"{name}-axle"))


def _chain_facts(sim: Simulation, *, front: int, rear: int, run: int, torque: float, load: float) -> list[Fact]:
    """No tooth is skipped; and both sprockets start as if a belt without losses joined them."""
    links = len(_loop(front, rear, run)[0])
    inertia = WHEEL + CRANK * (rear / front) ** 2 + links * LINK * _pitch_radius(rear) ** 2  # as the rear axle feels it
    rate, t = torque * rear / front / load, sim.time
    soon = inertia / load
    driven, turned, tooth = float(sim.angle("front-axle")) * front / rear, float(sim.angle("rear-axle")), 2 * math.pi / rear
    expected = rate * (t - soon * (1 - math.exp(-t / soon)))
    return [
        Fact("angle of the rear sprocket by the front one, rad", turned, driven, tooth / 2),
        Fact("angle of the rear sprocket, rad", turned, expected, tooth / 4 + 0.02 * expected),
    ]


def _links(front: int, rear: int, run: int) -> int:
    return 2 + front + rear + 2 * run


@scene("bicycle-chain", dt=2.5e-4, seconds=0.4, facts=_chain_facts, bodies=_links)
def bicycle_chain(*, front: int = 18, rear: int = 9, run: int = 12, torque: float = 0.4, load: float = 0.02) -> World:
    """A chain of links on two sprockets: the front one drives the rear one by contact of teeth and rollers.

    front and rear teeth; the upper run has run links; torque (N m) turns the front sprocket, load (N m s) times its rate
    brakes the rear one.
    """
    if min(front, rear) < 6:
        checks.fail('Scene "bicycle-chain"', f"front has {front} and rear {rear} teeth", "give at least 6 each")
    world = World()
    rollers, rear_axle = _loop(front, rear, run)
    up = math.atan2(*(rollers[0])[::-1])
    on_rear = math.atan2(*(rollers[-run] - rear_axle)[::-1])
    _sprocket(world, "front", (0.0, 0.0), front, up, 0.2, CRANK)
    _sprocket(world, "rear", rear_axle, rear, on_rear, 1.0, WHEEL)
    n = len(rollers)
    for k, (start, end) in enumerate(zip(rollers, np.roll(rollers, -1, axis=0), strict=True)):
        dx, dz = end - start
        world.add(PlanarBody(LINK, LINK * PITCH**2 / 8, position=(start + end) / 2, angle=-math.atan2(dz, dx), name=f"link{k}"))
        world.add(Collider(f"link{k}", Sphere(ROLLER), position=(-PITCH / 2, 0, 0), name=f"roller{k}", group="chain"))
    for k, place in enumerate(rollers):
        at = (place[0], 0.0, place[1])
        world.add(Hinge(f"link{(k - 1) % n}", f"link{k}", at=at, axis=(0, 1, 0), name=f"pin{k}"))
    world.add(Wrench("front", torque=(0, torque, 0), name="pedal"))
    world.add(JointSpring("rear-axle", 0.0, damping=load, name="brake"))
    world.add(Contact(friction=0.0))  # rollers turn freely
    return world
