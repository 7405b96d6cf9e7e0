"""Forces of stiff mechanisms in motion: closed forms, energy, counted turns, motions that are followed."""

import copy

import numpy as np
import pytest

import linkwork as lw

STILL = (0, 0, 0)


def spinning(axis, speed, **options):
    return lw.RigidBody(1.0, (0.2, 0.2, 0.2), angular_velocity=speed * np.array(axis), **options)


def pair(joint, force):
    """Two free bodies with a joint, thrown and spinning."""
    world = lw.World(gravity=STILL)
    a = world.add(
        lw.RigidBody(1.5, (0.1, 0.12, 0.15), position=(-0.4, 0, 0), velocity=(0.3, -0.2, 0.1), angular_velocity=(1, 0.5, 0))
    )
    b = world.add(
        lw.RigidBody(1.0, (0.08, 0.1, 0.05), position=(0.4, 0.1, 0), velocity=(-0.5, 0.4, 0.2), angular_velocity=(-1, 2, 1.5))
    )
    world.add(force(world.add(joint(a, b))))
    return world


ANCHOR = {"at": (0, 0, 0)}
AXIAL = {"at": (0, 0, 0), "axis": (0.6, 0, 0.8)}
PAIRS = {
    "ball": (lambda a, b: lw.Ball(a, b, **ANCHOR), lambda j: lw.JointSpring(j, 2.0)),
    "ball of three": (lambda a, b: lw.Ball(a, b, **ANCHOR), lambda j: lw.JointSpring(j, (2.0, 0.5, 1.0), rest=(0.8, 0.6, 0, 0))),
    "hinge": (lambda a, b: lw.Hinge(a, b, **AXIAL), lambda j: lw.JointSpring(j, 2.0, rest=1.0)),
    "slider": (lambda a, b: lw.Slider(a, b, **AXIAL), lambda j: lw.JointSpring(j, 5.0)),
    "cylinder": (lambda a, b: lw.Cylindrical(a, b, **AXIAL), lambda j: lw.JointSpring(j, 2.0, travel_stiffness=8.0)),
    "plane": (lambda a, b: lw.Planar(a, b, at=(0, 0, 0)), lambda j: lw.JointSpring(j, 2.0, travel_stiffness=8.0)),
    "universal": (lambda a, b: lw.Universal(a, b, at=(0, 0, 0)), lambda j: lw.JointSpring(j, (2.0, 1.0))),
    "screw": (lambda a, b: lw.Screw(a, b, **AXIAL, pitch=0.3), lambda j: lw.JointSpring(j, 2.0)),
    "limit": (lambda a, b: lw.Hinge(a, b, **AXIAL), lambda j: lw.JointLimit(j, -0.3, 0.2, stiffness=20.0)),
    "cone and twist": (lambda a, b: lw.Ball(a, b, **ANCHOR),
                       lambda j: lw.JointLimit(j, cone=0.4, twist=(-0.2, 0.2), axis=(1, 0, 0), stiffness=10.0)),
}  # fmt: skip


def momenta(sim):
    total, moment = np.zeros(3), np.zeros(3)
    for body in sim.world.bodies:
        R = sim.frame(body)
        p = body.mass * sim.velocity(body)
        total += p
        moment += np.cross(sim.position(body), p) + R @ body.inertia @ R.T @ sim.angular_velocity(body)
    return np.concatenate([total, moment])


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("name", PAIRS)
def test_energy_and_momentum_are_kept(name):
    errors = []
    for dt in (2e-3, 1e-3):
        sim = lw.Simulation(pair(*PAIRS[name]), dt=dt)
        start, before = sim.energy().total, momenta(sim)
        worst = reached = 0.0
        for _ in range(20):
            sim.step(round(0.1 / dt))
            worst, reached = max(worst, abs(sim.energy().total - start)), max(reached, sim.energy().potential)
        np.testing.assert_allclose(momenta(sim), before, atol=1e-10)
        assert reached > 0.02 * start
        errors.append(worst / start)
    assert errors[1] < 2e-5
    assert isinstance(sim.world.forces[0], lw.JointLimit) or errors[1] < 0.3 * errors[0] + 1e-9  # a stop is not smooth


