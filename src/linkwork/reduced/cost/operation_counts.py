"""Operation counts of RNEA, CRBA and ABA, step by step, as the paper and textbooks give them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ArrayError
from linkwork.reduced.cost.counts import SAVED_RIGID, SAVED_VECTOR, Operations, back_substitution, bodies_in, floating, ltdl
from linkwork.reduced.parent_array import parent_array, sizes

RIGID_ADD = Operations(a=10)  # ra


RIGID_TRANSFORM = {"a": Operations(m=32, a=33), "b": Operations(m=47, a=48)}  # rx with DH parameters, and without


VECTOR_TRANSFORM = {"a": Operations(m=20, a=12), "b": Operations(m=24, a=18)}  # vx


class Steps(NamedTuple):
    """How often the CRBA transforms inertias (D0) and vectors (D1): at DH nodes (a), at others (b), at DH nodes on a floating
    base (c)."""

    D0a: int
    D1a: int
    D0b: int
    D1b: int
    D0c: int
    D1c: int


def non_dh(parents) -> int:
    """How many nodes must do without DH parameters (eq. 17): all children of a node but one.

    >>> non_dh((-1, 0, 0, 1, 1, 2, 2))
    3
    """
    parents = parent_array(parents)
    _, children = np.unique(parents, return_counts=True)
    return int((children - 1).sum())


def dh_nodes(parents, freedoms=None) -> np.ndarray:
    """(n,) the best choice of DH nodes, which makes D1a largest: of each node's children the one with most freedoms from it on.

    >>> dh_nodes((-1, 0, 0, 2))
    array([ True, False,  True,  True])
    """
    parents, freedoms = bodies_in(parents, freedoms)
    below = sizes(parents, freedoms)
    best: dict[int, int] = {}
    for i, parent in enumerate(parents.tolist()):
        if parent not in best or below[i] > below[best[parent]]:
            best[parent] = i
    chosen = np.zeros(len(parents), dtype=bool)
    chosen[list(best.values())] = True
    return chosen


def _chosen(parents: np.ndarray, dh) -> np.ndarray:
    """(n,) the DH nodes of a caller: true or false for each node, and of each node's children at most one (eq. 17)."""
    remedy = f"give True or False for each of the {len(parents)} nodes"
    try:
        given = np.asarray(dh)
    except ValueError:
        raise ArrayError(f"dh: lists of different lengths; {remedy}") from None
    if given.shape != parents.shape:
        raise ArrayError(f"dh: shape {given.shape} for {len(parents)} nodes; {remedy}")
    if (given.size and given.dtype.kind not in "biu") or not np.isin(given, (0, 1)).all():
        raise ArrayError(f"dh is {checks.show(dh)}; {remedy}")
    chosen = given.astype(bool)
    nodes, children = np.unique(parents[chosen], return_counts=True)
    if (children > 1).any():
        node = int(nodes[np.argmax(children > 1)])
        own = np.flatnonzero(chosen & (parents == node)).tolist()
        whose = f"node {node}" if node >= 0 else "the ground"
        raise ArrayError(f"dh: nodes {', '.join(map(str, own))} are all children of {whose}, of whose children one at most has "
                         "DH parameters; choose one, as dh_nodes does")  # fmt: skip
    return chosen


def steps(parents, freedoms=None, dh=None) -> Steps:
    """D0a ... D1c (eq. 19) for a choice of DH nodes; the best one unless told. A joint has a vector for each of its freedoms.

    >>> steps((-1, 0, 0, 2))
    Steps(D0a=2, D1a=3, D0b=1, D1b=1, D0c=0, D1c=0)
    """
    parents, freedoms = bodies_in(parents, freedoms)
    dh = dh_nodes(parents, freedoms) if dh is None else _chosen(parents, dh)
    below, inner = sizes(parents, freedoms), parents >= 0
    on_base = inner & dh & np.append(floating(parents, freedoms), False)[parents]
    sets = (inner & dh, inner & ~dh, on_base)
    return Steps(*(int(x) for chosen in sets for x in (chosen.sum(), below[chosen].sum())))


def crba(parents, freedoms=None, dh=None) -> Operations:
    """The joint-space inertia matrix (eq. 21; eq. 20 where nothing floats).

    >>> print(crba([-1, 0, 1, 2, 3, 4]))
    460m + 395a
    """
    s = steps(parents, freedoms, dh)
    return (s.D0a * (RIGID_ADD + RIGID_TRANSFORM["a"]) + s.D1a * VECTOR_TRANSFORM["a"]
            + s.D0b * (RIGID_ADD + RIGID_TRANSFORM["b"]) + s.D1b * VECTOR_TRANSFORM["b"]
            - s.D0c * SAVED_RIGID - s.D1c * SAVED_VECTOR)  # fmt: skip


def crba_alike(parents, rigid_transform: Operations, vector_transform: Operations, freedoms=None) -> Operations:
    """The same where all nodes cost alike (eq. 14): D0 (ra + rx) + D1 vx.

    >>> chain = [-1, 0, 1, 2, 3, 4]
    >>> crba_alike(chain, RIGID_TRANSFORM["a"], VECTOR_TRANSFORM["a"]) == crba(chain)
    True
    """
    for name, given in (("rigid_transform", rigid_transform), ("vector_transform", vector_transform)):
        if not isinstance(given, Operations):
            raise ArrayError(f"{name} is {checks.show(given)}; give Operations, such as Operations(m=32, a=33)")
    s = steps(parents, freedoms)
    return (s.D0a + s.D0b) * (RIGID_ADD + rigid_transform) + (s.D1a + s.D1b) * vector_transform


def _joints(parents, freedoms) -> tuple[int, int, int, int]:
    """(freedoms but for those of floating bases, floating bases, trees, non-DH nodes that do not hang on the ground)."""
    parents, freedoms = bodies_in(parents, freedoms)
    bases = int(floating(parents, freedoms).sum())
    return int(freedoms.sum()) - 6 * bases, bases, int((parents < 0).sum()), steps(parents, freedoms).D0b


def _at_least_none(m: int, a: int) -> Operations:
    """Formulae for long chains, kept from falling below zero where there is hardly a joint."""
    return Operations(m=max(0, m), a=max(0, a))


def rnea(parents, freedoms=None) -> Operations:
    """Inverse dynamics, which gives C: Balafoutis, Patel and Misra 1988, with the corrections of section 6.

    A joint of several freedoms counts as so many hinges, and what a chain saves at the ground every tree saves.
    """
    hinges, bases, trees, others = _joints(parents, freedoms)
    n = hinges + bases
    return (_at_least_none(m=93 * n - 69 * trees, a=81 * n - 66 * trees) + bases * Operations(m=7, a=13)
            + others * Operations(m=4, a=8))  # fmt: skip


def aba(parents, freedoms=None) -> Operations:
    """Forward dynamics by propagation: McMillan and Orin 1995b, with the correction of section 6 at non-DH nodes.

    The formula is that of a floating base. A tree on the ground is counted alike, which is a little too much.
    """
    hinges, _, trees, others = _joints(parents, freedoms)
    return _at_least_none(m=224 * hinges - 30 * trees, a=205 * hinges - 37 * trees) + others * Operations(m=66, a=57)


def forward_dynamics(parents, freedoms=None) -> Operations:
    """Forward dynamics by the inertia matrix: CRBA, RNEA, LTDL and one back-substitution."""
    return sum((count(parents, freedoms) for count in (crba, rnea, ltdl, back_substitution)), Operations())
