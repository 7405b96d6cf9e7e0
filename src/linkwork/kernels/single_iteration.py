"""Kernels of the second solve of a step of one iteration ("firm"), and of what tells that it is needed.

A linear step leaves out how the pulls of constraints turn with their bodies, h^2 times the geometric stiffness, and the
curvature of the motion, (h w)^2 / 2 of a length. `strain_kernel` measures both after the first solve, in
parts of what a linear step bears. The second solve has the geometric stiffness of the multipliers that the first one found, the
part of it that is positive semidefinite; `joining_kernel` then puts a body where its joint to its parent has it.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.joint_kind import JointKind
from linkwork.kernels.node import NodeKind
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import ASIDE, POSITION, VELOCITY
from linkwork.symbolic.blocks import cross
from linkwork.symbolic.views import load_global, note_worst
from linkwork.symbolic.vocabulary import Moment

TURN = 0.1  # rad: how far the arm of a pull may turn in a linear step
APART = 2.5e-3  # m: how far joints may come apart by that
TAUT = 1.0  # h^2 times the geometric stiffness of a pull, over the inertia that it turns; an explicit step diverges from 4 on
TINY = 1e-300


def restoring(r: SX, mu: SX) -> SX:
    """The positive semidefinite part of the symmetric part of d(r x mu)/d(turn) = r mu^T - (r.mu) 1. Its eigenvalues are
    (a - c)/2 along r/|r| + mu/|mu|, -(a + c)/2 along r/|r| - mu/|mu| and -c across both, with c = r.mu and a = |r||mu|."""
    c, a = ca.dot(r, mu), ca.sqrt(ca.sumsqr(r) * ca.sumsqr(mu)) + TINY
    unit_r, unit_mu = r / ca.sqrt(ca.sumsqr(r) + TINY), mu / ca.sqrt(ca.sumsqr(mu) + TINY)
    plus, minus = unit_r + unit_mu, unit_r - unit_mu
    pressed = 0.25 * a * (a - c) / (a + ca.fabs(c)) * (plus @ plus.T)  # where c > 0: a + |c| = a |plus|^2 / 2
    pulled = 0.5 * (r @ mu.T + mu @ r.T) - c * SX.eye(3) + 0.25 * a * (a + c) / (a + ca.fabs(c)) * (minus @ minus.T)
    return ca.if_else(c > 0, pressed, pulled)


def pulls(trace: Trace, node: NodeKind, views, y: SX, start: int):
    """(body, its spin's Jacobian, arm, pull) of every point or direction that the rows of a node hold by multipliers y, as
    expressions on a tape; the tape before them, and after them which are points, and the joint's position rows."""
    tape, rows = node.tape_of_rows(trace, views, load_global(trace, "time"), start)
    off, first = [], 0  # of joints that can be put together alone: rows of motions ask for places that are yet to come
    for k, part in enumerate(node.parts):
        if k == joint_of(node):
            off = [row for level, row in rows[first : first + len(part.kept)] if level == POSITION]
        first += len(part.kept)
    slopes = [ca.jacobian(row, tape.rates if level == VELOCITY else tape.values) for level, row in rows]
    pulled, found, points = ca.vertcat(*slopes).T @ y, [], []
    for k, entry in enumerate(tape.entries):
        view = None if entry.body == ASIDE else views[entry.body]
        if view is None or not view.kind.directions or view.kind.elastic or entry.primitive.value.shape[0] == 0:
            continue
        spin = view.spin().jacobian
        found.append((entry.body, spin, spin_arm(entry.primitive.jacobian, spin), pulled[3 * k : 3 * k + 3]))
        points.append(entry.primitive.jacobian[:, 0:3].nnz() > 0)
    return tape, found, points, off


def spin_arm(jacobian: SX, spin: SX) -> SX:
    """r where the spinning part of a point's or direction's Jacobian is w -> w x r."""
    turning = jacobian @ spin.T  # (3, 3), -[r]x for a body that turns freely
    twice = ca.vertcat(turning[1, 2] - turning[2, 1], turning[2, 0] - turning[0, 2], turning[0, 1] - turning[1, 0])
    return twice / (2 if spin.nnz() == 3 else 1)  # a planar body turns about one axis


def strain_kernel(node: NodeKind, start: int, x: int) -> Kernel:
    """Pointer 1 a node, 2 and more its bodies: how far the arms of its pulls would turn in the step, over TURN, how far their
    ends miss a circle, over APART, and h |r||mu| over the inertia across the arm r, over TAUT; and how far a joint is apart
    already, over APART, since linear steps one after another may open it further. `start`: of its parameters; x: of its
    multipliers, which are impulses."""

    def write(trace: Trace) -> None:
        views = node.views(trace, Moment.NOW)
        tape, found, points, off = pulls(trace, node, views, trace.load(1, x, node.size), start)
        h, measures = load_global(trace, "step"), []
        if POSITION in node.levels and any(view is not None and not view.kind.directions for view in views):
            measures.append(SX(2))  # points have no arms to compare with
        measures += [ca.fabs(row) / APART for row in off]
        for k, (body, spin, r, mu) in enumerate(found):
            view = views[body]
            if view.kind is RIGID and points[k]:
                r = r - RIGID.rotation(view) @ view.field(
                    "com"
                )  # wherever the origin lies, the centre of mass moves straight on
            square = ca.sumsqr(r) + TINY
            across = view.kind.inertia_across(view, r) + TINY
            measures.append(h / TAUT * ca.sqrt(ca.sumsqr(mu) * square) * square / across)
            turned = cross(spin @ view.field("x"), r)
            measures.append(h / TURN * ca.sqrt(ca.sumsqr(turned) / square))
            measures.append(0.5 * h * h / APART * ca.sumsqr(turned) / ca.sqrt(square))
        if measures:
            note_worst(trace, ca.vertcat(*tape.resolve(measures)))

    return Kernel(f"implicit|{node.key}|strain|{start}|{x}", write)


def summed_kernel(size: int, x: int, kept: int) -> Kernel:
    """Pointer 1 a node: the multipliers of a projection at x, which takes no time, over the step, are added to those that were
    kept, and both become the sum: the impulses of the whole step."""

    def write(trace: Trace) -> None:
        total = trace.load(1, kept, size) + trace.load(1, x, size) / load_global(trace, "step")
        trace.store(1, kept, total)
        trace.store(1, x, total)

    return Kernel(f"implicit|summed|{size}|{x}|{kept}", write, joining=Joining.SMALL)


def joint_of(node: NodeKind) -> int | None:
    """Which part of a node is a joint that says where a rigid body is, given its parent and its turn; None if none is."""
    if len(node.kinds) != 2 or any(kind is not None and kind is not RIGID for kind in node.kinds):
        return None
    whole = [
        k
        for k, part in enumerate(node.parts)
        if isinstance(part.kind, JointKind) and part.kind.meets and len(part.kept) == len(part.kind.levels)
    ]
    return whole[0] if whole else None


def joining_kernel(node: NodeKind, part: int, child: int, start: int) -> Kernel:
    """Pointer 1 a node, 2 and 3 its bodies: the body `child` (0 or 1) is turned as little as its joint asks for, and moved to
    where it meets the other."""

    def write(trace: Trace) -> None:
        joint, p = node.parts[part], node.parameters_of(trace, start)[part]
        views = joint.arranged(node.views(trace, Moment.NOW))
        own = joint.order.index(child)
        places = [(SX(3, 1), SX.eye(3)) if v is None else (v.q[0:3], RIGID.rotation(v)) for v in views]
        q = views[own].q[3:7]
        assert isinstance(joint.kind, JointKind)
        (_, Ra), (_, Rb) = places
        turn = joint.kind.least_turn(Ra, Rb, p, own)
        if turn is not None:
            q = rotation.normalised(rotation.product(turn, q))
        x, R = places[1 - own]
        anchors = p["on_a"], p["on_b"]
        placed = ca.vertcat(x + R @ anchors[1 - own] - rotation.matrix(q) @ anchors[own], q)
        trace.store(2 + child, RIGID.record.offset("q"), placed)
        if turn is not None:
            trace.store(2 + child, RIGID.record.offset("v"), RIGID.turned_velocity(views[own], views[own].q, placed))
        trace.store(2 + child, RIGID.record.offset("R"), RIGID.pose(placed))

    return Kernel(f"implicit|{node.key}|joining|{part}|{child}|{start}", write)


def positive_part(K: SX, masses: list[SX]) -> SX:
    """A symmetric matrix on bodies, raised towards a positive semidefinite one: what each body's own block lacks on its
    diagonal, in coordinates of unit masses (Gershgorin), is added there; for several bodies as springs and dampers between
    the first and each other one, so that forces between bodies stay such. `masses`: the diagonal of each body's mass."""
    K, starts = 0.5 * (K + K.T), [0]
    for own in masses:
        starts.append(starts[-1] + own.shape[0])
    lacks = [_lacking(K[a:b, a:b], own) for a, b, own in zip(starts, starts[1:], masses, strict=False)]
    if len(lacks) == 1:
        return K + ca.diag(lacks[0])
    for k, own in enumerate(lacks[1:], start=1):
        size = min(own.shape[0], lacks[0].shape[0])
        for i in range(size):
            more = ca.fmax(own[i], lacks[0][i])
            at, other = i, starts[k] + i
            K[at, at] += more
            K[other, other] += more
            K[at, other] -= more
            K[other, at] -= more
    return K


def _lacking(K: SX, masses: SX) -> SX:
    """How much the diagonal is below what the rest of its rows asks for."""
    scale, size, found = ca.sqrt(masses + TINY), K.shape[0], []
    for i in range(size):
        beside = sum((ca.fabs(K[i, j]) * scale[i] / scale[j] for j in range(size) if j != i), SX(0))
        found.append(ca.fmax(beside - K[i, i], 0))
    return ca.vertcat(*found)
