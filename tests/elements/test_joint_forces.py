"""Forces of stiff mechanisms: fields, defaults and refusals."""

import math

import numpy as np
import pytest

from linkwork.elements import (
    Ball,
    ContactSpring,
    Cylindrical,
    Distance,
    Follow,
    Hinge,
    JointLimit,
    JointSpring,
    Parameter,
    Particle,
    Planar,
    RigidBody,
    Screw,
    Slider,
    TorsionSpring,
    Trajectory,
    Universal,
    Weld,
)
from linkwork.errors import ElementError
from linkwork.world import World

AXIS = {"at": (0, 0, 0), "axis": (0, 0, 1)}
PLANE = ((0, 0, 0), (0, 0, 2))
JOINTS = {
    "ball": lambda a, b: Ball(a, b, at=(0, 0, 0)),
    "hinge": lambda a, b: Hinge(a, b, **AXIS),
    "slider": lambda a, b: Slider(a, b, **AXIS),
    "cylinder": lambda a, b: Cylindrical(a, b, **AXIS),
    "screw": lambda a, b: Screw(a, b, **AXIS, pitch=0.1),
    "universal": lambda a, b: Universal(a, b, at=(0, 0, 0)),
    "plane": lambda a, b: Planar(a, b, at=(0, 0, 0)),
    "weld": Weld,
}


def added(joint, make):
    """The force on a joint of this kind, in a world."""
    world = World()
    a, b = (world.add(RigidBody(1.0, (1, 1, 1), name=name)) for name in "ab")
    element = JOINTS[joint](a, b)
    element.name = "j"
    world.add(element)
    return world.add(make("j"))


@pytest.mark.parametrize("make, field", [
    (lambda x: JointSpring("j", x, name="f"), "stiffness"),
    (lambda x: JointSpring("j", 1, damping=x, name="f"), "damping"),
    (lambda x: JointSpring("j", 1, travel_stiffness=x, name="f"), "travel_stiffness"),
    (lambda x: JointSpring("j", 1, travel_damping=x, name="f"), "travel_damping"),
    (lambda x: TorsionSpring("a", "b", x, name="f"), "stiffness"),
    (lambda x: TorsionSpring("a", "b", 1, damping=x, name="f"), "damping"),
    (lambda x: JointLimit("j", 0, 1, x, name="f"), "stiffness"),
    (lambda x: JointLimit("j", 0, 1, 1, damping=x, name="f"), "damping"),
    (lambda x: JointLimit("j", cone=x, stiffness=1, name="f"), "cone"),
    (lambda x: JointLimit("j", reach=x, stiffness=1, name="f"), "reach"),
    (lambda x: Follow("b", stiffness=x, damping=1, name="f"), "stiffness"),
    (lambda x: Follow("b", stiffness=1, damping=x, name="f"), "damping"),
    (lambda x: Follow("b", stiffness=1, angular_stiffness=x, name="f"), "angular_stiffness"),
    (lambda x: Follow("b", stiffness=1, angular_damping=x, name="f"), "angular_damping"),
    (lambda x: ContactSpring("a", "b", x, plane=PLANE, name="f"), "stiffness"),
    (lambda x: ContactSpring("a", "b", 1, damping=x, plane=PLANE, name="f"), "damping"),
    (lambda x: ContactSpring("a", "b", 1, radius=x, plane=PLANE, name="f"), "radius"),
    (lambda x: ContactSpring("a", "b", 1, friction=x, plane=PLANE, name="f"), "friction"),
])  # fmt: skip
def test_coefficients(make, field):
    k = Parameter(2.0)
    assert getattr(make(3), field) == 3.0 and getattr(make(k), field) is k and make(k).parameters() == [k]
    for bad in (-1, math.nan, "1", Parameter(-1.0)):
        with pytest.raises(ElementError, match=rf'^\w+ "f": {field} is .*; give a finite number of at least 0$'):
            make(bad)


