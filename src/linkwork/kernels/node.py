"""Kernels of constraint nodes and forces: which records each reads and writes.

Every kernel has a key that says all its code depends on (besides the sources); compiled code is found by it.
Pointer 0 is the record of globals; the others are said kernel by kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.elements.core import force_kind
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element_kind import ElementKind, crossing
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import POSITION, ROTOR, VELOCITY, Rotor, Rows, Tape, derive
from linkwork.symbolic.views import GLOBALS, Shifted, View, load_global

# -- what constraint nodes and forces share: parameters, counters, a tape ---------------------------------------


@dataclass(frozen=True)
class Part:
    """One constraint of a node: its relation, which of the node's bodies are its own in turn, and the rows kept."""

    relation: ConstraintKind
    order: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def key(self) -> str:
        turned = "".join(map(str, self.order)) if self.order != tuple(sorted(self.order)) else ""
        return f"{self.relation.key}{turned and '~' + turned}{list(self.kept)}"

    @property
    def flipped(self) -> bool:
        """Whether its two bodies are the node's in reverse."""
        return self.order == (1, 0)

    def arranged(self, items) -> list:
        """What the node has for each of its bodies, in the order of this constraint's bodies."""
        return [items[k] for k in self.order]


def parameter_record(relation: ElementKind) -> Record:
    return Record(**relation.fields, turns=2 * relation.counters, **relation.kept)


def load_parameters(trace: Trace, pointer: int, offset: int, relation: ElementKind) -> dict[str, SX]:
    layout = parameter_record(relation)
    return {name: trace.load(pointer, offset + o, size) for name, (o, size) in layout.fields.items()}


def _views(trace: Trace, kinds, stage: str):
    """Views of the bodies at pointers 2, 3, ...; None for the ground."""
    return [None if kind is None else View(kind, trace, 2 + k, stage) for k, kind in enumerate(kinds)]


def count(trace: Trace, relation: ElementKind, handles, pointer: int, offset: int, p, tape: Tape) -> None:
    """Turn counters after a step: turns += crossings, and the sine for next time; and what else the relation keeps."""
    if relation.kept:
        for name, value in relation.brought(handles, tape.introduce(relation, handles, p)).items():
            trace.store(pointer, offset + parameter_record(relation).offset(name), tape.resolve([value])[0])
    angles = relation.angles(handles, p)
    if not angles:
        return
    where = offset + parameter_record(relation).offset("turns")
    resolved = tape.resolve([x for pair in angles for x in pair])
    for k in range(len(angles)):
        s, c = resolved[2 * k], resolved[2 * k + 1]
        turns, side = p["turns"][2 * k], p["turns"][2 * k + 1]
        trace.store(pointer, where + 2 * k, ca.vertcat(turns + crossing(side, s, c), s))


SOFT = 1e-12  # of what rows would give to unit multipliers: the part by which a pivot is made regular
# -- constraint nodes: pointer 1 the node, 2 and 3 (and more) its bodies, behind these where its blocks or reports go ---


