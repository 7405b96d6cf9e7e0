"""The linear systems of implicit steps as the package assembles and solves them, and their twins (tests/oracles/backward_euler.py).

A *system* is (matrix, right-hand side) over all bodies, then all constraint nodes.
"""

import itertools
import warnings
from functools import cache
from unittest import mock

import casadi as ca
import numpy as np

import linkwork as lw
from linkwork.codegen.jit import sweep
from linkwork.codegen.trace import Trace
from linkwork.engines.implicit.schedules import Implicit
from linkwork.engines.solvers import SOLVERS
from linkwork.kernels.vocabulary import ImplicitKernel, Iteration, Sweep
from linkwork.model.graph import GROUND
from linkwork.symbolic.views import GLOBALS, load_global
from linkwork.symbolic.vocabulary import Moment
from tests.oracles import poses
from tests.oracles.backward_euler import Step

H = 0.05


class Fronts(Implicit):
    """Body, then joint, never both together."""

    @classmethod
    def layout(cls, tangent, iterations):
        return {**super().layout(tangent, iterations), "limbs": False}


def simulation(world, tangent="symmetric", dt=H, limbs=True, **options):
    with warnings.catch_warnings(), mock.patch.dict(SOLVERS, {} if limbs else {"implicit": Fronts}):
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, dt=dt, solver="implicit", tangent=tangent, **options)


# -- the workspace -------------------------------------------------------------------------------------------------------


def fields(sim, name):
    return [sim.work[sim.model.field_of_body(b, name)].copy() for b in range(len(sim.model.bodies.kinds))]


def put(sim, name, values):
    for b, value in enumerate(values):
        sim.work[sim.model.field_of_body(b, name)] = value


def multipliers(sim):
    return [sim.work[sim.model.field_of_node(k, "x")].copy() for k in range(len(sim.model.nodes))]


def start_step(sim):
    """What the driver sets before the first iteration of a step."""
    end = sim.time + sim.dt
    for name, value in (("step", sim.dt), ("kick", sim.dt), ("time", end), ("half", end)):
        sim.work[GLOBALS.offset(name)] = value


def place_iterate(sim, rng, size=0.1):
    """An iterate anywhere near the start, reached from it, and any multipliers. Returns its coordinates."""
    step = twin(sim)
    q1, v1 = step.reached(step.moved(step.q0, size * rng.normal(size=step.n)))
    put(sim, "q1", q1)
    put(sim, "v1", v1)
    put(sim, "R", [poses.derived(kind, q) for kind, q in zip(step.kinds, q1, strict=True)])
    for k, node in enumerate(sim.model.nodes):
        sim.work[sim.model.field_of_node(k, "x")] = rng.normal(size=node.kind.size)
    return q1


def parts_of(model):
    """The rows of each vertex in a system."""
    sizes = [kind.nv for kind in model.bodies.kinds] + [node.kind.size for node in model.nodes]
    return [slice(*pair) for pair in itertools.pairwise(np.concatenate([[0], np.cumsum(sizes)]))]


# -- the package's systems -------------------------------------------------------------------------------------------------


def assembled(sim, what):
    """The system of an iteration, before anything is eliminated; the workspace stays as it is."""
    work, p, m = sim.work.copy(), sim.schedules, sim.model
    operations = p.assembly(Iteration(what))  # before the table, which it extends
    sweep(work, p.table, operations)
    part = parts_of(m)
    matrix, right = np.zeros((part[-1].stop,) * 2), np.zeros(part[-1].stop)
    for vertex in range(len(m.bodies.kinds)):
        _read_front(p, work, vertex, part, matrix, right)
    for k in range(len(m.nodes)):
        vertex = len(m.bodies.kinds) + k
        if k in m.joint_pivot_of:
            _read_limb(sim, work, k, what, part, matrix, right)
        else:
            _read_front(p, work, vertex, part, matrix, right)
    for vertex, others in m.later.items():
        for other in others:
            slot, size = p._slot(vertex, other), p._dim(vertex) * p._dim(other)
            mirror = slot + size if m.pairs else slot
            matrix[part[vertex], part[other]] += work[slot : slot + size].reshape(p._dim(vertex), -1)
            matrix[part[other], part[vertex]] += work[mirror : mirror + size].reshape(p._dim(vertex), -1).T
    return matrix, right


