"""Kernels of constraint nodes: pointer 1 the node, 2 and 3 (and more) its bodies, behind these where its blocks or reports go.

Every kernel has a key that says all its code depends on (besides the sources); compiled code is found by it. Pointer 0 is the
record of globals.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.kernels.node import NodeKind, views_of
from linkwork.kernels.vocabulary import RowMode
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import POSITION, VELOCITY, Rows
from linkwork.symbolic.views import GLOBALS, PerturbedView, load_global
from linkwork.symbolic.vocabulary import Moment


def right_side(trace: Trace, rows: Rows, mode: RowMode) -> SX:
    """The rows' right-hand side: J x = right. That of a rotor has no residual: it is where its joint is, as fast as that; but
    at the end of a drift (`CLOSING`) it has kept its speed."""
    if rows.rotors:
        found = _right_side(trace, rows, RowMode.VELOCITY if mode == RowMode.CLOSING else mode)
        for k, rotor in rows.rotors.items():
            found[k] = {RowMode.ACCELERATION: -rows.bias[k], RowMode.CLOSING: rotor.speed - rows.rate[k]}.get(mode, SX(0))
        return found
    return _right_side(trace, rows, RowMode.VELOCITY if mode == RowMode.CLOSING else mode)


def _right_side(trace: Trace, rows: Rows, mode: RowMode) -> SX:
    holonomic = ca.vertcat(*[1.0 if level == POSITION else 0.0 for level in rows.levels])
    if mode == RowMode.ACCELERATION:  # Baumgarte feedback; velocity rows have k_d only
        k, d = load_global(trace, "stiffness"), load_global(trace, "damping")
        return -(rows.bias + d * rows.rate + k * ca.if_else(holonomic, rows.residual, 0))
    if mode == RowMode.VELOCITY:
        return -rows.rate
    if mode == RowMode.FIRST_ORDER:
        return -(rows.forcing + load_global(trace, "stiffness") * ca.if_else(holonomic, rows.residual, 0))
    if mode == RowMode.PROJECT:
        return -ca.if_else(holonomic, rows.residual, 0)
    raise ValueError(mode)


def own_block(trace: Trace, node: NodeKind, rows: Rows, views, soft: bool) -> SX:
    """The block of the rows by themselves: zero, or minus the softness times how fast unit multipliers would move them (with
    the diagonal of the bodies' masses), so that the pivot is regular whatever other rows hold; and what rotors leave."""
    if not soft and not rows.rotors:
        return SX.zeros(blocks.triangle_size(node.size))
    moved = SX.zeros(node.size, 1)
    for J, view in zip(rows.jacobians, views, strict=True):
        if soft and view is not None:
            masses = ca.diag(view.kind.mass(view))
            moved += ca.mtimes(J * J, ca.if_else(masses > 0, 1 / masses, 0))
    own = -load_global(trace, "softness") * moved
    for k, rotor in rows.rotors.items():
        own[k] -= 1 / rotor.inertia
    return blocks.lower(ca.diag(own))


def node_kernel(node: NodeKind, mode: RowMode, bodies_first: tuple[bool, ...], soft: bool) -> Kernel:
    """Assemble: the own block, right-hand side, and the blocks of J (transposed where the body is eliminated first)."""

    def write(trace: Trace) -> None:
        views = node.views(trace, Moment.NOW)
        rows = node.rows_between(trace, views, load_global(trace, "time"))
        trace.store(1, node.record.offset("D"), own_block(trace, node, rows, views, soft))
        trace.store(1, node.record.offset("b"), right_side(trace, rows, mode))
        for k, (J, first) in enumerate(zip(rows.jacobians, bodies_first, strict=True)):
            if node.kinds[k] is not None:
                trace.store(node.behind + k, 0, J.T if first else J)

    return Kernel(f"node|{node.key}|assemble-{mode}|{bodies_first}|{soft}", write)


def node_right_kernel(node: NodeKind, mode: RowMode, start: int, b: int) -> Kernel:
    """The right-hand side alone, for a record whose parameters begin at `start` and whose right-hand side is at b."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, Moment.NOW, load_global(trace, "time"), start)
        trace.store(1, b, right_side(trace, rows, mode))

    return Kernel(f"node|{node.key}|right-{mode}|{start}|{b}", write)


def position_residual(trace: Trace, node: NodeKind) -> SX:
    """Residuals of the position stage: C at the end of the drift, g in its middle."""
    residual = SX(node.size, 1)
    if POSITION in node.levels or node.rotors:
        at_end = node.write_rows(trace, Moment.END, load_global(trace, "time"))
        residual = turned(trace, at_end, node.record.offset("x"))
    if node.moving_rows:
        middle = node.write_rows(trace, Moment.MIDDLE, load_global(trace, "half"))
        merged = [middle.residual[k] if level == VELOCITY else residual[k] for k, level in enumerate(node.levels)]
        residual = ca.vertcat(*merged)
    return residual


def turned(trace: Trace, rows: Rows, x: int) -> SX:
    """Residuals at the end of a drift: those of rotors are how far their joints are ahead of them. Their speeds are brought up
    to date with the solution at x."""
    residual, h = SX(rows.residual), load_global(trace, "step")
    for k, rotor in rows.rotors.items():
        speed = rotor.speed + trace.load(1, x + k, 1) / rotor.inertia
        trace.store(1, rotor.speed_at, speed)
        residual[k] -= rotor.angle + h * speed
    return residual


def rotor_kernel(node: NodeKind, start: int) -> Kernel:
    """A step begins: rotors are where their joints are, and as fast."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, Moment.NOW, load_global(trace, "time"), start)
        for k, rotor in rows.rotors.items():
            trace.store(1, rotor.speed_at, rows.rate[k])
            trace.store(1, rotor.angle_at, rows.residual[k])

    return Kernel(f"node|{node.key}|rotor|{start}", write)


def rotor_energy_kernel(node: NodeKind, start: int) -> Kernel:
    """Add the kinetic energy of its rotors."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, Moment.NOW, load_global(trace, "time"), start)
        added = sum(0.5 * rotor.inertia * rows.rate[k] ** 2 for k, rotor in rows.rotors.items())
        trace.store(0, GLOBALS.offset("kinetic"), load_global(trace, "kinetic") + added)

    return Kernel(f"node|{node.key}|rotor energy|{start}", write)


def store_position_residual(trace: Trace, levels: list[str], residual: SX, b: int, history: int) -> None:
    """Right-hand side of a correction; the history's newest entry is the sum of all corrections of this step."""
    m, h = len(levels), load_global(trace, "step")
    right = ca.vertcat(*[-residual[k] if level == VELOCITY else -residual[k] / h for k, level in enumerate(levels)])
    trace.store(1, b, right)
    trace.store(1, history, trace.load(1, history, m) + right)
    worst = load_global(trace, "worst")
    for k, level in enumerate(levels):
        worst = ca.fmax(worst, h * ca.fabs(residual[k]) if level == VELOCITY else ca.fabs(residual[k]))
    trace.store(0, GLOBALS.offset("worst"), worst)


def position_residual_kernel(node: NodeKind) -> Kernel:
    def write(trace: Trace) -> None:
        residual = position_residual(trace, node)
        store_position_residual(trace, node.levels, residual, node.record.offset("b"), node.record.offset("history"))

    return Kernel(f"node|{node.key}|landing", write)


def predict_kernel(m: int, b: int, history: int, extrapolated: bool) -> Kernel:
    """Right-hand side of the opening kick, extrapolated through the last three steps, or zero. Pointer 1: the node."""

    def write(trace: Trace) -> None:
        r1, r2, r3 = (trace.load(1, history + k * m, m) for k in range(3))
        weights = load_global(trace, "extrapolate")
        guess = weights[0] * r1 + weights[1] * r2 + weights[2] * r3 if extrapolated else SX.zeros(m)
        trace.store(1, b, guess)
        trace.store(1, history, ca.vertcat(guess, r1, r2))

    return Kernel(f"predict|{m}|{b}|{history}|{extrapolated}", write, joining=Joining.SMALL)


def node_check_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Behind the bodies: where the residual, the rate and the forcing of the rows go."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, Moment.NOW, load_global(trace, "time"), start)
        for k, values in enumerate((rows.residual, rows.rate, rows.forcing)):
            for row in node.rotors:  # which are where and as fast as they should be
                values[row] = 0
            trace.store(node.behind, k * node.size, values)

    return Kernel(f"node|{node.key}|check|{start}", write)


def node_work_kernel(node: NodeKind, start: int, x: int, moment: Moment) -> Kernel:
    """Add the work of prescribed motion: the multipliers (negative, at x) times what the rows ask for, which is
    forcing = -J v; rows that are not linear in v, and aimed ones, have no such forcing, and J v is taken at `moment`."""
    linear = not node.nonlinear and not node.force_directed

    def write(trace: Trace) -> None:
        views, time = views_of(trace, node.kinds, Moment.NOW if linear else moment), load_global(trace, "half")
        if linear:
            asked = node.rows_between(trace, views, time, start).forcing
        else:
            pulls = node.pulls_between(trace, views, time, start)
            asked = -sum(pull @ view.v for pull, view in zip(pulls, views, strict=True) if view)
        power = ca.dot(trace.load(1, x, node.size), asked)
        trace.store(0, GLOBALS.offset("work"), load_global(trace, "work") + load_global(trace, "share") * power)

    return Kernel(f"node|{node.key}|work|{start}|{x}|{Moment.NOW if linear else moment}", write)


def node_defect_kernel(node: NodeKind, start: int, b: int, x: int) -> Kernel:
    """What is left of the accelerations' equations: takes J^T y from the bodies, J x from the rows; y is put aside
    (behind the bodies)."""

    def write(trace: Trace) -> None:
        views, time = node.views(trace, Moment.NOW), load_global(trace, "time")
        rows = node.rows_between(trace, views, time, start)
        pulls = node.pulls_between(trace, views, time, start) if node.force_directed else rows.jacobians
        y = trace.load(1, x, node.size)
        left = right_side(trace, rows, RowMode.ACCELERATION)
        for k, rotor in rows.rotors.items():
            left[k] += y[k] / rotor.inertia
        for k, (kind, J, pull) in enumerate(zip(node.kinds, rows.jacobians, pulls, strict=True)):
            if kind is not None:
                left -= J @ trace.load(2 + k, *kind.record["x"])
                trace.store(2 + k, kind.record.offset("b"), trace.load(2 + k, *kind.record["b"]) - pull.T @ y)
        trace.store(1, b, left)
        trace.store(node.behind, 0, y)

    return Kernel(f"node|{node.key}|defect|{start}|{b}|{x}", write)


def refine_kernel(m: int, x: int, aside: int) -> Kernel:
    """Pointer 1: a node; `aside`: its multipliers put aside, to which the correction is added."""

    def write(trace: Trace) -> None:
        trace.store(1, x, trace.load(1, x, m) + trace.load(aside, 0, m))

    return Kernel(f"mend|{m}|{x}|{aside}", write)


def node_count_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    return Kernel(f"node|{node.key}|count|{start}", lambda trace: node.count(trace, start))


def node_jacobian_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Behind the bodies: the blocks of J, one body's after another's, for reports and for checks."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, Moment.NOW, load_global(trace, "time"), start)
        offset = 0
        for J in rows.jacobians:
            trace.store(node.behind, offset, J)
            offset += J.shape[0] * J.shape[1]
        trace.store(node.behind, offset, rows.bias)

    return Kernel(f"node|{node.key}|jacobian|{start}", write)


def node_jacobian_rate_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Behind the bodies: dJ/dt, block after block, along the motion that the bodies have; velocities that rows which are not
    linear in them have in J stay as they are."""

    def write(trace: Trace) -> None:
        views = [None if kind is None else PerturbedView(kind, trace, 2 + k, Moment.NOW) for k, kind in enumerate(node.kinds)]
        moving = [view for view in views if view is not None]
        time = load_global(trace, "time")
        rows = node.rows_between(trace, views, time, start)
        by = ca.vertcat(time, *[view.shift for view in moving])
        along = ca.vertcat(1, *[trace.load(view.pointer, *view.kind.record["v"]) for view in moving])
        small = [symbol for view in moving for symbol in (view.shift, view.kick)]
        offset = 0
        for J in rows.jacobians:
            column = ca.densify(ca.reshape(J.T, -1, 1))
            if column.shape[0]:
                [rate] = ca.substitute([ca.jtimes(column, by, along)], small, [SX.zeros(x.shape) for x in small])
                trace.store(node.behind, offset, rate)
            offset += column.shape[0]

    return Kernel(f"node|{node.key}|jacobian rate|{start}", write)


def node_pulls_kernel(node: NodeKind, start: int | None = None, together: bool = False) -> Kernel:
    """How multipliers pull at the bodies, transposed. Behind the bodies: a block for each, or all of them `together`."""

    def write(trace: Trace) -> None:
        offset = 0
        for k, pull in enumerate(node.pulls_between(trace, node.views(trace, Moment.NOW), load_global(trace, "time"), start)):
            trace.store(node.behind + (0 if together else k), offset if together else 0, pull)
            offset += pull.shape[0] * pull.shape[1]

    return Kernel(f"node|{node.key}|pulls|{start}|{together}", write)
