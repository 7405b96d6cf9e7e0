"""Simulations of the scenes keep their constraints and end where the closed forms say."""

import pytest

import linkwork as lw
from linkwork import scenes
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
