"""Controllers: identities of their laws in random states, what motors get, and what is refused."""

import numpy as np
import pytest

import linkwork as lw

from ..reduced.forests import random_state, random_world, unit

R = lw.reduced


def arm(gears=(1.0, 1.0, 1.0), motors=3):
    world = lw.World(gravity=(0, 0, -9.81))
    before = world.ground
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (1, 0, 0)]):
        link = world.add(lw.RigidBody(2.0, shape=lw.Capsule(0.03, 0.3), position=(0, 0, 0.3 * k + 0.15), name=f"link{k}"))
        joint = world.add(lw.Hinge(before, link, at=(0, 0, 0.3 * k), axis=axis, name=f"joint{k}"))
        if k < motors:
            world.add(lw.Motor(joint, gear=gears[k], name=f"motor{k}"))
        before = link
    world.add(lw.Frame(before, position=(0, 0.1, 0.15), name="tool"))
    return world


@pytest.mark.parametrize("seed", range(6))
def test_task_inertia_is_what_gives_an_acceleration(seed):
    world = random_world(seed, n=8)
    tree = R.compile(world)
    q, qd, _ = random_state(tree, seed, count=3)
    pair = [world.bodies[-1], world.bodies[3]]
    for frames in (pair[0], pair):
        found = R.task_inertia(tree, q, frames)
        for k, state in enumerate(q):
            J = np.concatenate([R.jacobian(tree, state, body) for body in (pair if frames is pair else pair[:1])])
            mobility = J @ np.linalg.inv(R.crba(tree, state)) @ J.T
            assert np.allclose(mobility @ found[k] @ mobility, mobility, atol=1e-8 * np.abs(mobility).max())
            assert np.allclose(found[k], R.task_inertia(tree, state, frames), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_computed_torque_gives_the_acceleration_that_is_wanted(seed):
    tree = R.compile(random_world(seed, n=6))
    q, qd, qdd = random_state(tree, seed)
    target = R.random(tree, seed + 100)
    controller = lw.control.ComputedTorque(tree, stiffness=9.0, damping=2.0, target=target)
    controller.rate, controller.acceleration = 0.5 * qd, qdd
    found = R.aba(tree, q, qd, controller.efforts(q, qd))
    assert np.allclose(found, qdd - 2.0 * 0.5 * qd + 9.0 * R.difference(tree, q, target), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_a_frame_in_operational_space_is_a_free_mass(seed):
    """Whatever the posture; and what is left free goes to it."""
    tree = R.compile(random_world(seed, n=7, floating=1))
    q, qd, _ = random_state(tree, seed)
    rng = np.random.default_rng(seed)
    ranks = {body: np.linalg.matrix_rank(R.jacobian(tree, q, body), tol=1e-3) for body, _, _ in tree.bodies}
    frame = max(ranks, key=ranks.get)
    whole = ranks[frame] == 6
    at, turn = rng.normal(size=3), unit(rng.normal(size=4)) if whole else None
    assert whole or np.linalg.matrix_rank(R.jacobian(tree, q, frame)[:3], tol=1e-6) == 3
    for posture in (None, R.random(tree, seed + 50)):
        controller = lw.control.OperationalSpace(tree, frame, 25.0, 3.0, position=at, orientation=turn, posture=posture)
        controller.acceleration = rng.normal(size=6)
        qdd = R.aba(tree, q, qd, controller.efforts(q, qd))
        J, pose = R.jacobian(tree, q, frame), R.frame_poses(tree, q, frame)
        found = J @ qdd + R.jacobian_rate(tree, q, qd, frame) @ qd
        wanted = controller.acceleration[:3] - 3.0 * (J @ qd)[:3] + 25.0 * (at - pose.position[0])
        assert np.allclose(found[:3], wanted, rtol=1e-6, atol=1e-6)


def test_motors_get_efforts_by_their_gears():
    world = arm(gears=(2.0, 0.5, 1.0))
    sim = lw.Simulation(world, dt=1e-3)
    sim.set_state(q=[0.1, 0.4, -0.3])
    controller = lw.control.PD(world, stiffness={"joint1": 50.0}, damping=1.0, target=[0.0, 0.2, 0.0])
    efforts = controller(sim)
    gravity = R.gravity_torques(controller.tree, sim.q)
    assert np.allclose(efforts, gravity + 50.0 * np.array([0, -0.2, 0]))
    assert np.allclose(sim.control.commands, efforts / [2.0, 0.5, 1.0])


def test_a_loop_and_a_run_are_the_same():
    world = arm()
    one, other = (lw.Simulation(world, dt=1e-3) for _ in range(2))
    controllers = [lw.control.PD(world, 40.0, 6.0, [0.3, 0.2, -0.1]) for _ in range(2)]
    one.run(0.05, control=controllers[0])
    for _ in range(50):
        controllers[1](other)
        other.step()
    assert np.array_equal(one.q, other.q)


def test_an_error_dies_away_as_its_gains_say():
    """e'' + 2 w e' + w^2 e = 0 from rest: e = e0 (1 + w t) exp(-w t)."""
    world = arm()
    sim = lw.Simulation(world, dt=5e-4)
    begin = np.array([0.4, -0.6, 0.5])
    sim.set_state(q=begin, qd=np.zeros(3))
    sim.run(0.2, control=lw.control.ComputedTorque(world, stiffness=100.0), record_every=None)
    assert np.allclose(sim.q, begin * (1 + 2.0) * np.exp(-2.0), atol=2e-3)


def test_joints_without_a_motor_are_told():
    world = arm(motors=2)
    with pytest.warns(lw.Note, match='^PD: Hinge "joint2" has no motor of kind "torque", and no effort is put there$'):
        lw.control.PD(world, 1.0, 1.0)(lw.Simulation(world))
    bare = arm(motors=0)
    with pytest.raises(
        lw.ModelError, match=r'^PD: no joint of this world has a motor of kind "torque"; add lw.Motor\(joint\)$'
    ):
        lw.control.PD(bare, 1.0, 1.0)(lw.Simulation(bare))


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda w: lw.control.PD(w, -1.0, 1.0), r"^PD: stiffness is -1; give a number of at least 0, 3 of them, or such by joint$"),
        (lambda w: lw.control.PD(w, [1.0, 2.0], 1.0), "^PD: stiffness is .*; give a number of at least 0, 3 of them"),
        (lambda w: lw.control.PD(w, 1.0, 1.0, [0.0, np.nan, 0.0]), "^PD: target is .*; give 3 finite numbers"),
        (lambda w: lw.control.PD(w, {"joint9": 1.0}, 1.0), '^World: there is no element named "joint9"; did you mean "joint'),
        (lambda w: lw.control.ComputedTorque(w, "stiff"), "^ComputedTorque: stiffness is 'stiff'; give a number of at least 0"),
        (lambda w: lw.control.OperationalSpace(w, "tol", 1.0, position=(0, 0, 0)), '^World: there is no element named "tol"; did you mean "tool"'),
        (lambda w: lw.control.OperationalSpace(w, "tool", 1.0, position=(0, 0, np.nan)), "^OperationalSpace: position is .*; give 3 finite numbers"),
        (lambda w: lw.control.OperationalSpace(w, "tool", 1.0, position=(0, 0, 0), orientation=(0, 0, 0, 3)), "^OperationalSpace: orientation .* has length 3; give a unit quaternion"),
    ],
)  # fmt: skip
def test_bad_input(make, sentence):
    with pytest.raises(lw.LinkworkError, match=sentence):
        make(arm())
