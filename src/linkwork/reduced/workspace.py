"""A tree within the workspace of a model in maximal coordinates: the sweeps by which steps are made in joint coordinates.

Coordinates q and velocities qd are kept in the records of the tree's links. The bodies of the model, and the forces on them,
are read and written where they stand: all offsets are those of the model's workspace, behind which the tree's begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from linkwork.codegen.jit import OPERANDS, kernel_table
from linkwork.codegen.trace import Kernel
from linkwork.elements.core.force_kind import ForceKind
from linkwork.model.model import LINE
from linkwork.reduced.body_kernels import body_from_link, body_to_link, plain
from linkwork.reduced.frames import Pose, after
from linkwork.reduced.link_records import BODY, GIVEN
from linkwork.reduced.operation_lists import Schedule, TreeSchedules, first_bodies
from linkwork.reduced.step_kernels import (
    SCALARS,
    StepLink,
    body_point,
    body_turning,
    lifted_body,
    lifted_sign,
    model_acceleration,
    model_pose,
    model_velocity,
    model_wrench,
    of_model,
)
from linkwork.reduced.substitution import Substitution
from linkwork.reduced.tiles import Layout as Tiles
from linkwork.reduced.tree import Tree
from linkwork.reduced.tree_layout import NONE


@dataclass(frozen=True)
class Tangent:
    """A force between the two bodies of a tree's joint that is implicit."""

    link: int  # behind the joint
    body: int  # that the joint moves


@dataclass(frozen=True)
class Within:
    """Where the model has what the tree reads and writes: offsets in its workspace."""

    end: int = 0  # of the model's own entries
    bodies: Sequence[int] = ()  # records of all bodies, which begin with q and v
    loads: Sequence[int] = ()  # the wrench on each of them, or its acceleration
    tangent: int = 0  # of an implicit force
    efforts: Mapping[int, Sequence[tuple[ForceKind, int]]] = field(
        default_factory=dict
    )  # link -> forces along its joint's coordinate,
    # and where their parameters lie


@dataclass(frozen=True)
class Inertia:
    """Where H = L^T D L lies: offsets in the workspace."""

    blocks: np.ndarray  # numbers of H as CRBA leaves them ...
    tiles: np.ndarray  # ... and where the elimination wants them
    pivots: np.ndarray  # (nv,): 1/D, in the order of elimination
    right: np.ndarray  # (nv,): the vector that is solved for, in the same order
    joints: np.ndarray  # (nv,): x of the joints, in the same order


