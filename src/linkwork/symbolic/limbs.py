"""A body and the joint to its parent eliminated together, by the joint's freedoms (ALGORITHMS section 5).

The child's origin lies at the joint. Its motion is x_c = X x_p + S u + G r with X the rigid motion of the parent,
S the freedoms and J_c G = 1, so that with the child's accumulated front D, f

    U = D S    K = S^T U    D_a = D - U K^-1 U^T    f_a = f - U K^-1 S^T f
    parent:  D += X^T D_a X    f += X^T (f_a - D_a G r)

A ball leaves a 3 x 3 block (all of the angular part is free); a hinge has one freedom and one division.
Pointers: 1 the joint's record, 2 the child, 3 the parent (none on the ground).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.symbolic import blocks, coupled
from linkwork.symbolic.blocks import cross, lower, skew, symmetric
from linkwork.symbolic.bodies import View, load_global
from linkwork.symbolic.joints import Ball, Hinge
from linkwork.symbolic.kernels import NodeKind, parameter_record, right_side, store_landing
from linkwork.symbolic.kinds import RIGID
from linkwork.symbolic.relations import crossing

# Factors in the place of the child's D (21 entries), which they replace, and in the joint's record.
FRONT = {Ball: Record(C=6, S=9, K=6), Hinge: Record(Da=21)}
BESIDE = {Ball: {"e": 3}, Hinge: {"e": 3, "axis": 3, "U": 6, "k": 1, "u": 1, "dual": 6}}


def has_limb(node: NodeKind) -> bool:
    """Whether a node has this form at all: one ball or hinge, whole, between rigid bodies or with the ground."""
    return (len(node.parts) == 1 and type(node.parts[0].relation) in FRONT
            and len(node.parts[0].kept) == len(node.parts[0].relation.levels)
            and all(kind is None or kind is RIGID for kind in node.kinds))  # fmt: skip


@dataclass(frozen=True)
class Limb:
    """`child`: which of the node's two bodies (0 or 1) is eliminated with it; `coupled`: a force couples the turning of both
    bodies in implicit steps."""

    node: NodeKind
    child: int
    coupled: bool = False

    @cached_property
    def relation(self):
        return self.node.parts[0].relation

    @cached_property
    def is_ball(self) -> bool:
        return isinstance(self.relation, Ball)

    @cached_property
    def grounded(self) -> bool:
        return self.node.kinds[0] is None

    @cached_property
    def record(self) -> Record:
        m = self.node.size
        beside = BESIDE[type(self.relation)] | (coupled.FIELDS[type(self.relation).__name__] if self.coupled else {})
        return Record({"x": m, "history": 3 * m}, b=m, **beside, parameters=self.node.parameters)

    @cached_property
    def front(self) -> Record:
        return FRONT[type(self.relation)]

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
        up-again, backward-begin, backward-again for implicit steps. With "-light" up keeps nothing for further right-hand
        sides, and backward finds no multipliers."""
        light = what.endswith("-light")
        what = what.removesuffix("-light")
        name = f"limb|{self.node.key}|{self.child}|{self.coupled}|{what}|{light}"
        if what in ("up-begin", "up-again"):
            again = what == "up-again"
            return Kernel(name, lambda trace: coupled.up(self, trace, again), pairs=True, joining=Joining.GATHERS)
        if what in ("backward-begin", "backward-again"):
            moved = what == "backward-begin" and coupled.is_moved(self)
            name = name.replace(what, f"backward-moved-{moved}")  # else they are the same
            return Kernel(name, lambda trace: coupled.backward(self, trace, moved), joining=Joining.GATHERS)
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
        rows, child, parent = self.rows(trace, "now", load_global(trace, "time"))
        r = right_side(trace, rows, mode)
        if isinstance(self.relation, Hinge):
            axis, dual, turning = self.turning_rows(trace, mode, child, parent)
            r = ca.vertcat(r[0:3], turning)
        D, f = symmetric(child.field("D"), 6), child.field("b")
        e = None if parent is None else self.arm(trace, parent)
        self.save(trace, b=r)
        if e is not None:
            self.save(trace, e=e)
        if isinstance(self.relation, Ball):
            L, reciprocal = blocks.ldl(D[3:6, 3:6])
            Y = blocks.forward(L, D[3:6, 0:3])
            S = blocks.scale(reciprocal, Y)
            K = symmetric(lower(D[0:3, 0:3] - Y.T @ S), 3)
            self.save(trace, C=blocks.pack(L, reciprocal), S=S)
            if not light:
                self.save(trace, K=lower(K))
            self._push_ball(trace, L, reciprocal, S, K, f, e, r, D=True)
        else:
            U = D[:, 3:6] @ axis
            k = 1 / ca.dot(axis, U[3:6])
            Da = symmetric(lower(D - (U * k) @ U.T), 6)
            self.save(trace, axis=axis, U=U, k=k, dual=ca.vertcat(dual[0], dual[1]))
            if not light:
                self.save(trace, Da=lower(Da))
            self._push_hinge(trace, axis, U, k, Da, dual, f, e, r, D=True)

    def turning_rows(self, trace: Trace, mode: str, child: View, parent: View | None):
        """The free axis, vectors dual to the two turning rows on the child, and these rows' right-hand sides.

        The rows are C_i = t_i . a with t_1, t_2 fixed to the first body, the axis a to the second. Their rates are t_i . z
        with z = (w_b - w_a) x a, their biases t_i . (z x w_a + (w_b - w_a) x (w_b x a)): the same vector for both. On the
        child the rows are +-(a x t_i), to which +-t_2 / (a . t_1 x t_2) and -+t_1 / (a . t_1 x t_2) are dual up to
        multiples of a, which is free.
        """
        p = self.node.parameters_of(trace, self.start)[0]
        views = (parent, child) if self.child_is_second else (child, parent)
        (Ra, wa), (Rb, wb) = ((SX.eye(3), SX(3, 1)) if v is None else (RIGID.rotation(v), v.v[3:6]) for v in views)
        t1, t2, axis = Ra @ p["ref_a"], Ra @ p["side_a"], Rb @ p["axis_b"]
        relative = wb - wa
        z = cross(relative, axis)
        k, d = load_global(trace, "stiffness"), load_global(trace, "damping")
        right = -{
            "acceleration": cross(z, wa) + cross(relative, cross(wb, axis)) + d * z + k * axis,
            "velocity": z,
            "first-order": k * axis,
            "project": axis,
            "begin": axis / load_global(trace, "step"),
            "again": axis / load_global(trace, "step"),
        }[mode]
        if mode not in ("begin", "again"):  # implicit steps count at their end
            self._count(trace, p, Rb, t1, t2)
        scale = self.sign / ca.dot(axis, cross(t1, t2))
        return axis, (scale * t2, -scale * t1), ca.vertcat(ca.dot(t1, right), ca.dot(t2, right))

    def _count(self, trace: Trace, p, Rb: SX, t1: SX, t2: SX) -> None:
        """The turn counter, brought up to this configuration in passing."""
        ref = Rb @ p["ref_b"]
        s, c = ca.dot(t2, ref), ca.dot(t1, ref)
        turns, side = p["turns"][0], p["turns"][1]
        where = self.start + parameter_record(self.relation).offset("turns")
        trace.store(1, where, ca.vertcat(turns + crossing(side, s, c), s))

    def _to_parent(self, trace: Trace, e: SX, inertia: SX | None, force: SX) -> None:
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
            self._to_parent(trace, e, K if D else None, pf - K @ (self.sign * r))

    def _push_hinge(self, trace, axis, U, k, Da, dual, f, e, r, D: bool) -> None:
        u = k * ca.dot(axis, f[3:6])
        fa = f - U * u
        self.save(trace, u=u)
        trace.store(2, RIGID.record.offset("b"), fa)
        if e is not None:
            self._to_parent(trace, e, Da if D else None, fa - Da @ self.given_motion(r, dual))

    def given_motion(self, r, dual) -> SX:
        return ca.vertcat(self.sign * r[0:3], r[3] * dual[0] + r[4] * dual[1])

    def loaded_dual(self, trace):
        both = self.load(trace, "dual")
        return both[0:3], both[3:6]

    def _forward(self, trace: Trace) -> None:
        f, r = trace.load(2, *RIGID.record["b"]), self.load(trace, "b")
        e = None if self.grounded else self.load(trace, "e")
        if isinstance(self.relation, Ball):
            L, reciprocal = blocks.unpack(self.load(trace, "C"), 3)
            S, K = blocks.rows(self.load(trace, "S"), 3, 3), symmetric(self.load(trace, "K"), 3)
            self._push_ball(trace, L, reciprocal, S, K, f, e, r, D=False)
        else:
            axis, U, k = self.load(trace, "axis"), self.load(trace, "U"), self.load(trace, "k")
            Da = symmetric(self.load(trace, "Da"), 6)
            self._push_hinge(trace, axis, U, k, Da, self.loaded_dual(trace), f, e, r, D=False)

    def _backward(self, trace: Trace, light: bool = False) -> None:
        b, r = trace.load(2, *RIGID.record["b"]), self.load(trace, "b")
        parent = SX(6, 1) if self.grounded else trace.load(3, *RIGID.record["x"])
        e = SX(3, 1) if self.grounded else self.load(trace, "e")
        carried = ca.vertcat(parent[0:3] + cross(parent[3:6], e), parent[3:6])
        if isinstance(self.relation, Ball):
            L, _ = blocks.unpack(self.load(trace, "C"), 3)
            S, K = blocks.rows(self.load(trace, "S"), 3, 3), symmetric(self.load(trace, "K"), 3)
            a = carried[0:3] + self.sign * r
            x = ca.vertcat(a, blocks.backward(L, b[3:6] - S @ a))
            multipliers = self.sign * (b[0:3] - K @ a)
        else:
            axis, U, k, u = (self.load(trace, name) for name in ("axis", "U", "k", "u"))
            dual, Da = self.loaded_dual(trace), symmetric(self.load(trace, "Da"), 6)
            given = carried + self.given_motion(r, dual)
            x = given + ca.vertcat(SX(3, 1), axis * (u - k * ca.dot(U, given)))
            left = b - Da @ given
            multipliers = ca.vertcat(self.sign * left[0:3], ca.dot(dual[0], left[3:6]), ca.dot(dual[1], left[3:6]))
        trace.store(2, RIGID.record.offset("x"), x)
        if not light:
            self.save(trace, x=multipliers)

    def _landing(self, trace: Trace) -> None:
        child, parent = View(RIGID, trace, 2, "next"), None if self.grounded else View(RIGID, trace, 3, "next")
        views = [parent, child] if self.child == 1 else [child, parent]
        rows = self.node.rows_between(trace, views, load_global(trace, "time"), self.start, self.known)
        store_landing(trace, self.node.levels, rows.residual, self.record.offset("b"), self.record.offset("history"))
