"""Sensors of MJCF: each type that has a kind here; the others are told in one remark."""

from collections.abc import Callable
from contextlib import contextmanager

import mujoco
import numpy as np

from linkwork.elements import (
    AccelerometerSensor,
    ActuatorForceSensor,
    ActuatorPositionSensor,
    ActuatorVelocitySensor,
    AngularMomentumSensor,
    Box,
    CableLengthSensor,
    CableVelocitySensor,
    Capsule,
    CenterOfMassSensor,
    CenterVelocitySensor,
    ClockSensor,
    Cylinder,
    Ellipsoid,
    ForceSensor,
    Frame,
    FrameAccelerationSensor,
    FrameAngularAccelerationSensor,
    FrameAngularVelocitySensor,
    FrameAxisSensor,
    FrameOrientationSensor,
    FramePositionSensor,
    FrameVelocitySensor,
    GyroSensor,
    JointPositionSensor,
    JointTorqueSensor,
    JointVelocitySensor,
    MagnetometerSensor,
    NoContact,
    RangefinderSensor,
    Sphere,
    TorqueSensor,
    TouchSensor,
    VelocimeterSensor,
)
from linkwork.formats.mjcf.actuators import ON_SITE, ON_TENDON
from linkwork.formats.mjcf.frames import placed
from linkwork.formats.mjcf.tendons import element as tendon_of

TYPES, OBJECTS, GEOMS = mujoco.mjtSensor, mujoco.mjtObj, mujoco.mjtGeom
UNKNOWN, BODY, XBODY, GEOM, SITE, CAMERA = (
    int(getattr(OBJECTS, f"mjOBJ_{name}")) for name in ("UNKNOWN", "BODY", "XBODY", "GEOM", "SITE", "CAMERA")
)
BETWEEN = (int(TYPES.mjSENS_FORCE), int(TYPES.mjSENS_TORQUE))
UNBOUNDED = (int(mujoco.mjtDataType.mjDATATYPE_AXIS), int(mujoco.mjtDataType.mjDATATYPE_QUATERNION))
HINGE_OR_SLIDE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
FREE = int(mujoco.mjtJoint.mjJNT_FREE)

AT_A_FRAME = {"ACCELEROMETER": AccelerometerSensor, "GYRO": GyroSensor, "VELOCIMETER": VelocimeterSensor,
              "FRAMEANGACC": FrameAngularAccelerationSensor}  # fmt: skip
BESIDE_A_FRAME = {"FRAMEPOS": FramePositionSensor, "FRAMEQUAT": FrameOrientationSensor, "FRAMELINVEL": FrameVelocitySensor,
                  "FRAMEANGVEL": FrameAngularVelocitySensor}  # fmt: skip
OF_SUBTREES = {"SUBTREECOM": CenterOfMassSensor, "SUBTREELINVEL": CenterVelocitySensor, "SUBTREEANGMOM": AngularMomentumSensor}
OF_MOTORS = {"ACTUATORPOS": ActuatorPositionSensor, "ACTUATORVEL": ActuatorVelocitySensor, "ACTUATORFRC": ActuatorForceSensor}
ZONES: dict[int, Callable] = {
    int(GEOMS.mjGEOM_SPHERE): lambda x, y, z: Sphere(x),
    int(GEOMS.mjGEOM_CAPSULE): lambda x, y, z: Capsule(x, 2 * y),
    int(GEOMS.mjGEOM_CYLINDER): lambda x, y, z: Cylinder(x, 2 * y),
    int(GEOMS.mjGEOM_BOX): lambda x, y, z: Box(2 * x, 2 * y, 2 * z),
    int(GEOMS.mjGEOM_ELLIPSOID): lambda x, y, z: Ellipsoid(2 * x, 2 * y, 2 * z),
}


class LeftOutError(Exception):
    """Why a sensor has nothing here that it could read."""


