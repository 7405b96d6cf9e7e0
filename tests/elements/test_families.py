"""Classes that somebody derives from linkwork's own: what declares nothing new is simulated, and kept, as what it derives from."""

import inspect

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.core.element import Body, ConstraintElement, ForceElement
from linkwork.elements.joints import Joint
from tests.elements.test_cheap_checks import KINDS, make


def derived(cls):
    return type(f"My{cls.__name__}", (cls,), {"__module__": __name__})


@pytest.mark.parametrize("kind", KINDS)
def test_a_derived_class_is_of_the_family_it_derives_from(kind):
    assert derived(derived(kind)).family is kind and make(kind).family is kind


def mechanism(of, others):
    """A bit of everything that tables are asked for; `of` gives the class in the place of one of linkwork's. `others`: bodies
    that joint coordinates do not have."""
    world = lw.World()
    for k, name in enumerate("abc"):
        place = (0.5 + k, 0, 0)
        world.add(of(lw.RigidBody)(1.0, shape=of(lw.Box)(0.9, 0.2, 0.1), position=place, name=name))
    world.add(of(lw.Hinge)(world.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(of(lw.Universal)("a", "b", at=(1, 0, 0), first=(0, 1, 0), second=(0, 0, 1), name="elbow"))
    world.add(of(lw.Ball)("b", "c", at=(2, 0, 0), name="wrist"))
    world.add(of(lw.Motor)("shoulder", kind="position", kp=2.0, name="drive"))
    world.add(of(lw.JointSpring)("wrist", 0.3, name="soft"))
    world.add(of(lw.Armature)("shoulder", 0.1, name="rotor"))
    world.add(of(lw.Spring)(world.ground, "c", on_a=(0, 6, 0), stiffness=3.0, name="band"))
    if others:
        world.add(of(lw.PlanarBody)(1.0, 0.1, position=(0, 5), name="flat"))
        world.add(of(lw.Particle)(1.0, position=(0, 7, 0), name="point"))
    return world


@pytest.mark.parametrize("solver", ["tree", "ltdl", "implicit"])
def test_derived_classes_have_the_same_bits(solver):
    ours, theirs = (lw.Simulation(mechanism(of, solver != "ltdl"), solver=solver) for of in (lambda cls: cls, derived))
    for sim in (ours, theirs):
        sim.step(20)
    assert theirs.state.values.tobytes() == ours.state.values.tobytes()
    assert type(theirs.world.find("a")).__name__ == "MyRigidBody"
    ours.state = theirs.state


def test_derived_shapes_touch_and_are_kept_in_recordings(tmp_path):
    world = lw.World()
    world.add(lw.RigidBody(1.0, shape=derived(lw.Box)(0.2, 0.2, 0.2), position=(0, 0, 0.1), name="box"))
    world.add(derived(lw.Collider)("box", derived(lw.Box)(0.2, 0.2, 0.2), name="skin"))
    world.add(lw.Collider(world.ground, derived(lw.Plane)(), name="floor"))
    world.add(derived(lw.Contact)("box", world.ground, name="touch"))
    recording = lw.Simulation(world).run(0.05)
    recording.save(tmp_path / "box.npz")
    assert lw.Recording.load(tmp_path / "box.npz").shapes["box"] == lw.Box(0.2, 0.2, 0.2)
    assert abs(recording.position[-1, 0, 2] - 0.1) < 1e-3


@pytest.mark.parametrize("cls", [Body, ConstraintElement, ForceElement, Joint], ids=lambda cls: cls.__name__)
def test_what_linkwork_has_no_equations_for_is_refused_by_name(cls):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="a"))
    kind = type("Odd", (cls,), {"__module__": __name__, "kind": "odd", "dim": 1})
    given = {name: value for name, value in {"a": world.ground, "b": "a", "at": (0, 0, 0)}.items()
             if name in inspect.signature(kind).parameters}  # fmt: skip
    world.add(kind(**given, name="odd"))
    with pytest.raises(lw.LinkworkError, match=r"^Odd( .odd.)?: .* it; derive it from"):
        lw.Simulation(world)


def test_numbers_of_arrays_that_are_derived_are_the_same():
    hull = derived(lw.ConvexHull)(np.vstack([np.zeros(3), np.eye(3)]))
    assert hull.given() == lw.ConvexHull(np.vstack([np.zeros(3), np.eye(3)])).given()
