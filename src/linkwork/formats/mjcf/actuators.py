"""Actuators of MJCF: motors on joints with one coordinate, on tendons, and on sites."""

from collections import Counter
from typing import Any, NamedTuple

import mujoco
import numpy as np

from linkwork.elements import Armature, JointSpring, Motor
from linkwork.formats.mjcf import frames as mjcf_frames
from linkwork.formats.mjcf import tendons as mjcf_tendons

TRANSMISSIONS = mujoco.mjtTrn
ON_JOINTS = (int(TRANSMISSIONS.mjTRN_JOINT), int(TRANSMISSIONS.mjTRN_JOINTINPARENT))
ON_TENDON, ON_SITE = int(TRANSMISSIONS.mjTRN_TENDON), int(TRANSMISSIONS.mjTRN_SITE)
REFUSED = {int(TRANSMISSIONS.mjTRN_BODY): "adhesion is left out: contact pushes and does not pull here",
           int(TRANSMISSIONS.mjTRN_SLIDERCRANK): "it drives a slider-crank, as no motor does: it is left out"}  # fmt: skip
LAST_GROUP = 30  # that <option actuatorgroupdisable> can switch off
GAINS = tuple(int(getattr(mujoco.mjtGain, f"mjGAIN_{name}")) for name in ("FIXED", "AFFINE"))
NO_BIAS, AFFINE = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
NONE, *FILTERS = (int(getattr(mujoco.mjtDyn, f"mjDYN_{name}")) for name in ("NONE", "FILTER", "FILTEREXACT"))


class Drive(NamedTuple):
    """What an actuator acts along."""

    moved: Any  # a joint, tendon or frame
    gear: Any  # a number; of frames six
    offset: float  # of MuJoCo's length, where the moved is at zero
    reference: Any = None  # of a frame


def add(draft):
    """The motors, and what is beside them in the joints."""
    if draft.disabled("ACTUATION"):
        return
    drives = {a: drive for a in range(draft.model.nactuator) if (drive := _driven(draft, a)) is not None}
    counts = Counter(id(drive.moved) for drive in drives.values())
    for a, drive in drives.items():
        if _is_linear(draft, a):
            _actuator(draft, a, drive, counts[id(drive.moved)] == 1)


def _driven(draft, a):
    """The Drive of an actuator; None with a remark."""
    model = draft.model
    kind, target, gear = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0]), float(model.actuator_gear[a][0])
    if kind in ON_JOINTS:
        joint = draft.joints.get(target)
        if getattr(joint, "has_coordinate", False):
            return Drive(joint, gear, float(model.qpos0[model.jnt_qposadr[target]]))
        draft.remark("actuator", a, f'it drives the joint "{draft.label("joint", target)}", which has no single coordinate: '
                     "it is left out")  # fmt: skip
        return None
    if kind == ON_TENDON:
        found = mjcf_tendons.element(draft, target)
        if found is None:
            draft.remark("actuator", a, f'it drives the tendon "{draft.label("tendon", target)}": it is left out with that')
        return found and Drive(found[0], gear, found[1])
    if kind == ON_SITE:
        return _on_site(draft, a, target, int(model.actuator_trnid[a][1]))
    draft.remark("actuator", a, REFUSED.get(kind, "it drives what no motor does here: it is left out"))
    return None


def _on_site(draft, a, site, reference):
    """A motor on the frame of a site, in the axes of another one if there is a reference."""
    model, bodies = draft.model, [int(draft.model.site_bodyid[s]) for s in (site, reference) if s >= 0]
    if len({id(draft.bodies[b]) for b in bodies}) < len(bodies) or all(draft.bodies[b] is draft.world.ground for b in bodies):
        draft.remark("actuator", a, "its site does not move from where its force is told: it drives nothing")
        return None
    if len(bodies) == 2 and bodies[1] and int(model.body_weldid[bodies[1]]) not in _above(model, bodies[0]):
        draft.remark("actuator", a, "its opposite acts at its site, where MuJoCo has it at the reference site: they are on "
                     "different branches")  # fmt: skip
    frames = [mjcf_frames.of_site(draft, s) for s in (site, reference) if s >= 0]
    return Drive(frames[0], tuple(map(float, model.actuator_gear[a])), 0.0, *frames[1:])


def _above(model, b):
    """The bodies that carry a body, and itself."""
    found = {int(model.body_weldid[b])}
    while b:
        b = int(model.body_parentid[b])
        found.add(int(model.body_weldid[b]))
    return found


def _is_linear(draft, a):
    """Whether it is switched on, and its force is linear in its length and speed for each command."""
    model = draft.model
    if 0 <= model.actuator_group[a] <= LAST_GROUP and model.opt.disableactuator >> int(model.actuator_group[a]) & 1:
        draft.remark("actuator", a, "its group is switched off in the file: it is left out")
        return False
    if int(model.actuator_gaintype[a]) not in GAINS or int(model.actuator_biastype[a]) not in (NO_BIAS, AFFINE):
        draft.remark("actuator", a, "its force is not linear in its command, length and speed: it is left out")
        return False
    if int(model.actuator_dyntype[a]) not in (NONE, *FILTERS):
        draft.remark("actuator", a, "what it makes of its command is no filter of first order: it is left out")
        return False
    if model.actuator_delay[a]:
        draft.remark("actuator", a, "its command acts without the file's delay")
    if model.actuator_actlimited[a] and not _holds(model, a):
        draft.remark("actuator", a, "its activation is not held within its actrange")
    if model.actuator_actearly[a]:
        draft.remark("actuator", a, "its force follows from the activation of now, and not from that a step later (actearly)")
    return True


