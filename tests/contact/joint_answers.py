"""How bodies answer in joint coordinates, against the dense Schur complement in maximal ones, on random mechanisms.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys
import warnings

import numpy as np

import linkwork as lw
from linkwork.codegen.jit import sweep
from linkwork.engines.joint_coordinates.tree_plan import LTDL
from tests.contact.answers import by_schur, responded, slots_of
from tests.solvers.forests import forest, simulations

TWINS = {"aba": "tree", "ltdl": "tree", "tree": "tree", "anticipation": "fronts"}  # with the same frames of bodies


def ready(world, solver, integrator="joint-euler", dt=1e-3):
    """A simulation whose step stands where contact would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=dt)
    sim._system.prepare()
    stand_at_contact(sim)
    return sim


def stand_at_contact(sim):
    """Accelerations, the factors that they leave, and velocities of the step's end."""
    plan = sim.integrator.plan
    steps = ((plan.kernels, plan.loads), (plan.own_kernels, plan.wrenches), (plan.own_kernels, plan.release))
    for table, operations in steps:
        sweep(sim.work, table, operations)
    for k in range(len(plan.forces)):
        sweep(sim.work, plan.kernels, plan.forces[k : k + 1])
        sweep(sim.work, plan.own_kernels, plan.hold[k : k + 1])
    sweep(sim.work, plan.own_kernels, plan.inwards)
    if sim.integrator.dynamics == LTDL:
        inertia = plan.inertia
        sweep(sim.work, plan.own_kernels, inertia.blocks)
        sim.work[inertia.tiles_at] = sim.work[inertia.blocks_at]
        sweep(sim.work, plan.own_kernels, inertia.factoring)


def compare(seed, solver, **options):
    """The largest errors of R and of velocities after a strike, relative to the largest answer of a free body; None where the
    solver refuses."""
    world = forest(seed, kinds=["rigid"], **options)
    world.add(lw.Rope(world.ground, world.bodies[0], length=1000.0))
    try:
        sim = ready(world, solver)
    except lw.ModelError:
        return None
    rng = np.random.default_rng([seed, 1])
    touched = rng.random(len(world.bodies)) < 0.7
    touched[0] = True
    answers = sim.integrator.inverse_mass
    members, R = responded(answers, sim.work, touched)
    slots, used, groups, _ = slots_of(answers, touched)
    slots.wrench[:used] = rng.normal(size=(used, 6))
    before = velocities(sim)
    answers.apply_impulses(sim.work, slots, groups)
    everybody = np.arange(len(world.bodies))
    exact, scale = by_schur(simulations(world, (TWINS[solver],))[TWINS[solver]], everybody)
    wrench = np.zeros((len(everybody), 6))
    wrench[members] = slots.wrench[:used]
    struck = np.abs(velocities(sim) - before - exact @ wrench.ravel()).max()
    rows = (6 * members[:, None] + np.arange(6)).ravel()
    return {"R": float(np.abs(R - exact[np.ix_(rows, rows)]).max() / scale), "struck": float(struck / scale)}


def velocities(sim):
    """Of all bodies' reference points, from the joints'."""
    own = sim.integrator.tree
    for name in ("rates", "velocities"):
        sweep(sim.work, own.table, own.sweep(name))
    found = np.zeros((len(own.tree.bodies), 6))
    for body in own.moving:
        found[body] = sim.work[sim.model.field_of_body(body, "v")]
    return found.ravel()


if __name__ == "__main__":
    begin, end, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for seed in range(begin, end):
        for solver in TWINS:
            print(json.dumps({"seed": seed, "solver": solver, "error": compare(seed, solver, **options)}), flush=True)
