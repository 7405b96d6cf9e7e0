"""Turns of joints that close loops: followed on the way that the coordinates of the tree go, from how it was built.

A joint of the tree has the angle that it was given. What closes a loop has the angle that its bodies are left with, and of that
the turns cannot be seen. But angles of bodies go along with the coordinates of the tree without a jump, also where a loop is
open on the way, and so the turns follow from where the way ends. Whole turns of a coordinate lead back to the same place: each
is followed once, and counted as often as it is made. Where axes around a loop are not parallel, the turn of an open joint
depends on the way, and the loop is kept closed on it, as near to the straight way as it can go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import casadi as ca
import numpy as np

from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.reduced import frames
from linkwork.reduced.kinematics import Poses, forward_kinematics
from linkwork.reduced.tree import Tree

STRIDE = np.pi / 4  # rad between looks: less than half a turn, of all coordinates together
AT_ONCE = 64  # looks
SHORT = np.pi / 8  # rad, m: the same where a loop is closed on the way
MOST = 32  # turns of all coordinates together that are followed as they are
BENT = 1e-9  # of an axis: what rounding leaves
NEAR = 1e-7  # rad, m: of differences that stand for derivatives
RANK = 1e-5  # of the largest singular value: rows that depend on others, as far as such differences can tell
ROUNDS = 30  # of Newton's method, for the place on the loop that is nearest to the straight way
LONGEST = 0.3  # rad, m: of one of them
SETTLED = 1e-3  # rad, m: and where they end, for turns alone are asked for
ARRIVED = 1e-2  # rad, m: keyframes are typed with a few digits

TURN = 2 * np.pi


class Closing:
    """A joint that closes a loop, with angles that can turn further than once."""

    def __init__(self, joint: Joint, batches: dict, places: dict):
        self.joint, kind = joint, kind_of_joint(joint)
        self.turns = np.array(kind.mobilizer.angles)
        self._read, self._constants = _reader(kind.mobilizer), np.asarray(kind.constants(joint), dtype=float)
        self.bodies = places.get(joint.a), places.get(joint.b)  # None: the ground
        self.on_a, self.on_b = frames.joint_frames(joint, batches)

    def frame(self, poses: Poses) -> tuple[np.ndarray, np.ndarray]:
        """(looks, 3, 3), (looks, 3): its frame on b in that on a, from where all bodies are."""
        (A, a), (B, b) = (self._placed(poses, *end) for end in zip(self.bodies, (self.on_a, self.on_b), strict=True))
        return np.swapaxes(A, -1, -2) @ B, np.einsum("...ji,...j->...i", A, b - a)

    def _placed(self, poses: Poses, body: int | None, on: frames.Pose) -> tuple[np.ndarray, np.ndarray]:
        if body is None:
            return np.broadcast_to(on[0], (len(poses.position), 3, 3)), np.broadcast_to(on[1], (len(poses.position), 3))
        R = poses.rotation[:, body]
        return R @ on[0], poses.position[:, body] + R @ on[1]

    def read(self, E: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(looks, angles) rad, from -pi to pi, and (looks, 6) by how much the joint does not hold, rad and m. Where the loop is
        open, coordinates are those that the joint reads from frames which do not meet."""
        found = self._read(E.reshape(-1, 9).T, d.T, np.tile(self._constants[:, None], (1, len(d))))
        q, off = (np.array(each).T for each in found)
        return q[:, self.turns], off


@cache
def _reader(mobilizer: Mobilizer) -> ca.Function:
    """(E row by row (9), d (3), constants) -> coordinates, and what is left of E and d beyond them (6), for many at once."""
    E, d, p = ca.SX.sym("E", 9), ca.SX.sym("d", 3), ca.SX.sym("p", mobilizer.constants)
    R = ca.reshape(E, 3, 3).T
    q = mobilizer.coordinates(R, d, p)
    there, at = mobilizer.transform(q, p)
    left = there.T @ R
    off = ca.vertcat(left[2, 1] - left[1, 2], left[0, 2] - left[2, 0], left[1, 0] - left[0, 1]) / 2
    return ca.Function("read", [E, d, p], [q, ca.vertcat(off, d - at)])


