"""Kernels of bodies, constraint nodes, forces and fronts: which records each reads and writes.

Every kernel has a key that says all its code depends on (besides the sources); compiled code is found by it.
Pointer 0 is the record of globals; the others are said kernel by kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.symbolic import blocks
from linkwork.symbolic.bodies import GLOBALS, BodyKind, View
from linkwork.symbolic.forces import Law
from linkwork.symbolic.relations import Relation, crossing
from linkwork.symbolic.tape import POSITION, Rows, Tape, derive


def load_global(trace: Trace, name: str) -> SX:
    return trace.load(0, *GLOBALS[name])


# -- bodies: pointer 1 is the body ---------------------------------------------------------------------------


def body_kernel(kind: BodyKind, what: str) -> Kernel:
    """One of the kernels below, by name."""
    return Kernel(f"body|{kind.name}|{what}", lambda trace: _BODY[what](trace, kind))


def _store(trace: Trace, kind: BodyKind, **results) -> None:
    for name, value in results.items():
        trace.store(1, kind.record.offset(name), value)


def _place(trace, kind):
    """The derived pose from the coordinates."""
    _store(trace, kind, R=kind.pose(View(kind, trace, 1).q))


def _accelerate(trace, kind):
    """Front for accelerations: the mass block, all forces of the body itself."""
    view = View(kind, trace, 1)
    force = kind.weight(view, load_global(trace, "gravity")) + kind.inertial(view)
    _store(trace, kind, D=blocks.lower(kind.mass(view)), b=force)


def _kick(trace, kind):
    """Front for impulses: the mass block, the body's forces times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, D=blocks.lower(kind.mass(view)))
    _impulse(trace, kind)


def _impulse(trace, kind):
    """Right-hand side alone: the body's forces (without inertial ones, which the flight has) times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, b=load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity")))


def _open(trace, kind):
    """A step begins: its velocity is kept in case it must be made again in smaller ones; the opening kick."""
    _store(trace, kind, v0=View(kind, trace, 1).v)
    _impulse(trace, kind)


def _retry(trace, kind):
    """Back to the beginning of the step."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v0"), R=kind.pose(view.q))


def _clear(trace, kind):
    _store(trace, kind, b=SX.zeros(kind.nv))


def _euler(trace, kind):
    """Semi-implicit Euler with the solved acceleration."""
    view = View(kind, trace, 1)
    q, v = kind.euler(view, view.field("x"), load_global(trace, "step"))
    _store(trace, kind, q=q, v=v, R=kind.pose(q))


def _euler_again(trace, kind):
    """Semi-implicit Euler, and at once the front for the accelerations of the next step."""
    view = View(kind, trace, 1)
    q, v = kind.euler(view, view.field("x"), load_global(trace, "step"))
    after = _At(view, q, v)
    force = kind.weight(after, load_global(trace, "gravity")) + kind.inertial(after)
    _store(trace, kind, q=q, v=v, R=kind.pose(q), D=blocks.lower(kind.mass(after)), b=force)


def _fly(trace, kind):
    """Add the solved change to the velocity; fly to the end of the step from where it began; ready for a correction."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    q1, v1 = kind.flight(view, v, load_global(trace, "step"))
    _store(trace, kind, v=v, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))


def _fly_halves(trace, kind):
    """The same in two halves, the middle kept: velocity rows hold there."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    half = 0.5 * load_global(trace, "step")
    qm, vm = kind.flight(view, v, half)
    middle = _At(view, qm, vm)
    q1, v1 = kind.flight(middle, vm, half)
    _store(trace, kind, v=v, qm=qm, vm=vm, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))


class _At(View):
    """A view of the same body with other coordinates and velocity."""

    def __init__(self, view: View, q: SX, v: SX):
        self.kind, self.trace, self.pointer, self.stage = view.kind, view.trace, view.pointer, "middle"
        self.q, self.v = q, v