def _read_front(p, work, vertex, part, matrix, right):
    d, at, own = p._dim(vertex), p._front_at(vertex), part[vertex]
    D = np.zeros((d, d))
    D[np.tril_indices(d)] = work[at : at + d * (d + 1) // 2]
    upper = np.tril(D, -1)
    if p.model.pairs:
        upper[np.tril_indices(d, -1)] = work[at + p._fronts.forms[vertex].upper :][: d * (d - 1) // 2]
    matrix[own, own] = D + upper.T
    right[own] = work[at + d * (d + 1) // 2 :][:d]


def _read_limb(sim, work, k, what, part, matrix, right):
    """Rows of a joint that is eliminated with its child are written where they are eliminated: here from its definition."""
    node, m, rows = sim.model.nodes[k], sim.model, part[len(sim.model.bodies.kinds) + k]
    stage = ("q", "v") if what == "begin" else ("q1", "v1")
    at = [[work[m.field_of_body(b, name)] if b in node.ends else None for b in range(len(m.bodies.kinds))] for name in stage]
    residual, *blocks = _evaluated(sim, k, [at])
    right[rows] = -residual[0] / sim.dt
    for b, J in zip([b for b in node.ends if b != GROUND], blocks, strict=True):
        matrix[rows, part[b]] = J[0].reshape(node.kind.size, -1, order="F")
        matrix[part[b], rows] = matrix[rows, part[b]].T
    if m.joint_pivot_of[k].coupled:
        child, parent = sorted(node.ends, key=lambda b: sim.schedules.place[b])
        held = work[m.node_at[k] + m.joint_pivot_of[k].record.offset("A") :][:9]
        A, t = np.zeros((3, 3)), held[6:9]
        A[np.tril_indices(3)] = held[:6]
        A = np.tril(A) + np.tril(A, -1).T
        for b, sign in ((child, 1.0), (parent, -1.0)):
            turning = slice(part[b].start + 3, part[b].stop)
            right[turning] += sign * t
            for c, other in ((child, 1.0), (parent, -1.0)):
                matrix[turning, part[c].start + 3 : part[c].stop] += sign * other * A


def solved(sim, what):
    """x of all vertices as elimination finds it; the workspace stays as it is."""
    work, p, m = sim.work.copy(), sim.schedules, sim.model
    first = ImplicitKernel.ADVANCE_ONCE if sim.integrator.iterations == 1 else ImplicitKernel.ADVANCE_FIRST
    operations = p.iteration(Iteration(what)), p.solution(first if what == "begin" else ImplicitKernel.ADVANCE)
    for each in operations:
        sweep(work, p.table, each)
    at = [m.field_of_body(b, "x") for b in range(len(m.bodies.kinds))] + [m.field_of_node(k, "x") for k in range(len(m.nodes))]
    return np.concatenate([work[where] for where in at])


# -- the twin --------------------------------------------------------------------------------------------------------------


@cache
def _rows_function(kind):
    """C and g of a node, and J on each moving body, as functions of its parameters, the time, and q and v of its bodies: the
    moment MIDDLE has no derived pose."""
    trace = Trace()
    rows = kind.write_rows(trace, Moment.MIDDLE, load_global(trace, "time"), 0)
    given, places = ca.vertcat(*trace.symbols), [place for source in trace.sources for place in source]
    blocks = [ca.reshape(J, -1, 1) for J, body in zip(rows.jacobians, kind.kinds, strict=True) if body is not None]
    return ca.Function("rows", [given], [rows.residual, *blocks]), places


def _evaluated(sim, k, samples):
    """What `_rows_function` gives for node k at samples (q, v), at the time of the workspace: (samples, size) each."""
    node, model = sim.model.nodes[k], sim.model
    function, places = _rows_function(node.kind)
    columns = {(0, GLOBALS.offset("time")): sim.work[GLOBALS.offset("time")]}
    columns |= {(1, j): sim.work[model.parameters_at(k) + j] for p, j in places if p == 1}
    for pointer, b in enumerate(node.ends, start=2):
        if b != GROUND:
            record, base = model.bodies.kinds[b].record, int(model.body_at[b])
            columns |= {(pointer, j): sim.work[base + j] for p, j in places if p == pointer}
            for name, number in (("qm", 0), ("vm", 1)):
                values = np.array([sample[number][b] for sample in samples])
                columns |= {(pointer, record.offset(name) + j): column for j, column in enumerate(values.T)}
    given = np.array([np.broadcast_to(columns[place], len(samples)) for place in places])
    return [x.full().T for x in function.call([ca.DM(given)])]


def twin(sim):
    """The step that the simulation is about to make."""
    m, built = sim.model, sim.model.workspace()
    commands = dict(sim.control)
    return Step(
        bodies=list(m.bodies.elements),
        kinds=[kind.name for kind in m.bodies.kinds],
        built=[built[m.field_of_body(b, "q")] for b in range(len(m.bodies.kinds))],
        q0=fields(sim, "q"),
        v0=fields(sim, "v"),
        h=sim.dt,
        t1=sim.work[GLOBALS.offset("time")],
        gravity=m.gravity,
        forces=[(force.element, force.ends, commands.get(force.element.name, 0.0)) for force in m.forces],
        ends=[node.ends for node in m.nodes],
        levels=[node.kind.levels for node in m.nodes],
        rows=lambda k, samples: _evaluated(sim, k, samples)[0],
    )


# -- elimination alone -------------------------------------------------------------------------------------------------------


def random_system(model, rng, symmetric):
    """A regular system with the blocks of a model: bodies definite, constraints zero on the diagonal."""
    n, part = len(model.bodies.kinds), parts_of(model)
    matrix, sizes = np.zeros((part[-1].stop,) * 2), [p.stop - p.start for p in part]
    for a, b in [force.ends for force in model.forces if GROUND not in force.ends]:
        matrix[part[a], part[b]] = rng.normal(size=(sizes[a], sizes[b]))
        matrix[part[b], part[a]] = matrix[part[a], part[b]].T if symmetric else rng.normal(size=(sizes[b], sizes[a]))
    for b in range(n):  # heavier than what couples it
        X = rng.normal(size=(sizes[b], sizes[b]))
        coupling = np.abs(matrix[part[b]]).sum()
        matrix[part[b], part[b]] = X @ X.T + (1 + coupling) * np.eye(sizes[b]) + (0 if symmetric else X - X.T)
    for k, node in enumerate(model.nodes):
        for b in [b for b in node.ends if b != GROUND]:
            J = rng.normal(size=(sizes[n + k], sizes[b]))
            if sizes[n + k] <= sizes[b]:
                J = np.linalg.qr(J.T)[0].T
            pulls = J if symmetric else J + 0.1 * rng.normal(size=J.shape)
            matrix[part[n + k], part[b]], matrix[part[b], part[n + k]] = J, pulls.T
    return matrix, rng.normal(size=len(matrix))


def eliminated(model, matrix, right):
    """x of a system by the fronts of a model."""
    p, part, work = Implicit(model), parts_of(model), np.zeros(model.size)
    for vertex, others in model.later.items():
        d, at, own = p._dim(vertex), p._front_at(vertex), part[vertex]
        work[at : at + d * (d + 1) // 2] = matrix[own, own][np.tril_indices(d)]
        work[at + d * (d + 1) // 2 :][:d] = right[own]
        if model.pairs:
            work[at + p._fronts.forms[vertex].upper :][: d * (d - 1) // 2] = matrix[own, own].T[np.tril_indices(d, -1)]
        for other in others:
            slot, size = p._slot(vertex, other), d * p._dim(other)
            work[slot : slot + size] = matrix[own, part[other]].ravel()
            if model.pairs:
                work[slot + size : slot + 2 * size] = matrix[part[other], own].T.ravel()
    for what, down in ((Sweep.FACTOR, False), (Sweep.BACKWARD, True)):
        operations = p._keep(what, lambda ops, what=what, down=down: p._add_fronts(ops, what, down, exact=model.pairs))
        sweep(work, p.table, operations)
    x = np.zeros(len(right))
    for vertex in model.later:
        d = p._dim(vertex)
        x[part[vertex]] = work[p._front_at(vertex) + d * (d + 1) // 2 + d :][:d]
    return x