@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_a_torsion_pendulum_swings_as_it_should_beyond_half_a_turn(kind):
    inertia, stiffness, amplitude = 0.2, 1.7, 5.0
    omega = np.sqrt(stiffness / inertia)
    for joint in ("ball", "hinge"):
        world = lw.World(gravity=STILL)
        body = (
            spinning((0, 1, 0), amplitude * omega)
            if kind == "rigid"
            else lw.PlanarBody(1.0, inertia, angular_velocity=amplitude * omega)
        )
        world.add(body)
        link = (
            lw.Ball(world.ground, body, at=STILL) if joint == "ball" else lw.Hinge(world.ground, body, at=STILL, axis=(0, 1, 0))
        )
        world.add(lw.JointSpring(world.add(link), stiffness))
        sim = lw.Simulation(world, dt=1e-3)
        for _ in range(10):
            sim.step(250)
            angle = amplitude * np.sin(omega * sim.time)
            assert abs(sim.energy().potential - 0.5 * stiffness * angle**2) < 3e-3 * stiffness * amplitude**2
            assert abs(sim.angular_velocity(body)[1] - amplitude * omega * np.cos(omega * sim.time)) < 1e-3 * amplitude * omega


def test_a_spring_wound_up_three_turns_knows_it():
    world = lw.World(gravity=STILL)
    wheel = world.add(spinning((0, 0, 1), 30.0))
    axle = world.add(lw.Hinge(world.ground, wheel, at=STILL, axis=(0, 0, 1)))
    k = lw.Parameter(0.1, name="k")
    world.add(lw.JointSpring(axle, k))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(700)
    angle = sim.angle(axle)
    assert angle > 6 * np.pi
    assert abs(0.2 * sim.angular_acceleration(wheel)[2] + 0.1 * angle) < 1e-12
    sim.set(k, 0.3)
    assert abs(0.2 * sim.angular_acceleration(wheel)[2] + 0.3 * angle) < 1e-12
    state = sim.state.copy()
    sim.step(50)
    values = sim.state.values.copy()
    sim.state = state
    sim.step(50)
    np.testing.assert_array_equal(sim.state.values, values)


def test_springs_keep_their_turns_when_forces_come_and_go():
    world = lw.World(gravity=STILL)
    wheel = world.add(spinning((0, 0, 1), 30.0))
    axle = world.add(lw.Hinge(world.ground, wheel, at=STILL, axis=(0, 0, 1)))
    world.add(lw.JointSpring(axle, 0.1))
    sim = lw.Simulation(world, dt=1e-3)

    def torque():
        return 0.2 * sim.angular_acceleration(wheel)[2]

    sim.step(700)
    angle = sim.angle(axle)
    late = world.add(lw.JointSpring(axle, 0.2))
    assert angle > 6 * np.pi and abs(torque() + 0.3 * angle) < 1e-12
    sim.step(100)
    assert abs(torque() + 0.3 * sim.angle(axle)) < 1e-12
    angle = sim.angle(axle)
    world.remove(late)
    assert abs(torque() + 0.1 * angle) < 1e-12
    sim.reset()
    assert abs(torque()) < 1e-12
    sim.step(700)
    assert abs(torque() + 0.1 * sim.angle(axle)) < 1e-12


def test_a_slider_bounces_between_its_limits():
    world = lw.World(gravity=STILL)
    cart = world.add(lw.RigidBody(2.0, (1, 1, 1), velocity=(1.5, 0, 0)))
    rail = world.add(lw.Slider(world.ground, cart, at=STILL, axis=(1, 0, 0)))
    world.add(lw.JointLimit(rail, -0.3, 0.2, stiffness=800.0))
    sim = lw.Simulation(world, dt=1e-4)
    reach = 1.5 * np.sqrt(2.0 / 800.0)
    travels = []
    for _ in range(200):
        sim.step(100)
        travels.append(sim.angle(rail))
    assert abs(max(travels) - 0.2 - reach) < 2e-3 and abs(min(travels) + 0.3 + reach) < 2e-3
    assert abs(sim.energy().total - 2.25) < 1e-4


def test_a_damped_limit_brings_to_rest():
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    hinge = world.add(lw.Hinge(world.ground, arm, at=STILL, axis=(0, 1, 0)))
    world.add(lw.JointLimit(hinge, upper=0.4, stiffness=500.0, damping=20.0))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(6000)
    angle = sim.angle(hinge)
    assert abs(sim.rate(hinge)) < 1e-6 and abs(500.0 * (angle - 0.4) - 9.81 * 0.5 * np.cos(angle)) < 1e-3


FLOOR = {"plane": ((0, 0, 0), (0, 0, 1))}


