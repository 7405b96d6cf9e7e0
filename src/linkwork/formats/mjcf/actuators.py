"""Actuators and tendons of MJCF: motors on joints with one coordinate, springs along paths, ropes."""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import mujoco
import numpy as np

from linkwork.elements import Armature, Cable, JointSpring, Motor, Rope

TRANSMISSIONS = mujoco.mjtTrn
ON_JOINTS = (int(TRANSMISSIONS.mjTRN_JOINT), int(TRANSMISSIONS.mjTRN_JOINTINPARENT))
ON_TENDON = int(TRANSMISSIONS.mjTRN_TENDON)
ELSEWHERE = {ON_TENDON: "a tendon", int(TRANSMISSIONS.mjTRN_SITE): "a site", int(TRANSMISSIONS.mjTRN_BODY): "a body's contacts",
             int(TRANSMISSIONS.mjTRN_SLIDERCRANK): "a slider-crank"}  # fmt: skip
LAST_GROUP = 30  # that <option actuatorgroupdisable> can switch off
WRAP_JOINT, WRAP_SITE = int(mujoco.mjtWrap.mjWRAP_JOINT), int(mujoco.mjtWrap.mjWRAP_SITE)
FIXED, NO_BIAS, AFFINE = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)


class Drive(NamedTuple):
    """What an actuator has of a joint."""

    joint: int
    gear: float
    length: float  # of the actuator, where the joint's coordinate is zero


def add(draft):
    """The motors, and what tendons do by themselves."""
    if not draft.disabled("ACTUATION"):
        driven = [_driven(draft, a) for a in range(draft.model.nactuator)]
        counts = Counter(drive.joint for drives in driven for drive in drives)
        for a, drives in enumerate(driven):
            one = drives if len(drives) < 2 or not _follows(draft.model, a) else _as_one(draft, drives)
            if drives and _is_linear(draft, a, len(one)):
                for drive in one:
                    _actuator(draft, a, drive, len(one) > 1, one is drives and counts[drive.joint] == 1)
    for t in range(draft.model.ntendon):
        _tendon(draft, t)


def _driven(draft, a):
    """The Drives of an actuator: several by a tendon that is a sum of joints. None: with a remark."""
    model = draft.model
    kind, target, gear = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0]), float(model.actuator_gear[a][0])
    joints = None
    if kind in ON_JOINTS:
        joints = [(target, gear)]
    elif kind == ON_TENDON:
        joints = [(j, gear * coefficient) for j, coefficient in fixed_tendon(model, target) or () if coefficient]
    if not joints:
        what = ELSEWHERE.get(kind, "no joint")
        draft.remark("actuator", a, f"it drives {what}, which no motor does here: it is left out")
        return []
    for j, _ in joints:
        if not getattr(draft.joints.get(j), "has_coordinate", False):
            draft.remark("actuator", a, f'it drives the joint "{draft.label("joint", j)}", which has no single coordinate: '
                         "it is left out")  # fmt: skip
            return []
    return [Drive(j, g, g * float(model.qpos0[model.jnt_qposadr[j]])) for j, g in joints]


def _follows(model, a):
    """Whether its force depends on its length or speed."""
    return _bias(model, a).any() or model.actuator_armature[a] or model.actuator_damping[a]


def _as_one(draft, drives):
    """Drives of joints that gears couple all to one of them, as that one's; others as they are."""
    leaders, gear, length = set(), 0.0, 0.0
    for drive in drives:
        joint, ratio, offset = draft.joints[drive.joint], 1.0, 0.0
        for _ in draft.coupled:  # no way along gears is longer, unless it goes in a circle
            if joint in draft.coupled:
                joint, more, constant = draft.coupled[joint]
                ratio, offset = ratio * more, offset + ratio * constant
        leaders.add(joint)
        gear, length = gear + drive.gear * ratio, length + drive.length + drive.gear * offset
    numbers = [j for j, joint in draft.joints.items() if joint in leaders]
    return [Drive(numbers[0], gear, length)] if len(leaders) == 1 else drives


