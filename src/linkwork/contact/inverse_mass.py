"""How touched bodies are read and how they answer: what of a contact stage depends on how a step is made.

A stage reads the velocities carried v + scale x that a step is about to use, asks for the responses R of the groups that touch,
and has the impulses that it found applied. Here by sweeps with the factors of the elimination, where impulses change x; in
joint coordinates: `engines/joint_coordinates/path_delassus.py`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from linkwork.contact.delassus import add_answers, responses, sweeping
from linkwork.contact.delassus_tables import trees_of
from linkwork.contact.stage_kernels import Slots
from linkwork.schedules.schedules import Programs


class Answers(Protocol):
    """What a stage asks for."""

    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched; columns as in contact/delassus.py
    order: np.ndarray  # (n,) int64: these sorted by group
    carried: float
    scale: float
    turning: bool  # x is an acceleration of origins, while centres of mass move straight on
    whole: bool  # a stage is one compiled call (`contact/stage.py`)

    def respond(self, work: np.ndarray, slots: Slots, groups: int, R: np.ndarray) -> None:
        """R of all groups, or L of R = L L^T where `slots.rank` says so, with the factors that are there."""

    def strike(self, work: np.ndarray, slots: Slots, groups: int) -> None:
        """Do to the step what the wrenches on slots do."""


class BySweeps:
    """`velocity`: the field of bodies that holds v; `stage`: of an implicit step, whose factors are used."""

    whole = True

    def __init__(self, programs: Programs, carried: float = 1.0, scale: float = 1.0, turning: bool = False,
                 velocity: str = "v", stage: str = ""):  # fmt: skip
        self.programs, self.carried, self.scale, self.turning = programs, carried, scale, turning
        self.trees = trees_of(programs, velocity, stage)
        self.bodies, self.order = self.trees.bodies, self.trees.order
        self.swept = sweeping(self.trees)

    def respond(self, work: np.ndarray, slots: Slots, groups: int, R: np.ndarray) -> None:
        grouped = slots.body_of, slots.first, slots.size, slots.at
        responses(work, self.programs.table, self.trees, self.swept, *grouped, R, slots.rank, groups)

    def strike(self, work: np.ndarray, slots: Slots, groups: int) -> None:
        given = slots.body_of, slots.first, slots.size, slots.wrench, slots.u, slots.before
        add_answers(work, self.programs.table, self.trees, self.swept, *given, groups, self.scale)
