"""Frames of a tree by name: on which link each is, and where there; looked up once, until the world changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body
from linkwork.elements.core.frame import AXES, LOCAL, Frame
from linkwork.errors import ModelError

if TYPE_CHECKING:
    from linkwork.elements.core.frame import FrameLike
    from linkwork.reduced.bounds import Limits
    from linkwork.reduced.frames import Pose
    from linkwork.reduced.operation_lists import Schedule
    from linkwork.reduced.proximity import Shapes
    from linkwork.reduced.reaching import Reaching
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, Vector

ORIGIN = (0.0, 0.0, 0.0)


class FramePlaces:
    """Where the frames of a tree are, and the programs that are asked for by their names."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._whole = tree, getattr(tree.world, "whole", tree.world)
        self._forget()

    def _forget(self) -> None:
        self._version: int = self._whole.version
        self._jacobians: dict[tuple[Any, ...], tuple[Schedule, FloatArray]] = {}
        self._several: dict[tuple[Any, ...] | None, Tree] = {}
        self._reaching: dict[tuple[Any, ...], Reaching] = {}
        self._shapes: Shapes | None = None
        self._limits: Limits | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of bodies and frames, in order of addition."""
        return tuple(str(element.name) for element, _, _ in self._all())

    def _all(self) -> list[tuple[Any, int, Pose]]:
        here = {body for body, _, _ in self._tree.bodies} | {self._whole.ground}
        frames = [frame for frame in self._whole.frames if frame.body in here]
        return [*self._tree.bodies, *(self.placed(frame) for frame in frames)]

    def placed(self, frame: FrameLike) -> tuple[Frame | Body, int, Pose]:
        """The element, its link, and where it is in the frame of that; what has no place is refused."""
        found = self._tree.world.find(frame)
        if not isinstance(found, Frame | Body):
            raise ModelError(f"{checks.label(found)}: it has no position of its own; give a body, or a frame on one")
        return self._tree.placed(found)

    def jacobian(self, frame: FrameLike, point: Vector, axes: str, rate: bool) -> tuple[Schedule, FloatArray]:
        """The program of its Jacobian, and the place that this takes as an input."""
        if self._version != self._whole.version:
            self._forget()
        if point is not ORIGIN:
            return self._jacobian(frame, point, axes, rate)
        key = frame, axes, rate
        try:
            found = self._jacobians.get(key)
        except TypeError:  # it cannot be a key: no frame
            found = None
        if found is None:
            found = self._jacobians[key] = self._jacobian(frame, point, axes, rate)
        return found

    def _jacobian(self, frame: FrameLike, point: Vector, axes: str, rate: bool) -> tuple[Schedule, FloatArray]:
        element, link, (Q, o) = self.placed(frame)
        axes = checks.choice("lw.reduced", "axes", axes, AXES)
        place = o + Q @ checks.vector(element, "point", point)
        program = self._tree.schedules.get(("jacobian", link, axes, rate))
        return program, np.concatenate([place, Q.ravel()]) if axes == LOCAL else place

    def several(self, frames: Iterable[FrameLike] | FrameLike | None) -> Tree:
        """The tree with frames in the place of its bodies: those that are named, or all."""
        if self._version != self._whole.version:
            self._forget()
        named = frames if frames is None or type(frames) is tuple else listed(frames)
        try:
            return self._several[named]
        except (KeyError, TypeError):  # it is new, or none
            places: Any = self._all() if named is None else [self.placed(frame) for frame in named]
        self._several[named] = replace(self._tree, bodies=places)
        return self._several[named]

    def reaching(self, frames: tuple[FrameLike, ...]) -> Reaching:
        """What leads these frames somewhere."""
        from linkwork.reduced.reaching import Reaching  # which takes programs, that ask for places

        tree = self.several(frames)
        if frames not in self._reaching:
            self._reaching[frames] = Reaching(tree)
        return self._reaching[frames]

    @property
    def limits(self) -> Limits:
        """What the world says of bounds of coordinates, to be copied by who changes it."""
        from linkwork.reduced.bounds import limits  # which asks for places, too

        if self._version != self._whole.version:
            self._forget()
        if self._limits is None:
            self._limits = limits(self._tree)
        return self._limits

    @property
    def shapes(self) -> Shapes:
        """The collision shapes of the tree."""
        from linkwork.reduced.proximity import Shapes  # which asks for places, too

        if self._version != self._whole.version:
            self._forget()
        if self._shapes is None:
            self._shapes = Shapes(self._tree)
        return self._shapes


def listed(frames: Iterable[FrameLike] | FrameLike) -> tuple[FrameLike, ...]:
    """Frames as users name them: one, or several."""
    if isinstance(frames, str | Frame | Body):
        return (frames,)
    return tuple(checks.several("lw.reduced", "frames", frames, "bodies and frames"))
