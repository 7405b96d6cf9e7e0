"""A tree beside a model in maximal coordinates: the sweeps by which steps are made in joint coordinates.

The model has the bodies' coordinates and the forces on them; the tree has the dynamics. `state` and `loads` are where the
numbers of the bodies lie in the tree's workspace: position, quaternion and velocity, and force and torque, body by body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from linkwork.codegen.trace import Kernel
from linkwork.reduced.frames import Pose, after
from linkwork.reduced.link_kernels import BODY, GIVEN, REACH, STEP, WEIGHT, body_point, body_turning, body_wrench, plain
from linkwork.reduced.operation_lists import NONE, Program
from linkwork.reduced.substitution import Substitution
from linkwork.reduced.tiles import Layout as Tiles
from linkwork.reduced.tree import Tree

ENTRIES = tuple(place[1] for place in (STEP, WEIGHT, REACH))  # of the workspace: scalars that kernels of steps read
PLAIN = (
    "euler",
    "open_step",
    "stage",
    "close_step",
    "nudge",
    "strike",
    "release",
    "rest",
)  # sweeps of one kernel on every link


@dataclass(frozen=True)
class Tangent:
    """A force between the two bodies of a tree's joint that is implicit."""

    link: int  # behind the joint
    body: int  # that the joint moves


@dataclass(frozen=True)
class Inertia:
    """Where H = L^T D L lies: offsets in the workspace."""

    blocks: np.ndarray  # numbers of H as CRBA leaves them ...
    tiles: np.ndarray  # ... and where the elimination wants them
    pivots: np.ndarray  # (nv,): 1/D, in the order of elimination
    right: np.ndarray  # (nv,): the vector that is solved for, in the same order
    joints: np.ndarray  # (nv,): x of the joints, in the same order


