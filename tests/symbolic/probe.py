"""One constraint node as a function of time, coordinates and velocities, without compiling anything."""

import casadi as ca
import numpy as np

from linkwork.codegen.trace import Kernel
from linkwork.model.graph import GROUND
from linkwork.symbolic.bodies import GLOBALS, load_global
from tests.oracles import poses

STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # d/dt of order four, times the step


class Batch:
    """A kernel as its CasADi function, many records at a time."""

    def __init__(self, write):
        self.trace = Kernel("probe", write).trace()
        self.function = self.trace.function()
        self.names = [[k for _, k in target] for target in self.trace.targets]

    def __call__(self, records):
        """records: pointer -> (N, entries). Returns the results in the order of their stores, (N, size) each."""
        count = max(len(r) for r in records.values())
        given = [ca.DM(np.array([np.broadcast_to(records[p][:, k] if p in records else 0.0, count) for p, k in source]))
                 if source else ca.DM(0, count) for source in self.trace.sources]  # fmt: skip
        found = self.function.call(given)
        return [np.broadcast_to(r.full(), (r.shape[0], count)).T for r in found]


class Node:
    """residual, rate, bias and J (one block a body) of one node of a model."""

    def __init__(self, model, number):
        self.model, self.node = model, model.nodes[number]
        kind = self.node.kind

        def write(trace):
            rows = kind.write_rows(trace, "now", load_global(trace, "time"))
            for k, x in enumerate((rows.residual, rows.rate, rows.bias, rows.forcing, *rows.jacobians)):
                trace.store(4, 1000 * k, x)

        self.kinds = [k for k in kind.kinds if k is not None]
        self.numbers = [e for e in self.node.ends if e != GROUND]
        self.pointers = [2 + k for k, e in enumerate(self.node.ends) if e != GROUND]
        self.batch = Batch(write)
        self.record = np.zeros(kind.record.span)
        self.record[kind.record.slice("parameters")] = self.node.values
        work = model.workspace()
        self.bodies = [work[model.body_at[e] : model.body_at[e] + k.record.span]
                       for e, k in zip(self.numbers, self.kinds, strict=True)]  # fmt: skip
        self.q0 = [r[k.record.slice("q")].copy() for r, k in zip(self.bodies, self.kinds, strict=True)]
        self.v0 = [r[k.record.slice("v")].copy() for r, k in zip(self.bodies, self.kinds, strict=True)]

    def at(self, samples):
        """samples: (time, [q of each body], [v of each body]) each. Returns residual, rate, bias, forcing, J (whole)."""
        n = len(samples)
        records = {0: np.zeros((n, GLOBALS.size)), 1: np.broadcast_to(self.record, (n, len(self.record)))}
        records[0][:, GLOBALS.offset("time")] = [t for t, _, _ in samples]
        for b, (kind, start, pointer) in enumerate(zip(self.kinds, self.bodies, self.pointers, strict=True)):
            entries = np.tile(start, (n, 1))
            for k, (_, q, v) in enumerate(samples):
                entries[k, kind.record.slice("q")], entries[k, kind.record.slice("v")] = q[b], v[b]
                entries[k, kind.record.slice("R")] = poses.derived(kind.name, q[b])
            records[pointer] = entries
        residual, rate, bias, forcing, *blocks = self.batch(records)
        m = self.node.kind.size
        J = np.concatenate([b.reshape(n, m, -1) for b in blocks], axis=2)
        return residual, rate, bias, forcing, J

    def flowed(self, time, q, v, by):
        return time + by, [poses.flow(k.name, x, w, by) for k, x, w in zip(self.kinds, q, v, strict=True)], v

    def jittered(self, rng, size):
        """Coordinates near those as built, and velocities."""
        q = [poses.flow(k.name, x, size * rng.normal(size=k.nv), 1.0) for k, x in zip(self.kinds, self.q0, strict=True)]
        return q, [rng.normal(size=k.nv) for k in self.kinds]

    def placed(self, q, v):
        """The bodies of the node as oracles see them, the ground first."""
        found = [poses.Ground()] * (2 - len(self.kinds))
        for b, number in enumerate(self.numbers):
            found.append(poses.Placed(self.model.bodies.elements[number], self.kinds[b].name, self.q0[b], q[b], v[b]))
        return found


def difference(values, h):
    """d/dt from the values at -2h, -h, h, 2h."""
    return sum(weight * value for (_, weight), value in zip(STENCIL, values, strict=True)) / h
