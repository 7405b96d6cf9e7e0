"""Sites, cameras, and bodies without joints: frames on what carries them."""

import mujoco
import numpy as np

from linkwork.elements import Frame
from linkwork.formats.mjcf.bodies import product

FIXED = int(mujoco.mjtCamLight.mjCAMLIGHT_FIXED)


def add_bodies(draft):
    """Frames of bodies that are part of others."""
    for b in range(1, draft.model.nbody):
        if draft.model.body_weldid[b] != b:
            _add(draft, "body", b, b, np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))


def add_places(draft):
    """Frames of sites and cameras."""
    model = draft.model
    for s in range(model.nsite):
        of_site(draft, s)
    for c in range(model.ncam):
        if model.cam_mode[c] == FIXED:
            _add(draft, "camera", c, int(model.cam_bodyid[c]), model.cam_pos[c], model.cam_quat[c])
        else:
            draft.remark(
                "camera", c, "it turns or moves by itself to follow something, as no frame on a body does: it is left out"
            )


def of_site(draft, s):
    """The frame of a site, made when it is first asked for."""
    if ("site", s) not in draft.frames:
        model = draft.model
        _add(draft, "site", s, int(model.site_bodyid[s]), model.site_pos[s], model.site_quat[s])
    return draft.frames["site", s]


def _add(draft, kind, number, b, position, orientation):
    """A frame that is given in the frame of MuJoCo's body b."""
    name, own = draft.name(kind, number, kind), placed(draft, b, position, orientation)
    found = draft.frames[kind, number] = draft.add(kind, number, Frame, draft.bodies[b], *own, name=name)
    return found


def placed(draft, b, position, orientation):
    """A position and orientation in the frame of MuJoCo's body b, in that of the body that it is a part of."""
    data, root = draft.data, int(draft.model.body_weldid[b])
    if root == b:
        return position, orientation
    R, there = data.xmat[root].reshape(3, 3), data.xpos[b] + data.xmat[b].reshape(3, 3) @ position
    turn = product(data.xquat[root] * (1, -1, -1, -1), product(data.xquat[b], orientation))
    return R.T @ (there - data.xpos[root]), turn
