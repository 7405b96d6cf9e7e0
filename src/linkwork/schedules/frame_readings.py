"""The readouts of frames: where each of them is, how it moves, and how it accelerates; made when the first frame is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.elements.core.placement import matrices
from linkwork.kernels.readings import FRAME, frame_acceleration_kernel, frame_read_kernel
from linkwork.schedules.readings import WIDTHS, Readings, beyond, spans

if TYPE_CHECKING:
    from linkwork.codegen.trace import Kernel


class FrameReadings(NamedTuple):
    """Two readouts, as they start and what fills them. Frames on the ground stay as they start; behind the arrays are the
    numbers of all frames."""

    number: dict[str, int]  # by name, in the order of the world
    span: dict[str, slice]  # of poses and velocities, in the arrays of WIDTHS
    start: np.ndarray
    operations: np.ndarray
    acceleration_start: np.ndarray  # a linear and an angular acceleration for each
    acceleration_operations: np.ndarray


def frame_readings(readings: Readings) -> FrameReadings:
    """The readouts of all frames in the world of a model."""
    model, frames = readings.model, readings.model.world.frames
    n = len(frames)
    poses: list[tuple[Kernel, tuple[int, ...]]] = []
    accelerations: list[tuple[Kernel, tuple[int, ...]]] = []
    span, behind = spans(n), sum(WIDTHS.values()) * n
    for k, frame in enumerate(frames):
        number = model.bodies.number.get(id(frame.body))
        if number is not None:  # else it is on the ground
            kind, at = model.bodies.kinds[number], int(model.body_at[number])
            places = [beyond(span[name].start + width * k) for name, width in WIDTHS.items()]
            poses.append((frame_read_kernel(kind), (at, *places, beyond(behind + FRAME * k))))
            accelerations.append((frame_acceleration_kernel(kind), (at, beyond(6 * k), beyond(6 * n + FRAME * k))))
    numbers = np.array([[*frame.position, *frame.orientation] for frame in frames]).reshape(n, FRAME)
    where, turn = numbers[:, :3], numbers[:, 3:]
    still = where, turn, np.zeros((n, WIDTHS["velocities"])), matrices(turn), numbers
    return FrameReadings(
        {str(frame.name): k for k, frame in enumerate(frames)}, span,
        np.concatenate([array.ravel() for array in still]), readings.listed("frames", poses),
        np.concatenate([np.zeros(6 * n), numbers.ravel()]), readings.listed("frame accelerations", accelerations),
    )  # fmt: skip
