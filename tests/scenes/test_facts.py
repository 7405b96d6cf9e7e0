"""Simulations of the scenes keep their constraints and end where the closed forms say."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import scenes
from linkwork.scenes.layout import matrix
from tests.scenes.test_scenes import SMALL, VARIED


def simulate(scene, **parameters):
    return lw.Simulation(scene(**parameters), dt=scene.dt, **scene.options)


@pytest.fixture(params=scenes.names())
def scene(request):
    return scenes.find(request.param)


def test_the_start_has_no_drift(scene):
    sim = simulate(scene, **SMALL.get(scene.name, {}))
    assert sim.drift() < 1e-9
    assert sim.drift(velocity=True) < 1e-9


def test_known_facts_hold_at_the_end(scene):
    small = SMALL.get(scene.name, {})
    sim = simulate(scene, **small)
    sim.run(scene.seconds, record_every=scene.seconds / 4)
    assert sim.drift() < (1e-2 if scene.options.get("iterations") == 1 else 1e-8)
    assert [fact for fact in scene.check(sim, **small) if not fact.holds] == []


@pytest.mark.parametrize(("name", "parameters"), VARIED)
def test_known_facts_hold_with_other_parameters(name, parameters):
    scene = scenes.find(name)
    sim = simulate(scene, **parameters)
    sim.run(1.0, record_every=0.5)
    assert [fact for fact in scene.check(sim, **parameters) if not fact.holds] == []


def test_facts_are_not_always_true():
    scene = scenes.find("pendulum")
    sim = lw.Simulation(scene(), dt=scene.dt)
    sim.run(0.5, record_every=0.25)
    assert not any(fact.holds for fact in scene.check(sim, length=1.1))


def test_the_ball_strikes_pins_down():
    scene = scenes.find("bowling")
    sim = simulate(scene)
    sim.run(scene.seconds, record_every=scene.seconds)
    fell = [body.name for body in sim.world.bodies if body.name != "ball" and sim.position(body)[2] < 0.6 * body.position[2]]
    assert len(fell) >= 5, fell


def test_friction_raises_a_top_until_its_tip_rolls():
    scene = scenes.find("spinning-top")
    sim = simulate(scene)

    def slip_and_rise():
        axle = matrix(sim.orientation("top"))[:, 2]
        to_floor = -scene.parameters["height"] * axle - (0, 0, scene.parameters["tip"])
        slip = sim.velocity("top") + np.cross(sim.angular_velocity("top"), to_floor)
        return np.linalg.norm(slip), axle[2] - np.cos(scene.parameters["tilt"])

    before, _ = slip_and_rise()
    sim.run(1.0, record_every=1.0)
    after, risen = slip_and_rise()
    assert before > 0.3 and after < 1e-3 and risen > 0.01
