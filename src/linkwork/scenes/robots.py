"""A robot that is dragged by its left hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Ball, Box, Follow, Hinge, JointLimit, JointSpring, Parameter, RigidBody, Sphere, Trajectory
from linkwork.scenes.layout import along, compose, rod, rotate, turn
from linkwork.scenes.registry import scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray, IntArray


GRAVITY = 9.81  # m/s^2
# x ahead, y to its left, z up; m, kg; the left side, the right one is its mirror
TORSO, TORSO_PLACE, TORSO_MASS = Box(0.22, 0.34, 0.50), (0.0, 0.0, 1.15), 20.0
HEAD, HEAD_PLACE, HEAD_MASS = Sphere(0.12), (0.0, 0.0, 1.57), 3.0
WAIST, NECK = (0.0, 0.0, 0.90), (0.0, 0.0, 1.43)
SHOULDER, ELBOW, WRIST, KNUCKLES = (0.0, 0.23, 1.34), (0.0, 0.45, 1.16), (0.20, 0.50, 1.06), (0.29, 0.52, 1.02)
ARM = {"upper-arm": (SHOULDER, ELBOW, 0.045, 2.0), "forearm": (ELBOW, WRIST, 0.037, 1.4), "hand": (WRIST, KNUCKLES, 0.032, 0.6)}
FINGERS, PHALANX, FINGER_RADIUS, PHALANX_MASS = (-0.03, 0.0, 0.03), 0.035, 0.010, 0.03
BODY_STIFFNESS, FINGER_STIFFNESS, FINGER_LIMIT = 400.0, 0.3, 20.0  # N m/rad
SETTLING = 0.05  # s: damping over stiffness of every joint spring
# where the handle goes from the hand, m, at which times, s: out, up, across and down, then it waits
PATH = {
    0.0: (0, 0, 0), 1.0: (0.06, 0.03, 0.02), 2.0: (0.05, 0.05, 0.30), 3.0: (0.0, -0.25, 0.25),
    4.0: (0.0, -0.15, -0.12), 5.0: (0.06, 0.03, 0.02), 6.0: (0.06, 0.03, 0.02),
}  # fmt: skip


@scene("robot-drag", dt=0.01, seconds=6.0, solver="implicit")
def robot_drag(*, stiffness: float = 40.0, handle: float = 2000.0) -> World:
    """A robot is dragged by its left hand: ball shoulders, elbows and wrists, hinged fingers, 20 bodies in all.

    stiffness N m/rad of the arms' joints, which is also a Parameter of the world: sim.set("stiffness", 0) turns their
    torques off; handle N/m: of the spring between the hand and the user's. `handle_force` tells what the user feels.
    """
    world, torque = World(gravity=(0, 0, -GRAVITY)), Parameter(stiffness, name="stiffness")
    damping = Parameter(SETTLING * max(stiffness, 20.0) / 4, name="damping")
    world.add(RigidBody(mass=TORSO_MASS, shape=TORSO, position=TORSO_PLACE, name="torso"))
    world.add(RigidBody(mass=HEAD_MASS, shape=HEAD, position=HEAD_PLACE, name="head"))
    for a, b, at, name in ((world.ground, "torso", WAIST, "waist"), ("torso", "head", NECK, "neck")):
        world.add(Ball(a, b, at=at, name=name))
        world.add(JointSpring(name, BODY_STIFFNESS, SETTLING * BODY_STIFFNESS, name=f"{name}-spring"))
    for side, mirror in (("left", (1, 1, 1)), ("right", (1, -1, 1))):
        _add_arm(world, side, np.array(mirror), torque, damping)
        for number, aside in enumerate(FINGERS, start=1):
            _add_finger(world, f"{side}{number}", f"hand-{side}", np.array(mirror), aside)
    world.add(_handle(world.find("hand-left"), handle))
    return world


def _add_arm(world: World, side: str, mirror: IntArray, stiffness: Parameter, damping: Parameter) -> None:
    previous = world.find("torso")
    for (name, (start, end, radius, mass)), joint in zip(ARM.items(), ("shoulder", "elbow", "wrist"), strict=True):
        limb = world.add(rod(start * mirror, end * mirror, radius, mass, name=f"{name}-{side}"))
        ball = world.add(Ball(previous, limb, at=start * mirror, name=f"{joint}-{side}"))
        world.add(JointSpring(ball, stiffness, damping, name=f"{ball.name}-spring"))
        previous = limb


def _add_finger(world: World, name: str, hand: BodyLike, mirror: IntArray, aside: float) -> None:
    """Two bones on hinges across the hand."""
    ahead = np.subtract(KNUCKLES, WRIST) * mirror
    pose = along(ahead)
    across = np.cross(ahead, (0, 0, 1)) / np.linalg.norm(np.cross(ahead, (0, 0, 1)))
    start = KNUCKLES * mirror + aside * across
    previous: BodyLike = hand
    for k in (1, 2):
        pose = compose(turn(across, -0.3), pose)
        end = start + rotate(pose, (0, 0, PHALANX))
        bone = world.add(rod(start, end, FINGER_RADIUS, PHALANX_MASS, name=f"finger{name}.{k}"))
        hinge = world.add(Hinge(previous, bone, at=start, axis=-across, name=f"knuckle{name}.{k}"))
        damping = SETTLING * FINGER_STIFFNESS
        world.add(JointSpring(hinge, FINGER_STIFFNESS, damping, name=f"{hinge.name}-spring"))
        world.add(JointLimit(hinge, -0.3, 1.3, stiffness=FINGER_LIMIT, damping=damping, name=f"{hinge.name}-limit"))
        start, previous = end, bone


def _handle(hand: RigidBody, stiffness: float) -> Follow:
    times = np.linspace(0.0, max(PATH), 1201)
    path = np.array([_on_path(t) for t in times])
    return Follow(hand, Trajectory(times, hand.position + path), stiffness=stiffness, damping=0.01 * stiffness, name="handle")


def _on_path(t: float) -> FloatArray:
    """(3,), m: smoothly from one place of the PATH to the next."""
    marks = sorted(PATH)
    k = min(int(np.searchsorted(marks, t, side="right")) - 1, len(marks) - 2)
    x = (t - marks[k]) / (marks[k + 1] - marks[k])
    share = 0.5 - 0.5 * math.cos(math.pi * x)
    return (1 - share) * np.array(PATH[marks[k]]) + share * np.array(PATH[marks[k + 1]])


def handle_force(world: World, recording: Recording) -> FloatArray:
    """(T, 3), N: the force with which the handle pulls back at the user's hand, from the stretch of its spring."""
    handle = world.find("handle")
    hand, target = recording[handle.body], handle.motion.at(recording.time)
    found: FloatArray = -handle.stiffness * (target[:, :3] - hand.position) - handle.damping * (target[:, 7:10] - hand.velocity)
    return found
