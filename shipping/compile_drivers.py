"""Bitcode of the drivers that runs need, or those of some worlds, solvers and integrators alone.

    python shipping/compile_drivers.py FOLDER [WORLD or SOLVER/INTEGRATOR ...]

Which drivers there are, and for arguments of which types, is seen by making small runs of all solvers with all integrators, of
bodies of all shapes that touch, and of a few scenes, of batches of them, and of their kinematics. What is missed is compiled on
first use.
"""

import multiprocessing
import os
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path


def worlds(lw):
    """(name, makes a world)."""
    yield "box-stack", lambda: lw.scenes.get("box-stack", n=2)
    yield "double-pendulum", lambda: lw.scenes.get("double-pendulum")
    yield "four-bars", lambda: lw.scenes.get("four-bars")
    yield "rag-doll", lambda: lw.scenes.get("rag-doll")
    yield "shapes", lambda: shapes(lw)
    yield "chain", lambda: lw.scenes.get("chain", n=3)


def shapes(lw):
    """One body of each kind of collision shape above a floor, near the others."""
    solids = [lw.Sphere(0.1), lw.Box(0.2, 0.2, 0.2), lw.Cylinder(0.1, 0.2), lw.Capsule(0.1, 0.2), lw.Ellipsoid(0.1, 0.1, 0.12),
              lw.ConvexHull([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)])]  # fmt: skip
    world = lw.World(gravity=(0, 0, -9.81))
    world.add(lw.Collider(world.ground, lw.Plane()))
    for number, shape in enumerate(solids * 2):
        world.add(lw.RigidBody(mass=1.0, shape=shape, position=(0.25 * number, 0, 0.13)))
    world.add(lw.Contact(friction=0.6))
    return world


def run(name, folder, pairs):
    """Two steps of a world with all solvers and integrators, or with some pairs; what does not go together is refused, and of
    no interest."""
    warnings.simplefilter("ignore")
    import linkwork as lw
    from linkwork.codegen import drivers
    from linkwork.engines.traits import PAIRS

    drivers.SHIP = lambda file, content: (Path(folder) / file).write_bytes(content)
    for solver, integrator in PAIRS:
        if pairs and f"{solver}/{integrator}" not in pairs:
            continue
        try:
            sim = lw.Simulation(dict(worlds(lw))[name](), solver=solver, integrator=integrator)
            sim.run(2 * sim.dt)
            sim.position(sim.world.bodies[0])
            batch = lw.Batch(sim.world, 2, solver=solver, integrator=integrator)
            batch.step()
            batch.reset()
            _ = batch.q, batch.positions
        except lw.LinkworkError as refusal:
            print(f"{name}, {solver}/{integrator}: {refusal}", flush=True)
    if not pairs and name in ("double-pendulum", "shapes"):
        measure(lw, dict(worlds(lw))[name]())


def measure(lw, world):
    """Kinematics, inverse kinematics and distances of a tree."""
    tree = lw.reduced.compile(world)
    body = world.bodies[-1]
    lw.reduced.jacobian(tree, tree.start, body)
    lw.reduced.inverse_kinematics(tree, {body: body.position}, restarts=1)
    lw.reduced.distances(tree, tree.start)


def main():
    """As many worlds at a time as there are processors; what one has compiled another finds in the cache."""
    import linkwork as lw

    folder, *chosen = sys.argv[1:]
    pairs = [one for one in chosen if "/" in one]
    names = [name for name, _ in worlds(lw) if name in chosen or len(pairs) == len(chosen)]
    Path(folder).mkdir(parents=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["LINKWORK_CACHE"] = cache
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as processes:
            list(processes.map(run, names, repeat(folder), repeat(pairs)))
    print(f"linkwork: bitcode of {len(os.listdir(folder))} drivers")


if __name__ == "__main__":
    main()
