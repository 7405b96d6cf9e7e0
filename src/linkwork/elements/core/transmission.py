"""What efforts act along: a length, or a coordinate, and the motion of bodies that changes it.

A motor, a spring, a stop and a coupling need the same of a joint, of a sum of joints, of a path through points and of a frame:
a number x with a rate x', and loads that do the work e x' on the bodies for an effort e. An element that is such a thing says
so by `transmission()`; elements that act on it hold it in a field, and their kinds ask it for the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.force_kind import Coordinate, travelling, turning
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.joint import Joint, kind_of_joint

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


class Transmission(ABC):
    """Along what efforts act. Its bodies are those that move, each once; of a single one the ground stands before it."""

    key: str  # all that its expressions depend on
    fields: Mapping[str, int]  # parameters in memory: name -> size
    bodies: tuple[Any, ...]  # None: the ground
    freedom: Freedom  # the units of x, of its rate and of efforts
    counters = 0  # angles whose turns are counted
    needs_directions: tuple[bool, ...]
    relative = False  # depends on how its bodies stand to each other alone

    @abstractmethod
    def parameters(self, items: Sequence[Any], frames: Sequence[Placement]) -> dict[str, AnyArray]:
        """The parameters of such elements, (k, size) each; frames: of its bodies as built."""

    def as_built(self, items: Sequence[Any], frames: Sequence[Placement]) -> FloatArray:
        """(k,): x where bodies are as built."""
        return np.zeros(len(items))

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        """(sine, cosine) of each counted angle."""
        return []

    @abstractmethod
    def coordinate(self, handles: Sequence[Handle], p: Params, counted: Sequence[SX]) -> Coordinate:
        """x (1,) and its motion; counted: the angles with their turns."""


def moving_bodies(bodies: Sequence[Any]) -> tuple[Any, ...]:
    """Those that move, each once; with a single one, the ground before it."""
    moving = tuple(dict.fromkeys(body for body in bodies if body is not None and body.dim))
    return moving if len(moving) > 1 else (None, *moving)


def places_of(bodies: Sequence[Any], among: tuple[Any, ...]) -> list[int | None]:
    """Which of the bodies of a transmission each one is; None: the ground."""
    return [among.index(body) if body in among and body is not None and body.dim else None for body in bodies]


def transmission_of(item: Any) -> Transmission:
    """That of a joint with one coordinate, of a tendon, or of a cable."""
    found: Transmission = OfJoints((item,)) if isinstance(item, Joint) else item.transmission()
    return found


class OfJoints(Transmission):
    """The sum of coefficients times the coordinates of joints, each a hinge, slider or screw."""

    def __init__(self, joints: Sequence[Any]) -> None:
        self.kinds = [kind_of_joint(joint) for joint in joints]
        self.bodies = moving_bodies([body for joint in joints for body in (joint.a, joint.b)])
        self.ends = [places_of((joint.a, joint.b), self.bodies) for joint in joints]
        self.freedom = Freedom.LENGTH if all(kind.slides for kind in self.kinds) else Freedom.TURN
        self.counters = sum(not kind.slides for kind in self.kinds)
        self.needs_directions = tuple(body is not None for body in self.bodies)
        self.relative = True
        self.key = f"sum {[kind.key for kind in self.kinds]} {self.ends}"
        self.fields = {f"j{k}_{name}": size for k, kind in enumerate(self.kinds)
                       for name, size in {**kind.fields, "axis_a": 3}.items()} | {"weights": len(self.kinds)}  # fmt: skip

    def parameters(self, items: Sequence[Any], frames: Sequence[Placement]) -> dict[str, AnyArray]:
        pairs = [joints_of(item) for item in items]
        found: dict[str, AnyArray] = {"weights": np.array([[c for _, c in pair] for pair in pairs], dtype=object)}
        for k, (kind, ends) in enumerate(zip(self.kinds, self.ends, strict=True)):
            of = [pair[k][0] for pair in pairs]
            A, B = (frames[0].ground() if end is None else frames[end] for end in ends)
            own = {**kind.parameters(of, A, B), "axis_a": kind.frame(of, A, B)[0]}
            found |= {f"j{k}_{name}": values for name, values in own.items()}
        return found

    def _of(self, k: int, handles: Sequence[Handle], p: Params) -> tuple[list[Handle], dict[str, SX]]:
        """The two bodies of a joint, and its numbers."""
        own = {name: p[f"j{k}_{name}"] for name in (*self.kinds[k].fields, "axis_a")}
        return [handles[0].ground() if end is None else handles[end] for end in self.ends[k]], own

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        return [kind.angle(*self._of(k, handles, p)) for k, kind in enumerate(self.kinds) if not kind.slides]

    def coordinate(self, handles: Sequence[Handle], p: Params, counted: Sequence[SX]) -> Coordinate:
        from casadi import SX

        value, motion, angles = SX(1, 1), [], iter(counted)
        for k, (kind, ends) in enumerate(zip(self.kinds, self.ends, strict=True)):
            pair, own = self._of(k, handles, p)
            axis, weight = pair[0].axis(own["axis_a"]), p["weights"][k]
            x = travelling(pair, own, [axis]) if kind.slides else turning(next(angles), [axis])
            value += weight * x.value
            motion += [(place, what, where, weight * by) for end, what, where, by in x.motion
                       if (place := ends[end]) is not None]  # fmt: skip
        return Coordinate(value, motion)


def joints_of(item: Any) -> list[tuple[Any, Any]]:
    """(joint, coefficient) of a joint, or of a sum of joints."""
    return [(item, 1.0)] if isinstance(item, Joint) else list(zip(item.joints, item.coefficients, strict=True))
