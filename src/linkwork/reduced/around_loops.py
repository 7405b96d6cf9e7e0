"""Turns of joints that close loops: followed on the way that the coordinates of the tree go, from how it was built.

A joint of the tree has the angle that it was given. What closes a loop has the angle that its bodies are left with, and of that
the turns cannot be seen. But angles of bodies go along with the coordinates of the tree without a jump, also where a loop is
open on the way, and so the turns follow from where the way ends. Whole turns of a coordinate lead back to the same place: each
is followed once, and counted as often as it is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from linkwork.elements.joints import Joint
from linkwork.reduced import frames
from linkwork.reduced.joints import KINDS
from linkwork.reduced.kinematics import forward_kinematics
from linkwork.reduced.tree import Tree

STRIDE = np.pi / 4  # rad between looks: less than half a turn, of all coordinates together
AT_ONCE = 64  # looks

TURN = 2 * np.pi


class Closing:
    """A joint that closes a loop, with angles that can turn further than once."""

    def __init__(self, joint: Joint, batches: dict, places: dict):
        self.joint, self.universal = joint, frames.NAMES[joint.family] == "universal"
        self.bodies = places.get(joint.a), places.get(joint.b)  # None: the ground
        (self.on_a, _), (self.on_b, _) = frames.joint_frames(joint, batches)

    def angles(self, rotations: np.ndarray) -> np.ndarray:
        """(looks, angles) rad, from -pi to pi, from rotations of all bodies (looks, bodies, 3, 3). An axis that is bent where
        the loop is open counts by the turn about it (swing and twist)."""
        a, b = (np.eye(3) if body is None else rotations[:, body] for body in self.bodies)
        E = np.swapaxes(a @ self.on_a, -1, -2) @ (b @ self.on_b)
        E = np.broadcast_to(E, (len(rotations), 3, 3))
        if self.universal:
            return np.stack([np.arctan2(E[:, 2, 1], E[:, 1, 1]), np.arctan2(E[:, 0, 2], E[:, 0, 0])], axis=1)
        return np.arctan2(E[:, 1, 0] - E[:, 0, 1], E[:, 0, 0] + E[:, 1, 1])[:, None]


def closing_angles(tree: Tree, q: np.ndarray) -> dict[int, np.ndarray]:
    """Angles (rad, turns counted) of the joints that close loops, by id, where the tree has gone from its start to q."""
    turning = [joint for joint in tree.closing if _turns(joint)]
    if not turning:
        return {}
    batches, places = frames.batches_of(tree.world), {body: number for number, (body, _, _) in enumerate(tree.bodies)}
    joints = [Closing(joint, batches, places) for joint in turning]
    found = [np.zeros(1 + joint.universal) for joint in joints]
    rest = q.copy()
    for k in _angles(tree):
        rest[k] = tree.start[k] + math.remainder(q[k] - tree.start[k], TURN)
        turns = np.round((q[k] - rest[k]) / TURN)
        if turns:
            once = tree.start.copy()
            once[k] += TURN
            for angles, (first, last) in zip(found, _followed(tree, joints, once), strict=True):
                angles += turns * TURN * np.round((last - first) / TURN)
    for angles, (_, last) in zip(found, _followed(tree, joints, rest), strict=True):
        angles += last
    return {id(joint.joint): angles for joint, angles in zip(joints, found, strict=True)}


def _turns(joint) -> bool:
    return isinstance(joint, Joint) and "turn" in KINDS[frames.NAMES[joint.family]].sorts


def _angles(tree: Tree) -> list[int]:
    """Which coordinates are angles."""
    firsts = zip(tree.links, tree.q_at.tolist(), strict=False)
    return [first + k for link, first in firsts for k, sort in enumerate(link.kind.sorts) if sort == "turn"]


def _quaternions(tree: Tree) -> list[slice]:
    """Where they stand."""
    ends = zip(tree.links, tree.q_at[1:].tolist(), strict=True)
    return [slice(end - 4, end) for link, end in ends if link.kind.nq >= 4]


def _followed(tree: Tree, joints, end: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each joint its angles at the start of the tree and, without a jump on the way, at the end."""
    seen = [np.concatenate(parts) for parts in zip(*_looks(tree, joints, end), strict=True)]
    return [(angles[0], np.unwrap(angles, axis=0)[-1]) for angles in seen]


def _looks(tree: Tree, joints, end: np.ndarray) -> Iterator[list[np.ndarray]]:
    begin, end, quaternions = tree.start, end.copy(), _quaternions(tree)
    for at in quaternions:
        if begin[at] @ end[at] < 0.0:
            end[at] *= -1.0
    turned = np.abs((end - begin)[_angles(tree)]).sum() + sum(np.pi for at in quaternions if (end[at] != begin[at]).any())
    count = 2 + int(np.ceil(turned / STRIDE))
    for part in np.array_split(np.linspace(0.0, 1.0, count), -(-count // AT_ONCE)):
        way = begin + part[:, None] * (end - begin)
        for at in quaternions:
            way[:, at] /= np.linalg.norm(way[:, at], axis=1, keepdims=True)
        rotations = forward_kinematics(tree, way).rotation
        yield [joint.angles(rotations) for joint in joints]
