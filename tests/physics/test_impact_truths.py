"""Sliding, bouncing and paradoxical contact, against closed forms."""

import itertools

import numpy as np
import pytest

import linkwork as lw

G = 9.81
EACH = pytest.mark.parametrize("integrator", ["rattle", "euler", "shake"])


@EACH
def test_a_block_stops_after_its_sliding_distance(integrator):
    """v^2 / (2 mu g); with schemes of first order it is half a step further back."""
    speed, mu, dt = 2.0, 0.4, 1e-3
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.05), position=(0, 0, 0.025), velocity=(speed, 0, 0), name="box"))
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, dt=dt, integrator=integrator)
    sim.step(700)
    late = 0.0 if integrator == "rattle" else 0.5 * speed * dt
    assert sim.position("box")[0] == pytest.approx(speed**2 / (2 * mu * G) - late, abs=1e-6)
    assert np.abs(sim.velocity("box")).max() < 1e-9


@pytest.mark.parametrize("struck", [1, 2])
@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_a_cradle_of_pendulums_throws_as_many_as_strike_to_the_same_height(integrator, struck):
    length, radius, count, angle = 0.5, 0.05, 5, 0.3
    world = lw.World()
    for k in range(count):
        lean = angle if k < struck else 0.0
        place = (2 * radius * k - length * np.sin(lean), 0, -length * np.cos(lean))
        turned = (np.cos(lean / 2), 0, np.sin(lean / 2), 0)
        world.add(lw.RigidBody(1.0, shape=lw.Sphere(radius), position=place, orientation=turned, name=f"ball{k}"))
        world.add(lw.Hinge(world.ground, f"ball{k}", at=(2 * radius * k, 0, 0), axis=(0, 1, 0), name=f"hinge{k}"))
    world.add(lw.Contact(friction=0.0, restitution=1.0))
    sim = lw.Simulation(world, dt=5e-4, integrator=integrator)
    before, angles = sim.energy().total, []
    for _ in range(3200):  # there, and back again
        sim.step()
        angles.append([sim.angle(f"hinge{k}") for k in range(count)])
    assert np.allclose(np.min(angles, axis=0)[count - struck :], -angle, atol=2e-4)
    assert np.allclose(np.max(angles[1600:], axis=0)[:struck], 0.0, atol=1e-4), "angles count from how they were built"
    assert np.abs(np.array(angles)[:, struck : count - struck]).max() < 3e-3
    assert sim.energy().total <= before + 1e-5


@EACH
def test_painleves_rod_never_fails_nor_gains_energy(integrator):
    """Of these some have no force that meets Coulomb's law, and some have two: 1 + 3 cos th (cos th - mu sin th) < 0."""
    paradoxes, length = 0, 1.0
    for th, mu, (vx, vz, w) in itertools.product(
        (0.6, np.arctan(2.0), 1.3), (4 / 3, 2.0, 5.0), ((3, 0, 0), (-3, 0, 0), (3, 0, 2), (3, 0, -2), (3, -0.5, 0))
    ):
        world = lw.World()
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        inertia, turn = (length**2 / 12, length**2 / 12, 1e-6), (th - np.pi / 2) / 2
        world.add(lw.RigidBody(1.0, inertia, position=(0, 0, length / 2 * np.sin(th) + 1e-6), velocity=(vx, 0, vz),
                               orientation=(np.cos(turn), 0, np.sin(turn), 0), angular_velocity=(0, w, 0), name="rod"))  # fmt: skip
        for end in (-1, 1):
            world.add(lw.Collider("rod", lw.Sphere(1e-6), position=(0, 0, end * length / 2)))
        world.add(lw.Contact(friction=mu))
        sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
        start = sim.energy().total
        for _ in range(15):
            sim.step(5)
            report = sim.contact_report()
            assert report.converged and report.residual < 1e-7 and report.penetration < 1e-7
            assert sim.energy().total <= start + 1e-9
        assert not sim.notes
        paradoxes += 1 + 3 * np.cos(th) * (np.cos(th) - mu * np.sin(th)) < 0
    assert paradoxes > 10


@EACH
def test_a_ball_bounces_at_the_times_of_the_textbook_and_comes_to_rest(integrator):
    """Dropped from h it meets the floor after t = sqrt(2 h / g), then after 2 e t, 2 e^2 t ..., and rests from t (1 + e) / (1 - e)
    on. Each bounce is at the end of a step, and what it gets from gravity in that step changes the next flight: first order."""
    height, e = 0.5, 0.6
    first = np.sqrt(2 * height / G)

    def off(dt):
        world = lw.World(gravity=(0, 0, -G))
        world.add(lw.Collider(world.ground, lw.Plane()))
        world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.05), position=(0, 0, 0.05 + height), name="ball"))
        world.add(lw.Contact(restitution=e, bounce_above=1e-2))
        sim = lw.Simulation(world, dt=dt, integrator=integrator)
        times, last = [], 0.0
        while sim.time < 1.1 * first * (1 + e) / (1 - e):
            sim.step()
            speed = sim.velocity("ball")[2]
            if speed > last + 0.1:
                times.append(sim.time)
            last = speed
        assert abs(sim.velocity("ball")[2]) <= 2 * G * dt and abs(sim.position("ball")[2] - 0.05) < 2 * G * dt**2
        wanted = first * (1 + 2 * np.cumsum([0, e, e**2, e**3]))
        return np.abs(np.array(times[:4]) - wanted).max()

    coarse, fine = off(1e-3), off(2.5e-4)
    assert coarse < 1.2e-2 and fine < 0.4 * coarse
