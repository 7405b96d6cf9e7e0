"""One constraint node or force as a function of time, coordinates and velocities, without compiling anything."""

import casadi as ca
import numpy as np

from linkwork.codegen.trace import Kernel
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.symbolic.views import GLOBALS, load_global
from linkwork.symbolic.vocabulary import Moment
from tests.oracles import poses

STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # d/dt of order four, times the step


class Batch:
    """A kernel as its CasADi function, many records at a time."""

    def __init__(self, write):
        self.trace = Kernel("probe", write).trace()
        self.function = self.trace.function(shared=False)
        self.names = [[k for _, k in target] for target in self.trace.targets]

    def __call__(self, records):
        """records: pointer -> (N, entries). Returns the results in the order of their stores, (N, size) each."""
        count = max(len(r) for r in records.values())
        given = [ca.DM(np.array([np.broadcast_to(records[p][:, k] if p in records else 0.0, count) for p, k in source]))
                 if source else ca.DM(0, count) for source in self.trace.sources]  # fmt: skip
        found = self.function.call(given)
        return [np.broadcast_to(r.full(), (r.shape[0], count)).T for r in found]


class Probe:
    """What nodes and forces share: two ends, the bodies that move, and records of many samples."""

    def __init__(self, model, ends, kinds, values, write):
        self.model = model
        self.kinds = [k for k in kinds if k is not None]
        self.numbers = [e for e in ends if e != GROUND]
        self.pointers = [2 + k for k, e in enumerate(ends) if e != GROUND]
        self.batch, self.record = Batch(write), values
        work = model.workspace()
        self.bodies = [work[model.body_at[e] : model.body_at[e] + k.record.span]
                       for e, k in zip(self.numbers, self.kinds, strict=True)]  # fmt: skip
        self.q0 = [r[k.record.slice("q")].copy() for r, k in zip(self.bodies, self.kinds, strict=True)]
        self.v0 = [r[k.record.slice("v")].copy() for r, k in zip(self.bodies, self.kinds, strict=True)]

    def results(self, samples):
        """samples: (time, [q of each body], [v of each body]) each. Returns what was stored, (samples, size) each."""
        n = len(samples)
        records = {0: np.zeros((n, GLOBALS.size)), 1: np.broadcast_to(self.record, (n, len(self.record)))}
        records[0][:, GLOBALS.offset("time")] = [t for t, _, _ in samples]
        for b, (kind, start, pointer) in enumerate(zip(self.kinds, self.bodies, self.pointers, strict=True)):
            entries = np.tile(start, (n, 1))
            for k, (_, q, v) in enumerate(samples):
                entries[k, kind.record.slice("q")], entries[k, kind.record.slice("v")] = q[b], v[b]
                entries[k, kind.record.slice("R")] = poses.derived(kind.name, q[b])
            records[pointer] = entries
        return self.batch(records)

    def flowed(self, time, q, v, by):
        return time + by, [poses.flow(k.name, x, w, by) for k, x, w in zip(self.kinds, q, v, strict=True)], v

    def jittered(self, rng, size):
        """Coordinates near those as built, and velocities."""
        q = [poses.flow(k.name, x, size * rng.normal(size=k.nv), 1.0) for k, x in zip(self.kinds, self.q0, strict=True)]
        return q, [rng.normal(size=k.nv) for k in self.kinds]


class Node(Probe):
    """residual, rate, bias and J (one block a body) of one node of a model."""

    def __init__(self, model, number):
        self.node = model.nodes[number]
        kind = self.node.kind

        def write(trace):
            rows = kind.write_rows(trace, Moment.NOW, load_global(trace, "time"))
            for k, x in enumerate((rows.residual, rows.rate, rows.bias, rows.forcing, *rows.jacobians)):
                trace.store(4, 1000 * k, x)

        record = np.zeros(kind.record.span)
        record[kind.record.slice("parameters")] = self.node.values
        super().__init__(model, self.node.ends, kind.kinds, record, write)

    def at(self, samples):
        """Residual, rate, bias, forcing, J (whole) of each sample."""
        residual, rate, bias, forcing, *blocks = self.results(samples)
        J = np.concatenate([b.reshape(len(samples), self.node.kind.size, -1) for b in blocks], axis=2)
        return residual, rate, bias, forcing, J

    def placed(self, q, v):
        """The bodies of the node as oracles see them, the ground first."""
        found = [poses.Ground()] * (2 - len(self.kinds))
        for b, number in enumerate(self.numbers):
            found.append(poses.Placed(self.model.bodies.elements[number], self.kinds[b].name, self.q0[b], q[b], v[b]))
        return found


class Force(Probe):
    """Generalised force (on all bodies that move), potential energy, and the symmetric tangent of one force of a model."""

    def __init__(self, model, number=0):
        self.force = model.forces[number]
        kind = self.force.kind

        def write(trace):
            forces, potential, tape, p = kind.write_law(trace)
            trace.store(4, 0, ca.vertcat(*[f for f in forces if f is not None]))
            trace.store(4, 1000, potential)
            terms = kind.law.terms(tape.handles, p, tape.time) or []
            width = sum(k.nv for k in kind.kinds if k is not None)
            stiffness, damping = ca.SX(width, width), ca.SX(width, width)
            for term in terms:
                B = self.motion(tape, term)
                stiffness += B.T @ term.stiffness @ B
                damping += B.T @ term.damping @ B
            for k, x in enumerate(tape.resolve([stiffness, damping])):
                trace.store(4, 2000 * (1 + k), x)

        super().__init__(model, self.force.ends, kind.kinds, self.force.values.copy(), write)
        self.law = kind.law
        self.layout = parameter_record(kind.law)

    @staticmethod
    def motion(tape, term):
        """d(rate of a term's motion)/dv, over the bodies that move."""
        blocks = [ca.SX(term.stiffness.shape[0], view.kind.nv) if view else None for view in tape.views]
        for body, what, where, weight in term.motion:
            if blocks[body] is not None:
                entry = tape.entry(body, tape.views[body], what, where)
                blocks[body] = blocks[body] + weight @ entry.primitive.jacobian
        return ca.horzcat(*[b for b in blocks if b is not None])

    def at(self, samples):
        """Forces (samples, n), potentials (samples,), stiffness and damping (samples, n, n)."""
        f, energy, K, D = self.results(samples)
        n = f.shape[1]
        return f, energy[:, 0], K.reshape(-1, n, n), D.reshape(-1, n, n)

    def count(self, *angles):
        """Set the turn counters as after winding up to these angles."""
        for k, angle in enumerate(angles[: self.law.counters]):
            start = self.layout.offset("turns") + 2 * k
            self.record[start : start + 2] = round(angle / (2 * np.pi)), np.sin(angle)


def difference(values, h):
    """d/dt from the values at -2h, -h, h, 2h."""
    return sum(weight * value for (_, weight), value in zip(STENCIL, values, strict=True)) / h
