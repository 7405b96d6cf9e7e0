"""The algebra of one link of a tree, by the kind of its joint: each kernel is one step of one algorithm.

A link's frame is its joint's frame on it. All vectors are in the world's axes, moments about the link's origin, accelerations
those of the origin; gravity is an acceleration of the ground upwards. So inertias and forces move from a link to its parent
by the arm r alone, and no kernel turns a matrix of 6 x 6:

    X a = (a + w' x r, w')        X^T f = (f, n + r x f)

Pointers: 1 the link, 2 its parent, 3 its constants (shared by all lanes), 4 and 5 as a kernel says. Globals: gravity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.reduced.body_kernels import add_sums
from linkwork.reduced.link_records import COMMON, CONSTANTS, GRAVITY, POINT, SUMS
from linkwork.reduced.spatial_algebra import (
    at,
    blocks_of_identity,
    brought,
    carried,
    lifted,
    matrix33,
    shifted,
    solved,
    spatial,
)
from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import cross, lower, skew, symmetric, triangle_size


@dataclass(frozen=True)
class Link:
    """A link of a tree: `kind` of its joint, `grounded`: its parent is the ground."""

    kind: Mobilizer
    grounded: bool

    @cached_property
    def record(self) -> Record:
        n = self.kind.nv
        return Record(**COMMON, U=6 * n, q=self.kind.nq, qd=n, x=n, S=self.pattern.nnz(), D=triangle_size(n), u=n, dS=6 * n,
                      end=self.kind.nq, J=6 * n, q0=self.kind.nq, qd0=n, step=n, path=n, gain=n, A=triangle_size(n),
                      g=n)  # fmt: skip

    @cached_property
    def constants(self) -> Record:
        n = self.kind.nv
        return Record(**CONSTANTS, armature=n, damping=n, beside=self.kind.constants)

    @cached_property
    def _symbols(self) -> tuple[SX, SX, SX]:
        return SX.sym("P", 3, 3), SX.sym("q", self.kind.nq), SX.sym("p", self.kind.constants)

    @cached_property
    def pattern(self) -> ca.Sparsity:
        """Where S has entries in the world's axes."""
        P, q, p = self._symbols
        return self._turned(P, self.kind.subspace(q, p)).sparsity()

    def kernel(self, what: str) -> Kernel:
        """The step `what` of an algorithm: the name of one of the methods below."""
        write: Callable[[Trace], None] = getattr(self, what)
        return Kernel(f"reduced|{self.kind.name}|{self.grounded}|{what}", write, shared=(3,))

    # what kernels read and write
    def load(self, trace: Trace, name: str, pointer: int = 1) -> SX:
        return trace.load(pointer, *self.record[name])

    def save(self, trace: Trace, **results) -> None:
        for name, value in results.items():
            trace.store(1, self.record.offset(name), value)

    def constant(self, trace: Trace, name: str) -> SX:
        return trace.load(3, *self.constants[name])

    def above(self, trace: Trace, name: str) -> SX:
        """A field of the parent: the ground stays where it is, and rises with -gravity."""
        if not self.grounded:
            return trace.load(2, *self.record[name])
        if name == "R":
            return blocks_of_identity()
        if name == "a":
            return ca.vertcat(-trace.load(*GRAVITY), SX(3, 1))
        return SX(COMMON[name], 1)

    def add_above(self, trace: Trace, **results) -> None:
        """Add to fields of the parent; the ground keeps nothing."""
        if not self.grounded:
            for name, value in results.items():
                offset, size = self.record[name][0], value.shape[0]
                trace.store(2, offset, trace.load(2, offset, size) + value)

    def subspace(self, trace: Trace, pointer: int = 1) -> SX:
        """S, (6, nv), as `place` has left it."""
        if self.kind.floats:
            return SX.eye(6)
        return SX(self.pattern, trace.load(pointer, *self.record["S"]))

    def held(self, trace: Trace) -> tuple[SX, SX]:
        """What implicit forces at the joint add to H (nv, nv), and take off tau (nv,): see `StepLink.hold`."""
        return symmetric(self.load(trace, "A"), self.kind.nv), self.load(trace, "g")

    @staticmethod
    def _turned(P: SX, S: SX) -> SX:
        return ca.vertcat(P @ S[0:3, :], P @ S[3:6, :])

    # positions
    def placed(self, trace: Trace) -> Placed:
        """Where the joint puts the link, from where the parent is; R, r and S are kept."""
        q, p = self.load(trace, "q"), self.constant(trace, "beside")
        E, d = self.kind.transform(q, p)
        if self.kind.floats:
            P, R, r = SX.eye(3), E, d
        else:
            above = matrix33(self.above(trace, "R"))
            P = above @ matrix33(self.constant(trace, "E"))
            R, r = P @ E, above @ self.constant(trace, "t") + P @ d
        S = self._turned(P, at(q, lambda q: self.kind.subspace(q, p)))
        self.save(trace, R=R, r=r)
        if not self.kind.floats:
            self.save(trace, S=ca.project(S, self.pattern).nz[:])
        return Placed(P, R, r, S, q, p)

    def spun(self, trace: Trace, here: Placed) -> tuple[SX, SX]:
        """The angular velocity w, and the acceleration c (6,) that the link has without a' of its parent and qdd; kept."""
        qd, above = self.load(trace, "qd"), self.above(trace, "w")
        move = here.S @ qd
        w = above + move[3:6]
        whirl = cross(above, cross(above, here.r) + 2 * move[0:3])
        drift = at(here.q, lambda q: self.kind.bias(q, qd, here.p))
        c = ca.vertcat(whirl, cross(above, move[3:6])) + ca.vertcat(here.P @ drift[0:3], here.P @ drift[3:6])
        self.save(trace, w=w)
        return w, c

    def inertia(self, trace: Trace, R: SX) -> tuple[SX, SX, SX]:
        """Mass m, first moment h = m c and second moment about the origin, in the world's axes."""
        I = symmetric(self.constant(trace, "inertia"), 3)
        return self.constant(trace, "mass"), R @ self.constant(trace, "h"), R @ I @ R.T

    # RNEA
    def rnea_out(self, trace: Trace) -> None:
        """Outwards: motion of the link, and the force that it takes."""
        here = self.placed(trace)
        w, c = self.spun(trace, here)
        a = carried(self.above(trace, "a"), here.r) + c + here.S @ self.load(trace, "x")
        R, alpha = here.R, a[3:6]
        m, h, I = self.constant(trace, "mass"), R @ self.constant(trace, "h"), symmetric(self.constant(trace, "inertia"), 3)
        f = m * a[0:3] + cross(alpha, h) + cross(w, cross(w, h))
        wl = R.T @ w
        n = R @ (I @ (R.T @ alpha) + cross(wl, I @ wl)) + cross(h, a[0:3])
        self.save(trace, a=a, f=ca.vertcat(f, n))

    def rnea_in(self, trace: Trace) -> None:
        """Inwards: tau = S^T f, and the force goes to the parent."""
        f, r = self.load(trace, "f"), self.load(trace, "r")
        qd, qdd = self.load(trace, "qd"), self.load(trace, "x")
        tau = self.subspace(trace).T @ f + self.constant(trace, "armature") * qdd + self.constant(trace, "damping") * qd
        self.save(trace, x=tau)
        self.add_above(trace, f=brought(f, r))

    # ABA
    def aba_out(self, trace: Trace) -> None:
        """Outwards: velocities, velocity products c, the link's own inertia I^A and bias force p^A."""
        here = self.placed(trace)
        w, c = self.spun(trace, here)
        m, h, I = self.inertia(trace, here.R)
        self.save(trace, c=c, I=lower(spatial(m, h, I)), f=ca.vertcat(cross(w, cross(w, h)), cross(w, I @ w)))

    def aba_in(self, trace: Trace) -> None:
        """Inwards, under the forces x at the joints."""
        self.eliminate(trace, self.load(trace, "x"))

    def eliminate(self, trace: Trace, tau, A=0, g=0) -> None:
        """Inwards: the articulated inertia and bias force go to the parent.

        U = I^A S    D = S^T U    u = tau - S^T p^A    I^a = I^A - U D^-1 U^T    p^a = p^A + I^a c + U D^-1 u

        Implicit forces at the joint add A to D and take g off u.
        """
        S, I, p = self.subspace(trace), symmetric(self.load(trace, "I"), 6), self.load(trace, "f")
        c, qd = self.load(trace, "c"), self.load(trace, "qd")
        U = I @ S
        u = tau - self.constant(trace, "damping") * qd - S.T @ p - g
        L, reciprocal = blocks.ldl(S.T @ U + ca.diag(self.constant(trace, "armature")) + A)
        if self.grounded:
            a = self.above(trace, "a") + c
            qdd = solved(L, reciprocal, u - U.T @ a)
            self.save(trace, x=qdd, a=a + S @ qdd, D=blocks.pack(L, reciprocal))
            return
        Y, z = blocks.forward(L, U.T), blocks.forward(L, u)
        scaled = blocks.scale(reciprocal, Y)
        Ia = symmetric(lower(I - Y.T @ scaled), 6)
        r = self.load(trace, "r")
        self.save(trace, U=Y, D=blocks.pack(L, reciprocal), u=z)
        self.add_above(trace, I=shifted(Ia, r), f=brought(p + Ia @ c + scaled.T @ z, r))

    def aba_last(self, trace: Trace) -> None:
        """Outwards again: qdd = D^-1 (u - U^T a'), a = a' + S qdd, with a' = X a + c of the parent's a."""
        n = self.kind.nv
        L, reciprocal = blocks.unpack(self.load(trace, "D"), n)
        Y, z = blocks.rows(self.load(trace, "U"), n, 6), self.load(trace, "u")
        a = carried(self.above(trace, "a"), self.load(trace, "r")) + self.load(trace, "c")
        qdd = blocks.backward(L, reciprocal * (z - Y @ a))
        self.save(trace, x=qdd, a=a + self.subspace(trace) @ qdd)

    def rest(self, trace: Trace) -> None:
        """No force on the link, as before a response."""
        self.save(trace, f=SX.zeros(6))

    def response_in(self, trace: Trace) -> None:
        """Inwards: H^-1 x with the factors that `aba_in` has left; no link is at motion, f of all is zero and will be."""
        S, p = self.subspace(trace), self.load(trace, "f")
        L, reciprocal = blocks.unpack(self.load(trace, "D"), self.kind.nv)
        u = self.load(trace, "x") - S.T @ p
        self.rest(trace)
        if self.grounded:
            qdd = solved(L, reciprocal, u)
            self.save(trace, x=qdd, a=S @ qdd)
            return
        Y, z = blocks.rows(self.load(trace, "U"), self.kind.nv, 6), blocks.forward(L, u)
        self.save(trace, u=z)
        self.add_above(trace, f=brought(p + blocks.scale(reciprocal, Y).T @ z, self.load(trace, "r")))

    def response_out(self, trace: Trace) -> None:
        """Outwards again."""
        L, reciprocal = blocks.unpack(self.load(trace, "D"), self.kind.nv)
        Y, z = blocks.rows(self.load(trace, "U"), self.kind.nv, 6), self.load(trace, "u")
        a = carried(self.above(trace, "a"), self.load(trace, "r"))
        qdd = blocks.backward(L, reciprocal * (z - Y @ a))
        self.save(trace, x=qdd, a=a + self.subspace(trace) @ qdd)

    # CRBA
    def crba_out(self, trace: Trace) -> None:
        """Outwards: positions, and the link's own inertia as the start of its composite one (m, h, second moment)."""
        self._compose(trace, self.placed(trace).R)

    def compose(self, trace: Trace) -> None:
        """The same, of a link that is in place."""
        self._compose(trace, matrix33(self.load(trace, "R")))

    def _compose(self, trace: Trace, R: SX) -> None:
        m, h, I = self.inertia(trace, R)
        self.save(trace, I=ca.vertcat(m, h, lower(I)))

    def crba_in(self, trace: Trace, above: Link | None, held: bool = False) -> None:
        """Inwards: F = I^c S, the blocks H_ii = S^T F and, with the parent `above`, H_ij = F^T S_j to pointer 4; the composite
        inertia goes to the parent, and F stands at the grandparent."""
        r, S = self.load(trace, "r"), self.subspace(trace)
        F = self._composite_momentum(trace, S)
        own = S.T @ F + ca.diag(self.constant(trace, "armature"))
        trace.store(4, 0, lower(own + self.held(trace)[0] if held else own))
        if above is None:
            return
        F = lifted(F, r)
        trace.store(4, triangle_size(self.kind.nv), F.T @ above.subspace(trace, 2))
        self.save(trace, U=lifted(F, above.load(trace, "r", 2)))
        self._add_composite(trace, r)

    def _composite(self, trace: Trace) -> tuple[SX, SX, SX]:
        """Mass, first and second moment of the link and all beyond it."""
        record = self.load(trace, "I")
        return record[0], record[1:4], symmetric(record[4:10], 3)

    def _composite_momentum(self, trace: Trace, S: SX) -> SX:
        """F = I^c S, (6, nv): the momentum of the link and all beyond it while its joint moves."""
        m, h, I = self._composite(trace)
        return ca.vertcat(m * S[0:3, :] - skew(h) @ S[3:6, :], skew(h) @ S[0:3, :] + I @ S[3:6, :])

    def _add_composite(self, trace: Trace, r: SX) -> None:
        """The composite inertia goes to the parent."""
        m, h, I = self._composite(trace)
        moved = h + m * r
        second = I + (ca.dot(h, r) + ca.dot(moved, r)) * SX.eye(3) - h @ r.T - r @ moved.T
        self.add_above(trace, I=ca.vertcat(m, moved, lower(second)))

    def weight_out(self, trace: Trace) -> None:
        """Outwards: positions, and the link's own mass and first moment."""
        R = self.placed(trace).R
        trace.store(1, self.record.offset("I"), ca.vertcat(self.constant(trace, "mass"), R @ self.constant(trace, "h")))

    def weight_in(self, trace: Trace) -> None:
        """Inwards: x is the force at the joint that holds the link, and all beyond it, against gravity."""
        offset = self.record.offset("I")
        g, m, h = trace.load(*GRAVITY), trace.load(1, offset, 1), trace.load(1, offset + 1, 3)
        self.save(trace, x=-self.subspace(trace).T @ ca.vertcat(m * g, cross(h, g)))
        self.add_above(trace, I=ca.vertcat(m, h + m * self.load(trace, "r")))

    def momentum_in(self, trace: Trace) -> None:
        """Inwards: F = I^c S about the centre of mass (pointer 4: sums) to J; the composite inertia goes to the parent."""
        arm = self.load(trace, "p") - trace.load(4, *SUMS["h"])
        self.save(trace, J=lifted(self._composite_momentum(trace, self.subspace(trace)), arm))
        self._add_composite(trace, self.load(trace, "r"))

    # kinematics
    def place(self, trace: Trace) -> None:
        """Outwards: position."""
        here = self.placed(trace)
        self.save(trace, p=self.above(trace, "p") + here.r)

    def move(self, trace: Trace) -> None:
        """Outwards: position and velocity of the origin, angular velocity, S'."""
        here, qd, w = self.placed(trace), self.load(trace, "qd"), self.above(trace, "w")
        move = here.S @ qd
        rate = self._turned(here.P, self.kind.subspace_rate(here.q, qd, here.p))
        self.save(trace, p=self.above(trace, "p") + here.r, w=w + move[3:6],
                  v=self.above(trace, "v") + cross(w, here.r) + move[0:3], dS=self._turned(skew(w), here.S) + rate)  # fmt: skip

    def column(self, trace: Trace) -> None:
        """The Jacobian of a point (pointer 2) by this joint's velocities: linear, then angular."""
        self.save(trace, J=self._column(trace))

    def column_turned(self, trace: Trace) -> None:
        """The same in the axes of its frame."""
        self.save(trace, J=self._turned(matrix33(trace.load(2, *POINT["axes"])).T, self._column(trace)))

    def _column(self, trace: Trace) -> SX:
        S, arm = self.subspace(trace), trace.load(2, *POINT["x"]) - self.load(trace, "p")
        return ca.vertcat(S[0:3, :] - skew(arm) @ S[3:6, :], S[3:6, :])

    def column_rate(self, trace: Trace) -> None:
        """Its time derivative."""
        S, dS = self.subspace(trace), blocks.rows(self.load(trace, "dS"), 6, self.kind.nv)
        arm = trace.load(2, *POINT["x"]) - self.load(trace, "p")
        rate = trace.load(2, *POINT["rate"]) - self.load(trace, "v")
        self.save(trace, J=ca.vertcat(dS[0:3, :] - skew(arm) @ dS[3:6, :] - skew(rate) @ S[3:6, :], dS[3:6, :]))

    def weigh(self, trace: Trace) -> None:
        """Mass and first moment are added up (pointer 2)."""
        m, h = self.constant(trace, "mass"), matrix33(self.load(trace, "R")) @ self.constant(trace, "h")
        add_sums(trace, mass=m, h=m * self.load(trace, "p") + h)

    def sum_up(self, trace: Trace) -> None:
        """Mass, first moment, momenta about the origin and energies are added up (pointer 2)."""
        R, w, qd = matrix33(self.load(trace, "R")), self.load(trace, "w"), self.load(trace, "qd")
        m, h, I = self.inertia(trace, R)
        p, v = self.load(trace, "p"), self.load(trace, "v")
        P, L = m * v + cross(w, h), I @ w + cross(h, v)
        twice = ca.dot(P, v) + ca.dot(L, w) + ca.dot(self.constant(trace, "armature") * qd, qd)
        add_sums(trace, mass=m, h=m * p + h, P=P, L=L + cross(p, P), kinetic=0.5 * twice,
                 potential=-ca.dot(trace.load(*GRAVITY), m * p + h))  # fmt: skip

    # from maximal coordinates
    def recover(self, trace: Trace) -> None:
        """q and qd from where link and parent are and how they move; qd = (S^T S)^-1 S^T of their relative velocity."""
        above, R = matrix33(self.above(trace, "R")), matrix33(self.load(trace, "R"))
        P = SX.eye(3) if self.kind.floats else above @ matrix33(self.constant(trace, "E"))
        arm = SX(3, 1) if self.kind.floats else above @ self.constant(trace, "t")
        r, w, p = self.load(trace, "p") - self.above(trace, "p"), self.above(trace, "w"), self.constant(trace, "beside")
        q = self.kind.coordinates(P.T @ R, P.T @ (r - arm), p)
        move = ca.vertcat(self.load(trace, "v") - self.above(trace, "v") - cross(w, r), self.load(trace, "w") - w)
        S = self._turned(P, at(q, lambda q: self.kind.subspace(q, p)))
        self.save(trace, q=q, qd=solved(*blocks.ldl(S.T @ S), S.T @ move))

    # on a configuration manifold
    def integrate(self, trace: Trace) -> None:
        """q moved by qd."""
        trace.store(1, self.record.offset("q"), self.kind.integrate(self.load(trace, "q"), self.load(trace, "qd")))

    def difference(self, trace: Trace) -> None:
        """qd that moves q to `end`."""
        trace.store(1, self.record.offset("qd"), self.kind.difference(self.load(trace, "q"), self.load(trace, "end")))


@dataclass(frozen=True)
class Placed:
    """What `Link.placed` finds."""

    P: SX  # (3, 3): axes of the joint's frame on the parent, in the world
    R: SX  # (3, 3): axes of the link
    r: SX  # (3,), m: from the parent's origin to the link's
    S: SX  # (6, nv), in the world's axes
    q: SX
    p: SX
