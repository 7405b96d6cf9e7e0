"""Where everything lies in the workspace of a tree.

It begins with scalars that all lanes share (gravity, the constants of links and bodies), then come the records of
links and bodies, each entry once a lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.reduced.link_kernels import Link
from linkwork.reduced.link_records import BODY, BODY_CONSTANTS, POINT, SUMS

GLOBALS = 8  # gravity, and room up to a cache line
NONE = np.zeros(0, dtype=np.int64)


class Layout:
    """Where everything lies: offsets of constants, and entries of records behind `start`."""

    def __init__(self, tree, link: Callable[[Mobilizer, bool], Link] = Link):
        """link: what makes a link, of the kind of its joint and whether its parent is the ground."""
        self.tree = tree
        shapes: dict[tuple[str, bool], Link] = {}
        self.links = [shapes.setdefault((d.kind.name, d.parent < 0), link(d.kind, d.parent < 0)) for d in tree.links]
        at = GLOBALS
        self.constants_at, at = _offsets([link.constants.size for link in self.links], at)
        self.body_constants_at, at = _offsets([BODY_CONSTANTS.size] * len(tree.bodies), at)
        self.start = -(-at // 8) * 8
        self.link_at, at = _offsets([link.record.size for link in self.links], 0)
        self.body_at, at = _offsets([BODY.size] * len(tree.bodies), at)
        self.point, at = at, at + POINT.size
        self.sums, at = at, at + SUMS.size
        self.size = at

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(link, itself or ancestor) for every block of H, each link's from itself upwards."""
        found = []
        for i in range(len(self.links)):
            j = i
            while j >= 0:
                found.append((i, j))
                j = self.tree.links[j].parent
        return found

    @cached_property
    def block_at(self) -> list[int]:
        """Entries of those blocks, behind all records; there may be many more of them than links."""
        return _offsets([_block(self.tree, i, j) for i, j in self.pairs], self.size)[0]

    def scalars(self) -> np.ndarray:
        """What stands before the records."""
        tree, values = self.tree, np.zeros(self.start)
        values[0:3] = tree.gravity
        for link, at, data, (mass, com, inertia) in zip(self.links, self.constants_at, tree.links, tree.masses, strict=True):
            fields = {"E": data.on_parent[0].ravel(), "t": data.on_parent[1], "mass": mass, "h": mass * com,
                      "inertia": inertia[np.tril_indices(3)], "armature": data.armature[order(data)],
                      "damping": data.damping[order(data)], "beside": data.beside}  # fmt: skip
            for name, value in fields.items():
                values[at:][link.constants.slice(name)] = value
        for at, (_, _, (Q, o)) in zip(self.body_constants_at, tree.bodies, strict=True):
            values[at:][BODY_CONSTANTS.slice("o")] = o
            values[at:][BODY_CONSTANTS.slice("Q")] = Q.ravel()
        return values

    def fields(self, name: str) -> np.ndarray:
        """Entries of a field of all links, in the order of q or qd."""
        found = []
        for link, at, data in zip(self.links, self.link_at, self.tree.links, strict=True):
            offset, size = link.record[name]
            places = at + offset + np.arange(size)
            found.append(places[::-1] if data.backwards else places)
        return np.concatenate([NONE, *found])

    def body_fields(self, *names: str, record: Record = BODY) -> np.ndarray:
        """Entries of fields of all bodies, body by body."""
        spans = np.concatenate([np.arange(record.slice(name).start, record.slice(name).stop) for name in names])
        return (np.array(self.body_at, dtype=np.int64)[:, None] + spans).ravel()


def order(data) -> slice:
    """From the order of a link's record to that of q and qd, or back."""
    return slice(None, None, -1) if data.backwards else slice(None)


def _offsets(sizes: Sequence[int], at: int) -> tuple[list[int], int]:
    ends = np.cumsum([at, *sizes])
    return [int(x) for x in ends[:-1]], int(ends[-1])


def _block(tree, i: int, j: int) -> int:
    """Entries of the block of H between links i and j; of a diagonal one the lower triangle."""
    n, m = tree.links[i].kind.nv, tree.links[j].kind.nv
    return n * (n + 1) // 2 if i == j else n * m
