"""Elimination: the order in which a solver eliminates bodies and constraints, as a tree of supernodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.model.graph import moving
from linkwork.model.model import Model

ROOT = -1  # the parent of a supernode with nothing after it


@dataclass(frozen=True)
class Elimination:
    """Supernodes in the order of elimination: bodies and constraints whose rows of the KKT matrix are one pivot.

    `later[k]` are the supernodes after k that its elimination changes, and `parents[k]` is the first of them, or -1: along
    parents a right-hand side travels, and the factors of k have blocks with `later[k]` alone. Constraints in `left_out` are not
    eliminated: those that close loops with the solver "anticipation", all of them with "cg".

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> before = world.ground
    >>> for k in range(2):
    ...     body = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k, 0, 0), name=f"link{k}"))
    ...     before = (world.add(lw.Hinge(before, body, at=(k - 0.5, 0, 0), axis=(0, 1, 0), name=f"hinge{k}")), body)[1]
    >>> lw.Simulation(world).matrices.elimination.supernodes
    (('link1', 'hinge1'), ('link0', 'hinge0'))
    >>> found = lw.Simulation(world, solver="fronts").matrices.elimination
    >>> found.supernodes, found.parents
    ((('link1',), ('hinge1',), ('link0',), ('hinge0',)), (1, 2, 3, -1))
    """

    supernodes: tuple[tuple[str, ...], ...]
    parents: tuple[int, ...]
    later: tuple[tuple[int, ...], ...]
    rows: tuple[NDArray[np.int64], ...]  # of each supernode: its rows of the KKT matrix
    left_out: tuple[str, ...] = ()

    @property
    def order(self) -> NDArray[np.int64]:
        """Rows of the KKT matrix in the order of elimination."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self.rows])

    @property
    def stored(self) -> int:
        """Numbers in the factors: a triangle a supernode, and its blocks with later ones."""
        sizes = [len(rows) for rows in self.rows]
        return sum(d * (d + 1) // 2 + d * sum(sizes[k] for k in later) for d, later in zip(sizes, self.later, strict=True))


def eliminated(model: Model, rows: Sequence[NDArray[np.int64]]) -> Elimination:
    """How a model is eliminated; `rows`: of the KKT matrix, of each body and then of each node."""
    n = len(model.bodies.kinds)
    names = [
        *([str(body.name)] for body in model.bodies.elements),
        *([str(e.name) for e in node.elements] for node in model.nodes),
    ]
    groups = _groups(model)
    where = {vertex: k for k, group in enumerate(groups) for vertex in group}
    later: list[set[int]] = [set() for _ in groups]
    for k, node in enumerate(model.nodes):
        for body in moving(node.ends) if n + k in where else ():
            first, last = sorted((where[n + k], where[body]))
            later[first] |= {last} - {first}
    parents = []
    for k, others in enumerate(later):  # what is coupled with k is coupled with each other once k is gone
        parents.append(min(others, default=ROOT))
        if others:
            later[parents[k]] |= others - {parents[k]}
    return Elimination(
        tuple(tuple(name for vertex in group for name in names[vertex]) for group in groups),
        tuple(parents),
        tuple(tuple(sorted(others)) for others in later),
        tuple(np.concatenate([rows[vertex] for vertex in group]) for group in groups),
        tuple(name for k in range(len(model.nodes)) if n + k not in where for name in names[n + k]),
    )


def _groups(model: Model) -> list[list[int]]:
    """The vertices of each pivot, in order: bodies, and behind them nodes."""
    n = len(model.bodies.kinds)
    if model.options.get("whole"):  # by LAPACK, everything
        return [list(range(n + len(model.nodes)))]
    if model.gradients is not None:  # masses alone: multipliers are found by iterating
        return [[body] for body in range(n)]
    return [[v for v in (item.body, n + item.node if item.node >= 0 else -1) if v >= 0] for item in model.items]
