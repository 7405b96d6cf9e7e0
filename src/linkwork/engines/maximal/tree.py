"""`tree`: block L D L^T over bodies and constraints in linear time (baraff96, corrected:
docs/papers-errata.md, section 2).

The sweeps are those of schedules/schedules.py: fronts with any number of later neighbours, and joint pivots (a body
and its joint eliminated together) where the graph allows it.
"""

from __future__ import annotations

from linkwork.schedules.schedules import Schedules


class Tree(Schedules):
    name, joint_pivots = "tree", True


class JointCoordinates(Tree):
    """Steps are made in joint coordinates, by the articulated-body algorithm (reduced/); reports come from `tree`."""

    name = "aba"
    counts_in_pivots = True


class InertiaMatrix(JointCoordinates):
    """The same by the inertia matrix of a spanning tree, L^T D L; loops by the response of its factors."""

    name = "ltdl"


class TreeOfFronts(Schedules):
    """Body, then joint, as baraff96 has it: the same answers by general fronts alone."""

    name, joint_pivots = "fronts", False
