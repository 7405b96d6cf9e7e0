"""States of an element's bodies, and derivatives there by finite differences of what is written about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.codegen.trace import Kernel, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.model.nodes import Bodies, Evaluator
from linkwork.symbolic.views import GLOBALS

STEPS = (1e-3, 1e-4, 1e-5)  # m, rad, s: between places that differences are taken of
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # a derivative of fourth order, times the step
ONE_SIDED = (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4)  # the same from one side
NEARBY, FAR = 0.1, 1.0  # m, rad, m/s: how far random states are from the one as built
RANDOM = 2  # of either

Writer: TypeAlias = Callable[[Trace], list[SX]]
Slopes: TypeAlias = Callable[[float], np.ndarray]  # derivatives by differences of a step


@dataclass(frozen=True)
class Place:
    """Where bodies are, and how they move."""

    name: str  # "as built, moving": goes on after "is nan"
    time: float
    q: list[np.ndarray]
    v: list[np.ndarray]
    serious: bool = True  # the element should be sound there
    special: bool = False  # there may be a kink just there, which random places miss


class Bench:
    """Some bodies and an evaluator of what is written about them, at any state."""

    def __init__(self, bodies: Bodies, numbers: list[int], pointers: list[int], record: np.ndarray, write: Writer, out: int):
        self.kinds = [bodies.kinds[k] for k in numbers]
        self.pointers, self.record = pointers, record
        starts = {name: frames.start() for name, frames in bodies.frames.items()}
        self.fields = [
            {name: values[bodies.place[k]] for name, values in starts[bodies.kinds[k].name].items()} for k in numbers
        ]
        self._moved, self._poses = [_moved(kind) for kind in self.kinds], [_pose(kind) for kind in self.kinds]
        self._evaluate, self._layout = _evaluator(write, out)

    def results(self, place: Place) -> list[np.ndarray]:
        flat = self._evaluate(self.records(place))
        return [flat[start : start + rows * columns].reshape(rows, columns) for start, rows, columns in self._layout]

    def records(self, place: Place) -> dict[int, np.ndarray]:
        """By pointers."""
        records = {0: np.zeros(GLOBALS.size), 1: self.record}
        records[0][GLOBALS.offset("time")] = place.time
        for k, (kind, pointer) in enumerate(zip(self.kinds, self.pointers, strict=True)):
            entries = np.zeros(kind.record.span)
            for name, value in (self.fields[k] | {"q": place.q[k], "v": place.v[k]}).items():
                entries[kind.record.slice(name)] = value
            entries[kind.record.slice("R")] = self._poses[k](place.q[k]).full().ravel()
            records[pointer] = entries
        return records

    def shifted(self, place: Place, by: list[np.ndarray], time: float = 0.0) -> Place:
        """The place after all bodies were displaced, in the units of velocity."""
        q = [move(x, d).full().ravel() for move, x, d in zip(self._moved, place.q, by, strict=True)]
        return replace(place, time=place.time + time, q=q)

    def kicked(self, place: Place, by: list[np.ndarray]) -> Place:
        return replace(place, v=[v + d for v, d in zip(place.v, by, strict=True)])

    def split(self, whole: np.ndarray) -> list[np.ndarray]:
        """A vector over all velocities, a part a body."""
        return np.split(whole, np.cumsum([kind.nv for kind in self.kinds])[:-1])

    @property
    def width(self) -> int:
        return sum(kind.nv for kind in self.kinds)

    def places(self) -> Iterator[Place]:
        """As built, unturned, nearby and far, each moving and at rest."""
        rng = np.random.default_rng(0)
        built, still = [fields["q"] for fields in self.fields], self.split(np.zeros(self.width))
        zero = [kind.unturned(q) for kind, q in zip(self.kinds, built, strict=True)]
        found = [Place("as built", 0.0, built, still, special=True)]
        lagrangian = any(not kind.framed for kind in self.kinds)
        found.append(Place("with u = 0" if lagrangian else "with all bodies unturned", 0.3, zero, still, not lagrangian, True))
        for size, word in ((NEARBY, "near where it is built"), (FAR, "far from where it is built")):
            for _ in range(RANDOM):
                by, time = self.split(size * rng.normal(size=self.width)), float(rng.uniform(0.2, 1))
                found.append(self.shifted(Place(word, time, built, still, size == NEARBY), by))
        for place in found:
            yield replace(place, name=f"{place.name}, at rest")
            yield replace(place, name=f"{place.name}, moving", v=self.split(rng.normal(size=self.width)))

    def slopes(self, place: Place, step: Callable[[Place, float], Place], which: int) -> Slopes:
        """The derivative of a result along a step."""

        def differences(h: float) -> np.ndarray:
            return np.asarray(sum(weight * self.results(step(place, k * h))[which] for k, weight in STENCIL)) / h

        return differences

    def columns(self, place: Place, step: Callable[[Place, list[np.ndarray]], Place], which: int) -> Slopes:
        """The derivatives of a result (m, 1) by all velocity components (m, n); step: `shifted` or `kicked`."""

        def differences(h: float) -> np.ndarray:
            along = [lambda here, by, e=e: step(here, self.split(by * e)) for e in np.eye(self.width)]
            return np.hstack([self.slopes(place, one, which)(h) for one in along])

        return differences

    def kink(self, place: Place, step: Callable[[Place, list[np.ndarray]], Place], which: int) -> np.ndarray:
        """(m,): how far derivatives of a result from one side and from the other are apart, at most."""
        worst, h = np.zeros(0), STEPS[0]
        for e in np.eye(self.width):
            sides = [sum(weight * self.results(step(place, self.split(side * k * h * e)))[which][:, 0]
                         for k, weight in enumerate(ONE_SIDED)) * side / h for side in (1, -1)]  # fmt: skip
            apart = np.abs(sides[0] - sides[1]) / (1 + np.abs(sides[0]))
            worst = np.maximum(worst, apart) if worst.size else apart
        return worst


def _moved(kind: BodyKind) -> ca.Function:
    q, step = SX.sym("q", kind.nq), SX.sym("step", kind.nv)
    return ca.Function("moved", [q, step], [ca.densify(kind.normalised(kind.moved(q, step)))])


def _pose(kind: BodyKind) -> ca.Function:
    q = SX.sym("q", kind.nq)
    return ca.Function("pose", [q], [ca.densify(kind.pose(q))])


def _evaluator(write: Writer, out: int) -> tuple[Evaluator, list[tuple[int, int, int]]]:
    """Runs what `write(trace)` gives, a list of matrices; and where each is among the results."""
    layout: list[tuple[int, int, int]] = []

    def store(trace: Trace) -> None:
        start = 0
        for matrix in write(trace):
            matrix = ca.densify(SX(matrix))
            layout.append((start, *matrix.shape))
            trace.store(out, start, matrix)
            start += matrix.numel()

    return Evaluator(Kernel("check", store), out), layout
