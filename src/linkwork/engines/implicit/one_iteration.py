"""A step of one iteration (hernandez11): one linear solve, and a second where that one alone would not hold together.

A linear step leaves out two things: how the pulls of constraints turn with their bodies, h^2 times a stiffness, without which
light bodies under tension leap further in every step, and the curvature of the motion, (h w)^2 / 2 of a length, which the
next step's J v = -C/h would turn into speed. Where the solution shows that either matters (`strain`), the step is *firm*:

- M x + h G x + J^T y = M v0 + h f, J x = 0, with the positive semidefinite part G of the geometric stiffness of the
  multipliers that were found last. Without forces, |x| <= |v0| in the norm of M.
- Places after it are drawn in to C = 0 by one projection, whose metric is M with the tangents of forces; what that leaves of
  joints in a tree is taken by putting bodies to their parents one after another (`joined`): |C| is at rounding however far
  bodies have turned.
- What this put back is taken from the velocities, tree by tree, as far as it lessens kinetic energy: so neither part gives any.

A step after a firm one begins with the firm solve; its second is the projection. One after a linear step finds out by a solve
that is thrown away; its second is the firm one, with the multipliers of the first, and bodies are put to their parents at once.
Where other constraints than joints of a tree hold places, the first solve is kept there, and the second is the projection.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, sweep
from linkwork.codegen.struct import Struct
from linkwork.elements.bodies.rigid import RIGID
from linkwork.engines.implicit.schedules import Implicit
from linkwork.engines.scalars import GOOD_SUBSTEPS, ITERATIONS, WORST
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN, FIRM
from linkwork.kernels.vocabulary import ImplicitKernel
from linkwork.model.graph import GROUND

RELAXED = 0.25  # after a firm step the next one is linear again where its strain is below this part of the limit
LINEAR, PUT, DRAWN = 0, 1, 2  # how positions are found: as solved for; bodies put to their parents; after a projection
FIRM_BEFORE = GOOD_SUBSTEPS  # entry of the state: whether the step before was firm. These steps are never cut into substeps
LOOPS = 0  # SingleIteration.flags


class SingleIteration(Struct):
    """Sweeps of steps of one iteration, and entries of the bodies of each tree."""

    solve: np.ndarray  # of the linear solve
    solved: np.ndarray
    strain: np.ndarray
    remember: np.ndarray
    solve_firm: np.ndarray
    solved_firm: np.ndarray
    advance: np.ndarray
    advance_firm: np.ndarray
    joined: np.ndarray
    lag: np.ndarray
    draw: np.ndarray  # displacements of the projection
    drawn: np.ndarray
    place: np.ndarray
    recall: np.ndarray
    first: np.ndarray  # (trees + 1,) int64: where the bodies of each tree begin, and entries of each body
    velocity: np.ndarray
    size: np.ndarray
    v1: np.ndarray
    x: np.ndarray
    v0: np.ndarray
    vm: np.ndarray
    q1: np.ndarray
    qm: np.ndarray
    first_free: np.ndarray  # (trees + 1,) int64: the same of free trees of rigid bodies
    q: np.ndarray
    R: np.ndarray
    mass: np.ndarray
    com: np.ndarray
    first_pull: np.ndarray  # (trees + 1,) int64: the same of multipliers that count in the projection
    pulls: np.ndarray
    flags: np.ndarray  # (1,) int64: whether other constraints than joints of a tree hold places


@jit
def solve_once(work, table, once):
    """The motion of a step, in x of the bodies; returns how its places are to be found."""
    work[ITERATIONS] = 1.0
    fresh = work[FIRM_BEFORE] == 0.0
    if fresh:
        sweep(work, table, once.solve, True)
        sweep(work, table, once.solved, True)
        if _strain(work, table, once.strain) <= 1.0:
            return LINEAR
        work[ITERATIONS] = 2.0
        sweep(work, table, once.remember, True)
        if once.flags[LOOPS]:
            work[FIRM_BEFORE] = 1.0
            return DRAWN
    sweep(work, table, once.solve_firm, True)
    sweep(work, table, once.solved_firm, True)
    work[FIRM_BEFORE] = 0.0 if _strain(work, table, once.strain) <= RELAXED else 1.0
    sweep(work, table, once.remember, True)
    return PUT if fresh else DRAWN


@jit
def _strain(work, table, strain):
    """The strain of the motion: how far it goes, relative to what a linear step is good for."""
    work[WORST] = 0.0
    sweep(work, table, strain, True)
    return work[WORST]


@jit
def move_once(work, table, once, way):
    """Find positions and velocities after the motion that was solved for."""
    if way == LINEAR:
        sweep(work, table, once.advance)
        return
    sweep(work, table, once.advance_firm, True)
    if way == DRAWN:
        work[ITERATIONS] = 2.0
        sweep(work, table, once.draw, True)
        sweep(work, table, once.drawn, True)
        _shorten(work, once)
        sweep(work, table, once.place, True)
        sweep(work, table, once.recall, True)
    before = _centres(work, once.first_free, once.q, once.R, once.mass, once.com)
    sweep(work, table, once.joined, True)
    _recentre(work, before, once.first_free, once.q, once.R, once.mass, once.com)
    sweep(work, table, once.lag, True)
    _follow(work, once)


@jit
def _centres(work, first, q, R, mass, com):
    """(trees, 3): centres of mass of the trees that nothing ties to the ground."""
    found = np.zeros((first.shape[0] - 1, 3))
    for tree in range(first.shape[0] - 1):
        total = 0.0
        for k in range(first[tree], first[tree + 1]):
            m = work[mass[k]]
            total += m
            for i in range(3):
                at = work[q[k] + i]
                for j in range(3):
                    at += work[R[k] + 3 * i + j] * work[com[k] + j]
                found[tree, i] += m * at
        found[tree] /= total
    return found


@jit
def _recentre(work, before, first, q, R, mass, com):
    """Move these trees as a whole, so that their centres are where they were."""
    after = _centres(work, first, q, R, mass, com)
    for tree in range(first.shape[0] - 1):
        for k in range(first[tree], first[tree + 1]):
            for i in range(3):
                work[q[k] + i] += before[tree, i] - after[tree, i]


@jit
def _shorten(work, once):
    """Displacements no longer than the way that the step has made, tree by tree: where constraints cannot be met, or are
    singular, what is asked for may be anything. Multipliers become those of the displacement that is made."""
    first, size, displacement, own_at, way_at = once.first, once.size, once.x, once.v0, once.vm
    first_pull, pulls = once.first_pull, once.pulls
    for tree in range(first.shape[0] - 1):
        own, way = 0.0, 0.0
        for k in range(first[tree], first[tree + 1]):
            own += work[own_at[k]]
            way += work[way_at[k]]
        if own <= way:
            continue
        part = np.sqrt(way / own) if way < own < np.inf else 0.0
        for k in range(first[tree], first[tree + 1]):
            for i in range(size[k]):
                work[displacement[k] + i] *= part
        for k in range(first_pull[tree], first_pull[tree + 1]):
            work[pulls[k]] *= part


@jit
def _follow(work, once):
    """Bodies that were put back from where their velocities led lose these velocities, tree by tree, as far as this takes
    kinetic energy from the tree. Weights that were lifted on the way by more than the step has lost are paid for by all
    velocities of the tree."""
    first, velocity, size, back = once.first, once.velocity, once.size, once.v1
    rise_at, common_at, own_at, twice_at, lost_at = once.x, once.v0, once.vm, once.q1, once.qm
    for tree in range(first.shape[0] - 1):
        common, own, rise, twice, lost = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(first[tree], first[tree + 1]):
            common += work[common_at[k]]
            own += work[own_at[k]]
            rise += work[rise_at[k]]
            twice += work[twice_at[k]]
            lost += work[lost_at[k]]
        part = min(1.0, -common / own) if common < 0.0 else 0.0
        taken = -part * (2.0 * common + part * own)
        due, twice = 2.0 * rise - lost - taken, twice - taken
        kept = np.sqrt(max(0.0, 1.0 - due / twice)) if due > 0.0 and twice > 0.0 else 1.0
        if part == 0.0 and kept == 1.0:
            continue
        for k in range(first[tree], first[tree + 1]):
            for i in range(size[k]):
                work[velocity[k] + i] = kept * (work[velocity[k] + i] + part * work[back[k] + i])


def sweeps_of_one_iteration(p: Implicit) -> SingleIteration:
    """The argument of `solve_once` and `move_once`."""
    linear = p.iteration(BEGIN), p.solved(BEGIN), p.strain(), p.remembered()
    firm = p.iteration(FIRM), p.solved(AGAIN, FIRM)
    moves = p.body(ImplicitKernel.ADVANCE_ONCE), p.body(ImplicitKernel.ADVANCE_FIRM), p.joined(), p.body(ImplicitKernel.LAG)
    displacements, placed = p.drawn_in()
    drawn_in = *displacements, placed, p.recalled()
    trees, free, pulls = _trees(p)
    flags = np.array([p.holds_more_than_joints], dtype=np.int64)
    return SingleIteration(*linear, *firm, *moves, *drawn_in, *trees, *free, *pulls, flags)


@cache
def no_sweeps_of_one_iteration() -> SingleIteration:
    """The same for engines that do not make such steps."""
    nothing, none = np.zeros((0, 1 + OPERANDS), dtype=np.int32), np.zeros(0, dtype=np.int64)
    return SingleIteration(*[nothing] * 14, *[none] * 16, np.zeros(1, dtype=np.int64))


def _trees(p: Implicit) -> tuple[tuple[np.ndarray, ...], ...]:
    """Where each tree of bodies begins, and entries of what `_follow` reads; the same of what `_centres` reads, of free trees
    of rigid bodies; the same of multipliers that count in the projection."""
    m, members = p.model, dict[int, list[int]]()
    for body, tree in enumerate(m.forest.tree):
        members.setdefault(tree, []).append(body)
    held = {m.forest.tree[node.ends[-1]] for node in m.nodes if node.ends[0] == GROUND}
    free = [t for t, bodies in members.items() if t not in held and all(m.bodies.kinds[b] is RIGID for b in bodies)]

    def firsts(trees: list[list[int]]) -> np.ndarray:
        return np.cumsum([0, *map(len, trees)])

    def entries(trees: list[list[int]], name: str) -> np.ndarray:
        return np.array([m.field_of_body(b, name).start for bodies in trees for b in bodies], dtype=np.int64)

    every, loose = list(members.values()), [members[t] for t in free if len(members[t]) > 1]
    sizes = np.array([m.bodies.kinds[b].nv for bodies in every for b in bodies], dtype=np.int64)
    velocity, *others = (entries(every, name) for name in ("v", "v1", "x", "v0", "vm", "q1", "qm"))
    centred = firsts(loose), *(entries(loose, name) for name in ("q", "R", "mass", "com"))
    return (firsts(every), velocity, sizes, *others), centred, p.pulled_by(list(members))
