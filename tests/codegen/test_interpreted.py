"""Kernels run as CasADi functions (LINKWORK_KERNELS=casadi) and as machine code give the same motion to rounding.

Run as a program it prints the final states of all cases as JSON.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.engines.integrators import INTEGRATORS

ROOT = Path(__file__).parents[2]


def pendulum(world):
    bob = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.05), position=(1, 0, 0)))
    world.add(lw.Ball(world.ground, bob, at=(0, 0, 0)))


def chain(world):
    before = world.ground
    for k in range(3):
        link = world.add(lw.RigidBody(1.0, (0.02, 0.1, 0.1), position=(k + 0.5, 0, 0), com=(0.1, 0, 0)))
        world.add(lw.Hinge(before, link, at=(k, 0, 0), axis=(0, 1, 0.2 * k)))
        before = link


def rolling(world):
    disc = world.add(
        lw.RigidBody(1.0, (0.02, 0.04, 0.02), position=(0, 0, 0.3), velocity=(0.6, 0, 0), angular_velocity=(0, 2, 0))
    )
    world.add(lw.Rolling(world.ground, disc, 0.3, axis=(0, 1, 0)))


def scalable(world):
    jelly = world.add(lw.ScalableBody(1.0, (0.1, 0.1, 0.1), stretch=(1.1, 1, 0.9), angular_velocity=(1, 2, 3), stiffness=50.0))
    world.add(lw.Ball(world.ground, jelly, at=(0.5, 0, 0)))


CASES = {f.__name__: f for f in (pendulum, chain, rolling, scalable)}


def ends():
    found = {}
    for name, build in CASES.items():
        for integrator in INTEGRATORS:
            for solver in ("tree", "dense") if name == "chain" else ("tree",):
                world = lw.World()
                build(world)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        sim = lw.Simulation(world, dt=2e-3, solver=solver, integrator=integrator)
                        sim.step(5)
                    except lw.LinkworkError as error:
                        found[f"{name} {integrator} {solver}"] = str(error)
                        continue
                values = [[*sim.position(b), *sim.velocity(b), *sim.orientation(b)] for b in world.bodies]
                found[f"{name} {integrator} {solver}"] = [*np.ravel(values).tolist(), sim.energy().total]
    return found


def test_interpreted_kernels_are_the_compiled_ones_to_rounding():
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.codegen.test_interpreted"]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    interpreted, compiled = json.loads(run.stdout), ends()
    assert interpreted.keys() == compiled.keys()
    for name, values in compiled.items():
        if isinstance(values, str):
            assert interpreted[name] == values
        else:
            np.testing.assert_allclose(interpreted[name], values, atol=1e-11, err_msg=name)
    assert sum(not isinstance(v, str) for v in compiled.values()) >= 16


if __name__ == "__main__":
    print(json.dumps(ends()))
