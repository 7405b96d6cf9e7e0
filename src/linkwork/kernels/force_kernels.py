"""Kernels of forces: pointer 1 the force, 2 and 3 (and more) its bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.elements.core import force_kind
from linkwork.elements.core.body_kind import BodyKind
from linkwork.kernels.node import count, load_parameters, parameter_record, views_of
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.views import GLOBALS, load_global
from linkwork.symbolic.vocabulary import Moment

LOADED = {"force": "point", "torque": "spin", "generalised": "coordinates"}  # kind of a load -> what its power moves


@dataclass(frozen=True)
class ForceNodeKind:
    law: force_kind.ForceKind
    kinds: tuple[BodyKind | None, ...]

    @cached_property
    def key(self) -> str:
        return f"{self.law.key}|{[kind.key if kind else 'ground' for kind in self.kinds]}"

    @cached_property
    def record(self) -> Record:
        return Record(parameters=parameter_record(self.law).size)

    @cached_property
    def counters(self) -> int:
        """How much there is to bring up to date after a step."""
        return self.law.counters + len(self.law.state_fields) * (not self.law.commanded)

    def parameters_of(self, trace: Trace) -> dict[str, SX]:
        return load_parameters(trace, 1, 0, self.law)

    def loads(self, trace: Trace, views) -> list[SX | None]:
        """Generalised forces on the bodies; None for the ground."""
        found = self.write_law(trace, views)[0]
        return [SX(kind.nv, 1) if kind and f is None else f for kind, f in zip(self.kinds, found, strict=True)]

    def write_law(self, trace: Trace, views=None):
        """Generalised forces on the bodies, and the potential energy."""
        views = views_of(trace, self.kinds, Moment.NOW) if views is None else views
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
        tape = Tape(views_of(trace, self.kinds, Moment.NOW), load_global(trace, "time"))
        count(trace, self.law, tape.handles, 1, 0, p, tape)


def force_kernel(force: ForceNodeKind) -> Kernel:
    """Add the force times the kick to the bodies' right-hand sides."""

    def write(trace: Trace) -> None:
        forces, *_ = force.write_law(trace)
        for k, (kind, f) in enumerate(zip(force.kinds, forces, strict=True)):
            if kind is not None and f is not None:
                offset, size = kind.record["b"]
                trace.store(2 + k, offset, trace.load(2 + k, offset, size) + load_global(trace, "kick") * f)

    return Kernel(f"force|{force.key}|add", write)


def force_report_kernel(force: ForceNodeKind) -> Kernel:
    """Behind the bodies: the generalised forces on the first body, then on the second, and on."""

    def write(trace: Trace) -> None:
        forces = [f for f in force.write_law(trace)[0] if f is not None]
        trace.store(2 + len(force.kinds), 0, ca.vertcat(*forces))

    return Kernel(f"force|{force.key}|report", write)


def force_energy_kernel(force: ForceNodeKind) -> Kernel:
    def write(trace: Trace) -> None:
        potential = force.write_law(trace)[1]
        trace.store(0, GLOBALS.offset("potential"), load_global(trace, "potential") + potential)

    return Kernel(f"force|{force.key}|energy", write)


def force_length_kernel(force: ForceNodeKind) -> Kernel:
    """Behind the bodies: the length of what a tendon runs along, and its rate."""

    def write(trace: Trace) -> None:
        tape = Tape(views_of(trace, force.kinds, Moment.NOW), load_global(trace, "time"))
        x = force.law.coordinate(tape.handles, force.parameters_of(trace))
        trace.store(2 + len(force.kinds), 0, ca.vertcat(*tape.resolve([x.value, x.rate(tape.handles)])))

    return Kernel(f"force|{force.key}|length", write)


def force_count_kernel(force: ForceNodeKind) -> Kernel:
    return Kernel(f"force|{force.key}|count", lambda trace: force.count(trace, force.parameters_of(trace)))