def closing_angles(tree: Tree, q: np.ndarray) -> dict[int, np.ndarray]:
    """Angles (rad, turns counted) of the joints that close loops, by id, where the tree has gone from its start to q."""
    turning = [joint for joint in tree.closing if _turns(joint)]
    if not turning:
        return {}
    batches, places = frames.batches_of(tree.world), {body: number for number, (body, _, _) in enumerate(tree.bodies)}
    joints = [Closing(joint, batches, places) for joint in turning]
    found = [np.zeros(np.count_nonzero(joint.turns)) for joint in joints]
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
    for angles, joint in zip(found, joints, strict=True):
        if (led := Ring(tree, joint).led(q)) is not None:
            angles[:] = led
    return {id(joint.joint): angles for joint, angles in zip(joints, found, strict=True)}


class Ring:
    """The joints around a loop whose axes are not parallel: it is closed on the way, or its turns would be in doubt."""

    def __init__(self, tree: Tree, closing: Closing):
        self.tree, self.closing = tree, closing
        around = set[int]()
        for body in closing.bodies:
            link = -1 if body is None else tree.bodies[body][1]
            while link >= 0:
                around ^= {link}  # what is above both of its bodies does not matter
                link = tree.links[link].parent
        self.simple = not any(tree.links[link].kind.quaternions for link in around)
        self.coordinates = np.array([k for i in sorted(around) for k in range(tree.q_at[i], tree.q_at[i + 1])], dtype=np.int64)

    def led(self, q: np.ndarray) -> np.ndarray | None:
        """Its angles where the ring has been led to q, as near to the straight way as it can go; None where it cannot, or need
        not."""
        begin, end = self.tree.start[self.coordinates], q[self.coordinates]
        if not (self.simple and len(end) and self._bends(begin, end)):
            return None
        times = np.round(np.abs(end - begin).max() / TURN) if np.abs(end - begin).sum() > MOST * TURN else 0.0
        turns = TURN * np.round((end - begin) / (TURN * times)) if times else 0.0 * end
        angle: np.ndarray | float = 0.0
        if times:
            if np.abs(end - times * turns - begin).sum() > MOST * TURN or (once := self._way(begin, begin + turns)) is None:
                return None
            angle = times * TURN * np.round((once[-1] - once[0]) / TURN)
        way = self._way(begin, end - times * turns)
        return None if way is None else way[-1] + angle

    def _bends(self, begin, end) -> bool:
        """Whether some axis does not stay along that of the closing joint when each coordinate goes its way alone."""
        each = begin + np.vstack([np.zeros(len(end)), np.diag(np.where(end == begin, 0.0, 1.0))])
        axes = self.closing.frame(self._poses(each))[0][:, :, 2]
        return bool(np.count_nonzero(self.closing.turns) > 1 or np.abs(axes - axes[0]).max() > BENT)

    def _poses(self, some: np.ndarray) -> Poses:
        whole = np.tile(self.tree.start, (len(some), 1))
        whole[:, self.coordinates] = some
        return forward_kinematics(self.tree, whole)

    def _way(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray | None:
        """(looks, angles): on the ring, from where it begins; None where it does not come to the end."""
        x, seen = begin.copy(), []
        for part in np.linspace(0.0, 1.0, 2 + int(np.abs(end - begin).sum() / SHORT)):
            for _ in range(ROUNDS):
                near = np.vstack([x, x + NEAR * np.eye(len(x))])
                _, rows = self.closing.read(*self.closing.frame(self._poses(near)))
                J = (rows[1:] - rows[0]).T / NEAR
                inverse = np.linalg.pinv(J, rcond=RANK)
                aside = begin + part * (end - begin) - x
                step = aside - inverse @ (J @ aside + rows[0])
                x = x + step * min(1.0, LONGEST / max(np.abs(step).max(), LONGEST))
                if np.abs(step).max() < SETTLED:
                    break
            seen.append(self.closing.read(*self.closing.frame(self._poses(x[None])))[0][0])
        there = np.abs(x - end).max() < ARRIVED
        return np.unwrap(np.array(seen), axis=0) if there else None


def _turns(joint) -> bool:
    return isinstance(joint, Joint) and any(kind_of_joint(joint).mobilizer.angles)


def _angles(tree: Tree) -> list[int]:
    """Which coordinates are angles."""
    firsts = zip(tree.links, tree.q_at.tolist(), strict=False)
    return [first + k for link, first in firsts for k in np.flatnonzero(link.kind.angles)]


def _quaternions(tree: Tree) -> list[slice]:
    """Where they stand."""
    firsts = zip(tree.links, tree.q_at.tolist(), strict=False)
    return [slice(first + part.start, first + part.stop) for link, first in firsts for part in link.kind.quaternions]


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
        poses = forward_kinematics(tree, way)
        yield [joint.read(*joint.frame(poses))[0] for joint in joints]
