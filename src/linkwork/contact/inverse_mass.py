"""How touched bodies are read and how they answer: what of a contact stage depends on how a step is made.

A stage reads the velocities carried v + scale x that a step is about to use, asks for the responses R of the groups that touch,
and has the impulses that it found applied. It calls both routines by their addresses, so that one compiled stage serves all
kinds of steps. Here by sweeps with the factors of the elimination, where impulses change x; in joint coordinates:
`engines/joint_coordinates/inverse_mass.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.codegen.jit import INTERPRETED, compiled_address
from linkwork.codegen.struct import Struct
from linkwork.contact import swept_response
from linkwork.contact.delassus import sweeping
from linkwork.contact.delassus_tables import trees_of
from linkwork.contact.stage_kernels import Slots
from linkwork.kernels.vocabulary import Iteration
from linkwork.schedules.schedules import Schedules


class InverseMass:
    """What a stage asks for."""

    schedules: Schedules
    bodies: np.ndarray  # (n, 16) int64: bodies, and points that can be touched; columns as in contact/delassus.py
    order: np.ndarray  # (n,) int64: these sorted by group
    carried: float
    scale: float
    turning: bool  # x is an acceleration of origins, while centres of mass move straight on
    needs: Struct  # by the routines
    responding: Callable  # (work, table, needs, slots, R, groups): R of all groups, or L of R = L L^T
    applying: Callable  # (work, table, needs, slots, groups, scale): what the wrenches on slots do to the step

    def respond(self, work: np.ndarray, slots: Slots, groups: int, R: np.ndarray) -> None:
        """R of all groups, or L of R = L L^T where `slots.rank` says so, with the factors that are there."""
        self.responding(work, self.schedules.table, self.needs, slots, R, groups)

    def apply_impulses(self, work: np.ndarray, slots: Slots, groups: int) -> None:
        """Do to the step what the wrenches on slots do."""
        self.applying(work, self.schedules.table, self.needs, slots, groups, float(self.scale))

    def calls(self, slots: Slots) -> Any:
        """The addresses of both routines and of what they need, as a stage has them."""
        if INTERPRETED:
            return self.responding, self.applying, self.needs
        given = np.zeros(0), np.zeros(0, dtype=np.int64), self.needs, slots
        addresses = [compiled_address(self.responding, *given, np.zeros(0), 0),
                     compiled_address(self.applying, *given, 0, 0.0)]  # fmt: skip
        return np.array([*addresses, self.needs.address], dtype=np.int64)


class BySweeps(InverseMass):
    """`velocity`: the field of bodies that holds v; `iteration`: of an implicit step, whose factors are used."""

    responding, applying = staticmethod(swept_response.respond), staticmethod(swept_response.apply_impulses)

    def __init__(self, schedules: Schedules, carried: float = 1.0, scale: float = 1.0, turning: bool = False,
                 velocity: str = "v", iteration: Iteration | None = None):  # fmt: skip
        self.schedules, self.carried, self.scale, self.turning = schedules, carried, scale, turning
        self.trees = trees_of(schedules, velocity, iteration)
        self.bodies, self.order = self.trees.bodies, self.trees.order

    @cached_property
    def needs(self) -> swept_response.Swept:  # type: ignore[override]
        return swept_response.Swept(self.trees, sweeping(self.trees))
