"""`tree`, `fronts` and `anticipation` against dense solves on random forests, and what must not change the answer."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.body_points import point_jacobian
from linkwork.simulation.reactions import node_jacobians
from tests.oracles import kkt, poses
from tests.solvers.forests import (
    ELIMINATIONS,
    accelerations,
    add_body,
    assembled,
    compared,
    forest,
    motion,
    simulations,
    solution,
    unit,
    where,
)

ROOT = Path(__file__).parents[2]
EPS = np.finfo(float).eps


def interpreted(begin, end, **options):
    """Many random forests in another process that runs kernels as CasADi functions: nothing is compiled."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "tests.solvers.forests", str(begin), str(end), json.dumps(options)]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


FORESTS = {
    "all kinds": (0, 70, {"spread": 1.0}),
    "mass ratio 1e6": (1000, 1060, {"spread": 3.0}),
    "rigid": (2000, 2040, {"kinds": ["rigid"], "largest": 12, "grounds": 0.15, "stacked": 0.0, "spread": 1.0}),
    "planar and rigid": (3000, 3040, {"kinds": ["planar", "rigid"], "largest": 10, "grounds": 0.3, "spread": 1.0}),
    "rigid, mass ratio 1e6": (4000, 4030, {"kinds": ["rigid"], "largest": 12, "grounds": 0.15, "spread": 3.0}),
    "rigid, loops": (
        7000,
        7040,
        {"kinds": ["rigid"], "largest": 12, "grounds": 0.15, "spread": 1.0, "loops": 3, "stacked": 0.0},
    ),
    "loops": (5000, 5050, {"spread": 1.0, "loops": 2, "grounds": 0.2, "stacked": 0.0}),
    "loops, mass ratio 1e6": (6000, 6030, {"spread": 3.0, "loops": 3, "largest": 10, "grounds": 0.2, "stacked": 0.0}),
}


LUCKY = 4 * EPS  # a few roundings of the largest entry: LU errs less now and then, which nothing can be held to


def allowance(report, solver):
    """Ten times the error of dense LU on the same system: the median over five orders of its equations, because one order
    alone errs several times more or less than another, by luck."""
    return 10 * max(np.median(report["lu"][solver]), LUCKY)


def as_good_as_one_lu(report, solver):
    """The same against LU with the equations as they stand, its luck included."""
    return report["forward"][solver] <= 10 * max(report["lu"][solver][0], LUCKY)


def assert_solved(report):
    assert report["pivots"], report
    error, least = report.get("schur of W", (0.0, 0.0))
    assert error < 1e-11 and least > -1e-11, report
    for solver in report["forward"]:
        assert report["backward"][solver] <= 1e-13, (solver, report)
        assert report["forward"][solver] <= allowance(report, solver), (solver, report)
        assert report["drift"][solver] <= 1e-13, (solver, report)  # m/s: velocities as built are made consistent to rounding
        # in other coordinates, and from velocities made consistent by another solver: the same motion
        assert report["apart"][solver] <= 4 * EPS * max(report["condition"], report["schur"]), (solver, report)


def assert_shared(report):
    """Rows that are redundant are told to the number; the others hold, and multipliers are of least norm. Rows that depend on
    each other only as built may ask for what cannot be: then there is nothing to compare with."""
    assert report["redundant"] == report["lacking"], report
    errors = report["shared"]
    if errors["consistent"] < 1e-12:
        assert max(errors[solver] for solver in ELIMINATIONS if solver in errors) < 1e-8, report


