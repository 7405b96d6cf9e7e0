"""Joint pivots of any joint, with rotors that it turns; the child may have no mass of its own.

As in joint_elimination.py the child moves by x_c = X x_p + S u + G r, with S and G from the rows on the child, J:
G = J^T (J J^T)^-1, and S what is left of the joint's `world_subspace`, S - G J S. The child's front D may be singular, as that
of a massless link is, as long as S^T D S is not. A row J_e of a rotor of inertia a (`Rotor`) adds
a (J_e (S u + G r) - r_e)^2 / 2 to the quadratic form, whatever the parent does:

    K = S^T D S + a s^T s    f_a = f - Y^T L^-1 (S^T f - a s^T d)    s = J_e S    d = J_e G r - r_e
    rotor: y_e = a (s u + d)    other rows: y = G^T (f - D x_c - J_e^T y_e)

Pointers: 1 the joint's record, 2 the child, 3 the parent (none on the ground).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.joint_kind import JointKind, Pose
from linkwork.kernels.joint_elimination import JointPivot
from linkwork.kernels.node import NodeKind, count, parameter_record
from linkwork.kernels.node_kernels import right_side, store_position_residual, turned
from linkwork.kernels.vocabulary import Iteration, PivotSweep, RowMode
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import ROTOR, Rows, Tape
from linkwork.symbolic.blocks import lower, rows, symmetric
from linkwork.symbolic.views import View, load_global
from linkwork.symbolic.vocabulary import Moment


def has_general_pivot(node: NodeKind) -> bool:
    """Whether a node has this form: one joint of rigid bodies or with the ground, whole, and rotors that it turns."""
    joint, *others = node.parts
    return (isinstance(joint.kind, JointKind)
            and len(joint.kept) == len(joint.kind.levels)
            and all(part.kind.levels == [ROTOR] for part in others)
            and all(kind is None or kind is RIGID for kind in node.kinds))  # fmt: skip


@dataclass(frozen=True)
class Factors:
    """What a sweep upwards leaves."""

    S: SX  # (6, k)
    G: SX  # (6, m): m rows that are held
    s: SX  # (e, k): rotors' rows on S ...
    g: SX  # (e, m): ... and on G
    inertia: SX  # (e,)


class GeneralJointPivot(JointPivot):
    """A joint pivot whose joint may be any."""

    form: ClassVar[str] = "link"

    @cached_property
    def freedoms_count(self) -> int:
        return self.kind.mobilizer.nv

    @cached_property
    def held(self) -> list[int]:
        """Rows that are no rotor's."""
        return [k for k in range(self.node.size) if k not in self.node.rotors]

    @cached_property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Of matrices in the record."""
        k, m, e = self.freedoms_count, len(self.held), len(self.node.rotors)
        return {"S": (6, k), "G": (6, m), "s": (e, k), "g": (e, m), "Y": (k, 6), "inertia": (e, 1)}

    @cached_property
    def record(self) -> Record:
        m, k = self.node.size, self.freedoms_count
        matrices = {name: r * c for name, (r, c) in self.sizes.items()}
        return Record({"x": m, "history": 3 * m}, b=m, e=3, K=blocks.triangle_size(k), u=k, **matrices,
                      parameters=self.node.parameters)  # fmt: skip

    @cached_property
    def front(self) -> Record:
        return Record(Da=21)

    def kernel(self, sweep: PivotSweep, mode: RowMode | Iteration | None = None, light: bool = False) -> Kernel:
        if isinstance(mode, Iteration):
            raise NotImplementedError(f"{self.node.key}: implicit steps have no such pivots")
        return super().kernel(sweep, mode, light)

    def matrix(self, trace: Trace, name: str) -> SX:
        return rows(self.load(trace, name), *self.sizes[name])

    def _views(self, trace: Trace, moment: Moment) -> tuple[list[View | None], View, View | None]:
        """Those of the node's bodies in turn, the child's, the parent's."""
        child, parent = View(RIGID, trace, 2, moment), None if self.grounded else View(RIGID, trace, 3, moment)
        return [parent, child] if self.child == 1 else [child, parent], child, parent

    def _up(self, trace: Trace, mode: RowMode, light: bool = False) -> None:
        views, child, parent = self._views(trace, Moment.NOW)
        derived = self.node.rows_between(trace, views, load_global(trace, "time"), self.start, self.known)
        D, f, r = symmetric(child.field("D"), 6), child.field("b"), right_side(trace, derived, mode)
        self._count_turns(trace, views)
        factors = self._factors(derived, self._world_subspace(trace, child, parent))
        U = D @ factors.S
        K = factors.S.T @ U + factors.s.T @ ca.diag(factors.inertia) @ factors.s
        L, reciprocal = blocks.ldl(symmetric(lower(K), self.freedoms_count))
        half = blocks.forward(L, U.T)
        Y = blocks.scale(reciprocal, half)
        Da = symmetric(lower(D - half.T @ Y), 6)
        e = None if parent is None else child.q[0:3] - parent.q[0:3]
        if e is not None:
            self.save(trace, e=e)
        self.save(trace, b=r, S=factors.S, G=factors.G, s=factors.s, g=factors.g, Y=Y, inertia=factors.inertia,
                  K=blocks.pack(L, reciprocal) if self.freedoms_count else SX(0, 1), Da=lower(Da))  # fmt: skip
        self._push(trace, factors, L, reciprocal, Y, Da, f, e, r, D=True)

    def save(self, trace: Trace, **results) -> None:
        super().save(trace, **{name: value for name, value in results.items() if value.numel()})

    def _count_turns(self, trace: Trace, views) -> None:
        """Turn counters are brought up to this configuration in passing."""
        tape, offset = Tape(views, load_global(trace, "time")), self.start
        for part, p in zip(self.node.parts, self.node.parameters_of(trace, self.start), strict=True):
            count(trace, part.kind, part.arranged(tape.handles), 1, offset, p, tape)
            offset += parameter_record(part.kind).size

    def _world_subspace(self, trace: Trace, child: View, parent: View | None) -> SX:
        """The freedoms (6, k) of the child at its own anchor, where nothing has drifted; linear, then angular."""
        p = self.node.parameters_of(trace, self.start)[0]
        a, b = (Pose(SX.eye(3), SX(3, 1)) if v is None else Pose(RIGID.rotation(v), v.q[0:3])
                for v in self._by_role(child, parent))  # fmt: skip
        return self.kind.world_subspace(a, b, p, 1 if self.child_is_second else 0)

    def _factors(self, derived: Rows, subspace: SX) -> Factors:
        whole = derived.jacobians[self.child]
        J, turning = whole[self.held, :], whole[self.node.rotors, :]
        L, reciprocal = blocks.ldl(J @ J.T)
        G = blocks.backward(L, blocks.scale(reciprocal, blocks.forward(L, J))).T
        S = subspace - G @ (J @ subspace)
        inertia = ca.vertcat(SX(0, 1), *[derived.rotors[k].inertia for k in self.node.rotors])
        return Factors(S, G, turning @ S, turning @ G, inertia)

    def _split(self, r: SX) -> tuple[SX, SX]:
        """What held rows ask for, and rotors' rows."""
        return r[self.held], r[self.node.rotors]

    def _push(self, trace, factors: Factors, L, reciprocal, Y, Da, f, e, r, D: bool) -> None:
        held, turning = self._split(r)
        along = factors.S.T @ f - factors.s.T @ (factors.inertia * (factors.g @ held - turning))
        z = blocks.forward(L, along)
        fa = f - Y.T @ z
        self.save(trace, u=reciprocal * z)
        trace.store(2, RIGID.record.offset("b"), fa)
        if e is not None:
            self.to_parent(trace, e, Da if D else None, fa - Da @ (factors.G @ held))

    def _loaded_factors(self, trace: Trace) -> Factors:
        return Factors(*(self.matrix(trace, name) for name in ("S", "G", "s", "g", "inertia")))

    def _pivots(self, trace: Trace) -> tuple[SX, SX]:
        k = self.freedoms_count
        return blocks.unpack(self.load(trace, "K"), k) if k else (SX(0, 0), SX(0, 1))

    def _forward(self, trace: Trace) -> None:
        f, e = trace.load(2, *RIGID.record["b"]), None if self.grounded else self.load(trace, "e")
        Da, Y = symmetric(self.load(trace, "Da"), 6), self.matrix(trace, "Y")
        self._push(trace, self._loaded_factors(trace), *self._pivots(trace), Y, Da, f, e, self.load(trace, "b"), D=False)

    def _backward(self, trace: Trace, light: bool = False) -> None:
        factors, (held, turning) = self._loaded_factors(trace), self._split(self.load(trace, "b"))
        given = self.carried(trace) + factors.G @ held
        L, _ = self._pivots(trace)
        u = blocks.backward(L, self.load(trace, "u") - self.matrix(trace, "Y") @ given)
        trace.store(2, RIGID.record.offset("x"), given + factors.S @ u)
        if light:
            return
        y = factors.inertia * (factors.s @ u + factors.g @ held - turning)
        left = trace.load(2, *RIGID.record["b"]) - symmetric(self.load(trace, "Da"), 6) @ given
        found = SX(self.node.size, 1)
        found[self.held] = factors.G.T @ left - factors.g.T @ y
        if self.node.rotors:
            found[self.node.rotors] = y
        self.save(trace, x=found)

    def _position_residual(self, trace: Trace) -> None:
        views, *_ = self._views(trace, Moment.END)
        derived = self.node.rows_between(trace, views, load_global(trace, "time"), self.start, self.known)
        residual = turned(trace, derived, self.record.offset("x"))
        store_position_residual(trace, self.node.levels, residual, self.record.offset("b"), self.record.offset("history"))
