"""Rotors, gears, geared motors and dry friction: closed forms, laws of conservation, and MuJoCo."""

import itertools
import math

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def pendulum(*, tilt=0.0, mass=1.3, I=0.07, arm=0.4, **rotor):
    """A bar that hangs on an axle along +y, turned by `tilt` from where it hangs straight down."""
    world = lw.World(gravity=(0, 0, -G))
    at = (-arm * math.sin(tilt), 0, -arm * math.cos(tilt))
    turn = (math.cos(tilt / 2), 0, math.sin(tilt / 2), 0)
    world.add(lw.RigidBody(mass, (I, I, 0.5 * I), position=at, orientation=turn, name="bar"))
    world.add(lw.Hinge(world.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    if rotor:
        world.add(lw.Armature("axle", name="rotor", **rotor))
    return world, mass * G * arm, I + mass * arm**2


EVERY = [("tree", "rattle"), ("tree", "euler"), ("tree", "rk4"), ("fronts", "rattle"), ("dense", "rattle"), ("anticipation", "rattle"),
         ("implicit", "backward-euler"), ("aba", "joint-rk4"), ("aba", "joint-euler"), ("ltdl", "joint-implicit"), ("tree", "joint-rk4")]  # fmt: skip
every = pytest.mark.parametrize(("solver", "integrator"), EVERY)


@every
def test_a_rotor_makes_a_pendulum_slower(solver, integrator):
    world, moment, I = pendulum(tilt=0.01, inertia=0.5)
    sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=1e-3)
    assert sim.angular_acceleration("bar")[1] == pytest.approx(-moment * math.sin(0.01) / (I + 0.5), rel=1e-12)
    rate = math.sqrt(moment / (I + 0.5))
    sim.step(500)
    assert sim.angle("axle") + 0.01 == pytest.approx(
        0.01 * math.cos(rate * 0.5), rel=1e-4 if integrator in ("rattle", "rk4", "joint-rk4") else 5e-3
    )


def test_the_energy_of_rotors_counts_and_rattle_keeps_it():
    world, *_ = pendulum(tilt=2.5, inertia=0.5)
    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(world, dt=dt)
        start = sim.energy()
        sim.step(round(1.0 / dt))
        assert sim.energy().kinetic > 0.5 * 0.5 * sim.rate("axle") ** 2
        drift = 0.0
        for _ in range(200):
            sim.step(round(0.02 / dt))
            drift = max(drift, abs(sim.energy().total - start.total))
        errors.append(drift)
        assert sim.drift() < 1e-10
    assert errors[1] < 1e-4 and 3.0 < errors[0] / errors[1] < 5.0  # order 2, and no drift


def test_a_rotor_between_two_bodies_that_tumble_freely():
    """Momentum is that of the bodies alone; energy has the rotor's part."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.3, 0.2, 0.4), angular_velocity=(0.3, 1.0, -0.5), name="a"))
    world.add(lw.RigidBody(0.7, (0.1, 0.2, 0.15), position=(0.8, 0, 0), velocity=(0, 0.4, 0), name="b"))
    world.add(lw.Hinge("a", "b", at=(0.4, 0.1, 0), axis=(1, 1, 0), name="axle"))
    world.add(lw.Armature("axle", 0.25))
    sim = lw.Simulation(world, dt=1e-3)

    def momenta():
        linear, angular = np.zeros(3), np.zeros(3)
        for body in world.bodies:
            R = np.array([np.asarray(sim.point(body, e)) - sim.position(body) for e in np.eye(3)]).T
            linear += body.mass * sim.velocity(body)
            angular += R @ body.inertia @ R.T @ sim.angular_velocity(body)
            angular += body.mass * np.cross(sim.position(body), sim.velocity(body))
        return np.r_[linear, angular]

    before, energy = momenta(), sim.energy().total
    sim.step(2000)
    assert np.abs(momenta() - before).max() < 1e-11
    assert sim.energy().total == pytest.approx(energy, abs=1e-6)


def test_rattle_with_rotors_is_of_order_two():
    def end(dt):
        world, *_ = pendulum(tilt=2.0, inertia=0.3)
        world.add(lw.RigidBody(0.5, (0.02, 0.03, 0.04), position=(-0.9, 0.1, 0.2), name="tip"))
        world.add(lw.Hinge("bar", "tip", at=(-0.7, 0, 0.3), axis=(0, 1, 0.4), name="elbow"))
        world.add(lw.Armature("elbow", 0.2))
        sim = lw.Simulation(world, dt=dt, tolerance=1e-13)
        sim.step(round(0.5 / dt))
        return np.r_[sim.position("tip"), sim.position("bar")]

    exact = end(1.25e-4)
    errors = [np.abs(end(dt) - exact).max() for dt in (4e-3, 2e-3, 1e-3)]
    assert all(3.5 < a / b < 4.6 for a, b in itertools.pairwise(errors)), errors


def test_the_inertia_of_a_rotor_may_be_a_parameter():
    for solver in ("tree", "aba", "ltdl"):
        inertia = lw.Parameter(0.2, name="inertia")
        world, moment, I = pendulum(tilt=1.0, inertia=inertia)
        sim = lw.Simulation(world, solver=solver)
        sim.set("inertia", 0.9)
        sim.step()
        assert sim.rate("axle") == pytest.approx(-1e-3 * moment * math.sin(1.0) / (I + 0.9), rel=1e-4)
        assert sim.angular_acceleration("bar")[1] == pytest.approx(-moment * math.sin(1.0) / (I + 0.9), rel=1e-3)


# -- gears ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["tree", "dense", "ltdl", "cg", "implicit", "anticipation"])
def test_a_rack_and_its_pinion(solver):
    """x = r angle: a weight on the rack turns the pinion, (m + I / r^2) x'' = -m g."""
    m, I, r = 2.0, 0.03, 0.1
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (I, I, I), name="pinion"))
    world.add(lw.RigidBody(m, (1, 1, 1), position=(r, 0, 0), name="rack"))
    world.add(lw.Hinge(world.ground, "pinion", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Slider("rack", world.ground, at=(r, 0, 0), axis=(0, 0, -1), name="rail"))
    world.add(lw.Gear("rail", "axle", r, name="mesh"))
    sim = lw.Simulation(world, solver=solver)
    expected = -m * G / (m + I / r**2)
    assert sim.acceleration("rack")[2] == pytest.approx(expected, rel=1e-9)
    sim.step(300)
    assert sim.angle("rail") == pytest.approx(0.5 * expected * 0.09, rel=5e-3)
    assert sim.angle("rail") == pytest.approx(r * sim.angle("axle"), abs=1e-10)


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_a_gear_anywhere_in_a_tree(level):
    """Two fingers on a palm that swings: a mimic joint, in all solvers alike."""
    found = {}
    for solver in ("tree", "dense", "ltdl", "anticipation"):
        world = lw.World()
        world.add(lw.RigidBody(1.0, (0.1, 0.12, 0.15), name="palm"))
        world.add(lw.Hinge(world.ground, "palm", at=(0, 0, 0.5), axis=(0, 1, 0), name="wrist"))
        for name, x in (("thumb", -0.3), ("finger", 0.3)):
            world.add(lw.RigidBody(0.5, (0.02, 0.03, 0.04), position=(x, 0.1 * x, -0.4), name=name))
            world.add(
                lw.Hinge(*(("palm", name) if x < 0 else (name, "palm")), at=(x, 0, 0), axis=(0.2, 1, x), name=f"of {name}")
            )
        mimic = world.add(lw.Gear("of finger", "of thumb", 0.8, level=level, name="mimic"))
        sim = lw.Simulation(world, solver=solver)
        start = sim.energy().total
        found[solver] = [sim.acceleration(body) for body in world.bodies]
        sim.step(400)
        assert sim.angle("of finger") == pytest.approx(0.8 * sim.angle("of thumb"), abs=1e-8)
        assert sim.energy().total == pytest.approx(start, abs=1e-5) and sim.drift() < 1e-10
        assert lw.check(mimic).ok
    for accelerations in found.values():
        assert np.allclose(accelerations, found["dense"], rtol=0, atol=1e-8)


def test_the_offset_of_a_gear_is_that_of_the_joints_coordinates():
    world = lw.World(gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        world.add(lw.RigidBody(1.0, (1, 1, 1), position=(k, 0, 0), name=name))
        world.add(lw.Hinge(world.ground, name, at=(k, 0, 0), axis=(0, 0, 1), name=f"axle {name}"))
    with pytest.raises(lw.ModelError, match='Gear "mimic": it is off by 0.3 as built'):
        world.add(lw.Gear("axle a", "axle b", -2.0, 0.3, name="mimic"))
        lw.Simulation(world)
    world.assemble()
    sim = lw.Simulation(world)
    assert sim.drift() < 1e-9
    sim.strike("a", (0, 1.0, 0), at=(0.5, 0, 0))
    sim.step(500)
    assert sim.angle("axle a") != 0.0 and sim.drift() < 1e-10


# -- motors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "integrator"), [("tree", "rattle"), ("implicit", "backward-euler"), ("ltdl", "joint-implicit")]
)
@pytest.mark.parametrize("joint", [lw.Hinge, lw.Slider])
@pytest.mark.parametrize("kind", ["torque", "position", "velocity"])
def test_a_geared_motor(solver, integrator, joint, kind):
    """The motor is `gear` times as fast as the joint, and pulls `gear` times as hard at it; commands have a range."""
    gains = {"torque": {}, "position": {"kp": 3.0, "kd": 0.2}, "velocity": {"kd": 0.4}}[kind]
    found = []
    for gear, range_, asked in ((5.0, (-1.0, 2.0), 7.0), (1.0, None, 2.0 / 5.0)):
        world = lw.World(gravity=(0, 0, 0))
        world.add(lw.RigidBody(0.5, (0.3, 0.3, 0.5), name="wheel"))
        world.add(joint(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
        square = 25.0 if gear == 1.0 else 1.0
        motor = lw.Motor(
            "axle", kind, **{name: square * gain for name, gain in gains.items()}, gear=gear, range=range_, name="motor"
        )
        world.add(motor)
        sim = lw.Simulation(world, solver=solver, integrator=integrator)
        sim.control["motor"] = 25.0 * asked if kind == "torque" and gear == 1.0 else asked
        sim.step(300)
        found.append((sim.angle("axle"), sim.rate("axle")))
    assert found[0] == pytest.approx(found[1], rel=1e-9) and found[0][0] > 0.05


def test_the_limit_of_a_motor_is_before_its_gear():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(0.5, (0.3, 0.3, 0.5), name="wheel"))
    world.add(lw.Hinge(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Motor("axle", limit=0.2, gear=-10.0, name="motor"))
    sim = lw.Simulation(world)
    sim.control["motor"] = 3.0
    assert sim.angular_acceleration("wheel")[2] == pytest.approx(-0.2 * 10 / 0.5, rel=1e-12)


# -- dry friction --------------------------------------------------------------------------------------------------------

STEPS = [("tree", "rattle"), ("tree", "euler"), ("fronts", "rattle"), ("implicit", "backward-euler"), ("aba", "joint-euler"),
         ("ltdl", "joint-implicit")]  # fmt: skip
in_steps = pytest.mark.parametrize(("solver", "integrator"), STEPS)


def slope(angle, friction, mass=2.0):
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(mass, (1, 1, 1), name="block"))
    world.add(lw.Slider(world.ground, "block", at=(0, 0, 0), axis=(math.cos(angle), 0, -math.sin(angle)), name="rail"))
    world.add(lw.JointFriction("rail", friction, name="rust"))
    return world


@in_steps
def test_a_block_on_a_slope_is_held_or_slides(solver, integrator):
    driven = 2.0 * G * math.sin(0.5)
    held = lw.Simulation(slope(0.5, driven + 0.01), solver=solver, integrator=integrator)
    held.step(300)
    assert abs(held.angle("rail")) < 1e-8 and held.reaction("rust").generalised == pytest.approx([-driven], abs=1e-4)
    slides = lw.Simulation(slope(0.5, driven - 1.0), solver=solver, integrator=integrator)
    slides.step(400)
    assert slides.rate("rail") == pytest.approx(0.4 * 1.0 / 2.0, rel=1e-6)
    assert slides.reaction("rust").generalised == pytest.approx([1.0 - driven], rel=1e-6)
    assert slides.reaction("rust").force @ (math.cos(0.5), 0, -math.sin(0.5)) == pytest.approx(1.0 - driven, rel=1e-6)


@in_steps
def test_dry_friction_takes_its_torque_times_the_way(solver, integrator):
    """A pendulum swings less and less, and stops in finite time: what is lost is friction times path, step by step."""
    world, moment, _ = pendulum(tilt=2.0)
    world.add(lw.JointFriction("axle", 2.4, name="rust"))
    sim = lw.Simulation(world, solver=solver, integrator=integrator)
    path, angle, start, speeds = 0.0, 0.0, sim.energy().total, []
    for _ in range(1000):
        sim.step(2)
        path, angle = path + abs(sim.angle("axle") - angle), sim.angle("axle")
        speeds.append(abs(sim.rate("axle")))
    assert max(speeds[-50:]) < 1e-8 < max(speeds)
    assert start - sim.energy().total == pytest.approx(2.4 * path, rel=2e-2 if integrator == "backward-euler" else 2e-3)
    held = moment * math.sin(2.0 + sim.angle("axle"))
    assert sim.reaction("rust").generalised == pytest.approx([held], abs=1e-4) and abs(held) < 2.4


def test_dry_friction_beside_contact_and_limits():
    """A hinged bar falls onto the floor through friction, beside a limit that it never meets: it comes to rest on the floor."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(
        lw.RigidBody(
            1.0, shape=lw.Capsule(0.05, 0.8), position=(0.45, 0, 0.5), orientation=(0.5**0.5, 0, 0.5**0.5, 0), name="bar"
        )
    )
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(0, 0, 0.5), name="post"))
    world.add(lw.Weld(world.ground, "post"))
    world.add(lw.Hinge("post", "bar", at=(0, 0, 0.5), axis=(0, 1, 0), name="axle"))
    world.add(lw.JointFriction("axle", 2.0))
    world.add(lw.HardLimit("axle", lower=-0.5, upper=2.0))
    world.add(lw.Contact())
    for solver, integrator in (("tree", "rattle"), ("ltdl", "joint-euler")):
        sim = lw.Simulation(world, solver=solver, integrator=integrator)
        sim.step(1000)
        end = sim.point("bar", (0, 0, 0.4))
        assert abs(sim.rate("axle")) < 1e-6 and end[2] == pytest.approx(0.05, abs=1e-3)


