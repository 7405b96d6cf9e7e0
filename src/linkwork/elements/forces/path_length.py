"""The length of a path that runs straight from point to point of bodies, as a transmission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.force_kind import Coordinate, Term
from linkwork.elements.core.freedom import Freedom
from linkwork.elements.core.functions import norm
from linkwork.elements.core.transmission import Transmission, moving_bodies, places_of

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


class PathLength(Transmission):
    """The whole length (m) through `at[k]` on `bodies[k]` of a Cable."""

    freedom = Freedom.LENGTH

    def __init__(self, cable: Any) -> None:
        self.bodies = moving_bodies(cable.bodies)
        self.places = places_of(cable.bodies, self.bodies)
        self.key = f"path {self.places}"
        self.fields = {"at": 3 * len(self.places)}
        self.needs_directions = (False,) * len(self.bodies)
        self.relative = None not in self.places

    def parameters(self, items: Sequence[Any], frames: Sequence[Placement]) -> dict[str, AnyArray]:
        return {"at": np.hstack(self._locals(items, frames))}

    def as_built(self, items: Sequence[Any], frames: Sequence[Placement]) -> FloatArray:
        at = self._frames(frames)
        world = np.array([F.world_point(p) for F, p in zip(at, self._locals(items, frames), strict=True)])
        found: FloatArray = np.linalg.norm(np.diff(world, axis=0), axis=2).sum(axis=0)
        return found

    def _frames(self, frames: Sequence[Placement]) -> list[Placement]:
        return [frames[0].ground() if place is None else frames[place] for place in self.places]

    def _locals(self, items: Sequence[Any], frames: Sequence[Placement]) -> list[FloatArray]:
        return [F.user_point(np.array([item.at[k] for item in items])) for k, F in enumerate(self._frames(frames))]

    def locals_of(self, p: Params) -> list[SX]:
        """Local points, (3,) each."""
        return [p["at"][3 * k : 3 * k + 3] for k in range(len(self.places))]

    def parts(self, handles: Sequence[Handle], p: Params) -> list[tuple[int, SX, SX]]:
        """Of each straight part: the number of its first point, its length and its direction."""
        at = self.locals_of(p)
        ways = [handles[0].ground() if place is None else handles[place] for place in self.places]
        found = []
        for k in range(len(at) - 1):
            d = ways[k + 1].point(at[k + 1]) - ways[k].point(at[k])
            length = norm(d)
            found.append((k, length, d / ca.if_else(length > 0, length, 1)))
        return found

    def coordinate(self, handles: Sequence[Handle], p: Params, counted: Sequence[SX]) -> Coordinate:
        """The whole length, and how the points change it."""
        at, parts = self.locals_of(p), self.parts(handles, p)
        motion = [(place, "point", at[k + end], (2 * end - 1) * along.T)
                  for k, _, along in parts for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
        return Coordinate(sum((length for _, length, _ in parts), SX(0)), motion)

    def across(self, handles: Sequence[Handle], p: Params, pull: SX) -> list[Term]:
        """What a tension stiffens across the parts: pull / length."""
        at, found = self.locals_of(p), []
        for k, length, along in self.parts(handles, p):
            stiffness = ca.if_else(length > 0, pull / ca.if_else(length > 0, length, 1), 0) * (SX.eye(3) - along @ along.T)
            motion = [(place, "point", at[k + end], (2 * end - 1) * SX.eye(3))
                      for end in (0, 1) if (place := self.places[k + end]) is not None]  # fmt: skip
            found.append(Term(motion, stiffness, SX(3, 3)))
        return found
