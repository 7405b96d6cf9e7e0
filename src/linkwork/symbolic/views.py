"""A body inside a kernel: the scalars of a workspace, a body's symbols at a moment of a step, and vectors that it carries.

A *primitive* is a point, a line, a normal or an axis of a body in the world, with its Jacobian, rate and bias acceleration.
Constraints and forces are written with those alone (baraff96 section 2.2: black boxes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Record, Trace
from linkwork.symbolic.blocks import rows, skew, symmetric
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.body_kind import BodyKind

GLOBALS = Record(
    time=1, half=1, step=1, kick=1, share=1, stiffness=1, damping=1, gravity=3, extrapolate=3, worst=1, kinetic=1,
    potential=1, work=1, pace=1, calm=1, fault=1, iterations=1, parts=1, softness=1
)  # fmt: skip  # fmt: skip
"""time s; half: the time at which velocity rows of the position stage hold; step h s; kick: the factor on forces (1, or
a time); share: the factor on the power of prescribed motion; stiffness, damping: Baumgarte's k_s 1/s^2 and k_d 1/s;
gravity m/s^2; extrapolate: weights of the last three position stages; worst: the largest residual of the last drift;
energies and the work of prescribed motion J; pace: the last step of an adaptive integrator s, or the part of a step that
rattle or an implicit step makes at once; calm: such parts made since that changed; fault: not zero once a body has
collapsed; iterations and parts: of the last implicit step; softness: the part by which pivots are made regular, of what rows
would give to unit multipliers."""


def load_global(trace: Trace, name: str) -> SX:
    return trace.load(0, *GLOBALS[name])


def note_worst(trace: Trace, values: SX) -> None:
    """Keep the largest residual."""
    worst = load_global(trace, "worst")
    for k in range(values.shape[0]):
        worst = ca.fmax(worst, ca.fabs(values[k]))
    trace.store(0, GLOBALS.offset("worst"), worst)


@dataclass
class Primitive:
    """A vector of the world that a body carries."""

    value: SX  # (k,)
    jacobian: SX  # (k, nv): rate = jacobian @ v
    rate: SX  # (k,)
    bias: SX  # (k,): acceleration where the body's own velocity does not change


@dataclass
class ReadPose:
    """A body as users see it, in the world: of its `position`, in the axes of the user's frame."""

    position: SX  # (3,), m
    orientation: SX  # (4,), unit quaternion w x y z
    velocity: SX  # (3,), m/s, of `position`
    angular_velocity: SX  # (3,), rad/s
    frame: SX  # (3, 3): a local vector p is at position + frame @ p


def upright(position: SX, velocity: SX) -> ReadPose:
    """The pose of a body that does not turn."""
    return ReadPose(position, SX(ca.DM([1, 0, 0, 0])), velocity, SX.zeros(3), SX(ca.DM.eye(3)))


class Unsupported(Exception):
    """A body kind has no such primitive."""


class View:
    """A body's symbols inside one kernel: coordinates and velocity at a moment of a step, and its primitives."""

    rotor: tuple[SX, SX]  # of a rigid body in drift: its inertia, and its angular momentum in its own axes

    def __init__(self, kind: BodyKind, trace: Trace, pointer: int, moment: Moment = Moment.NOW) -> None:
        self.kind, self.trace, self.pointer, self.moment = kind, trace, pointer, moment
        self.q = self.field({Moment.NOW: "q", Moment.END: "q1", Moment.MIDDLE: "qm"}[moment])
        self.v = self.field({Moment.NOW: "v", Moment.END: "v1", Moment.MIDDLE: "vm"}[moment])

    def field(self, name: str) -> SX:
        return self.trace.load(self.pointer, *self.kind.record[name])

    def point(self, local: SX) -> Primitive:
        return self.kind.point(self, local)

    def line(self, local: SX) -> Primitive:
        return self.kind.line(self, local)

    def normal(self, local: SX) -> Primitive:
        return self.kind.normal(self, local)

    def axis(self, local: SX) -> Primitive:
        return self.kind.axis(self, local)

    def spin(self) -> Primitive:
        return self.kind.spin(self)

    def quaternion(self) -> Primitive:
        return self.kind.quaternion(self)

    def coordinates(self) -> Primitive:
        return self.kind.coordinates(self)


