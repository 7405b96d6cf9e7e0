"""Massless links and rotors in worlds: all solvers against one dense system, refusals, edits, copies."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from tests.simulation.drives import coupled_accelerations, random_world

SEEDS = range(4)


def accelerations(sim, world):
    return np.array([np.r_[sim.acceleration(body), sim.angular_acceleration(body)] for body in world.bodies])


def test_all_solvers_agree_with_masses_that_rotors_couple():
    worst = 0.0
    for seed in SEEDS:
        world = random_world(seed)
        expected = coupled_accelerations(world)
        for solver in ("tree", "dense"):
            sim = lw.Simulation(world, solver=solver)
            for body in world.bodies:
                x = expected[body.name]  # of centres of mass
                there = x[:3] + np.cross(x[3:], sim.position(body) - sim.point(body, body.com))
                found, scale = np.r_[sim.acceleration(body), sim.angular_acceleration(body)], max(1.0, np.abs(x).max())
                worst = max(worst, np.abs(found - np.r_[there, x[3:]]).max() / scale)
    assert worst < 1e-9, worst


def test_joint_coordinates_agree_while_they_move():
    world, found = random_world(1), []
    for solver, integrator in (("tree", "rk4"), ("aba", "joint-rk4"), ("ltdl", "joint-rk4"), ("tree", "rattle")):
        sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=1e-3)
        start = sim.energy().total
        sim.step(100)
        assert sim.energy().total == pytest.approx(start, abs=1e-4) and sim.drift() < 1e-9
        found.append((np.array([sim.position(b) for b in world.bodies]), accelerations(sim, world)))
    for k, (positions, x) in enumerate(found):
        near = 1e-4 if k == 3 else 1e-8  # rattle is of order 2
        assert np.abs(positions - found[0][0]).max() < near
        assert np.abs(x - found[0][1]).max() < 100 * near * max(1.0, np.abs(x).max())


def test_reactions_on_a_massless_link_balance():
    for seed in SEEDS:
        world = random_world(seed, rotors=0.0)
        sim = lw.Simulation(world)
        for link in (b for b in world.bodies if b.massless):
            total, size = np.zeros(6), 1.0
            for joint in (j for j in world.constraints if link in (j.a, j.b)):
                reaction = sim.reaction(joint, body=link)
                total += np.r_[reaction.force, reaction.torque + np.cross(reaction.at - sim.position(link), reaction.force)]
                size = max(size, np.abs(reaction.force).max(), np.abs(reaction.torque).max())
            assert np.abs(total).max() < 1e-9 * size


def test_what_a_massless_link_must_have():
    with pytest.raises(lw.ElementError, match='RigidBody "m": mass is 0 but inertia is missing; give inertia'):
        lw.RigidBody(0, name="m")
    with pytest.raises(lw.ElementError, match=r'RigidBody "m": mass is 0 but inertia is \(1, 1, 1\); give both'):
        lw.RigidBody(0, (1, 1, 1), name="m")
    with pytest.raises(lw.ElementError, match='RigidBody "m": mass is 0 but density is 3'):
        lw.RigidBody(0, shape=lw.Sphere(1), density=3, name="m")
    assert lw.RigidBody(0.0, shape=lw.Sphere(1)).massless

    def world(*, grounded, carries):
        made = lw.World()
        made.add(lw.RigidBody(0, (0, 0, 0), name="m"))
        if grounded:
            made.add(lw.Hinge(made.ground, "m", at=(0, 0, 0), axis=(1, 0, 0)))
        if carries:
            made.add(lw.RigidBody(1, (1, 1, 1), name="b"))
            made.add(lw.Hinge("m", "b", at=(0, 0, 0), axis=(0, 1, 0), name="pin"))
        return made

    for make in (lw.Simulation, lw.reduced.compile):
        with pytest.raises(lw.ModelError, match='RigidBody "m": it has no mass and carries nothing'):
            make(world(grounded=True, carries=False))
        with pytest.raises(lw.ModelError, match='RigidBody "m": it has no mass and carries nothing'):
            make(world(grounded=False, carries=True))
    for solver in ("fronts", "cg", "anticipation"):
        with pytest.raises(
            lw.ModelError, match='RigidBody "m": it has no mass, which this solver cannot eliminate; .*solver="tree"'
        ):
            lw.Simulation(world(grounded=True, carries=True), solver=solver)
    driven = world(grounded=True, carries=True)
    driven.add(lw.Drive("hinge1", 1.0))
    with pytest.raises(lw.ModelError, match="without drives"):
        lw.Simulation(driven)
    assert np.isfinite(lw.Simulation(driven, solver="dense").reaction("pin").force).all()


def test_a_massless_link_that_floats_is_named():
    world = lw.World()
    world.add(lw.RigidBody(0, (0, 0, 0), name="m"))
    for k, axis in enumerate(((1, 0, 0), (0, 1, 0))):
        world.add(lw.RigidBody(1, (1, 1, 1), position=(k - 0.5, 1, 0), name=f"b{k}"))
        world.add(lw.Hinge("m", f"b{k}", at=(0, 0, 0), axis=axis))
    with pytest.raises(lw.ModelError, match='RigidBody "m": it has no mass and floats; give it a mass, join it'):
        lw.Simulation(world)


def test_what_is_welded_may_have_no_mass():
    """A frame on a body, and a body on a frame that hangs on the ground."""
    world = lw.World()
    world.add(lw.RigidBody(0, (0, 0, 0), name="hub"))
    world.add(lw.Hinge(world.ground, "hub", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    world.add(lw.Weld("hub", "arm"))
    world.add(lw.RigidBody(0, (0, 0, 0), position=(1, 0, 0), name="camera"))
    world.add(lw.Weld("arm", "camera", name="mount"))
    for solver in ("tree", "dense", "aba", "implicit"):
        if solver == "implicit":
            with pytest.raises(lw.ModelError, match='RigidBody "camera": it has no mass, and implicit steps need it'):
                lw.Simulation(world, solver=solver)
            continue
        sim = lw.Simulation(world, solver=solver)
        assert sim.angular_acceleration("camera")[1] == pytest.approx(0.5 * 9.81 / 0.35, rel=1e-12)
        assert np.abs(sim.reaction("mount").force).max() < 1e-12
        sim.step(100)
        assert sim.drift() < 1e-10 and sim.position("camera")[2] == pytest.approx(2 * sim.position("arm")[2], abs=1e-12)


def test_massless_links_beside_loops():
    """A walker in a plane: two massless links under its trunk, hips that a gear couples, feet that a rod holds apart."""
    world = lw.World()
    for name in ("x", "z"):
        world.add(lw.RigidBody(0, (0, 0, 0), name=name))
    world.add(lw.RigidBody(3.0, (0.1, 0.12, 0.15), angular_velocity=(0, 1, 0), name="trunk"))
    world.add(lw.Slider(world.ground, "x", at=(0, 0, 0), axis=(1, 0, 0)))
    world.add(lw.Slider("x", "z", at=(0, 0, 0), axis=(0, 0, 1)))
    world.add(lw.Hinge("z", "trunk", at=(0, 0, 0), axis=(0, 1, 0), name="pitch"))
    for side, x in (("left", -0.2), ("right", 0.25)):
        for part, above, z in (("thigh", "trunk", -0.4), ("shin", f"{side} thigh", -0.9)):
            world.add(lw.RigidBody(1.0, (0.1, 0.12, 0.15), position=(x, 0, z), name=f"{side} {part}"))
            world.add(lw.Hinge(above, f"{side} {part}", at=(0.7 * x, 0, z + 0.3), axis=(0, 1, 0), name=f"{side} of {part}"))
        world.add(lw.Armature(f"{side} of thigh", 0.1))
    world.add(lw.Gear("left of thigh", "right of thigh", -1.0))
    world.add(lw.Distance("left shin", "right shin"))
    world.add(lw.Spring(world.ground, "left shin", 50.0, rest=0.2))
    found = []
    for solver in ("dense", "tree", "ltdl"):
        with pytest.warns(lw.Note, match="an impulse made them consistent"):
            sim = lw.Simulation(world, solver=solver)
        start, before = sim.energy().total, accelerations(sim, world)
        sim.step(100)
        assert sim.energy().total == pytest.approx(start, abs=1e-4) and sim.drift() < 1e-9
        found.append((before, accelerations(sim, world)))
    for before, after in found:
        assert np.abs(before - found[0][0]).max() < 1e-7 and np.abs(after - found[0][1]).max() < 1e-2


def test_massless_links_are_assembled_checked_and_taken_hold_of():
    world = lw.World()
    link = world.add(lw.RigidBody(0, (0, 0, 0), position=(0.03, 0, -0.02), name="link"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0.01, 0), name="arm"))
    world.add(lw.Hinge(world.ground, "link", on_a=(0, 0, 0), on_b=(0, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0)))
    world.add(lw.Hinge("link", "arm", on_a=(0, 0, 0), on_b=(-0.5, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1), name="pin"))
    world.add(lw.Armature("pin", 0.1))
    assert world.assemble().met
    assert lw.check(link).ok
    sim = lw.Simulation(world)
    hand = sim.grab(link)
    sim.step(100)
    hand.release()
    sim.step(100)
    assert sim.drift() < 1e-10


def test_worlds_with_drives_are_copied_and_changed_while_they_run():
    world = random_world(3)
    sim = lw.Simulation(world)
    sim.step(50)
    twin = pickle.loads(pickle.dumps(sim))
    other = copy.deepcopy(sim)
    for one in (sim, twin, other):
        one.step(50)
    assert np.array_equal(sim.state.values, twin.state.values) and np.array_equal(sim.state.values, other.state.values)


def test_rotors_come_and_go_while_a_world_runs():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="bar"))
    world.add(lw.Hinge(world.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    for solver in ("tree", "aba"):
        sim = lw.Simulation(world, solver=solver)
        sim.step(200)
        rate, angle = sim.rate("axle"), sim.angle("axle")
        rotor = sim.add(lw.Armature("axle", 0.4, name="rotor"))
        brake = sim.add(lw.JointFriction("axle", 0.1, name="brake")) if solver == "tree" else None
        assert sim.rate("axle") == pytest.approx(rate, abs=1e-12) and sim.angle("axle") == pytest.approx(angle, abs=1e-12)
        torque = 0.5 * 9.81 * np.cos(angle)
        assert sim.angular_acceleration("bar")[1] == pytest.approx(torque / (0.35 + 0.4), rel=1e-9)
        sim.step(100)
        if brake is not None:
            assert sim.reaction("brake").generalised == pytest.approx([-0.1], rel=1e-6)
            world.remove(brake)
        world.remove(rotor)
        assert sim.angular_acceleration("bar")[1] == pytest.approx(0.5 * 9.81 * np.cos(sim.angle("axle")) / 0.35, rel=1e-9)
        sim.step(10)


def test_rotors_are_no_rows_that_hold():
    """Four rotors on a four-bar are not redundant; nor do they take freedoms."""
    world = lw.scenes.get("four-bars", n=1)
    bare = lw.Simulation(world).model.summary()
    hinges = [c for c in world.constraints if isinstance(c, lw.Hinge)]
    for hinge in hinges:
        world.add(lw.Armature(hinge, 0.1))
    sim = lw.Simulation(world)
    found = sim.model.summary()
    assert len(hinges) >= 3 and found["freedoms"] == bare["freedoms"] and found["redundant"] == bare["redundant"]
    start = sim.energy().total
    others = [lw.Simulation(world, solver=solver) for solver in ("dense", "cg", "anticipation", "ltdl")]
    for other in others:
        for body in world.bodies:
            assert np.allclose(sim.acceleration(body), other.acceleration(body), rtol=0, atol=1e-6)
    for one in (sim, *others):
        one.step(500)
        assert one.energy().total == pytest.approx(start, abs=1e-4)
        assert np.allclose(one.position(world.bodies[-1]), sim.position(world.bodies[-1]), atol=1e-5)


def triangle():
    world = lw.World()
    for k in range(2):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k + 0.5, 0, 0), name=f"bar{k}"))
    ends = (world.ground, "bar0"), ("bar0", "bar1"), ("bar1", world.ground)
    for k, (a, b) in enumerate(ends):
        world.add(lw.Hinge(a, b, at=(k, 0, 0), axis=(0, 1, 0), name=f"hinge{k}"))
    return world


def test_joints_that_turn_rotors_stay_in_the_tree():
    world = triangle()
    assert [c.name for c in lw.reduced.compile(world, loops=True).closing] == ["hinge2"]
    assert [c.name for c in lw.reduced.compile(world, loops=True, keep=["hinge2"]).closing] == ["hinge1"]
    world.add(lw.Armature("hinge2", 0.1, name="rotor"))
    tree = lw.reduced.compile(world, loops=True)
    assert [c.name for c in tree.closing] == ["hinge1"]
    assert tree.links[tree._link("hinge2")].armature == 0.1
    world.add([lw.Armature(f"hinge{k}", 0.1, name=f"rotor{k}") for k in range(2)])
    assert [c.name for c in lw.reduced.compile(world, loops=True).closing] == ["hinge2", "rotor"]


def test_a_keyframe_of_joints_around_a_loop():
    world = triangle()
    sim = lw.Simulation(world)
    sim.reset(lw.Keyframe(positions={"hinge0": 0.0, "hinge2": 0.0}))
    assert sim.drift() < 1e-12
    sim.reset(lw.Keyframe(positions={f"hinge{k}": 0.0 for k in range(3)}))
    assert sim.drift() < 1e-12
    with pytest.raises(
        lw.ElementError, match='"hinge2" is 0.1, but it closes a loop, and the other joints around it put it at'
    ):
        sim.reset(lw.Keyframe(positions={"hinge0": 0.0, "hinge1": 0.0, "hinge2": 0.1}))


def test_what_refers_to_joints_is_checked():
    with pytest.raises(lw.ElementError, match='Armature "r": inertia is 0; give a finite number greater than 0'):
        lw.Armature("axle", 0.0, name="r")
    with pytest.raises(lw.ElementError, match='JointFriction "f": friction is -1; give a finite number greater than 0'):
        lw.JointFriction("axle", -1.0, name="f")
    with pytest.raises(lw.ElementError, match='Motor "m": gear is 0; give a number other than 0'):
        lw.Motor("axle", gear=0, name="m")
    with pytest.raises(lw.ElementError, match=r'Motor "m": range is \(1, -1\); give its lower end'):
        lw.Motor("axle", range=(1, -1), name="m")
    with pytest.raises(lw.ElementError, match='Gear "g": offset is 0.1 but only rates are coupled; leave offset= out'):
        lw.Gear("a", "b", 1.0, 0.1, level="velocity", name="g")
    with pytest.raises(lw.ElementError, match='Cable "c": points is .*; give two or more of'):
        lw.Cable([("b", (0, 0, 0))], 1.0, name="c")
    with pytest.raises(lw.ElementError, match=r'Cable "c": rest is \(2, 1\); give the shorter length'):
        lw.Cable([("a", (0, 0, 0)), ("b", (0, 0, 0))], 1.0, rest=(2, 1), name="c")
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), name="b"))
    with pytest.raises(lw.ElementError, match='Cable "c": it runs from RigidBody "b" to itself; give another body'):
        world.add(lw.Cable([("ground", (0, 0, 0)), ("b", (0, 0, 0)), ("b", (1, 0, 0))], 1.0, name="c"))
    world.add(lw.Ball(world.ground, "b", at=(0, 0, 1), name="socket"))
    for element in (lw.Armature("socket", 0.1), lw.JointFriction("socket", 0.1)):
        with pytest.raises(lw.ElementError, match='Ball "socket" has no single coordinate'):
            world.add(element)
    axle = lw.World()
    axle.add(lw.RigidBody(1.0, (1, 1, 1), name="b"))
    axle.add(lw.Hinge(axle.ground, "b", at=(0, 0, 1), axis=(1, 0, 0), name="axle"))
    axle.add(lw.JointFriction("axle", 0.1, name="rust"))
    with pytest.raises(
        lw.LinkworkError, match='JointFriction "rust": the solver "tree" with the integrator "rk4" takes no contact'
    ):
        lw.Simulation(axle, integrator="rk4")
    with pytest.raises(
        lw.ModelError, match='JointFriction "rust": contact on the level of accelerations takes no dry friction'
    ):
        lw.Simulation(axle, solver="anticipation", integrator="euler")
