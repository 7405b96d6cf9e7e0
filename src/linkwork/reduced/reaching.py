"""The links that move some frames, as a program for `descent`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linkwork.reduced.body_kernels import body_pose, body_still, plain
from linkwork.reduced.descent import Chain, Room
from linkwork.reduced.link_records import BODY, POINT
from linkwork.reduced.operation_lists import Schedule
from linkwork.reduced.tree_layout import NONE, order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, IntArray

assert BODY.offset("position") == POINT.offset("x")  # columns are those of a frame's origin


class Reaching:
    """Of a tree whose bodies are the frames that are to be led somewhere."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        paths = [tree.schedules.path(link) for _, link, _ in tree.bodies]
        self.links = sorted({i for path in paths for i in path})
        self.schedule = Schedule(tree.schedules.layout, (0,), [], NONE)
        self._columns: list[tuple[int, int, int, int]] = []
        begins = [self._place()]
        begins += [self._add_columns(k, path) for k, path in enumerate(paths)]
        begins += [self._each("integrate"), self._each("difference")]
        self.begins = np.array(begins, dtype=np.int64)

    def _each(self, what: str) -> int:
        layout = self.tree.schedules.layout
        for i in self.links:
            at, above = layout.link_at[i], max(self.tree.links[i].parent, 0)
            self.schedule.add(layout.links[i].kernel(what), at, layout.link_at[above], layout.constants_at[i])
        return len(self.schedule.rows)

    def _place(self) -> int:
        layout = self.tree.schedules.layout
        self._each("place")
        for number, (_, link, _) in enumerate(self.tree.bodies):
            at, constants = layout.body_at[number], layout.body_constants_at[number]
            self.schedule.add(
                plain(body_pose if link >= 0 else body_still), layout.link_at[link] if link >= 0 else at, at, constants
            )
        return len(self.schedule.rows)

    def _add_columns(self, number: int, path: Iterable[int]) -> int:
        layout = self.tree.schedules.layout
        for i in path:
            link, n = layout.links[i], self.tree.links[i].kind.nv
            self.schedule.add(link.kernel("column"), layout.link_at[i], layout.body_at[number])
            first = layout.link_at[i] + link.record.offset("J")
            own = np.arange(n)[order(self.tree.links[i])]
            self._columns += [(number, first + int(k), n, int(self.tree.v_at[i]) + j) for j, k in enumerate(own)]
        return len(self.schedule.rows)

    @cached_property
    def velocities(self) -> IntArray:
        """(n,): which of the tree's they have."""
        spans = [np.arange(self.tree.v_at[i], self.tree.v_at[i + 1]) for i in self.links]
        return np.concatenate([NONE, *spans])

    @cached_property
    def single(self) -> IntArray:
        """(n,): the coordinate of which a velocity is the rate; -1 of those of a rotation."""
        found = []
        for i in self.links:
            q = int(self.tree.q_at[i])
            for freedom in self.tree.links[i].kind.freedoms:
                found += [q] if freedom.nv == 1 else [-1] * freedom.nv
                q += freedom.nq
        return np.array(found, dtype=np.int64)

    def within(self, lower: FloatArray, upper: FloatArray) -> tuple[Chain, Room]:
        """What `descent` takes, with bounds (nv,) of all velocities of the tree; it is the same every time."""
        self._chain.lower[:], self._chain.upper[:] = lower[self.velocities], upper[self.velocities]
        return self._chain, self._room

    @cached_property
    def _chain(self) -> Chain:
        work, table, operations, _ = self.schedule.alone
        layout = self.tree.schedules.layout
        place = {int(v): j for j, v in enumerate(self.velocities)}
        columns = np.array([(k, layout.start + at) for k, at, _, _ in self._columns], dtype=np.int64).reshape(-1, 2)
        strides = np.array([(apart, place[v]) for _, _, apart, v in self._columns], dtype=np.int64).reshape(-1, 2)
        entries = {name: layout.start + layout.fields(name) for name in ("q", "end", "qd")}
        n = len(self.velocities)
        poses = layout.start + np.array(layout.body_at, dtype=np.int64) + BODY.offset("position")
        return Chain(
            work=work, table=table, operations=operations, begins=self.begins, poses=poses, columns=columns, strides=strides,
            q=entries["q"], end=entries["end"], moved=entries["qd"][self.velocities], single=self.single, lower=np.zeros(n),
            upper=np.zeros(n),
        )  # fmt: skip

    @cached_property
    def _room(self) -> Room:
        K, n = len(self.tree.bodies), len(self.velocities)
        sizes = {"e": 6 * K, "J": (6 * K, n), "A": (n, n), "L": (n, n), "before": self.tree.nq, "off": 2 * K}
        names = ("e", "J", "A", "L", "g", "d", "right", "scale", "rest", "tried", "before", "off")
        return Room(free=np.zeros(n, dtype=np.int64), **{name: np.zeros(sizes.get(name, n)) for name in names})