def _start_flight(trace, kind):
    """First guess of an implicit flight: the velocity stays."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    _store(trace, kind, v=v, v1=v, b=SX.zeros(kind.nv))


def _refine_flight(trace, kind):
    """One sweep of v1 = v + h M(qm)^-1 f(qm, vm) at the middle of the flight: symmetric, second order."""
    view = View(kind, trace, 1)
    h = load_global(trace, "step")
    vm = 0.5 * (view.v + view.field("v1"))
    middle = _At(view, kind.moved(view.q, 0.5 * h * vm), vm)
    L, reciprocal = blocks.ldl(kind.mass(middle))
    change = blocks.backward(L, reciprocal * blocks.forward(L, kind.inertial(middle)))
    _store(trace, kind, v1=view.v + h * change, qm=middle.q, vm=vm)


def _end_flight(trace, kind):
    view = View(kind, trace, 1)
    q1 = kind.moved(view.q, load_global(trace, "step") * view.field("vm"))
    _store(trace, kind, q1=q1, R=kind.pose(q1))


def _land(trace, kind):
    """The end of the flight becomes the state; its front for the closing kick."""
    view = View(kind, trace, 1, "next")
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, q=view.q, v=view.v, D=blocks.lower(kind.mass(view)), b=force)


def _close(trace, kind):
    """v = velocity at landing + the solved change."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v1") + view.field("x"))


def _settle(trace, kind):
    """Right-hand side of another closing kick, with forces at the velocity found: M (landing v - v) + kick f(v)."""
    view = View(kind, trace, 1)
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, b=kind.mass(view) @ (view.field("v1") - view.v) + force)


def _settle_front(trace, kind):
    """The same with the mass block, for rows whose derivatives depend on the velocity found."""
    _store(trace, kind, D=blocks.lower(kind.mass(View(kind, trace, 1))))
    _settle(trace, kind)


def _strike(trace, kind):
    """v + the solved change."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.v + view.field("x"))


def _nudge(trace, kind):
    """Move the coordinates by the solved displacement."""
    view = View(kind, trace, 1)
    q = kind.moved(view.q, view.field("x"))
    _store(trace, kind, q=q, R=kind.pose(q))


def _first_order(trace, kind):
    """The solved velocity, and the motion of one step with it."""
    view = View(kind, trace, 1)
    v = view.field("x")
    q = kind.moved(view.q, load_global(trace, "step") * v)
    _store(trace, kind, v=v, q=q, R=kind.pose(q))


def _energy(trace, kind):
    view = View(kind, trace, 1)
    for name, value in (("kinetic", kind.kinetic(view)), ("potential", kind.potential(view, load_global(trace, "gravity")))):
        trace.store(0, GLOBALS.offset(name), load_global(trace, name) + value)


def _look(trace, kind):
    """Note a body that has collapsed."""
    volume = kind.volume(View(kind, trace, 1).q)
    trace.store(0, GLOBALS.offset("fault"), ca.if_else(volume > 0, load_global(trace, "fault"), 1))


# pointer 2 is the body's part of a packed vector (q, v)
def _pack(trace, kind):
    view = View(kind, trace, 1)
    trace.store(2, 0, ca.vertcat(view.q, view.v))


def _unpack(trace, kind):
    q, v = trace.load(2, 0, kind.nq), trace.load(2, kind.nq, kind.nv)
    _store(trace, kind, q=q, v=v, R=kind.pose(q))


def _normalise(trace, kind):
    """Coordinates back onto their manifold (unit quaternions)."""
    view = View(kind, trace, 1)
    q = kind.normalised(view.q)
    _store(trace, kind, q=q, R=kind.pose(q))


def _rates(trace, kind):
    view = View(kind, trace, 1)
    trace.store(2, 0, ca.vertcat(kind.rate(view.q, view.v), view.field("x")))


_BODY = {
    "place": _place, "accelerate": _accelerate, "kick": _kick, "open": _open, "retry": _retry,
    "impulse": _impulse, "clear": _clear, "euler": _euler,
    "euler-again": _euler_again,
    "fly": _fly, "fly-halves": _fly_halves, "start-flight": _start_flight, "refine-flight": _refine_flight,
    "end-flight": _end_flight, "land": _land, "close": _close, "settle": _settle, "settle-front": _settle_front,
    "strike": _strike, "nudge": _nudge,
    "first-order": _first_order, "energy": _energy, "look": _look, "pack": _pack, "unpack": _unpack, "normalise": _normalise,
    "rates": _rates,
}  # fmt: skip


# -- what constraint nodes and forces share: parameters, counters, a tape ---------------------------------------


@dataclass(frozen=True)
class Part:
    """One constraint of a node: its relation, whether its bodies are the node's in reverse, and the rows kept."""

    relation: Relation
    flipped: bool
    kept: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"{self.relation.key}{'~' if self.flipped else ''}{list(self.kept)}"


