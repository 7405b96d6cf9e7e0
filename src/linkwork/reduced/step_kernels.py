"""The algebra of one link in a step of an integrator: the tree lies in the workspace of a model, behind its records.

Coordinates q and velocities qd of the links are the state. `aba_move` (`bias_move`) puts a link in place, finds its motion and
leaves what the way inwards of the articulated-body algorithm (of the inverse dynamics) begins with, in one pass outwards. What
follows outwards, accelerations and the step of the integrator, is joined with it: "aba_last+euler+aba_move" is one kernel.

Bodies of the model are read and written where they are: no numbers are copied between the two.

Pointers: 1 the link, 2 its parent, 3 its constants, 4 the scalars of the tree (`SCALARS`). Globals: those of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import POINTERS, Kernel, Record, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.force_kind import AlongJoint, ForceKind
from linkwork.kernels.implicit_forces import TANGENT
from linkwork.kernels.node import load_parameters
from linkwork.reduced.body_kernels import body_placed
from linkwork.reduced.link_kernels import Link, Placed
from linkwork.reduced.link_records import BODY, BODY_CONSTANTS, GIVEN, LINK, POINT
from linkwork.reduced.spatial_algebra import brought, carried, matrix33, solved, spatial
from linkwork.symbolic import blocks, rotation
from linkwork.symbolic.blocks import cross, lower, skew, symmetric, triangle_size
from linkwork.symbolic.views import GLOBALS

MOST_FORCES = POINTERS - 4  # along the coordinate of one joint, that one kernel takes
SCALARS = Record(weight=1, reach=1, known=1, placed=1)  # of a stage: its weight and its reach in seconds; whether q and qd are
# known, whether links have been put in place
STEP, GRAVITY = ((0, *GLOBALS[name]) for name in ("step", "gravity"))


@dataclass(frozen=True)
class StepLink(Link):
    """`weighed`: gravity acts on the links; else it is among the forces on bodies."""

    weighed: bool = False

    def kernel(self, what: str) -> Kernel:
        """The kernel of a method below, or of several one after another, joined by "+"."""
        first = (*self._key, what)
        parts = [name for name in what.split("+") if not (self.grounded and name == "aba_last")]  # `aba_in` has done that

        def write(trace: Trace) -> None:
            if len(parts) == 1:
                getattr(self, parts[0])(trace)
                return
            trace.write_all((Kernel("|".join((*self._key, name)), getattr(self, name)), (1, 2, 3, 4)) for name in parts)

        return Kernel("|".join(first), write, shared=(3, 4))

    @property
    def _key(self) -> tuple[str, ...]:
        return "step", self.kind.name, f"{self.grounded}", f"{self.grounded and self.weighed}"

    def above(self, trace: Trace, name: str) -> SX:
        if self.grounded and name == "a":
            return ca.vertcat(-trace.load(*GRAVITY) if self.weighed else SX(3, 1), SX(3, 1))
        return super().above(trace, name)

    # outwards
    def moved(self, trace: Trace) -> tuple[Placed, SX, SX]:
        """Position and velocity; where the link is, its angular velocity, and c of `spun`."""
        here = self.placed(trace)
        w, c = self.spun(trace, here)
        self.save(trace, p=self.above(trace, "p") + here.r, v=self._speed(trace, here.r, here.S))
        return here, w, c

    def _speed(self, trace: Trace, r: SX, S: SX) -> SX:
        """The velocity of the link's origin."""
        return self.above(trace, "v") + cross(self.above(trace, "w"), r) + (S @ self.load(trace, "qd"))[0:3]

    def aba_move(self, trace: Trace) -> None:
        """Position, velocity, velocity products c, the link's own inertia I^A and bias force p^A."""
        here, w, c = self.moved(trace)
        m, h, I = self.inertia(trace, here.R)
        self.save(trace, c=c, I=lower(spatial(m, h, I)), f=ca.vertcat(cross(w, cross(w, h)), cross(w, I @ w)))

    def bias_move(self, trace: Trace) -> None:
        """Position, velocity, the acceleration that the link has where no joint accelerates, and the force that it takes."""
        here, w, c = self.moved(trace)
        a, R = carried(self.above(trace, "a"), here.r) + c, here.R
        m, h, I = self.constant(trace, "mass"), R @ self.constant(trace, "h"), symmetric(self.constant(trace, "inertia"), 3)
        wl = R.T @ w
        f = m * a[0:3] + cross(a[3:6], h) + cross(w, cross(w, h))
        n = R @ (I @ (R.T @ a[3:6]) + cross(wl, I @ wl)) + cross(h, a[0:3])
        self.save(trace, a=a, f=ca.vertcat(f, n))

    def rates(self, trace: Trace) -> None:
        """The velocity of a link that is in place."""
        S, r = self.subspace(trace), self.load(trace, "r")
        w = self.above(trace, "w") + (S @ self.load(trace, "qd"))[3:6]
        self.save(trace, v=self._speed(trace, r, S), w=w)

    def follow(self, trace: Trace) -> None:
        """qdd from the accelerations of link and parent, which `aba_move` has put in place: S qdd = a - X a_p - c."""
        S, r = self.subspace(trace), self.load(trace, "r")
        rest = self.load(trace, "a") - carried(self.above(trace, "a"), r) - self.load(trace, "c")
        self.save(trace, x=solved(*blocks.ldl(S.T @ S), S.T @ rest))

    def lift(self, trace: Trace) -> None:
        """The orientation as a quaternion that is continuous in q, where accelerations stand in a step."""
        turn = self.kind.turn(self.load(trace, "q"), self.constant(trace, "beside"))
        if not self.kind.floats:
            turn = rotation.product(rotation.quaternion(matrix33(self.constant(trace, "E"))), turn)
            if not self.grounded:
                turn = rotation.product(trace.load(2, LINK.offset("a"), 4), turn)
        trace.store(1, LINK.offset("a"), turn)

    # inwards
    def aba_pass(self, trace: Trace) -> None:
        """`aba_in` without forces at the joints."""
        self.eliminate(trace, SX(self.kind.nv, 1))

    def aba_pass_held(self, trace: Trace) -> None:
        """The same with implicit forces at the joint."""
        self.eliminate(trace, SX(self.kind.nv, 1), *self.held(trace))

    def bias_in(self, trace: Trace, g=0) -> None:
        """C, less the forces on bodies, to x."""
        f, r = self.load(trace, "f"), self.load(trace, "r")
        bias = self.subspace(trace).T @ f + self.constant(trace, "damping") * self.load(trace, "qd")
        self.save(trace, x=bias + g)
        self.add_above(trace, f=brought(f, r))

    def bias_in_held(self, trace: Trace) -> None:
        self.bias_in(trace, self.held(trace)[1])

    def driven_kernel(self, what: str, laws: Sequence[ForceKind]) -> Kernel:
        """`aba_pass` or `bias_in` with forces along the joint's only coordinate; their parameters at pointers 4, 5, ..."""

        def write(trace: Trace) -> None:
            x = AlongJoint(self.load(trace, "q"), self.load(trace, "qd"))
            tau = sum((law.along(x, load_parameters(trace, 4 + k, 0, law)) for k, law in enumerate(laws)), SX(1, 1))
            if what == "aba_pass":
                self.eliminate(trace, tau)
            else:
                self.bias_in(trace, -tau)

        return Kernel("|".join((*self._key, what, *(law.key for law in laws))), write, shared=(3,))

    # implicit forces at the joint
    def release(self, trace: Trace) -> None:
        """Nothing holds the joint."""
        self.save(trace, A=SX.zeros(triangle_size(self.kind.nv)), g=SX.zeros(self.kind.nv))

    def hold(self, trace: Trace) -> None:
        """A force between a body of the link (its constants 3) and its parent holds the joint: the tangent (pointer 2,
        `TANGENT`) on the body becomes that on the joint's freedoms."""
        S, (_, arm) = self.subspace(trace), body_placed(trace)
        N = ca.vertcat(S[0:3, :] - skew(arm) @ S[3:6, :], S[3:6, :])
        A, g = self.held(trace)
        given = trace.load(2, 0, TANGENT)
        self.save(trace, A=lower(A + N.T @ symmetric(given[0:21], 6) @ N), g=g + N.T @ given[21:27])

    # steps
    def nudge(self, trace: Trace) -> None:
        """q moves by x."""
        self.save(trace, q=self.kind.integrate(self.load(trace, "q"), self.load(trace, "x")))

    def strike(self, trace: Trace) -> None:
        """qd changes by x."""
        self.save(trace, qd=self.load(trace, "qd") + self.load(trace, "x"))

    def kick(self, trace: Trace) -> None:
        """qd gains h qdd."""
        self.save(trace, qd=self.load(trace, "qd") + trace.load(*STEP) * self.load(trace, "x"))

    def drift(self, trace: Trace) -> None:
        """q moves with qd for a step."""
        self.save(trace, q=self.kind.integrate(self.load(trace, "q"), trace.load(*STEP) * self.load(trace, "qd")))

    def euler(self, trace: Trace) -> None:
        """Semi-implicit: qd gains h qdd, then q moves with it."""
        h = trace.load(*STEP)
        qd = self.load(trace, "qd") + h * self.load(trace, "x")
        self.save(trace, q=self.kind.integrate(self.load(trace, "q"), h * qd), qd=qd)

    def open_step(self, trace: Trace) -> None:
        """A step of several stages begins."""
        q, qd, nothing = self.load(trace, "q"), self.load(trace, "qd"), SX.zeros(self.kind.nv)
        self.save(trace, q0=q, qd0=qd, step=nothing, path=nothing, gain=nothing)

    def stage(self, trace: Trace) -> None:
        """The rates at this stage count by their weight, and lead to the next one, `reach` seconds from the beginning."""
        weight, reach = (trace.load(4, *SCALARS[name]) for name in ("weight", "reach"))
        rate, qdd = self.kind.dexp_inverse(self.load(trace, "step"), self.load(trace, "qd")), self.load(trace, "x")
        step = reach * rate
        self.save(trace, path=self.load(trace, "path") + weight * rate, gain=self.load(trace, "gain") + weight * qdd, step=step,
                  q=self.kind.integrate(self.load(trace, "q0"), step), qd=self.load(trace, "qd0") + reach * qdd)  # fmt: skip

    def close_step(self, trace: Trace) -> None:
        """All stages together."""
        q = self.kind.integrate(self.load(trace, "q0"), self.load(trace, "path"))
        self.save(trace, q=q, qd=self.load(trace, "qd0") + self.load(trace, "gain"))

    # how joints answer
    def spread(self, trace: Trace) -> None:
        """What the link does where its parent moves by a and unit noises y act at its joint, with the factors of `aba_in`:
        X a - G (U X a) + T y. G to `dS` and T to `J`, both (6, nv): T T^T is the response of the link while its parent is
        held."""
        S = self.subspace(trace)
        L, reciprocal = blocks.unpack(self.load(trace, "D"), self.kind.nv)
        whole = S @ blocks.backward(L, SX.eye(self.kind.nv))
        self.save(trace, dS=whole @ ca.diag(reciprocal), J=whole @ ca.diag(ca.sqrt(reciprocal)))