def _holds(model, a):
    """Whether the range of commands holds the activation within its own."""
    (lower, upper), (least, most) = model.actuator_ctrlrange[a], model.actuator_actrange[a]
    return bool(model.actuator_ctrllimited[a]) and least <= lower and upper <= most


def _laws(model, a, offset):
    """(gain, bias) of length and speed that are counted from where the moved is at zero."""
    gain, bias = (np.array(prm[a][:3], dtype=float) for prm in (model.actuator_gainprm, model.actuator_biasprm))
    gain[1:] *= int(model.actuator_gaintype[a]) == GAINS[1]
    bias *= int(model.actuator_biastype[a]) == AFFINE
    gain[0] += gain[1] * offset
    bias[0] += bias[1] * offset
    return gain, bias


def _actuator(draft, a, drive, alone):
    """f = u (g0 + g1 l + g2 l') + b0 + b1 l + b2 l', with the length l, as the motor that it is."""
    model, gear = draft.model, drive.gear
    single = not isinstance(gear, tuple)
    gain, bias = _laws(model, a, gear * drive.offset if single else 0.0)
    given = {"gear": gear, "range": _range(draft, a), "name": draft.name("actuator", a, "motor")}
    given["filter"] = float(model.actuator_dynprm[a][0]) if int(model.actuator_dyntype[a]) in FILTERS else None
    if drive.reference is not None:
        given["reference"] = drive.reference
    if np.any(gear):
        _rotor(draft, a, drive)
    limit = _limit(draft, a, drive, alone)
    if not np.any(gear) or not (gain.any() or bias.any()):
        draft.remark("actuator", a, "its gain or its gear is zero: it drives nothing")
        return
    if drive.reference is None and not single and (gain[1] or bias[1]):
        draft.remark("actuator", a, "a site without a reference has the length zero: what depends on it is left out")
        gain[1] = bias[1] = 0.0
    kind, own = _kind(gain, bias)
    if kind == "torque" and single:
        own, limit = {"gear": gear * gain[0]}, _scaled(limit, 1.0 / gain[0])
    elif kind == "torque" and gain[0] != 1.0:
        kind, own = "general", {"gain": tuple(gain), "bias": tuple(bias)}
    draft.motors[a] = [draft.add("actuator", a, Motor, drive.moved, kind, limit=_told(limit), **{**given, **own})]


def _kind(gain, bias):
    """(kind of motor, its gains)."""
    g = float(gain[0])
    if not gain[1:].any():
        if not bias.any():
            return "torque", {}
        if g > 0.0 and bias[0] == 0.0 and bias[1] == -g and bias[2] <= 0.0:
            return "position", {"kp": g, "kd": -float(bias[2])}
        if g > 0.0 and bias[0] == bias[1] == 0.0 and bias[2] == -g:
            return "velocity", {"kd": g}
    if gain[0] == gain[1] == 0.0 and gain[2] < 0.0 and not bias.any():
        return "damper", {"kd": -float(gain[2])}
    return "general", {"gain": tuple(map(float, gain)), "bias": tuple(map(float, bias))}


def _rotor(draft, a, drive):
    """Inertia and damping of the actuator itself, as the joint feels them."""
    model, own = draft.model, draft.label("actuator", a)
    joint = drive.moved if getattr(drive.moved, "has_coordinate", False) else None
    for what in ("armature", "damping"):
        value = float(getattr(model, f"actuator_{what}")[a])
        if not value or (what == "damping" and draft.disabled("DAMPER")):
            continue
        if joint is None:
            draft.remark("actuator", a, f"its own {what} is left out: it drives no joint")
        elif what == "armature":
            name = draft.free_name(f"{own} rotor", "armature")
            draft.add("actuator", a, Armature, joint, value * drive.gear**2, name=name)
        else:
            name = draft.free_name(f"{own} damping", "drag")
            draft.add("actuator", a, JointSpring, joint, 0.0, value * drive.gear**2, name=name)
    if model.actuator_dampingpoly[a].any():
        draft.remark("actuator", a, "its damping is taken as linear")


def _range(draft, a):
    """Where its command is held, if anywhere."""
    if not draft.model.actuator_ctrllimited[a] or draft.disabled("CLAMPCTRL"):
        return None
    return tuple(map(float, draft.model.actuator_ctrlrange[a]))


def _limit(draft, a, drive, alone):
    """(lower, upper) of the force, by the actuator's own range and that of what it moves; None without."""
    model, found = draft.model, []
    if model.actuator_forcelimited[a]:
        found.append(tuple(map(float, model.actuator_forcerange[a])))
    kind, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0])
    of = "jnt" if kind in ON_JOINTS else "tendon" if kind == ON_TENDON else None
    if of is not None and getattr(model, f"{of}_actfrclimited")[target]:
        what = "joint" if of == "jnt" else "tendon"
        if alone and drive.gear:
            found.append(_scaled(tuple(map(float, getattr(model, f"{of}_actfrcrange")[target])), 1.0 / drive.gear))
            if of == "jnt" and model.jnt_actgravcomp[target]:
                draft.remark("actuator", a, "gravity compensation is left out of what the actuatorfrcrange of its joint bounds")
        else:
            draft.remark("actuator", a, f"the actuatorfrcrange of its {what} is left out: others share it")
    return (max(lower for lower, _ in found), min(upper for _, upper in found)) if found else None


def _scaled(limit, by):
    return limit and tuple(sorted(end * by for end in limit))


def _told(limit):
    """As a Motor has it: one number where both ends are alike."""
    return float(limit[1]) if limit and limit[0] == -limit[1] and limit[1] > 0.0 else limit