@contextmanager
def kept_apart(draft):
    """Meanwhile bodies that a sensor of forces is on are bodies of their own, though nothing moves between them and others:
    MuJoCo's numbers of the body that each one is a part of are changed."""
    model = draft.model
    before = model.body_weldid.copy()
    sensed = [int(model.site_bodyid[model.sensor_objid[s]]) for s in range(model.nsensor) if model.sensor_type[s] in BETWEEN]
    for b in sorted(set(sensed) - {0}):
        root = int(model.body_weldid[b])
        if root == b or not _has_mass(model, b, root):
            continue
        model.body_weldid[b] = b
        for below in range(b + 1, model.nbody):
            if model.body_weldid[below] == root and model.body_weldid[model.body_parentid[below]] == b:
                model.body_weldid[below] = b
    try:
        yield
        if (model.body_weldid != before).any() and draft.choices["contact"] != "none":
            _do_not_touch(draft, before)
    finally:
        model.body_weldid[:] = before


def _do_not_touch(draft, before):
    """Parts of one body do not touch each other, nor what another one of them carries or is carried by."""
    model = draft.model
    parts = [(b, int(before[b])) for b in range(1, model.nbody) if model.body_weldid[b] == b]
    near = {frozenset((b, c)) for b, root in parts for c, other in parts if b < c and root == other != 0}
    split = {root for b, root in parts if b != root}
    near |= {
        frozenset((b, c))
        for b, root in parts
        for c, other in parts
        if b != c and root and {root, other} & split and before[model.body_parentid[other]] == root
    }
    joined = {frozenset((b, int(model.body_weldid[model.body_parentid[b]]))) for b, _ in parts}
    touched = {collider.body for collider in draft.colliders.values()}
    for pair in sorted(map(sorted, near - joined)):
        one, other = (draft.bodies[b] for b in pair)
        if one in touched and other in touched:
            draft.world.add(NoContact(one, other, name=draft.free_name(f"{one.name} and {other.name} apart", "contact")))


def _has_mass(model, b, root):
    """Whether a body and what is fixed to it weigh something, and so does the rest."""
    part = [c for c in range(model.nbody) if model.body_weldid[c] == root and _hangs_on(model, c, b)]
    whole = [c for c in range(model.nbody) if model.body_weldid[c] == root]
    mass = sum(model.body_mass[c] for c in part)
    return mass > 0.0 and (root == 0 or mass < sum(model.body_mass[c] for c in whole))


def _hangs_on(model, b, root):
    """Whether a body is part of the subtree of another one."""
    while b > root:
        b = int(model.body_parentid[b])
    return b == root


def add(draft):
    """All sensors that can be had, after all that they may read."""
    names = {int(getattr(TYPES, name)): name.removeprefix("mjSENS_") for name in vars(TYPES) if name.startswith("mjSENS_")}
    others = []
    for s in range(draft.model.nsensor):
        kind = names[int(draft.model.sensor_type[s])]
        if (make := MAKERS.get(kind)) is None:
            others.append((s, kind))
            continue
        try:
            make(draft, s, kind)
        except LeftOutError as why:
            draft.remark("sensor", s, f"{why}: it is left out")
    if others:
        kinds = ", ".join(sorted({kind.lower() for _, kind in others}))
        draft.remark_all("sensor", [s for s, _ in others], f"there is no such sensor here ({kinds}): left out")
    hidden = (draft.model.geom_contype == 0) & (draft.model.geom_conaffinity == 0)
    seeing = [s for s in range(draft.model.nsensor) if names[int(draft.model.sensor_type[s])] == "RANGEFINDER"]
    if seeing and hidden.any():
        draft.remark_all("sensor", seeing, "rays meet what can be touched, and no geom that is only seen")


