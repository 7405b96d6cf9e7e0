"""Contact against closed forms that depend on no code of ours (docs/papers-errata.md)."""

import warnings

import numpy as np
import pytest

import linkwork as lw

G = 9.81
WAYS = {"rattle": {}, "euler": {"integrator": "euler"}, "forces": {"solver": "anticipation", "integrator": "euler"}}
ALL = pytest.mark.parametrize("way", WAYS)
EXACT = pytest.mark.parametrize("way", ["rattle", "forces"])


def floor(world, **options):
    return world.add(lw.Collider(world.ground, lw.Plane(), name="floor", **options))


def tilted(angle):
    """A plane that falls towards +x."""
    return (np.cos(angle / 2), 0, np.sin(angle / 2), 0)


@ALL
def test_a_resting_box_does_not_move_and_the_floor_bears_its_weight(way):
    world = lw.World()
    floor(world)
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.2, 0.3), position=(0, 0, 0.15), name="box"))
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world, **WAYS[way])
    sim.step(300)
    assert np.abs(sim.velocity("box")).max() < 1e-9 and np.abs(sim.angular_velocity("box")).max() < 1e-8
    assert np.allclose(sim.position("box"), (0, 0, 0.15), atol=1e-9)
    assert np.allclose(sim.contacts().forces.sum(axis=0), (0, 0, 2 * G), atol=1e-6)
    assert len(sim.contacts()) == 4


@ALL
def test_a_box_slides_down_an_incline_as_coulomb_says(way):
    """a = g (sin - mu cos)."""
    angle, mu = 0.6, 0.3
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), orientation=tilted(angle)))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.1), orientation=tilted(angle),
                           position=(0.05 * np.sin(angle), 0, 0.05 * np.cos(angle)), name="box"))  # fmt: skip
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, dt=1e-3, **WAYS[way])
    sim.step(500)
    speed = G * (np.sin(angle) - mu * np.cos(angle)) * 0.5
    assert np.allclose(sim.velocity("box"), speed * np.array([np.cos(angle), 0, -np.sin(angle)]), atol=2e-6 * speed)
    assert np.abs(sim.angular_velocity("box")).max() < 1e-6


@pytest.mark.parametrize(("mu", "sticks"), [(np.tan(0.4) * 1.01, True), (np.tan(0.4) * 0.99, False)])
@EXACT
def test_a_box_sticks_where_the_tangent_is_below_mu(way, mu, sticks):
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), orientation=tilted(0.4)))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.3, 0.3, 0.05), orientation=tilted(0.4),
                           position=(0.025 * np.sin(0.4), 0, 0.025 * np.cos(0.4)), name="box"))  # fmt: skip
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, **WAYS[way])
    sim.step(500)
    speed = np.linalg.norm(sim.velocity("box"))
    assert speed < 1e-8 if sticks else np.isclose(speed, G * (np.sin(0.4) - mu * np.cos(0.4)) * 0.5, rtol=1e-3)


@ALL
def test_a_slipping_ball_ends_rolling_at_five_sevenths(way):
    v0, mu, radius, dt = 2.0, 0.2, 0.1, 1e-3
    world = lw.World()
    floor(world)
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(radius), position=(0, 0, radius), velocity=(v0, 0, 0), name="ball"))
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, dt=dt, **WAYS[way])
    end = 2 * v0 / (7 * mu * G)
    sim.step(round(0.9 * end / dt))
    slipping = v0 - mu * G * sim.time
    assert np.isclose(sim.velocity("ball")[0], slipping, rtol=1e-6)
    sim.step(round(0.2 * end / dt))
    assert np.allclose(sim.velocity("ball"), (5 * v0 / 7, 0, 0), atol=1e-6)
    assert np.isclose(sim.angular_velocity("ball")[1] * radius, 5 * v0 / 7, rtol=1e-6)


@pytest.mark.parametrize("e", [0.5, 0.9])
@EXACT
def test_a_ball_bounces_to_e_squared_of_its_height(way, e):
    """To the order of the step: it bounces where a step ends that would have met the floor."""
    radius, height = 0.05, 0.4
    world = lw.World()
    floor(world)
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(radius), position=(0, 0, radius + height), name="ball"))
    world.add(lw.Contact(restitution=e))
    sim = lw.Simulation(world, dt=5e-4, **WAYS[way])
    tops, last = [], 0.0
    for _ in range(2400):
        sim.step()
        speed = sim.velocity("ball")[2]
        if last > 0 >= speed:
            tops.append(sim.position("ball")[2] - radius)
        last = speed
    assert np.allclose(tops[:2], [height * e**2, height * e**4], rtol=0.04)


