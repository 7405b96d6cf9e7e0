"""Scenes with springs in their joints: known shapes and frequencies, and the solver that each asks for."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork import scenes
from linkwork.scenes import rods


def simulate(name, **parameters):
    scene = scenes.find(name)
    return lw.Simulation(scene(**parameters), dt=scene.dt, **scene.options)


def test_scenes_name_the_solver_that_suits_them():
    assert scenes.find("chain").options == {}
    assert scenes.find("hanging-chain").options == {"solver": "implicit"}
    assert simulate("hair", strands=1).integrator_name == "backward-euler"


def test_a_long_stiff_cantilever_sags_as_a_beam():
    """w l^4 / 8 E I at the tip, where the deflection is small."""
    n, length, weight, stiffness = 100, 1.5, 0.2, 4e4
    sag = length / n * np.sin(rods.cantilever(n, length, weight, stiffness)).sum()
    assert sag == pytest.approx(weight * length**3 / (8 * stiffness * length / n), rel=1e-4)


def test_a_bent_rod_swings_as_a_beam():
    """Its first frequency is 1.875^2 sqrt(E I / m l^3)."""
    n, mass, stiffness = 20, 0.2, 200.0
    world = scenes.get("bent-rod", n=n, mass=mass, stiffness=stiffness, damping=0.0, bend=0.02)
    world.gravity = (0, 0, 0)
    expected = 1.8751**2 * math.sqrt(stiffness / n / mass)
    sim = lw.Simulation(world, dt=2e-4, solver="implicit")
    heights = sim.run(1.0, record_every=2e-3)[f"link{n}"].position[:, 2]
    crossings = np.flatnonzero(np.diff(np.sign(heights)))
    assert len(crossings) > 5
    half_period = np.diff(crossings).mean() * 2e-3
    assert math.pi / half_period == pytest.approx(expected, rel=0.01)


def test_a_rod_is_at_rest_only_once_it_has_settled():
    sim = simulate("bent-rod")
    assert scenes.find("bent-rod").check(sim) == []


def test_a_stiff_chain_stays_straight_and_a_slack_one_does_not():
    def bent(stiffness):
        sim = simulate("hanging-chain", n=10, stiffness=stiffness)
        sim.step(30)
        first, last = (sim.frame(name)[:, 2] for name in ("link1", "link10"))
        return math.acos(min(first @ last, 1.0))

    assert bent(1e5) < 1e-3 < 0.2 < bent(1e-3)


def test_the_wind_moves_the_plant():
    calm, windy = (simulate("plant", depth=3, wind=speed) for speed in (0.0, 10.0))
    for sim in (calm, windy):
        sim.step(100)
    assert windy.position("leaf1")[0] > calm.position("leaf1")[0] + 0.01


def test_hair_stays_out_of_the_head():
    sim = simulate("hair", strands=30, wind=0.0)
    sim.step(300)
    depth = [0.1 - np.linalg.norm(sim.position(link)) for link in sim.world.bodies]
    assert max(depth) < 2e-3
    tips = np.array([sim.position(f"link10-{k}") for k in range(1, 31)])
    assert tips[:, 2].mean() < 0.0


def test_strands_do_not_touch_each_other():
    """A forest moves as its trees alone."""
    sim = simulate("hair", strands=20, links=3)
    world = scenes.get("hair", strands=20, links=3)
    for element in (*world.forces, *world.constraints, *world.bodies):
        if not element.name.endswith("-7"):
            world.remove(element)
    single = lw.Simulation(world, dt=sim.dt, solver="implicit", iterations=1)
    for each in (sim, single):
        each.step(40)
    np.testing.assert_allclose(sim.position("link3-7"), single.position("link3-7"), atol=1e-12)