def _made(draft, s, make, *arguments, **fields):
    """Make a sensor with the noise, rate, delay and cutoff of the file."""
    model = draft.model
    fields["noise"] = float(model.sensor_noise[s])
    if model.sensor_cutoff[s] > 0.0 and model.sensor_datatype[s] not in UNBOUNDED:
        fields["cutoff"] = float(model.sensor_cutoff[s])
    period, phase = map(float, model.sensor_interval[s])
    if period > 0.0:
        fields["rate"] = 1.0 / period
        if phase:
            draft.remark("sensor", s, f"the phase {phase:g} s of its interval is left out")
    fields["delay"] = float(model.sensor_delay[s])
    draft.sensors[s] = draft.add("sensor", s, make, *arguments, name=draft.name("sensor", s, "sensor"), **fields)


def _frame(draft, kind, number):
    """The element that stands for where something of MuJoCo is."""
    model = draft.model
    if kind == SITE:
        return draft.frames["site", number]
    if kind == CAMERA:
        if ("camera", number) not in draft.frames:
            raise LeftOutError(f'the camera "{draft.label("camera", number)}" is no frame on a body')
        return draft.frames["camera", number]
    if kind == XBODY:
        return draft.bodies[number] if model.body_weldid[number] == number else draft.frames["body", number]
    if kind == BODY:
        return _own(draft, "body", number, number, model.body_ipos[number], model.body_iquat[number], "center")
    if kind == GEOM:
        return _own(
            draft, "geom", number, int(model.geom_bodyid[number]), model.geom_pos[number], model.geom_quat[number], "frame"
        )
    raise LeftOutError("what it is on is no body, site, geom or camera")


def _own(draft, kind, number, b, position, orientation, suffix):
    """A frame that is made for a sensor, once."""
    key = f"{kind} {suffix}", number
    if key not in draft.frames:
        own = placed(draft, b, position, orientation)
        name = draft.free_name(f"{draft.label(kind, number)} {suffix}", suffix)
        draft.frames[key] = draft.add(kind, number, Frame, draft.bodies[b], *own, name=name)
    return draft.frames[key]


def _object(draft, s):
    return _frame(draft, int(draft.model.sensor_objtype[s]), int(draft.model.sensor_objid[s]))


def _reference(draft, s):
    if draft.model.sensor_reftype[s] == UNKNOWN:
        return draft.world.ground
    return _frame(draft, int(draft.model.sensor_reftype[s]), int(draft.model.sensor_refid[s]))


def _at_a_frame(draft, s, kind):
    _made(draft, s, AT_A_FRAME[kind], _object(draft, s))


def _linear_acceleration(draft, s, kind):
    _made(draft, s, FrameAccelerationSensor, _object(draft, s), True)


def _beside_a_frame(draft, s, kind):
    _made(draft, s, BESIDE_A_FRAME[kind], _object(draft, s), reference=_reference(draft, s))


def _axis(draft, s, kind):
    _made(draft, s, FrameAxisSensor, _object(draft, s), np.eye(3)["XYZ".index(kind[5])], reference=_reference(draft, s))


def _magnetometer(draft, s, kind):
    _made(draft, s, MagnetometerSensor, _object(draft, s), np.array(draft.model.opt.magnetic))


def _joint(draft, s):
    j = int(draft.model.sensor_objid[s])
    if draft.model.jnt_type[j] not in HINGE_OR_SLIDE or j not in draft.joints:
        raise LeftOutError(f'the joint "{draft.label("joint", j)}" has no single coordinate')
    return j


def _joint_position(draft, s, kind):
    j = _joint(draft, s)
    _made(draft, s, JointPositionSensor, draft.joints[j], float(draft.model.qpos0[draft.model.jnt_qposadr[j]]))


def _joint_velocity(draft, s, kind):
    _made(draft, s, JointVelocitySensor, draft.joints[_joint(draft, s)])


def _joint_torque(draft, s, kind):
    _made(draft, s, JointTorqueSensor, draft.joints[_joint(draft, s)])
    if (draft.model.actuator_trntype == ON_SITE).any():
        draft.remark("sensor", s, "motors on sites do not count in it")


