"""Rows and forces written with primitives, and the chain rule that turns them into J, rate and bias.

A *handle* stands for a body (or the ground) while a constraint is written. Each vector it hands out is a fresh symbol
on a tape, with a second symbol for its rate. A row C(s, t) of such symbols then has

    J = sum dC/ds_i J_i        rate = dC/ds s' + C_t        bias = d(rate)/ds s' + d(rate)/dt + dC/ds s''_bias

and a velocity row g(s, s', t) has A = sum dg/ds'_i J_i and bias = dg/ds s' + g_t + dg/ds' s''_bias. Symbols are
replaced by the bodies' own expressions last, so that closed forms stay closed.

A row may speak of *unknowns* y that equations G(s, y, t) = 0 decide (baraff96 section 2.2: contact coordinates). They have

    y' = -G_y^-1 (G_s s' + G_t)        dC/ds takes the place of dC/ds - C_y G_y^-1 G_s        bias gets d(rate)/dy y'

and are found by Newton's method from where they were at the beginning of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
from casadi import SX

from linkwork.symbolic.views import Primitive, View
from linkwork.symbolic.vocabulary import Level

if TYPE_CHECKING:
    pass


POSITION, VELOCITY, ROTOR = Level
ASIDE = -1  # the number of the ground on a tape of other bodies
NEWTON = 3  # steps towards unknowns, from those of a time step before


@dataclass
class Entry:
    """One vector on the tape."""

    body: int
    value: SX
    rate: SX
    primitive: Primitive


@dataclass
class Unknowns:
    """Numbers that equations decide."""

    symbol: SX  # (n,): stands for them
    equations: SX  # (n,), of this and of symbols of the tape: vanish where they are right
    start: SX  # (n,): where they were
    stationary: bool  # no row changes with them, to first order, where they are right
    found: SX | None = None  # (n,): they, of symbols of the tape

    def slopes(self) -> SX:
        return ca.jacobian(self.equations, self.symbol)

    def value(self) -> SX:
        if self.found is None:
            y, derived = self.start, [self.equations, self.slopes()]
            for _ in range(NEWTON):
                left, slopes = ca.substitute(derived, [self.symbol], [y])
                y = y - solved(slopes, left)
            self.found = y
        return self.found


def solved(A: SX, b: SX) -> SX:
    """A^-1 b: by cross products up to three unknowns, where pivots may vanish and code must stay short; else by Q R."""
    n = A.shape[0]
    if n == 1:
        return b / A
    if n == 2:
        turned = ca.blockcat([[A[1, 1], -A[0, 1]], [-A[1, 0], A[0, 0]]])
        return turned @ b / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    if n == 3:
        across = ca.horzcat(ca.cross(A[1, :].T, A[2, :].T), ca.cross(A[2, :].T, A[0, :].T), ca.cross(A[0, :].T, A[1, :].T))
        return across @ b / ca.dot(A[0, :].T, across[:, 0])
    return ca.solve(A, b)


class Handle:
    """A body, as constraints see it."""

    def __init__(self, tape: Tape, number: int, view: View | None) -> None:
        self.tape, self.number, self.view = tape, number, view

    def ground(self) -> Handle:
        """The ground beside it, where it is none of the bodies."""
        return Handle(self.tape, ASIDE, None)

    @property
    def time(self) -> SX:
        """s."""
        return self.tape.time

    def _entry(self, what: str, local: SX | None) -> Entry:
        return self.tape.entry(self.number, self.view, what, local)

    def point(self, local: SX) -> SX:
        return self._entry("point", local).value

    def point_rate(self, local: SX) -> SX:
        return self._entry("point", local).rate

    def line(self, local: SX) -> SX:
        return self._entry("line", local).value

    def normal(self, local: SX) -> SX:
        return self._entry("normal", local).value

    def axis(self, local: SX) -> SX:
        return self._entry("axis", local).value

    def axis_rate(self, local: SX) -> SX:
        return self._entry("axis", local).rate

    def spin(self) -> SX:
        """Angular velocity in the world."""
        return self._entry("spin", None).rate

    def coordinates(self) -> SX:
        """(n,): the generalised coordinates of a body whose velocity is their rate."""
        return self._entry("coordinates", None).value

    def coordinate_rates(self) -> SX:
        """(n,)."""
        return self._entry("coordinates", None).rate

    def quaternion(self) -> SX:
        """(4,): the orientation of the body's internal frame, w x y z."""
        return self._entry("quaternion", None).value

    @property
    def stretches(self) -> bool:
        """Whether its points move otherwise than those of a rigid body."""
        return self.view is not None and self.view.kind.stretches

    @property
    def counts_turns(self) -> bool:
        """Whether the sign of `quaternion` is kept where the body turns on and on."""
        return self.view is None or self.view.kind.counts_turns


