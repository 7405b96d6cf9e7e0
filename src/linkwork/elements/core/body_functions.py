"""Expressions of bodies as functions of numbers, for k bodies at once; forces and vectors in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.symbolic.views import Unsupported, View
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.body_kind import BodyKind
    from linkwork.util.array_types import FloatArray


class SymbolicBody(View):
    """A body outside any kernel: symbols for q, v and the constants."""

    def __init__(self, kind: BodyKind) -> None:
        self.kind, self.moment = kind, Moment.NOW
        self.q, self.v = SX.sym("q", kind.nq), SX.sym("v", kind.nv)
        self.known = {name: SX.sym(name, kind.record[name][1]) for name in kind.constants}
        self.known["R"] = kind.pose(self.q)

    def field(self, name: str) -> SX:
        if name not in self.known:
            raise Unsupported(f'{type(self.kind).__name__}: its primitives read the field "{name}"; name it in `constants`')
        return self.known[name]


def evaluated(function: ca.Function, k: int, *given: np.ndarray) -> list[np.ndarray]:
    """Results for k bodies: (k, n) of columns, (k, m, n) of matrices."""
    found = []
    for value, (m, n) in zip(
        function(*(x.T for x in given)), (function.size_out(i) for i in range(function.n_out())), strict=True
    ):
        found.append(value.full().reshape(m, k, n).transpose(1, 0, 2).reshape((k, m) if n == 1 else (k, m, n)))
    return found


def about(at: FloatArray, force: FloatArray, torque: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A force at a world point `origin`, and a torque, as (force, torque about `at`)."""
    return np.array(force, dtype=float), np.asarray(torque - np.cross(at - origin, force), dtype=float)


def skew_matrix(r: FloatArray) -> FloatArray:
    """[r]x (3, 3)."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
