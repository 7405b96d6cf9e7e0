"""Twins for sim.matrices: states that are moved along their motion, and reads of a simulation in the order of its columns."""

import warnings

import casadi as ca
import numpy as np

import linkwork as lw

SOLVERS = ("tree", "fronts", "anticipation", "cg", "dense", "implicit")


def simulation(world, solver="tree", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, solver=solver, **options)


def places(sim, body, name):
    """Where a field of a body stands in the values of a state."""
    where = sim.model.field_of_body(body, name)
    order = np.argsort(sim.model.state_index)
    return order[np.searchsorted(sim.model.state_index[order], np.arange(where.start, where.stop))]


def stirred(sim, seed, speed=1.0):
    """Give all bodies random velocities, whatever their constraints say."""
    rng, state = np.random.default_rng(seed), sim.state
    for body, kind in enumerate(sim.model.bodies.kinds):
        state.values[places(sim, body, "v")] = speed * rng.normal(size=kind.nv)
    sim.state = state


def moved(sim, h):
    """Its matrices when everything has moved on for h with the velocities (of the compiler's origins) that it has."""
    before, state = sim.state, sim.state
    for body, kind in enumerate(sim.model.bodies.kinds):
        at, v = places(sim, body, "q"), before.values[places(sim, body, "v")]
        state.values[at] += h * np.array(ca.evalf(kind.rate(ca.SX(ca.DM(state.values[at])), ca.SX(ca.DM(v))))).ravel()
    state.time += h
    sim.state = state
    found = sim.matrices
    sim.state = before
    return found


def slope(sim, read, h=1e-5):
    """d/dt of something of its matrices, by central differences of fourth order."""
    near = read(moved(sim, h)) - read(moved(sim, -h))
    far = read(moved(sim, 2 * h)) - read(moved(sim, -2 * h))
    return (8 * near - far) / (12 * h)


def reads(sim, linear, angular):
    """(values, whether they are known) of all columns by two reads of bodies, such as sim.velocity and sim.angular_velocity."""
    m, found = sim.matrices, {}
    for name in m.bodies:
        vectors = linear(name), angular(name)
        for what, vector in zip(("velocity", "angular velocity"), vectors, strict=True):
            found |= {(name, f"{what} {axis}"): x for axis, x in zip("xyz", vector, strict=True)}
    known = np.array([(c.of, c.what) in found for c in m.columns])
    return np.array([found.get((c.of, c.what), 0.0) for c in m.columns]), known


def close(found, wanted, relative, scale=1.0):
    assert np.abs(found - wanted).max(initial=0.0) <= relative * max(scale, np.abs(wanted).max(initial=0.0))
