"""Soft limits of planar joints: the angle about the normal, and the distance in the plane."""

import numpy as np
import pytest

import linkwork as lw


def puck(limit, velocity=(0, 0, 0), spin=0.0):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), velocity=velocity, angular_velocity=(0, 0, spin), name="puck"))
    joint = world.add(lw.Planar("ground", "puck", at=(0, 0, 0), normal=(0, 0, 1), name="table"))
    world.add(limit(joint))
    return world


@pytest.mark.parametrize("options", [{"solver": "implicit", "dt": 1e-4}, {"integrator": "rattle", "dt": 1e-4}])
def test_a_puck_turns_back_at_the_rim(options):
    """Beyond the rim it is half a swing of an oscillator: so deep, for so long, and back as fast."""
    k, v = 800.0, 1.5
    sim = lw.Simulation(puck(lambda j: lw.JointLimit(j, reach=0.2, stiffness=k), velocity=(0.6 * v, 0.8 * v, 0)), **options)
    omega, deepest = np.sqrt(k / 2.0), 0.0
    for _ in range(round((0.2 / v + np.pi / omega + 0.02) / sim.dt)):
        sim.step()
        deepest = max(deepest, np.linalg.norm(sim.position("puck")))
    assert deepest == pytest.approx(0.2 + v / omega, rel=1e-3)
    np.testing.assert_allclose(sim.velocity("puck"), (-0.6 * v, -0.8 * v, 0), atol=5e-3 * v)


def test_the_turn_about_the_normal_is_held():
    sim = lw.Simulation(
        puck(lambda j: lw.JointLimit(j, -0.5, 0.5, stiffness=40.0, damping=0.5), spin=2.0), dt=1e-3, solver="implicit"
    )
    turned = []
    for _ in range(3000):
        sim.step()
        turned.append(float(2 * np.arctan2(sim.orientation("puck")[3], sim.orientation("puck")[0])))
    assert 0.5 < max(turned) < 0.5 + 2.0 / np.sqrt(40.0 / 0.1) and abs(sim.angular_velocity("puck")[2]) < 2.0


def test_the_energy_of_a_reach_is_that_of_its_spring():
    sim = lw.Simulation(puck(lambda j: lw.JointLimit(j, reach=0.2, stiffness=800.0), velocity=(1.5, 0, 0)), dt=1e-4)
    start = sim.energy().total
    sim.step(1500)
    assert np.linalg.norm(sim.position("puck")) > 0.2
    assert sim.energy().total == pytest.approx(start, rel=1e-6)
