"""The paper's trees, and a robot with hands: parents from 0 with -1 for the ground, and the freedoms of the joints."""

from typing import NamedTuple

import numpy as np

from linkwork.reduced import expanded, from_paper


class Tree(NamedTuple):
    """Bodies: parents and the freedoms of the joint below each."""

    parents: np.ndarray
    freedoms: np.ndarray

    @property
    def rows(self):
        """Parents of rows of the matrix."""
        return expanded(self.parents, self.freedoms)


def hinges(parents):
    return Tree(np.asarray(parents), np.ones(len(parents), dtype=int))


TREE_1 = hinges(from_paper((0, 1, 1, 2, 2, 3, 3)))  # figure 1
FIGURE_2 = Tree(TREE_1.parents, np.array([2, 2, 1, 1, 1, 3, 1]))


def limbed(limbs, joints):
    """A body that floats, with limbs of so many hinges."""
    parents = [-1, *(0 if i % joints == 0 else i for i in range(limbs * joints))]
    return Tree(np.array(parents), np.array([6] + [1] * (limbs * joints)))


HUMANOID, CHAIN = limbed(4, 6), limbed(1, 24)  # section 6


def robot():
    """A robot that could be built: pelvis that floats, legs of six, waist, head, arms of seven with hands of three fingers."""
    parents = [-1]

    def limb(base, joints):
        for _ in range(joints):
            parents.append(base)
            base = len(parents) - 1
        return base

    for _ in range(2):
        limb(0, 6)
    chest = limb(0, 3)
    limb(chest, 2)
    for _ in range(2):
        wrist = limb(chest, 7)
        for _ in range(3):
            limb(wrist, 3)
    return Tree(np.array(parents), np.array([6] + [1] * (len(parents) - 1)))


def wide_side_branches(m, width):
    """A chain of m with a branch of `width` rows on each: β = 1/(1 + width)."""
    parents, last = [], -1
    for _ in range(m):
        parents.append(last)
        base = last = len(parents) - 1
        for _ in range(width):
            parents.append(base)
            base = len(parents) - 1
    return np.array(parents)
