"""Keyframes: where the bodies of a world are, and how they move, by the coordinates of its joints."""

from __future__ import annotations

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.keyframe import Keyframe
from linkwork.errors import ElementError
from linkwork.reduced.convert import Bodies, to_bodies
from linkwork.reduced.tree import compile


def placed(world, name: str, keyframe: Keyframe) -> tuple[Bodies, dict]:
    """The bodies as a keyframe has them, and of the joints that they were found by the angles (rad, turns counted), by id."""
    tree = compile(world, loops=True, keep=dict.fromkeys((*keyframe.positions, *keyframe.velocities)))
    q, qd = tree.start.copy(), np.zeros(tree.nv)
    for given, there, where in ((keyframe.positions, q, tree.coordinates), (keyframe.velocities, qd, tree.velocities)):
        for joint, value in given.items():
            if world.find(joint) in tree.closing:
                raise ElementError(f'Keyframe "{name}": "{joint}" closes a loop, and the other joints around it say where it '
                                   "is; leave one of them out")  # fmt: skip
            at = where(joint)
            try:
                numbers = np.atleast_1d(np.asarray(value, dtype=float))
            except (TypeError, ValueError):
                numbers = np.zeros(0)
            if numbers.shape != (at.stop - at.start,) or not np.isfinite(numbers).all():
                raise ElementError(f'Keyframe "{name}": "{joint}" is {checks.show(value)}; give {at.stop - at.start} finite '
                                   f"number{'s' * (at.stop - at.start > 1)}")  # fmt: skip
            there[at] = numbers
            for part in tree.kind(joint).quaternions if there is q else ():
                q[at][part] = checks.quaternion(world.find(joint), f'keyframe "{name}"', numbers[part])
    angles = {}
    for link, first in zip(tree.links, tree.q_at, strict=False):
        turns = link.kind.angles
        angles[id(link.element)] = q[first : first + len(turns)][turns]
    return to_bodies(tree, q, qd), angles