def test_contact_carries_weight_and_bounces():
    world = lw.World()
    bead = world.add(lw.RigidBody(2.0, (1, 1, 1), position=(0, 0, 0.1)))
    world.add(lw.ContactSpring(world.ground, bead, 1e4, damping=100.0, radius=0.1, **FLOOR))
    sim = lw.Simulation(world, dt=1e-4)
    sim.step(20000)
    assert abs(sim.position(bead)[2] - (0.1 - 2.0 * 9.81 / 1e4)) < 1e-6
    world = lw.World()
    bead = world.add(lw.Particle(2.0, (0, 0, 0.5)))
    world.add(lw.ContactSpring(world.ground, bead, 1e5, **FLOOR))
    sim = lw.Simulation(world, dt=1e-5)
    start = sim.energy().total
    sim.step(100000)
    assert abs(sim.energy().total - start) < 1e-3 * start


def test_a_sphere_rests_on_a_sphere_that_moves():
    world = lw.World(gravity=STILL)
    big = world.add(lw.RigidBody(3.0, (1, 1, 1)))
    small = world.add(lw.Particle(1.0, (0.6, 0, 0), velocity=(-1, 0, 0)))
    world.add(lw.ContactSpring(big, small, 1e4, sphere=(STILL, 0.4), radius=0.1))
    sim = lw.Simulation(world, dt=1e-4)
    sim.step(5000)
    np.testing.assert_allclose(sim.velocity(big), (-0.5, 0, 0), atol=1e-4)
    np.testing.assert_allclose(sim.velocity(small), (0.5, 0, 0), atol=1e-4)


def test_a_block_slides_to_rest_and_a_ball_begins_to_roll():
    world = lw.World()
    block = world.add(lw.Particle(1.0, (0, 0, -9.81 / 1e4), velocity=(1, 0, 0)))
    world.add(lw.ContactSpring(world.ground, block, 1e4, damping=50.0, friction=0.3, slip=1e-3, **FLOOR))
    sim = lw.Simulation(world, dt=1e-4)
    sim.step(10000)
    assert abs(sim.position(block)[0] - 1 / (2 * 0.3 * 9.81)) < 2e-3 and abs(sim.velocity(block)[0]) < 1e-6
    world = lw.World()
    ball = world.add(lw.RigidBody(1.0, (0.4 * 0.04,) * 3, position=(0, 0, 0.2 - 9.81 / 1e4), velocity=(1, 0, 0)))
    world.add(lw.ContactSpring(world.ground, ball, 1e4, damping=50.0, radius=0.2, friction=0.3, slip=1e-3, **FLOOR))
    sim = lw.Simulation(world, dt=1e-4)
    sim.step(10000)
    assert abs(sim.velocity(ball)[0] - 5 / 7) < 2e-3 and abs(sim.angular_velocity(ball)[1] - 5 / 7 / 0.2) < 2e-2


# -- following ---------------------------------------------------------------------------------------------------------


def circling(samples=401, seconds=4.0):
    t = np.linspace(0, seconds, samples)
    position = np.stack([np.sin(t), 0.2 * t, np.cos(t)], axis=1)
    return lw.Trajectory(t, position, np.stack([np.cos(t), 0 * t, np.sin(t), 0 * t], axis=1))


def puppet(motion, **options):
    world = lw.World(gravity=STILL)
    hand = world.add(
        lw.RigidBody(1.0, ((0.3, 0.02, 0.01), (0.02, 0.25, -0.03), (0.01, -0.03, 0.2)), position=(0, 0, 1), com=(0.1, 0, 0.05))
    )
    given = {"stiffness": 300.0, "damping": 40.0, "angular_stiffness": 60.0, "angular_damping": 10.0, **options}
    world.add(lw.Follow(hand, motion, **given, name="pull"))
    return world, hand


def test_a_body_follows_a_motion():
    motion = circling()
    world, hand = puppet(motion)
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(3000)
    wanted = motion.at(sim.time)[0]
    assert np.linalg.norm(sim.position(hand) - wanted[:3]) < 0.01
    assert 1 - abs(sim.orientation(hand) @ wanted[3:7]) < 1e-3


