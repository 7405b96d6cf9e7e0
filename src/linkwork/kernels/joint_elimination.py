"""A body and the joint to its parent eliminated together, by the joint's freedoms (docs/papers-errata.md, section 3).

The child's origin lies at the joint. Its motion is x_c = X x_p + S u + G r with X the rigid motion of the parent,
S the freedoms and J_c G = 1, so that with the child's accumulated front D, f

    U = D S    K = S^T U = L diag(1/p) L^T    Y = diag(p) L^-1 U^T
    D_a = D - U K^-1 U^T    f_a = f - Y^T L^-1 S^T f
    parent:  D += X^T D_a X    f += X^T (f_a - D_a G r)

A ball leaves a 3 x 3 block (all of the angular part is free). A hinge is free about one axis and a universal joint about two:
one or two divisions. Their remaining turning rows have dual vectors, the angular parts of G. Rotors that the joint turns are
in K (joint_rotors.py).
Pointers: 1 the joint's record, 2 the child, 3 the parent (none on the ground).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.element_kind import crossing
from linkwork.elements.core.joint_kind import ClosedRows, JointKind, Pivot, Turning
from linkwork.kernels import joint_elimination_implicit, joint_rotors
from linkwork.kernels.joint_rotors import TurnedRotors
from linkwork.kernels.node import NodeKind, parameter_record
from linkwork.kernels.node_kernels import right_side, store_position_residual, turned
from linkwork.kernels.vocabulary import Iteration, PivotSweep, RowMode
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import ROTOR
from linkwork.symbolic.blocks import cross, lower, rows, skew, symmetric
from linkwork.symbolic.views import View, load_global
from linkwork.symbolic.vocabulary import Moment


def _beside(joint: JointKind, rotors: int) -> dict[str, int]:
    """Fields of a joint's record: e, its arm from the parent; of a joint about axes also those, Y, K, u and the duals."""
    axes = joint.mobilizer.nv
    if joint.pivot is Pivot.BLOCK:
        return {"e": 3}
    return {"e": 3, "axes": 3 * axes, "Y": 6 * axes, "K": blocks.triangle_size(axes), "u": axes, "dual": 3 * (3 - axes),
            **joint_rotors.fields(rotors, axes)}  # fmt: skip


# Factors in the place of the child's D (21 entries), which they replace, and in the joint's record.
FRONT = {Pivot.BLOCK: Record(C=6, S=9, K=6), Pivot.AXES: Record(Da=21)}


@dataclass
class Freedoms:
    """The axes about which the child may rotate, and what the rows of the joint ask of it."""

    axes: SX  # (3, k): of the world
    dual: SX  # (3, 3 - k): turns of the child that change one turning row each, and no other
    right: SX  # (6 - k,): right-hand side of the joint's rows
    rotors: TurnedRotors | None = None


def has_joint_pivot(node: NodeKind) -> bool:
    """Whether a node can be a joint pivot: it is one joint that declares its pivot, with all its rows, of rigid bodies; and
    rotors that this joint drives."""
    joint, *others = node.parts
    return (isinstance(joint.kind, JointKind) and joint.kind.pivot in FRONT and len(joint.kept) == len(joint.kind.levels)
            and all(part.kind.levels == [ROTOR] for part in others)
            and all(kind is None or kind is RIGID for kind in node.kinds))  # fmt: skip