def _is_linear(draft, a, joints):
    """Whether its force is linear in its command, length and speed; of several joints, in its command alone."""
    model = draft.model
    if 0 <= model.actuator_group[a] <= LAST_GROUP and model.opt.disableactuator >> int(model.actuator_group[a]) & 1:
        draft.remark("actuator", a, "its group is switched off in the file: it is left out")
        return False
    if int(model.actuator_gaintype[a]) != FIXED or int(model.actuator_biastype[a]) not in (NO_BIAS, AFFINE):
        draft.remark("actuator", a, "its force is not linear in its command, length and speed: it is left out")
        return False
    if joints > 1 and _follows(model, a):
        draft.remark("actuator", a, "its force depends on the length or speed of a tendon of several joints: it is left out")
        return False
    if model.actuator_dyntype[a] != int(mujoco.mjtDyn.mjDYN_NONE) or model.actuator_delay[a]:
        draft.remark("actuator", a, "its command acts at once, without the file's filter or delay")
    if model.actuator_trntype[a] == ON_TENDON and model.tendon_actfrclimited[int(model.actuator_trnid[a][0])]:
        draft.remark("actuator", a, "the actuatorfrcrange of its tendon is left out")
    if joints > 1:
        draft.remark("actuator", a, f"it is {joints} motors, one on each joint of its tendon: give all of them its command")
    return True


def _bias(model, a):
    return np.array(model.actuator_biasprm[a][:3], dtype=float) * (int(model.actuator_biastype[a]) == AFFINE)


def _actuator(draft, a, drive, shared, alone):
    """f = gain u + b0 + b1 l + b2 l', with the length l, as the motor that it is."""
    model, (j, gear, length) = draft.model, drive
    joint, gain, bias = draft.joints[j], float(model.actuator_gainprm[a][0]), _bias(model, a)
    bias[0] += bias[1] * length  # here coordinates are zero as built, lengths are not
    name = draft.name("actuator", a, "motor")
    if shared:
        name = draft.free_name(f"{draft.label('actuator', a)} on {joint.name}", "motor")
    given = {"name": name, "gear": gear, "range": _range(draft, a)}
    if gear:
        _rotor(draft, a, joint, gear)
    limit = _limit(draft, a, j, gear, alone)
    motors = draft.motors.setdefault(a, [])
    if gear == 0.0 or (gain == 0.0 and not bias.any()):
        draft.remark("actuator", a, "its gain or its gear is zero: it drives nothing")
    elif not bias.any():
        own = {**given, "gear": gear * gain, "limit": limit and limit / abs(gain)}
        motors.append(draft.add("actuator", a, Motor, joint, "torque", **own))
    elif gain > 0.0 and bias[0] == 0.0 and bias[1] == -gain and bias[2] <= 0.0:
        motors.append(draft.add("actuator", a, Motor, joint, "position", kp=gain, kd=-float(bias[2]), limit=limit, **given))
    elif gain > 0.0 and bias[0] == bias[1] == 0.0 and bias[2] == -gain:
        motors.append(draft.add("actuator", a, Motor, joint, "velocity", kd=gain, limit=limit, **given))
    else:
        motors += _in_two(draft, a, joint, gain, bias, limit, given)


def _in_two(draft, a, joint, gain, bias, limit, given):
    """A force that no single motor has: the part of the command by a motor, the rest by a spring and damper."""
    gear = given["gear"]
    stiffness, damping, constant = -bias[1] * gear**2, -bias[2] * gear**2, bias[0] * gear
    if stiffness < 0.0 or damping < 0.0 or (stiffness == 0.0 and constant):
        draft.remark("actuator", a, "its bias is no spring and no damper: it is left out")
        return []
    if limit is not None:
        draft.remark("actuator", a, f"its force is not held within {limit:g}, for it is a motor and a spring here")
    rest = float(constant / stiffness) if stiffness else 0.0
    name = draft.free_name(f"{given['name']} bias", "spring")
    draft.add("actuator", a, JointSpring, joint, float(stiffness), float(damping), rest=rest, name=name)
    return [draft.add("actuator", a, Motor, joint, "torque", **{**given, "gear": gear * gain})] if gain else []


def _rotor(draft, a, joint, gear):
    """Inertia and damping of the actuator itself, as the joint feels them."""
    model = draft.model
    own = draft.label("actuator", a)
    if model.actuator_armature[a]:
        inertia = float(model.actuator_armature[a]) * gear**2
        draft.add("actuator", a, Armature, joint, inertia, name=draft.free_name(f"{own} rotor", "armature"))
    if model.actuator_damping[a] and not draft.disabled("DAMPER"):
        damping = float(model.actuator_damping[a]) * gear**2
        draft.add("actuator", a, JointSpring, joint, 0.0, damping, name=draft.free_name(f"{own} damping", "drag"))
    if model.actuator_dampingpoly[a].any():
        draft.remark("actuator", a, "its damping is taken as linear")