class Stepper:
    """`frames`: the frame of each body that the model has, in the body's own. Forces come from the model, gravity too.
    `sweeps`: those that will be asked for, by name. `held`: implicit forces at joints, for which there are further sweeps."""

    def __init__(self, tree: Tree, frames: list[Pose], sweeps: Iterable[str], held: Iterable[Tangent] = ()):
        bodies = [(body, link, after(pose, frame)) for (body, link, pose), frame in zip(tree.bodies, frames, strict=True)]
        self.tree = replace(tree, bodies=bodies, gravity=np.zeros(3))
        self.moving = [number for number, (_, link, _) in enumerate(bodies) if link >= 0]
        self.held, self.names = list(held), tuple(sweeps)
        programs = self.tree.programs
        self.layout, self._program = programs.layout, Program(programs.layout, (0,), [], NONE)
        self._spans: dict[str, tuple[int, int]] = {}
        self._tiles_at = self.layout.size + (self.tree.pattern.shape[1] if "inertia" in sweeps else 0)
        for name in self.names:
            self._write(name, self._writer(name))
        tiles = len(self._tiles.places) + self.tree.nv if "factor" in sweeps else 0
        self._program.beyond = self._tiles_at + tiles - self.layout.size
        self.work, self.table, operations, _ = self._program.alone
        self._operations = operations
        self.state = self._of_bodies(self.layout.body_fields("position", "quaternion", "velocity", record=GIVEN))
        self.loads = self._of_bodies(self.layout.body_fields("wrench"))
        self.tau = self.layout.start + self.layout.fields("x")

    def sweep(self, name: str) -> np.ndarray:
        """The operations of one of the sweeps; "" has none."""
        first, last = self._spans[name] if name else (0, 0)
        return np.ascontiguousarray(self._operations[first:last])

    def calls(self, name: str) -> list[Kernel]:
        """The kernel of each operation of one of the sweeps."""
        first, last = self._spans[name]
        return [self._program.kernels[row[0]] for row in self._program.rows[first:last]]

    def of_body(self, number: int, field: str) -> int:
        """Where a field of a body begins."""
        return self.layout.start + self.layout.body_at[number] + BODY.offset(field)

    def constant(self, link: int, name: str) -> slice:
        """Where a constant of a link lies."""
        offset, size = self.layout.links[link].constants[name]
        begin = self.layout.constants_at[link] + offset
        return slice(begin, begin + size)

    def field(self, link: int, name: str) -> slice:
        """Where a field of a link lies."""
        offset, size = self.layout.links[link].record[name]
        begin = self.layout.start + self.layout.link_at[link] + offset
        return slice(begin, begin + size)

    def path(self, number: int) -> list[int]:
        """The links that move a body, inwards."""
        link, found = self.tree.bodies[number][1], []
        while link >= 0:
            found.append(link)
            link = self.tree.links[link].parent
        return found

    @cached_property
    def inertia(self) -> Inertia:
        nv, start = self.tree.nv, self.layout.start
        rows, columns = self.tree.pattern
        key = rows * nv + columns
        sorted_by_key = np.argsort(key)
        places = np.array(self._tiles.places, dtype=np.int64).reshape(-1, 2)
        number = sorted_by_key[
            np.searchsorted(key, places[:, 0] * nv + places[:, 1], sorter=sorted_by_key)
        ]  # of CRBA's numbers
        order = [i for run in self._tiles.runs for i in run]
        right = self._tiles_at + len(places) + np.arange(nv)
        inverse = [
            record + k for run, record in zip(self._tiles.runs, self._tiles.record, strict=True) for k in range(len(run))
        ]
        return Inertia(
            start + self.layout.size + number,
            start + self._tiles_at + np.arange(len(places)),
            start + self._tiles_at + np.array(inverse, dtype=np.int64),
            start + right,
            self.tau[order],
        )

    @cached_property
    def _tiles(self) -> Tiles:
        return Tiles(self.tree.expanded_parents)

    @cached_property
    def _substitution(self) -> Substitution:
        return Substitution(self._tiles)

    def _writer(self, name: str) -> Callable[[Program], None]:
        programs, held = self.tree.programs, bool(self.held)
        if name in PLAIN:
            return lambda program: programs.add_sweep(program, name)
        if name.startswith("columns "):
            return lambda program: self._add_columns(program, int(name.split()[1]))
        return {
            "recover": programs.add_recovery,
            "following": programs.add_following,
            "outwards": programs.add_way_out,
            "aba out": lambda program: self._add_loaded(program, "aba_out"),
            "aba back": lambda program: programs.add_aba_back(program, held),
            "turning": lambda program: programs.add_bodies(program, plain(body_turning)),
            "response": self._add_response,
            "response in": lambda program: programs.add_sweep(program, "response_in", inwards=True),
            "response out": self._add_response_out,
            "column": self._add_column_of_each,
            "point": self._add_point_of_each,
            "bias out": lambda program: self._add_loaded(program, "rnea_out"),
            "bias back": self._add_bias,
            "inertia": self._add_inertia,
            "factor": lambda program: self._add_tiles(program, self._tiles.operations()),
            "up": lambda program: self._add_tiles(program, self._substitution.upwards()),
            "down": lambda program: self._add_tiles(program, self._substitution.downwards()),
            "hold": self._add_holding,
        }[name]

    def _add_loaded(self, program: Program, out: str) -> None:
        """One kernel on every link outwards, then the forces on the bodies."""
        self.tree.programs.add_sweep(program, out)
        self.tree.programs.add_bodies(program, plain(body_wrench))

    def _add_bias(self, program: Program) -> None:
        """C, less the forces on the bodies, into x, which must be zero."""
        programs = self.tree.programs
        programs.add_sweep(program, "rnea_in_held" if self.held else "rnea_in", inwards=True)

    def _add_response(self, program: Program) -> None:
        """H^-1 x, with the factors of the articulated-body algorithm, in the place of x; links must be at rest."""
        self.tree.programs.add_sweep(program, "response_in", inwards=True)
        self._add_response_out(program)

    def _add_response_out(self, program: Program) -> None:
        self.tree.programs.add_sweep(program, "response_out", only=lambda i: self.tree.links[i].parent >= 0)

    def _add_inertia(self, program: Program) -> None:
        """The blocks of H of links that are in place."""
        self.tree.programs.add_sweep(program, "compose")
        self.tree.programs.add_blocks(program, bool(self.held))

    def _add_tiles(self, program: Program, operations) -> None:
        for kernel, offsets in operations:
            program.add(kernel, *[self._tiles_at + offset for offset in offsets])

    def _add_holding(self, program: Program) -> None:
        layout = self.layout
        for force in self.held:
            program.add(layout.links[force.link].kernel("hold"), layout.link_at[force.link], layout.body_at[force.body],
                        layout.body_constants_at[force.body])  # fmt: skip

    def _add_columns(self, program: Program, number: int) -> None:
        """The Jacobian of a body's reference point, link by link."""
        self._add_point(program, number)
        for i in self.path(number):
            self._add_column(program, i)

    def _add_point(self, program: Program, number: int) -> None:
        program.add(plain(body_point), self.layout.body_at[number], self.layout.point)

    def _add_column(self, program: Program, link: int) -> None:
        program.add(self.layout.links[link].kernel("column"), self.layout.link_at[link], self.layout.point)

    def _add_point_of_each(self, program: Program) -> None:
        """Body by body, to be run one at a time."""
        for number in range(len(self.tree.bodies)):
            self._add_point(program, number)

    def _add_column_of_each(self, program: Program) -> None:
        """Link by link, the same."""
        for link in range(len(self.tree.links)):
            self._add_column(program, link)

    def _write(self, name: str, write: Callable[[Program], None]) -> None:
        first = len(self._program.rows)
        write(self._program)
        self._spans[name] = first, len(self._program.rows)

    def _of_bodies(self, entries: np.ndarray) -> np.ndarray:
        return self.layout.start + entries.reshape(len(self.tree.bodies), -1)[self.moving].ravel()
