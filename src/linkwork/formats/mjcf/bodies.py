"""Bodies and joints of MJCF: what moves, and what acts in a joint by itself (springs, damping, limits, friction, armature)."""

import mujoco
import numpy as np

from linkwork.elements import (
    Armature,
    Ball,
    Drag,
    Follow,
    HardLimit,
    Hinge,
    JointFriction,
    JointLimit,
    JointSpring,
    Motion,
    Slider,
    Weld,
    Wrench,
)
from linkwork.elements.bodies.rigid import RigidBody
from linkwork.formats.mjcf.softness import spring_like

FREE, BALL, SLIDE, HINGE = (int(kind) for kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL,
                                                   mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE))  # fmt: skip
KINDS = {SLIDE: Slider, HINGE: Hinge, BALL: Ball}


def add(draft):
    """The bodies of a model with the joints to their parents. Bodies without joints are part of their parents."""
    model = draft.model
    draft.bodies[0] = draft.world.ground
    members: list[list[int]] = [[] for _ in range(model.nbody)]
    for b, root in enumerate(model.body_weldid):
        members[root].append(b)
    for b in range(1, model.nbody):
        root = int(model.body_weldid[b])
        if root == b:
            _moving(draft, b, members[b])
        else:
            draft.bodies[b] = draft.bodies[root]
        if model.body_mocapid[b] >= 0:
            name = draft.free_name(f"{draft.bodies[b].name} mocap", "motion")
            draft.add("body", b, Motion, draft.bodies[b], name=name)
    for b in range(1, model.nbody):
        _lift(draft, b)


def _moving(draft, root, members):
    """A body that moves, with all that are fixed to it, and its joints: several are in a row, through links without mass."""
    model, data = draft.model, draft.data
    mass, com, inertia = _inertia(draft, root, members)
    if mass == 0.0 and model.body_mocapid[root] >= 0:  # whatever it weighs, commands move it
        mass, inertia = 1.0, np.diag((0.01, 0.01, 0.01))
    frame = {"position": data.xpos[root], "orientation": data.xquat[root]}
    name = draft.name("body", root, "body")
    body = draft.add("body", root, RigidBody, mass, inertia, com=com, name=name, **frame)
    draft.bodies[root] = body
    joints = range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root])
    before = draft.bodies[int(model.body_parentid[root])]
    if not len(joints) and model.body_mocapid[root] < 0:  # a sensor keeps it apart
        at = data.xpos[root]
        draft.welds[root] = draft.add("body", root, Weld, before, body, at=at, name=draft.free_name(f"{name} weld", "joint"))
    for k, j in enumerate(joints):
        if model.jnt_type[j] == FREE:
            _floating(draft, j, body)
            continue
        after = body
        if k + 1 < len(joints):
            link = draft.free_name(f"{name} link {k + 1}", "link")
            after = draft.add("joint", j, RigidBody, 0.0, (0.0, 0.0, 0.0), name=link, **frame)
        axis = {} if model.jnt_type[j] == BALL else {"axis": data.xaxis[j]}
        kind = KINDS[int(model.jnt_type[j])]
        own = draft.name("joint", j, "joint")
        draft.joints[j] = draft.add("joint", j, kind, before, after, at=data.xanchor[j], name=own, **axis)
        _inside(draft, j, draft.joints[j])
        before = after


def _inertia(draft, root, members):
    """Mass, centre and inertia about it, in the frame of the body `root`, of all members together."""
    model, data = draft.model, draft.data
    R, origin = data.xmat[root].reshape(3, 3), data.xpos[root]
    parts = []
    for b in members:
        Q = R.T @ data.ximat[b].reshape(3, 3)
        parts.append((model.body_mass[b], R.T @ (data.xipos[b] - origin), (Q * model.body_inertia[b]) @ Q.T))
    mass = sum(m for m, _, _ in parts)
    if mass == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    com = sum(m * c for m, c, _ in parts) / mass
    about = sum(I + m * ((c - com) @ (c - com) * np.eye(3) - np.outer(c - com, c - com)) for m, c, I in parts)
    return float(mass), com, (about + about.T) / 2


def _floating(draft, j, body):
    """A free joint: its damping and stiffness act on the body's own velocity and pose."""
    model, dof = draft.model, int(draft.model.jnt_dofadr[j])
    damping = 0.0 if draft.disabled("DAMPER") else float(model.dof_damping[dof])
    stiffness = 0.0 if draft.disabled("SPRING") else float(model.jnt_stiffness[j])
    if damping:
        name = draft.free_name(f"{body.name} damping", "drag")
        draft.add("joint", j, Drag, body, linear=damping, angular=damping, name=name)
    if stiffness:
        name = draft.free_name(f"{body.name} spring", "pull")
        draft.add("joint", j, Follow, body, stiffness=stiffness, angular_stiffness=stiffness, name=name)
    if model.dof_armature[dof]:
        draft.remark("joint", j, f"its armature {model.dof_armature[dof]:g} is left out: nothing turns a free joint")
    if model.dof_frictionloss[dof]:
        draft.remark("joint", j, f"its frictionloss {model.dof_frictionloss[dof]:g} is left out: a free joint has no axis")
    _polynomials(draft, j)