@dataclass(frozen=True)
class NodeKind:
    """Constraints between the same two bodies or more, stacked. `kinds` are the bodies' kinds, None for the ground (which is
    always first); `bodies_first[k]`: body k is eliminated before the node, so that its block is J_k^T."""

    parts: tuple[Part, ...]
    kinds: tuple[BodyKind | None, ...]

    @cached_property
    def key(self) -> str:
        ends = [kind.key if kind else "ground" for kind in self.kinds]
        return f"{'+'.join(part.key for part in self.parts)}|{ends}"

    @property
    def behind(self) -> int:
        """The first pointer behind those of the bodies."""
        return 2 + len(self.kinds)

    @cached_property
    def size(self) -> int:
        return sum(len(part.kept) for part in self.parts)

    @cached_property
    def levels(self) -> list[str]:
        return [part.relation.levels[k] for part in self.parts for k in part.kept]

    @cached_property
    def moving_rows(self) -> bool:
        """Whether some rows are at velocity level."""
        return VELOCITY in self.levels

    @cached_property
    def rotors(self) -> list[int]:
        """Its rows that turn rotors."""
        return [k for k, level in enumerate(self.levels) if level == ROTOR]

    @cached_property
    def forced(self) -> bool:
        """Whether some row asks for motion of its own: prescribed motion and drives."""
        return any(part.relation.forced for part in self.parts)

    @cached_property
    def aimed(self) -> bool:
        """Whether some rows name the forces that hold them."""
        return any(part.relation.aimed for part in self.parts)

    @cached_property
    def nonlinear(self) -> bool:
        """Whether some row is not linear in velocities."""
        return any(part.relation.nonlinear for part in self.parts)

    @cached_property
    def counters(self) -> int:
        """How much there is to bring up to date after a step."""
        return sum(part.relation.counters + len(part.relation.kept) * (not part.relation.told) for part in self.parts)

    @cached_property
    def parameters(self) -> int:
        return sum(parameter_record(part.relation).size for part in self.parts)

    @cached_property
    def record(self) -> Record:
        m = self.size
        cold = {"history": 3 * m, "upper": blocks.triangle_size(m - 1)}
        return Record(cold, D=blocks.triangle_size(m), b=m, x=m, parameters=self.parameters)

    def parameters_of(self, trace: Trace, start: int | None = None) -> list[dict[str, SX]]:
        """The parameters of each part; they begin at `start` (None: where this kind's record has them)."""
        offset, found = self.record.offset("parameters") if start is None else start, []
        for part in self.parts:
            found.append(load_parameters(trace, 1, offset, part.relation))
            offset += parameter_record(part.relation).size
        return found

    def tape_of_rows(self, trace: Trace, views, time: SX, start: int | None = None, known=None):
        """All rows of the node, written on one tape. `known` gives expressions for some parameters."""
        tape, rows = Tape(views, time), []
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            handles = part.arranged(tape.handles)
            written = part.relation.rows(handles, tape.introduce(part.relation, handles, p | (known or {})), time)
            rows += [written[k] for k in part.kept]
        return tape, rows

    def rows_between(self, trace: Trace, views, time: SX, start: int | None = None, known=None) -> Rows:
        """All rows of the node, derived."""
        rows = derive(*self.tape_of_rows(trace, views, time, start, known))
        rows.rotors = self._rotors(trace, start) if self.rotors else {}
        return rows

    def _rotors(self, trace: Trace, start: int | None) -> dict[int, Rotor]:
        found, row, offset = {}, 0, self.record.offset("parameters") if start is None else start
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            layout = parameter_record(part.relation)
            if part.relation.levels == [ROTOR]:
                at = [offset + layout.offset(name) for name in ("speed", "angle")]
                found[row] = Rotor(p["inertia"], p["speed"], p["angle"], *at)
            row, offset = row + len(part.kept), offset + layout.size
        return found

    def pulls_between(self, trace: Trace, views, time: SX, start: int | None = None) -> list[SX]:
        """For each body how multipliers pull at it, transposed (m, nv): J, or what aimed constraints have in its place."""
        tape, rates = Tape(views, time), []
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            handles, relation = part.arranged(tape.handles), part.relation
            if relation.aimed:
                written = [(VELOCITY, rate) for rate in relation.rates(handles, p, time)]
            else:
                written = relation.rows(handles, tape.introduce(relation, handles, p), time)
            rates += [written[k] for k in part.kept]
        return derive(tape, rates).jacobians

    def views(self, trace: Trace, stage: str):
        return _views(trace, self.kinds, stage)

    def write_rows(self, trace: Trace, stage: str, time: SX, start: int | None = None) -> Rows:
        return self.rows_between(trace, self.views(trace, stage), time, start)

    def count(self, trace: Trace, start: int | None = None) -> None:
        """Bring all turn counters up to where the bodies are."""
        tape = Tape(self.views(trace, "now"), load_global(trace, "time"))
        offset = self.record.offset("parameters") if start is None else start
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            count(trace, part.relation, part.arranged(tape.handles), 1, offset, p, tape)
            offset += parameter_record(part.relation).size