def _range(draft, a):
    """Where its command is held, if anywhere."""
    if not draft.model.actuator_ctrllimited[a] or draft.disabled("CLAMPCTRL"):
        return None
    return tuple(map(float, draft.model.actuator_ctrlrange[a]))


def _limit(draft, a, j, gear, alone):
    """The largest force, by the actuator's own range and the joint's."""
    model, found = draft.model, []
    if model.actuator_forcelimited[a]:
        found.append(_symmetric(draft, a, "forcerange", model.actuator_forcerange[a]))
    if model.jnt_actfrclimited[j]:
        if alone and gear:
            found.append(_symmetric(draft, a, "actuatorfrcrange of its joint", model.jnt_actfrcrange[j]) / abs(gear))
            if model.jnt_actgravcomp[j]:
                draft.remark("actuator", a, "gravity compensation is left out of what the actuatorfrcrange of its joint bounds")
        else:
            draft.remark("actuator", a, "the actuatorfrcrange of its joint is left out: others share it")
    return min(found) if found else None


def _symmetric(draft, a, what, bounds):
    lower, upper = map(float, bounds)
    if lower != -upper:
        draft.remark("actuator", a, f"its {what} from {lower:g} to {upper:g} is taken as +-{max(-lower, upper):g}")
    return max(-lower, upper)


def fixed_tendon(model, t):
    """[(number of the joint, coefficient)] of a tendon that is a sum of joints; None of others."""
    span = range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t])
    if any(model.wrap_type[w] != WRAP_JOINT for w in span):
        return None
    return [(int(model.wrap_objid[w]), float(model.wrap_prm[w])) for w in span]


def path(draft, t):
    """([(body, point in its frame)], m of its ends that keep their length) of a tendon through sites, from body to body; None
    where it wraps, forks, or runs along a body in between."""
    model, data = draft.model, draft.data
    found = []
    for w in range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t]):
        if model.wrap_type[w] != WRAP_SITE:
            return None
        site = int(model.wrap_objid[w])
        body, root = draft.bodies[int(model.site_bodyid[site])], int(model.body_weldid[model.site_bodyid[site]])
        found.append((body, data.xmat[root].reshape(3, 3).T @ (data.site_xpos[site] - data.xpos[root])))
    fixed = 0.0
    for end, beside in ((0, 1), (-1, -2)):
        while len(found) > 1 and found[end][0] is found[beside][0]:
            fixed += float(np.linalg.norm(found[end][1] - found[beside][1]))
            del found[end]
    along = any(one[0] is other[0] for one, other in pairwise(found))
    return None if along or len(found) < 2 else (found, fixed)


def _tendon(draft, t):
    """Stiffness, damping and length of a tendon."""
    model, there = draft.model, path(draft, t)
    stiffness = 0.0 if draft.disabled("SPRING") else float(model.tendon_stiffness[t])
    damping = 0.0 if draft.disabled("DAMPER") else float(model.tendon_damping[t])
    if stiffness or damping:
        if there is None:
            draft.remark("tendon", t, "its stiffness and damping are left out: it is no path through sites from body to body")
        else:
            points, fixed = there
            rest = tuple(max(0.0, float(length) - fixed) for length in model.tendon_lengthspring[t])
            name = draft.name("tendon", t, "cable")
            draft.add("tendon", t, Cable, points, stiffness, damping=damping, rest=rest, name=name)
    if model.tendon_limited[t] and draft.choices["limits"] != "none" and not draft.disabled("LIMIT"):
        _rope(draft, t, there)
    for what in ("frictionloss", "armature"):
        if getattr(model, f"tendon_{what}")[t]:
            draft.remark("tendon", t, f"its {what} is left out")
    if model.tendon_stiffnesspoly[t].any() or model.tendon_dampingpoly[t].any() or model.tendon_springyield[t]:
        draft.remark("tendon", t, "its spring and damper are taken as linear and elastic")


def _rope(draft, t, there):
    lower, upper = map(float, draft.model.tendon_range[t])
    points, fixed = there or ([], 0.0)
    if len(points) != 2 or lower > 0.0 or upper <= fixed:
        draft.remark("tendon", t, f"its length is not held within {lower:g} and {upper:g} m: it is no rope between two bodies")
        return
    (a, on_a), (b, on_b) = points
    name = draft.free_name(f"{draft.label('tendon', t)} rope", "rope")
    draft.add("tendon", t, Rope, a, b, upper - fixed, on_a=on_a, on_b=on_b, name=name)
