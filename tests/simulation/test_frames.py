"""Frames: where they are and how they move, against differences and closed forms; and what becomes of them in edits."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from tests.reduced.forests import random_state, random_world
from tests.simulation.worlds import crank_and_rod, zoo
from tests.solvers.forests import forest

SHORT = 1e-5  # s: a step of which ends are compared


def unit(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def framed(world, seed):
    """The world with a frame on each of its bodies, one more on the first, and one on the ground."""
    rng = np.random.default_rng(seed)
    bodies = [world.ground, *(b for b in world.bodies if not isinstance(b, lw.LagrangianBody)), world.bodies[0]]
    for k, body in enumerate(bodies):
        world.add(lw.Frame(body, position=rng.normal(size=3), orientation=unit(rng), name=f"frame {k}"))
    return world


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def rotations(poses):
    return Rotation.from_quat(poses.orientation, scalar_first=True)


def everything(sim):
    """Poses of all frames, and their accelerations (linear, angular)."""
    found = [np.concatenate([sim.acceleration(n), sim.angular_acceleration(n)]) for n in sim.frames.names]
    return sim.frames, np.array(found)


@pytest.mark.parametrize("seed", range(8))
def test_frames_on_all_kinds_of_bodies_move_as_differences_say(seed):
    sim = quietly(framed(forest(seed, loops=seed % 2), seed), dt=SHORT)
    (before, a0), _ = everything(sim), sim.step()
    after, a1 = everything(sim)
    has_spin = [not isinstance(frame.body, lw.AffineBody) for frame in sim.world.frames]  # among its components
    size = 1 + np.abs(before.velocity).max() ** 3 + np.abs(a0).max() ** 1.5
    for moved, rate in (
        (after.position - before.position, before.velocity + after.velocity),
        ((rotations(after) * rotations(before).inv()).as_rotvec(), before.angular_velocity + after.angular_velocity),
        (after.velocity - before.velocity, a0[:, :3] + a1[:, :3]),
        ((after.angular_velocity - before.angular_velocity)[has_spin], (a0[:, 3:] + a1[:, 3:])[has_spin]),
    ):
        np.testing.assert_allclose(moved / SHORT, rate / 2, rtol=0, atol=1e-7 * size)
    assert not after.velocity[0].any() and not a1[0].any(), "the first one is on the ground"


@pytest.mark.parametrize("seed", range(6))
def test_twists_are_jacobians_times_rates_in_all_axes(seed):
    world = framed(random_world(seed) if seed else zoo(), seed)
    sim, rng = quietly(world), np.random.default_rng(seed)
    if seed:
        tree = lw.reduced.compile(world)
        sim.set_state(q=random_state(tree, seed)[0], qd=rng.normal(size=tree.nv))
    for name in (*sim.frames.names, world.bodies[-1].name):
        pose = sim.pose(name)
        aligned, own = (
            np.concatenate([pose.velocity, pose.angular_velocity]),
            Rotation.from_quat(pose.orientation, scalar_first=True),
        )
        at_origin = pose.velocity + np.cross(pose.position, pose.angular_velocity)
        expected = {
            "aligned": aligned,
            "local": np.concatenate([own.inv().apply(pose.velocity), own.inv().apply(pose.angular_velocity)]),
            "world": np.concatenate([at_origin, pose.angular_velocity]),
        }
        for axes, twist in expected.items():
            close = {"rtol": 0, "atol": 1e-12 * (1 + np.abs(twist).max())}
            np.testing.assert_allclose(sim.twist(name, axes=axes), twist, **close)
            np.testing.assert_allclose(sim.frame_jacobian(name, axes=axes) @ sim.qd, twist, **close)
        assert np.array_equal(sim.twist(name), aligned) and sim.frame_jacobian(name).shape == (6, len(sim.qd))


def test_one_by_one_as_all_together_and_for_every_solver():
    world = framed(random_world(3), 3)
    sims = [quietly(world, solver=solver, integrator=integrator)
            for solver, integrator in (("tree", "rattle"), ("dense", "rk4"), ("aba", "joint-rk4"))]  # fmt: skip
    tree = lw.reduced.compile(world)
    q, qd, _ = random_state(tree, 5)
    for sim in sims:
        sim.set_state(q=q, qd=qd)
    first = sims[0].frames
    for sim in sims:
        for one, other in zip(first[1:], sim.frames[1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
        for k, name in enumerate(first.names):
            alone = sim.pose(name)
            for field in alone._fields:
                assert np.array_equal(getattr(alone, field), getattr(sim, field)(name))
                assert np.array_equal(getattr(alone, field), getattr(sim.frames, field)[k])
            assert np.array_equal(sim.point(name, (1, 2, 3)), alone.position + alone.frame @ (1, 2, 3))
    assert not first.position.flags.writeable and not first.frame.flags.writeable
    kept = [value.copy() for value in first[1:]]
    sims[0].step(5)
    moved = sims[0].frames
    assert all(np.array_equal(one, other) for one, other in zip(first[1:], kept, strict=True)), "what was handed out stays"
    assert not np.array_equal(moved.position, first.position)


def test_a_frame_as_its_body_has_the_same_bits():
    world = zoo()
    for body in world.bodies:
        world.add(lw.Frame(body, name=f"{body.name}'s"))
    sim = quietly(world)
    sim.step(20)
    for body in world.bodies:
        for read in (sim.position, sim.orientation, sim.velocity, sim.angular_velocity, sim.frame, sim.acceleration):
            assert np.array_equal(read(body), read(f"{body.name}'s")), read


def test_frames_come_and_go_while_a_simulation_runs_and_change_nothing():
    plain, edited = lw.Simulation(crank_and_rod()), lw.Simulation(crank_and_rod())
    for sim in (plain, edited):
        sim.step(30)
    tool = edited.add(lw.Frame("rod", position=(0, 0, 0.4), name="tool"))
    assert np.allclose(edited.position(tool), edited.point("rod", (0, 0, 0.4)), atol=1e-15)
    for sim in (plain, edited):
        sim.step(30)
    assert np.allclose(edited.position("tool"), edited.point("rod", (0, 0, 0.4)), atol=1e-15)
    edited.world.remove(tool)
    for sim in (plain, edited):
        sim.step(30)
    assert np.array_equal(plain.q, edited.q) and np.array_equal(plain.qd, edited.qd)
    with pytest.raises(lw.LinkworkError, match='^Frame "tool": it is not in the world of this simulation; add it'):
        edited.position(tool)
    edited.switch("pin", on=False)
    edited.add(lw.Frame("rod", name="later"))
    edited.step()
    assert np.array_equal(edited.position("later"), edited.position("rod"))


def test_a_frame_goes_with_its_body():
    world = crank_and_rod()
    tool = world.add(lw.Frame("rod", position=(0, 0, 0.4), name="tool"))
    sim = lw.Simulation(world)
    with pytest.raises(lw.ModelError, match='^RigidBody "rod": still used by Ball "pin", Frame "tool"; remove those first'):
        world.remove("rod")
    world.remove("rod", cascade=True)
    assert world.frames == () and sim.frames.names == () and sim.frames.frame.shape == (0, 3, 3)
    with pytest.raises(lw.UnknownNameError, match='^Simulation: no body or frame is called "tool"$'):
        sim.pose("tool")
    with pytest.raises(lw.LinkworkError, match="it is not in the world"):
        sim.pose(tool)


def test_copies_of_a_simulation_have_its_frames():
    world = crank_and_rod()
    world.add(lw.Frame("rod", position=(0, 0, 0.4), orientation=(0, 1, 0, 0), name="tool"))
    sim = lw.Simulation(world)
    sim.step(40)
    for twin in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        twin.step(10)
        assert twin.world.find("tool").body is twin.world.find("rod")
        ahead = lw.Simulation(world)
        ahead.step(50)
        assert all(np.array_equal(one, other) for one, other in zip(twin.pose("tool"), ahead.pose("tool"), strict=True))


@pytest.mark.parametrize(
    "asked, said",
    [
        (lambda sim: sim.pose("tol"), '^Simulation: no body or frame is called "tol"; did you mean "tool"?'),
        (lambda sim: sim.twist("croak"), '^Simulation: no body or frame is called "croak"; did you mean "crank"?'),
        (lambda sim: sim.position("axle"), '^Hinge "axle": it has no position of its own; give a body, or a frame on one'),
        (lambda sim: sim.twist("tool", axes="body"), "^Simulation: axes is 'body'; give \"aligned\" or \"local\" or \"world\""),
        (lambda sim: sim.frame_jacobian("tool", axes=3), "^Simulation: axes is 3; give"),
        (lambda sim: sim.point("tool", (1, 2)), "^Simulation: local"),
        (lambda sim: sim.jacobian("tool"), '^Frame "tool": it is a frame on RigidBody "rod", and no body; give the body itself'),
        (lambda sim: sim.angle("tool"), '^Frame "tool": it is a frame on RigidBody "rod", and no constraint; give the constraint itself'),
        (lambda sim: sim.force("tool"), '^Frame "tool": it is a frame on RigidBody "rod", and no force; give the force itself'),
        (lambda sim: sim.grab("tool"), '^Frame "tool": it is a frame on RigidBody "rod", and no body; give the body itself'),
        (lambda sim: sim.switch("tool", on=False), '^Frame "tool": a frame does nothing that could be switched off; remove it'),
    ],
)  # fmt: skip
def test_what_is_no_frame_is_refused_in_a_sentence(asked, said):
    world = crank_and_rod()
    world.add(lw.Frame("rod", name="tool"))
    with pytest.raises(lw.LinkworkError, match=said.replace("?", r"\?")):
        asked(lw.Simulation(world))