def right_side(trace: Trace, rows: Rows, mode: str) -> SX:
    """The rows' right-hand side: J x = right. That of a rotor has no residual: it is where its joint is, as fast as that; but
    at the end of a flight (mode "closing") it has kept its speed."""
    if rows.rotors:
        found = _right_side(trace, rows, "velocity" if mode == "closing" else mode)
        for k, rotor in rows.rotors.items():
            found[k] = {"acceleration": -rows.bias[k], "closing": rotor.speed - rows.rate[k]}.get(mode, SX(0))
        return found
    return _right_side(trace, rows, "velocity" if mode == "closing" else mode)


def _right_side(trace: Trace, rows: Rows, mode: str) -> SX:
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


def node_kernel(node: NodeKind, mode: str, bodies_first: tuple[bool, ...], soft: bool) -> Kernel:
    """Assemble: the own block, right-hand side, and the blocks of J (transposed where the body is eliminated first)."""

    def write(trace: Trace) -> None:
        views = node.views(trace, "now")
        rows = node.rows_between(trace, views, load_global(trace, "time"))
        trace.store(1, node.record.offset("D"), own_block(trace, node, rows, views, soft))
        trace.store(1, node.record.offset("b"), right_side(trace, rows, mode))
        for k, (J, first) in enumerate(zip(rows.jacobians, bodies_first, strict=True)):
            if node.kinds[k] is not None:
                trace.store(node.behind + k, 0, J.T if first else J)

    return Kernel(f"node|{node.key}|assemble-{mode}|{bodies_first}|{soft}", write)


def node_right_kernel(node: NodeKind, mode: str, start: int, b: int) -> Kernel:
    """The right-hand side alone, for a record whose parameters begin at `start` and whose right-hand side is at b."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        trace.store(1, b, right_side(trace, rows, mode))

    return Kernel(f"node|{node.key}|right-{mode}|{start}|{b}", write)


def landing_rows(trace: Trace, node: NodeKind) -> SX:
    """Residuals of the position stage: C at the end of the flight, g in its middle."""
    residual = SX(node.size, 1)
    if POSITION in node.levels or node.rotors:
        at_end = node.write_rows(trace, "next", load_global(trace, "time"))
        residual = turned(trace, at_end, node.record.offset("x"))
    if node.moving_rows:
        middle = node.write_rows(trace, "middle", load_global(trace, "half"))
        merged = [middle.residual[k] if level == VELOCITY else residual[k] for k, level in enumerate(node.levels)]
        residual = ca.vertcat(*merged)
    return residual


def turned(trace: Trace, rows: Rows, x: int) -> SX:
    """Residuals at the end of a flight: those of rotors are how far their joints are ahead of them. Their speeds are brought up
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
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        for k, rotor in rows.rotors.items():
            trace.store(1, rotor.speed_at, rows.rate[k])
            trace.store(1, rotor.angle_at, rows.residual[k])

    return Kernel(f"node|{node.key}|rotor|{start}", write)


def rotor_energy_kernel(node: NodeKind, start: int) -> Kernel:
    """Add the kinetic energy of its rotors."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        added = sum(0.5 * rotor.inertia * rows.rate[k] ** 2 for k, rotor in rows.rotors.items())
        trace.store(0, GLOBALS.offset("kinetic"), load_global(trace, "kinetic") + added)

    return Kernel(f"node|{node.key}|rotor energy|{start}", write)


def store_landing(trace: Trace, levels: list[str], residual: SX, b: int, history: int) -> None:
    """Right-hand side of a correction; the history's newest entry is the sum of all corrections of this step."""
    m, h = len(levels), load_global(trace, "step")
    right = ca.vertcat(*[-residual[k] if level == VELOCITY else -residual[k] / h for k, level in enumerate(levels)])
    trace.store(1, b, right)
    trace.store(1, history, trace.load(1, history, m) + right)
    worst = load_global(trace, "worst")
    for k, level in enumerate(levels):
        worst = ca.fmax(worst, h * ca.fabs(residual[k]) if level == VELOCITY else ca.fabs(residual[k]))
    trace.store(0, GLOBALS.offset("worst"), worst)


