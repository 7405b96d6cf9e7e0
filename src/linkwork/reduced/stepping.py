"""A tree beside a model in maximal coordinates: the sweeps by which steps are made in joint coordinates.

The model has the bodies' coordinates and the forces on them; the tree has the dynamics. `state` and `loads` are where the
numbers of the bodies lie in the tree's workspace: position, quaternion and velocity, and force and torque, body by body.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.reduced.frames import Pose, after
from linkwork.reduced.kernels import GIVEN, REACH, STEP, WEIGHT, body_wrench, plain
from linkwork.reduced.programs import NONE, Program
from linkwork.reduced.tree import Tree

ENTRIES = tuple(place[1] for place in (STEP, WEIGHT, REACH))  # of the workspace: scalars that kernels of steps read


class Stepper:
    """`frames`: the frame of each body that the model has, in the body's own. Forces come from the model, gravity too."""

    def __init__(self, tree: Tree, frames: list[Pose]):
        bodies = [(body, link, after(pose, frame)) for (body, link, pose), frame in zip(tree.bodies, frames, strict=True)]
        self.tree = replace(tree, bodies=bodies, gravity=np.zeros(3))
        self.moving = [number for number, (_, link, _) in enumerate(bodies) if link >= 0]
        programs = self.tree.programs
        layout, self._program = programs.layout, Program(programs.layout, (0,), [], NONE)
        self._spans: dict[str, tuple[int, int]] = {}
        self._write("recover", programs.add_recovery)
        self._write("dynamics", lambda p: programs.add_aba(p, plain(body_wrench)))
        self._write("following", programs.add_following)
        for name in ("euler", "open_step", "stage", "close_step"):
            self._write(name, lambda p, name=name: programs.add_sweep(p, name))
        self._write("outwards", programs.add_way_out)
        self.work, self.table, operations, _ = self._program.alone
        self._operations = operations
        self.state = layout.start + self._of_bodies(layout.body_fields("position", "quaternion", "velocity", record=GIVEN))
        self.loads = layout.start + self._of_bodies(layout.body_fields("wrench"))
        self.tau = layout.start + layout.fields("x")

    def sweep(self, name: str) -> np.ndarray:
        """The operations of one of the sweeps."""
        first, last = self._spans[name]
        return np.ascontiguousarray(self._operations[first:last])

    def _write(self, name: str, write) -> None:
        first = len(self._program.rows)
        write(self._program)
        self._spans[name] = first, len(self._program.rows)

    def _of_bodies(self, entries: np.ndarray) -> np.ndarray:
        return entries.reshape(len(self.tree.bodies), -1)[self.moving].ravel()