def test_a_steady_motion_is_followed_without_lag():
    t = np.linspace(0, 5, 11)
    turning = np.stack([np.cos(t / 2), np.sin(t / 2), 0 * t, 0 * t], axis=1)
    motion = lw.Trajectory(t, np.stack([t, 0 * t, 1 + 0.5 * t], axis=1), turning)
    world = lw.World(gravity=STILL)
    ball = world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), position=(0, 0, 1)))
    world.add(lw.Follow(ball, motion, stiffness=100.0, damping=20.0, angular_stiffness=20.0, angular_damping=4.0))
    sim = lw.Simulation(world, dt=1e-2)
    sim.step(480)
    np.testing.assert_allclose(sim.position(ball), motion.at(sim.time)[0, :3], atol=1e-9)
    np.testing.assert_allclose(sim.angular_velocity(ball), (1, 0, 0), atol=1e-9)
    sim.step(300)  # beyond the end it stands still
    assert np.linalg.norm(sim.position(ball) - motion.positions[-1]) < 1e-3


def test_following_is_of_second_order():
    ends = []
    for dt in (4e-3, 2e-3, 1e-3):
        world, hand = puppet(circling(samples=126))
        sim = lw.Simulation(world, dt=dt)
        sim.step(round(1.6 / dt))
        ends.append(sim.position(hand))
    assert np.linalg.norm(ends[1] - ends[2]) < 0.3 * np.linalg.norm(ends[0] - ends[1])


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_feeding_is_a_function_of_time_alone(integrator):
    world, hand = puppet(circling())
    sim = lw.Simulation(world, dt=2e-3, integrator=integrator)
    sim.step(10)
    middle = sim.state.copy()
    sim.step(1200)  # more than a chunk
    whole, energy, pull = sim.state.values.copy(), sim.energy(), sim.acceleration(hand)
    sim.state = middle
    for _ in range(12):
        sim.energy()
        sim.step(100)
    np.testing.assert_array_equal(sim.state.values, whole)
    assert sim.energy() == energy
    np.testing.assert_array_equal(sim.acceleration(hand), pull)
    sim.reset()
    start = sim.acceleration(hand)
    np.testing.assert_array_equal(start, lw.Simulation(world, dt=2e-3, integrator=integrator).acceleration(hand))
    sim.step(1210)
    np.testing.assert_array_equal(sim.state.values, whole)
    rec = lw.Simulation(world, dt=2e-3, integrator=integrator).run(2.42, record_every=0.22)
    assert np.array_equal(rec.position[-1, 0], sim.position(hand))


def test_a_live_motion_is_commanded():
    world, hand = puppet(None)
    sim = lw.Simulation(world, dt=1e-3)
    np.testing.assert_allclose(sim.control["pull"], (0, 0, 1, 1, 0, 0, 0), atol=1e-15)
    sim.step(100)
    np.testing.assert_allclose(sim.position(hand), (0, 0, 1), atol=1e-12)
    sim.control["pull"] = (0.3, 0, 1.2)
    sim.step(3000)
    np.testing.assert_allclose(sim.position(hand), (0.3, 0, 1.2), atol=1e-3)
    half = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    sim.control["pull"] = (0, 0, 1), half
    state = sim.state.copy()
    sim.step(3000)
    np.testing.assert_allclose(sim.orientation(hand), half, atol=1e-3)
    values = sim.state.values.copy()
    sim.state = state
    np.testing.assert_allclose(sim.control["pull"][:3], (0, 0, 1))  # as a motor's, a command is no part of the state
    sim.step(3000)
    np.testing.assert_array_equal(sim.state.values, values)
    sim.control["pull"] = np.array([1, 2, 3, 1, 0, 0, 0])
    world.add(lw.Drag(hand, linear=0.1))  # forces may be added while it runs
    np.testing.assert_allclose(sim.control["pull"], (1, 2, 3, 1, 0, 0, 0))


def test_bad_commands_are_refused():
    world, hand = puppet(None)
    bead = world.add(lw.Particle(1.0))
    world.add(lw.Follow(bead, stiffness=1.0, name="thread"))
    sim = lw.Simulation(world)
    for value in (1.0, (1, 2), (1, 2, np.nan), ((0, 0, 0), (2, 0, 0, 0)), (0,) * 7, ((0, 0), (1, 0, 0, 0)), "home"):
        with pytest.raises(lw.ElementError, match=r'Simulation: control\["pull"\] .*; give'):
            sim.control["pull"] = value
    with pytest.raises(lw.LinkworkError, match="takes no orientation"):
        sim.control["thread"] = (0, 0, 0), (1, 0, 0, 0)
    with pytest.raises(lw.UnknownNameError, match='nothing that takes commands is called "pul".*pull'):
        sim.control["pul"] = (0, 0, 0)
    with pytest.raises(lw.UnknownNameError, match='nothing that takes commands is called "engine"; there are pull, thread$'):
        sim.control["engine"] = 1.0
    with pytest.raises(lw.UnknownNameError, match="; add a Motor, or a Follow or Motion without a motion$"):
        lw.Simulation(lw.scenes.get("pendulum")).control["engine"]