# bodies of the model (pointer 2) on a link (1); their constants (3)


def _lifted(trace: Trace) -> SX:
    """The quaternion of a body, from what `lift` has left of its link."""
    own = rotation.quaternion(matrix33(trace.load(3, *BODY_CONSTANTS["Q"])))
    return rotation.normalised(rotation.product(trace.load(1, LINK.offset("a"), 4), own))


def lifted_sign(trace: Trace) -> None:
    """Whether the quaternion of the body is that or its negative (pointer 4: what the tree keeps of the body)."""
    trace.store(4, 0, ca.if_else(ca.dot(_lifted(trace), trace.load(2, *GIVEN["quaternion"])) < 0, -1, 1))


def lifted_body(trace: Trace) -> None:
    """Position, quaternion and velocity."""
    w, (_, arm) = trace.load(1, *LINK["w"]), body_placed(trace)
    velocity = ca.vertcat(trace.load(1, *LINK["v"]) + cross(w, arm), w)
    trace.store(2, 0, ca.vertcat(trace.load(1, *LINK["p"]) + arm, trace.load(4, 0, 1) * _lifted(trace), velocity))


def model_pose(trace: Trace) -> None:
    """Position, axes and velocity, where contact and forces read them; the quaternion stays as it was."""
    R, arm = body_placed(trace)
    trace.store(2, RIGID.record.offset("q"), trace.load(1, *LINK["p"]) + arm)
    trace.store(2, RIGID.record.offset("R"), R @ matrix33(trace.load(3, *BODY_CONSTANTS["Q"])))
    model_velocity(trace)


