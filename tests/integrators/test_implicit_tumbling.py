"""A body that tumbles freely: implicit steps of every sort find its motion, with an error that halves with the step."""

import numpy as np
import pytest

import linkwork as lw


def tumbling():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.4, 0.2, 0.1), angular_velocity=(1.0, 3.0, 2.0), name="brick"))
    return world


@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize("iterations", [1, None])
def test_the_error_halves_with_the_step(tangent, iterations):
    reference = lw.Simulation(tumbling(), dt=1e-4)
    reference.step(5000)
    errors = []
    for dt in (2e-3, 1e-3):
        sim = lw.Simulation(tumbling(), dt=dt, solver="implicit", tangent=tangent, iterations=iterations)
        sim.step(round(0.5 / dt))
        errors.append(np.abs(sim.angular_velocity("brick") - reference.angular_velocity("brick")).max())
    assert errors[1] < 0.03
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("dt", [1 / 60, 0.01])
def test_thin_links_win_no_spin_about_themselves_in_a_single_iteration(dt):
    world = lw.scenes.get("chain", n=5, length=0.3, mass=1.0, width=0.02, speed=3.0)
    sim = lw.Simulation(world, dt=dt, solver="implicit", iterations=1)
    start = sim.energy().total
    sim.step(round(2.0 / dt))
    assert sim.energy().total - start < 0.5  # J, of 37 that the fall of all of it would give
    assert sim.drift() < 0.01


SHAPES = {"thin": lw.Box(0.3, 0.02, 0.02), "long": lw.Box(0.3, 0.05, 0.04), "brick": lw.Box(0.4, 0.2, 0.1),
          "plate": lw.Box(0.4, 0.4, 0.02)}  # fmt: skip


@pytest.mark.parametrize("spin", [(0.01, 3.0, 0.02), (0.1, 1.0, 8.0), (3.0, 3.0, 30.0), (200.0, 100.0, 300.0)])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_free_body_never_gains_energy_in_single_iterations(shape, spin):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, shape=SHAPES[shape], angular_velocity=spin, name="body"))
    sim = lw.Simulation(world, dt=1 / 60, solver="implicit", iterations=1)
    start = sim.energy().total
    for _ in range(500):
        sim.step()
        assert sim.energy().total <= start * (1 + 1e-12)