def test_models_without_motions_are_not_fed():
    world = lw.World()
    bead = world.add(lw.Particle(1.0))
    sim = lw.Simulation(world)
    assert not sim._system.feed
    world.add(lw.Follow(bead, lw.Trajectory([0, 1], [(0, 0, 0), (1, 0, 0)]), stiffness=5.0))
    sim.step()
    assert sim._system.feed


def test_worlds_with_motions_can_be_copied():
    world, hand = puppet(circling())
    twin = copy.deepcopy(world)
    one, two = lw.Simulation(world), lw.Simulation(twin)
    one.step(200)
    two.step(200)
    np.testing.assert_array_equal(one.state.values, two.state.values)


def test_points_need_no_orientation_and_have_none():
    world = lw.World(gravity=STILL)
    bead = world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.Follow(bead, circling(), stiffness=100.0, damping=10.0))
    lw.Simulation(world).step(10)
    world.add(lw.Follow(bead, circling(), angular_stiffness=1.0))
    with pytest.raises(lw.ElementError, match='Follow "follow2": .*"bead" has no directions'):
        lw.Simulation(world)


@pytest.mark.parametrize("make, says", [
    (lambda w, bead, soft: lw.TorsionSpring(w.ground, bead, 1.0), '"bead" has no directions'),
    (lambda w, bead, soft: lw.JointSpring(w.add(lw.Ball(w.ground, bead, at=STILL)), 1.0), '"bead" has no directions'),
    (lambda w, bead, soft: lw.ContactSpring(bead, soft, 1.0, **FLOOR), '"bead" has no directions'),
    (lambda w, bead, soft: lw.ContactSpring(soft, bead, 1.0, **FLOOR), '"soft" stretches'),
    (lambda w, bead, soft: lw.ContactSpring(w.ground, bead, 1.0, at=(0, 0, 0.1), **FLOOR), '"bead", which is a point'),
    (lambda w, bead, soft: lw.ContactSpring(w.ground, bead, 1.0, radius=0.1, friction=0.2, **FLOOR), '"bead" has no directions'),
])  # fmt: skip
def test_bodies_that_lack_what_a_force_needs_are_named(make, says):
    world = lw.World()
    bead = world.add(lw.Particle(1.0, name="bead"))
    soft = world.add(lw.ScalableBody(1.0, (0.1, 0.1, 0.1), name="soft"))
    world.add(make(world, bead, soft))
    with pytest.raises(lw.ElementError, match=says):
        lw.Simulation(world)


def test_first_order_motion_takes_springs_without_dampers():
    world = lw.World(gravity=STILL)
    wheel = world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2)))
    axle = world.add(lw.Hinge(world.ground, wheel, at=STILL, axis=(0, 0, 1)))
    spring = world.add(lw.JointSpring(axle, 0.1, rest=0.5))
    sim = lw.Simulation(world, integrator="first-order", dt=1e-2)
    sim.step(2000)
    assert abs(sim.angle(axle) - 0.5) < 1e-3
    world.remove(spring)
    world.add(lw.JointSpring(axle, 0.1, damping=0.1))
    with pytest.raises(lw.LinkworkError, match="depends on velocity"):
        lw.Simulation(world, integrator="first-order")


@pytest.mark.parametrize("iterations", [1, 2, None])
@pytest.mark.parametrize("dt", [0.01, 0.002])
def test_what_slides_stops_where_friction_says(iterations, dt):
    """v^2 / 2 mu g after v / mu g, and it stays there, though friction turns round within a step."""
    world = lw.World(gravity=(0, 0, -9.81))
    world.add(lw.Particle(0.01, (0, 0, -0.01 * 9.81 / 2000), velocity=(0.5, 0, 0), name="puck"))
    world.add(lw.ContactSpring(world.ground, "puck", 2000.0, 1.0, plane=((0, 0, 0), (0, 0, 1)), friction=0.4, slip=1e-4))
    sim = lw.Simulation(world, dt=dt, solver="implicit", iterations=iterations)
    sim.step(round(0.5 / dt))
    assert sim.position("puck")[0] == pytest.approx(0.5**2 / (2 * 0.4 * 9.81), abs=0.3 * dt)
    assert abs(sim.velocity("puck")[0]) < 1e-6
