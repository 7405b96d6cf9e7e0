"""Where conjugate gradients have their numbers: one area of a workspace, and the tables that say which number is where.

Rows are those of all nodes, one node after another; columns the velocities of all bodies, one body after another. `links` are
the pairs of a node and one of its moving bodies, `entries` the numbers in all blocks of J. Behind the bodies come rotors, which
are bodies of one velocity here: each is linked with the node that turns it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.model.graph import moving
from linkwork.model.nodes import Bodies, Node

COUNTS = ("rows", "columns", "bodies", "nodes", "links", "entries", "triangles")
METHOD = 1 + len(COUNTS)  # behind the size of the workspace and the counts: 1 for least squares as printed, else 0
HEAD = METHOD + 1 + 2  # then two tolerances (precise and rough)
TOLD = 7  # what solves have told so far
WARM = 2  # solves of a step that start from where the same solve ended in the steps before
REMEMBERED = 3  # steps of which each keeps the multipliers, the last first; before these: how many are known

ROW_VECTORS = 6  # right-hand side, solution, residual and its product with A, direction and its product
COLUMN_VECTORS = 5  # root of the inverse mass, what forces give, what the rows add; G^T times residual and direction


@dataclass(frozen=True)
class CGArea:
    """Fields of the area, in this order: `head`, `told`, `warm` (what solves remember); vectors of rows and of columns; `G`
    (entries) and the factors of its diagonal blocks; integers, two in the space of a number."""

    at: int
    rows: int
    columns: int
    bodies: int
    nodes: int
    links: int
    entries: int
    triangles: int  # entries of all nodes' lower triangles

    @classmethod
    def of(cls, at: int, bodies: Bodies, nodes: list[Node]) -> CGArea:
        widths = [[*(bodies.kinds[body].nv for body in moving(node.ends)), *(1 for _ in node.kind.rotors)] for node in nodes]
        sizes, rotors = [node.kind.size for node in nodes], sum(len(node.kind.rotors) for node in nodes)
        return cls(
            at, sum(sizes), sum(kind.nv for kind in bodies.kinds) + rotors, len(bodies.kinds) + rotors, len(nodes),
            sum(map(len, widths)),
            sum(m * sum(w) for m, w in zip(sizes, widths, strict=True)), sum(m * (m + 1) // 2 for m in sizes),
        )  # fmt: skip

    @cached_property
    def fields(self) -> dict[str, slice]:
        sizes = {
            "head": HEAD, "told": TOLD, "warm": WARM * self.memory, "of_rows": ROW_VECTORS * self.rows,
            "of_columns": COLUMN_VECTORS * self.columns, "G": self.entries, "factors": self.triangles,
            "integers": (self.integers + 1) // 2,
        }  # fmt: skip
        ends = self.at + np.cumsum(list(sizes.values()))
        return {name: slice(int(end) - size, int(end)) for (name, size), end in zip(sizes.items(), ends, strict=True)}

    @property
    def memory(self) -> int:
        """Entries of what one solve remembers."""
        return 1 + REMEMBERED * self.rows

    @property
    def integers(self) -> int:
        return 3 * self.bodies + 3 * self.nodes + 4 + 2 * self.links + 3 * self.rows + self.entries

    @property
    def size(self) -> int:
        return self.fields["integers"].stop - self.at

    def __getitem__(self, name: str) -> slice:
        return self.fields[name]
