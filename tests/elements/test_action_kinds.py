"""Kinds of constraints and forces: every element has one, variants are complete, and a kind that is ramped keeps all of its own."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.constraints.ramped import Ramp, RampedKind
from linkwork.elements.core import registry
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.force_kind import ForceKind
from linkwork.elements.core.registry import check_complete, kind_class, kind_for, kind_of
from tests.elements.test_cheap_checks import KINDS


@pytest.mark.parametrize("element", [cls for cls in KINDS if issubclass(cls, (lw.ConstraintElement, lw.ForceElement))],
                         ids=lambda cls: cls.__name__)  # fmt: skip
def test_every_constraint_and_force_is_declared_in_its_own_file(element):
    base = ForceKind if issubclass(element, lw.ForceElement) else ConstraintKind
    kinds = registry._KINDS[element].values()
    assert kinds and all(issubclass(kind, base) and kind.__module__ == element.__module__ for kind in kinds)


def test_variants_that_lack_a_kind_are_refused():
    with pytest.raises(TypeError, match="^Motor: it lacks a kind for by hand; declare one with kind_of"):
        check_complete(lw.Motor, ("on a joint", "by hand"))
    with pytest.raises(lw.LinkworkError, match="Motor: no kind is declared for one that is by hand"):
        kind_class(lw.Motor, "by hand")


def test_a_kind_is_found_by_what_the_element_says():
    joint, body = lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, 0, 1)), lw.Particle(1.0)
    motions = lw.Motion(joint, lambda t: t), lw.Motion(body, lambda t: (t, 0, 0))
    kinds = {type(kind_for(motion)) for motion in motions}
    assert len(kinds) == 2
    assert type(kind_for(lw.Motion(lw.RigidBody(1.0, (1, 1, 1))))) not in kinds


def test_kinds_without_parameters_of_code_are_one_instance():
    one, other = (lw.Distance("a", "b", length) for length in (1.0, 2.0))
    assert kind_for(one) is kind_for(other) and kind_for(one).key == "Distance"
    assert kind_for(lw.Spring("a", "b", 1.0)).key == "Spring-False"
    assert kind_for(lw.Damper("a", "b", 1.0)).key == "Damper-True"


def test_a_ramped_kind_has_all_of_the_kind_inside_but_its_rows():
    inner = kind_for(lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, 0, 1)))
    ramped = RampedKind(inner, {"pin": Ramp((0.1, 0, 0, 0, 0), 0.0, 1.0)})
    assert ramped.key == "drawn:Hinge" and ramped.forced and not ramped.meets
    assert ramped.read_names == inner.read_names and ramped.counters == inner.counters == 1 and ramped.anchored


# -- constraints that keep numbers of their own, drawn in when they come into force violated -----------------------------------
def egg(**given):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 0.6), name="egg", **given))
    return world


def test_surfaces_that_touch_are_drawn_in():
    world = egg(angular_velocity=(1, 0, 0))
    sim = lw.Simulation(world)
    sim.step(3)
    surface = lambda p: p[0] ** 2 + p[1] ** 2 / 4 + p[2] ** 2 / 0.25 - 1  # noqa: E731
    world.add(lw.Tangent(world.ground, "egg", lambda p: p[2], surface, at=(0, 0, 0), name="touch"))
    with pytest.warns(lw.Note, match='Tangent "touch": it is off by 0.09'):
        sim.step(300)
    assert sim.drift() < 1e-9 and sim.unknowns("touch").shape == (3,)


def test_a_curve_with_coordinates_of_its_own_is_drawn_in():
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.Particle(0.2, position=(1, 0, 0), name="bead"))
    world.add(lw.PointOnCurve(world.ground, "bead", lambda s: (lw.cos(s), lw.sin(s), 0.2 * s), start=0.1, name="helix"))
    sim = lw.Simulation(world, off=["helix"])
    sim.step(100)
    with pytest.warns(lw.Note, match='PointOnCurve "helix": it is off by 0.049'):
        sim.switch("helix", True)
    sim.step(500)
    s = sim.unknowns("helix")[0]
    np.testing.assert_allclose(sim.position("bead"), (np.cos(s), np.sin(s), 0.2 * s), atol=1e-9)


def test_a_body_that_commands_move_is_drawn_in():
    world = egg(velocity=(0, 0, -0.5))
    sim = lw.Simulation(world)
    sim.step(30)
    world.add(lw.Motion("egg", name="hand"))
    with pytest.warns(lw.Note, match='Motion "hand": it is off by'):
        sim.step(1)
    sim.control["hand"] = (0.1, 0, 0.6)
    sim.step(300)
    np.testing.assert_allclose(sim.position("egg"), (0.1, 0, 0.6), atol=1e-9)


def test_commands_of_motors_on_generalised_coordinates_have_names():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.double_pendulum(angles=(0.5, 0.5), name="arms"))
    for k, (kind, gains) in enumerate((("torque", {}), ("position", {"kp": 1.0}), ("velocity", {"kd": 1.0}))):
        world.add(lw.Motor("arms", kind, coordinate=k % 2, name=f"motor{k}", **gains))
    names = [str(name) for name in lw.Simulation(world).control.command_names]
    assert names == ["motor0: generalised force", "motor1: position", "motor2: velocity"]


def test_commands_of_motors_have_the_units_of_their_joints():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), name="cart"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), name="pole"))
    world.add(lw.Slider(world.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    world.add(lw.Hinge("cart", "pole", at=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    for joint in ("rail", "pin"):
        world.add(lw.Motor(joint, name=f"{joint} push"))
        world.add(lw.Motor(joint, "position", kp=1.0, name=f"{joint} servo"))
        world.add(lw.Motor(joint, "velocity", kd=1.0, name=f"{joint} pace"))
    names = [str(name) for name in lw.Simulation(world).control.command_names]
    assert names == ["rail push: force, N", "rail servo: position, m", "rail pace: velocity, m/s",
                     "pin push: torque, N m", "pin servo: position, rad", "pin pace: velocity, rad/s"]  # fmt: skip


def test_a_kind_is_declared_for_an_element_from_outside_alone():
    class Rod(lw.Distance):
        pass

    @kind_of(Rod)
    class RodKind(kind_class(lw.Distance)):
        pass

    assert isinstance(kind_for(Rod("a", "b", 1.0)), RodKind)
    assert not isinstance(kind_for(lw.Distance("a", "b", 1.0)), RodKind)
    assert kind_for(Rod("a", "b", 1.0)).key.startswith("Rod@")
