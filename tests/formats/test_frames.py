"""Frames of robots: links of URDFs as yourdfpy has them; sites, cameras and bodies without joints as MuJoCo has them."""

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yourdfpy

import linkwork as lw
from linkwork.formats.mjcf.read import drafted, keyframe
from linkwork.formats.source import Reading
from tests.formats.random_robots import random_robot

SEEDS = Path(__file__).parent / "seeds"
CLOSE = {"rtol": 0, "atol": 1e-10}


def load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(path, **options)


def assert_links(world, theirs, joints, **given):
    """Every link of a file is a body or a frame, and where yourdfpy has it."""
    sim = lw.Simulation(world, solver="ltdl", integrator="joint-euler")
    tree, links = lw.reduced.compile(world), set(theirs.link_map)
    assert links == {e.name for e in (*world.bodies, *world.frames)} & links
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = rng.normal(size=tree.nq)
        theirs.update_cfg({name: q[tree.coordinates(name)][0] for name in joints} | given)
        sim.set_state(q=q)
        for name in links:
            there, here = theirs.get_transform(name), sim.pose(name)
            np.testing.assert_allclose(here.position, there[:3, 3], **CLOSE)
            np.testing.assert_allclose(here.frame, there[:3, :3], **CLOSE)


@pytest.mark.parametrize("seed", range(6))
def test_links_of_random_robots_are_where_yourdfpy_has_them(tmp_path, seed):
    rng = np.random.default_rng([seed, 11])
    text, moving = random_robot(rng, int(rng.integers(4, 10)))
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    theirs = yourdfpy.URDF.load(str(path), load_meshes=False)
    assert_links(load(path), theirs, moving)
    locked = {moving[0]: 0.7} | ({moving[-1]: -0.3} if len(moving) > 2 else {})
    if set(moving) - set(locked):
        assert_links(load(path, lock=locked), theirs, [name for name in moving if name not in locked], **locked)


@pytest.mark.parametrize("name", ["walker", "gripper"])
def test_links_of_seeds_are_where_yourdfpy_has_them(tmp_path, name):
    text = (SEEDS / f"{name}.urdf").read_text()
    bare = tmp_path / "bare.urdf"
    bare.write_text(re.sub(r"<(visual|collision|material)\b.*?</\1>", "", text, flags=re.S))  # it does not know all shapes
    theirs = yourdfpy.URDF.load(str(bare), load_meshes=False)
    sim = lw.Simulation(load(SEEDS / f"{name}.urdf", contact=False, visuals=False))
    for link in theirs.link_map:
        there, here = theirs.get_transform(link), sim.pose(link)
        np.testing.assert_allclose(here.position, there[:3, 3], **CLOSE)
        np.testing.assert_allclose(here.frame, there[:3, :3], **CLOSE)


def test_links_keep_their_names_and_joints_give_way(tmp_path):
    path = tmp_path / "robot.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    path.write_text(f"""<robot name="r"><link name="ground"/><link name="arm">{inertial}</link><link name="elbow"/>
<joint name="elbow" type="continuous"><parent link="ground"/><child link="arm"/></joint>
<joint name="mount" type="fixed"><origin xyz="0 0 1"/><parent link="arm"/><child link="elbow"/></joint></robot>""")
    world = load(path, position=(1, 2, 3))
    assert [(frame.name, frame.body.name) for frame in world.frames] == [("ground link", "ground"), ("elbow", "arm")]
    assert [joint.name for joint in world.constraints] == ["elbow joint"]
    assert [remark.what for remark in world.remarks] == ['link "ground"', 'joint "elbow"', 'joint "elbow"'][:2]
    assert np.array_equal(lw.Simulation(world).position("ground link"), (1, 2, 3))
    floating = load(path, floating=False, lock={"elbow": 0.5})
    assert [frame.name for frame in floating.frames] == ["ground link", "arm", "elbow"] and not floating.bodies


ROBOT = """<mujoco><worldbody>
  <site name="start" pos="1 2 3" euler="10 20 30"/> <camera name="wide" pos="0 0 5" euler="0 30 0"/>
  <body name="shelf" pos="0 1 2" euler="40 0 0"><geom size="0.1"/><site pos="0.1 0 0"/>
    <body name="hook" pos="0 0 1"><site name="point" pos="0.3 0 0" euler="0 0 45"/></body></body>
  <body name="base" pos="1 2 3" euler="10 20 30"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
    <camera name="eye" pos="0.1 0 0" euler="1 2 3"/>
    <body name="arm" pos="0 0 1" euler="0 40 0"><joint type="ball" pos="0.1 0.2 0"/><geom type="box" size="0.2 0.1 0.3"/>
      <body name="mount" pos="0.3 0.1 0" euler="0 0 70"><geom name="mount" size="0.1"/><camera name="arm" pos="0 0 0.2" euler="5 6 7"/>
        <site name="eye" pos="0 0.2 0" euler="7 8 9"/>
        <body name="tip" pos="1 0 0"><joint name="j" ref="30" axis="1 2 0"/><joint name="s" type="slide" axis="0 1 0"/>
          <geom type="box" size="0.1 0.1 0.2"/><site name="tip" pos="0 0 0.3" quat="1 2 3 4"/><site name="j" pos="0 0.1 0"/>
          <body name="pad" pos="0 0 0.4"><body name="nail" pos="0 0.1 0" euler="30 0 0"><site name="end" pos="0 0 0.1"/></body></body>
        </body></body></body></body>
