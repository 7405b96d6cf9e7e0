"""Fields that are assigned after an element was made: checked as when it is made, refused once its world is simulated."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ElementError, LinkworkError
from tests.elements.test_cheap_checks import KINDS, make


def pendulum():
    world = lw.World()
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.05, 0.05, 0.3), position=(0, 0, 0.15), name="b"))
    world.add(lw.Hinge(world.ground, "b", at=(0, 0, 0), axis=(0, 1, 0), name="j"))
    return world


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_takes_its_own_value_again_and_no_typo(kind):
    element = make(kind)
    for field in dataclasses.fields(kind):
        before = getattr(element, field.name)
        setattr(element, field.name, before)
        np.testing.assert_equal(getattr(element, field.name), before)
        with pytest.raises(ElementError, match="it has no field"):
            setattr(element, field.name + "x_", before)
    assert type(element) is kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_an_element_in_use_is_refused(kind):
    world = lw.World()
    for name in ("a", "b"):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name=name))
    element = make(kind, name="e")
    vars(element)["_world"] = lambda: world  # as if it were there: not every kind can be added to this world
    world._use()
    for field in dataclasses.fields(kind):
        with pytest.raises(
            LinkworkError, match=r'"e": (\w+ cannot be changed, for its world has been simulated|its world knows)'
        ):
            setattr(element, field.name, getattr(element, field.name))
        with pytest.raises(LinkworkError, match=r'"e": (\w+ cannot be changed, for|its world knows)'):
            delattr(element, field.name)


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_is_deleted(kind):
    element = make(kind)
    for field in dataclasses.fields(kind):
        with pytest.raises(AttributeError, match=rf"{field.name} cannot be deleted; give it another value"):
            delattr(element, field.name)
        assert field.name in vars(element)


@pytest.mark.parametrize("use", [lw.Simulation, lw.reduced.compile])
def test_what_is_simulated_does_not_change_in_silence(use):
    world = pendulum()
    world.find("b").mass = 2.0  # until then it is checked
    world.find("b").position[2] = 0.16
    world.find("b").mass = -1
    with pytest.raises(ElementError, match=r'^RigidBody "b": mass is -1; give'):
        use(world)
    world.find("b").mass, world.find("b").position = 2, [0, 0, 0.15]
    use(world)
    assert type(world.find("b").mass) is float and world.find("b").position.tolist() == [0, 0, 0.15]
    with pytest.raises(AttributeError, match=r'^RigidBody "b": mass cannot be changed, for its world has been simulated; give'):
        world.find("b").mass = 1e6
    for array in (world.find("b").position, world.find("b").inertia, world.find("j").axis, world.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert world.find("b").mass == 2.0


def test_a_copy_of_a_simulated_world_may_be_changed():
    world = pendulum()
    sim = lw.Simulation(world)
    for twin in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        twin.find("b").mass = 5.0
        twin.find("b").position[2] = 0.15
        assert lw.Simulation(twin).reaction("j").force[2] == pytest.approx(5 * sim.reaction("j").force[2])
    alone = copy.copy(world.find("b"))
    alone.mass = 3.0
    changed = dataclasses.replace(world.find("b"), mass=4.0)
    assert (alone.mass, changed.mass, world.find("b").mass) == (3.0, 4.0, 1.0)


def test_an_element_is_changed_by_taking_it_out():
    world = pendulum()
    spring = world.add(lw.JointSpring("j", 1.0, name="spring"))
    sim = lw.Simulation(world)
    sim.reset(lw.Keyframe({"j": 1.0}))
    before = sim.energy().potential
    world.remove("spring")
    spring.stiffness = 3.0
    world.add(spring)
    assert sim.energy().potential == pytest.approx(before + 1.0)
    with pytest.raises(ElementError, match="cannot be changed"):
        spring.stiffness = 4.0


def test_fields_that_go_together_are_changed_one_by_one():
    world = pendulum()
    limit = world.add(lw.HardLimit("j", 0.0, 1.0, name="limit"))
    limit.lower = 2.0
    with pytest.raises(ElementError, match='HardLimit "limit"'):
        lw.Simulation(world)
    limit.upper = 3
    limit.lower = -1
    lw.Simulation(world)
    assert (limit.lower, limit.upper) == (-1.0, 3.0)


def test_gravity_is_taken_up():
    world = pendulum()
    sim = lw.Simulation(world)
    world.gravity = (0, 0, -1.0)
    assert sim.reaction("j").force[2] == pytest.approx(1.0)


def test_subclasses_may_have_more():
    class Painted(lw.Drag):
        def __init__(self, colour, **given):
            super().__init__(**given)
            self.colour = colour

    class Watched(lw.Simulation):
        def __init__(self, *given):
            super().__init__(*given)
            self.seen = 0

    sim, air = Watched(pendulum()), Painted("red", body="b", linear=0.1, name="air")
    sim.seen += 1
    air.colour = "blue"
    air.seal = sim.told = 1
    del air.seal, sim.told
    assert not hasattr(air, "seal") and not hasattr(sim, "told")
    assert (sim.seen, air.colour, type(air)) == (1, "blue", Painted)
    for name in ("solver", "model", "control", "steps"):
        with pytest.raises(LinkworkError, match=f"^Watched: {name} cannot be assigned"):
            setattr(sim, name, 2.0)
        with pytest.raises(AttributeError, match=f"^Watched: {name} cannot be deleted"):
            delattr(sim, name)


def test_names_and_references_are_looked_at():
    world = pendulum()
    world.add(lw.RigidBody(1.0, (1, 1, 1), name="c"))
    world.find("j").b = "c"
    assert world.find("j").b is world.find("c")
    with pytest.raises(LinkworkError, match='"nobody"'):
        world.find("j").b = "nobody"
    with pytest.raises(LinkworkError, match="its world knows it by that name"):
        world.find("c").name = "d"


def test_objects_of_a_simulation_have_no_other_attributes():
    world = pendulum()
    world.add(lw.Motor("j", kind="torque", name="drive"))
    sim = lw.Simulation(world)
    recording = sim.run(0.01)
    cases = [(sim, "solver", "implicit"), (sim, "dt", 1.0), (sim, "world", lw.World()), (sim, "gravity", 0), (sim, "control", {}),
             (sim, "model", None), (sim, "steps", 3), (sim, "tiem", 1.0), (sim.control, "drive", 1.0), (world, "gravty", (0, 0, 0)),
             (world, "ground", None), (world, "version", 7), (recording, "postion", None)]  # fmt: skip
    for owner, name, value in cases:
        with pytest.raises(AttributeError, match=f"^{type(owner).__name__}: ") as caught:
            setattr(owner, name, value)
        assert isinstance(caught.value, LinkworkError) and name in str(caught.value)
    assert sim.control["drive"] == 0.0
    sim.time = 3.0
    assert sim.time == 3.0