@pytest.mark.slow
@pytest.mark.parametrize("name", FORESTS)
def test_random_forests_are_solved_as_well_as_by_dense_lu(name):
    begin, end, options = FORESTS[name]
    found = interpreted(begin, end, **options)
    assert len(found) == end - begin and not any("refused" in r for r in found)
    solved, redundant = ([r for r in found if bool(r["redundant"]) == told] for told in (False, True))
    assert len(solved) > 0.2 * len(found)
    for r in solved:
        assert r["ratio"] > 1e-10, r
        assert_solved(r)
    for r in redundant:
        assert_shared(r)
    for solver in solved[0]["forward"]:
        assert np.mean([as_good_as_one_lu(r, solver) for r in solved]) > 0.95
    assert np.median([r["forward"]["tree"] / max(np.median(r["lu"]["tree"]), EPS) for r in solved]) < 1
    if name in ("all kinds", "mass ratio 1e6"):
        for feature, least in (("grounded", 2), ("stacked", 1)):
            assert sum(r[feature] >= least for r in solved) > 0.2 * len(solved)
    if "mass ratio" in name:
        assert max(r["ratio of masses"] for r in solved) > 1e5
    if name == "all kinds":
        assert max(r["neighbours"] for r in solved) > 2 and any(r["crossed"] for r in solved)
    if "loops" in name:
        assert all(sum(r["loops"] > 0 for r in group) > 2 for group in (solved, redundant))
        assert sum(r["auxiliary"] > 0 for r in solved) > 2
    if name == "rigid, loops":
        assert all(sum(several in r["ties"] for r in solved) > least for several, least in ((1, 9), (2, 2), (3, 0)))
    if name == "rigid":
        assert sum(r["limbs"] for r in solved) > len(solved)


def rigid(world, rng, **options):
    return world.add(lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), position=rng.normal(size=3),
                                  orientation=unit(rng, 4), angular_velocity=rng.normal(size=3), **options))  # fmt: skip


# -- graphs that force each path ------------------------------------------------------------------------------------


@pytest.mark.parametrize("balls", [1, 2, 3])
def test_a_planar_body_between_balls_is_solved_whatever_the_root(balls):
    """planar-ball-rigid-ball-planar: singular for every root unless the joints wait for both bodies."""
    rng = np.random.default_rng(balls)
    world = lw.World()
    chain = [add_body(world, rng, ("planar", "rigid")[k % 2], 0.0) for k in range(balls + 1 + balls % 2)]
    for k, (a, b) in enumerate(pairwise(chain)):
        pair = (a, b) if k % 2 else (b, a)
        world.add(lw.Ball(*pair, where(a if k % 2 == 0 else b) + np.array([0.3, 0.0, 0.1])))
    report = compared(simulations(world))
    assert_solved(report)


@pytest.mark.parametrize(("scene", "operations"), [("four-bars", 9), ("ladder", 13)])
def test_in_rows_of_loops_every_body_goes_with_a_joint_and_is_tied_to_one_other(scene, operations):
    world = lw.scenes.get(scene, n=5)
    report = compared(simulations(world, ("dense", "fronts", "tree")))
    assert_solved(report)
    assert report["limbs"] == report["bodies"] and set(report["ties"]) == {1}
    few, many = (sum(map(len, lw.Simulation(lw.scenes.get(scene, n=n), integrator="euler").integrator.sweeps)) for n in (5, 9))
    assert many - few <= 4 * operations


