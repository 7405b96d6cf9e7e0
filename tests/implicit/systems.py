"""The linear systems of implicit steps as the package assembles and solves them, beside those of tests/oracles/backward_euler.py.

Run as a program with LINKWORK_KERNELS=casadi it does so on many random worlds without compiling, a line of JSON for each.
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
from linkwork.model.graph import GROUND
from linkwork.solvers import SOLVERS
from linkwork.solvers.implicit import Implicit
from linkwork.symbolic.bodies import GLOBALS, load_global
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


# -- the package's system ------------------------------------------------------------------------------------------------


def fields(sim, name):
    return [sim.work[sim.model.field_of_body(b, name)].copy() for b in range(len(sim.model.bodies.kinds))]


def put(sim, name, values):
    for b, value in enumerate(values):
        sim.work[sim.model.field_of_body(b, name)] = value


def multipliers(sim):
    return [sim.work[sim.model.field_of_node(k, "x")].copy() for k in range(len(sim.model.nodes))]


def start_step(sim):
    """What the driver sets before the first iteration of a step."""
    begin = sim.time
    for name, value in (("step", sim.dt), ("kick", sim.dt), ("time", begin + sim.dt), ("half", begin + sim.dt), ("damp", 1.0)):
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


def assembled(sim, what):
    """Matrix and right-hand side of an iteration, before anything is eliminated; the workspace stays as it is."""
    work, p = sim.work.copy(), sim.programs
    operations = p.assembly(what)
    sweep(work, p.table, operations)
    n = len(sim.model.bodies.kinds)
    vertices = range(n + len(sim.model.nodes))
    sizes = [p._dim(vertex) for vertex in vertices]
    first = np.concatenate([[0], np.cumsum(sizes)])
    whole, right = np.zeros((first[-1], first[-1])), np.zeros(first[-1])
    for vertex, d in enumerate(sizes):
        rows, at = slice(first[vertex], first[vertex + 1]), p._front_at(vertex)
        whole[rows, rows] = _front(work, at, d, at + p._upper(vertex) if sim.model.pairs else None)
        right[rows] = work[at + d * (d + 1) // 2 :][:d]
        for other in sim.model.later[vertex]:
            m, slot, columns = sizes[other], p._slot(vertex, other), slice(first[other], first[other + 1])
            whole[rows, columns] = work[slot : slot + d * m].reshape(d, m)
            mirror = slot + d * m if sim.model.pairs else slot
            whole[columns, rows] = work[mirror : mirror + d * m].reshape(d, m).T
    return whole, right


def _front(work, at, d, upper):
    D = np.zeros((d, d))
    D[np.tril_indices(d)] = work[at : at + d * (d + 1) // 2]
    if upper is None:
        return D + np.tril(D, -1).T
    above = np.zeros((d, d))
    above[np.tril_indices(d, -1)] = work[upper : upper + d * (d - 1) // 2]
    return D + above.T


def solved(sim, what):
    """x of all vertices as elimination finds it; the workspace stays as it is."""
    work, p = sim.work.copy(), sim.programs
    operations = p.iteration(what), p.solution("advance-once" if sim.integrator.iterations == 1 else "advance-first")
    for each in operations:
        sweep(work, p.table, each)
    m = sim.model
    at = [m.field_of_body(b, "x") for b in range(len(m.bodies.kinds))] + [m.field_of_node(k, "x") for k in range(len(m.nodes))]
    return np.concatenate([work[where] for where in at])


# -- the twin's -----------------------------------------------------------------------------------------------------------


@cache
def _rows_function(kind):
    """C and g of a node as a function of (parameters, time, q and v of each body), without any derived pose."""
    trace = Trace()
    rows = kind.write_rows(trace, "middle", load_global(trace, "time"))
    given, places = ca.vertcat(*trace.symbols), [place for source in trace.sources for place in source]
    return ca.Function("rows", [given], [rows.residual]), places


def rows_of(sim, k, samples):
    """C and g of node k, (samples, rows), at the time of the workspace."""
    node, model = sim.model.nodes[k], sim.model
    function, places = _rows_function(node.kind)
    columns = {(0, GLOBALS.offset("time")): sim.work[GLOBALS.offset("time")]}
    start = int(model.node_at[k])
    columns |= {(1, j): sim.work[start + j] for p, j in places if p == 1}
    for pointer, b in enumerate(node.ends, start=2):
        if b != GROUND:
            record, base = model.bodies.kinds[b].record, int(model.body_at[b])
            columns |= {(pointer, j): sim.work[base + j] for p, j in places if p == pointer}
            for name, number in (("qm", 0), ("vm", 1)):
                values = np.array([sample[number][b] for sample in samples])
                columns |= {(pointer, record.offset(name) + j): column for j, column in enumerate(values.T)}
    given = np.array([np.broadcast_to(columns[place], len(samples)) for place in places])
    return function(given).full().T


def twin(sim):
    """The step that the simulation is about to make."""
    m = sim.model
    built = m.workspace()
    return Step(
        list(m.bodies.elements), [kind.name for kind in m.bodies.kinds],
        [built[m.field_of_body(b, "q")] for b in range(len(m.bodies.kinds))], fields(sim, "q"), fields(sim, "v"), sim.dt,
        sim.work[GLOBALS.offset("time")], m.gravity,
        [(force.element, force.ends, sim.control.given().get(force.element.name, 0.0)) for force in m.forces],
        [node.ends for node in m.nodes], [node.kind.levels for node in m.nodes], lambda k, samples: rows_of(sim, k, samples),
    )  # fmt: skip


# -- elimination alone ------------------------------------------------------------------------------------------------------


def random_system(model, rng, symmetric):
    """A regular matrix with the blocks of a model: bodies definite, constraints zero on the diagonal; and a right-hand side."""
    n = len(model.bodies.kinds)
    sizes = [kind.nv for kind in model.bodies.kinds] + [node.kind.size for node in model.nodes]
    first = np.concatenate([[0], np.cumsum(sizes)])
    part = [slice(*pair) for pair in itertools.pairwise(first)]
    H = np.zeros((first[-1], first[-1]))
    pairs = [(b, n + k) for k, node in enumerate(model.nodes) for b in node.ends if b != GROUND]
    pairs += [force.ends for force in model.forces if GROUND not in force.ends]
    for a, b in pairs:
        H[part[a], part[b]] = rng.normal(size=(sizes[a], sizes[b]))
        H[part[b], part[a]] = H[part[a], part[b]].T if symmetric else rng.normal(size=(sizes[b], sizes[a]))
        if b >= n and not symmetric:  # rows and pulls of constraints are nearly each other's
            H[part[b], part[a]] = H[part[a], part[b]].T + 0.1 * H[part[b], part[a]]
    for b in range(n):  # heavier than what couples it
        X = rng.normal(size=(sizes[b], sizes[b]))
        coupling = np.abs(H[part[b], : first[n]]).sum()
        H[part[b], part[b]] = X @ X.T + (1 + coupling) * np.eye(sizes[b]) + (0 if symmetric else X - X.T)
    return H, rng.normal(size=first[-1]), part


def eliminated(model, H, r, part):
    """x of H x = r by the fronts of the model."""
    programs = Implicit(model)
    work = np.zeros(model.size)
    for vertex, later in model.later.items():
        d, at, own = programs._dim(vertex), programs._front_at(vertex), part[vertex]
        work[at : at + d * (d + 1) // 2] = H[own, own][np.tril_indices(d)]
        work[at + d * (d + 1) // 2 :][:d] = r[own]
        if model.pairs:
            work[at + programs._upper(vertex) :][: d * (d - 1) // 2] = H[own, own].T[np.tril_indices(d, -1)]
        for other in later:
            slot, size = programs._slot(vertex, other), d * programs._dim(other)
            work[slot : slot + size] = H[own, part[other]].ravel()
            if model.pairs:
                work[slot + size : slot + 2 * size] = H[part[other], own].T.ravel()
    kind = "exact-" if model.pairs else ""
    for what, down in (("factor", False), ("backward", True)):
        operations = programs._keep(what, lambda sheet, what=what, down=down: programs._add_fronts(sheet, kind + what, down=down))
        sweep(work, programs.table, operations)
    x = np.zeros(len(r))
    for vertex in model.later:
        d = programs._dim(vertex)
        x[part[vertex]] = work[programs._front_at(vertex) + d * (d + 1) // 2 + d :][:d]
    return x
