"""Parameters of a running simulation: they change what they stand for, to values that their elements take."""

import copy

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def test_a_parameter_changes_while_running():
    k, l = lw.Parameter(20.0, name="k"), lw.Parameter(0.5, name="l")
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Particle(1.0, position=(0, 0, -0.5), name="mass"))
    world.add(lw.Spring(world.ground, "mass", k, rest=0.5))
    world.add(lw.Particle(1.0, position=(0.5, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", l, name="rod"))
    push = lw.Parameter(0.0, name="push")
    world.add(lw.Force("mass", lambda b, t: (push, 0, 0)))
    sim = lw.Simulation(world)
    sim.set("k", 30.0)
    sim.set(push, 4.0)
    np.testing.assert_allclose(sim.acceleration("mass"), [4, 0, -G], atol=1e-12)
    sim.step()
    assert sim.get(k) == 30.0 and k.value == 20.0  # the world's own value stays
    assert lw.Simulation(world).get("k") == 20.0
    sim.set("l", 0.5001)
    sim.step()
    assert sim.drift() < 1e-10 and np.linalg.norm(sim.position("bob")) == pytest.approx(0.5001, abs=1e-9)
    with pytest.raises(lw.UnknownNameError, match=r'"kk".*did you mean "k"'):
        sim.set("kk", 1.0)
    with pytest.raises(lw.LinkworkError, match=r"k"):
        sim.set("k", float("nan"))


def test_a_parameter_counts_in_energy_and_velocity_constraints():
    rate = lw.Parameter(2.0, name="rate")
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (1, 1, 1), angular_velocity=(0, 0, 2), name="wheel"))
    world.add(lw.Hinge(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Drive("axle", rate, name="drive"))
    sim = lw.Simulation(world)
    sim.step(10)
    sim.set("rate", 3.0)
    sim.step(2)
    assert sim.rate("axle") == pytest.approx(3.0, abs=1e-9)


def workshop(p, element):
    """A world with one element that holds the Parameter p."""
    world = lw.World(gravity=(0, 0, 0))
    for k in (0, 1):
        world.add(lw.RigidBody(1.0, (1, 1, 1), position=(2 * k, 0, 1), name=f"wheel{k}"))
        world.add(lw.Hinge(world.ground, f"wheel{k}", at=(2 * k, 0, 1), axis=(0, 0, 1), name=f"axle{k}"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(0, 2, 1), name="free"))
    world.add(element(p))
    return world


AT_LEAST_ZERO, ABOVE_ZERO = "give a finite number of at least 0", "give a finite number greater than 0"
ELEMENTS = {  # how the Parameter is used, a value that is refused, the sentence
    "length": (lambda p: lw.Distance("wheel0", "free", p, on_b=(0, -1, 0), name="e"), 0.0, 'Distance "e": length is 0; ' + ABOVE_ZERO),
    "stiffness": (lambda p: lw.Spring("wheel0", "free", p, name="e"), -1.0, 'Spring "e": stiffness is -1; ' + AT_LEAST_ZERO),
    "rest": (lambda p: lw.Spring("wheel0", "free", 1.0, rest=p, name="e"), -1.0, 'Spring "e": rest is -1; ' + AT_LEAST_ZERO),
    "damping": (lambda p: lw.Damper("wheel0", "free", p, name="e"), -2.0, 'Damper "e": damping is -2; ' + AT_LEAST_ZERO),
    "drag": (lambda p: lw.Drag("free", quadratic=p, name="e"), -2.0, 'Drag "e": quadratic is -2; ' + AT_LEAST_ZERO),
    "radius": (lambda p: lw.Rolling("ground", "free", p, name="e"), 0.0, 'Rolling "e": radius is 0; ' + ABOVE_ZERO),
    "ratio": (lambda p: lw.Gear("axle0", "axle1", p, name="e"), 0.0, 'Gear "e": ratio is 0; give a number other than 0'),
    "gain": (lambda p: lw.Motor("axle0", kind="velocity", kd=p, name="e"), -1.0, 'Motor "e": kd is -1; ' + AT_LEAST_ZERO),
    "limit": (lambda p: lw.Motor("axle0", limit=p, name="e"), 0.0, 'Motor "e": limit is 0; ' + ABOVE_ZERO),
    "force": (lambda p: lw.Wrench("free", force=(0, p, 1), name="e"), float("inf"), 'Parameter "p": value is inf; give a finite number'),
}  # fmt: skip


@pytest.mark.parametrize("case", ELEMENTS)
def test_a_value_that_the_element_would_not_take_is_refused(case):
    element, wrong, sentence = ELEMENTS[case]
    p = lw.Parameter(1.0, name="p")
    world = workshop(p, element)
    for sim in (lw.Simulation(world), lw.Simulation(copy.deepcopy(world))):
        with pytest.raises(lw.ElementError, match=f"^{sentence}$"):
            sim.set("p", wrong)
        assert sim.get("p") == 1.0
        sim.set("p", 1.5)
        assert sim.get("p") == 1.5 and world.parameters["p"].value == 1.0


@pytest.mark.parametrize("case", [c for c in ELEMENTS if c != "force"])
def test_so_is_it_when_the_element_is_made_and_when_the_simulation_is(case):
    element, wrong, sentence = ELEMENTS[case]
    with pytest.raises(lw.ElementError, match=f"^{sentence}$"):
        element(lw.Parameter(wrong, name="p"))
    p = lw.Parameter(1.0, name="p")
    world = workshop(p, element)
    p.value = wrong
    with pytest.raises(lw.ElementError, match=f"^{sentence}$"):
        lw.Simulation(world)


def test_a_parameter_of_several_elements_must_suit_all_of_them():
    p = lw.Parameter(1.0, name="p")
    world = workshop(p, lambda p: lw.Wrench("free", force=(p, 0, 0)))
    world.add(lw.Wrench("wheel0", torque=(0, 0, p)))
    sim = lw.Simulation(world)
    sim.set("p", -3.0)
    np.testing.assert_allclose(sim.acceleration("free"), [-3, 0, 0], atol=1e-12)
    world.add(lw.Spring("wheel0", "free", 1.0, rest=p, name="band"))
    with pytest.raises(lw.ElementError, match=r'Spring "band": rest is -3; '):  # which it was before the spring came
        sim.set("p", 2.0)
    assert sim.model.summary()["forces"] == 2


def test_a_parameter_of_a_motor_may_be_zero():
    sim = lw.Simulation(workshop(lw.Parameter(1.0, name="p"), lambda p: lw.Motor("axle0", kind="velocity", kd=p)))
    sim.set("p", 0.0)
    assert sim.get("p") == 0.0


def test_a_force_that_is_refused_leaves_the_simulation_as_it_was():
    p = lw.Parameter(1.0, name="p")
    world = workshop(p, lambda p: lw.Wrench("free", force=(p, 0, 0)))
    sim = lw.Simulation(world)
    band = world.add(lw.Spring("wheel0", "free", 1.0, rest=p, name="band"))
    p.value = -1.0
    for _ in range(2):
        with pytest.raises(lw.ElementError, match=r'Spring "band": rest is -1; '):
            sim.step()
    world.remove(band)
    sim.step()
    assert sim.steps == 1 and sim.get("p") == 1.0