def parameter_record(relation: Relation) -> Record:
    return Record(**relation.fields, turns=2 * relation.counters)


def load_parameters(trace: Trace, pointer: int, offset: int, relation: Relation) -> dict[str, SX]:
    layout = parameter_record(relation)
    return {name: trace.load(pointer, offset + o, size) for name, (o, size) in layout.fields.items()}


def _views(trace: Trace, kinds, stage: str):
    """Views of the bodies at pointers 2 and 3; None for the ground."""
    return [None if kind is None else View(kind, trace, 2 + k, stage) for k, kind in enumerate(kinds)]


def count(trace: Trace, relation: Relation, handles, pointer: int, offset: int, p, tape: Tape) -> None:
    """Turn counters after a step: turns += crossings, and the sine for next time."""
    angles = relation.angles(handles, p)
    if not angles:
        return
    where = offset + parameter_record(relation).offset("turns")
    resolved = tape.resolve([x for pair in angles for x in pair])
    for k in range(len(angles)):
        s, c = resolved[2 * k], resolved[2 * k + 1]
        turns, side = p["turns"][2 * k], p["turns"][2 * k + 1]
        trace.store(pointer, where + 2 * k, ca.vertcat(turns + crossing(side, s, c), s))


# -- constraint nodes: pointer 1 the node, 2 and 3 its bodies, 4 and 5 where its blocks go ---------------------------


@dataclass(frozen=True)
class NodeKind:
    """Constraints between one pair of bodies, stacked. `kinds` are the bodies' kinds, None for the ground (which is
    always first); `bodies_first[k]`: body k is eliminated before the node, so that its block is J_k^T."""

    parts: tuple[Part, ...]
    kinds: tuple[BodyKind | None, BodyKind]

    @cached_property
    def key(self) -> str:
        ends = [kind.name if kind else "ground" for kind in self.kinds]
        return f"{'+'.join(part.key for part in self.parts)}|{ends}"

    @cached_property
    def size(self) -> int:
        return sum(len(part.kept) for part in self.parts)

    @cached_property
    def levels(self) -> list[str]:
        return [part.relation.levels[k] for part in self.parts for k in part.kept]

    @cached_property
    def moving_rows(self) -> bool:
        """Whether some rows are at velocity level."""
        return any(level != POSITION for level in self.levels)

    @cached_property
    def forced(self) -> bool:
        """Whether some row asks for motion of its own: prescribed motion and drives."""
        return any(part.relation.forced for part in self.parts)

    @cached_property
    def nonlinear(self) -> bool:
        """Whether some row is not linear in velocities."""
        return any(part.relation.nonlinear for part in self.parts)

    @cached_property
    def counters(self) -> int:
        return sum(part.relation.counters for part in self.parts)

    @cached_property
    def parameters(self) -> int:
        return sum(parameter_record(part.relation).size for part in self.parts)

    @cached_property
    def record(self) -> Record:
        m = self.size
        return Record(D=blocks.triangle_size(m), b=m, x=m, history=3 * m, parameters=self.parameters)

    def parameters_of(self, trace: Trace, start: int | None = None) -> list[dict[str, SX]]:
        """The parameters of each part; they begin at `start` (None: where this kind's record has them)."""
        offset, found = self.record.offset("parameters") if start is None else start, []
        for part in self.parts:
            found.append(load_parameters(trace, 1, offset, part.relation))
            offset += parameter_record(part.relation).size
        return found

    def rows_between(self, trace: Trace, views, time: SX, start: int | None = None, known=None) -> Rows:
        """All rows of the node, on one tape. `known` gives expressions for some parameters."""
        tape, rows = Tape(views, time), []
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            handles = tape.handles[::-1] if part.flipped else tape.handles
            written = part.relation.rows(handles, p | (known or {}), time)
            rows += [written[k] for k in part.kept]
        return derive(tape, rows)

    def write_rows(self, trace: Trace, stage: str, time: SX, start: int | None = None) -> Rows:
        return self.rows_between(trace, _views(trace, self.kinds, stage), time, start)