</worldbody></mujoco>"""


def assert_as_mujoco(model, draft, sim, names):
    """All places (their mjtObj, number, name here), at a random state."""
    rng, data = np.random.default_rng(3), mujoco.MjData(model)
    for _ in range(3):
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        sim.reset(keyframe(draft, data.qpos, data.qvel, data.ctrl))
        for kind, number, name in names:
            place = {"SITE": data.site, "CAMERA": data.camera, "XBODY": data.body}[kind](number)
            number = place.id
            here = sim.pose(name)
            np.testing.assert_allclose(here.position, place.xpos, **CLOSE)
            np.testing.assert_allclose(here.frame.ravel(), place.xmat, **CLOSE)
            for axes, local in (("aligned", 0), ("local", 1)):
                mujoco.mj_objectVelocity(
                    model, data, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number, speed := np.empty(6), local
                )
                twist = np.concatenate([speed[3:], speed[:3]])
                np.testing.assert_allclose(sim.twist(name, axes=axes), twist, **CLOSE)
                np.testing.assert_allclose(sim.frame_jacobian(name, axes=axes) @ sim.qd, twist, **CLOSE)


@pytest.mark.parametrize("solver", ["tree", "aba"])
def test_sites_cameras_and_fixed_bodies_are_where_mujoco_has_them(tmp_path, solver):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT)
    model, draft = (
        mujoco.MjModel.from_xml_path(str(path)),
        drafted(Reading(path), contact="none", limits="hard", friction="hard"),
    )
    bodies = ("shelf", "hook", "base", "arm", "mount", "tip", "pad", "nail")
    theirs = {
        "SITE": {"start": "start", 1: "site1", "point": "point", "eye": "eye", "tip": "tip site", "j": "j site", "end": "end"},
        "CAMERA": {"wide": "wide", "eye": "eye camera", "arm": "arm camera"},
        "XBODY": {name: name for name in bodies},
    }
    names = [(kind, number, name) for kind, found in theirs.items() for number, name in found.items()]
    assert {frame.name for frame in draft.world.frames} == {n for _, _, n in names} - {"base", "arm", "tip"}
    assert_as_mujoco(model, draft, lw.Simulation(draft.world, solver=solver), names)


def test_cameras_that_follow_are_left_out_and_told(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><worldbody><body name="b"><joint/><geom size="1"/>\n<camera name="c" mode="targetbody" target="b"/>\n'
                    '<camera name="d"/></body></worldbody></mujoco>')  # fmt: skip
    world = load(path)
    assert [frame.name for frame in world.frames] == ["d"]
    assert [(r.line, r.what) for r in world.remarks] == [(2, 'camera "c"')] and "left out" in world.remarks[0].why


def test_sites_are_taken_to_the_bit(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><worldbody><body><joint/><geom size="1"/><site name="s" pos="0.1 0.7 -0.3"/></body></worldbody></mujoco>'
    )
    (site,) = load(path).frames
    assert site.position.tolist() == [0.1, 0.7, -0.3] and site.orientation.tolist() == [1, 0, 0, 0]