def node_landing_kernel(node: NodeKind) -> Kernel:
    def write(trace: Trace) -> None:
        residual = landing_rows(trace, node)
        store_landing(trace, node.levels, residual, node.record.offset("b"), node.record.offset("history"))

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
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
        for k, values in enumerate((rows.residual, rows.rate, rows.forcing)):
            for row in node.rotors:  # which are where and as fast as they should be
                values[row] = 0
            trace.store(node.behind, k * node.size, values)

    return Kernel(f"node|{node.key}|check|{start}", write)


def node_work_kernel(node: NodeKind, start: int, x: int, stage: str) -> Kernel:
    """Add the work of prescribed motion: the multipliers (negative, at x) times what the rows ask for, which is
    forcing = -J v; rows that are not linear in v, and aimed ones, have no such forcing, and J v is taken at `stage`."""
    linear = not node.nonlinear and not node.aimed

    def write(trace: Trace) -> None:
        views, time = _views(trace, node.kinds, "now" if linear else stage), load_global(trace, "half")
        if linear:
            asked = node.rows_between(trace, views, time, start).forcing
        else:
            pulls = node.pulls_between(trace, views, time, start)
            asked = -sum(pull @ view.v for pull, view in zip(pulls, views, strict=True) if view)
        power = ca.dot(trace.load(1, x, node.size), asked)
        trace.store(0, GLOBALS.offset("work"), load_global(trace, "work") + load_global(trace, "share") * power)

    return Kernel(f"node|{node.key}|work|{start}|{x}|{'now' if linear else stage}", write)


def node_defect_kernel(node: NodeKind, start: int, b: int, x: int) -> Kernel:
    """What is left of the accelerations' equations: takes J^T y from the bodies, J x from the rows; y is put aside
    (behind the bodies)."""

    def write(trace: Trace) -> None:
        views, time = node.views(trace, "now"), load_global(trace, "time")
        rows = node.rows_between(trace, views, time, start)
        pulls = node.pulls_between(trace, views, time, start) if node.aimed else rows.jacobians
        y = trace.load(1, x, node.size)
        left = right_side(trace, rows, "acceleration")
        for k, rotor in rows.rotors.items():
            left[k] += y[k] / rotor.inertia
        for k, (kind, J, pull) in enumerate(zip(node.kinds, rows.jacobians, pulls, strict=True)):
            if kind is not None:
                left -= J @ trace.load(2 + k, *kind.record["x"])
                trace.store(2 + k, kind.record.offset("b"), trace.load(2 + k, *kind.record["b"]) - pull.T @ y)
        trace.store(1, b, left)
        trace.store(node.behind, 0, y)

    return Kernel(f"node|{node.key}|defect|{start}|{b}|{x}", write)


def mend_kernel(m: int, x: int, aside: int) -> Kernel:
    """Pointer 1: a node; `aside`: its multipliers put aside, to which the correction is added."""

    def write(trace: Trace) -> None:
        trace.store(1, x, trace.load(1, x, m) + trace.load(aside, 0, m))

    return Kernel(f"mend|{m}|{x}|{aside}", write)


def node_count_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    return Kernel(f"node|{node.key}|count|{start}", lambda trace: node.count(trace, start))


def node_jacobian_kernel(node: NodeKind, start: int | None = None) -> Kernel:
    """Behind the bodies: the blocks of J, one body's after another's, for reports and for checks."""

    def write(trace: Trace) -> None:
        rows = node.write_rows(trace, "now", load_global(trace, "time"), start)
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
        views = [None if kind is None else Shifted(kind, trace, 2 + k, "now") for k, kind in enumerate(node.kinds)]
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
        for k, pull in enumerate(node.pulls_between(trace, node.views(trace, "now"), load_global(trace, "time"), start)):
            trace.store(node.behind + (0 if together else k), offset if together else 0, pull)
            offset += pull.shape[0] * pull.shape[1]

    return Kernel(f"node|{node.key}|pulls|{start}|{together}", write)