def _motor(draft, s, kind):
    model, a = draft.model, int(draft.model.sensor_objid[s])
    motors = list(draft.motors.get(a) or [])
    if len(motors) != 1 or isinstance(motors[0].joint, Frame):
        raise LeftOutError(f'the actuator "{draft.label("actuator", a)}" is no motor on a joint or tendon here')
    theirs, ours = float(model.actuator_gear[a][0]), float(motors[0].gear)  # which has the file's gain in it
    given = {"scale": ours / theirs if kind == "ACTUATORFRC" else theirs / ours}
    if kind == "ACTUATORPOS":
        target = int(model.actuator_trnid[a][0])
        on_tendon = int(model.actuator_trntype[a]) == ON_TENDON
        zero = draft.tendons[target][1] if on_tendon else model.qpos0[model.jnt_qposadr[target]]
        given["offset"] = theirs * float(zero)
    _made(draft, s, OF_MOTORS[kind], motors[0], **given)


def _tendon(draft, s, kind):
    found = tendon_of(draft, int(draft.model.sensor_objid[s]))
    if found is None:
        raise LeftOutError("its tendon is left out")
    if kind == "TENDONVEL":
        _made(draft, s, CableVelocitySensor, found[0])
    else:
        _made(draft, s, CableLengthSensor, found[0], found[1])


def _between(draft, s, kind):
    """Forces and torques between a body and its parent: MuJoCo's are those on the body, at the site."""
    model, site = draft.model, int(draft.model.sensor_objid[s])
    b = int(model.site_bodyid[site])
    last = int(model.body_jntadr[b] + model.body_jntnum[b]) - 1
    joint = draft.joints.get(last) if model.body_jntnum[b] else draft.welds.get(b)
    if joint is None:
        raise LeftOutError(f'no joint holds the body "{draft.label("body", b)}"')
    make = ForceSensor if kind == "FORCE" else TorqueSensor
    _made(draft, s, make, joint, draft.frames["site", site])


def _subtree(draft, s, kind):
    model, root = draft.model, int(draft.model.sensor_objid[s])
    if root and model.body_weldid[root] != root:
        raise LeftOutError(f'the body "{draft.label("body", root)}" is a part of another one')
    members = [b for b in range(1, model.nbody) if model.body_weldid[b] == b and _hangs_on(model, b, root)]
    bodies = [draft.bodies[b] for b in members]
    if not any(body.mass for body in bodies):
        raise LeftOutError("nothing of its subtree has mass")
    _made(draft, s, OF_SUBTREES[kind], bodies)


def _touch(draft, s, kind):
    model, site = draft.model, int(draft.model.sensor_objid[s])
    frame = draft.frames["site", site]
    if frame.body is draft.world.ground:
        raise LeftOutError("it is on what never moves")
    _made(draft, s, TouchSensor, frame, ZONES[int(model.site_type[site])](*map(float, model.site_size[site])))


def _rangefinder(draft, s, kind):
    if draft.model.sensor_dim[s] != 1 or draft.model.sensor_objtype[s] != SITE:
        raise LeftOutError("only the distance from a site is told here")
    _made(draft, s, RangefinderSensor, _object(draft, s))


def _clock(draft, s, kind):
    _made(draft, s, ClockSensor)


MAKERS: dict[str, Callable] = {
    **dict.fromkeys(AT_A_FRAME, _at_a_frame),
    **dict.fromkeys(BESIDE_A_FRAME, _beside_a_frame),
    **dict.fromkeys(("FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS"), _axis),
    **dict.fromkeys(("FORCE", "TORQUE"), _between),
    **dict.fromkeys(OF_SUBTREES, _subtree),
    **dict.fromkeys(OF_MOTORS, _motor),
    **dict.fromkeys(("TENDONPOS", "TENDONVEL"), _tendon),
    "FRAMELINACC": _linear_acceleration,
    "MAGNETOMETER": _magnetometer,
    "JOINTPOS": _joint_position,
    "JOINTVEL": _joint_velocity,
    "JOINTACTFRC": _joint_torque,
    "TOUCH": _touch,
    "RANGEFINDER": _rangefinder,
    "CLOCK": _clock,
}
