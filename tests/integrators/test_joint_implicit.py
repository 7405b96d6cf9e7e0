"""Forces at joints, linearly implicit in joint coordinates: exact formula, stability, what is local to a joint."""

import numpy as np
import pytest

import linkwork as lw
from tests.reduced.forests import random_state, random_world, rebuilt

R = lw.reduced


def arm(joints=("hinge", "slider", "universal", "hinge"), stiffness=40.0, damping=3.0):
    """A branched arm with a spring at every joint."""
    world = lw.World()
    bodies = [world.ground]
    for k, kind in enumerate(joints):
        at = (0.3 * k, 0.1 * k, 0)
        body = world.add(lw.RigidBody(1.0 + k, (0.1, 0.2, 0.15), position=(0.3 * k + 0.2, 0, 0.1), name=f"body{k}"))
        parent = bodies[k if k < 3 else 2]
        if kind == "universal":
            joint = world.add(lw.Universal(parent, body, at=at, first=(1, 0, 0), second=(0, 1, 0), name=f"joint{k}"))
        else:
            joint = world.add(
                {"hinge": lw.Hinge, "slider": lw.Slider}[kind](parent, body, at=at, axis=(0, 1, 1), name=f"joint{k}")
            )
        world.add(lw.JointSpring(joint, stiffness * (k + 1), damping=damping / (k + 1)))
        bodies.append(body)
    return world


def by_formula(world, q, qd, h, stiffness=40.0, damping=3.0):
    """(H + h D + h^2 K) qdd = -C - K (q + h qd) - D qd, dense; the springs are at rest as built."""
    tree = R.compile(world)
    K, D = np.zeros(tree.nv), np.zeros(tree.nv)
    for k, joint in enumerate(world.constraints):
        K[tree.velocities(joint)], D[tree.velocities(joint)] = stiffness * (k + 1), damping / (k + 1)
    H, C = R.crba(tree, q), R.rnea(tree, q, qd, np.zeros(tree.nv))
    return np.linalg.solve(H + np.diag(h * D + h * h * K), -C - K * (q + h * qd) - D * qd)


def told(sim, tree):
    """qd, as a Simulation has it."""
    names = [body.name for body in tree.world.bodies]
    x, turn = [sim.position(n) for n in names], [sim.orientation(n) for n in names]
    return R.from_bodies(tree, x, turn, [[*sim.velocity(n), *sim.angular_velocity(n)] for n in names])


@pytest.mark.parametrize("solver", ["aba", "ltdl"])
@pytest.mark.parametrize("h", [1e-3, 0.1])
def test_one_step_is_that_of_the_formula(solver, h):
    world = arm()
    before = lw.Simulation(world, dt=1e-3, solver="aba", integrator="joint-rk4")
    before.strike("body2", (3, -2, 1), at=before.point("body2", (0.1, 0.2, 0.3)))
    before.step(150)
    tree = R.compile(world)
    q, qd = told(before, tree)
    assert np.abs(q).max() > 0.05 and np.abs(qd).max() > 0.1
    sim = lw.Simulation(world, dt=h, solver=solver, integrator="joint-implicit")
    sim.state = before.state
    sim.step()
    wanted = qd + h * by_formula(world, q, qd, h)
    assert np.allclose(told(sim, tree).qd, wanted, rtol=1e-10, atol=1e-10)
    assert not sim.notes


@pytest.mark.parametrize("solver", ["aba", "ltdl"])
@pytest.mark.parametrize("joint", [lw.Ball, lw.Hinge])
def test_stiff_springs_stay_calm(solver, joint):
    world = lw.World()
    before = world.ground
    for k in range(6):
        body = world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0.2 * k + 0.1, 0, 0), angular_velocity=(0, 0, 0)))
        axis = {} if joint is lw.Ball else {"axis": (0, 1, 0)}
        world.add(lw.JointSpring(world.add(joint(before, body, at=(0.2 * k, 0, 0), **axis)), 1e7, damping=10.0))
        before = body
    sim = lw.Simulation(world, dt=1e-2, solver=solver, integrator="joint-implicit")
    sim.run(3.0, record_every=None)
    assert sim.drift() < 1e-12
    assert abs(sim.position(before)[2]) < 1e-4  # held up against its weight
    assert np.linalg.norm(sim.velocity(before)) < 1e-3
    with pytest.raises(lw.DivergenceError):
        lw.Simulation(world, dt=1e-2, solver=solver, integrator="joint-euler").run(3.0, record_every=None)


def test_what_is_local_to_a_joint():
    """Springs between neighbours, drag on what hangs on the ground, a servo: implicit; the others are named."""
    world = arm()
    a, b, c = world.bodies[:3]
    world.add(lw.Spring(a, b, 100.0, damping=1.0, name="near"))
    world.add(lw.Drag(a, 0.5, name="first"))
    world.add(lw.Motor("joint0", kind="position", kp=50.0, kd=2.0, name="servo"))
    world.add(lw.Wrench(c, force=(0, 0, 1), name="push"))
    world.add(lw.Spring(a, c, 100.0, name="far"))
    world.add(lw.Drag(c, 0.5, name="air"))
    with pytest.warns(lw.Note):
        sim = lw.Simulation(world, dt=1e-3, solver="aba", integrator="joint-implicit")
    (note,) = sim.notes
    assert note == ('Spring "far" and Drag "air": they do not act at single joints, so that they are explicit in joint '
                    'coordinates; use solver="implicit" if they are stiff')  # fmt: skip
    assert len(sim.integrator.local) == 4 + 3


@pytest.mark.parametrize("solver", ["aba", "ltdl"])
@pytest.mark.parametrize("seed", range(3))
def test_all_joints_converge_to_the_motion(solver, seed):
    def world():
        made = random_world(seed, n=6)
        tree = R.compile(made)
        made = rebuilt(made, tree, *random_state(tree, seed)[:2])
        for joint in list(made.constraints):
            if isinstance(joint, (lw.Ball, lw.Hinge, lw.Slider, lw.Universal, lw.Cylindrical)):
                made.add(lw.JointSpring(joint, 20.0, damping=1.0))
        return made

    def placed(sim):
        return np.array([[*sim.position(b), *sim.angular_velocity(b)] for b in sim.world.bodies])

    reference = lw.Simulation(world(), solver="tree", integrator="dopri5", tolerance=1e-12)
    reference.run(0.05, record_every=None)
    errors = []
    for h in (5e-4, 2.5e-4):
        sim = lw.Simulation(world(), dt=h, solver=solver, integrator="joint-implicit")
        sim.run(0.05, record_every=None)
        errors.append(np.abs(placed(sim) - placed(reference)).max())
    assert errors[1] < 0.1 and 0.7 < np.log2(errors[0] / errors[1]) < 1.4