# -- forces: pointer 1 the force, 2 and 3 its bodies -----------------------------------------------------------------
LOADED = {"force": "point", "torque": "spin", "generalised": "coordinates"}  # kind of a load -> what its power moves


@dataclass(frozen=True)
class ForceKind:
    law: force_kind.ForceKind
    kinds: tuple[BodyKind | None, ...]

    @cached_property
    def key(self) -> str:
        return f"{self.law.key}|{[kind.key if kind else 'ground' for kind in self.kinds]}"

    @cached_property
    def record(self) -> Record:
        return Record(parameters=parameter_record(self.law).size)

    def parameters_of(self, trace: Trace) -> dict[str, SX]:
        return load_parameters(trace, 1, 0, self.law)

    def loads(self, trace: Trace, views) -> list[SX | None]:
        """Generalised forces on the bodies; None for the ground."""
        found = self.write_law(trace, views)[0]
        return [SX(kind.nv, 1) if kind and f is None else f for kind, f in zip(self.kinds, found, strict=True)]

    def write_law(self, trace: Trace, views=None):
        """Generalised forces on the bodies, and the potential energy."""
        views = _views(trace, self.kinds, "now") if views is None else views
        tape = Tape(views, load_global(trace, "time"))
        p = self.parameters_of(trace)
        loads, potential = self.law.law(tape.handles, p, tape.time)
        totals: list[SX | None] = [None] * len(self.kinds)
        for number, kind, where, vector in loads:
            if self.kinds[number] is None:
                continue
            entry = tape.entry(number, tape.views[number], LOADED[kind], where if kind == "force" else None)
            part = entry.primitive.jacobian.T @ vector
            before = totals[number]
            totals[number] = part if before is None else before + part
        found = [x for x in totals if x is not None]
        resolved = iter(tape.resolve([*found, SX(potential)]))
        forces = [None if x is None else next(resolved) for x in totals]
        return forces, next(resolved), tape, p

    def count(self, trace: Trace, p: dict[str, SX]) -> None:
        """Bring the turn counters up to where the bodies are; p: the parameters, counters included."""
        tape = Tape(_views(trace, self.kinds, "now"), load_global(trace, "time"))
        count(trace, self.law, tape.handles, 1, 0, p, tape)


def force_kernel(force: ForceKind) -> Kernel:
    """Add the force times the kick to the bodies' right-hand sides."""

    def write(trace: Trace) -> None:
        forces, *_ = force.write_law(trace)
        for k, (kind, f) in enumerate(zip(force.kinds, forces, strict=True)):
            if kind is not None and f is not None:
                offset, size = kind.record["b"]
                trace.store(2 + k, offset, trace.load(2 + k, offset, size) + load_global(trace, "kick") * f)

    return Kernel(f"force|{force.key}|add", write)


def force_report_kernel(force: ForceKind) -> Kernel:
    """Behind the bodies: the generalised forces on the first body, then on the second, and on."""

    def write(trace: Trace) -> None:
        forces = [f for f in force.write_law(trace)[0] if f is not None]
        trace.store(2 + len(force.kinds), 0, ca.vertcat(*forces))

    return Kernel(f"force|{force.key}|report", write)


def force_energy_kernel(force: ForceKind) -> Kernel:
    def write(trace: Trace) -> None:
        potential = force.write_law(trace)[1]
        trace.store(0, GLOBALS.offset("potential"), load_global(trace, "potential") + potential)

    return Kernel(f"force|{force.key}|energy", write)


def force_count_kernel(force: ForceKind) -> Kernel:
    return Kernel(f"force|{force.key}|count", lambda trace: force.count(trace, force.parameters_of(trace)))
