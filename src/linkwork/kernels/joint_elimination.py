"""A body and the joint to its parent eliminated together, by the joint's freedoms (docs/papers-errata.md, section 3).

The child's origin lies at the joint. Its motion is x_c = X x_p + S u + G r with X the rigid motion of the parent,
S the freedoms and J_c G = 1, so that with the child's accumulated front D, f

    U = D S    K = S^T U = L diag(1/p) L^T    Y = diag(p) L^-1 U^T
    D_a = D - U K^-1 U^T    f_a = f - Y^T L^-1 S^T f
    parent:  D += X^T D_a X    f += X^T (f_a - D_a G r)

A ball leaves a 3 x 3 block (all of the angular part is free). A hinge is free about one axis and a universal joint about two:
one or two divisions. Their remaining turning rows have dual vectors, the angular parts of G.
Pointers: 1 the joint's record, 2 the child, 3 the parent (none on the ground).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.element_kind import crossing
from linkwork.elements.core.joint_kind import ClosedRows, JointKind, Pivot
from linkwork.kernels import joint_elimination_implicit
from linkwork.kernels.node import NodeKind, parameter_record
from linkwork.kernels.node_kernels import right_side, store_landing
from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import cross, lower, rows, skew, symmetric
from linkwork.symbolic.views import View, load_global


def _beside(joint: JointKind) -> dict[str, int]:
    """What a joint keeps in its record: one of BLOCK its arm, one that is free about some axes these too."""
    axes = joint.mobilizer.nv
    if joint.pivot is Pivot.BLOCK:
        return {"e": 3}
    return {"e": 3, "axes": 3 * axes, "Y": 6 * axes, "K": blocks.triangle_size(axes), "u": axes, "dual": 3 * (3 - axes)}


# Factors in the place of the child's D (21 entries), which they replace, and in the joint's record.
FRONT = {Pivot.BLOCK: Record(C=6, S=9, K=6), Pivot.AXES: Record(Da=21)}


@dataclass
class Freedoms:
    """What a joint leaves free to the child about axes, and what it asks of it."""

    axes: SX  # (3, k): of the world
    dual: SX  # (3, 3 - k): turns of the child that change one turning row each, and no other
    right: SX  # (6 - k,): right-hand side of all rows


def has_limb(node: NodeKind) -> bool:
    """Whether a node has this form at all: one joint with a pivot of its own, whole, of rigid bodies or with the ground."""
    return (len(node.parts) == 1 and isinstance(node.parts[0].kind, JointKind) and node.parts[0].kind.pivot in FRONT
            and len(node.parts[0].kept) == len(node.parts[0].kind.levels)
            and all(kind is None or kind is RIGID for kind in node.kinds))  # fmt: skip


@dataclass(frozen=True)
class Limb:
    """`child`: which of the node's two bodies (0 or 1) is eliminated with it; `coupled`: a force couples the turning of both
    bodies in implicit steps."""

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
        beside = _beside(self.kind) | (joint_elimination_implicit.fields(self.is_ball) if self.coupled else {})
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
        """The joint is at the child's origin."""
        return {"on_b" if self.child_is_second else "on_a": SX(3, 1)}

    @cached_property
    def sign(self) -> float:
        return 1.0 if self.child_is_second else -1.0

    def kernel(self, what: str) -> Kernel:
        """up-MODE (assemble, factor, forward sweep; a hinge counts its turns), forward, backward, landing; up-begin,
        up-firm, up-draw, up-again, backward-begin, backward-again for implicit steps, and motion-again without multipliers;
        forward-alone-begin and the like answer forces alone. With "-light" up keeps nothing for further
        right-hand sides, and backward finds no multipliers."""
        light = what.endswith("-light")
        what = what.removesuffix("-light")
        name = f"{self.form}|{self.node.key}|{self.child}|{self.coupled}|{what}|{light}"
        if what in ("up-begin", "up-firm", "up-draw", "up-again"):
            mode = what.removeprefix("up-")
            return Kernel(
                name, lambda trace: joint_elimination_implicit.up(self, trace, mode), pairs=True, joining=Joining.GATHERS
            )
        if "-alone-" in what:
            half, _, mode = what.partition("-alone-")
            moved = mode == "begin" and joint_elimination_implicit.is_moved(self)
            name = name.replace(what, f"{half}-alone-moved-{moved}")
            if half == "forward":
                return Kernel(
                    name, lambda trace: joint_elimination_implicit.forward_alone(self, trace, moved), joining=Joining.GATHERS
                )
            return Kernel(
                name, lambda trace: joint_elimination_implicit.backward(self, trace, moved, True, True), joining=Joining.GATHERS
            )
        if what.endswith(("-begin", "-again")):
            half, _, mode = what.partition("-")
            moved = mode == "begin" and joint_elimination_implicit.is_moved(self)
            name = name.replace(what, f"{half}-moved-{moved}")  # else they are the same
            multipliers = half != "motion"
            return Kernel(
                name,
                lambda trace: joint_elimination_implicit.backward(self, trace, moved, multipliers),
                joining=Joining.GATHERS,
            )
        if what.startswith("up-"):
            return Kernel(name, lambda trace: self._up(trace, what[3:], light), pairs=True, joining=Joining.GATHERS)
        if light:
            return Kernel(name, lambda trace: self._backward(trace, light), joining=Joining.GATHERS)
        write = {"forward": self._forward, "backward": self._backward, "landing": self._landing}[what]
        return Kernel(name, write, joining=Joining.GATHERS)

    # Node kernels take the node's bodies in order; here child and parent do, so views are made by role.
    def rows(self, trace: Trace, stage: str, time: SX):
        child, parent = View(RIGID, trace, 2, stage), None if self.grounded else View(RIGID, trace, 3, stage)
        views = [parent, child] if self.child == 1 else [child, parent]
        return self.node.rows_between(trace, views, time, self.start, self.known), child, parent

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

    def _up(self, trace: Trace, mode: str, light: bool = False) -> None:
        derived, child, parent = self.rows(trace, "now", load_global(trace, "time"))
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
            L, reciprocal, Y, Da = self.factor(trace, D, free, light)
            self._push_axes(trace, free, L, reciprocal, Y, Da, f, e, D=True)

    def freedoms(self, trace: Trace, mode: str, child: View, parent: View | None, r: SX) -> Freedoms:
        """Of a joint that is free about some axes; r: the right-hand side of its rows."""
        p = self.node.parameters_of(trace, self.start)[0]
        (Ra, wa), (Rb, wb) = ((SX.eye(3), SX(3, 1)) if v is None else (RIGID.rotation(v), v.v[3:6])
                              for v in self._by_role(child, parent))  # fmt: skip
        free = self.kind.turning(Ra, wa, Rb, wb, p, self.sign)
        if free.rows is None:
            return Freedoms(free.axes, free.dual, r)
        return Freedoms(free.axes, free.dual, ca.vertcat(r[0:3], self._turning_rows(trace, mode, free.rows, p)))

    def _by_role(self, child: View, parent: View | None) -> tuple[View | None, View | None]:
        """a and b of the joint."""
        return (parent, child) if self.child_is_second else (child, parent)

    def factor(self, trace: Trace, D: SX, free: Freedoms, light: bool = False, held: SX | None = None) -> tuple[SX, SX, SX, SX]:
        """L, the reciprocal pivots, Y and D_a; `held` (3, 3): what holds the turn at the joint, in implicit steps."""
        U = D[:, 3:6] @ free.axes
        K = free.axes.T @ (U[3:6, :] if held is None else U[3:6, :] + held @ free.axes)
        L, reciprocal = blocks.ldl(symmetric(lower(K), K.shape[0]))
        half = blocks.forward(L, U.T)
        Y = blocks.scale(reciprocal, half)
        Da = symmetric(lower(D - half.T @ Y), 6)
        self.save(trace, b=free.right, axes=free.axes.T, Y=Y, K=blocks.pack(L, reciprocal), dual=free.dual.T)
        if not light:
            self.save(trace, Da=lower(Da))
        return L, reciprocal, Y, Da

    def _turning_rows(self, trace: Trace, mode: str, rows: ClosedRows, p) -> SX:
        """The right-hand sides of the turning rows, from their closed form."""
        k, d = load_global(trace, "stiffness"), load_global(trace, "damping")
        right = -{
            "acceleration": rows.bias + d * rows.rate + k * rows.value,
            "velocity": rows.rate,
            "closing": rows.rate,
            "first-order": k * rows.value,
            "project": rows.value,
            "begin": rows.value / load_global(trace, "step"),
            "firm": SX.zeros(3),
            "draw": rows.value,
            "again": rows.value / load_global(trace, "step"),
        }[mode]
        if mode not in ("again", "draw"):
            self._count(trace, p, *rows.angle)
        t1, t2 = rows.directions
        return ca.vertcat(ca.dot(t1, right), ca.dot(t2, right))

    def _count(self, trace: Trace, p, s: SX, c: SX) -> None:
        """The turn counter, brought up to this configuration in passing."""
        turns, side = p["turns"][0], p["turns"][1]
        where = self.start + parameter_record(self.kind).offset("turns")
        trace.store(1, where, ca.vertcat(turns + crossing(side, s, c), s))

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
        fa = self.eliminated(trace, free.axes.T @ f[3:6], L, reciprocal, Y, f)
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
        k = self.record["u"][1]
        axes, dual = rows(self.load(trace, "axes"), k, 3).T, rows(self.load(trace, "dual"), 3 - k, 3).T
        return Freedoms(axes, dual, self.load(trace, "b"))

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
            x = given + ca.vertcat(SX(3, 1), self.turn(trace, free, given))
            multipliers = SX(0, 1) if light else self.multipliers(free, b - symmetric(self.load(trace, "Da"), 6) @ given)
        trace.store(2, RIGID.record.offset("x"), x)
        if not light:
            self.save(trace, x=multipliers)

    def turn(self, trace: Trace, free: Freedoms, given: SX) -> SX:
        """S u (3,), given the rest of the child's motion."""
        L, _, Y = self.loaded_factors(trace)
        return free.axes @ blocks.backward(L, self.load(trace, "u") - Y @ given)

    def multipliers(self, free: Freedoms, left: SX) -> SX:
        """Of all rows, from what is left of the child's forces."""
        return ca.vertcat(self.sign * left[0:3], free.dual.T @ left[3:6])

    def _landing(self, trace: Trace) -> None:
        child, parent = View(RIGID, trace, 2, "next"), None if self.grounded else View(RIGID, trace, 3, "next")
        views = [parent, child] if self.child == 1 else [child, parent]
        rows = self.node.rows_between(trace, views, load_global(trace, "time"), self.start, self.known)
        store_landing(trace, self.node.levels, rows.residual, self.record.offset("b"), self.record.offset("history"))
