"""Tendons of MJCF: sums of joints and paths through sites, with springs, limits and dry friction."""

from itertools import pairwise

import mujoco
import numpy as np

from linkwork.elements import Cable, FixedTendon, HardLimit, JointFriction, Rope

WRAP_JOINT, WRAP_SITE = int(mujoco.mjtWrap.mjWRAP_JOINT), int(mujoco.mjtWrap.mjWRAP_SITE)


def add(draft):
    """What tendons do by themselves."""
    model = draft.model
    for t in range(model.ntendon):
        if any(_spring(draft, t)):
            element(draft, t)
        if model.tendon_limited[t] and draft.choices["limits"] != "none" and not draft.disabled("LIMIT"):
            _limit(draft, t)
        slips = draft.choices["friction"] != "none" and not draft.disabled("FRICTIONLOSS")
        if slips and model.tendon_frictionloss[t] and (found := element(draft, t)):
            name = draft.free_name(f"{draft.label('tendon', t)} frictionloss", "friction")
            draft.add("tendon", t, JointFriction, found[0], float(model.tendon_frictionloss[t]), name=name)
        if model.tendon_armature[t]:
            draft.remark("tendon", t, "its armature is left out")
        if model.tendon_stiffnesspoly[t].any() or model.tendon_dampingpoly[t].any() or model.tendon_springyield[t]:
            draft.remark("tendon", t, "its spring and damper are taken as linear and elastic")


def element(draft, t):
    """(the tendon's FixedTendon or Cable, by how much MuJoCo's length is larger), made when it is first asked for; None where
    there is none, which is told."""
    if t not in draft.tendons:
        draft.tendons[t] = _made(draft, t)
    return draft.tendons[t]


def _made(draft, t):
    model, (stiffness, damping) = draft.model, _spring(draft, t)
    joints, there = fixed_tendon(model, t), path(draft, t)
    name = draft.name("tendon", t, "tendon" if joints else "cable")
    spring = np.array(model.tendon_lengthspring[t], dtype=float)
    if joints is not None:
        moved = [(draft.joints.get(j), c) for j, c in joints if c]
        if not moved or not all(getattr(joint, "has_coordinate", False) for joint, _ in moved):
            draft.remark("tendon", t, "a joint of it has no single coordinate: it is left out, and all that acts on it")
            return None
        names, weights = zip(*moved, strict=True)
        offset = float(model.tendon_length0[t])
        own = {"stiffness": stiffness, "damping": damping, "rest": tuple(spring - offset) if stiffness else None}
        return draft.add("tendon", t, FixedTendon, names, weights, name=name, **own), offset
    if there is None:
        why = "it wraps around a geom, branches, or runs along a body: it is left out, and all that acts on it"
        draft.remark("tendon", t, why)
        return None
    points, fixed = there
    rest = tuple(max(0.0, float(length) - fixed) for length in spring)
    return draft.add("tendon", t, Cable, points, stiffness, damping=damping, rest=rest, name=name), fixed


def _spring(draft, t):
    """(stiffness, damping)."""
    model = draft.model
    stiffness = 0.0 if draft.disabled("SPRING") else float(model.tendon_stiffness[t])
    return stiffness, 0.0 if draft.disabled("DAMPER") else float(model.tendon_damping[t])


def _limit(draft, t):
    """A rope of two points that only pulls; bounds of the length of all others."""
    lower, upper = map(float, draft.model.tendon_range[t])
    points, fixed = path(draft, t) or ([], 0.0)
    if len(points) == 2 and lower <= 0.0 and upper > fixed:
        (a, on_a), (b, on_b) = points
        name = draft.free_name(f"{draft.label('tendon', t)} rope", "rope")
        draft.add("tendon", t, Rope, a, b, upper - fixed, on_a=on_a, on_b=on_b, name=name)
    elif found := element(draft, t):
        tendon, offset = found
        name = draft.free_name(f"{draft.label('tendon', t)} limit", "stop")
        draft.add("tendon", t, HardLimit, tendon, lower - offset, upper - offset, name=name)


def fixed_tendon(model, t):
    """[(number of the joint, coefficient)] of a tendon that is a sum of joints; None of others."""
    span = range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t])
    if any(model.wrap_type[w] != WRAP_JOINT for w in span):
        return None
    found: dict[int, float] = {}
    for w in span:
        joint = int(model.wrap_objid[w])
        found[joint] = found.get(joint, 0.0) + float(model.wrap_prm[w])
    return list(found.items())


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
