"""Contact in joint coordinates: how touched bodies answer, by the factors of the articulated-body algorithm or of H = L^T D L.

A wrench P on a body is J^T P at the joints on its path to the root, J the Jacobian of its reference point. Joints answer by
H^-1, less what loops take back:

    Z = H^-1 J^T,  Z_l = H^-1 J_l^T,  W = J_l Z_l      R = J (Z - Z_l W^+ J_l Z)

For R the links on the paths from touched bodies, and from bodies that close loops in their component, to the root are
enough: the others neither push nor are asked. Impulses then change the velocities of all joints of the component.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import jit, sweep, sweep_some
from linkwork.contact.responses import TREE, free_response
from linkwork.contact.stages import Slots
from linkwork.contact.trees import bodies_of, free_bodies
from linkwork.integrators.base import DONE, KICK, STEP, TIME
from linkwork.integrators.closing import VELOCITY, copied, find_rows, firsts, flat, power, solve_by_largest_pivots
from linkwork.integrators.joint import accelerations, bring_along, close


class Links(NamedTuple):
    """A tree, link by link."""

    parent: np.ndarray  # (links,) int64, -1: the ground
    first: np.ndarray  # (links + 1,) int64: where the freedoms of each begin
    joints: np.ndarray  # (nv,) int64: x of each freedom in the tree's workspace
    speeds: np.ndarray  # (nv,) int64: qd
    places: np.ndarray  # (nv,) int64: its place in the order of elimination
    columns: np.ndarray  # (links,) int64: where J (6, freedoms) is left ...
    column: np.ndarray  # (links, 6) int32: ... by these operations ...
    point: np.ndarray  # (bodies, 6) int32: ... once one of these has set the point
    tree: np.ndarray  # (links,) int64: the component of its bodies
    link_of: np.ndarray  # (bodies,) int64, -1: fixed to the ground
    closing: np.ndarray  # int64: bodies of what closes loops
    inwards: np.ndarray  # (links, 6) int32: of a response of the articulated-body algorithm; none with the inertia matrix
    outwards: np.ndarray  # (links, 6) int32: the same, nothing where a link is on the ground
    rest: np.ndarray  # operations before the first response


@jit
def kick(work, model, own, tree, places, holding, inertia, loops, moves, factors):
    """Velocities after a step, at places of its beginning; factors of the inertia there. moves: nudge and strike; factors: a
    sweep that finds them where accelerations come without."""
    table, loads, place, _ = model
    own_table, recover, out, back, outwards, _, _, _, _, _ = tree
    coordinates_at, _, state_at, _, tau_at = places
    h = work[STEP]
    work[KICK] = 1.0
    copied(work, coordinates_at, own, state_at)
    sweep(own, own_table, recover)
    work[DONE] += h * accelerations(work, table, loads, own, own_table, (out, back), places, holding, inertia, loops)
    for i in tau_at:
        own[i] *= h
    sweep(own, own_table, moves[1])
    bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
    sweep(own, own_table, factors)


@jit
def drift(work, model, own, tree, places, inertia, loops, moves, links):
    """Places after a step, reached with the velocities that are there; how far loops are off then."""
    table, _, place, count = model
    own_table, _, out, back, outwards, _, _, _, _, _ = tree
    coordinates_at, _, state_at, _, _ = places
    h = work[STEP]
    for k in range(links.joints.shape[0]):
        own[links.joints[k]] = h * own[links.speeds[k]]
    sweep(own, own_table, moves[0])
    work[TIME] += h
    bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
    off = 0.0
    if loops is not None:
        off = close(work, table, place, own, own_table, (out, back), outwards, moves, places, inertia, loops)
    sweep(work, table, count)
    return off


@jit
def links_on_paths(links, bodies, members, tree):
    """Which links stand on the paths from the members of a group, and from what closes loops of its component, to the root."""
    needed = np.zeros(links.parent.shape[0], np.bool_)
    for body in members:
        _mark_path(links, body, needed)
    for body in links.closing:
        if bodies[body, TREE] == tree:
            _mark_path(links, body, needed)
    return needed


@jit
def listed(links, needed):
    """Those links outwards, where the freedoms of each begin among theirs (-1: not one of them), and how many these are."""
    begins = np.full(links.parent.shape[0], -1, np.int64)
    count, freedoms = 0, 0
    chosen = np.empty(links.parent.shape[0], np.int64)
    for link in range(links.parent.shape[0]):
        if needed[link]:
            chosen[count], begins[link] = link, freedoms
            freedoms += links.first[link + 1] - links.first[link]
            count += 1
    return chosen[:count], begins, freedoms


@jit
def _mark_path(links, body, needed):
    link = links.link_of[body]
    while link >= 0 and not needed[link]:
        needed[link] = True
        link = links.parent[link]


@jit
def jacobians(own, own_table, links, members, begins, J):
    """J (6 a member, freedoms) of the members of a group, into zeros."""
    for k in range(len(members)):
        sweep(own, own_table, links.point[members[k] : members[k] + 1])
        link = links.link_of[members[k]]
        while link >= 0:
            sweep(own, own_table, links.column[link : link + 1])
            width = links.first[link + 1] - links.first[link]
            for i in range(6):
                for j in range(width):
                    J[6 * k + i, begins[link] + j] = own[links.columns[link] + i * width + j]
            link = links.parent[link]


@jit
def answered(own, own_table, links, inertia, chosen, Z):
    """H^-1 of each row of Z, in its place; the freedoms are those of the chosen links."""
    if inertia is not None:
        (_, _, up, down), (_, _, _, right_at, _) = inertia
        there = right_at[links.places]
        for k in range(Z.shape[0]):
            for i in right_at:
                own[i] = 0.0
            _put(own, links, there, chosen, Z[k])
            sweep(own, own_table, up)
            sweep(own, own_table, down)
            _take(own, links, there, chosen, Z[k])
    else:
        inwards = chosen[::-1].copy()
        outwards = chosen[links.parent[chosen] >= 0]
        for k in range(Z.shape[0]):
            _put(own, links, links.joints, chosen, Z[k])
            sweep_some(own, own_table, links.inwards, inwards)
            sweep_some(own, own_table, links.outwards, outwards)
            _take(own, links, links.joints, chosen, Z[k])


@jit
def _put(own, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            own[there[j]] = values[n]
            n += 1


@jit
def _take(own, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            values[n] = own[there[j]]
            n += 1


@jit
def keep_closed(own, own_table, links, inertia, loops, chosen, Z, pull):
    """Take from rows of Z, which are H^-1 of something, what would move loops. pull (rows of loops): what the loops put on
    the joints for it, added up."""
    J_all, W, right, y = loops[2][0], loops[2][2], np.zeros(loops[2][1].shape[0]), np.zeros(loops[2][1].shape[0])
    m = J_all.shape[0]
    J = np.zeros((m, Z.shape[1]))
    for k in range(m):
        _take(J_all[k], links, links.places, chosen, J[k])
    Z_l = J.copy()
    answered(own, own_table, links, inertia, chosen, Z_l)
    for row in range(Z.shape[0]):
        for k in range(m):
            right[k] = 0.0
            for i in range(Z.shape[1]):
                right[k] -= J[k, i] * Z[row, i]
            for j in range(k + 1):
                total = 0.0
                for i in range(Z.shape[1]):
                    total += J[k, i] * Z_l[j, i]
                W[k, j] = W[j, k] = total
        solve_by_largest_pivots(W, right, y)
        for k in range(m):
            pull[k] += y[k]
            for i in range(Z.shape[1]):
                Z[row, i] += Z_l[k, i] * y[k]


@jit
def responses_of_joints(work, table, own, own_table, links, inertia, loops, bodies, free, body_of, first, size, at, R, groups):
    """R of all groups, as `contact/responses.py` has it."""
    if groups == 0:
        return
    sweep(own, own_table, links.rest)
    if loops is not None:
        find_rows(work, table, own, own_table, loops, VELOCITY)
    for g in range(groups):
        n, members = 6 * size[g], body_of[first[g] : first[g] + size[g]]
        block, tree = R[at[g] : at[g] + n * n], bodies[members[0], TREE]
        if free[tree]:
            free_response(work, bodies[members[0]], block)
            continue
        chosen, begins, freedoms = listed(links, links_on_paths(links, bodies, members, tree))
        J = np.zeros((n, freedoms))
        jacobians(own, own_table, links, members, begins, J)
        Z = J.copy()
        answered(own, own_table, links, inertia, chosen, Z)
        if loops is not None:
            keep_closed(own, own_table, links, inertia, loops, chosen, Z, np.zeros(loops[2][1].shape[0]))
        for i in range(n):
            for j in range(i + 1):
                total = 0.0
                for k in range(freedoms):
                    total += J[i, k] * Z[j, k]
                block[i * n + j] = block[j * n + i] = total


@jit
def strike_joints(work, own, own_table, links, inertia, loops, strike, bodies, body_of, first, size, wrench, groups):
    """Change the joints' velocities by what wrenches on slots do; loops do the work of prescribed motion."""
    moved = np.zeros(links.joints.shape[0])
    if loops is not None:
        loops[2][3][:] = 0.0
    for g in range(groups):
        begin, end = first[g], first[g] + size[g]
        if not np.any(wrench[begin:end] != 0.0):
            continue
        members = body_of[begin:end]
        chosen, begins, freedoms = listed(links, links.tree == bodies[members[0], TREE])
        J, Z = np.zeros((6 * len(members), freedoms)), np.zeros((1, freedoms))
        jacobians(own, own_table, links, members, begins, J)
        for k in range(6 * len(members)):
            for i in range(freedoms):
                Z[0, i] += J[k, i] * wrench[begin + k // 6, k % 6]
        answered(own, own_table, links, inertia, chosen, Z)
        if loops is not None:
            keep_closed(own, own_table, links, inertia, loops, chosen, Z, loops[2][3])
        n = 0
        for link in chosen:
            for j in range(links.first[link], links.first[link + 1]):
                moved[j] = Z[0, n]
                n += 1
    for k in range(len(moved)):
        own[links.joints[k]] = moved[k]
    sweep(own, own_table, strike)
    if loops is not None:
        work[DONE] += power(work, loops)


class JointAnswers:
    """Answers in joint coordinates, of an integrator whose step stands between `kick` and `drift`. Velocities are those of the
    bodies, brought along."""

    carried, scale, turning = 1.0, 0.0, False

    def __init__(self, integrator):
        self.integrator, self.programs, self.own = integrator, integrator.programs, integrator.stepper
        self.bodies = bodies_of(self.programs)
        self.order = np.argsort(self.bodies[:, TREE], kind="stable")
        self.free = free_bodies(self.programs.model, self.bodies[:, TREE])
        self.free[[self.bodies[child, TREE] for _, child in integrator.local]] = False  # something holds them
        self.links = self._links()

    def _links(self) -> Links:
        own = self.own
        tree, by_matrix = own.tree, self.integrator.way == "ltdl"
        x, qd, J = ([own.field(i, name) for i in range(len(tree.links))] for name in ("x", "qd", "J"))
        order = {int(at): k for k, at in enumerate(own.inertia.joints if by_matrix else own.tau)}
        inwards, outwards, rest = (own.sweep("" if by_matrix else name) for name in ("response in", "response out", "rest"))
        by_link = np.zeros((len(tree.links), outwards.shape[1]), dtype=np.int32)
        by_link[tree.parent >= 0] = outwards if len(outwards) else 0
        link_of, component = flat([[link for _, link, _ in tree.bodies]]), np.zeros(len(tree.links), dtype=np.int64)
        component[link_of[link_of >= 0]] = self.bodies[link_of >= 0, TREE]
        joints, speeds = flat([np.r_[field] for field in x]), flat([np.r_[field] for field in qd])
        return Links(tree.parent, firsts([np.r_[field] for field in x]), joints, speeds, flat([[order[at] for at in joints]]),
                     flat([[field.start for field in J]]), own.sweep("column"), own.sweep("point"),
                     component, link_of, flat([self.integrator.touched]),
                     np.ascontiguousarray(inwards[::-1]), by_link, rest)  # fmt: skip

    def respond(self, work: np.ndarray, slots: Slots, groups: int, R: np.ndarray) -> None:
        _, _, _, _, inertia, loops = self.integrator.plan
        grouped = slots.body_of, slots.first, slots.size, slots.at
        responses_of_joints(work, self.programs.table, self.own.work, self.own.table, self.links, inertia, loops, self.bodies,
                            self.free, *grouped, R, groups)  # fmt: skip

    def strike(self, work: np.ndarray, slots: Slots, groups: int) -> None:
        _, _, _, _, inertia, loops = self.integrator.plan
        given = self.bodies, slots.body_of, slots.first, slots.size, slots.wrench
        strike_joints(work, self.own.work, self.own.table, self.links, inertia, loops, self.own.sweep("strike"), *given, groups)