def right_side(trace: Trace, rows: Rows, mode: str) -> SX:
    """The rows' right-hand side: J x = right."""
    holonomic = ca.vertcat(*[1.0 if level == POSITION else 0.0 for level in rows.levels])
    if mode == "acceleration":  # Baumgarte feedback; velocity rows have k_d only
        k, d = load_global(trace, "stiffness"), load_global(trace, "damping")
        return -(rows.bias + d * rows.rate + k * ca.if_else(holonomic, rows.residual, 0))
    if mode == "velocity":
        return -rows.rate
    if mode == "first-order":
        return -(rows.forcing + load_global(trace, "stiffness") * ca.if_else(holonomic, rows.residual, 0))
    if mode == "project":
        return -ca.if_else(holonomic, rows.residual, 0)
    raise ValueError(mode)


def node_kernel(node: NodeKind, mode: str, bodies_first: tuple[bool, bool]) -> Kernel:
    """Assemble: D = 0, right-hand side, and the blocks of J (transposed where the body is eliminated first)."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"))
        trace.store(1, node.record.offset("D"), SX.zeros(blocks.triangle_size(node.size)))
        trace.store(1, node.record.offset("b"), right_side(trace, rows, mode))
        for k, (J, first) in enumerate(zip(rows.jacobians, bodies_first, strict=True)):
            if node.kinds[k] is not None:
                trace.store(4 + k, 0, J.T if first else J)

    return Kernel(f"node|{node.key}|assemble-{mode}|{bodies_first}", write)


def node_right_kernel(node: NodeKind, mode: str, start: int, b: int) -> Kernel:
    """The right-hand side alone, for a record whose parameters begin at `start` and whose right-hand side is at b."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        trace.store(1, b, right_side(trace, rows, mode))

    return Kernel(f"node|{node.key}|right-{mode}|{start}|{b}", write)


def landing_rows(trace: Trace, node: NodeKind, start: int | None = None) -> SX:
    """Residuals of the position stage: C at the end of the flight, g in its middle."""
    residual = SX(node.size, 1)
    if POSITION in node.levels:
        at_end = node.write_rows(trace, "next", load_global(trace, "time"), start)
        residual = at_end.residual
    if any(level != POSITION for level in node.levels):
        middle = node.write_rows(trace, "middle", load_global(trace, "half"), start)
        merged = [residual[k] if level == POSITION else middle.residual[k] for k, level in enumerate(node.levels)]
        residual = ca.vertcat(*merged)
    return residual