class StateView(View):
    """A view that takes nothing but the state of a body: poses are derived anew, so that what is read depends on coordinates
    and velocities alone, to the bit, and not on how these were reached."""

    def __init__(self, kind: BodyKind, trace: Trace, pointer: int) -> None:
        super().__init__(kind, trace, pointer)
        self.moment = Moment.MIDDLE  # at which no derived pose is kept


class PerturbedView(View):
    """A view whose coordinates and velocity carry symbols for a small displacement (`shift`, in the units of velocity) and a
    small change of velocity (`kick`): what is written with it can be differentiated by them, at zero."""

    def __init__(self, kind: BodyKind, trace: Trace, pointer: int, moment: Moment) -> None:
        super().__init__(kind, trace, pointer, moment)
        self.shift, self.kick = SX.sym("shift", kind.nv), SX.sym("kick", kind.nv)
        self._pose = View.field(self, "R") + kind.pose_rate(View(kind, trace, pointer, moment), self.shift)
        self.q = self.q + kind.rate(self.q, self.shift)
        self.v = self.v + self.kick

    def field(self, name: str) -> SX:
        return self._pose if name == "R" and hasattr(self, "_pose") else super().field(name)

    def reached(self, h: SX) -> PerturbedView:
        """This view with the velocity with which its coordinates are reached from those of `NOW` in h."""
        still = View(self.kind, self.trace, self.pointer, self.moment)
        self.v = self.kind.velocity_between(still, View(self.kind, self.trace, self.pointer).q, self.q, h)
        return self


def derivatives(expressions: list[SX], views: list[PerturbedView]) -> list[list[SX]]:
    """Expressions, and their derivatives by all shifts and by all kicks, at zero."""
    shift, kick = (ca.vertcat(*[getattr(v, name) for v in views]) for name in ("shift", "kick"))
    found = [[e, ca.jacobian(e, shift), ca.jacobian(e, kick)] for e in expressions]
    flat = ca.substitute([x for group in found for x in group], [shift, kick], [SX.zeros(shift.shape), SX.zeros(kick.shape)])
    return [flat[3 * k : 3 * k + 3] for k in range(len(expressions))]


def carried_quaternion(q: SX, spin: Primitive) -> Primitive:
    """The primitive of a unit quaternion q (4,) that turns with the spin w of a body: q' = (0, w) q / 2."""
    w = spin.value
    by_spin = 0.5 * ca.vertcat(-q[1:4].T, q[0] * SX.eye(3) - skew(q[1:4]))  # (4, 3)
    return Primitive(q, by_spin @ spin.jacobian, by_spin @ w, by_spin @ spin.bias - 0.25 * ca.sumsqr(w) * q)


def matrix33(column: SX) -> SX:
    return rows(column, 3, 3)


def positive_part(r: SX, mu: SX) -> SX:
    """The symmetric part of d(r x mu)/d(turn) = r mu^T - (r.mu) 1, plus (r.mu + |r||mu|)/2: its least eigenvalue is zero."""
    lengths = ca.sqrt(ca.sumsqr(r) * ca.sumsqr(mu))
    return 0.5 * (r @ mu.T + mu @ r.T) + 0.5 * (lengths - ca.dot(r, mu)) * SX.eye(3)


def turned_axes(pose: SX, w: SX) -> SX:
    """The derivative of a rotation matrix, given and returned as a column row by row, for an angular velocity."""
    return ca.reshape((skew(w) @ matrix33(pose)).T, 9, 1)


def symmetric_product(R: SX, diagonal: SX) -> SX:
    """R diag(d) R^T, each entry of its lower triangle computed once."""
    scaled = R * ca.repmat(ca.transpose(diagonal), 3, 1)
    return symmetric(ca.vertcat(*[ca.dot(scaled[i, :], R[j, :]) for i in range(3) for j in range(i + 1)]), 3)
