"""A hand of 16 bones that follows a recorded motion: it takes a ball from a table and lifts it.

Built palm down, fingers straight: x ahead, y towards the thumb, z up; metres, from the middle of the palm.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import (
    Ball,
    Box,
    ContactSpring,
    Follow,
    Hinge,
    JointLimit,
    JointSpring,
    RigidBody,
    Sphere,
    Trajectory,
    Universal,
)
from linkwork.scenes.layout import along, compose, rod, rotate, turn
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.core.element import Body
    from linkwork.elements.core.joint import Joint
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2
DENSITY = 1100.0  # kg/m^3
PALM = Box(0.09, 0.090, 0.024)
PHALANGES = ("proximal", "middle", "distal")
FINGERS = {  # where each begins, lengths of its bones
    "index": ((0.046, 0.034, 0.0), (0.045, 0.026, 0.020)),
    "middle": ((0.050, 0.011, 0.0), (0.049, 0.030, 0.021)),
    "ring": ((0.046, -0.012, 0.0), (0.046, 0.028, 0.021)),
    "little": ((0.038, -0.034, 0.0), (0.036, 0.020, 0.018)),
    "thumb": ((-0.020, 0.041, -0.008), (0.045, 0.032, 0.026)),
}
RADII = (0.0085, 0.0075, 0.0068)
THUMB = np.array((0.80, 0.55, -0.20)) / math.sqrt(0.9825)  # the way it points
THUMB_AXIS = np.array((-0.1663, -0.1143, -0.9794)) / math.sqrt(0.99996)  # about which its hinges bend
BALL, PLACE = 0.03, np.array((0.080, 0.018, -0.056))  # radius; its centre, seen from the palm that holds it
# what the glove tells, rad: bend and spread of the first joint, bends of the second and third;
# of the thumb the rotation vector of the first joint, bends of the others
OPEN = {
    "index": (0.0, 0.05, -0.25, 0.0), "middle": (0.0, 0.0, -0.25, 0.0), "ring": (0.0, -0.05, -0.25, 0.0),
    "little": (0.0, -0.1, -0.25, 0.0), "thumb": (0.0, 0.0, 0.2, 0.0, 0.0),
}  # fmt: skip
GRIP = {
    "index": (0.167, -0.119, 0.759, 0.582), "middle": (0.033, -0.073, 1.059, 0.823), "ring": (0.168, 0.081, 1.022, 0.777),
    "little": (0.636, 0.340, 0.382, 0.230), "thumb": (-0.065, 0.399, -0.155, 0.654, 0.549),
}  # fmt: skip
DOWN, CLOSE, UP = (0.3, 0.9), (0.9, 1.6), (1.9, 2.7)  # s: when the palm goes down, the fingers close, the palm goes up
SAMPLES = np.linspace(0.0, 3.0, 181)  # s: 60 a second
PALM_FIRMNESS = 60.0  # times that of the other bones' springs
TIP = 3000.0  # N/m: of a fingertip's flesh
DRUMMING = Path(__file__).with_name("drumming.csv")  # made by papers/hernandez11/recording.py
OVER_TABLE = 0.07  # m: the palm's height when it drums


def glove(t: float) -> tuple[float, dict[str, FloatArray]]:
    """(palm's height over its lowest, m; finger -> angles, rad) as recorded at the time t, but for the lift."""
    closed = _ramp(t, *CLOSE)
    angles = {name: (1 - closed) * np.array(OPEN[name]) + closed * np.array(GRIP[name]) for name in FINGERS}
    return 0.06 * (1 - _ramp(t, *DOWN)), angles


def _ramp(t: float, start: float, end: float) -> float:
    """From 0 to 1, smoothly."""
    x = min(max((t - start) / (end - start), 0.0), 1.0)
    return x * x * (3 - 2 * x)


def _hand_facts(sim: Simulation, *, lift: float, **_: Any) -> list[Fact]:
    """Once the palm is up, the ball is up, too: soft fingers hold it a little lower."""
    if sim.time < UP[1] + 0.2:
        return []
    return [Fact("height of the ball, m", float(sim.position("ball")[2]), BALL + lift, 0.015)]


@scene("hand", dt=0.01, seconds=3.0, facts=_hand_facts, solver="implicit")
def hand(
    *,
    follow: float = 200.0,
    stiffness: float = 0.02,
    limit: float = 5.0,
    mass: float = 0.05,
    friction: float = 0.9,
    lift: float = 0.05,
) -> World:
    """A hand of 16 bones and 15 joints follows a recorded motion: soft fingertips take a ball, and lift it.

    follow N/m: of the springs from bones to the recorded motion; stiffness N m/rad of the joints, limit N m/rad beyond
    their bounds; mass kg of the ball, friction of the fingertips; lift m.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    home = np.array([0.0, 0.0, BALL - PLACE[2] + glove(0.0)[0]])
    add_bones(world, home, stiffness, limit)
    bones: list[Any] = list(world.bodies)
    for bone, motion in zip(bones, record(bones, lift), strict=True):
        world.add(_follow(bone, motion, follow))
    _add_ball(world, mass, friction)
    return world


def _recorded_facts(sim: Simulation, **_: Any) -> list[Fact]:
    """The bones are where they were recorded, but for what springs, joints and the table give way."""
    motions = Trajectory.load_all(DRUMMING)
    off = [np.linalg.norm(sim.position(name) - motion.at(sim.time)[0, :3]) for name, motion in motions.items()]
    return [Fact("largest distance of a bone from the recording, m", float(np.max(off)), 0.0, 0.015)]


@scene("hand-recorded", dt=0.01, seconds=3.0, facts=_recorded_facts, solver="implicit")
def hand_recorded(*, follow: float = 200.0, stiffness: float = 0.02, limit: float = 5.0, friction: float = 0.9) -> World:
    """A hand of 16 bones follows a recorded motion of many keys from a file: its fingers drum on a table.

    follow N/m: of the springs from bones to the recorded motion; stiffness N m/rad of the joints, limit N m/rad beyond
    their bounds; friction of the fingertips.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    add_bones(world, np.array([0.0, 0.0, OVER_TABLE]), stiffness, limit)
    motions = Trajectory.load_all(DRUMMING)
    world.add([_follow(bone, motions[bone.name], follow) for bone in list(world.bodies)])
    for finger, (_, lengths) in FINGERS.items():
        tip: dict[str, Any] = {"at": (0, 0, lengths[-1] / 2), "radius": RADII[-1], "friction": friction}
        bone = world.find(f"{finger}-distal")
        world.add(ContactSpring(world.ground, bone, TIP, 3.0, plane=((0, 0, 0), (0, 0, 1)), **tip, name=f"{finger}-tip"))
    return world


def add_bones(world: World, home: FloatArray, stiffness: float, limit: float) -> None:
    """The palm at `home`, straight fingers, and what holds their joints."""
    world.add(RigidBody(mass=DENSITY * PALM.volume, shape=PALM, position=home, name="palm"))
    for finger in FINGERS:
        _add_finger(world, finger, home, stiffness, limit)


def _add_finger(world: World, finger: str, home: FloatArray, stiffness: float, limit: float) -> None:
    """Three bones, their joints, and what holds these."""
    (base, lengths), straight = FINGERS[finger], THUMB if finger == "thumb" else np.array([1.0, 0.0, 0.0])
    axis = THUMB_AXIS if finger == "thumb" else np.array([0.0, 1.0, 0.0])
    start, parent = home + base, world.find("palm")
    for k, (name, length, radius) in enumerate(zip(PHALANGES, lengths, RADII, strict=True)):
        end = start + length * straight
        bone = rod(start, end, radius, DENSITY * math.pi * radius**2 * length, name=f"{finger}-{name}")
        joint = _joint(finger, k, parent, bone, start, axis)
        spring = JointSpring(joint, stiffness, 0.05 * stiffness, name=f"{joint.name}-spring")
        world.add([bone, joint, spring, *_limits(joint, straight, limit)])
        start, parent = end, bone


def _joint(finger: str, k: int, parent: RigidBody, bone: RigidBody, at: FloatArray, axis: FloatArray) -> Joint:
    name = f"{finger}-joint{k + 1}"
    if k:
        return Hinge(parent, bone, at=at, axis=axis, name=name)
    if finger == "thumb":
        return Ball(parent, bone, at=at, name=name)
    return Universal(parent, bone, at=at, first=(0, 1, 0), second=(0, 0, 1), name=name)


def _limits(joint: Joint, straight: FloatArray, limit: float) -> list[JointLimit]:
    """Fingers do not bend backwards; a thumb keeps to a cone. (First joints of fingers have no bounds.)"""
    damping, name = 0.01 * limit, f"{joint.name}-limit"
    if isinstance(joint, Hinge):
        return [JointLimit(joint, 0.0, 1.8, stiffness=limit, damping=damping, name=name)]
    if isinstance(joint, Ball):
        return [JointLimit(joint, cone=0.9, twist=(-0.6, 0.6), axis=straight, stiffness=limit, damping=damping, name=name)]
    return []


def _follow(bone: Body, motion: Trajectory, stiffness: float) -> Follow:
    firm = PALM_FIRMNESS if bone.name == "palm" else 1.0
    return Follow(bone, motion, stiffness=firm * stiffness, damping=0.01 * firm * stiffness, name=f"{bone.name}-glove",
                  angular_stiffness=5e-4 * firm * stiffness, angular_damping=5e-6 * firm * stiffness)  # fmt: skip


def _add_ball(world: World, mass: float, friction: float) -> None:
    palm = world.find("palm").position
    place = np.array([palm[0] + PLACE[0], palm[1] + PLACE[1], BALL])
    ball = world.add(RigidBody(mass=mass, shape=Sphere(BALL), position=place, name="ball"))
    floor: dict[str, Any] = {"plane": ((0, 0, 0), (0, 0, 1)), "radius": BALL, "friction": friction}
    world.add(ContactSpring(world.ground, ball, TIP, 3.0, **floor, name="table"))
    for finger, (_, lengths) in FINGERS.items():
        tip: dict[str, Any] = {"at": (0, 0, lengths[-1] / 2), "radius": RADII[-1], "friction": friction}
        bone = world.find(f"{finger}-distal")
        world.add(ContactSpring(ball, bone, TIP, 3.0, sphere=((0, 0, 0), BALL), **tip, name=f"{finger}-tip"))


def record(bones: list[RigidBody], lift: float) -> list[Trajectory]:
    """The recorded motion of each bone, in this order, as a glove would give it: a Trajectory."""
    return motions(SAMPLES, [_pose(bones, t, lift) for t in SAMPLES])


def motions(times: FloatArray, poses: list[list[FloatArray]]) -> list[Trajectory]:
    """A Trajectory for each bone, from its poses (times, bones, 7)."""
    return [Trajectory(times, of_bone[:, :3], of_bone[:, 3:]) for of_bone in np.swapaxes(poses, 0, 1)]


def _pose(bones: list[RigidBody], t: float, lift: float) -> list[FloatArray]:
    """[(position, quaternion) of each bone] where the glove has them at the time t."""
    height, angles = glove(t)
    palm = bones[0]
    return bent(palm, palm.position + np.array([0.0, 0.0, height - glove(0.0)[0] + lift * _ramp(t, *UP)]), angles)


def bent(palm: RigidBody, moved: FloatArray, angles: dict[str, FloatArray]) -> list[FloatArray]:
    """[(position, quaternion) of each bone] where the palm has moved to, with these angles of the fingers."""
    found = [np.r_[moved, palm.orientation]]
    for finger, (base, lengths) in FINGERS.items():
        start, turned = moved + base, np.array([1.0, 0.0, 0.0, 0.0])
        straight = THUMB if finger == "thumb" else np.array([1.0, 0.0, 0.0])
        for bend, length in zip(_bends(finger, angles[finger]), lengths, strict=True):
            turned = compose(turned, bend)
            reach = length * rotate(turned, straight)
            found.append(np.r_[start + reach / 2, compose(turned, along(straight))])
            start = start + reach
    return found


def _bends(finger: str, angles: FloatArray) -> list[FloatArray]:
    """The quaternion of each joint of a finger."""
    if finger == "thumb":
        size = float(np.linalg.norm(angles[:3]))
        first = turn(angles[:3] / size, size) if size else turn((1, 0, 0), 0.0)
        return [first, *(turn(THUMB_AXIS, a) for a in angles[3:])]
    first = compose(turn((0, 1, 0), angles[0]), turn((0, 0, 1), angles[1]))
    return [first, *(turn((0, 1, 0), a) for a in angles[2:])]