def model_velocity(trace: Trace) -> None:
    w, (_, arm) = trace.load(1, *LINK["w"]), body_placed(trace)
    trace.store(2, RIGID.record.offset("v"), ca.vertcat(trace.load(1, *LINK["v"]) + cross(w, arm), w))


def model_wrench(trace: Trace) -> None:
    """The wrench on a body (pointer 2) is taken off the force that its link needs."""
    f = trace.load(1, *LINK["f"])
    trace.store(1, LINK.offset("f"), f - brought(trace.load(2, 0, 6), body_placed(trace)[1]))


def model_acceleration(trace: Trace) -> None:
    """The acceleration of the link from that of a body (pointer 2)."""
    given, w, (_, arm) = trace.load(2, 0, 6), trace.load(1, *LINK["w"]), body_placed(trace)
    trace.store(1, LINK.offset("a"), ca.vertcat(given[0:3] - cross(given[3:6], arm) - cross(w, cross(w, arm)), given[3:6]))


def body_turning(trace: Trace) -> None:
    """The acceleration of a body, in the place of its wrench in the tree; that of its link is there."""
    a, w, (_, arm) = trace.load(1, *LINK["a"]), trace.load(1, *LINK["w"]), body_placed(trace)
    there = a[0:3] + cross(a[3:6], arm) + cross(w, cross(w, arm))
    trace.store(2, BODY.offset("wrench"), ca.vertcat(there, a[3:6]))


def body_point(trace: Trace) -> None:
    """The point (pointer 2) is where the body (1) is, of whom maximal coordinates are given."""
    trace.store(2, POINT.offset("x"), trace.load(1, *GIVEN["position"]))


def of_model(write: Callable[[Trace], None]) -> Kernel:
    """The kernel of one of the functions above."""
    return Kernel(f"step|{write.__name__}", write, shared=(3,))