def test_two_joints_with_dry_friction_agree_in_all_steps():
    ends = []
    for solver, integrator in STEPS:
        world, *_ = pendulum(tilt=2.0)
        world.add(lw.RigidBody(0.5, (0.02, 0.03, 0.04), position=(-0.8, 0, 0.5), name="tip"))
        world.add(lw.Hinge("bar", "tip", at=(-0.7, 0, 0.3), axis=(0, 1, 0), name="elbow"))
        for joint, friction in (("axle", 0.5), ("elbow", 0.2)):
            world.add(lw.JointFriction(joint, friction))
        sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=5e-4)
        sim.step(1000)
        ends.append((sim.angle("axle"), sim.angle("elbow")))
    assert np.ptp(ends, axis=0).max() < 5e-3, ends


# -- cables --------------------------------------------------------------------------------------------------------------


def strung(count, *, damping=0.0, rest=None):
    """A cable from a nail through `count` balls on strings of their own, and back to the ground."""
    world, rng = lw.World(), np.random.default_rng(count)
    points = [(world.ground, (0, 0, 1))]
    for k in range(count):
        world.add(lw.RigidBody(1.0 + k, (0.1, 0.2, 0.15), position=(k + 1, 0.2 * k, 0), name=f"ball{k}"))
        if k % 2:
            world.add(lw.Hinge(f"ball{k - 1}", f"ball{k}", at=(k + 0.5, 0, 0.3), axis=(0, 1, 0.3)))
        points.append((f"ball{k}", 0.2 * rng.normal(size=3)))
    points.append((world.ground, (count + 1, 0, 1)))
    world.add(lw.Cable(points, 300.0, damping, rest, name="cable"))
    return world


