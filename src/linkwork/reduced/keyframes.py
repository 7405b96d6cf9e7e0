"""Keyframes: where the bodies of a world are, and how they move, by the coordinates of its joints."""

from __future__ import annotations

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.keyframe import Keyframe
from linkwork.elements.joints import Joint
from linkwork.errors import ElementError
from linkwork.reduced.around_loops import TURN, closing_angles
from linkwork.reduced.convert import Bodies, from_bodies, to_bodies
from linkwork.reduced.tree import compile

AGREES = 1e-3  # m, rad, m/s, rad/s: numbers of joints around a loop, which people type with a few digits


def placed(world, name: str, keyframe: Keyframe) -> tuple[Bodies, dict]:
    """The bodies as a keyframe has them, and of the joints the angles (rad, turns counted), by id: of those in the tree as they
    were given, of those that close loops as the way there has turned them."""
    tree = compile(world, loops=True, keep=dict.fromkeys((*keyframe.positions, *keyframe.velocities)))
    q, qd, closing = tree.start.copy(), np.zeros(tree.nv), list[str]()
    for given, there, where in ((keyframe.positions, q, tree.coordinates), (keyframe.velocities, qd, tree.velocities)):
        for joint, value in given.items():
            if world.find(joint) in tree.closing:
                if not isinstance(world.find(joint), Joint):
                    raise ElementError(f'Keyframe "{name}": "{joint}" has no joint coordinate; leave it out')
                closing.append(joint)
                continue
            parts = tree.kind(joint).quaternions if there is q else []
            there[where(joint)] = _numbers(world, name, joint, value, where(joint), parts)
    bodies, angles = to_bodies(tree, q, qd), closing_angles(tree, q)
    for link, first in zip(tree.links, tree.q_at, strict=False):
        turns = link.kind.angles
        angles[id(link.element)] = q[first : first + len(turns)][turns]
    for joint in dict.fromkeys(closing):
        _agree(world, name, keyframe, joint, bodies, angles)
    return bodies, angles


def _numbers(world, name: str, joint: str, value, at: slice, quaternions: list[slice]) -> np.ndarray:
    """What a keyframe gives of a joint, if it is that."""
    count = at.stop - at.start
    try:
        numbers = np.array(value, dtype=float, ndmin=1)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ElementError(
            f'Keyframe "{name}": "{joint}" is {checks.show(value)}; give {count} finite number{"s" * (count > 1)}'
        )
    for part in quaternions:
        numbers[part] = checks.quaternion(world.find(joint), f'keyframe "{name}"', numbers[part])
    return numbers


def _agree(world, name: str, keyframe: Keyframe, joint: str, bodies: Bodies, angles: dict) -> None:
    """A joint that closes a loop, and is named beside those around it, is where these put it, and moves so; it has turned as
    often as the keyframe says."""
    tree = compile(world, loops=True, keep=(joint,))
    kind, there = next(link.kind for link in tree.links if link.element is world.find(joint)), from_bodies(tree, *bodies)
    for given, found, where in (
        (keyframe.positions, there.q, tree.coordinates),
        (keyframe.velocities, there.qd, tree.velocities),
    ):
        if joint not in given:
            continue
        at, position = where(joint), given is keyframe.positions
        parts = kind.quaternions if position else []
        numbers, found = _numbers(world, name, joint, given[joint], at, parts), found[at]
        turns = np.array(kind.angles if position else [False] * len(numbers))
        off = numbers - found
        off[turns] = np.remainder(off[turns] + np.pi, TURN) - np.pi
        for part in parts:
            if numbers[part] @ found[part] < 0.0:
                off[part] = numbers[part] + found[part]
        if not np.abs(off).max() <= AGREES:
            shown = checks.show(float(found[0]) if len(found) == 1 else found)
            put = f"{'put it at' if position else 'move it with'} {shown}"
            raise ElementError(f'Keyframe "{name}": "{joint}" is {checks.show(given[joint])}, but it closes a loop, and the '
                               f"other joints around it {put}; give that, or leave one of them out")  # fmt: skip
        if turns.any():
            angles[id(world.find(joint))] = numbers[turns]
