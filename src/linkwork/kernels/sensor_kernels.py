"""Kernels of sensors: readings of places on bodies, and the efforts of forces, from records into entries of a readout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import OPERANDS, Kernel, Trace
from linkwork.elements.core.sensor_kind import Place
from linkwork.kernels.readings import FRAME, carried, carried_acceleration
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.views import StateView, load_global

if TYPE_CHECKING:
    from linkwork.elements.core.body_kind import BodyKind
    from linkwork.elements.core.sensor_kind import PlaceSensorKind
    from linkwork.kernels.force_kernels import ForceNodeKind

MOST_PLACES = OPERANDS - 2  # of one reading: as many bodies, where it goes, its numbers


def _store(trace: Trace, pointer: int, value: SX, adds: bool) -> None:
    """Store a value, or add it to what is there."""
    trace.store(pointer, 0, trace.load(pointer, 0, value.shape[0]) + value if adds else value)


def place_sensor_kernel(sensor: PlaceSensorKind, kinds: Sequence[BodyKind | None], adds: bool) -> Kernel:
    """Pointers 1, 2, ...: the bodies of its places (None: the ground); behind them: where the reading goes, or is added to;
    FRAME numbers for each place, and then those of the sensor."""

    def write(trace: Trace) -> None:
        out = 1 + len(kinds)
        places = [_place(trace, kind, 1 + k, trace.load(out + 1, FRAME * k, FRAME), sensor.solved)
                  for k, kind in enumerate(kinds)]  # fmt: skip
        p, at = {"gravity": load_global(trace, "gravity"), "time": load_global(trace, "time")}, FRAME * len(kinds)
        for name, size in sensor.fields.items():
            p[name] = trace.load(out + 1, at, size)
            at += size
        _store(trace, out, sensor.reading(places, p), adds)

    bodies = ",".join("ground" if kind is None else kind.key for kind in kinds)
    return Kernel(f"read|{sensor.key}|{bodies}|{adds}|sensor", write)


def _place(trace: Trace, kind: BodyKind | None, pointer: int, numbers: SX, solved: bool) -> Place:
    """A place on a body, or on the ground."""
    still = SX.zeros(3)
    if kind is None:
        return Place(numbers[0:3], numbers[3:7], rotation.matrix(numbers[3:7]), still, still, still, still)
    view = StateView(kind, trace, pointer)
    on = carried(kind, view, numbers)
    accelerations = carried_acceleration(kind, view, numbers) if solved else (still, still)
    axes = rotation.matrix(on.orientation)
    return Place(on.position, on.orientation, axes, on.velocity, on.angular_velocity, *accelerations)


def length_kernel(tendon: ForceNodeKind, rate: bool) -> Kernel:
    """Pointer 1: a tendon; 2, 3, ...: its bodies; behind them: where its length goes, or the rate of that."""

    def write(trace: Trace) -> None:
        views = [None if kind is None else StateView(kind, trace, 2 + k) for k, kind in enumerate(tendon.kinds)]
        tape = Tape(views, load_global(trace, "time"))
        x = tendon.law.coordinate(tape.handles, tendon.parameters_of(trace))
        (found,) = tape.resolve([ca.vertcat(x.rate(tape.handles) if rate else x.value)])
        trace.store(2 + len(views), 0, found)

    return Kernel(f"read|{tendon.key}|{rate}|length", write)


def effort_kernel(force: ForceNodeKind, adds: bool) -> Kernel:
    """Pointer 1: a force that drives something; 2, 3, ...: its bodies; behind them: where its effort goes, or is added to, and
    the number that it is multiplied with."""

    def write(trace: Trace) -> None:
        views = [None if kind is None else StateView(kind, trace, 2 + k) for k, kind in enumerate(force.kinds)]
        tape = Tape(views, load_global(trace, "time"))
        (effort,) = tape.resolve([ca.vertcat(force.law.effort(tape.handles, force.parameters_of(trace)))])
        out = 2 + len(views)
        _store(trace, out, trace.load(out + 1, 0, 1) * effort, adds)

    return Kernel(f"read|{force.key}|{adds}|effort", write)
