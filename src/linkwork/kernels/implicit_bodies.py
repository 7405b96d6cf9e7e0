"""Kernels of implicit steps: backward Euler with positions on the constraints (hernandez11,
corrected: docs/papers-errata.md, section 1).

An iteration asks for displacements, divided by the step h, that make the linearised equations hold at the end of the step:

    first, at (q0, v0):   (M + h D + h^2 K) x + J^T y = M v0 + h f + h D v0            J x = -C(q0, t1) / h
    firm, at (q0, v0):    (M + h D + h^2 K + h G) x + J^T y = M v0 + h f + h D v0      J x = -(C(q0, t1) - C(q0, t0)) / h
    draw, at (q1, v1):    (M + h D + h^2 K) x + J^T y = 0                              J x = -C(q1, t1)
    again, at (q1, v1):   (M + h D + h^2 K + h G) x + J^T y = h f - (change of momentum)   J x = -C(q1, t1) / h

D = -df/dv, K = -df/dq, G the derivative of J^T y (geometric stiffness), y minus the impulses of the constraints. v1 is the
velocity with which q1 is reached from q0. *Exact* tangents are derived; *symmetric* ones are written by the laws (positive
semidefinite where they can be), without what gyroscopic forces add.

The iterate is the stage "next" of a body (q1, v1), the start of the step its stage "now"; R belongs to the iterate. The first
iteration is at the start, and counts the turns up to there.
"""

from __future__ import annotations

from itertools import combinations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.kernels import single_iteration
from linkwork.kernels.node import ForceKind, NodeKind, load_parameters, own_block
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import ASIDE, POSITION, VELOCITY, Rows, Tape
from linkwork.symbolic.views import Shifted, View, derivatives, load_global, note_worst, raised

BEGIN, AGAIN, FIRM, DRAW = "begin", "again", "firm", "draw"
STAGE = {BEGIN: "now", FIRM: "now", DRAW: "now", AGAIN: "next"}
TANGENT = 27  # numbers of a tangent on a rigid body: h D + h^2 K (6, 6) as a lower triangle, h K v (6,)

# -- bodies: pointer 1 -------------------------------------------------------------------------------------------------


def body_kernel(kind: BodyKind, what: str, exact: bool = False) -> Kernel:
    """begin, firm, draw, again (front of an iteration), advance-once (the only iteration of a step), advance-firm (of one
    with a second solve), advance-first, advance, shift (by what x has been set to), place-firm, lag, reach, accept, retry."""
    write = {BEGIN: _begin, FIRM: _firm, DRAW: _draw, AGAIN: _again, "advance-once": _advance_once,
             "advance-firm": _advance_firm, "advance-first": _advance_first, "advance": _advance, "shift": _shift,
             "place-firm": _place, "lag": _lag, "reach": _reach, "accept": _accept, "retry": _retry}[what]  # fmt: skip
    name = f"implicit|{kind.key}|{what}|{exact}"
    return Kernel(name, lambda trace: write(trace, kind, exact), joining=Joining.SMALL)


def _store(trace: Trace, kind: BodyKind, **results) -> None:
    for name, value in results.items():
        trace.store(1, kind.record.offset(name), value)


def _store_front(trace: Trace, kind: BodyKind, A: SX, b: SX, exact: bool) -> None:
    _store(trace, kind, D=blocks.lower(A), b=b)
    if exact:
        _store(trace, kind, upper=blocks.upper(A))


def _begin(trace: Trace, kind: BodyKind, exact: bool) -> None:
    start, h = View(kind, trace, 1), load_global(trace, "step")
    A, b = (_exact_tangent if exact else _own_tangent)(trace, kind, start, h, load_global(trace, "gravity"))
    _store_front(trace, kind, A, b, exact)


