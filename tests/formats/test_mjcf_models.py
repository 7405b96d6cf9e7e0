"""Models within models of MJCF: what `attach` puts together is what MuJoCo makes of the same files, told by file and line."""

import re
import warnings

import mujoco
import numpy as np
import pytest

import linkwork as lw

ARM = """<mujoco model="arm">
  <compiler angle="degree" meshdir="shapes"/>
  <default><joint damping="0.5" armature="0.01"/></default>
  <asset><mesh name="tip" file="tip.obj"/>{more}</asset>
  <worldbody>
    <body name="upper" pos="0 0 0.5"><joint name="shoulder" axis="0 1 0" range="-90 90"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
      <body name="lower" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
        <geom type="mesh" mesh="tip" pos="0.3 0 0"/>{inner}</body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow" name="drive" gear="3"/></actuator>
</mujoco>"""
PLAIN = ARM.format(more="", inner="")
MAIN = """<mujoco>
  <asset><model name="arm" file="parts/arm.xml"/></asset>
  <worldbody>
    <body name="cart"><joint type="slide" axis="1 0 0" name="rail"/><geom size="0.2"/>
      <frame pos="0.3 0 0"><attach model="arm" body="upper" prefix="left "/></frame>
      <frame pos="-0.3 0 0" euler="0 0 90"><attach model="arm" body="upper" prefix="right "/></frame>
    </body>
  </worldbody>
</mujoco>"""
TIP = "v 0 0 0\nv 0.05 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def folder(tmp_path):
    """A model, and parts of it in a folder below."""

    def written(main=MAIN, arm=PLAIN):
        (tmp_path / "parts" / "shapes").mkdir(parents=True, exist_ok=True)
        (tmp_path / "parts" / "shapes" / "tip.obj").write_text(TIP)
        (tmp_path / "parts" / "arm.xml").write_text(arm)
        (tmp_path / "main.xml").write_text(main)
        return tmp_path / "main.xml"

    return written