@pytest.mark.parametrize("count", [1, 5])
def test_a_cable_through_any_number_of_bodies(count):
    world = strung(count)
    assert lw.check(world.find("cable")).ok
    drifts = []
    for dt in (2e-3, 1e-3):
        sim = lw.Simulation(world, dt=dt)
        start = sim.energy().total
        worst = 0.0
        for _ in range(20):
            sim.step(round(0.02 / dt))
            worst = max(worst, abs(sim.energy().total - start))
        drifts.append(worst)
    assert drifts[1] < 1e-2 and 3.0 < drifts[0] / drifts[1] < 5.0
    damped = strung(count, damping=2.0, rest=(0.5, 0.8 * count))
    assert lw.check(damped.find("cable")).ok


@pytest.mark.parametrize(("count", "tangent"), [(1, "exact"), (2, "exact"), (3, "symmetric")])
def test_stiff_cables_in_implicit_steps(count, tangent):
    """As the step gets shorter, implicit steps come to where others are."""
    world, ends = strung(count, damping=3.0), []
    for solver, dt, given in (
        ("tree", 2e-4, {}),
        ("implicit", 1e-3, {"tangent": tangent}),
        ("implicit", 5e-4, {"tangent": tangent}),
    ):
        sim = lw.Simulation(world, solver=solver, dt=dt, **given)
        sim.step(round(0.2 / dt))
        ends.append(np.concatenate([sim.position(body) for body in world.bodies]))
    first, second = (np.abs(end - ends[0]).max() for end in ends[1:])
    assert second < 0.02 and 1.7 < first / second < 2.4


def test_a_cable_over_a_pulley():
    """A weight on a cable whose other end is nailed down: it hangs where the tension is its weight."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Particle(2.0, position=(1, 0, -1), name="weight"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="pulley"))
    world.add(lw.Weld(world.ground, "pulley", name="bracket"))
    world.add(
        lw.Cable([(world.ground, (0, 0, 0)), ("pulley", (0, 0, 0)), ("weight", (0, 0, 0))], 100.0, 40.0, 2.0 - 2.0 * G / 100)
    )
    sim = lw.Simulation(world)
    sim.step(500)
    assert sim.position("weight") == pytest.approx((1, 0, -1), abs=1e-9)
    assert sim.reaction("bracket").force == pytest.approx((2 * G, 0, 1 * G + 2 * G), abs=1e-8)
