"""R of touched bodies of random trees of rigid bodies, against the whole system of equations in extended precision: all joints,
rotors, links without mass, trees that float or hang, few touched bodies or many.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys
import warnings

import numpy as np

import linkwork as lw
from linkwork.contact.delassus import COMPOSED
from linkwork.contact.delassus_tables import trees_of
from tests.contact.answers import by_sweeps, selection
from tests.oracles import kkt
from tests.solvers.forests import GRAVITY, accelerations, add_body, assembled, motion, unit

TURNING = ("hinge", "slider", "screw")


def joint(rng, kind, a, b):
    at, axis = rng.normal(size=3), unit(rng, 3)
    return {
        "ball": lambda: lw.Ball(a, b, at),
        "hinge": lambda: lw.Hinge(a, b, at, axis=axis),
        "slider": lambda: lw.Slider(a, b, at, axis=axis),
        "screw": lambda: lw.Screw(a, b, at, axis=axis, pitch=0.3),
        "cylindrical": lambda: lw.Cylindrical(a, b, at, axis=axis),
        "universal": lambda: lw.Universal(a, b, at, first=axis, second=np.cross(axis, unit(rng, 3))),
        "planar": lambda: lw.Planar(a, b, at, normal=axis),
        "weld": lambda: lw.Weld(a, b, at),
        "plane": lambda: lw.PointOnPlane(a, b, at, normal=axis),
    }[kind]()


KINDS = ("ball", "hinge", "slider", "screw", "cylindrical", "universal", "planar", "weld", "plane")


def tree(seed, kinds=KINDS, largest=10, rotors=0.6, massless=0.2, deep=0.5):
    """A world of one tree."""
    rng = np.random.default_rng(seed)
    world, before = lw.World(), []
    for k in range(rng.integers(1, largest + 1)):
        body = add_body(world, rng, "rigid", 1.0)
        if k == 0 and rng.random() < 0.4:
            before.append(body)
            continue
        parent = before[-1 if rng.random() < deep else rng.integers(len(before))] if before else world.ground
        if rng.random() < massless:
            link = world.add(lw.RigidBody(0, (0, 0, 0), position=rng.normal(size=3)))
            _join(world, rng, "hinge", parent, link, rotors)
            parent = link
        _join(world, rng, str(rng.choice(kinds)), parent, body, rotors)
        before.append(body)
    return world


def _join(world, rng, kind, parent, body, rotors):
    made = world.add(joint(rng, kind, *(parent, body)[:: rng.choice([1, -1])]))
    if kind in TURNING and rng.random() < rotors:
        world.add(lw.Armature(made, 10 ** rng.uniform(-2, 1)))


def by_equations(sim, members):
    """S H^-1 S^T, rotors eliminated as -1/inertia in their rows; and its largest entry."""
    H, _ = assembled(sim)
    row = sim.model.velocities
    for node in sim.model.nodes:
        for k in node.kind.rotors:
            rotor = next(e for e in node.elements if node.rows_of(e) == slice(k, k + 1))
            H[row + k, row + k] = -1 / rotor.inertia
        row += node.kind.size
    S = np.zeros((6 * len(members), len(H)))
    S[:, : sim.model.velocities] = selection(sim, members)
    R = S @ np.array(kkt.solve(H, S.T), dtype=float)
    return R, np.abs(R).max()


def simulated(world, solver="tree"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, solver=solver, integrator="euler", dt=1e-3)


def compare(seed, solver="tree", touched=0.4, **options):
    """error: the largest of responses, relative to the largest or to that of a ton where joints hold all; apart: accelerations
    from those of `dense`, relative to the largest or to gravity; composed: whether responses were, along the tree."""
    world = tree(seed, **options)
    sim, dense = simulated(world, solver), simulated(world, "dense")
    for one in (sim, dense):
        accelerations(one)
    moving = motion(dense)
    apart = np.abs(motion(sim) - moving).max() / max(np.abs(moving).max(), GRAVITY)
    rng = np.random.default_rng([seed, 1])
    which = rng.random(len(sim.model.bodies.kinds)) < touched
    which[rng.integers(len(which))] = True
    members, R = by_sweeps(sim, which)
    exact, scale = by_equations(sim, members)
    composed = trees_of(sim.schedules).trees[:, COMPOSED].all()
    return {"error": float(np.abs(R - exact).max() / max(scale, 1e-3)), "apart": float(apart), "composed": bool(composed)}


if __name__ == "__main__":
    begin, end, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for seed in range(begin, end):
        print(json.dumps({"seed": seed, **compare(seed, **options)}), flush=True)