@pytest.mark.parametrize("seed", range(4))
def test_a_tied_limb_gives_the_same_answer_whichever_body_is_its_child(seed):
    """A ring of five with all three kinds of limbs, one body on the ground, each joint written either way round."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    ring = [rigid(world, rng) for _ in range(5)]
    kinds = (lambda a, b, at: lw.Ball(a, b, at), lambda a, b, at: lw.Hinge(a, b, at, axis=unit(rng, 3)),
             lambda a, b, at: lw.Universal(a, b, at, first=(0, 1, 0), second=(0, 0, 1)))  # fmt: skip
    for k, (a, b) in enumerate(pairwise([*ring, ring[0]])):
        world.add(kinds[(k + seed) % 3](*((a, b) if rng.random() < 0.5 else (b, a)), rng.normal(size=3)))
    world.add(lw.Distance(ring[1], ring[3]))
    world.add(lw.Ball(world.ground, ring[0], rng.normal(size=3)))
    report = compared(simulations(world))
    assert_solved(report)
    assert max(report["ties"]) >= 2


def test_large_fronts_are_eliminated_in_pieces():
    """Four balls between two affine bodies fix all twelve freedoms: a front of 12 with 12 rows."""
    rng = np.random.default_rng(3)
    world = lw.World()
    a, b = (add_body(world, rng, "affine", 0.0) for _ in range(2))
    for at in (np.zeros(3), *np.eye(3)):
        world.add(lw.Ball(a, b, at=at))
    world.add(lw.Ball(world.ground, a, at=(1, 1, 1)))
    report = compared(simulations(world))
    assert_solved(report)
    assert report["pieces"] > 0


@pytest.mark.parametrize("beside", [1e-2, 1e-3, 1e-4])
def test_a_joint_that_its_child_hardly_feels_waits_for_its_parent(beside):
    """b can only move along z, its rod points along x but for `beside`: the pivot on b alone is beside^2."""
    rng = np.random.default_rng(7)
    world = lw.World()
    a, b = rigid(world, rng, name="a"), rigid(world, rng, name="b")
    world.add(lw.PointOnPlane(world.ground, a, normal=(0.3, 0.4, 0.5)))
    world.add(lw.Hinge(world.ground, b, at=(0, 0, 0), axis=(0, 1, 0)))
    ends = [(2, 0, beside), (1, 0, 0)]
    on = [np.linalg.solve(F, end - x) for (x, F, _), end in zip(map(poses.as_built, (a, b)), ends, strict=True)]
    world.add(lw.Distance(a, b, on_a=on[0], on_b=on[1]))
    report = compared(simulations(world))
    assert report["pivots"] and report["condition"] < 1e4
    assert max(report["forward"][solver] for solver in ("tree", "fronts")) < 1e-13, report


def test_nearly_redundant_rows_are_still_taken():
    """A ball and a point 0.1 mm beside it on a plane: poor, and no reason to refuse."""
    rng = np.random.default_rng(7)
    world = lw.World()
    a, b = rigid(world, rng, name="a"), rigid(world, rng, name="b")
    world.add(lw.Ball(world.ground, a, at=(0, 0, 0)))
    world.add(lw.Ball(a, b, at=(1, 0, 0)))
    world.add(lw.PointOnPlane(a, b, (1 + 1e-4, 0, 0), normal=(0, 0, 1)))
    assert compared(simulations(world))["backward"]["tree"] < 1e-9


@pytest.mark.parametrize("count", [2, 3])
def test_a_body_whose_balls_all_wait_is_exact(count):
    """Planar leaves on an affine hub by balls, which lack rank on the leaf: fronts in pieces with cross blocks."""
    rng = np.random.default_rng(10 + count)
    world = lw.World()
    hub = world.add(lw.AffineBody(2.0, (0.2, 0.3, 0.25)))
    for k in range(count):
        leaf = world.add(lw.PlanarBody(1.0, 0.2, position=rng.normal(size=2), angular_velocity=1.0))
        world.add(lw.Ball(*((hub, leaf) if k % 2 else (leaf, hub)), at=rng.normal(size=3)))
    world.add(lw.Ball(world.ground, hub, at=rng.normal(size=3)))
    report = compared(simulations(world))
    assert_solved(report)
    assert report["neighbours"] > 2 and report["crossed"] > 0


# -- what must not change the answer ------------------------------------------------------------------------------


AT_HOME = (np.eye(3), np.zeros(3))


def moving_tree(rng, shuffle=None, motion=AT_HOME):
    """A branched tree of rigid bodies, joints of all sorts; elements in any order, the scene moved as a whole."""
    R, x = motion
    world = lw.World(gravity=R @ (0, 0, -9.81))
    bodies, constraints = [], []
    for k in range(6):
        q = unit(rng, 4)
        turned = quaternion_of(R @ poses.quaternion_matrix(q))
        bodies.append(lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), position=R @ rng.normal(size=3) + x,
                                   orientation=turned, velocity=R @ rng.normal(size=3),
                                   angular_velocity=R @ rng.normal(size=3), com=0.1 * rng.normal(size=3), name=f"b{k}"))  # fmt: skip
        at, axis = R @ rng.normal(size=3) + x, R @ unit(rng, 3)
        parent = None if k == 0 else f"b{rng.integers(k)}"
        pair = (parent or "ground", f"b{k}")[:: rng.choice([1, -1])]
        make = (lw.Hinge, lw.Ball, lw.Slider, lw.Cylindrical, lw.Ball, lw.Hinge)[k]
        options = {} if make is lw.Ball else {"axis": axis}
        constraints.append(make(*pair, at, **options, name=f"j{k}"))
    order = range(6) if shuffle is None else shuffle.permutation(6)
    for k in order:
        world.add(bodies[k])
    for k in order if shuffle is None else shuffle.permutation(6):
        world.add(constraints[k])
    return world


def quaternion_of(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat(scalar_first=True)


def movement(world, solver="tree"):
    """Accelerations and reactions by name."""
    sim = simulations(world, (solver,))[solver]
    found = {b.name: np.concatenate([sim.acceleration(b), sim.angular_acceleration(b)]) for b in world.bodies}
    for c in world.constraints:
        reaction = sim.reaction(c)
        found[c.name] = np.concatenate([reaction.force, reaction.torque, reaction.at])
    return found


@pytest.mark.parametrize("solver", ["tree", "fronts"])
@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_which_elements_are_added_does_not_matter(seed, solver):
    one = movement(moving_tree(np.random.default_rng(seed)), solver)
    two = movement(moving_tree(np.random.default_rng(seed), shuffle=np.random.default_rng(100 + seed)), solver)
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-9, atol=1e-9 * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_a_rigid_motion_of_the_whole_scene_moves_the_answer(seed):
    rng = np.random.default_rng(50 + seed)
    R, x = poses.turn(rng.normal(size=3)), rng.normal(size=3)
    one = movement(moving_tree(np.random.default_rng(seed)))
    two = movement(moving_tree(np.random.default_rng(seed), motion=(R, x)))
    for name, value in one.items():
        parts = value.reshape(-1, 3) @ R.T
        if name.startswith("j"):
            parts[2] += x
        np.testing.assert_allclose(two[name].reshape(-1, 3), parts, atol=1e-9 * max(1, np.abs(value).max()), err_msg=name)


def test_a_weld_makes_one_body_of_two():
    m1, m2, d = 1.3, 0.4, np.array([0.5, 0.1, -0.2])
    I1, I2 = np.diag([0.1, 0.12, 0.15]), np.diag([0.05, 0.04, 0.06])
    hinge = {"at": (0.2, 0.3, 0.1), "axis": (0.6, 0, 0.8)}

    def sim(world):
        return simulations(world, ("tree",))["tree"]

    two = lw.World()
    a = two.add(lw.RigidBody(m1, I1))
    b = two.add(lw.RigidBody(m2, I2, position=d))
    joint_two = two.add(lw.Hinge(two.ground, a, **hinge))
    two.add(lw.Weld(a, b))
    two.add(lw.Spring(two.ground, b, 10.0, rest=0.1, on_a=(1, 1, 1)))
    one = lw.World()
    com = m2 * d / (m1 + m2)
    inertia = sum(I + m * ((p - com) @ (p - com) * np.eye(3) - np.outer(p - com, p - com))
                  for I, m, p in ((I1, m1, np.zeros(3)), (I2, m2, d)))  # fmt: skip
    c = one.add(lw.RigidBody(m1 + m2, inertia, com=com))
    joint_one = one.add(lw.Hinge(one.ground, c, **hinge))
    one.add(lw.Spring(one.ground, c, 10.0, rest=0.1, on_a=(1, 1, 1), on_b=d))
    first, second = sim(two), sim(one)
    np.testing.assert_allclose(first.acceleration(a), second.acceleration(c), atol=1e-11)
    np.testing.assert_allclose(first.angular_acceleration(b), second.angular_acceleration(c), atol=1e-11)
    r1, r2 = first.reaction(joint_two), second.reaction(joint_one)
    np.testing.assert_allclose(r1.force, r2.force, atol=1e-11)
    np.testing.assert_allclose(r1.torque, r2.torque, atol=1e-11)


def test_a_forest_is_its_trees_run_apart():
    whole, parts = lw.World(), []
    for k in range(3):
        alone = lw.World()
        for world in (whole, alone):
            rng = np.random.default_rng(k)
            top = rigid(world, rng, name=f"top{k}")
            tip = rigid(world, rng, name=f"tip{k}")
            world.add(lw.Hinge(world.ground, top, at=rng.normal(size=3), axis=unit(rng, 3)))
            world.add(lw.Ball(top, tip, at=rng.normal(size=3)))
        parts.append(alone)
    together = simulations(whole, ("tree",))["tree"]
    together.step(20)
    for k, alone in enumerate(parts):
        sim = simulations(alone, ("tree",))["tree"]
        sim.step(20)
        for name in (f"top{k}", f"tip{k}"):
            np.testing.assert_array_equal(sim.position(name), together.position(name))  # the same bits


# -- one factorisation, many right-hand sides; free bodies ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_impulses_on_any_body_agree_with_the_dense_system(seed):
    world = moving_tree(np.random.default_rng(seed))
    sims = simulations(world, ("dense", "tree", "fronts"))
    rng = np.random.default_rng(seed)
    for body in world.bodies:
        impulse, at = rng.normal(size=3), 0.3 * rng.normal(size=3)
        changes = {}
        for name, sim in sims.items():
            sim.reset()
            before = [np.concatenate([sim.velocity(b), sim.angular_velocity(b)]) for b in world.bodies]
            sim.strike(body, impulse, at=at)
            after = [np.concatenate([sim.velocity(b), sim.angular_velocity(b)]) for b in world.bodies]
            changes[name] = np.array(after) - before
            assert sim.drift(velocity=True) < 1e-12
        np.testing.assert_allclose(changes["tree"], changes["dense"], atol=1e-12)
        np.testing.assert_allclose(changes["fronts"], changes["dense"], atol=1e-12)
        # J in extended precision, from nothing but M and the rows
        dense = sims["dense"]
        dense._editor.system.factor()
        H = dense.schedules.matrix(dense.work)
        r = np.zeros(len(H))
        number = world.bodies.index(body)
        r[dense.schedules._rows(number)] = point_jacobian(dense._system, number, at).T @ impulse
        x = kkt.solve(H, r)[dense.schedules._rows(number)]
        np.testing.assert_allclose(changes["tree"][number, 3:], np.array(x[3:], dtype=float), atol=1e-12)


@pytest.mark.parametrize("seed", [1, 4, 5, 8, 33])
def test_reactions_are_what_each_free_body_lacks(seed):
    """M a - f of each body is the sum of J^T lambda of its constraints."""
    world = forest(seed, spread=1.0)
    sim = simulations(world, ("tree",))["tree"]
    accelerations(sim)
    dense = simulations(world, ("dense",))["dense"]
    accelerations(dense)
    H, r = assembled(dense)
    n = dense.model.velocities
    x = np.concatenate([motion(sim), solution(sim)[n:]])
    lacking = H[:n, :n] @ x[:n] - r[:n]
    forces = np.zeros(n)
    for k, node in enumerate(sim.model.nodes):
        multipliers = -x[dense.schedules._rows(len(sim.model.bodies.kinds) + k)]
        for end, J in zip(node.ends, node_jacobians(dense._system, k), strict=True):
            if end >= 0:
                forces[dense.schedules._rows(end)] += J.T @ multipliers
    np.testing.assert_allclose(forces, lacking, atol=1e-10 * max(1, np.abs(lacking).max()))


@pytest.mark.parametrize("seed", range(3))
def test_reported_reactions_balance_newton_and_euler_of_every_rigid_body(seed):
    """m a_com = m g + sum of forces; d/dt (I w) = sum of torques about the centre of mass: all from public reports."""
    world = moving_tree(np.random.default_rng(seed))
    sim = simulations(world, ("tree",))["tree"]
    for body in world.bodies:
        R, w = sim.frame(body), sim.angular_velocity(body)
        arm, alpha = R @ body.com, sim.angular_acceleration(body)
        com = sim.position(body) + arm
        a = sim.acceleration(body) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        I = R @ body.inertia @ R.T
        force, torque = body.mass * (a - world.gravity), I @ alpha + np.cross(w, I @ w)
        for c in world.constraints:
            if body in (c.a, c.b):
                reaction = sim.reaction(c, body=body)
                force = force - reaction.force
                torque = torque - reaction.torque - np.cross(reaction.at - com, reaction.force)
        np.testing.assert_allclose(force, 0, atol=1e-10)
        np.testing.assert_allclose(torque, 0, atol=1e-10)


def test_stacked_constraints_are_one_node_whatever_their_roles():
    world = lw.World()
    rng = np.random.default_rng(9)
    a, b = rigid(world, rng), rigid(world, rng)
    world.add(lw.Hinge(world.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    hinge = world.add(lw.Hinge(b, a, at=(1, 0, 0), axis=(0, 1, 0)))
    world.add(lw.Drive(hinge, 2.0))
    report = compared(simulations(world))
    assert_solved(report)
    sims = simulations(world)
    assert len(sims["tree"].model.nodes) == 2
    for sim in sims.values():
        assert abs(sim.rate(hinge) - 2.0) < 1e-12