def _draw(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """The matrix of a firm iteration, and no forces."""
    A, _ = _own_tangent(trace, kind, View(kind, trace, 1), load_global(trace, "step"), SX.zeros(3))
    _store_front(trace, kind, A, SX.zeros(kind.nv), exact)


def _firm(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """As `_begin`, without what the turning of the body itself would add to its momentum."""
    start, h = View(kind, trace, 1), load_global(trace, "step")
    A, b = _own_tangent(trace, kind, start, h, load_global(trace, "gravity"))
    _store_front(trace, kind, A, b - kind.momentum(start, h) + kind.momentum_alone(start), exact)


def _own_tangent(_trace: Trace, kind: BodyKind, start: View, h, gravity) -> tuple[SX, SX]:
    """Matrix and right-hand side of the first iteration: the mass, and the body's own forces."""
    A, b = kind.mass(start), kind.momentum(start, h) + h * kind.weight(start, gravity)
    if kind.elastic:
        stiffness, damping = kind.elasticity(start)
        A, b = A + h * damping + h * h * stiffness, b + h * damping @ start.v
    return A, b


def _exact_tangent(trace: Trace, kind: BodyKind, start: View, h, gravity) -> tuple[SX, SX]:
    """The same by derivatives, of the momentum too."""
    view = Shifted(kind, trace, 1, "now")
    asked = kind.momentum_change(view, start, h) - h * kind.weight(view, gravity)
    [(value, by_shift, by_kick)] = derivatives([asked], [view])
    return by_kick + h * by_shift, by_kick @ start.v - value


def _shaped(A: SX, exact: bool) -> SX:
    return A if exact else 0.5 * (A + A.T)


def _again(trace: Trace, kind: BodyKind, exact: bool) -> None:
    before, now, h = View(kind, trace, 1), View(kind, trace, 1, "next"), load_global(trace, "step")
    gravity = load_global(trace, "gravity")
    b = h * kind.weight(now, gravity) - kind.momentum_change(now, before, h)
    if exact:
        view = Shifted(kind, trace, 1, "next").reached(h)
        asked = kind.momentum_change(view, before, h) - h * kind.weight(view, gravity)
        [(_, by_shift, _)] = derivatives([asked], [view])
        A = h * by_shift
    else:
        A, turning = kind.mass(now), kind.restoring(now, before, gravity, h)
        A = A if turning is None else A + turning
        if kind.elastic:
            stiffness, damping = kind.elasticity(now)
            A = A + h * damping + h * h * stiffness
    _store_front(trace, kind, A, b, exact)


def _end(trace: Trace, kind: BodyKind, what: str) -> tuple[View, SX, SX]:
    """The iterate after the displacement that was found, and the velocity with which it is reached."""
    view, h = View(kind, trace, 1, STAGE[what]), load_global(trace, "step")
    start = trace.load(1, *kind.record["q"])
    q1 = kind.displaced(view, view.q, h * view.field("x"))
    return view, q1, kind.velocity_between(view, start, q1, h)


def _advance_once(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """Exact tangents have found the velocity at the end; symmetric ones the momentum, with the mass of the beginning."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    x = view.field("x")
    q1 = kind.displaced(view, view.q, h * x)
    v1 = kind.velocity_after(view, view.q, q1, x, h)
    _store(trace, kind, q=q1, v=v1 if exact else kind.carried(view, view.q, q1, v1, h), R=kind.pose(q1))


def _advance_firm(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """As `_advance_once`, with no kinetic energy from the body's own turning; where that leads is kept, and what backward Euler
    loses of energy, twice: the square of the change of velocity (first entry of qm)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    x = view.field("x")
    q1 = kind.displaced(view, view.q, h * x)
    v1 = kind.calmed(view, view.q, q1, kind.velocity_after(view, view.q, q1, x, h), h)
    _store(trace, kind, q=q1, v=v1, R=kind.pose(q1), q1=q1)
    trace.store(1, kind.record.offset("qm"), ca.bilin(kind.mass(view), x - view.v, x - view.v))


def _lag(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """How fast a body was put from where its velocity led (v1); the kinetic energy, twice, that this has in common with its
    velocity (first entry of v0), and by itself (of vm); the work against gravity of being put there (of x), and the kinetic
    energy of the velocity, twice (of q1)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    back = kind.velocity_between(view, trace.load(1, *kind.record["q1"]), view.q, h)
    momentum = kind.mass(view) @ back
    _store(trace, kind, v1=back)
    trace.store(1, kind.record.offset("v0"), ca.dot(momentum, view.v))
    trace.store(1, kind.record.offset("vm"), ca.dot(momentum, back))
    trace.store(1, kind.record.offset("x"), -h * ca.dot(kind.weight(view, load_global(trace, "gravity")), back))
    trace.store(1, kind.record.offset("q1"), ca.bilin(kind.mass(view), view.v, view.v))


def _reach(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """The squares, in the norm of the mass, of a displacement in x (first entry of v0) and of the way of the step (of vm)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    M, x = kind.mass(view), view.field("x")
    trace.store(1, kind.record.offset("v0"), ca.bilin(M, x, x))
    trace.store(1, kind.record.offset("vm"), h * h * ca.bilin(M, view.v, view.v))


def _place(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """A displacement that takes no time: the body keeps its momentum, and spins on as it is turned."""
    view = View(kind, trace, 1)
    q1 = kind.displaced(view, view.q, view.field("x"))
    _store(trace, kind, q=q1, v=kind.turned_velocity(view, view.q, q1), R=kind.pose(q1))


def _advance_first(trace: Trace, kind: BodyKind, exact: bool) -> None:
    _, q1, v1 = _end(trace, kind, BEGIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))


def _shift(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """A displacement of the iterate that nobody asked for."""
    _, q1, v1 = _end(trace, kind, AGAIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))


def _advance(trace: Trace, kind: BodyKind, exact: bool) -> None:
    view, q1, v1 = _end(trace, kind, AGAIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))
    note_worst(trace, load_global(trace, "step") * view.field("x"))


def _accept(trace: Trace, kind: BodyKind, exact: bool) -> None:
    view = View(kind, trace, 1, "next")
    _store(trace, kind, q=view.q, v=view.v)


def _retry(trace: Trace, kind: BodyKind, exact: bool) -> None:
    _store(trace, kind, R=kind.pose(View(kind, trace, 1).q))


# -- constraint nodes: pointer 1 the node, 2 and 3 (and more) its bodies ---------------------------------------------------


def rows_kernel(node: NodeKind, what: str, bodies_first: tuple[bool, ...], exact: bool, soft: bool) -> Kernel:
    """Right-hand side and blocks (behind the bodies) of an iteration."""

    def write(trace: Trace) -> None:
        views = node.views(trace, STAGE[what])
        rows = node.rows_between(trace, views, load_global(trace, "time"))
        h, time, first = load_global(trace, "step"), load_global(trace, "time"), what != AGAIN
        if what in (BEGIN, FIRM) and node.counters:
            node.count(trace)
        pairs = zip(rows.jacobians, views, strict=True)
        carried = sum((J @ view.v for J, view in pairs if view), SX(node.size, 1)) if first else SX(node.size, 1)
        asked = rows.residual / h
        if what == FIRM:  # motion that time alone asks for; what has come apart is drawn in after the step
            asked = (rows.residual - ca.substitute(rows.residual, time, time - h)) / h
        off = [rows.residual[k] - carried[k] if level == VELOCITY else asked[k] for k, level in enumerate(rows.levels)]
        if what == DRAW:  # displacements, that take no time
            off = [rows.residual[k] if level == POSITION else SX(0) for k, level in enumerate(rows.levels)]
        left = list(off)
        for k, rotor in rows.rotors.items():
            if what == DRAW:
                off[k] = SX(0)
            elif first:
                off[k] = -rows.rate[k]
                trace.store(1, rotor.speed_at, rows.rate[k])
                trace.store(1, rotor.angle_at, rows.residual[k])
            else:  # its speed at the end is that at the beginning and what the multiplier makes of it
                off[k] = (rows.residual[k] - rotor.angle) / h - rotor.speed
                left[k] = off[k] - trace.load(1, node.record.offset("x") + k, 1) / rotor.inertia
        trace.store(1, node.record.offset("D"), own_block(trace, node, rows, views, soft))
        trace.store(1, node.record.offset("b"), -ca.vertcat(*off))
        if exact:
            trace.store(1, node.record.offset("upper"), SX.zeros(blocks.triangle_size(node.size - 1)))
        jacobians = _met(node, rows, views) if what == BEGIN and not exact else rows.jacobians
        slopes = _slopes(trace, node, rows, what) if exact and node.moving_rows else jacobians
        for k, (J, slope, before) in enumerate(zip(jacobians, slopes, bodies_first, strict=True)):
            if node.kinds[k] is not None:
                block, mirror = (J.T, slope.T) if before else (slope, J)
                trace.store(node.behind + k, 0, block)
                if exact:
                    trace.store(node.behind + k, block.shape[0] * block.shape[1], mirror)
        if what == AGAIN:
            note_worst(trace, h * ca.vertcat(*left))

    return Kernel(f"implicit|{node.key}|{what}|{bodies_first}|{exact}|{soft}", write)


def _met(node: NodeKind, rows: Rows, views) -> list[SX]:
    """J with both bodies taken hold of at one point, that of b, where a joint has come apart: a single iteration then keeps
    angular momentum. What that adds to J is of the order of C."""
    found, start = list(rows.jacobians), 0
    for part in node.parts:
        a, size = int(part.flipped), len(part.kept)
        if part.relation.meets and size == len(part.relation.levels) and all(kind is RIGID for kind in node.kinds):
            extended = SX(node.size, 6)
            extended[start : start + 3, :] = blocks.skew(rows.residual[start : start + 3]) @ views[a].spin().jacobian
            found[a] = found[a] + extended
        start += size
    return found


def _slopes(trace: Trace, node: NodeKind, rows: Rows, what: str) -> list[SX]:
    """How residuals answer to displacements divided by the step: J, and for velocity rows what the place adds to it."""
    views = _shifted(trace, node.kinds, what)
    residual = node.rows_between(trace, views, load_global(trace, "time")).residual
    [(_, by_shift, by_kick)] = derivatives([residual], [view for view in views if view is not None])
    moving, found, offset = by_kick + load_global(trace, "step") * by_shift, [], 0
    for J in rows.jacobians:
        own = moving[:, offset : offset + J.shape[1]]
        found.append(ca.vertcat(*[own[k, :] if level == VELOCITY else J[k, :] for k, level in enumerate(rows.levels)]))
        offset += J.shape[1]
    return found


def _shifted(trace: Trace, kinds, what: str, follow: bool = True) -> list[Shifted | None]:
    """Bodies at pointers 2, 3, ... that can be displaced; but for the first iteration their velocities may follow."""
    views = [None if kind is None else Shifted(kind, trace, 2 + k, STAGE[what]) for k, kind in enumerate(kinds)]
    if what != AGAIN or not follow:
        return list(views)
    return [None if view is None else view.reached(load_global(trace, "step")) for view in views]


def geometric_kernel(node: NodeKind, start: int, x: int, turned: tuple[bool, ...], exact: bool) -> Kernel:
    """Adds h d(J^T y)/dq to the bodies, with the y of the last iteration at x and parameters from `start` on; behind the
    bodies: the blocks between them, a pair of moving ones after another; `turned`: the second of a pair is eliminated first."""

    def write(trace: Trace) -> None:
        y, h = trace.load(1, x, node.size), load_global(trace, "step")
        if exact:
            views = _shifted(trace, node.kinds, AGAIN)
            rows = node.rows_between(trace, views, load_global(trace, "time"), start)
            moving = [view for view in views if view is not None]
            pulls = ca.vertcat(*[J.T @ y for J, view in zip(rows.jacobians, views, strict=True) if view is not None])
            [(_, by_shift, _)] = derivatives([pulls], moving)
            _add(trace, node.kinds, h * by_shift, turned, exact)
        else:
            _add_own(trace, node.kinds, h * _restoring(trace, node, y, start), exact)

    return Kernel(f"implicit|{node.key}|geometric|{start}|{x}|{turned}|{exact}", write)


def copy_kernel(size: int, source: int, target: int) -> Kernel:
    """Pointer 1 a node: one of its fields becomes another."""

    def write(trace: Trace) -> None:
        trace.store(1, target, trace.load(1, source, size))

    return Kernel(f"implicit|copy|{size}|{source}|{target}", write, joining=Joining.SMALL)


def firm_kernel(node: NodeKind, start: int, x: int) -> Kernel:
    """Adds h d(J^T y)/dq to the bodies at the beginning of a step, the part of each pull's that is positive semidefinite."""

    def write(trace: Trace) -> None:
        views = node.views(trace, STAGE[FIRM])
        tape, found, _, _ = single_iteration.pulls(trace, node, views, trace.load(1, x, node.size), start)
        total = [SX(size, size) for size in (view.kind.nv if view else 0 for view in views)]
        for body, spin, r, mu in found:
            turn = load_global(trace, "step") * (spin @ views[body].v)  # a pull gives no more torque however far its arm turns
            total[body] += spin.T @ single_iteration.restoring(r, mu) @ spin / (1 + ca.sumsqr(turn))
        _add_own(trace, node.kinds, load_global(trace, "step") * ca.diagcat(*tape.resolve(total)), False)

    return Kernel(f"implicit|{node.key}|geometric-firm|{start}|{x}", write)


def _restoring(trace: Trace, node: NodeKind, y: SX, start: int) -> SX:
    """The symmetric part of the geometric stiffness of every pull at the end of an arm, raised until it is positive
    semidefinite; what couples the arms is left out."""
    views = node.views(trace, "next")
    tape, rows = node.tape_of_rows(trace, views, load_global(trace, "time"), start)
    slopes = [ca.jacobian(row, tape.rates if level == VELOCITY else tape.values) for level, row in rows]
    pulls = ca.vertcat(*slopes).T @ y
    sizes = [view.kind.nv if view else 0 for view in views]
    total = [SX(size, size) for size in sizes]
    for k, entry in enumerate(tape.entries):
        view = None if entry.body == ASIDE else views[entry.body]
        if view is None or not view.kind.directions or view.kind.elastic or entry.primitive.value.shape[0] == 0:
            continue
        spin, mu = view.spin().jacobian, pulls[3 * k : 3 * k + 3]
        arm = single_iteration.spin_arm(entry.primitive.jacobian, spin)
        total[entry.body] += spin.T @ raised(arm, mu) @ spin
    return ca.diagcat(*tape.resolve(total))


# -- forces: pointer 1 the force, 2 and 3 (and more) its bodies, behind these the blocks between them -------------------------


def force_kernel(force: ForceKind, what: str, turned: tuple[bool, ...], exact: bool) -> Kernel:
    """Adds the force and its tangent; `turned`: of each pair of moving bodies, whether the second is eliminated first."""

    def write(trace: Trace) -> None:
        h = load_global(trace, "step")
        f, K, D = linearised(trace, force, what, exact)
        right = SX.zeros(f.shape[0]) if what == DRAW else h * f
        if what in (BEGIN, FIRM):
            v = ca.vertcat(*[View(kind, trace, 2 + k).v for k, kind in enumerate(force.kinds) if kind])
            right += h * D @ v
            force.count(trace, force.parameters_of(trace))
        offset = 0
        for k, kind in enumerate(force.kinds):
            if kind is not None:
                where, size = kind.record["b"]
                trace.store(2 + k, where, trace.load(2 + k, where, size) + right[offset : offset + size])
                offset += size
        _add(trace, force.kinds, _shaped(h * D + h * h * K, exact), turned, exact)

    return Kernel(f"implicit|{force.key}|{what}|{turned}|{exact}", write)


def turning_kernel(force: ForceKind, what: str, child: int, held: int, joint: ConstraintKind | None, start: int) -> Kernel:
    """Adds the torque of a force that depends on how its bodies are turned alone, and its tangent, to what holds the turn at
    a limb's joint (pointer 4: A and t from `held` on). `child`: which of its bodies the limb's child is. `joint`: the joint
    that the force belongs to, whose numbers begin at `start`: the force has the same, and takes these."""

    def write(trace: Trace) -> None:
        h, p = load_global(trace, "step"), force.parameters_of(trace)
        if joint is not None:
            p |= {name: x for name, x in load_parameters(trace, 4, start, joint).items() if x.shape == p.get(name, SX()).shape}
        views = [View(kind, trace, 2 + k, STAGE[what]) for k, kind in enumerate(force.kinds) if kind is not None]
        tape = Tape(views, load_global(trace, "time"))
        loads, _ = force.law.law(tape.handles, p, tape.time)
        t, A = h * sum((torque for number, _, _, torque in loads if number == 1), SX(3, 1)), SX(3, 3)
        for term in force.law.terms(tape.handles, p, tape.time) or ():
            W = sum((weight for number, _, _, weight in term.motion if number == 1), SX(term.stiffness.shape[0], 3))
            A += W.T @ (h * term.damping + h * h * term.stiffness) @ W
            if what in (BEGIN, FIRM):
                t += h * W.T @ (term.damping @ (W @ (tape.handles[1].spin() - tape.handles[0].spin())))
        A, t = tape.resolve([A, SX(3, 1) if what == DRAW else t])
        _add_to(trace, 4, held, ca.vertcat(blocks.lower(A), t if child == 1 else -t))
        if what in (BEGIN, FIRM):
            force.count(trace, p)

    name = f"implicit|{force.key}|{what}|turning|{child}|{held}|{joint.key if joint else None}|{start}"
    return Kernel(name, write, joining=Joining.SMALL)


def holding_kernel(force: ForceKind, child: int) -> Kernel:
    """Pointer 4: `TANGENT` of a force at a joint, by what the body `child` does relative to the other."""

    def write(trace: Trace) -> None:
        h = load_global(trace, "step")
        _, K, D = linearised(trace, force, BEGIN, False)
        v = ca.vertcat(*[View(kind, trace, 2 + k).v for k, kind in enumerate(force.kinds) if kind])
        before = sum(kind.nv for kind in force.kinds[:child] if kind)
        own = slice(before, before + RIGID.nv)
        A = _shaped(h * D + h * h * K, False)
        trace.store(4, 0, ca.vertcat(blocks.lower(A[own, own]), (h * K @ v)[own]))

    return Kernel(f"implicit|{force.key}|holding|{child}", write)


def linearised(trace: Trace, force: ForceKind, what: str, exact: bool) -> tuple[SX, SX, SX]:
    """Generalised forces on the moving bodies, -df/dq and -df/dv (none where exact tangents have velocities follow)."""
    views = [None if kind is None else View(kind, trace, 2 + k, STAGE[what]) for k, kind in enumerate(force.kinds)]
    if not exact:
        tape = Tape(views, load_global(trace, "time"))
        terms = force.law.terms(tape.handles, force.parameters_of(trace), tape.time)
        if terms is not None:
            f = ca.vertcat(*[x for x in force.loads(trace, views) if x is not None])
            return f, *_summed(tape, views, terms)
    shifted = _shifted(trace, force.kinds, what, follow=exact)
    loads = ca.vertcat(*[x for x in force.loads(trace, shifted) if x is not None])
    [(f, by_shift, by_kick)] = derivatives([loads], [view for view in shifted if view is not None])
    if what in (FIRM, DRAW):
        masses = [ca.diag(view.kind.mass(view)) for view in views if view is not None]
        return f, single_iteration.raised(-by_shift, masses), single_iteration.raised(-by_kick, masses)
    return f, -by_shift, -by_kick


def _summed(tape: Tape, views, terms) -> tuple[SX, SX]:
    """Stiffness and damping of all terms on the moving bodies."""
    size = sum(view.kind.nv for view in views if view)
    K, D = SX(size, size), SX(size, size)
    for term in terms:
        columns = []
        for body, view in enumerate(views):
            if view is None:
                continue
            B = SX(term.stiffness.shape[0], view.kind.nv)
            for number, what, where, weight in term.motion:
                if number == body:
                    B += weight @ tape.entry(number, view, what, where).primitive.jacobian
            columns.append(B)
        B = ca.horzcat(*columns)
        K += B.T @ term.stiffness @ B
        D += B.T @ term.damping @ B
    K, D = tape.resolve([K, D])
    return K, D


def _add(trace: Trace, kinds, A: SX, turned: tuple[bool, ...], exact: bool) -> None:
    """Add a matrix on bodies to their blocks: pointers 2, 3, ..., and behind these the ones between pairs of moving bodies, of
    the first with the second, or the other way round where they are turned."""
    parts = _add_own(trace, kinds, A, exact)
    for k, (pair, back) in enumerate(zip(combinations(parts, 2), turned, strict=False)):
        one, other = pair[::-1] if back else pair
        pointer = 2 + len(kinds) + k
        _add_to(trace, pointer, 0, ca.reshape(A[one, other].T, -1, 1))
        if exact:
            _add_to(trace, pointer, (one.stop - one.start) * (other.stop - other.start), ca.reshape(A[other, one], -1, 1))


def _add_own(trace: Trace, kinds, A: SX, exact: bool) -> list[slice]:
    """Add the diagonal blocks of a matrix on bodies to these; returns which part of it each has."""
    parts, offset = [], 0
    for pointer, kind in enumerate(kinds, start=2):
        if kind is not None:
            own = slice(offset, offset := offset + kind.nv)
            parts.append(own)
            _add_to(trace, pointer, kind.record.offset("D"), blocks.lower(A[own, own]))
            if exact:
                _add_to(trace, pointer, kind.record.offset("upper"), blocks.upper(A[own, own]))
    return parts


def _add_to(trace: Trace, pointer: int, offset: int, values: SX) -> None:
    values = ca.densify(values)
    trace.store(pointer, offset, trace.load(pointer, offset, values.shape[0]) + values)
