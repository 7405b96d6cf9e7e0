"""Rotors and massless links in joint coordinates, beside MuJoCo: bodies with several joints, armatures, tendons and motors."""

import mujoco
import numpy as np
import pytest

import linkwork as lw

MODEL = """
<mujoco>
  <option gravity="0.3 -0.2 -9.81"/>
  <worldbody>
    <body name="cart">
      <joint name="x" type="slide" axis="1 0 0" armature="0.7"/>
      <joint name="z" type="slide" axis="0 0.2 1"/>
      <joint name="pitch" type="hinge" axis="0 1 0" pos="0.1 0 0.2" armature="0.05"/>
      <inertial pos="0.05 0.02 -0.1" mass="2" diaginertia="0.1 0.2 0.15"/>
      <site name="hook" pos="0.2 0.1 0.1"/>
      <body name="arm" pos="0.3 0 0" quat="0.9 0.1 -0.3 0.2">
        <joint name="yaw" type="hinge" axis="0 0 1"/>
        <joint name="roll" type="hinge" axis="1 0.3 0" armature="0.3"/>
        <inertial pos="0.2 0 0" mass="0.8" diaginertia="0.02 0.03 0.04"/>
        <site name="pulley" pos="0.1 0 0.1"/>
        <body name="hand" pos="0.4 0.1 0" quat="0.8 -0.2 0.3 0.1">
          <joint name="grip" type="slide" axis="0 1 0" armature="0.02"/>
          <inertial pos="0 0.1 0.1" mass="0.3" diaginertia="0.01 0.02 0.015"/>
          <site name="tip" pos="0 0.2 0.1"/>
        </body>
      </body>
    </body>
    <site name="nail" pos="0 0.3 1"/>
  </worldbody>
  <tendon>
    <spatial name="cable" stiffness="40" damping="1.5" springlength="0.4 0.9">
      <site site="nail"/><site site="hook"/><site site="pulley"/><site site="tip"/>
    </spatial>
  </tendon>
  <actuator>
    <motor name="push" joint="x" gear="3" ctrlrange="-2 2" ctrllimited="true"/>
    <position name="hold" joint="roll" kp="5" kv="0.4" gear="2" forcerange="-1.5 1.5" forcelimited="true"/>
    <velocity name="spin" joint="pitch" kv="0.8" gear="-4"/>
  </actuator>
</mujoco>
"""


def rotation(quaternion):
    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, np.asarray(quaternion, dtype=float))
    return found.reshape(3, 3)


def translated(model, q, qd):
    """The same mechanism, built where the coordinates are q: each joint but the last of a body moves a massless link."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    world = lw.World(gravity=model.opt.gravity)
    at = {0: world.ground}
    for b in range(1, model.nbody):
        body, above = model.body(b), at[model.body_parentid[b]]
        joints = range(body.jntadr[0], body.jntadr[0] + body.jntnum[0])
        for j in joints:
            pose = {"position": data.xpos[b], "orientation": data.xquat[b]}
            if j == joints[-1]:
                inertia = rotation(body.iquat) @ np.diag(body.inertia) @ rotation(body.iquat).T
                link = lw.RigidBody(body.mass[0], inertia, com=body.ipos, name=body.name, **pose)
            else:
                link = lw.RigidBody(0, (0, 0, 0), name=f"{body.name} {j}", **pose)
            world.add(link)
            kind = lw.Slider if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE else lw.Hinge
            joint = world.add(kind(above, link, at=data.xanchor[j], axis=data.xaxis[j], name=model.joint(j).name))
            if model.dof_armature[j] > 0:
                world.add(lw.Armature(joint, model.dof_armature[j]))
            above = link
        at[b] = above
    return world, at


def test_joints_in_a_row_and_rotors_are_those_of_mujoco():
    model = mujoco.MjModel.from_xml_string(MODEL)
    model.tendon_stiffness[:] = model.tendon_damping[:] = 0
    rng = np.random.default_rng(0)
    tree = lw.reduced.compile(translated(model, np.zeros(model.nq), None)[0])
    data = mujoco.MjData(model)
    worst = 0.0
    for _ in range(200):
        q, qd, tau = (rng.normal(size=model.nv) for _ in range(3))
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(model, data)
        extra = data.qfrc_actuator
        order = [tree.velocities(model.joint(j).name).start for j in range(model.nv)]
        own = [np.zeros(model.nv) for _ in range(3)]
        for target, source in zip(own, (q, qd, tau + extra), strict=True):
            target[order] = source
        qdd = lw.reduced.aba(tree, *own)
        worst = max(worst, np.abs(qdd[order] - data.qacc).max() / np.abs(data.qacc).max())
        assert lw.reduced.rnea(tree, own[0], own[1], qdd) == pytest.approx(own[2], abs=1e-9 * np.abs(qdd).max())
        H = np.zeros((model.nv, model.nv))
        for k, e in enumerate(np.eye(model.nv)):
            mujoco.mj_mulM(model, data, H[k], e)
        assert np.abs(lw.reduced.crba(tree, own[0])[np.ix_(order, order)] - H).max() < 1e-10 * np.abs(H).max()
    assert worst < 1e-9, worst


@pytest.mark.parametrize("solver", ["tree", "dense", "aba", "ltdl"])
def test_motors_and_cables_are_those_of_mujoco(solver):
    """Commands, gears, ranges and limits; a tendon with a dead band: longer, slack and shorter. Built at random places."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    data, rng, seen = mujoco.MjData(model), np.random.default_rng(1), set()
    for trial in range(4):
        q, control = 0.4 * rng.normal(size=model.nv), 3 * rng.normal(size=model.nu)
        low = 0.3 + 0.4 * trial
        model.tendon_lengthspring[0] = low, low + 0.5
        world, at = translated(model, q, None)
        position = world.add(lw.Motor("roll", "position", kp=5, kd=0.4, limit=1.5, gear=2, name="hold"))
        world.add(lw.Motor("x", gear=3, range=(-2, 2), name="push"))
        world.add(lw.Motor("pitch", "velocity", kd=0.8, gear=-4, name="spin"))
        sites = [model.site(name) for name in ("nail", "hook", "pulley", "tip")]
        world.add(lw.Cable([(at[int(s.bodyid[0])], s.pos) for s in sites], 40.0, 1.5, (low, low + 0.5), name="cable"))
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, 0, control
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        seen.add(int(np.sign(data.ten_length[0] - low - 0.5) + np.sign(data.ten_length[0] - low)))
        sim = lw.Simulation(world, solver=solver)
        for k in range(model.nu):
            sim.control[model.actuator(k).name] = control[k] - (2 * q[model.joint("roll").dofadr[0]] if k == 1 else 0.0)
        assert position.gear == 2.0
        for b in range(1, model.nbody):
            found = np.zeros(6)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, b, found, 0)
            mine = np.r_[sim.angular_acceleration(at[b]), sim.acceleration(at[b]) - model.opt.gravity]
            assert np.abs(mine - found).max() < 1e-9 * max(1.0, np.abs(found).max()), (trial, b)
    assert len(seen) > 1
