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
