"""Section 9's third system with its three frictionless contacts as inequalities: a >= 0, mu >= 0, a mu = 0 (section 8).

The tips of three links stand on plates, by contact. Beside it: the same tips held by rows (equalities), and the conditions
solved by trying all subsets of contacts that could act, with dense matrices.
"""

import itertools
import warnings
from functools import partial

import numpy as np

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.timing import best

LINKS, CONTACTS, DT = 32, 3, 1e-3
LIFT = 2.0  # N upwards at the last link, which takes its tip off its plate
ENOUGH = 1e-9  # of the largest force and acceleration: what counts as zero in the conditions
SOLVERS = ("anticipation", "tree")


def _made(world, solver, lift, dt=DT):
    if lift:
        world.add(lw.Wrench(f"link{LINKS}", force=(0, 0, LIFT)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, dt=dt, solver=solver, integrator="euler")


def forces(solver="anticipation", lift=False):
    """(contacts,) normal forces by contact in a short step from rest: N."""
    sim, found = _made(structures.standing(LINKS, CONTACTS), solver, lift, dt=1e-6), np.zeros(CONTACTS)
    sim.step()
    for contact in sim.contacts():
        (link,) = (body for body in contact.bodies if body is not sim.world.ground)
        found[LINKS - int(link.name.removeprefix("link"))] += abs(contact.force[2])
    return found


def dense(lift=False):
    """By dense matrices, at rest: (mu, a) of the subset that meets the conditions, how many do, and mu if all rows hold."""
    held = _made(structures.touching(LINKS, CONTACTS), "dense", lift)
    m = held.matrices
    n, M, J = len(m.columns), m.M.toarray(), m.J.toarray()
    own = np.array([m.constraints[f"contact{k + 1}"].start for k in range(CONTACTS)])
    up = np.sign(J[own[0], 6 * (LINKS - 1) + 2])  # whether these rows count upwards
    primary = np.setdiff1d(np.arange(len(J)), own)
    force = M @ np.tile([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], LINKS)
    force[6 * (LINKS - 1) + 2] += LIFT * lift
    found = []
    for chosen in itertools.product((False, True), repeat=CONTACTS):
        acting = np.flatnonzero(chosen)
        rows = np.concatenate([primary, own[acting]])
        whole = np.block([[M, J[rows].T], [J[rows], np.zeros((len(rows), len(rows)))]])
        x = np.linalg.solve(whole, np.concatenate([force, np.zeros(len(rows))]))
        mu = np.zeros(CONTACTS)
        mu[acting] = -up * x[n + len(primary) :]
        found.append((mu, up * (J[own] @ x[:n])))
    largest = max(np.abs(mu).max() for mu, _ in found)
    right = [(mu, a) for mu, a in found if mu.min() >= -ENOUGH * largest and a.min() >= -ENOUGH * 9.81]
    return *right[0], len(right), found[-1][0]


def measure(report=lambda text: None, *, seconds=0.5):
    """Forces by contact and by dense matrices, standing and with one tip lifted; seconds of a step."""
    found = {"cases": {}, "seconds": {}}
    for name, lift in (("standing", False), (f"the last link pulled up by {LIFT:g} N", True)):
        report(f"three contacts, {name}")
        mu, a, count, held = dense(lift)
        found["cases"][name] = {
            "mu": mu.tolist(), "a": a.tolist(), "subsets": count, "held": held.tolist(),
            "by contact": {solver: forces(solver, lift).tolist() for solver in SOLVERS},
        }  # fmt: skip
    for solver in SOLVERS:
        report(f"a step, {solver}")
        worlds = {"contacts": structures.standing(LINKS, CONTACTS), "none": structures.standing(LINKS, 0),
                  "rows": structures.touching(LINKS, CONTACTS)}  # fmt: skip
        for name, world in worlds.items():
            sim = _made(world, solver, False)
            start = sim.state
            prepare = partial(setattr, sim, "state", start)
            found["seconds"].setdefault(solver, {})[name] = best(sim.step, prepare, seconds=seconds)
    return found