class Tape:
    def __init__(self, views: Sequence[View | None], time: SX) -> None:
        self.views, self.time = list(views), time
        self.entries: list[Entry] = []
        self._known: dict[tuple[int, str, str | None], Entry] = {}
        self.unknowns: list[Unknowns] = []
        self.handles = [Handle(self, i, view) for i, view in enumerate(views)]

    def entry(self, number: int, view: View | None, what: str, local: SX | None) -> Entry:
        key = (number, what, None if local is None else SX(local).serialize())  # str() rounds constants
        if key not in self._known:
            k = len(self.entries)
            primitive = _primitive(view, what, local)
            size = primitive.rate.shape[0]
            entry = Entry(number, SX.sym(f"s{k}", size), SX.sym(f"r{k}", size), primitive)
            self.entries.append(entry)
            self._known[key] = entry
        return self._known[key]

    @property
    def values(self) -> SX:
        return ca.vertcat(*[e.value for e in self.entries])

    @property
    def rates(self) -> SX:
        return ca.vertcat(*[e.rate for e in self.entries])

    def introduce(self, element_kind: Any, handles: Sequence[Handle], p: dict[str, SX]) -> dict[str, SX]:
        """The parameters of a kind with symbols for its unknowns, if it has any."""
        if "unknowns" not in element_kind.state_fields:
            return p
        symbol = SX.sym(f"y{len(self.unknowns)}", element_kind.state_fields["unknowns"])
        known = p | {"unknowns": symbol}
        self.unknowns.append(Unknowns(symbol, element_kind.equations(handles, known), p["unknowns"], element_kind.stationary))
        return known

    def resolve(self, expressions: list[SX]) -> list[SX]:
        """Put the bodies' expressions in the place of the tape's symbols, and what is found in the place of unknowns."""
        for unknowns in self.unknowns:
            expressions = ca.substitute(expressions, [unknowns.symbol], [unknowns.value()])
        symbols = [s for e in self.entries for s in (e.value, e.rate)]
        values = [ca.densify(SX(x)) for e in self.entries for x in _given(e)]
        if not symbols:
            return expressions
        return ca.substitute(expressions, symbols, values)

    def columns(self, by_entry: SX, body: int) -> SX:
        """sum over the body's entries of (rows x size) @ (size x nv)."""
        view, start = self.views[body], 0
        total = SX(by_entry.shape[0], view.kind.nv if view else 0)
        for entry in self.entries:
            stop = start + entry.value.shape[0]
            if entry.body == body:
                total += by_entry[:, start:stop] @ entry.primitive.jacobian
            start = stop
        return total


def _given(entry: Entry) -> tuple[SX, SX]:
    p = entry.primitive
    if p.value.shape[0] == 0:  # a spin: its rate symbol is the angular velocity, it has no value
        return SX.zeros(3), p.rate
    return p.value, p.rate


def _primitive(view: View | None, what: str, local: SX | None) -> Primitive:
    if view is None:  # the ground: fixed vectors of the world
        if what == "quaternion":
            return Primitive(SX(ca.DM([1, 0, 0, 0])), SX(4, 0), SX(4, 1), SX(4, 1))
        fixed = SX(0, 1) if what == "spin" or local is None else SX(local)
        return Primitive(fixed, SX(3, 0), SX(3, 1), SX(3, 1))
    if what == "spin":
        spin = view.spin()
        return Primitive(SX(0, 1), spin.jacobian, spin.value, spin.bias)
    if what == "quaternion":
        return view.quaternion()
    if what == "coordinates":
        return view.coordinates()
    found: Primitive = getattr(view, what)(local)
    return found


@dataclass
class Rotor:
    """A rotor of one freedom that turns as much as its row says; eliminated on the spot, it leaves -1/inertia as the row's own
    block, and its speed changes by x/inertia, with x the row's part of the solution."""

    inertia: SX  # kg m^2 or kg
    speed: SX  # at this point of a step
    angle: SX  # where the step began
    speed_at: int  # from the node's record
    angle_at: int


@dataclass
class Rows:
    """Derived rows of one or more constraints, resolved into the symbols of the bodies."""

    levels: list[str]
    residual: SX  # (m,): C of position rows, g of velocity rows
    rate: SX  # (m,): J v + C_t, or g
    bias: SX  # (m,): J'v + ...
    forcing: SX  # (m,): C_t, or g at rest: what prescribed motion asks for
    jacobians: list[SX]  # one (m, nv) a body
    rotors: dict[int, Rotor] = field(default_factory=dict)  # by row


def derive(tape: Tape, rows: Sequence[tuple[str, SX]]) -> Rows:
    """Differentiate rows (level, expression) written on the tape."""
    s, r, t = tape.values, tape.rates, tape.time
    biases = ca.vertcat(*[e.primitive.bias for e in tape.entries])
    still = SX.zeros(r.shape[0])
    residuals, rates, bias, forcing, by_entry = [], [], [], [], []
    speeds = [-solved(u.slopes(), ca.jtimes(u.equations, s, r) + ca.jtimes(u.equations, t, SX(1))) for u in tape.unknowns]
    for level, row in rows:
        if level != VELOCITY:
            coefficients, by_time = ca.jacobian(row, s), ca.jacobian(row, t)
            for u in tape.unknowns:
                slope = ca.jacobian(row, u.symbol)
                if slope.nnz() and not u.stationary:
                    felt = solved(u.slopes().T, slope.T).T
                    coefficients -= felt @ ca.jacobian(u.equations, s)
                    by_time -= felt @ ca.jacobian(u.equations, t)
            rate = coefficients @ r + by_time
        else:
            coefficients = ca.jacobian(row, r)
            rate = row
        residuals.append(row)
        rates.append(rate)
        moving = [ca.jtimes(rate, u.symbol, speed) for u, speed in zip(tape.unknowns, speeds, strict=True)]
        bias.append(sum(moving, ca.jtimes(rate, s, r) + ca.jtimes(rate, t, SX(1)) + coefficients @ biases))
        forcing.append(ca.substitute(rate, r, still))
        by_entry.append(coefficients)
    coefficients = ca.vertcat(*by_entry)
    jacobians = [tape.columns(coefficients, k) for k in range(len(tape.views))]
    stacked = [ca.vertcat(*x) for x in (residuals, rates, bias, forcing)]
    residual, rate, bias_, forcing_, *jacobians = tape.resolve([*stacked, *jacobians])
    return Rows([level for level, _ in rows], residual, rate, bias_, forcing_, jacobians)
