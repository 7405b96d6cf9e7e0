"""Equalities of MJCF as hard constraints: they close loops, and couple joints."""

from typing import Any

import mujoco
import numpy as np

from linkwork.elements import Ball, Coupling, Distance, FixedTendon, Gear, Motion, RigidBody, Weld
from linkwork.formats.mjcf.softness import spring_like
from linkwork.formats.mjcf.tendons import element, fixed_tendon, path
from linkwork.model.massless import is_massless

OFF = 1e-6  # m: a connect that is farther open as built is told
SITE = int(mujoco.mjtObj.mjOBJ_SITE)


def add(draft):
    """Those that are active."""
    model = draft.model
    for e in range(model.neq):
        if draft.disabled("EQUALITY") or draft.disabled("CONSTRAINT") or not model.eq_active0[e]:
            draft.remark("equality", e, "it is switched off in the file: it is left out")
        else:
            _ADD.get(int(model.eq_type[e]), _unknown)(draft, e)


def _unknown(draft, e):
    draft.remark("equality", e, "such an equality is left out")


def _end(draft, e, which, local):
    """(body, its frame's rotation and origin, rotation and origin as the file has it) of an end, as built."""
    model, data = draft.model, draft.data
    number = int((model.eq_obj1id, model.eq_obj2id)[which][e])
    if model.eq_objtype[e] == SITE:
        R, x, b = data.site_xmat[number].reshape(3, 3), data.site_xpos[number], int(model.site_bodyid[number])
        local = np.zeros(3)
    else:
        R, x, b = data.xmat[number].reshape(3, 3), data.xpos[number], number
    body, root = draft.bodies[b], int(model.body_weldid[b])
    Q, origin = data.xmat[root].reshape(3, 3), data.xpos[root]
    at = x + R @ local
    return body, Q.T @ (at - origin), at, R, x


def _same(draft, e, a, b):
    if a is b:
        draft.remark("equality", e, "both of its ends are on one body: it is left out")
    return a is b


def _connect(draft, e):
    data = draft.model.eq_data[e]
    (a, on_a, at_a, *_), (b, on_b, at_b, *_) = _end(draft, e, 0, data[0:3]), _end(draft, e, 1, data[3:6])
    if not _same(draft, e, a, b):
        draft.add("equality", e, Ball, a, b, on_a=on_a, on_b=on_b, name=draft.name("equality", e, "connect"))
        _open(draft, e, float(np.linalg.norm(at_a - at_b)))


def _open(draft, e, gap):
    if gap > OFF:
        draft.remark("equality", e, f"it is open by {gap:.3g} as built: world.assemble() closes it, or start from a keyframe")


def _weld(draft, e):
    data = draft.model.eq_data[e]
    (a, _, _, R_a, x_a), (b, _, at, R_b, x_b) = _end(draft, e, 0, np.zeros(3)), _end(draft, e, 1, data[0:3])
    if _same(draft, e, a, b):
        return
    draft.add("equality", e, Weld, a, b, at=at, name=draft.name("equality", e, "weld"))
    place, turn = np.zeros(3), np.eye(3)
    if draft.model.eq_objtype[e] != SITE:  # the pose of the second body in the first one's frame; its point is data[0:3]
        mujoco.mju_quat2Mat(flat := np.empty(9), data[6:10])
        turn, place = flat.reshape(3, 3), data[3:6]
        gap = np.linalg.norm(R_a.T @ (x_b + R_b @ data[0:3] - x_a) - place)
    else:
        gap = np.linalg.norm(x_b - x_a)
    if gap + np.linalg.norm(R_a.T @ R_b - turn) > OFF:
        draft.remark("equality", e, "its bodies are held as built, not as its relpose says")


def _joint(draft, e):
    model = draft.model
    numbers = [int(model.eq_obj1id[e]), int(model.eq_obj2id[e])]
    coefficients = [float(x) for x in model.eq_data[e][:5]]
    joints = [draft.joints.get(j) for j in numbers if j >= 0]
    _couple(draft, e, joints[0], joints[1] if len(joints) > 1 else None, coefficients)


def _couple(draft, e, first, second, coefficients):
    """first = c0 + c1 second + ..., all counted from as built."""
    constant, ratio, *higher = coefficients
    if second is not None and any(higher):
        draft.remark("equality", e, "it is no line but a polynomial of higher order: it is left out")
        return
    name = draft.name("equality", e, "coupling")
    if second is None or ratio == 0.0:
        draft.add("equality", e, Motion, first, lambda t: constant + 0 * t, name=name)
    else:
        draft.add("equality", e, Gear, first, second, ratio, constant, name=name)
        draft.coupled[first] = second, ratio, constant
    _open(draft, e, abs(constant))


