"""Frame: what it takes, copies, scenes included elsewhere, and files that hold it."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from tests.formats.worlds import differences

TURN = (0.8, 0.0, 0.6, 0.0)


def arm():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.2), position=(1, 0, 0), name="rod"))
    world.add(lw.Hinge(world.ground, "rod", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Frame("rod", position=(0.5, 0, 0.1), orientation=TURN, name="tool"))
    world.add(lw.Frame("ground", (0, 0, 2), TURN, name="eye"))
    return world


def test_a_frame_of_a_world():
    world = arm()
    tool, eye = world.frames
    assert tool.body is world.find("rod") and eye.body is world.ground
    assert repr(tool) == '<Frame "tool">' and tool.sort == "frame"
    assert world.add(lw.Frame("rod")).name == "frame1"
    assert np.array_equal(tool.position, (0.5, 0, 0.1)) and np.array_equal(tool.orientation, TURN)
    assert tool not in (*world.bodies, *world.constraints, *world.forces, *world.contacts, *world.visuals)
    tool.position = (0, 0, 1)
    lw.Simulation(world)
    with pytest.raises(lw.LinkworkError, match='^Frame "tool"'):
        tool.position = (0, 0, 2)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: lw.Frame("rod", position=(1, 2)), "^Frame: position"),
        (lambda: lw.Frame("rod", orientation=(1, 1, 1, 1), name="f"), '^Frame "f": orientation'),
        (lambda: lw.Frame(3), "^Frame: body is 3; give a body or its name"),
        (lambda: lw.Frame("rood"), '^Frame: there is no body named "rood"; did you mean "rod"'),
        (lambda: lw.Frame("axle"), '^Frame: Hinge "axle" is no body; give a body'),
        (lambda: lw.Frame("tool"), '^Frame: Frame "tool" is no body; give a body'),
        (lambda: lw.Frame("pair"), r'^Frame: LagrangianBody "pair" has no axes; give a body with a frame, such as a RigidBody'),
    ],
)  # fmt: skip
def test_what_it_refuses(make, said):
    world = arm()
    world.add(lw.double_pendulum(name="pair"))
    with pytest.raises(lw.LinkworkError, match=said):
        world.add(make())


def test_copies_and_pickles():
    world = arm()
    for twin in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert differences(world, twin) == []
        assert twin.frames[0].body is twin.find("rod") and twin.frames[1].body is twin.ground
    alone = copy.copy(world.frames[0])
    assert alone._world() is None and np.array_equal(alone.position, world.frames[0].position)


def test_frames_of_a_scene_that_is_included_elsewhere(tmp_path):
    lw.save(arm(), tmp_path / "arm.yaml")
    text = "linkwork: 1\nelements:\n  - include: arm.yaml\n    prefix: left/\n    position: [1, 2, 3]\n    orientation: [0.6, 0, 0, 0.8]\n"
    (tmp_path / "both.yaml").write_text(text + "  - include: arm.yaml\n")
    both, R = lw.load(tmp_path / "both.yaml"), Rotation.from_quat((0.6, 0, 0, 0.8), scalar_first=True)
    assert [frame.name for frame in both.frames] == ["left/tool", "left/eye", "tool", "eye"]
    sim, alone = lw.Simulation(both), lw.Simulation(arm())
    for name in ("tool", "eye"):
        here, there = alone.pose(name), sim.pose(f"left/{name}")
        assert np.allclose(there.position, np.add(R.apply(here.position), (1, 2, 3)), atol=1e-15)
        assert np.allclose(there.frame, R.as_matrix() @ here.frame, atol=1e-15)
        assert np.array_equal(sim.position(name), here.position)


def test_scene_files_hold_frames_to_the_bit(tmp_path):
    world, rng = arm(), np.random.default_rng(1)
    for k in range(20):
        q = rng.normal(size=4)
        world.add(lw.Frame(("rod", "ground")[k % 2], rng.normal(size=3), q / np.linalg.norm(q), name=f"f {k}"))
    again = lw.load(lw.save(world, tmp_path / "arm.yaml"))
    assert differences(world, again) == []
    (tmp_path / "by hand.yaml").write_text(
        "linkwork: 1\nelements:\n  - RigidBody: {name: rod, mass: 1, inertia: [1, 1, 1]}\n"
        "  - Frame: {name: tool, body: rod, position: [10 cm, 0, 0], orientation: {axis: [0, 0, 1], angle: 90 deg}}\n"
        "  - Frame: [ground]\n"
    )
    tool, plain = lw.load(tmp_path / "by hand.yaml").frames
    assert np.allclose(tool.position, (0.1, 0, 0)) and np.allclose(tool.orientation, np.sqrt((0.5, 0, 0, 0.5)))
    assert plain.name == "frame1" and not plain.position.any()


def test_names_are_taken_once():
    with pytest.raises(lw.ElementError, match='^Frame "rod": its name is taken by a RigidBody; give another name'):
        arm().add(lw.Frame("rod", name="rod"))