def test_defaults_and_shapes():
    spring = JointSpring("j", 10)
    assert spring.rest is None and spring.damping == 0.0 and spring.travel_stiffness == 0.0
    k = Parameter(1.0)
    assert JointSpring("j", (1, k, 2)).stiffness[1] is k and JointSpring("j", (1, k, 2)).parameters() == [k]
    assert np.array_equal(JointSpring("j", 1, rest=(2, 0, 0, 0.001)[:2]).rest, (2, 0))
    np.testing.assert_allclose(JointSpring("j", 1, rest=(0.6, 0.8, 0, 0.0003)).rest, (0.6, 0.8, 0, 0.0003), atol=1e-7)
    contact = ContactSpring("a", "b", 1, plane=PLANE)
    assert np.array_equal(contact.plane[1], (0, 0, 1)) and contact.sphere is None and contact.radius == 0.0


REFUSED = [
    (lambda: JointSpring("j", (1, 2, 3, 4), name="f"), r"stiffness is \(1, 2, 3, 4\); give one number, or two or three"),
    (lambda: JointSpring("j", (1, -2), name="f"), r"stiffness is -2; give a finite number of at least 0"),
    (lambda: JointSpring("j", (1, math.nan), name="f"), r"stiffness is \(1, nan\); give 2 finite numbers"),
    (lambda: JointSpring("j", 1, rest=(1, 2, 3), name="f"), r"rest is \(1, 2, 3\); give an angle or a travel, two angles, or a"),
    (lambda: JointSpring("j", 1, rest=(2, 0, 0, 0), name="f"), r"rest \(2, 0, 0, 0\) has length 2; give a unit quaternion"),
    (lambda: JointSpring("j", 1, rest=math.inf, name="f"), r"rest is inf; give a finite number"),
    (lambda: JointSpring("j", 1, travel_rest=(1, 2), name="f"), r"travel_rest is \(1, 2\); give 3 finite numbers"),
    (lambda: JointSpring(Distance("a", "b"), 1, name="f"), r"joint is a Distance; give a joint or its name"),
    (lambda: TorsionSpring("a", "b", (1, 2), name="f"), r"stiffness is \(1, 2\); give one or three of them"),
    (lambda: TorsionSpring("a", "b", 1, rest=0.3, name="f"), r"rest is 0.3; give 4 finite numbers"),
    (lambda: JointLimit("j", 1, 0, stiffness=1, name="f"), r"lower 1 lies above upper 0; exchange them"),
    (lambda: JointLimit("j", (0, 1), (1, 0.5), 1, name="f"), r"lower\[1\] 1 lies above upper\[1\] 0.5; exchange them"),
    (lambda: JointLimit("j", 0.7, (1, 0.5), 1, name="f"), r"lower 0.7 lies above upper\[1\] 0.5; exchange them"),
    (lambda: JointLimit("j", (0, 1, 2), 1, 1, name="f"), r"lower is \(0, 1, 2\); give 2 finite numbers"),
    (lambda: JointLimit("j", 0, 1, name="f"), r"stiffness is missing; give a number such as stiffness=1000.0"),
    (lambda: JointLimit("j", "0", 1, stiffness=1, name="f"), r"lower is '0'; give a finite number"),
    (lambda: JointLimit("j", cone=3.2, stiffness=1, name="f"), r"cone is 3.2; give an angle of at most pi"),
    (lambda: JointLimit("j", twist=(1, 0), stiffness=1, name="f"), r"twist\[0\] 1 lies above twist\[1\] 0; exchange them"),
    (lambda: JointLimit("j", twist=0.3, stiffness=1, name="f"), r"twist is 0.3; give 2 finite numbers"),
    (lambda: JointLimit("j", twist=(-7, 0), stiffness=1, name="f"), r"twist is \(-7, 0\); give angles of at most a turn"),
    (lambda: JointLimit("j", cone=1, axis=(0, 0, 0), stiffness=1, name="f"), r"axis has zero length; give a direction"),
    (lambda: Follow("b", name="f"), r"it has neither stiffness nor damping; give stiffness= or angular_stiffness="),
    (lambda: Follow("b", [1, 2], stiffness=1, name="f"), r"motion is \(1, 2\); give a Trajectory, or leave it out"),
    (lambda: Follow("b", Trajectory([0, 1], np.zeros((2, 3))), angular_stiffness=1, name="f"),
     r"<Trajectory: 2 samples from 0 s to 1 s> has no orientations; give some, or leave"),
    (lambda: Follow("b", stiffness=1, at=(1, 2), name="f"), r"at is \(1, 2\); give 3 finite numbers"),
    (lambda: ContactSpring("a", "b", 1, name="f"), r"it has neither a plane nor a sphere; give plane=\(point, normal\) or"),
    (lambda: ContactSpring("a", "b", 1, plane=PLANE, sphere=((0, 0, 0), 1), name="f"), r"it has both a plane and a sphere; give"),
    (lambda: ContactSpring("a", "b", 1, plane=(0, 0, 1), name="f"), r"plane is \(0, 0, 1\); give plane=\(point, normal\)"),
    (lambda: ContactSpring("a", "b", 1, plane=((0, 0, 0), (0, 0, 0)), name="f"), r"plane\[1\] has zero length; give a direction"),
    (lambda: ContactSpring("a", "b", 1, sphere=((0, 0, 0), -1), name="f"), r"sphere\[1\] is -1; give a finite number of at least"),
    (lambda: ContactSpring("a", "b", 1, sphere=((0, 0, 0), 0), name="f"), r"two points never touch; give radius= or a sphere"),
    (lambda: ContactSpring("a", "b", 1, plane=PLANE, slip=0, name="f"), r"slip is 0; give a finite number greater than 0"),
]  # fmt: skip