def store_landing(trace: Trace, levels: list[str], residual: SX, b: int, history: int) -> None:
    """Right-hand side of a correction; the history's newest entry is the sum of all corrections of this step."""
    m, h = len(levels), load_global(trace, "step")
    right = ca.vertcat(*[-residual[k] / h if level == POSITION else -residual[k] for k, level in enumerate(levels)])
    trace.store(1, b, right)
    trace.store(1, history, trace.load(1, history, m) + right)
    worst = load_global(trace, "worst")
    for k, level in enumerate(levels):
        worst = ca.fmax(worst, ca.fabs(residual[k]) if level == POSITION else h * ca.fabs(residual[k]))
    trace.store(0, GLOBALS.offset("worst"), worst)


def node_landing_kernel(node: NodeKind) -> Kernel:
    def write(trace: Trace) -> None:
        residual = landing_rows(trace, node)
        store_landing(trace, node.levels, residual, node.record.offset("b"), node.record.offset("history"))

    return Kernel(f"node|{node.key}|landing", write)


def predict_kernel(m: int, b: int, history: int) -> Kernel:
    """Right-hand side of the opening kick, extrapolated through the last three steps. Pointer 1: the node."""

    def write(trace: Trace) -> None:
        r1, r2, r3 = (trace.load(1, history + k * m, m) for k in range(3))
        weights = load_global(trace, "extrapolate")
        guess = weights[0] * r1 + weights[1] * r2 + weights[2] * r3
        trace.store(1, b, guess)
        trace.store(1, history, ca.vertcat(guess, r1, r2))

    return Kernel(f"predict|{m}|{b}|{history}", write)


def node_check_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Pointer 4: where the residual and the rate of the rows go."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        trace.store(4, 0, rows.residual)
        trace.store(4, node.size, rows.rate)
        trace.store(4, 2 * node.size, rows.forcing)

    return Kernel(f"node|{node.key}|check|{start}", write)


def node_work_kernel(node: NodeKind, start: int, x: int, stage: str) -> Kernel:
    """Add the work of prescribed motion: the multipliers (negative, at x) times what the rows ask for, which is
    forcing = -J v; rows that are not linear in v have no such forcing, and J v is taken at `stage`."""
    linear = not node.nonlinear

    def write(trace: Trace) -> None:
        views = _views(trace, node.kinds, "now" if linear else stage)
        rows = node.rows_between(trace, views, load_global(trace, "half"), start)
        asked = rows.forcing if linear else -sum(J @ view.v for J, view in zip(rows.jacobians, views, strict=True) if view)
        power = ca.dot(trace.load(1, x, node.size), asked)
        trace.store(0, GLOBALS.offset("work"), load_global(trace, "work") + load_global(trace, "share") * power)

    return Kernel(f"node|{node.key}|work|{start}|{x}|{'now' if linear else stage}", write)


def node_count_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    def write(trace: Trace) -> None:
        tape = Tape(_views(trace, node.kinds, "now"), load_global(trace, "time"))
        offset = node.record.offset("parameters") if start is None else start
        for part, p in zip(node.parts, node.parameters_of(trace, start), strict=True):
            handles = tape.handles[::-1] if part.flipped else tape.handles
            count(trace, part.relation, handles, 1, offset, p, tape)
            offset += parameter_record(part.relation).size

    return Kernel(f"node|{node.key}|count|{start}", write)


def node_jacobian_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Pointer 4: the blocks of J, first body's then second's, for reports and for checks."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        offset = 0
        for J in rows.jacobians:
            trace.store(4, offset, J)
            offset += J.shape[0] * J.shape[1]
        trace.store(4, offset, rows.bias)

    return Kernel(f"node|{node.key}|jacobian|{start}", write)


# -- forces: pointer 1 the force, 2 and 3 its bodies -----------------------------------------------------------------


