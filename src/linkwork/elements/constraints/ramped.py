"""A constraint that is violated when it comes into force: it holds but for an offset, which is ramped to zero smoothly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element_kind import ElementKind
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray, FloatArray


FASTEST = 1.0  # m/s, rad/s: the speed at which the largest offset of a constraint is ramped to zero, half way
PEAK = 1.5  # of the mean speed: that of a cubic which starts and ends at rest


@dataclass(frozen=True)
class Ramp:
    """By how much the rows of a constraint were off, and when."""

    offset: tuple[float, ...]  # of each of its rows, m or rad
    since: float  # s
    lasts: float  # s

    @property
    def ends(self) -> float:
        """s: from then on the constraint holds."""
        return self.since + self.lasts

    def left(self, time: float) -> float:
        """The largest offset at that time."""
        part = min(max((time - self.since) / self.lasts, 0.0), 1.0)
        return max(map(abs, self.offset)) * (1 - part * part * (3 - 2 * part))


def ramp(offset: FloatArray, since: float) -> Ramp:
    """Begin now, no faster than FASTEST.

    >>> ramp(np.array([0.0, -0.2]), since=3.0).ends
    3.3
    """
    return Ramp(tuple(map(float, offset)), since, PEAK * float(np.abs(offset).max()) / FASTEST)


OWN = {"key", "fields", "forced", "meets", "parameters", "rows", "counted", "points_beside", "element", "of", "check_declared",
       "PROMISES"}  # fmt: skip
_ASKED = ["levels", *vars(ConstraintKind), *vars(ElementKind)]  # all that a kind can be asked
SAME = [name for name in _ASKED if name[0] != "_" and name not in OWN]


class RampedKind(ConstraintKind):
    """The rows of another kind, less what is left of the offset; `ramps`: by the names of elements. All else is that kind's,
    but for closed forms of its rows, which know nothing of the offset."""

    forced = True

    def __init__(self, kind: ConstraintKind, ramps: Mapping[str, Ramp]) -> None:
        self.inner, self.ramps = kind, ramps
        vars(self).update({name: getattr(kind, name) for name in SAME})
        self.key = f"drawn:{kind.key}"
        self.fields = {**kind.fields, "offset": len(kind.levels), "since": 1, "lasts": 1}

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        ramps = [self.ramps[element.name] for element in elements]
        return {
            **self.inner.parameters(elements, *frames),
            "offset": np.array([d.offset for d in ramps]),
            "since": np.array([[d.since] for d in ramps]),
            "lasts": np.array([[d.lasts] for d in ramps]),
        }

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        part = ca.fmin(ca.fmax((t - p["since"]) / p["lasts"], 0), 1)
        left = 1 - part * part * (3 - 2 * part)
        written = self.inner.rows(handles, p, t)
        return [(level, row - p["offset"][k] * left if level == POSITION else row) for k, (level, row) in enumerate(written)]
