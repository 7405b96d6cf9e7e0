"""A constraint that is violated when it comes into force: it holds but for an offset, which is drawn in smoothly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from linkwork.elements.core.constraint_kind import Relation
from linkwork.symbolic.autodiff import POSITION

FASTEST = 1.0  # m/s, rad/s: the speed at which the largest offset of a constraint is drawn in, half way
PEAK = 1.5  # of the mean speed: that of a cubic which starts and ends at rest


@dataclass(frozen=True)
class Draw:
    """By how much the rows of a constraint were off, and when."""

    offset: tuple[float, ...]  # of each row of its relation, m or rad
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


def draw(offset: np.ndarray, since: float) -> Draw:
    """Begin now, no faster than FASTEST.

    >>> draw(np.array([0.0, -0.2]), since=3.0).ends
    3.3
    """
    return Draw(tuple(map(float, offset)), since, PEAK * float(np.abs(offset).max()) / FASTEST)


class Drawn(Relation):
    """The rows of another relation, less what is left of the offset; `draws`: by the names of elements."""

    forced = True
    SAME = ("counters", "levels", "needs_directions", "rigid_only", "parameters", "nonlinear", "aimed", "bodies", "angles",
            "rates", "points_beside", "read_names", "read_rates", "read_fields", "read_numbers",
            "read_coordinates")  # fmt: skip

    def __init__(self, relation: Relation, draws: Mapping[str, Draw]):
        self.inner, self.draws = relation, draws
        vars(self).update({name: getattr(relation, name) for name in self.SAME})
        self.key = f"drawn:{relation.key}"
        self.fields = {**relation.fields, "offset": len(relation.levels), "since": 1, "lasts": 1}

    def __getattr__(self, name: str):
        """What only some relations have."""
        return getattr(self.inner, name)

    def numbers(self, elements, *frames):
        draws = [self.draws[element.name] for element in elements]
        return {
            **self.inner.numbers(elements, *frames),
            "offset": np.array([d.offset for d in draws]),
            "since": np.array([[d.since] for d in draws]),
            "lasts": np.array([[d.lasts] for d in draws]),
        }

    def rows(self, handles, p, t):
        part = ca.fmin(ca.fmax((t - p["since"]) / p["lasts"], 0), 1)
        left = 1 - part * part * (3 - 2 * part)
        written = self.inner.rows(handles, p, t)
        return [(level, row - p["offset"][k] * left if level == POSITION else row) for k, (level, row) in enumerate(written)]
