"""Constraints in implicit steps: pointer 1 the node, 2 and 3 (and more) its bodies. The equations are at the head of
`implicit_bodies`."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.kernels import single_iteration
from linkwork.kernels.implicit_blocks import add_blocks, add_own_blocks, shifted_views
from linkwork.kernels.implicit_bodies import AGAIN, BEGIN, DRAW, FIRM, MOMENT
from linkwork.kernels.node import NodeKind
from linkwork.kernels.node_kernels import own_block
from linkwork.kernels.vocabulary import Iteration
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import ASIDE, POSITION, VELOCITY, Rows
from linkwork.symbolic.views import derivatives, load_global, note_worst, positive_part
from linkwork.symbolic.vocabulary import Moment


def rows_kernel(node: NodeKind, what: Iteration, bodies_first: tuple[bool, ...], exact: bool, soft: bool) -> Kernel:
    """Right-hand side and blocks (behind the bodies) of an iteration."""

    def write(trace: Trace) -> None:
        views = node.views(trace, MOMENT[what])
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
        if part.kind.meets and size == len(part.kind.levels) and all(kind is RIGID for kind in node.kinds):
            extended = SX(node.size, 6)
            extended[start : start + 3, :] = blocks.skew(rows.residual[start : start + 3]) @ views[a].spin().jacobian
            found[a] = found[a] + extended
        start += size
    return found


def _slopes(trace: Trace, node: NodeKind, rows: Rows, what: Iteration) -> list[SX]:
    """How residuals answer to displacements divided by the step: J, and for velocity rows what the place adds to it."""
    views = shifted_views(trace, node.kinds, what)
    residual = node.rows_between(trace, views, load_global(trace, "time")).residual
    [(_, by_shift, by_kick)] = derivatives([residual], [view for view in views if view is not None])
    moving, found, offset = by_kick + load_global(trace, "step") * by_shift, [], 0
    for J in rows.jacobians:
        own = moving[:, offset : offset + J.shape[1]]
        found.append(ca.vertcat(*[own[k, :] if level == VELOCITY else J[k, :] for k, level in enumerate(rows.levels)]))
        offset += J.shape[1]
    return found


def geometric_kernel(node: NodeKind, start: int, x: int, turned: tuple[bool, ...], exact: bool) -> Kernel:
    """Adds h d(J^T y)/dq to the bodies, with the y of the last iteration at x and parameters from `start` on; behind the
    bodies: the blocks between them, a pair of moving ones after another; `turned`: the second of a pair is eliminated first."""

    def write(trace: Trace) -> None:
        y, h = trace.load(1, x, node.size), load_global(trace, "step")
        if exact:
            views = shifted_views(trace, node.kinds, AGAIN)
            rows = node.rows_between(trace, views, load_global(trace, "time"), start)
            moving = [view for view in views if view is not None]
            pulls = ca.vertcat(*[J.T @ y for J, view in zip(rows.jacobians, views, strict=True) if view is not None])
            [(_, by_shift, _)] = derivatives([pulls], moving)
            add_blocks(trace, node.kinds, h * by_shift, turned, exact)
        else:
            add_own_blocks(trace, node.kinds, h * _restoring(trace, node, y, start), exact)

    return Kernel(f"implicit|{node.key}|geometric|{start}|{x}|{turned}|{exact}", write)


def copy_kernel(size: int, source: int, target: int) -> Kernel:
    """Pointer 1 a node: one of its fields becomes another."""

    def write(trace: Trace) -> None:
        trace.store(1, target, trace.load(1, source, size))

    return Kernel(f"implicit|copy|{size}|{source}|{target}", write, joining=Joining.SMALL)


def firm_kernel(node: NodeKind, start: int, x: int) -> Kernel:
    """Adds h d(J^T y)/dq to the bodies at the beginning of a step, the part of each pull's that is positive semidefinite."""

    def write(trace: Trace) -> None:
        views = node.views(trace, MOMENT[FIRM])
        tape, found, _, _ = single_iteration.pulls(trace, node, views, trace.load(1, x, node.size), start)
        total = [SX(size, size) for size in (view.kind.nv if view else 0 for view in views)]
        for body, spin, r, mu in found:
            turn = load_global(trace, "step") * (spin @ views[body].v)  # a pull gives no more torque however far its arm turns
            total[body] += spin.T @ single_iteration.restoring(r, mu) @ spin / (1 + ca.sumsqr(turn))
        add_own_blocks(trace, node.kinds, load_global(trace, "step") * ca.diagcat(*tape.resolve(total)), False)

    return Kernel(f"implicit|{node.key}|geometric-firm|{start}|{x}", write)


def _restoring(trace: Trace, node: NodeKind, y: SX, start: int) -> SX:
    """The symmetric part of the geometric stiffness of every pull at the end of an arm, raised until it is positive
    semidefinite; what couples the arms is left out."""
    views = node.views(trace, Moment.END)
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
        total[entry.body] += spin.T @ positive_part(arm, mu) @ spin
    return ca.diagcat(*tape.resolve(total))