@ALL
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_rod_that_lands_on_its_end_gets_the_impulse_of_the_textbook(way, e):
    """J = m v (1 + e) / (1 + 3 cos^2 th), th from the horizontal; a capsule of no thickness, no friction, no gravity."""
    th, speed, mass, length = 0.7, 1.5, 2.0, 1.0
    world = lw.World(gravity=(0, 0, 0))
    floor(world)
    inertia = mass * length**2 / 12
    world.add(lw.RigidBody(mass, (inertia, inertia, 1e-6), position=(0, 0, length / 2 * np.sin(th) + 1e-4), velocity=(0, 0, -speed),
                           orientation=tilted(np.pi / 2 - th), name="rod"))  # fmt: skip
    world.add(lw.Collider("rod", lw.Sphere(1e-6), position=(0, 0, -length / 2)))
    world.add(lw.Contact(friction=0.0, restitution=e))
    sim = lw.Simulation(world, dt=1e-4, **WAYS[way])
    sim.step(20)
    assert np.isclose(mass * (sim.velocity("rod")[2] + speed), mass * speed * (1 + e) / (1 + 3 * np.cos(th) ** 2), rtol=2e-3)


def test_free_collisions_conserve_momentum_to_rounding():
    rng = np.random.default_rng(3)
    world = lw.World(gravity=(0, 0, 0))
    for k in range(8):
        shape = [lw.Sphere(0.1), lw.Box(0.2, 0.15, 0.1), lw.Capsule(0.06, 0.2)][k % 3]
        place = 0.4 * np.array([k % 2, k // 2 % 2, k // 4]) + 0.02 * rng.normal(size=3)
        world.add(
            lw.RigidBody(
                rng.uniform(0.5, 2),
                shape=shape,
                position=place,
                velocity=2 * (0.2 - place),
                angular_velocity=rng.normal(size=3),
            )
        )
    world.add(lw.Contact(friction=0.4, restitution=0.5))
    sim = lw.Simulation(world, dt=2e-3)

    def momenta():
        linear, angular = np.zeros(3), np.zeros(3)
        for body in world.bodies:
            R, p, w = sim.frame(body), body.mass * sim.velocity(body), sim.angular_velocity(body)
            linear += p
            angular += np.cross(sim.position(body), p) + R @ body.inertia @ R.T @ w
        return np.concatenate([linear, angular])

    before, kinetic = momenta(), sim.energy().kinetic
    met = 0
    for _ in range(300):
        sim.step()
        met += len(sim.contacts())
    assert met > 5
    assert sim.energy().kinetic < 0.8 * kinetic
    assert np.abs(momenta()[:3] - before[:3]).max() < 1e-12
    assert (
        np.abs(momenta()[3:] - before[3:]).max() < 1e-4
    )  # impulses act where bodies meet within the step, not where they stand


@EXACT
def test_newtons_cradle_sends_the_last_ball_away(way):
    world = lw.World(gravity=(0, 0, 0))
    for k in range(5):
        moving = (1.0, 0, 0) if k == 0 else (0, 0, 0)
        world.add(
            lw.RigidBody(
                1.0, shape=lw.Sphere(0.1), position=(0.2 * k - (0.05 if k == 0 else 0), 0, 0), velocity=moving, name=f"ball{k}"
            )
        )
    world.add(lw.Contact(friction=0.0, restitution=1.0))
    sim = lw.Simulation(world, **WAYS[way])
    sim.run(0.1)
    speeds = [sim.velocity(f"ball{k}")[0] for k in range(5)]
    assert np.allclose(speeds, [0, 0, 0, 0, 1], atol=1e-9)


@ALL
def test_an_impact_travels_through_joints_at_once(way):
    """Two hinged rods in a line, struck at the free end of the second by the floor's edge: impulses of the dense system."""
    world = lw.World(gravity=(0, 0, 0))
    for k in range(2):
        world.add(lw.RigidBody(1.0, (1e-3, 1 / 12, 1 / 12), position=(0.5 + k, 0, 0), velocity=(0, 0, -1), name=f"rod{k}"))
    world.add(lw.Hinge("rod0", "rod1", at=(1, 0, 0), axis=(0, 1, 0), name="pin"))
    world.add(lw.Collider("rod1", lw.Sphere(0.01), position=(0.5, 0, 0), name="tip"))
    world.add(lw.Collider(world.ground, lw.Plane(), position=(0, 0, -0.0105), name="floor"))
    world.add(lw.Contact(friction=0.0))
    sim = lw.Simulation(world, dt=1e-4, **WAYS[way])
    sim.step(6)
    I, m = 1 / 12, 1.0
    # unknowns: v0, w0, v1, w1 (upwards, about y), the pin's impulse on rod1, the floor's; a point at x moves up by v - w x
    A = np.array([[m, 0, 0, 0, 1, 0], [0, I, 0, 0, -0.5, 0], [0, 0, m, 0, -1, -1], [0, 0, 0, I, -0.5, 0.5],
                  [1, -0.5, -1, -0.5, 0, 0], [0, 0, 1, -0.5, 0, 0]])  # fmt: skip
    v0, w0, v1, w1, _, _ = np.linalg.solve(A, [-m, 0, -m, 0, 0, 0])
    assert np.allclose([sim.velocity("rod0")[2], sim.velocity("rod1")[2]], [v0, v1], atol=2e-3)
    assert np.allclose([sim.angular_velocity("rod0")[1], sim.angular_velocity("rod1")[1]], [w0, w1], atol=2e-3)


@EXACT
def test_painleves_rod_is_resolved_by_an_impulse(way):
    """A rod whose foot goes ahead over a rough floor: a push N would lift it by N/m (1 + 3 cos th (cos th - mu sin th)), which is
    negative from mu = 4/3 on at tan th = 2. No finite force meets Coulomb's law then; an impulse does, which stops the foot."""
    th, mu, length = np.arctan(2.0), 2.0, 1.0
    assert 1 + 3 * np.cos(th) * (np.cos(th) - mu * np.sin(th)) < 0
    world = lw.World()
    floor(world)
    world.add(lw.RigidBody(1.0, (length**2 / 12, length**2 / 12, 1e-6), position=(0, 0, length / 2 * np.sin(th) + 1e-6),
                           orientation=(np.cos((th - np.pi / 2) / 2), 0, np.sin((th - np.pi / 2) / 2), 0), velocity=(3.0, 0, 0), name="rod"))  # fmt: skip
    world.add(lw.Collider("rod", lw.Sphere(1e-6), position=(0, 0, -length / 2)))
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, dt=1e-3, **WAYS[way])
    energy = sim.energy().total
    with warnings.catch_warnings():
        warnings.simplefilter("error", lw.Note)
        sim.step(3)
        assert np.abs(sim.jacobian("rod", (0, 0, -length / 2))[0] @ [*sim.velocity("rod"), *sim.angular_velocity("rod")]) < 0.1
        sim.step(47)
    assert sim.energy().total <= energy + 1e-9
    assert sim.point("rod", (0, 0, -length / 2))[2] > -1e-3


@ALL
def test_a_rope_is_a_pendulum_while_it_is_taut_and_nothing_while_it_is_slack(way):
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.Particle(2.0, position=(0, 0, 1.5), name="bob"))
    world.add(lw.Rope(world.ground, "bob", length=1.0, on_a=(0, 0, 2), name="rope"))
    sim = lw.Simulation(world, dt=1e-3, **WAYS[way])
    sim.run(0.2)
    assert np.isclose(sim.position("bob")[2], 1.5 - 5 * 0.2**2, atol=2e-3) and sim.impulse("rope")[0] == 0
    sim.run(0.4)
    assert np.isclose(sim.position("bob")[2], 1.0, atol=1e-6)
    assert np.isclose(sim.reaction("rope").force[2], 20.0, rtol=1e-6)
    assert np.isclose(sim.impulse("rope")[0], 20.0 * 1e-3, rtol=1e-6)


@ALL
@pytest.mark.parametrize("joint", ["hinge", "slider"])
def test_a_hard_limit_holds_its_joint_at_the_bound(way, joint):
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    if joint == "hinge":
        world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="joint"))
    else:
        world.add(lw.Slider(world.ground, "arm", at=(1, 0, 0), axis=(0, 0, -1), name="joint"))
    world.add(lw.HardLimit("joint", lower=-0.1, upper=0.3, name="stop"))
    sim = lw.Simulation(world, **WAYS[way])
    sim.run(1.0)
    assert np.isclose(sim.angle("joint"), 0.3, atol=1e-6)
    assert abs(sim.rate("joint")) < 1e-7
    load = 10 * np.cos(0.3) if joint == "hinge" else 10.0
    assert np.isclose(sim.impulse("stop")[0], load * 1e-3, rtol=1e-5)
    if joint == "hinge":
        assert np.allclose(sim.reaction("stop").torque, (0, -load, 0), rtol=1e-5)
    else:
        assert np.allclose(sim.reaction("stop").force, (0, 0, load), rtol=1e-5)