class TreeWorkspace:
    """`frames`: the frame of each body that the model has, in the body's own. `sweeps`: those that will be asked for, by name;
    sweeps of one kernel on every link outwards are called as the kernel is (`StepLink`). `held`: implicit forces at joints, for
    which there are further sweeps. `weighed`: gravity acts on the links; else it is among the forces that the model has."""

    def __init__(self, tree: Tree, frames: list[Pose], sweeps: Iterable[str], held: Iterable[Tangent] = (),
                 within: Within | None = None, weighed: bool = False):  # fmt: skip
        bodies = [(body, link, after(pose, frame)) for (body, link, pose), frame in zip(tree.bodies, frames, strict=True)]
        self.tree = replace(tree, bodies=bodies)
        none = [0] * len(bodies)
        self.within = Within(bodies=none, loads=none) if within is None else within
        self.base = -(-self.within.end // LINE) * LINE
        self.moving = [number for number, (_, link, _) in enumerate(bodies) if link >= 0]
        self.held, self.names = list(held), tuple(sweeps)
        self.schedules = TreeSchedules(self.tree, partial(StepLink, weighed=weighed))
        self.layout = self.schedules.layout
        self.start = self.base + self.layout.start  # of the records
        self._program = Schedule(self.layout, (0,), [], NONE)
        self._spans: dict[str, tuple[int, int]] = {}
        self._tiles_at = self.layout.size + (self.tree.pattern.shape[1] if "inertia" in sweeps else 0)
        for name in self.names:
            first = len(self._program.rows)
            self._writer(name)(self._program)
            self._spans[name] = first, len(self._program.rows)
        self.tau, self.q, self.qd = (self.start + self.layout.fields(name) for name in ("x", "q", "qd"))

    @cached_property
    def table(self) -> np.ndarray:
        """Addresses of the kernels that operations call by number."""
        return kernel_table(self._program.kernels)

    @cached_property
    def initial(self) -> np.ndarray:
        """What stands in the workspace from `base` on at first."""
        found = np.zeros(self._end + len(self.watched))
        found[: self.layout.start] = self.layout.scalars()
        found[:3] = 0.0  # gravity is the model's
        return found

    @property
    def _end(self) -> int:
        """Entries from `base` to what is left of the last call."""
        tiles = len(self._tiles.places) + self.tree.nv if "factor" in self.names else 0
        return self.layout.start + self._tiles_at + tiles

    @cached_property
    def watched(self) -> np.ndarray:
        """Entries by which it is known whether somebody has moved anything: q and v of bodies, q and qd."""
        size = GIVEN.size
        bodies = [self.within.bodies[number] + np.arange(size) for number in self.moving]
        return np.concatenate([NONE, *bodies, self.q, self.qd])

    @property
    def left(self) -> int:
        """Where these are kept as the last call left them."""
        return self.base + self._end

    def scalar(self, name: str) -> int:
        """Where one of the scalars that kernels read lies."""
        return self.base + SCALARS.offset(name)

    @property
    def state(self) -> np.ndarray:
        """Entries that are the state: whether q and qd are known, q, qd."""
        return np.concatenate([[self.scalar("known")], self.q, self.qd])

    def sweep(self, name: str) -> np.ndarray:
        """The operations of one of the sweeps; "" has none."""
        first, last = self._spans[name] if name else (0, 0)
        return np.ascontiguousarray(self._operations[first:last])

    @cached_property
    def _operations(self) -> np.ndarray:
        rows = np.array(self._program.rows, dtype=np.int64).reshape(-1, 1 + OPERANDS)
        shared = np.zeros((len(self._program.kernels), 1 + OPERANDS), dtype=bool)
        for number, kernel in enumerate(self._program.kernels):
            shared[number, list(kernel.shared)] = True
        moved = rows + np.where(shared[rows[:, 0]], self.base, self.start)
        moved[:, 0] = rows[:, 0]
        return moved.astype(np.int32)

    def calls(self, name: str) -> list[Kernel]:
        """The kernel of each operation of one of the sweeps."""
        first, last = self._spans[name]
        return [self._program.kernels[row[0]] for row in self._program.rows[first:last]]

    def of_body(self, number: int, field: str) -> int:
        """Where a field of a body begins, of those that the tree keeps of it."""
        return self.start + self.layout.body_at[number] + BODY.offset(field)

    def constant(self, link: int, name: str) -> slice:
        """Where a constant of a link lies."""
        offset, size = self.layout.links[link].constants[name]
        begin = self.base + self.layout.constants_at[link] + offset
        return slice(begin, begin + size)

    def field(self, link: int, name: str) -> slice:
        """Where a field of a link lies."""
        offset, size = self.layout.links[link].record[name]
        begin = self.start + self.layout.link_at[link] + offset
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
        nv, start = self.tree.nv, self.start
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

    def _writer(self, name: str) -> Callable[[Schedule], None]:
        """What writes a sweep."""
        if name.startswith("columns "):
            return lambda schedule: self._add_columns(schedule, int(name.split()[1]))
        known: dict[str, Callable[[Schedule], None]] = {
            "recover": self._add_recovery,
            "following": self._add_following,
            "aba out": lambda schedule: self._add_loaded(schedule, "aba_out"),
            "aba back": lambda schedule: self._add_back(schedule, "aba_in"),
            "bias out": lambda schedule: self._add_loaded(schedule, "rnea_out"),
            "bias back": lambda schedule: self._add_inwards(schedule, "rnea_in"),
            "aba": lambda schedule: self._add_driven(schedule, "aba_pass"),
            "aba_last": lambda schedule: self._add_outwards_again(schedule, "aba_last"),
            "bias": lambda schedule: self._add_driven(schedule, "bias_in"),
            "bodies": lambda schedule: self._add_bodies(schedule, plain(body_from_link), self.within.bodies),
            "sign": lambda schedule: self._add_lifted(schedule, of_model(lifted_sign)),
            "lifted": lambda schedule: self._add_lifted(schedule, of_model(lifted_body)),
            "poses": lambda schedule: self._add_bodies(schedule, of_model(model_pose), self.within.bodies),
            "velocities": lambda schedule: self._add_bodies(schedule, of_model(model_velocity), self.within.bodies),
            "loads": lambda schedule: self._add_bodies(schedule, of_model(model_wrench), self.within.loads),
            "turning": lambda schedule: self.schedules.add_bodies(schedule, of_model(body_turning)),
            "response": self._add_response,
            "response in": lambda schedule: self._add_inwards(schedule, "response_in"),
            "response out": lambda schedule: self._add_outwards_again(schedule, "response_out"),
            "column": self._add_column_of_each,
            "point": self._add_point_of_each,
            "inertia": self._add_inertia,
            "factor": lambda schedule: self._add_tiles(schedule, self._tiles.operations()),
            "up": lambda schedule: self._add_tiles(schedule, self._substitution.upwards()),
            "down": lambda schedule: self._add_tiles(schedule, self._substitution.downwards()),
            "hold": self._add_holding,
        }
        return known.get(name, lambda schedule: self._add_outwards(schedule, name))

    def _there(self, entry: int) -> int:
        """An entry of the model, as operations of the tree have it."""
        return entry - self.start

    # one kernel on links: link, parent, constants, scalars
    def _add_links(self, schedule: Schedule, what: str, numbers: Iterable[int]) -> None:
        layout = self.layout
        for i in numbers:
            at, above = layout.link_at[i], self.tree.links[i].parent
            kernel = layout.links[i].kernel(what)
            schedule.add(kernel, at, layout.link_at[above] if above >= 0 else at, layout.constants_at[i], 0)

    def _add_outwards(self, schedule: Schedule, what: str) -> None:
        self._add_links(schedule, what, range(len(self.layout.links)))

    def _add_outwards_again(self, schedule: Schedule, what: str) -> None:
        """On what is not on the ground, where the way inwards has ended."""
        self._add_links(schedule, what, [i for i, data in enumerate(self.tree.links) if data.parent >= 0])

    def _add_inwards(self, schedule: Schedule, what: str) -> None:
        self._add_links(schedule, what, reversed(range(len(self.layout.links))))

    def _add_driven(self, schedule: Schedule, what: str) -> None:
        """The way inwards, with implicit forces at joints or forces along their coordinates."""
        layout = self.layout
        for i in reversed(range(len(layout.links))):
            if i not in self.within.efforts:
                self._add_links(schedule, f"{what}_held" if self.held else what, [i])
                continue
            at, above, forces = layout.link_at[i], self.tree.links[i].parent, self.within.efforts[i]
            link = layout.links[i]
            assert isinstance(link, StepLink)
            schedule.add(link.driven_kernel(what, [law for law, _ in forces]), at, layout.link_at[above] if above >= 0 else at,
                        layout.constants_at[i], *[self._there(entry) for _, entry in forces])  # fmt: skip

    def _add_back(self, schedule: Schedule, what: str) -> None:
        self._add_inwards(schedule, what)
        self._add_outwards_again(schedule, "aba_last")

    # one kernel on bodies: link, what the model has of the body, its constants
    def _add_bodies(
        self, schedule: Schedule, kernel: Kernel, places: Sequence[int], numbers: Iterable[int] | None = None
    ) -> None:
        for number in self.moving if numbers is None else numbers:
            link = self.tree.bodies[number][1]
            schedule.add(kernel, self.layout.link_at[link], self._there(places[number]), self.layout.body_constants_at[number])

    def _add_lifted(self, schedule: Schedule, kernel: Kernel) -> None:
        """From continuous orientations of the links."""
        self._add_outwards(schedule, "lift")
        layout = self.layout
        for number in self.moving:
            schedule.add(kernel, layout.link_at[self.tree.bodies[number][1]], self._there(self.within.bodies[number]),
                        layout.body_constants_at[number], layout.body_at[number])  # fmt: skip

    def _add_recovery(self, schedule: Schedule) -> None:
        """q and qd from the bodies: the first one of each link tells where it is."""
        first = [number for number, _ in first_bodies(self.tree)]
        self._add_bodies(schedule, plain(body_to_link), self.within.bodies, first)
        self._add_outwards(schedule, "recover")

    def _add_following(self, schedule: Schedule) -> None:
        """qdd from the accelerations of bodies."""
        first = [number for number, _ in first_bodies(self.tree)]
        self._add_bodies(schedule, of_model(model_acceleration), self.within.loads, first)
        self._add_outwards(schedule, "follow")

    def _add_loaded(self, schedule: Schedule, out: str) -> None:
        """One kernel on every link outwards, then the forces on the bodies."""
        self._add_outwards(schedule, out)
        self._add_bodies(schedule, of_model(model_wrench), self.within.loads)

    def _add_response(self, schedule: Schedule) -> None:
        """H^-1 x, with the factors of the articulated-body algorithm, in the place of x; links must be at rest."""
        self._add_inwards(schedule, "response_in")
        self._add_outwards_again(schedule, "response_out")

    def _add_inertia(self, schedule: Schedule) -> None:
        """The blocks of H of links that are in place."""
        self._add_outwards(schedule, "compose")
        self.schedules.add_blocks(schedule, bool(self.held))

    def _add_tiles(self, schedule: Schedule, operations) -> None:
        for kernel, offsets in operations:
            schedule.add(kernel, *[self._tiles_at + offset for offset in offsets])

    def _add_holding(self, schedule: Schedule) -> None:
        layout = self.layout
        for force in self.held:
            schedule.add(layout.links[force.link].kernel("hold"), layout.link_at[force.link], self._there(self.within.tangent),
                        layout.body_constants_at[force.body])  # fmt: skip

    def _add_columns(self, schedule: Schedule, number: int) -> None:
        """The Jacobian of a body's reference point, link by link."""
        self._add_point(schedule, number)
        for i in self.path(number):
            self._add_column(schedule, i)

    def _add_point(self, schedule: Schedule, number: int) -> None:
        schedule.add(plain(body_point), self._there(self.within.bodies[number]), self.layout.point)

    def _add_column(self, schedule: Schedule, link: int) -> None:
        schedule.add(self.layout.links[link].kernel("column"), self.layout.link_at[link], self.layout.point)

    def _add_point_of_each(self, schedule: Schedule) -> None:
        """Body by body, to be run one at a time."""
        for number in range(len(self.tree.bodies)):
            self._add_point(schedule, number)

    def _add_column_of_each(self, schedule: Schedule) -> None:
        """Link by link, the same."""
        for link in range(len(self.tree.links)):
            self._add_column(schedule, link)
