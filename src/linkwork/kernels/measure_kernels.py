"""Kernels of measures: what inequalities bound, written as rows of constraints are. Pointer 1: the measure, 2, 3, ...: its
bodies. A measure is no node: nothing of it is eliminated."""

from __future__ import annotations

from casadi import SX

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.kernels.node import NodeKind, views_of
from linkwork.symbolic.views import load_global
from linkwork.symbolic.vocabulary import Level, Moment


def measure_record(kind: NodeKind) -> Record:
    """Parameters; the number of each row (m; zero of one that speaks of velocities), how its rate changes while velocities
    stay, its rate while nothing moves, and J, a block (m, nv) for each body."""
    m, widths = kind.size, [body.nv if body else 0 for body in kind.kinds]
    blocks = {f"J{k}": m * width for k, width in enumerate(widths)}
    return Record(parameters=kind.parameters, value=m, bias=m, forcing=m, **blocks)


def measure_kernel(kind: NodeKind, moment: Moment = Moment.NOW) -> Kernel:
    """All of these, but for parameters; `moment`: of the bodies."""

    def write(trace: Trace) -> None:
        record, views = measure_record(kind), views_of(trace, kind.kinds, moment)
        rows = kind.rows_between(trace, views, load_global(trace, "time"), record.offset("parameters"))
        value, forcing = SX(rows.residual), SX(rows.rate)
        for k, level in enumerate(kind.levels):
            if level == Level.VELOCITY:
                value[k] = 0
        for k, (J, view) in enumerate(zip(rows.jacobians, views, strict=True)):
            if view is not None:
                forcing -= J @ view.v
                trace.store(1, record.offset(f"J{k}"), J)
        for name, found in (("value", value), ("bias", rows.bias), ("forcing", forcing)):
            trace.store(1, record.offset(name), found)

    return Kernel(f"measure|{kind.key}|{moment}", write)