def loaded(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(str(path), **options)


def test_what_is_attached_moves_as_in_mujoco(folder):
    path = folder()
    world = loaded(path, contact="none", limits="none")
    assert [body.name for body in world.bodies] == ["cart", "left upper", "left lower", "right upper", "right lower"]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    sim, rng = lw.Simulation(world, solver="aba"), np.random.default_rng(0)
    for _ in range(20):
        data.qpos[:] = rng.uniform(-1, 1, model.nv)  # at rest, where accelerations are J qacc
        data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        mujoco.mj_forward(model, data)
        sim.set_state(q=data.qpos, qd=data.qvel)
        sim.control.commands = data.ctrl
        for name in ("left lower", "right upper"):
            assert np.allclose(sim.position(name), data.body(name).xpos, atol=1e-12)
            linear = np.zeros((3, model.nv))
            mujoco.mj_jacBody(model, data, linear, None, model.body(name).id)
            assert np.allclose(sim.acceleration(name), linear @ data.qacc, rtol=1e-9, atol=1e-9)


def test_what_is_told_names_the_file_and_line_of_the_part(folder):
    path = folder(arm=ARM.format(more="", inner='<geom size="0.1" pos="0 0 -0.2" margin="0.1"/>'))
    told = [remark for remark in loaded(path).remarks if "margin" in remark.why]
    assert [(remark.file.replace("\\\\", "/").rsplit("/", 2)[-2:], remark.line) for remark in told] == [
        (["parts", "arm.xml"], 8)
    ]


def test_parts_have_parts(folder):
    inner = '<frame pos="0.3 0 0"><attach model="hand" body="palm" prefix="hand "/></frame>'
    path = folder(arm=ARM.format(more='<model name="hand" file="hand.xml"/>', inner=inner))
    (path.parent / "parts" / "hand.xml").write_text(
        '<mujoco model="hand"><worldbody><body name="palm"><joint name="wrist" axis="1 0 0"/><geom size="0.05"/></body></worldbody></mujoco>'
    )
    world = loaded(path)
    assert "left hand palm" in world
    assert "right hand wrist" in world
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.nv == len(lw.Simulation(world).qd)


def refused(words, path, line, file):
    with pytest.raises(lw.LinkworkError, match=re.escape(words)) as told:
        loaded(path)
    assert re.search(rf"{file}:{line}: ", str(told.value)), told.value


def test_what_cannot_be_attached_is_refused_by_file_and_line(folder):
    def main(asset='<model name="arm" file="parts/arm.xml"/>', attach='<attach model="arm" body="upper" prefix="a "/>'):
        return f"<mujoco><asset>\n{asset}</asset><worldbody>\n{attach}</worldbody></mujoco>"

    refused('there is no file "arm.xml"', folder(main('<model name="arm" file="arm.xml"/>')), 2, "main.xml")
    refused("lies outside of the folder", folder(main('<model name="arm" file="/etc/passwd"/>')), 2, "main.xml")
    refused("it names no file", folder(main('<model name="arm"/>')), 2, "main.xml")
    refused('no model is called "leg"', folder(main(attach='<attach model="leg" body="upper" prefix="a "/>')), 3, "main.xml")
    refused("MuJoCo's compiler refuses it", folder(main(attach='<attach model="arm" body="leg" prefix="a "/>')), 3, "main.xml")
    many = '<replicate count="3000">' + main().split("<worldbody>\n")[1].split("</worldbody>")[0] + "</replicate>"
    refused("there are more than 20000 elements", folder(main(attach=many)), 3, "main.xml")
    refused("size is nan", folder(main(), ARM.format(more="", inner='\n<geom size="nan"/>')), 9, "arm.xml")
    circle = ARM.format(more='\n<model name="whole" file="../main.xml"/>', inner="")
    refused('"../main.xml" is attached to itself', folder(main(), circle), 5, "arm.xml")


def test_an_equality_of_links_without_mass_is_a_spring_as_stiff_as_mujocos(tmp_path):
    (
        tmp_path / "leg.xml"
    ).write_text("""<mujoco><compiler angle="radian"/><worldbody><body name="hip" pos="0 0 1"><joint name="yaw" axis="0 0 1"/>
      <joint name="lift" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><body name="knee" pos="0.3 0 0">
      <joint name="bend" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/><body name="foot" pos="0.3 0 0">
      <joint name="tilt" axis="0 1 0"/><geom size="0.04" pos="0.1 0 0"/></body></body></body></worldbody>
      <tendon><fixed name="even"><joint joint="lift" coef="1"/><joint joint="bend" coef="0.5"/><joint joint="tilt" coef="1"/></fixed></tendon>
      <equality><tendon name="level" tendon1="even"/></equality></mujoco>""")
    world = loaded(tmp_path / "leg.xml", contact="none")
    assert [remark.why for remark in world.remarks] == [
        "it ties links without mass, and is a spring, as stiff as MuJoCo's as built"
    ]
    sim = lw.Simulation(world, dt=5e-4)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "leg.xml"))
    model.opt.timestep, data = 5e-4, mujoco.MjData(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for _ in range(4):
        sim.step(100)
        mujoco.mj_step(model, data, 100)
        assert np.abs(sim.q - data.qpos).max() < 0.05
        assert abs(sim.q @ [0.0, 1.0, 0.5, 1.0]) < 0.05


def test_stiff_robots_with_links_without_mass_run_by_default(tmp_path):
    (tmp_path / "box.xml").write_text("""<mujoco><worldbody><site name="peg" pos="0 0 1"/><body name="box">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>
      <geom size="0.05"/><site name="hook" pos="0.05 0 0"/></body></worldbody>
      <tendon><spatial name="tie" stiffness="1e7"><site site="peg"/><site site="hook"/></spatial></tendon></mujoco>""")
    sim = lw.Simulation(loaded(tmp_path / "box.xml", contact="none"), dt=1e-3)
    assert (sim.solver, sim.integrator_name) == ("aba", "joint-implicit")
    assert '"box link 1" has no mass' in sim.choice.reason