def _tendon(draft, e):
    """A sum of two joints that is constant is a gear; a path between two sites is a distance; others are couplings."""
    model = draft.model
    t, constant = int(model.eq_obj1id[e]), float(model.eq_data[e][0])
    joints, there = fixed_tendon(model, t), path(draft, t)
    if model.eq_obj2id[e] >= 0:
        _coupled_tendons(draft, e, t, int(model.eq_obj2id[e]))
    elif joints is not None and 1 <= len(joints) <= 2 and all(c != 0.0 for _, c in joints):
        (first, c1), *rest = joints
        second, c2 = rest[0] if rest else (-1, 0.0)
        _couple(draft, e, draft.joints[first], draft.joints.get(second), [constant / c1, -c2 / c1, 0.0, 0.0, 0.0])
    elif there is not None and len(there[0]) == 2:
        ((a, on_a), (b, on_b)), fixed = there
        length = float(model.tendon_length0[t]) + constant - fixed
        draft.add("equality", e, Distance, a, b, length, on_a=on_a, on_b=on_b, name=draft.name("equality", e, "distance"))
        _open(draft, e, abs(constant))
    else:
        _coupling(draft, e, [(t, 1.0)], constant)


def _coupled_tendons(draft, e, first, second):
    """l1 = c0 + c1 l2 + ..., both counted from as built."""
    constant, ratio, *higher = (float(x) for x in draft.model.eq_data[e][:5])
    if any(higher):
        draft.remark("equality", e, "it is no line but a polynomial of higher order: it is left out")
        return
    _coupling(draft, e, [(first, 1.0), (second, -ratio)], constant)


def _coupling(draft, e, tendons, constant):
    """A sum of lengths, counted from as built, is constant."""
    found = [(element(draft, t), t, c) for t, c in tendons if c]
    if any(made is None for made, _, _ in found):
        draft.remark("equality", e, "a tendon that it holds is left out, and it with that")
        return
    value = constant + sum(c * (float(draft.model.tendon_length0[t]) - made[1]) for made, t, c in found)
    of, weights = [made[0] for made, _, _ in found], [c for _, _, c in found]
    if any(map(_ties_massless, of)):
        _spring(draft, e, of, weights, value)
        return
    draft.add("equality", e, Coupling, of, weights, value=value, name=draft.name("equality", e, "coupling"))
    _open(draft, e, abs(constant))


def _ties_massless(tendon):
    """Whether it acts on links without mass, as those between several joints of a body are: these stand in no loop."""
    ends = [body for joint in getattr(tendon, "joints", ()) for body in (joint.a, joint.b)]
    return any(isinstance(body, RigidBody) and is_massless(body) for body in ends)


def _spring(draft, e, tendons, weights, value):
    """A sum of joints that is held by a spring, as stiff as MuJoCo's equality is as built."""
    if not all(isinstance(tendon, FixedTendon) for tendon in tendons):
        draft.remark("equality", e, "it ties links without mass: it is left out")
        return
    sums: dict[Any, float] = {}
    for tendon, weight in zip(tendons, weights, strict=True):
        for joint, own in zip(tendon.joints, tendon.coefficients, strict=True):
            sums[joint] = sums.get(joint, 0.0) + weight * float(own)
    model = draft.model
    numbers = [int(t) for t in (model.eq_obj1id[e], model.eq_obj2id[e]) if t >= 0]
    answer = sum(weight**2 * float(model.tendon_invweight0[t]) for t, weight in zip(numbers, weights, strict=True))
    stiffness, damping = spring_like(model.eq_solref[e], model.eq_solimp[e], 1.0 / answer)
    own = {"stiffness": stiffness, "damping": damping, "rest": value, "name": draft.name("equality", e, "spring")}
    draft.springs[e] = draft.add("equality", e, FixedTendon, tuple(sums), tuple(sums.values()), **own)
    draft.remark("equality", e, "it ties links without mass, and is a spring, as stiff as MuJoCo's as built")


_ADD = {int(mujoco.mjtEq.mjEQ_CONNECT): _connect, int(mujoco.mjtEq.mjEQ_WELD): _weld,
        int(mujoco.mjtEq.mjEQ_JOINT): _joint, int(mujoco.mjtEq.mjEQ_TENDON): _tendon}  # fmt: skip
