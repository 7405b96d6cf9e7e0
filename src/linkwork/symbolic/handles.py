"""Hands as rows and as forces (elements/handles.py)."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements import handles
from linkwork.elements.core.constraint_kind import Relation, column, position_rows
from linkwork.elements.core.functions import norm
from linkwork.symbolic.autodiff import POSITION
from linkwork.symbolic.drives import RELATIONS
from linkwork.symbolic.forces import Law, Term
from linkwork.symbolic.joint_forces import LAWS


def _vectors(elements, name: str) -> np.ndarray:
    return np.array([getattr(e, name) for e in elements], dtype=float)


class Hold(Relation):
    """x = goal + (away + (v + pace away) s) exp(-pace s), with s since it began and away = start - goal."""

    fields = {"on_b": 3, "start": 3, "velocity": 3, "goal": 3, "since": 1, "pace": 1}
    levels = [POSITION] * 3
    forced = True

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        found = {name: _vectors(elements, name) for name in ("start", "velocity", "goal")}
        found |= {name: column(elements, name) for name in ("since", "pace")}
        return found | {"on_b": B.user_point(_vectors(elements, "at"))}

    def rows(self, handles, p, t):
        s, away = ca.if_else(t >= p["since"], t - p["since"], 0), p["start"] - p["goal"]
        path = p["goal"] + (away + (p["velocity"] + p["pace"] * away) * s) * ca.exp(-p["pace"] * s)
        return position_rows(handles[1].point(p["on_b"]) - path)


class Pull(Law):
    """f = k (goal - x) - c x', cut to the length `limit`. It has no potential: a hand does work."""

    fields = {"on_b": 3, "goal": 3, "stiffness": 1, "damping": 1, "limit": 1}

    def __init__(self, element):
        self.velocity_dependent = element.damping != 0.0
        self.key = f"Pull-{self.velocity_dependent}"

    @staticmethod
    def bodies(element):
        return None, element.body

    def numbers(self, elements, A, B):
        found = {name: column(elements, name) for name in ("stiffness", "damping", "limit")}
        return found | {"on_b": B.user_point(_vectors(elements, "at")), "goal": _vectors(elements, "goal")}

    def _force(self, handles, p) -> tuple[SX, SX]:
        """The force without a limit, and the part of it that the limit leaves."""
        b = handles[1]
        force = p["stiffness"] * (p["goal"] - b.point(p["on_b"]))
        if self.velocity_dependent:
            force -= p["damping"] * b.point_rate(p["on_b"])
        return force, p["limit"] / ca.fmax(norm(force), p["limit"])

    def law(self, handles, p, t):
        force, part = self._force(handles, p)
        return [(1, "force", p["on_b"], part * force)], SX(0)

    def terms(self, handles, p, t):
        one, (_, part) = SX.eye(3), self._force(handles, p)
        return [Term([(1, "point", p["on_b"], one)], part * p["stiffness"] * one, part * p["damping"] * one)]


RELATIONS |= {handles.Hold: Hold}
LAWS |= {handles.Pull: Pull}
