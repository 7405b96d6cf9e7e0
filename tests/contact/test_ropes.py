"""Ropes on light links: implicit steps hold them at the end of every step; others say when they do not."""

import numpy as np
import pytest

import linkwork as lw

LINK, ROPE = 0.1, 0.1  # m


def weight_on_links(n, mass=0.05):
    """Links of 0.1 m straight out from the ground, and 5 kg on a rope of 0.1 m at their end."""
    world, above = lw.World(gravity=(0, 0, -9.81)), "ground"
    for k in range(n):
        world.add(lw.RigidBody(mass, shape=lw.Box(LINK, 0.02, 0.02), position=(LINK * (k + 0.5), 0, 0), name=f"link{k}"))
        world.add(lw.Ball(above, f"link{k}", at=(LINK * k, 0, 0)))
        above = f"link{k}"
    world.add(lw.RigidBody(5.0, (0.01, 0.01, 0.01), position=(LINK * n, 0, -ROPE), name="weight"))
    world.add(lw.Rope(above, "weight", length=ROPE, on_a=(LINK / 2, 0, 0), name="rope"))
    return world


def longest(sim, n, seconds=1.0):
    """m by which the rope was too long after any step."""
    found = 0.0
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        apart = sim.position("weight") - sim.point(f"link{n - 1}", (LINK / 2, 0, 0))
        found = max(found, np.linalg.norm(apart) - ROPE)
    return found


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("n", [1, 2, 10])
def test_an_implicit_step_ends_with_its_rope_no_longer_than_it_is(n):
    sim = lw.Simulation(weight_on_links(n), dt=1 / 60, solver="implicit")
    start = sim.energy().total
    assert longest(sim, n) < 1e-8
    assert sim.energy().total <= start
    assert not any("it was beyond its bound" in note for note in sim.notes)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_a_hanging_weight_hangs_still():
    world = lw.World(gravity=(0, 0, -9.81))
    world.add(lw.RigidBody(0.05, shape=lw.Box(0.02, 0.02, LINK), position=(0, 0, -LINK / 2), name="link0"))
    world.add(lw.Ball("ground", "link0", at=(0, 0, 0)))
    world.add(lw.RigidBody(5.0, (0.01, 0.01, 0.01), position=(0, 0, -LINK - ROPE), name="weight"))
    world.add(lw.Rope("link0", "weight", length=ROPE, on_a=(0, 0, -LINK / 2), name="rope"))
    sim = lw.Simulation(world, dt=1 / 60, solver="implicit")
    sim.step(120)
    assert sim.energy().kinetic < 1e-12
    assert sim.reaction("rope").force[2] == pytest.approx(5.0 * 9.81, rel=1e-6)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("upper", [0.3, 2.0])
def test_a_hard_limit_is_held_at_the_end_of_a_long_step(upper):
    world = lw.World(gravity=(0, 0, -9.81))
    for k, above in enumerate(["ground", "arm0"]):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.5, 0.05, 0.05), position=(0.5 * k + 0.25, 0, 0), name=f"arm{k}",
                               angular_velocity=(0, 5.0, 0), velocity=(0, 0, -2.5 * (k + 0.5))))  # fmt: skip
        world.add(lw.Hinge(above, f"arm{k}", at=(0.5 * k, 0, 0), axis=(0, 1, 0), name=f"hinge{k}"))
    world.add(lw.HardLimit("hinge1", lower=-0.1, upper=upper, name="stop"))
    sim = lw.Simulation(world, dt=1 / 30, solver="implicit")
    angles = []
    for _ in range(60):
        sim.step()
        angles.append(sim.angle("hinge1"))
    assert max(angles) < upper + 1e-4 and min(angles) > -0.1 - 1e-4
    assert max(angles) > upper - 1e-3 or min(angles) < -0.1 + 1e-3


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize(
    ("n", "mass", "dt"),
    [(n, mass, dt) for n in (1, 2, 10) for mass in (0.05, 0.005) for dt in (1 / 60, 1 / 240, 1e-3)]
    + [(5, 0.0005, 1 / 240), (5, 0.0005, 1e-3)],
)
@pytest.mark.parametrize("integrator", ["rattle", "shake"])
def test_a_step_that_bends_a_rope_too_far_is_made_in_parts(n, mass, integrator, dt):
    """Weights of 100 to 10,000 times the mass of a link, whose own oscillation turns it by ten radians in the longest of these steps."""
    sim = lw.Simulation(weight_on_links(n, mass), dt=dt, integrator=integrator)
    assert longest(sim, n) < 0.1 * ROPE
    assert not any("it was beyond its bound" in note for note in sim.notes)


@pytest.mark.parametrize("n", [1, 2])
def test_a_rope_that_one_iteration_does_not_hold_is_named_with_the_amount(n):
    sim = lw.Simulation(weight_on_links(n), dt=1 / 60, solver="implicit", iterations=1)
    with pytest.warns(lw.Note, match='Rope "rope": it was beyond its bound by'):
        stretched = longest(sim, n)
    assert stretched > 0.1 * ROPE
    told = [float(note.split("bound by ")[1].split()[0]) for note in sim.notes if "it was beyond its bound" in note]
    assert len(told) <= 3 and told[-1] > 0.1 * stretched, "again, when it has become ten times as far"
    assert all("iterations=None" in note for note in sim.notes if "it was beyond its bound" in note)


def test_a_rope_that_was_built_too_long_is_not_named_for_it():
    world = lw.World(gravity=(0, 0, -9.81))
    world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0, 0, -1.5), name="lamp"))
    world.add(lw.Rope(world.ground, "lamp", length=1.0, name="cord"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.run(0.5)
    assert not any("it was beyond its bound" in note for note in sim.notes)
