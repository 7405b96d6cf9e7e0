"""Programs: an algorithm on a tree as a list of operations, with the workspace that they run on (`tree_layout`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.codegen.jit import LANES, OPERANDS, kernel_table
from linkwork.codegen.trace import Kernel
from linkwork.elements.core.frame import LOCAL, WORLD
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.reduced.block_kernels import climb_kernel, crba_kernel
from linkwork.reduced.body_kernels import (
    body_pose,
    body_still,
    body_to_link,
    body_velocity,
    body_wrench,
    plain,
    point_move,
    point_place,
    point_turned,
    sums_clear,
    sums_finish,
)
from linkwork.reduced.frame_places import FramePlaces
from linkwork.reduced.link_kernels import Link
from linkwork.reduced.link_records import GIVEN, POINT, SUMS
from linkwork.reduced.one_state import directly, plan_of
from linkwork.reduced.tree_layout import NONE, Layout, order

INPUTS = 3  # that a driver takes
PATH = 3  # ancestors that one kernel climbs past


@dataclass
class Schedule:
    """Operations, inputs and results of one algorithm."""

    layout: Layout
    shape: tuple[int, ...]  # of the result for one state
    into: list[np.ndarray]  # entries of each input
    source: np.ndarray  # entries of the result ...
    dest: np.ndarray | None = None  # ... and where they go; None: in order
    beyond: int = 0  # entries that it needs behind the layout's
    kernels: list[Kernel] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    last: tuple[Any, Any] = None, None  # the array that was last given for the result, and what was made of it

    def add(self, kernel: Kernel, *operands: int) -> None:
        """One more operation: entries of records, offsets of constants."""
        if kernel.key not in self.numbers:
            self.numbers[kernel.key] = len(self.kernels)
            self.kernels.append(kernel)
        self.rows.append((self.numbers[kernel.key], *operands, *[0] * (OPERANDS - len(operands))))

    @cached_property
    def sizes(self) -> list[int]:
        """Of each input."""
        return [len(entries) for entries in self.into]

    @cached_property
    def count(self) -> int:
        """Entries of the result for one state."""
        return math.prod(self.shape)

    @cached_property
    def absent(self) -> tuple[None, ...]:
        """What stands for inputs that it does not have."""
        return (None,) * (INPUTS - len(self.into))

    @cached_property
    def alone(self) -> tuple:
        """What it needs for one state: workspace, table, operations, index."""
        return self._prepared(1)

    @cached_property
    def one(self) -> Callable[..., bool]:
        """Runs it on one state, if inputs and result are such as can be taken as they stand: see `one_state`."""
        return directly(plan_of(self.alone, self.shape))

    @cached_property
    def among(self) -> tuple:
        """What `run_states` needs."""
        return self._prepared(LANES)

    def _prepared(self, lanes: int) -> tuple:
        scalars, start = self.layout.scalars(), self.layout.start
        work = aligned(start + lanes * (self.layout.size + self.beyond))
        work[:start] = scalars
        rows = np.array(self.rows, dtype=np.int64).reshape(-1, 1 + OPERANDS)
        shared = np.zeros((len(self.kernels), 1 + OPERANDS), dtype=bool)
        for number, kernel in enumerate(self.kernels):
            shared[number, [0, *kernel.shared]] = True
        operations = np.where(shared[rows[:, 0]], rows, start + lanes * rows).astype(np.int32)
        into, source = (start + lanes * entries for entries in (np.concatenate([NONE, *self.into]), self.source))
        dest = np.arange(len(source)) if self.dest is None else self.dest
        head = [*self.sizes, *[0] * (INPUTS - len(self.into)), self.count]
        index = np.concatenate([head, into, dest, source]).astype(np.uint32)  # no signs: numba asks less
        return work, kernel_table(self.kernels, lanes), operations, index


def aligned(size: int) -> np.ndarray:
    """Zeros that begin on a cache line."""
    whole = np.zeros(size + 8)
    skip = (-whole.ctypes.data // 8) % 8
    return whole[skip : skip + size]


class TreeSchedules:
    """The programs of a tree, written when first asked for."""

    def __init__(self, tree, link: Callable[[Mobilizer, bool], Link] = Link):
        self.tree, self._link = tree, link
        self.known: dict[tuple, Schedule] = {}

    @cached_property
    def places(self) -> FramePlaces:
        """Its frames by name."""
        return FramePlaces(self.tree)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.tree, self._link)

    def get(self, key: tuple) -> Schedule:
        """The program of an algorithm: its name and options."""
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = getattr(self, key[0])(*key[1:])
        return found

    # inputs
    def _inputs(self, *names: str | tuple[str, ...]) -> list[np.ndarray]:
        """Entries of each input; several names make one input together."""
        return [np.concatenate([self._entries(part) for part in ([name] if isinstance(name, str) else name)]) for name in names]

    def _entries(self, name: str) -> np.ndarray:
        return self.layout.body_fields("wrench") if name == "wrench" else self.layout.fields(name)

    # parts of algorithms
    def add_sweep(
        self, schedule: Schedule, what: str, inwards: bool = False, only: Callable[[int], bool] | None = None
    ) -> None:
        """One kernel on every link, outwards or inwards; pointers: link, parent, constants."""
        layout = self.layout
        numbers = range(len(layout.links))
        for i in reversed(numbers) if inwards else numbers:
            if only is None or only(i):
                above = self.tree.links[i].parent
                at = layout.link_at[i]
                schedule.add(
                    layout.links[i].kernel(what), at, layout.link_at[above] if above >= 0 else at, layout.constants_at[i]
                )

    def add_bodies(self, schedule: Schedule, kernel: Kernel) -> None:
        layout = self.layout
        for number, (_, link, _) in enumerate(self.tree.bodies):
            if link >= 0:
                schedule.add(kernel, layout.link_at[link], layout.body_at[number], layout.body_constants_at[number])

    def _to_and_fro(self, loaded: bool) -> Schedule:
        """From accelerations to forces or back, which stand in the same places."""
        inputs = self._inputs("q", "qd", ("x", "wrench")[: 1 + loaded])
        return Schedule(self.layout, (self.tree.nv,), inputs, self.layout.fields("x"))

    # algorithms
    def rnea(self, loaded: bool) -> Schedule:
        schedule = self._to_and_fro(loaded)
        self.add_sweep(schedule, "rnea_out")
        if loaded:
            self.add_bodies(schedule, plain(body_wrench))
        self.add_sweep(schedule, "rnea_in", inwards=True)
        return schedule

    def aba(self, loaded: bool) -> Schedule:
        schedule = self._to_and_fro(loaded)
        self.add_sweep(schedule, "aba_out")
        if loaded:
            self.add_bodies(schedule, plain(body_wrench))
        self.add_sweep(schedule, "aba_in", inwards=True)
        self.add_sweep(schedule, "aba_last", only=lambda i: self.tree.links[i].parent >= 0)
        return schedule

    def crba(self, packed: bool) -> Schedule:
        layout, nv = self.layout, self.tree.nv
        entries = layout.size + np.arange(self.tree.pattern.shape[1])
        rows, columns = self.tree.pattern
        schedule = Schedule(layout, (len(entries),) if packed else (nv, nv), self._inputs("q"), entries, beyond=len(entries))
        if not packed:
            beside = rows != columns
            schedule.source = np.concatenate([entries, entries[beside]])
            schedule.dest = np.concatenate([rows * nv + columns, (columns * nv + rows)[beside]])
        self.add_sweep(schedule, "crba_out")
        self.add_blocks(schedule)
        return schedule

    def add_blocks(self, schedule: Schedule, held: bool = False) -> None:
        """The blocks of H, in the order of `Tree.pattern` behind all records; links are in place."""
        layout = self.layout
        place = dict(zip(layout.pairs, layout.block_at, strict=True))
        for i in reversed(range(len(layout.links))):
            at, above = layout.link_at[i], self.tree.links[i].parent
            kernel = crba_kernel(layout.links[i], layout.links[above] if above >= 0 else None, held)
            schedule.add(kernel, at, layout.link_at[above] if above >= 0 else at, layout.constants_at[i], place[i, i])
            self._climb(schedule, i, place)

    def _climb(self, schedule: Schedule, i: int, place: dict) -> None:
        """The blocks with the ancestors beyond the parent."""
        layout, above = self.layout, self.tree.links[i].parent
        above = self.tree.links[above].parent if above >= 0 else above
        while above >= 0:
            path: list[int] = []
            while above >= 0 and len(path) < PATH:
                path.append(above)
                above = self.tree.links[above].parent
            kernel = climb_kernel(layout.links[i].kind.nv, tuple(layout.links[j] for j in path))
            records = [layout.link_at[j] for j in path]
            schedule.add(kernel, layout.link_at[i], *records, *[0] * (PATH - len(path)), place[i, path[0]])

    def poses(self) -> Schedule:
        source = self.layout.body_fields("position", "rotation")
        schedule = Schedule(self.layout, (len(self.tree.bodies), 12), self._inputs("q"), source)
        self.add_sweep(schedule, "place")
        self.add_bodies(schedule, plain(body_pose))
        for number, (_, link, _) in enumerate(self.tree.bodies):
            if link < 0:
                schedule.add(plain(body_still), 0, self.layout.body_at[number], self.layout.body_constants_at[number])
        return schedule

    def velocities(self) -> Schedule:
        source = self.layout.body_fields("velocity")
        schedule = Schedule(self.layout, (len(self.tree.bodies), 6), self._inputs("q", "qd"), source)
        self.add_sweep(schedule, "move")
        self.add_bodies(schedule, plain(body_velocity))
        return schedule

    def jacobian(self, link: int, axes: str, rate: bool) -> Schedule:
        """Of a point of a link; the last input is where it is there and, for "local" axes, how these are turned there."""
        layout, path = self.layout, self.path(link)
        place = layout.point + POINT.offset("place") + np.arange(12 if axes == LOCAL else 3)
        schedule = Schedule(layout, (6, self.tree.nv), [*self._inputs("q", *["qd"] * rate), place], NONE)
        for i in path:
            above = max(self.tree.links[i].parent, 0)
            schedule.add(layout.links[i].kernel("move" if rate else "place"), layout.link_at[i], layout.link_at[above],
                        layout.constants_at[i])  # fmt: skip
        if path and axes != WORLD:
            kernel = point_turned if axes == LOCAL else point_move if rate else point_place
            schedule.add(plain(kernel), layout.link_at[link], layout.point)
        column = "column_turned" if axes == LOCAL else "column_rate" if rate else "column"
        for i in path:
            schedule.add(layout.links[i].kernel(column), layout.link_at[i], layout.point)
        self._take_columns(schedule, path)
        return schedule

    def path(self, link: int) -> list[int]:
        """The links that move one, outwards, with itself."""
        found: list[int] = []
        while link >= 0:
            found.append(link)
            link = self.tree.links[link].parent
        return found[::-1]

    def _take_columns(self, schedule: Schedule, links: Iterable[int]) -> None:
        """The result (6, nv) are the columns J of these links."""
        layout, nv = self.layout, self.tree.nv
        source, dest = [NONE], [NONE]
        for i in links:
            offset, n = layout.links[i].record.offset("J"), self.tree.links[i].kind.nv
            columns = np.arange(n)[order(self.tree.links[i])]
            source += [layout.link_at[i] + offset + n * row + columns for row in range(6)]
            dest += [nv * row + self.tree.v_at[i] + np.arange(n) for row in range(6)]
        schedule.source, schedule.dest = np.concatenate(source), np.concatenate(dest)

    def gravity(self) -> Schedule:
        """What the joints hold the tree up with."""
        schedule = Schedule(self.layout, (self.tree.nv,), self._inputs("q"), self.layout.fields("x"))
        self.add_sweep(schedule, "weight_out")
        self.add_sweep(schedule, "weight_in", inwards=True)
        return schedule

    def momentum(self) -> Schedule:
        layout = self.layout
        schedule = Schedule(layout, (6, self.tree.nv), self._inputs("q"), NONE)
        self.add_sweep(schedule, "place")
        self._add_sums(schedule, "weigh")
        self.add_sweep(schedule, "compose")
        for i in reversed(range(len(layout.links))):
            above, at = self.tree.links[i].parent, layout.link_at[i]
            schedule.add(layout.links[i].kernel("momentum_in"), at, layout.link_at[above] if above >= 0 else at,
                        layout.constants_at[i], layout.sums)  # fmt: skip
        self._take_columns(schedule, range(len(layout.links)))
        return schedule

    def sums(self, names: tuple[str, ...], moving: bool) -> Schedule:
        """Sums over all links."""
        layout = self.layout
        source = np.concatenate([layout.sums + np.arange(SUMS.slice(n).start, SUMS.slice(n).stop) for n in names])
        schedule = Schedule(layout, (len(source),), self._inputs("q", *["qd"] * moving), source)
        self.add_sweep(schedule, "move" if moving else "place")
        self._add_sums(schedule, "sum_up" if moving else "weigh")
        return schedule

    def _add_sums(self, schedule: Schedule, what: str) -> None:
        layout = self.layout
        schedule.add(plain(sums_clear), layout.sums)
        for i, link in enumerate(layout.links):
            schedule.add(link.kernel(what), layout.link_at[i], layout.sums, layout.constants_at[i])
        schedule.add(plain(sums_finish), layout.sums)

    def recover(self) -> Schedule:
        """q and qd from maximal coordinates: each link's first body tells where it is."""
        layout, tree = self.layout, self.tree
        inputs = [layout.body_fields("position", "quaternion", "velocity", record=GIVEN)]
        schedule = Schedule(layout, (tree.nq + tree.nv,), inputs, np.concatenate([layout.fields("q"), layout.fields("qd")]))
        for number, link in first_bodies(tree):
            schedule.add(plain(body_to_link), layout.link_at[link], layout.body_at[number], layout.body_constants_at[number])
        self.add_sweep(schedule, "recover")
        return schedule

    def integrate(self) -> Schedule:
        schedule = Schedule(self.layout, (self.tree.nq,), self._inputs("q", "qd"), self.layout.fields("q"))
        self.add_sweep(schedule, "integrate")
        return schedule

    def difference(self) -> Schedule:
        schedule = Schedule(self.layout, (self.tree.nv,), self._inputs("q", "end"), self.layout.fields("qd"))
        self.add_sweep(schedule, "difference")
        return schedule


def first_bodies(tree) -> list[tuple[int, int]]:
    """Of each link the number of its first body, and the link's."""
    found: dict[int, int] = {}
    for number, (_, link, _) in enumerate(tree.bodies):
        if link >= 0:
            found.setdefault(link, number)
    return [(number, link) for link, number in found.items()]