@dataclass(frozen=True)
class ForceKind:
    law: Law
    kinds: tuple[BodyKind | None, BodyKind | None]

    @cached_property
    def key(self) -> str:
        return f"{self.law.key}|{[kind.name if kind else 'ground' for kind in self.kinds]}"

    @cached_property
    def record(self) -> Record:
        return Record(parameters=parameter_record(self.law).size)

    def write_law(self, trace: Trace, stage: str = "now"):
        """Generalised forces on the bodies, and the potential energy."""
        tape = Tape(_views(trace, self.kinds, stage), load_global(trace, "time"))
        p = load_parameters(trace, 1, 0, self.law)
        loads, potential = self.law.law(tape.handles, p, tape.time)
        totals: list[SX | None] = [None, None]
        for number, kind, where, vector in loads:
            if self.kinds[number] is None:
                continue
            entry = tape.entry(number, tape.views[number], "point" if kind == "force" else "spin",
                               where if kind == "force" else None)  # fmt: skip
            part = entry.primitive.jacobian.T @ vector
            totals[number] = part if totals[number] is None else totals[number] + part
        found = [x for x in totals if x is not None]
        resolved = iter(tape.resolve([*found, SX(potential)]))
        forces = [None if x is None else next(resolved) for x in totals]
        return forces, next(resolved), tape, p


def force_kernel(force: ForceKind) -> Kernel:
    """Add the force times the kick to the bodies' right-hand sides."""

    def write(trace: Trace) -> None:
        forces, *_ = force.write_law(trace)
        for k, (kind, f) in enumerate(zip(force.kinds, forces, strict=True)):
            if kind is not None and f is not None:
                offset, size = kind.record["b"]
                trace.store(2 + k, offset, trace.load(2 + k, offset, size) + load_global(trace, "kick") * f)

    return Kernel(f"force|{force.key}|add", write)


def force_energy_kernel(force: ForceKind) -> Kernel:
    def write(trace: Trace) -> None:
        potential = force.write_law(trace)[1]
        trace.store(0, GLOBALS.offset("potential"), load_global(trace, "potential") + potential)

    return Kernel(f"force|{force.key}|energy", write)


def force_count_kernel(force: ForceKind) -> Kernel:
    def write(trace: Trace) -> None:
        tape = Tape(_views(trace, force.kinds, "now"), load_global(trace, "time"))
        p = load_parameters(trace, 1, 0, force.law)
        count(trace, force.law, tape.handles, 1, 0, p, tape)

    return Kernel(f"force|{force.key}|count", write)


# -- fronts: any node with its later neighbours ------------------------------------------------------------------


def _front(trace: Trace, d: int) -> tuple[SX, SX]:
    size = blocks.triangle_size(d)
    return trace.load(1, 0, size), trace.load(1, size, d)


def _slots(trace: Trace, d: int, neighbours: tuple[int, ...]) -> list[SX]:
    """Blocks to the later neighbours, one after the other, at pointer 2."""
    found, offset = [], 0
    for m in neighbours:
        found.append(blocks.rows(trace.load(2, offset, d * m), d, m))
        offset += d * m
    return found


