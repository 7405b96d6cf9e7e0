"""Placement of joints on their two bodies as built, and rigid motions as pairs (rotation, place)."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np

from linkwork.elements.bodies.rigid_placement import RigidPlacement
from linkwork.elements.core.constraint_kind import anchors
from linkwork.elements.core.joint import kind_of_joint
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.elements.core.placement import Fixed, Placement, matrices

Pose = tuple[np.ndarray, np.ndarray]  # rotation (3, 3), place (3,) in m
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
    """The joint's frame on its first and on its second body, each in that body's frame; the joint's kind says which it is."""
    A, B = (_as_made(batches[body], body, joint) for body in (joint.a, joint.b))
    on_a, on_b = (frames.world_point(local)[0] for frames, local in zip((A, B), anchors([joint], A, B), strict=True))
    axes_a, axes_b = kind_of_joint(joint).frames(joint, A, B)
    return after(inverse(pose_of(joint.a, joint)), (axes_a, on_a)), after(inverse(pose_of(joint.b, joint)), (axes_b, on_b))


def _as_made(batch: Placement, body, joint) -> Placement:
    """A body's batch where it was when a joint was made."""
    return batch.pick([0]).put([joint.poses()[body.name]]) if body.name in joint.poses() else batch


def batches_of(world) -> dict:
    """Each body as a batch of its own."""
    return {world.ground: Fixed(1), **{body: RigidPlacement([body]) for body in world.bodies}}


@cache
def _placing(kind: Mobilizer) -> ca.Function:
    q, p = ca.SX.sym("q", kind.nq), ca.SX.sym("p", kind.constants)
    E, d = kind.transform(q, p)
    return ca.Function("place", [q, p], [ca.densify(E), ca.densify(d)])


def place(kind: Mobilizer, q, p) -> Pose:
    """Where a joint puts its child's frame in that of its parent."""
    E, d = _placing(kind)(q, p)
    return np.array(E), np.array(d).ravel()
