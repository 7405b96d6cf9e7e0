"""A rag doll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Ball, Box, Collider, Contact, Drag, Ellipsoid, HardLimit, Hinge, Plane, RigidBody, Universal
from linkwork.scenes.layout import rod
from linkwork.scenes.registry import scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.core.joint import Joint
    from linkwork.util.array_types import FloatArray, Vector


TALL, HEAVY = 1.8, 70.0  # m and kg: the doll that the numbers below describe, x ahead, y to its left, feet at z = 0

# name: shape, where, kg
TRUNK: dict[str, tuple[Any, ...]] = {
    "pelvis": (Box(0.20, 0.32, 0.18), (0, 0, 0.99), 10.5),
    "torso": (Box(0.22, 0.34, 0.42), (0, 0, 1.31), 23.5),
    "head": (Ellipsoid(0.20, 0.17, 0.24), (0, 0, 1.68), 5.0),
}
# name: from, to, radius, kg; one on each side
LIMBS: dict[str, tuple[Any, ...]] = {
    "upper-arm": ((0, 0.20, 1.47), (0, 0.48, 1.47), 0.045, 2.0),
    "forearm": ((0, 0.48, 1.47), (0, 0.74, 1.47), 0.035, 1.2),
    "thigh": ((0, 0.10, 0.92), (0, 0.10, 0.51), 0.070, 7.5),
    "shin": ((0, 0.10, 0.51), (0, 0.10, 0.10), 0.050, 3.3),
}
ENDS: dict[str, tuple[Any, ...]] = {
    "hand": (Ellipsoid(0.09, 0.17, 0.05), (0, 0.83, 1.47), 0.5),
    "foot": (Box(0.26, 0.10, 0.07), (0.06, 0.10, 0.05), 1.0),
}


@scene("rag-doll", seconds=4.0)
def rag_doll(*, height: float = TALL, mass: float = HEAVY, drag: float = 2.0) -> World:
    """A doll of 15 bodies on ball joints, hinges and universal joints, hanging by its left hand.

    height m and mass kg in all; drag N s/m: the air on each body. It is let go with its arms stretched out.
    """
    world, size, share = World(), height / TALL, mass / HEAVY

    def put(name: str, shape: Any, place: Vector, kg: float, mirror: float = 1.0) -> None:
        sizes = {key: size * value for key, value in vars(shape).items()}
        place = size * np.array(place) * (1, mirror, 1)
        world.add(RigidBody(mass=share * kg, shape=type(shape)(**sizes), position=place, name=name))

    def at(x: int, y: float, z: float) -> FloatArray:
        return size * np.array([x, y, z])

    for name, given in TRUNK.items():
        put(name, *given)
    world.add(Ball("pelvis", "torso", at=at(0, 0, 1.09), name="spine"))
    world.add(Ball("torso", "head", at=at(0, 0, 1.54), name="neck"))
    for side, y in (("left", 1.0), ("right", -1.0)):
        for name, (start, end, radius, kg) in LIMBS.items():
            start, end = at(*start) * (1, y, 1), at(*end) * (1, y, 1)
            world.add(rod(start, end, size * radius, share * kg, name=f"{name}-{side}"))
        for name, (shape, place, kg) in ENDS.items():
            put(f"{name}-{side}", shape, place, kg, mirror=y)

        def join(
            joint: type[Joint],
            a: str,
            b: str,
            place: Vector,
            name: str,
            side: str = side,
            y: float = y,
            **axes: Vector,
        ) -> None:
            a = a if a in TRUNK else f"{a}-{side}"
            world.add(joint(a, f"{b}-{side}", at=at(*place) * (1, y, 1), name=f"{name}-{side}", **axes))

        join(Ball, "torso", "upper-arm", LIMBS["upper-arm"][0], "shoulder")
        join(Hinge, "upper-arm", "forearm", LIMBS["forearm"][0], "elbow", axis=(0, 0, y))
        join(Universal, "forearm", "hand", LIMBS["forearm"][1], "wrist", first=(1, 0, 0), second=(0, 0, 1))
        join(Ball, "pelvis", "thigh", LIMBS["thigh"][0], "hip")
        join(Hinge, "thigh", "shin", LIMBS["shin"][0], "knee", axis=(0, 1, 0))
        join(Hinge, "shin", "foot", LIMBS["shin"][1], "ankle", axis=(0, 1, 0))
    world.add(Ball(world.ground, "hand-left", at=at(0, 0.9, 1.47), name="grip"))
    if drag != 0:
        world.add([Drag(body, drag, angular=0.02 * drag * size**2, name=f"air-{body.name}") for body in world.bodies])
    return world


# joint: lowest and highest angle, rad, of both sides
STOPS = {"knee": (0.0, 2.4), "elbow": (-2.4, 0.0), "ankle": (-0.6, 0.6)}


@scene("rag-doll-on-stairs", dt=2e-3, seconds=2.0, bodies=lambda steps: 15)
def rag_doll_on_stairs(*, steps: int = 6, rise: float = 0.18, tread: float = 0.28, speed: float = 1.5) -> World:
    """A rag doll that stumbles down a flight of stairs.

    steps of that rise and tread m go down from where it stands; it starts with its speed m/s towards them. Knees, elbows
    and ankles have hard limits.
    """
    world = rag_doll(height=TALL, mass=HEAVY, drag=0.0)
    world.remove("grip")
    bodies: list[Any] = list(world.bodies)
    for body in bodies:
        body.velocity = np.array([speed, 0.0, 0.0])
    for k in range(steps):
        begin, top = (-1.0 if k == 0 else 0.15 + (k - 1) * tread), -k * rise
        end, deep = 0.15 + k * tread, (steps - k) * rise + 0.5
        block = Box(end - begin, 1.5, deep)
        world.add(Collider(world.ground, block, position=((begin + end) / 2, 0, top - deep / 2), name=f"step{k}"))
    world.add(Collider(world.ground, Plane(), position=(0, 0, -steps * rise), name="floor"))
    for name, (lower, upper) in STOPS.items():
        for side in ("left", "right"):
            world.add(HardLimit(f"{name}-{side}", lower=lower, upper=upper, name=f"{name}-stop-{side}"))
    world.add(Contact(friction=0.6))
    return world