def front_kernel(d: int, neighbours: tuple[int, ...], what: str) -> Kernel:
    """Pointer 1: D, b, x of the node; 2: its blocks; 3 (and 4): D, b, x of its one or two later neighbours; 5: the
    block between these two. what: "factor" (with the forward sweep), "forward", "backward"."""
    tri = blocks.triangle_size

    def factor(trace: Trace) -> None:
        D, b = _front(trace, d)
        L, reciprocal = blocks.ldl(blocks.symmetric(D, d))
        z = blocks.forward(L, b)
        trace.store(1, 0, blocks.pack(L, reciprocal))
        trace.store(1, tri(d), z)
        Y = [blocks.forward(L, H) for H in _slots(trace, d, neighbours)]
        if Y:
            trace.store(2, 0, ca.vertcat(*[ca.reshape(y.T, -1, 1) for y in Y]))
        U = [blocks.scale(reciprocal, y) for y in Y]
        for j, m in enumerate(neighbours):
            trace.store(3 + j, 0, trace.load(3 + j, 0, tri(m)) - blocks.lower(Y[j].T @ U[j]))
            trace.store(3 + j, tri(m), trace.load(3 + j, tri(m), m) - U[j].T @ z)
        if len(neighbours) == 2:
            m, n = neighbours
            trace.store(5, 0, blocks.rows(trace.load(5, 0, m * n), m, n) - Y[0].T @ U[1])

    def forward(trace: Trace) -> None:
        D, b = _front(trace, d)
        L, reciprocal = blocks.unpack(D, d)
        z = blocks.forward(L, b)
        trace.store(1, tri(d), z)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            trace.store(3 + j, tri(m), trace.load(3 + j, tri(m), m) - Y.T @ (reciprocal * z))

    def backward(trace: Trace) -> None:
        D, z = _front(trace, d)
        L, reciprocal = blocks.unpack(D, d)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            z = z - Y @ trace.load(3 + j, tri(m) + m, m)
        trace.store(1, tri(d) + d, blocks.backward(L, reciprocal * z))

    write = {"factor": factor, "forward": forward, "backward": backward}[what]
    return Kernel(f"front|{d}|{neighbours}|{what}", write)


def piece_kernel(what: str, d: int, m: int = 0, n: int = 0) -> Kernel:
    """Fronts with many or large neighbours, in pieces (pointer 1: D, b of the node).

    pivot(d):          factor D, z = L^-1 b
    panel(d, m):       2: one block H -> Y
    update(d, m, m):   2: Y of a neighbour, 3: its D, b; with z
    cross(d, m, n):    2, 3: Y of two neighbours, 4: the block between them
    solve(d):          z = L^-1 b;   push(d, m): 2: Y, 3: the neighbour's D, b
    begin(d):          x = z;  pull(d, m): x -= Y x of a neighbour;   finish(d): x = L^-T D^-1 x
    """
    tri = blocks.triangle_size

    def write(trace: Trace) -> None:
        D, b = _front(trace, d)
        if what == "pivot":
            L, reciprocal = blocks.ldl(blocks.symmetric(D, d))
            trace.store(1, 0, blocks.pack(L, reciprocal))
            trace.store(1, tri(d), blocks.forward(L, b))
            return
        L, reciprocal = blocks.unpack(D, d)
        if what == "solve":
            trace.store(1, tri(d), blocks.forward(L, b))
        elif what == "begin":
            trace.store(1, tri(d) + d, b)
        elif what == "finish":
            trace.store(1, tri(d) + d, blocks.backward(L, reciprocal * trace.load(1, tri(d) + d, d)))
        else:
            Y = blocks.rows(trace.load(2, 0, d * m), d, m)
            if what == "panel":
                trace.store(2, 0, blocks.forward(L, Y))
            elif what == "update":
                trace.store(3, 0, trace.load(3, 0, tri(m)) - blocks.lower(Y.T @ blocks.scale(reciprocal, Y)))
                trace.store(3, tri(m), trace.load(3, tri(m), m) - Y.T @ (reciprocal * b))
            elif what == "cross":
                other = blocks.rows(trace.load(3, 0, d * n), d, n)
                product = Y.T @ blocks.scale(reciprocal, other)
                trace.store(4, 0, blocks.rows(trace.load(4, 0, m * n), m, n) - product)
            elif what == "push":
                trace.store(3, tri(m), trace.load(3, tri(m), m) - Y.T @ (reciprocal * b))
            elif what == "pull":
                trace.store(1, tri(d) + d, trace.load(1, tri(d) + d, d) - Y @ trace.load(3, tri(m) + m, m))

    return Kernel(f"piece|{what}|{d}|{m}|{n}", write)


def zero_kernel(size: int) -> Kernel:
    """Pointer 1: entries set to zero."""
    return Kernel(f"zero|{size}", lambda trace: trace.store(1, 0, SX.zeros(size)))
