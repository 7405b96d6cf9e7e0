"""Frames and how they move: by name, in which axes, and by the coordinates of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core import checks
from linkwork.elements.core.body_functions import skew_matrix
from linkwork.elements.core.element import Body, Element
from linkwork.elements.core.frame import ALIGNED, AXES, LOCAL, Frame
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.model import readout
from linkwork.simulation.lookup import name_of

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.simulation.pose_readout import PoseReadout
    from linkwork.simulation.reads import Reads
    from linkwork.util.array_types import FloatArray


def frame_number(reads: Reads, frame: FrameLike) -> int:
    """Which of the frames of a world is meant, where no body is."""
    name, world = name_of(frame), reads.system.world
    if (found := reads.frame_number.get(name)) is not None:
        return found
    if isinstance(frame, Element) and frame not in world:
        raise LinkworkError(f"{checks.label(frame)}: it is not in the world of this simulation; add it, or ask for another one")
    if name in world:
        label = checks.label(world.find(name))
        raise LinkworkError(f"{label}: it has no position of its own; give a body, or a frame on one")
    names = [str(body.name) for body in reads.system.model.bodies.elements] + list(reads.frame_number)
    raise UnknownNameError(f'Simulation: no body or frame is called "{name}"{suggestion(name, names)}')


def in_axes(aligned: FloatArray, axes: str, poses: PoseReadout, number: int) -> FloatArray:
    """Twists (6,) or (6, n) of a frame, in the world's axes at its origin, told in the axes that are asked for."""
    if axes == ALIGNED:
        return aligned
    if axes == LOCAL:
        return (poses.rotation(number).T @ aligned.reshape(2, 3, -1)).reshape(aligned.shape)
    checks.choice("Simulation", "axes", axes, AXES)
    found = aligned.copy()
    found[:3] += skew_matrix(poses.position(number)) @ found[3:]
    return found


def frame_jacobian(reads: Reads, frame: Frame | Body) -> FloatArray:
    """(6, nv): the velocity of a frame's origin and its angular velocity, in the world's axes, by `sim.qd`."""
    body, local = (frame.body, frame.position) if isinstance(frame, Frame) else (frame, np.zeros(3))
    own, system = reads.coordinates, reads.system
    found = np.zeros((6, own.nv))
    assert isinstance(body, Body)
    if body.dim == 0:
        return found
    if is_rigid(body):
        from linkwork import reduced  # as all of it: imported by those who use it

        assert own.tree is not None
        found[:, : own.tree.nv] = reduced.jacobian(own.tree, reads.q()[: own.tree.nq], frame)
        return found
    number, (_, moved) = system.model.bodies.number[id(body)], own.at[str(body.name)]
    kind, pose = system.model.bodies.kinds[number], readout.poses(system.model, system.work, number)
    q, *constants = readout.of_body(system.model, system.work, number, "q")
    found[:3, moved] = kind.point_jacobian(q, pose, local, *constants)
    if kind.directions:
        found[3:, moved] = kind.spin_jacobian(q, *constants)
    return found