def _inside(draft, j, joint):
    """What acts in a joint by itself."""
    model, dof = draft.model, int(draft.model.jnt_dofadr[j])
    ball = model.jnt_type[j] == BALL
    damping = 0.0 if draft.disabled("DAMPER") else float(model.dof_damping[dof])
    stiffness = 0.0 if draft.disabled("SPRING") else float(model.jnt_stiffness[j])
    if damping or stiffness:
        spring = {"rest": None if ball else _from_start(model, j, model.qpos_spring)}
        name = draft.free_name(f"{joint.name} spring" if stiffness else f"{joint.name} damping", "force")
        draft.add("joint", j, JointSpring, joint, stiffness, damping, name=name, **spring)
    slips = draft.choices["friction"] != "none" and not draft.disabled("FRICTIONLOSS")
    armature, friction = float(model.dof_armature[dof]), float(model.dof_frictionloss[dof]) if slips else 0.0
    for value, what, element in ((armature, "armature", Armature), (friction, "frictionloss", JointFriction)):
        if not value:
            continue
        if ball:
            draft.remark("joint", j, f"its {what} {value:g} is left out: a ball has no axis")
        else:
            draft.add("joint", j, element, joint, value, name=draft.free_name(f"{joint.name} {what}", "part"))
    if model.jnt_limited[j] and draft.choices["limits"] != "none" and not draft.disabled("LIMIT"):
        _limit(draft, j, joint)
    _polynomials(draft, j)


def _polynomials(draft, j):
    model, dof = draft.model, int(draft.model.jnt_dofadr[j])
    if model.jnt_stiffnesspoly[j].any() or model.dof_dampingpoly[dof].any() or model.jnt_springyield[j]:
        draft.remark("joint", j, "its spring and damper are taken as linear and elastic")


def _limit(draft, j, joint):
    model = draft.model
    if model.jnt_type[j] == BALL:
        _ball_limit(draft, j, joint, float(model.jnt_range[j][1]))
        return
    lower, upper = (float(bound - model.qpos0[model.jnt_qposadr[j]]) for bound in model.jnt_range[j])
    name = draft.free_name(f"{joint.name} limit", "stop")
    if draft.choices["limits"] == "hard":
        draft.add("joint", j, HardLimit, joint, lower, upper, name=name)
    else:
        stiffness, damping = _softness(model, j)
        draft.add("joint", j, JointLimit, joint, lower, upper, stiffness=stiffness, damping=damping, name=name)


def _ball_limit(draft, j, joint, most):
    """The largest angle by which a ball may be turned, about any axis."""
    if draft.choices["limits"] == "hard":
        draft.add("joint", j, HardLimit, joint, upper=most, name=draft.free_name(f"{joint.name} limit", "stop"))
    else:
        draft.remark("joint", j, f"it may turn by any angle; MuJoCo's limit is {most:g} rad in all directions")


def _softness(model, j):
    """Stiffness and damping of a limit that moves the joint as MuJoCo's reference acceleration does, with the inertia that
    the joint has as built."""
    return spring_like(model.jnt_solref[j], model.jnt_solimp[j], float(model.dof_M0[model.jnt_dofadr[j]]))


def _from_start(model, j, where):
    """A value of qpos of a joint with one coordinate, counted from as built."""
    at = model.jnt_qposadr[j]
    return float(where[at] - model.qpos0[at])


def _lift(draft, b):
    """Gravity compensation: a force at the body's own centre."""
    model, data = draft.model, draft.data
    share, body = float(model.body_gravcomp[b]), draft.bodies[b]
    if not share or body is draft.world.ground or draft.disabled("GRAVITY"):
        return
    root = int(model.body_weldid[b])
    at = data.xmat[root].reshape(3, 3).T @ (data.xipos[b] - data.xpos[root])
    force = -share * float(model.body_mass[b]) * np.array(model.opt.gravity)
    draft.add("body", b, Wrench, body, force, at=at, name=draft.free_name(f"{draft.label('body', b)} gravcomp", "lift"))


def coordinates(draft, j, qpos, qvel):
    """(joint or floating body, positions, velocities) of MuJoCo's joint j, as lw.reduced has them: numbers of joints with one
    coordinate are counted from as built."""
    model, data = draft.model, draft.data
    at, dof, kind = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]), int(model.jnt_type[j])
    b = int(model.jnt_bodyid[j])
    if kind == FREE:
        turn = qpos[at + 3 : at + 7] / np.linalg.norm(qpos[at + 3 : at + 7])
        spin = _turned(turn, qvel[dof + 3 : dof + 6])
        return draft.bodies[b], np.concatenate([qpos[at : at + 3], turn]), np.concatenate([qvel[dof : dof + 3], spin])
    if kind == BALL:
        as_built, turn = data.xquat[b], qpos[at : at + 4] / np.linalg.norm(qpos[at : at + 4])
        here = product(as_built, turn)
        back = as_built * (1, -1, -1, -1)
        return draft.joints[j], product(here, back), _turned(here, qvel[dof : dof + 3])
    return draft.joints[j], float(qpos[at] - model.qpos0[at]), float(qvel[dof])


def product(a, b):
    found = np.empty(4)
    mujoco.mju_mulQuat(found, np.ascontiguousarray(a), np.ascontiguousarray(b))
    return found


def _turned(quaternion, vector):
    found = np.empty(3)
    mujoco.mju_rotVecQuat(found, np.ascontiguousarray(vector), np.ascontiguousarray(quaternion))
    return found