@dataclass(frozen=True)
class JointPivot:
    """A body and the joint to its parent as one pivot. `child`: which of the node's two bodies (0 or 1) it is; `coupled`: in
    implicit steps a force couples the rotation of both bodies."""

    node: NodeKind
    child: int
    coupled: bool = False
    form: ClassVar[str] = "limb"

    @cached_property
    def kind(self):
        return self.node.parts[0].kind

    @cached_property
    def is_ball(self) -> bool:
        return self.kind.pivot is Pivot.BLOCK

    @cached_property
    def grounded(self) -> bool:
        return self.node.kinds[0] is None

    @cached_property
    def record(self) -> Record:
        m = self.node.size
        beside = _beside(self.kind, len(self.node.rotors))
        beside |= joint_elimination_implicit.fields(self.is_ball) if self.coupled else {}
        return Record({"x": m, "history": 3 * m}, b=m, **beside, parameters=self.node.parameters)

    @cached_property
    def front(self) -> Record:
        return FRONT[self.kind.pivot]

    @cached_property
    def start(self) -> int:
        return self.record.offset("parameters")

    @cached_property
    def child_is_second(self) -> bool:
        """Whether the child is b of the joint."""
        return (self.child == 1) != self.node.parts[0].flipped

    @cached_property
    def known(self):
        """Parameters that are known: the joint is at the child's origin."""
        return {"on_b" if self.child_is_second else "on_a": SX(3, 1)}

    @cached_property
    def sign(self) -> float:
        return 1.0 if self.child_is_second else -1.0

    def kernel(self, sweep: PivotSweep, mode: RowMode | Iteration | None = None, light: bool = False) -> Kernel:
        """What a sweep does here. `mode`: what rows ask for on the way up, where a hinge counts its turns too; an iteration
        of implicit steps, for all but RESIDUAL. Light: UP keeps nothing for further right-hand sides, and BACKWARD finds no
        multipliers."""
        moved = mode == Iteration.BEGIN and joint_elimination_implicit.is_moved(self)
        if isinstance(mode, Iteration):
            what = f"up-{mode}" if sweep == PivotSweep.UP else f"{sweep}-moved-{moved}"  # but for that iterations are the same
        else:
            what = f"{sweep}-{mode}" if mode else sweep
        name = f"{self.form}|{self.node.key}|{self.child}|{self.coupled}|{what}|{light}"
        write = self._writer(sweep, mode, moved, light)
        return Kernel(name, write, pairs=sweep == PivotSweep.UP, joining=Joining.GATHERS)

    def _writer(self, sweep: PivotSweep, mode: RowMode | Iteration | None, moved: bool, light: bool) -> Callable[[Trace], None]:
        implicit = joint_elimination_implicit
        if isinstance(mode, Iteration):
            if sweep == PivotSweep.UP:
                return lambda trace: implicit.up(self, trace, mode)
            if sweep == PivotSweep.FORWARD_ALONE:
                return lambda trace: implicit.forward_alone(self, trace, moved)
            alone, multipliers = sweep == PivotSweep.BACKWARD_ALONE, sweep != PivotSweep.MOTION
            return lambda trace: implicit.backward(self, trace, moved, multipliers, alone)
        if sweep == PivotSweep.UP:
            assert mode is not None
            return lambda trace: self._up(trace, mode, light)
        if light:
            return lambda trace: self._backward(trace, light)
        known = {PivotSweep.FORWARD: self._forward, PivotSweep.BACKWARD: self._backward,
                 PivotSweep.RESIDUAL: self._position_residual}  # fmt: skip
        return known[sweep]

    # Node kernels take the node's bodies in order; here child and parent do, so views are made by role.
    def rows(self, trace: Trace, moment: Moment, time: SX):
        child, parent = View(RIGID, trace, 2, moment), None if self.grounded else View(RIGID, trace, 3, moment)
        views = [parent, child] if self.child == 1 else [child, parent]
        return self.node.rows_between(trace, views, time, self.start, self._known(trace)), child, parent

    def _known(self, trace: Trace) -> dict[str, SX]:
        """Rotors have the parameters of their joint in their records as well."""
        if not self.node.rotors:
            return self.known
        p = self.node.parameters_of(trace, self.start)[0]
        return {name: p[name] for name in self.kind.fields} | self.known

    def load(self, trace: Trace, name: str) -> SX:
        pointer, offset, size = self._place(name)
        return trace.load(pointer, offset, size)

    def save(self, trace: Trace, **results) -> None:
        for name, value in results.items():
            pointer, offset, _ = self._place(name)
            trace.store(pointer, offset, value)

    def _place(self, name: str) -> tuple[int, int, int]:
        """Pointer, offset and size of a field: of the joint's record, or in the place of the child's D."""
        if name in self.front:
            offset, size = self.front[name]
            return 2, RIGID.record.offset("D") + offset, size
        return 1, *self.record[name]

    def arm(self, trace: Trace, parent: View) -> SX:
        """From the parent's origin to the joint, in the world."""
        local = self.node.parameters_of(trace, self.start)[0]["on_a" if self.child_is_second else "on_b"]
        return RIGID.rotation(parent) @ local

    def _up(self, trace: Trace, mode: RowMode, light: bool = False) -> None:
        derived, child, parent = self.rows(trace, Moment.NOW, load_global(trace, "time"))
        r = right_side(trace, derived, mode)
        D, f = symmetric(child.field("D"), 6), child.field("b")
        e = None if parent is None else self.arm(trace, parent)
        if e is not None:
            self.save(trace, e=e)
        if self.is_ball:
            self.save(trace, b=r)
            L, reciprocal = blocks.ldl(D[3:6, 3:6])
            Y = blocks.forward(L, D[3:6, 0:3])
            S = blocks.scale(reciprocal, Y)
            K = symmetric(lower(D[0:3, 0:3] - Y.T @ S), 3)
            self.save(trace, C=blocks.pack(L, reciprocal), S=S)
            if not light:
                self.save(trace, K=lower(K))
            self._push_ball(trace, L, reciprocal, S, K, f, e, r, D=True)
        else:
            free = self.freedoms(trace, mode, child, parent, r)
            if self.node.rotors:
                angle = self._turning(trace, child, parent).angle
                free.rotors = TurnedRotors.of(trace, mode, derived, self.child, angle, free.axes, free.dual)
            L, reciprocal, Y, Da = self.factor(trace, D, free, light)
            self._push_axes(trace, free, L, reciprocal, Y, Da, f, e, D=True)

    def freedoms(self, trace: Trace, mode: RowMode | Iteration, child: View, parent: View | None, r: SX) -> Freedoms:
        """Of a joint that is free about some axes; r: the right-hand side of its rows."""
        free = self._turning(trace, child, parent)
        if free.rows is None:
            return Freedoms(free.axes, free.dual, r)
        return Freedoms(free.axes, free.dual, ca.vertcat(r[0:3], self._turning_rows(trace, mode, free.rows)))

    def _turning(self, trace: Trace, child: View, parent: View | None) -> Turning:
        p = self.node.parameters_of(trace, self.start)[0]
        (Ra, wa), (Rb, wb) = ((SX.eye(3), SX(3, 1)) if v is None else (RIGID.rotation(v), v.v[3:6])
                              for v in self._by_role(child, parent))  # fmt: skip
        return self.kind.turning(Ra, wa, Rb, wb, p, self.sign)

    def _by_role(self, child: View, parent: View | None) -> tuple[View | None, View | None]:
        """a and b of the joint."""
        return (parent, child) if self.child_is_second else (child, parent)

    def factor(self, trace: Trace, D: SX, free: Freedoms, light: bool = False, held: SX | None = None) -> tuple[SX, SX, SX, SX]:
        """L, the reciprocal pivots, Y and D_a; `held` (3, 3): what holds the turn at the joint, in implicit steps."""
        U = D[:, 3:6] @ free.axes
        K = free.axes.T @ (U[3:6, :] if held is None else U[3:6, :] + held @ free.axes)
        if free.rotors is not None:
            K += free.rotors.added()
        L, reciprocal = blocks.ldl(symmetric(lower(K), K.shape[0]))
        half = blocks.forward(L, U.T)
        Y = blocks.scale(reciprocal, half)
        Da = symmetric(lower(D - half.T @ Y), 6)
        right = free.right
        if free.rotors is not None:
            right = ca.vertcat(right, free.rotors.right)
            self.save(trace, **{name: ca.vec(getattr(free.rotors, name).T) for name in joint_rotors.FIELDS})
        self.save(trace, b=right, axes=free.axes.T, Y=Y, K=blocks.pack(L, reciprocal), dual=free.dual.T)
        if not light:
            self.save(trace, Da=lower(Da))
        return L, reciprocal, Y, Da

    def _turning_rows(self, trace: Trace, mode: RowMode | Iteration, rows: ClosedRows) -> SX:
        """The right-hand sides of the turning rows, from their closed form."""
        k, d = load_global(trace, "stiffness"), load_global(trace, "damping")
        right = -{
            RowMode.ACCELERATION: rows.bias + d * rows.rate + k * rows.value,
            RowMode.VELOCITY: rows.rate,
            RowMode.CLOSING: rows.rate,
            RowMode.FIRST_ORDER: k * rows.value,
            RowMode.PROJECT: rows.value,
            Iteration.BEGIN: rows.value / load_global(trace, "step"),
            Iteration.FIRM: SX.zeros(3),
            Iteration.DRAW: rows.value,
            Iteration.AGAIN: rows.value / load_global(trace, "step"),
        }[mode]
        if mode not in (Iteration.AGAIN, Iteration.DRAW):
            self._count(trace, *rows.angle)
        t1, t2 = rows.directions
        return ca.vertcat(ca.dot(t1, right), ca.dot(t2, right))

    def _count(self, trace: Trace, s: SX, c: SX) -> None:
        """Bring the turn counters of the joint and its rotors up to this configuration."""
        offset = self.start
        for part, p in zip(self.node.parts, self.node.parameters_of(trace, self.start), strict=True):
            turns, side = p["turns"][0], p["turns"][1]
            where = offset + parameter_record(part.kind).offset("turns")
            trace.store(1, where, ca.vertcat(turns + crossing(side, s, c), s))
            offset += parameter_record(part.kind).size

    def to_parent(self, trace: Trace, e: SX, inertia: SX | None, force: SX) -> None:
        """Add X^T inertia X and X^T force to the parent's front; both are given at the joint. A force of three
        components has no torque there, an inertia of 3 x 3 no angular part."""
        E, ball = skew(e), force.shape[0] == 3
        if inertia is not None:
            A = inertia[0:3, 0:3]
            side = -(A @ E) if ball else inertia[0:3, 3:6] - A @ E  # (X^T D X), upper right
            turn = E @ side if ball else E @ side + inertia[3:6, 3:6] - inertia[3:6, 0:3] @ E
            offset, size = RIGID.record["D"]
            added = lower(ca.blockcat([[A, side], [side.T, turn]]))
            trace.store(3, offset, trace.load(3, offset, size) + added)
        torque = cross(e, force[0:3]) if ball else cross(e, force[0:3]) + force[3:6]
        offset, size = RIGID.record["b"]
        trace.store(3, offset, trace.load(3, offset, size) + ca.vertcat(force[0:3], torque))

    def _push_ball(self, trace, L, reciprocal, S, K, f, e, r, D: bool) -> None:
        t = blocks.forward(L, f[3:6])
        pf = f[0:3] - S.T @ t
        trace.store(2, RIGID.record.offset("b"), ca.vertcat(pf, reciprocal * t))
        if e is not None:
            self.to_parent(trace, e, K if D else None, pf - K @ (self.sign * r))

    def _push_axes(self, trace, free: Freedoms, L, reciprocal, Y, Da, f, e, D: bool) -> None:
        along = free.axes.T @ f[3:6]
        if free.rotors is not None:
            along -= free.rotors.taken(free.right[3:])
        fa = self.eliminated(trace, along, L, reciprocal, Y, f)
        if e is not None:
            self.to_parent(trace, e, Da if D else None, fa - Da @ self.given_motion(free))

    def eliminated(self, trace: Trace, along: SX, L, reciprocal, Y, f) -> SX:
        """The child's force less what its freedoms take of it; `along`: the force along these."""
        z = blocks.forward(L, along)
        fa = f - Y.T @ z
        self.save(trace, u=reciprocal * z)
        trace.store(2, RIGID.record.offset("b"), fa)
        return fa

    def given_motion(self, free: Freedoms) -> SX:
        """G r."""
        return ca.vertcat(self.sign * free.right[0:3], free.dual @ free.right[3:])

    def loaded(self, trace: Trace) -> Freedoms:
        k, right = self.record["u"][1], self.load(trace, "b")
        axes, dual = rows(self.load(trace, "axes"), k, 3).T, rows(self.load(trace, "dual"), 3 - k, 3).T
        if not self.node.rotors:
            return Freedoms(axes, dual, right)
        e = len(self.node.rotors)
        s, g, inertia = (rows(self.load(trace, name), e, self.record[name][1] // e) for name in joint_rotors.FIELDS)
        return Freedoms(axes, dual, right[: 6 - k], TurnedRotors(s, g, inertia, right[6 - k :]))

    def loaded_factors(self, trace: Trace) -> tuple[SX, SX, SX]:
        """L, the reciprocal pivots, Y."""
        k = self.record["u"][1]
        return *blocks.unpack(self.load(trace, "K"), k), rows(self.load(trace, "Y"), k, 6)

    def _forward(self, trace: Trace) -> None:
        f, e = trace.load(2, *RIGID.record["b"]), None if self.grounded else self.load(trace, "e")
        if self.is_ball:
            L, reciprocal = blocks.unpack(self.load(trace, "C"), 3)
            S, K = rows(self.load(trace, "S"), 3, 3), symmetric(self.load(trace, "K"), 3)
            self._push_ball(trace, L, reciprocal, S, K, f, e, self.load(trace, "b"), D=False)
        else:
            Da = symmetric(self.load(trace, "Da"), 6)
            self._push_axes(trace, self.loaded(trace), *self.loaded_factors(trace), Da, f, e, D=False)

    def carried(self, trace: Trace) -> SX:
        """X x_p."""
        if self.grounded:
            return SX(6, 1)
        parent, e = trace.load(3, *RIGID.record["x"]), self.load(trace, "e")
        return ca.vertcat(parent[0:3] + cross(parent[3:6], e), parent[3:6])

    def _backward(self, trace: Trace, light: bool = False) -> None:
        b, carried = trace.load(2, *RIGID.record["b"]), self.carried(trace)
        if self.is_ball:
            L, _ = blocks.unpack(self.load(trace, "C"), 3)
            S, K = rows(self.load(trace, "S"), 3, 3), symmetric(self.load(trace, "K"), 3)
            a = carried[0:3] + self.sign * self.load(trace, "b")
            x = ca.vertcat(a, blocks.backward(L, b[3:6] - S @ a))
            multipliers = self.sign * (b[0:3] - K @ a)
        else:
            free = self.loaded(trace)
            given = carried + self.given_motion(free)
            u = self.along_freedoms(trace, given)
            x = given + ca.vertcat(SX(3, 1), free.axes @ u)
            multipliers = SX(0, 1) if light else self.multipliers(free, b - symmetric(self.load(trace, "Da"), 6) @ given)
            if free.rotors is not None and not light:
                y = free.rotors.multipliers(u, free.right[3:])
                multipliers[3:] -= free.rotors.g.T @ y
                multipliers = ca.vertcat(multipliers, y)
        trace.store(2, RIGID.record.offset("x"), x)
        if not light:
            self.save(trace, x=multipliers)

    def turn(self, trace: Trace, free: Freedoms, given: SX) -> SX:
        """S u (3,), given the rest of the child's motion."""
        return free.axes @ self.along_freedoms(trace, given)

    def along_freedoms(self, trace: Trace, given: SX) -> SX:
        """u."""
        L, _, Y = self.loaded_factors(trace)
        return blocks.backward(L, self.load(trace, "u") - Y @ given)

    def multipliers(self, free: Freedoms, left: SX) -> SX:
        """Of all rows, from what is left of the child's forces."""
        return ca.vertcat(self.sign * left[0:3], free.dual.T @ left[3:6])

    def _position_residual(self, trace: Trace) -> None:
        child, parent = View(RIGID, trace, 2, Moment.END), None if self.grounded else View(RIGID, trace, 3, Moment.END)
        views = [parent, child] if self.child == 1 else [child, parent]
        rows = self.node.rows_between(trace, views, load_global(trace, "time"), self.start, self._known(trace))
        residual = turned(trace, rows, self.record.offset("x")) if self.node.rotors else rows.residual
        store_position_residual(trace, self.node.levels, residual, self.record.offset("b"), self.record.offset("history"))
