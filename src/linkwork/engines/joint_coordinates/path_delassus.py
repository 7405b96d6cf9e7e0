"""Contact in joint coordinates: how touched bodies answer, by the factors of the articulated-body algorithm or of H = L^T D L.

A wrench P on a body is J^T P at the joints on its path to the root, J the Jacobian of its reference point. Joints answer by
H^-1, less what loops take back:

    Z = H^-1 J^T,  Z_l = H^-1 J_l^T,  W = J_l Z_l      R = J (Z - Z_l W^+ J_l Z)

For R the links on the paths from touched bodies, and from bodies that close loops in their component, to the root are
enough: the others neither push nor are asked. Impulses change the velocities of all joints, in one solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import jit, sweep, sweep_some
from linkwork.contact.delassus import TREE, drop_rounding, free_response
from linkwork.contact.delassus_tables import bodies_of, free_bodies
from linkwork.contact.stage_kernels import Slots
from linkwork.engines.engine import DONE
from linkwork.engines.joint_coordinates.loops import VELOCITY, find_rows, firsts, flat, power, solve_by_largest_pivots


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
    link_of: np.ndarray  # (bodies,) int64, -1: fixed to the ground
    closing: np.ndarray  # int64: bodies of what closes loops
    inwards: np.ndarray  # (links, 6) int32: of a response of the articulated-body algorithm; none with the inertia matrix
    outwards: np.ndarray  # (links, 6) int32: the same, nothing where a link is on the ground
    rest: np.ndarray  # operations before the first response


@jit
def links_on_paths(links, bodies, members):
    """Links on the paths from the members of a group, and from what closes loops of its component, to the root, outwards; where
    the freedoms of each begin among theirs (-1: not one of them), and how many these are."""
    needed = np.zeros(links.parent.shape[0], np.bool_)
    for body in members:
        _mark_path(links, body, needed)
    for body in links.closing:
        if bodies[body, TREE] == bodies[members[0], TREE]:
            _mark_path(links, body, needed)
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
def group_answers(own, own_table, links, inertia, bodies, members):
    """The links of a group, J (6 a member, freedoms) of its members, and Z = H^-1 J^T, row by row."""
    chosen, begins, freedoms = links_on_paths(links, bodies, members)
    J = np.zeros((6 * len(members), freedoms))
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
    Z = J.copy()
    answered(own, own_table, links, inertia, chosen, Z)
    return chosen, J, Z


@jit
def joint_forces(own, own_table, links, members, wrenches):
    """J^T of wrenches (members, 6) on bodies: (1, nv)."""
    found = np.zeros((1, links.joints.shape[0]))
    for k in range(len(members)):
        sweep(own, own_table, links.point[members[k] : members[k] + 1])
        link = links.link_of[members[k]]
        while link >= 0:
            sweep(own, own_table, links.column[link : link + 1])
            width = links.first[link + 1] - links.first[link]
            for j in range(width):
                for i in range(6):
                    found[0, links.first[link] + j] += own[links.columns[link] + i * width + j] * wrenches[k, i]
            link = links.parent[link]
    return found


@jit
def answered(own, own_table, links, inertia, chosen, Z):
    """H^-1 of each row of Z, in its place; the freedoms are those of the chosen links."""
    if inertia is not None:
        (_, _, up, down), (_, _, _, right_at, _) = inertia
        there = right_at[links.places]
        for k in range(Z.shape[0]):
            for i in right_at:
                own[i] = 0.0
            put(own, links, there, chosen, Z[k])
            sweep(own, own_table, up)
            sweep(own, own_table, down)
            take(own, links, there, chosen, Z[k])
    else:
        inwards = chosen[::-1].copy()
        outwards = chosen[links.parent[chosen] >= 0]
        for k in range(Z.shape[0]):
            put(own, links, links.joints, chosen, Z[k])
            sweep_some(own, own_table, links.inwards, inwards)
            sweep_some(own, own_table, links.outwards, outwards)
            take(own, links, links.joints, chosen, Z[k])


@jit
def put(own, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            own[there[j]] = values[n]
            n += 1


@jit
def take(own, links, there, chosen, values):
    n = 0
    for link in chosen:
        for j in range(links.first[link], links.first[link + 1]):
            values[n] = own[there[j]]
            n += 1


@jit
def keep_closed(own, own_table, links, inertia, room, chosen, Z, pull):
    """Take from rows of Z, which are H^-1 of something, what would move loops. room: of `Loops`, with J in it; pull (rows of
    loops): what the loops put on the joints for it, added up."""
    J_all, _, W, _, _, give = room
    m = J_all.shape[0]
    right, y = np.zeros(m), np.zeros(m)
    J = np.zeros((m, Z.shape[1]))
    for k in range(m):
        take(J_all[k], links, links.places, chosen, J[k])
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
            W[k, k] += give[k]
        solve_by_largest_pivots(W, right, y, np.ones(m))
        for k in range(m):
            pull[k] += y[k]
            for i in range(Z.shape[1]):
                Z[row, i] += Z_l[k, i] * y[k]


@jit
def products(J, Z, R):
    """R = J Z^T, row by row; it is symmetric. What rounding has left of motions that loops do not allow is dropped."""
    n = J.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(J.shape[1]):
                total += J[i, k] * Z[j, k]
            R[i * n + j] = R[j * n + i] = total
    drop_rounding(R, n)


class JointAnswers:
    """Answers in joint coordinates, of an integrator whose joints have the velocities of the step's end, and the places and
    factors of its beginning; its bodies are brought along. Small functions are called one by one: compiled into one, they would
    be compiled once more for each of the ways to factors and loops."""

    carried, scale, turning, whole = 1.0, 0.0, False, False

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
        joints, speeds = flat([np.r_[field] for field in x]), flat([np.r_[field] for field in qd])
        return Links(tree.parent, firsts([np.r_[field] for field in x]), joints, speeds, flat([[order[at] for at in joints]]),
                     flat([[field.start for field in J]]), own.sweep("column"), own.sweep("point"),
                     flat([[link for _, link, _ in tree.bodies]]), flat([self.integrator.touched]),
                     np.ascontiguousarray(inwards[::-1]), by_link, rest)  # fmt: skip

    def respond(self, work: np.ndarray, slots: Slots, groups: int, R: np.ndarray) -> None:
        own, (_, _, _, _, inertia, loops) = self.own, self.integrator.plan
        sweep(own.work, own.table, self.links.rest)
        if loops is not None and groups:
            find_rows(work, self.programs.table, own.work, own.table, loops, VELOCITY)
        slots.rank[:groups] = -1
        for g in range(groups):
            first, size, at = slots.first[g], slots.size[g], slots.at[g]
            block, body = R[at : at + 36 * size * size], self.bodies[slots.body_of[first]]
            if self.free[body[TREE]]:
                free_response(work, body, block)
                continue
            members = slots.body_of[first : first + size]
            chosen, J, Z = group_answers(own.work, own.table, self.links, inertia, self.bodies, members)
            if loops is not None:
                keep_closed(own.work, own.table, self.links, inertia, loops[2], chosen, Z, np.zeros(len(loops[2][3])))
            products(J, Z, block)

    def strike(self, work: np.ndarray, slots: Slots, groups: int) -> None:
        """All joints change their velocities; loops do the work of prescribed motion."""
        own, (_, _, _, _, inertia, loops), links = self.own, self.integrator.plan, self.links
        used, everything = int(slots.size[:groups].sum()), np.arange(len(links.parent))
        Z = joint_forces(own.work, own.table, links, slots.body_of[:used], slots.wrench[:used])
        answered(own.work, own.table, links, inertia, everything, Z)
        if loops is not None:
            pull = loops[2][3]
            pull[:] = 0.0
            keep_closed(own.work, own.table, links, inertia, loops[2], everything, Z, pull)
            work[DONE] += power(work, loops)
        own.work[links.joints] = Z[0]
        sweep(own.work, own.table, own.sweep("strike"))
