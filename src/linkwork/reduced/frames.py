"""Placement of joints on their two bodies as built, and rigid motions as pairs (rotation, place)."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np

from linkwork.elements import Ball, Cylindrical, Hinge, Parameter, Planar, Screw, Slider, Universal, Weld
from linkwork.elements.bodies.rigid import RigidPlacement
from linkwork.elements.core.constraint_kind import anchors
from linkwork.elements.core.placement import Fixed, Placement, matrices
from linkwork.reduced.joints import JointKind
from linkwork.symbolic.joints import JOINTS

Pose = tuple[np.ndarray, np.ndarray]  # rotation (3, 3), place (3,) in m
NAMES = {Hinge: "hinge", Slider: "slider", Screw: "screw", Cylindrical: "cylindrical", Universal: "universal",
         Planar: "planar", Ball: "ball", Weld: "weld"}  # fmt: skip
BACKWARDS = {"planar": "planar-back", "ball": "ball-back"}  # the others turn their frames round
HALF_TURN = np.diag([1.0, -1.0, -1.0])  # the axis points back, the coordinate stays
SWAPPED = np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # of a universal: axes change places and point back
STILL: Pose = (np.eye(3), np.zeros(3))


def after(outer: Pose, inner: Pose) -> Pose:
    """The motion `inner`, then `outer`."""
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


def inverse(pose: Pose) -> Pose:
    return pose[0].T, -pose[0].T @ pose[1]


def pose_of(body, joint=None) -> Pose:
    """A body as built, or as it was when a joint was made; the ground's frame is the world's."""
    if body.dim == 0:
        return STILL
    if joint is not None and body.name in joint.poses():
        made = joint.poses()[body.name]
        return matrices(made.orientation[None])[0], np.array(made.position)
    return matrices(np.array([body.orientation]))[0], np.array(body.position)


def joint_frames(joint, batches) -> tuple[Pose, Pose]:
    """The joint's frame on its first and on its second body, each in that body's frame. z is the axis (the normal); of a
    universal x is the first and y the second; of balls and welds the frame is the world's as built."""
    A, B = (_as_made(batches[body], body, joint) for body in (joint.a, joint.b))
    on_a, on_b = (frames.world_point(local)[0] for frames, local in zip((A, B), anchors([joint], A, B), strict=True))
    axes_a, axes_b = _axes(joint, A, B)
    return after(inverse(pose_of(joint.a, joint)), (axes_a, on_a)), after(inverse(pose_of(joint.b, joint)), (axes_b, on_b))


def _as_made(batch: Placement, body, joint) -> Placement:
    """A body's batch where it was when a joint was made."""
    return batch.pick([0]).put([joint.poses()[body.name]]) if body.name in joint.poses() else batch


def _axes(joint, A, B) -> tuple[np.ndarray, np.ndarray]:
    """The axes of both frames in the world as built, in columns."""
    if isinstance(joint, (Ball, Weld)):
        return np.eye(3), np.eye(3)
    if isinstance(joint, Universal):
        both = np.column_stack([joint.first, joint.second, np.cross(joint.first, joint.second)])
        return both, both
    axis_a, ref_a, side_a, axis_b, ref_b = JOINTS[type(joint)](joint).frame([joint], A, B)
    of_a = [A.world_axis(v)[0] for v in (ref_a, side_a, axis_a)]
    of_b = [B.world_axis(v)[0] for v in (ref_b, np.cross(axis_b, ref_b), axis_b)]
    return np.column_stack(of_a), np.column_stack(of_b)


def batches_of(world) -> dict:
    """Each body as a batch of its own."""
    return {world.ground: Fixed(1), **{body: RigidPlacement([body]) for body in world.bodies}}


def beside(joint) -> list[float]:
    """What the joint's kind keeps beside: the travel of a screw a radian."""
    if not isinstance(joint, Screw):
        return []
    pitch = joint.pitch.value if isinstance(joint.pitch, Parameter) else joint.pitch
    return [float(pitch) / (2 * np.pi)]  # type: ignore[arg-type]


@cache
def _placing(kind: JointKind) -> ca.Function:
    q, p = ca.SX.sym("q", kind.nq), ca.SX.sym("p", kind.beside)
    E, d = kind.place(q, p)
    return ca.Function("place", [q, p], [ca.densify(E), ca.densify(d)])


def place(kind: JointKind, q, p) -> Pose:
    """Where a joint puts its child's frame in that of its parent."""
    E, d = _placing(kind)(q, p)
    return np.array(E), np.array(d).ravel()
