"""World: names, references, removal, copies."""

import copy
import gc
import pickle

import numpy as np
import pytest

from linkwork.elements import (
    Armature,
    Ball,
    Box,
    Capsule,
    Constraint,
    Cylindrical,
    Distance,
    Drag,
    Drive,
    Gear,
    Ground,
    Hinge,
    Motion,
    Motor,
    Parameter,
    Particle,
    RigidBody,
    Spring,
    VelocityConstraint,
    Weld,
)
from linkwork.errors import DivergenceError, ElementError, LinkworkError, ModelError, UnknownNameError
from linkwork.world import World


@pytest.fixture
def world():
    world = World()
    world.add([Particle(1.0, name="rod"), Particle(1.0, name="crank")])
    world.add(Hinge("ground", "crank", (0, 0, 0), (0, 1, 0), name="axle"))
    return world


def test_the_script_of_the_design():
    world = World(gravity=(0, 0, -9.81))
    crank = world.add(RigidBody(mass=1.0, shape=Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
    tilt = (0.7071, 0, 0.7071, 0)
    rod = RigidBody(mass=0.5, shape=Capsule(0.02, 0.8), position=(0.8, 0, 0), orientation=tilt, name="rod")
    assert world.add(rod) is rod
    axle = world.add(Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    pin = world.add(Ball(crank, rod, at=(0.4, 0, 0), name="pin"))
    drive = world.add(Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive"))
    assert drive.joint is axle
    assert world.bodies == (crank, rod) and world.constraints == (axle, pin) and world.forces == (drive,)
    assert np.array_equal(world.gravity, (0, 0, -9.81))
    assert repr(world) == "<World: 2 bodies, 2 constraints, 1 force>"


def test_names_become_elements(world):
    row = world.add(Constraint("rod", "crank", lambda a, b, t: 0))
    assert row.bodies == (world.find("rod"), world.find("crank"))
    assert world.find("axle").a is world.ground


def test_default_names(world):
    names = [world.add(Particle(1.0)).name for _ in range(2)]
    assert names == ["particle1", "particle2"]
    world.remove("particle2")
    assert world.add(Particle(1.0)).name == "particle3"
    world.add(Particle(1.0, name="rigid1"))
    assert world.add(RigidBody(mass=1, inertia=(1, 1, 1))).name == "rigid2"
    assert world.add(Weld("rod", "crank")).name == "weld1"
    assert world.add(VelocityConstraint("rod", lambda b, t: 0)).name == "velocity-constraint1"


def test_version_counts_changes(world):
    version = world.version
    extra = world.add(Particle(1.0))
    assert world.version == version + 1
    world.remove(extra)
    assert world.version == version + 2
    world.gravity = (0, 0, 0)
    assert world.version == version + 3
    with pytest.raises(ElementError):
        world.add(Particle(1.0, name="rod"))
    assert world.version == version + 3


def test_refused_additions(world):
    rod = world.find("rod")
    with pytest.raises(ElementError, match=r'Ball "rod": its name is taken by a Particle; give another name'):
        world.add(Ball("rod", "crank", (0, 0, 0), name="rod"))
    with pytest.raises(ElementError, match=r'Particle "ground": its name is taken by a Ground'):
        world.add(Particle(1.0, name="ground"))
    with pytest.raises(ElementError, match=r'Particle "rod": it has been added already'):
        world.add(rod)
    with pytest.raises(ElementError, match=r'Ball "p": both ends are Particle "rod"; give two different ones'):
        world.add(Ball(rod, "rod", (0, 0, 0), name="p"))
    with pytest.raises(ElementError, match=r"it acts on the ground alone"):
        world.add(Drag("ground", 1.0))
    for bad in (3, "rod", None, Box(1, 1, 1), Ground()):
        with pytest.raises(ElementError, match=r"^World: cannot add"):
            world.add(bad)


def test_unknown_references_suggest(world):
    with pytest.raises(UnknownNameError) as error:
        world.add(Ball("crnk", "rod", (0, 0, 0), name="pin"))
    assert str(error.value) == 'Ball "pin": there is no body named "crnk"; did you mean "crank"?'
    with pytest.raises(UnknownNameError, match=r'there is no body, joint, frame or force named "axel"; did you mean "axle"'):
        world.add(Motor("axel"))
    with pytest.raises(UnknownNameError, match=r'World: there is no element named "zzz"; add it first'):
        world.find("zzz")
    with pytest.raises(KeyError):
        world.find("zzz")


def test_wrong_sort_of_reference(world):
    with pytest.raises(ElementError, match=r'Motor: Particle "crank" has no coordinates of its own; give a joint, or a L'):
        world.add(Motor("crank"))
    with pytest.raises(ElementError, match=r'Ball: Hinge "axle" is no body; give a body'):
        world.add(Ball("axle", "rod", (0, 0, 0)))


def test_other_worlds(world):
    other = World()
    stranger = other.add(Particle(1.0, name="stranger"))
    with pytest.raises(ElementError, match=r'Particle "stranger" is not in this world; add it to this world first'):
        world.add(Ball(stranger, "rod", (0, 0, 0)))
    with pytest.raises(ElementError, match=r"Ground.* is not in this world"):
        world.add(Ball(other.ground, "rod", (0, 0, 0)))
    with pytest.raises(ElementError, match=r"it belongs to another world"):
        world.add(stranger)
    with pytest.raises(ElementError, match=r"is not in this world"):
        world.find(stranger)
    del other
    gc.collect()
    assert world.add(stranger) in world


def test_joint_partners_are_checked(world):
    sleeve = world.add(Cylindrical("ground", "rod", (0, 0, 0), (0, 0, 1), name="sleeve"))
    for make in (Motor, lambda j: Drive(j, 1.0), lambda j: Motion(j, lambda t: t)):
        with pytest.raises(ElementError, match=r'Cylindrical "sleeve" has no single coordinate'):
            world.add(make(sleeve))
    with pytest.raises(ElementError, match=r"the target is a joint; leave at= out"):
        world.add(Motion("axle", lambda t: t, at=(0, 0, 0)))
    with pytest.raises(ElementError, match=r'Cylindrical "sleeve" has no single coordinate'):
        world.add(Gear("axle", "sleeve", 2.0))
    with pytest.raises(ElementError, match=r'Cylindrical "sleeve" has no single coordinate'):
        world.add(Armature(sleeve, 0.1))
    world.add(Hinge("crank", "rod", (0, 0, 0), (0, 1, 0), name="knee"))
    assert world.add(Gear("axle", "knee", 2.0)).b is world.find("knee")
    with pytest.raises(ElementError, match=r'both ends are Hinge "axle"'):
        world.add(Gear("axle", "axle", 2.0))
    world.add(Hinge("ground", "rod", (0, 0, 0), (0, 1, 0), name="axle2"))
    assert world.add(Gear("axle", "axle2", 2.0)).a is world.find("axle")
    assert world.add(Motion("rod", lambda t: (t, 0, 0))).target is world.find("rod")


def test_a_refused_element_is_left_as_it_was(world):
    joint = Ball("rod", "crnk", (0, 0, 0))
    with pytest.raises(UnknownNameError):
        world.add(joint)
    assert joint.name is None and joint.a == "rod" and joint not in world


def test_a_list_is_added_whole_or_not_at_all(world):
    before = world.bodies
    with pytest.raises(UnknownNameError):
        world.add([Particle(1.0, name="x"), [Particle(1.0, name="y")], Weld("x", "z")])
    assert world.bodies == before
    items = world.add([Particle(1.0, name="x"), Weld("x", "rod", name="w")])
    assert [item.name for item in items] == ["x", "w"] and "w" in world


def test_remove(world):
    axle = world.find("axle")
    world.add(Motor("axle", name="drive"))
    with pytest.raises(ModelError, match=r'Hinge "axle": still used by Motor "drive"; remove those first or give cascade=True'):
        world.remove(axle)
    with pytest.raises(ModelError, match=r"the ground cannot be removed"):
        world.remove("ground", cascade=True)
    with pytest.raises(UnknownNameError):
        world.remove("zzz")
    crank = world.remove("crank", cascade=True)
    assert world.constraints == () and world.forces == () and "axle" not in world and axle not in world
    world.add(crank)  # free again
    world.add(axle)
    assert axle in world and crank in world


def test_cascade_meets_an_element_twice(world):
    world.add(Weld("rod", "crank", name="w"))
    world.add(Hinge("ground", "rod", (0, 0, 0), (0, 1, 0), name="axle2"))
    world.add(Gear("axle", "axle2", 1.0))
    world.remove("crank", cascade=True)
    assert [c.name for c in world.constraints] == ["axle2"]


def test_parameters(world):
    k, c = Parameter(20.0, name="k"), Parameter(1.0)
    world.add(Spring("rod", "crank", k, damping=c, name="s"))
    world.add(Distance("rod", "ground", k))
    assert world.parameters == {"k": k, "parameter1": c}
    with pytest.raises(ElementError, match=r'Spring: two Parameters have the name "k"'):
        world.add(Spring("rod", "ground", Parameter(1.0, name="k")))
    assert world.parameters == {"k": k, "parameter1": c}
    world.remove("distance1")
    world.remove("s")
    assert world.parameters == {}
    world.add(Spring("rod", "ground", Parameter(1.0, name="k")))


def test_contains(world):
    assert "rod" in world and world.find("rod") in world and world.ground in world
    assert "rud" not in world and Particle(1.0) not in world and 3 not in world


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda w: pickle.loads(pickle.dumps(w))])
def test_copies_are_worlds_of_their_own(world, clone):
    twin = clone(world)
    assert twin.find("axle").b is twin.find("crank") and twin.find("crank") is not world.find("crank")
    assert twin.find("rod") in twin and twin.find("rod") not in world
    with pytest.raises(ElementError, match=r"is not in this world"):
        twin.add(Drag(world.find("rod"), 1.0))


@pytest.mark.parametrize("bad", [(0, 0), 9.81, (0, 0, float("nan")), (0, 0, Parameter(1.0))])
def test_bad_gravity(bad):
    with pytest.raises(ElementError, match=r"^World: gravity"):
        World(gravity=bad)


def test_errors_are_what_python_expects():
    assert issubclass(ElementError, (LinkworkError, ValueError)) and issubclass(ModelError, LinkworkError)
    error = pickle.loads(pickle.dumps(DivergenceError("it blew up", step=3, time=0.1, worst="rod")))
    assert isinstance(error, RuntimeError) and str(error) == "it blew up"
    assert (error.step, error.time, error.worst) == (3, 0.1, "rod")
    assert str(UnknownNameError("a sentence")) == "a sentence" and str(UnknownNameError()) == ""