@pytest.mark.parametrize("make, says", REFUSED, ids=[says[:40] for _, says in REFUSED])
def test_what_makes_no_sense_is_refused_in_one_sentence(make, says):
    with pytest.raises(ElementError, match=rf'^\w+ "f": {says}') as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("joint, options", [
    ("ball", {"stiffness": (1, 2, 3), "damping": 1, "rest": (0.6, 0.8, 0, 0)}),
    ("hinge", {"stiffness": 1, "rest": Parameter(0.3)}),
    ("screw", {"stiffness": 1, "rest": 9.0}),
    ("slider", {"stiffness": 1, "rest": -0.1}),
    ("cylinder", {"stiffness": 1, "travel_stiffness": 3, "travel_rest": 0.1}),
    ("universal", {"stiffness": (1, 2), "rest": (0.1, 0.2)}),
    ("plane", {"stiffness": 0, "travel_stiffness": 3, "travel_rest": (0.1, 0.2, 0)}),
])  # fmt: skip
def test_springs_of_all_joints_are_taken(joint, options):
    assert added(joint, lambda j: JointSpring(j, **options)).joint.name == "j"


@pytest.mark.parametrize("joint, make, says", [
    ("weld", lambda j: JointSpring(j, 1, name="f"), 'Weld "j" leaves nothing that a spring could move; give a joint with freedoms'),
    ("hinge", lambda j: JointSpring(j, (1, 2), name="f"), r'stiffness is \(1, 2\) on Hinge "j"; give one of them'),
    ("ball", lambda j: JointSpring(j, (1, 2), name="f"), r'stiffness is \(1, 2\) on Ball "j"; give one or three of them'),
    ("universal", lambda j: JointSpring(j, 1, (1, 2, 3), name="f"), r'damping is \(1, 2, 3\) on Universal "j"; give one or two'),
    ("ball", lambda j: JointSpring(j, 1, rest=0.1, name="f"), r'rest is 0.1 on Ball "j"; give a quaternion \(w, x, y, z\)'),
    ("hinge", lambda j: JointSpring(j, 1, rest=(1, 0, 0, 0), name="f"), r'rest is \(1, 0, 0, 0\) on Hinge "j"; give an angle'),
    ("slider", lambda j: JointSpring(j, 1, rest=(1, 0), name="f"), r'rest is \(1, 0\) on Slider "j"; give a travel'),
    ("universal", lambda j: JointSpring(j, 1, rest=0.2, name="f"), r'rest is 0.2 on Universal "j"; give two angles'),
    ("hinge", lambda j: JointSpring(j, 1, travel_stiffness=1, name="f"), 'travel_stiffness is 1 on Hinge "j"; leave it out'),
    ("slider", lambda j: JointSpring(j, 1, travel_rest=1, name="f"), 'travel_rest is 1 on Slider "j"; leave it out'),
    ("cylinder", lambda j: JointSpring(j, 1, travel_rest=(1, 0, 0), name="f"), r'travel_rest is \(1, 0, 0\) on Cylindrical "j"; give m'),
    ("plane", lambda j: JointSpring(j, 1, travel_rest=1, name="f"), 'travel_rest is 1 on Planar "j"; give a vector in the plane'),
    ("plane", lambda j: JointSpring(j, 1, travel_rest=(0, 1, 1), name="f"), r'travel_rest \(0, 1, 1\) leaves the plane of Planar "j"'),
    ("weld", lambda j: JointLimit(j, 0, 1, 1, name="f"), 'Weld "j" has no coordinate to bound; give a hinge, screw, slider, cylinder, universal or'),
    ("plane", lambda j: JointLimit(j, cone=1, stiffness=1, name="f"), 'Planar "j" has no use for cone=; give lower= or upper= or reach='),
    ("plane", lambda j: JointLimit(j, 0, 1, 1, reach=1.0, name="f"), "it bounds both angle and reach, with one stiffness; give two"),
    ("hinge", lambda j: JointLimit(j, reach=1.0, stiffness=1, name="f"), 'Hinge "j" has no use for reach=; give lower= or upper='),
    ("universal", lambda j: JointLimit(j, twist=(0, 1), stiffness=1, name="f"), 'Universal "j" has no use for twist=; give lower= or'),
    ("hinge", lambda j: JointLimit(j, (0, 0), 1, 1, name="f"), r'lower is \(0, 0\) on Hinge "j"; give one number'),
    ("slider", lambda j: JointLimit(j, 0, (1, 1), 1, name="f"), r'upper is \(1, 1\) on Slider "j"; give one number'),
    ("hinge", lambda j: JointLimit(j, stiffness=1, name="f"), 'it bounds nothing of Hinge "j"; give lower= or upper='),
    ("ball", lambda j: JointLimit(j, stiffness=1, axis=(0, 0, 1), name="f"), 'it bounds nothing of Ball "j"; give cone= or twist='),
    ("hinge", lambda j: JointLimit(j, cone=1, stiffness=1, name="f"), 'Hinge "j" has no use for cone=; give lower= or upper='),
    ("ball", lambda j: JointLimit(j, 0, 1, 1, axis=(0, 0, 1), name="f"), 'Ball "j" has no use for lower= or upper=; give cone= or'),
    ("ball", lambda j: JointLimit(j, cone=1, stiffness=1, name="f"), 'axis is missing; give axis= for a ball, and only there'),
    ("hinge", lambda j: JointLimit(j, 0, 1, 1, axis=(0, 0, 1), name="f"), 'Hinge "j" has an axis of its own; give axis= for a ball'),
    ("cylinder", lambda j: JointLimit(j, 0, 1, 1, twist=(0, 1), name="f"), "it bounds both travel and twist, with one stiffness; give two"),
])  # fmt: skip
def test_what_does_not_fit_the_joint_is_refused_when_added(joint, make, says):
    with pytest.raises(ElementError, match=rf'^\w+ "f": {says}') as caught:
        added(joint, make)
    assert "\n" not in str(caught.value)


def test_both_ends_differ_and_something_moves():
    world = World()
    bead = world.add(Particle(1.0, name="bead"))
    with pytest.raises(ElementError, match='both ends are Particle "bead"'):
        world.add(ContactSpring(bead, bead, 1.0, plane=PLANE))
    with pytest.raises(ElementError, match="it acts on the ground alone"):
        world.add(Follow(world.ground, stiffness=1.0))
