"""What stands and what falls, against closed forms and limit analysis: no more than a part in a hundred, or in 10,000, off."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from tests.physics.statics import G, arch, arch_is_carried, cards_are_carried, critical, tower

EACH = pytest.mark.parametrize("integrator", ["rattle", "euler", "shake"])


def quiet(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


@EACH
@pytest.mark.parametrize("part", [-1e-4, 1e-4])
def test_a_block_stays_a_ten_thousandth_below_the_angle_of_friction_and_slides_above(integrator, part):
    mu = 0.5
    angle = np.arctan(mu) * (1 + part)
    turned = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), orientation=turned))
    place = 0.025 * np.array([np.sin(angle), 0, np.cos(angle)])
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.3, 0.3, 0.05), orientation=turned, position=place, name="box"))
    world.add(lw.Contact(friction=mu))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    sim.step(500)
    if part < 0:
        assert np.abs(sim.velocity("box")).max() < 1e-9 and np.abs(sim.position("box") - place).max() < 1e-10
    else:
        speed = 0.5 * G * (np.sin(angle) - mu * np.cos(angle))  # 0.25 mm/s
        assert np.linalg.norm(sim.velocity("box")) == pytest.approx(speed, rel=1e-3)


def rope_on_a_drum(ratio, mu, beads, wrap, mass=1e-3, radius=0.1):
    """Beads on rods around a fixed drum, pulled at both ends with 1 N and ratio N; the same turn at every bead."""
    world, far, turn = lw.World(gravity=(0, 0, 0)), radius + 0.002, wrap / beads
    axle = (np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0)
    world.add(lw.Collider(world.ground, lw.Cylinder(radius, 0.1), orientation=axle, name="drum"))
    angles = turn * (np.arange(beads) + 0.5) - wrap / 2
    points = [far * np.array([np.sin(a), 0, np.cos(a)]) for a in angles]
    pulls = [side * np.array([np.cos(a), 0, -np.sin(a)]) for a, side in ((-wrap / 2, -1), (wrap / 2, 1))]
    rod = 2 * far * np.sin(turn / 2)
    points = [points[0] + rod * pulls[0], *points, points[-1] + rod * pulls[1]]
    for k, point in enumerate(points):
        world.add(lw.Particle(mass, position=point, name=f"bead{k}"))
        if 0 < k <= beads:
            world.add(lw.Collider(f"bead{k}", lw.Sphere(0.002)))
        if k:
            world.add(lw.Distance(f"bead{k - 1}", f"bead{k}"))
    world.add(lw.Force("bead0", lambda b, t: tuple(pulls[0])))
    world.add(lw.Force(f"bead{beads + 1}", lambda b, t: tuple(ratio * pulls[1])))
    world.add(lw.Contact(friction=mu))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
@pytest.mark.parametrize("beads", [8, 16])
def test_a_rope_on_a_drum_holds_as_euler_and_eytelwein_say(integrator, beads):
    """Each bead turns the rope by d and bears (1 + mu tan d/2) / (1 - mu tan d/2), which goes to e^(mu phi) with their number."""
    mu, wrap = 0.3, np.pi
    bite = mu * np.tan(wrap / beads / 2)
    most = ((1 + bite) / (1 - bite)) ** beads
    assert most == pytest.approx(np.exp(mu * wrap), rel=1.0 / beads**2)
    for part in (-1e-3, 1e-3):
        sim = lw.Simulation(rope_on_a_drum(most * (1 + part), mu, beads, wrap), dt=1e-3, integrator=integrator)
        sim.step(20)
        speeds = [np.linalg.norm(sim.velocity(body)) for body in sim.world.bodies]
        if part < 0:
            assert max(speeds) < 1e-9
        else:
            assert min(speeds) > 1e-3 and np.ptp(speeds) < 0.05 * max(speeds)


@pytest.mark.parametrize("stones", [7, 11])
def test_an_arch_stands_above_its_critical_thickness_and_falls_below(stones):
    """That of limit analysis for this number of stones; friction holds them wherever a hinge can open."""
    mu = 1.0
    thick = critical(lambda t: arch_is_carried(stones, t, mu), 0.02, 0.4)
    assert 0.09 < thick < 0.1075  # of the mean radius; without end in number: 0.1075
    moved = {}
    for part in (-0.01, 0.01):
        sim = quiet(arch(stones, thick * (1 + part), mu), dt=2e-3)
        start = np.array([sim.position(body) for body in sim.world.bodies])
        sim.step(400)
        moved[part] = np.abs([sim.position(body) for body in sim.world.bodies] - start).max()
        assert not sim.notes
    assert moved[0.01] < 1e-7 and moved[-0.01] > 0.3


@pytest.mark.parametrize("levels", [1, 3])
def test_a_tower_of_cards_stands_above_its_critical_friction_and_falls_below(levels):
    mu = critical(lambda friction: cards_are_carried(levels, friction), 0.01, 2.0)
    moved = {}
    for part in (-0.01, 0.01):
        sim = quiet(tower(levels, mu * (1 + part)), dt=1e-3)
        start = np.array([sim.position(body) for body in sim.world.bodies])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            sim.step(400)
        moved[part] = np.abs([sim.position(body) for body in sim.world.bodies] - start).max()
    assert moved[0.01] < 1e-8 and moved[-0.01] > 0.01
