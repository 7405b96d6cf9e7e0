"""What the way back onto the constraints needs, of a model in which rows depend on others (settling_steps.py)."""

from __future__ import annotations

import numpy as np

from linkwork.engines.maximal.settling_steps import ROUNDED, Settling
from linkwork.kernels.node import SOFT
from linkwork.model.model import Model
from linkwork.schedules.schedules import Programs
from linkwork.symbolic.autodiff import POSITION

__all__ = ["ROUNDED", "no_settling", "position_rows", "reach", "settling", "size"]


def settling(programs: Programs) -> Settling:
    """Of a model in which rows depend on others."""
    p, m = programs, programs.model
    with p.at_once():
        sweeps = p.check(), p.body("kick"), p.up("project"), p.backward("nudge"), p.up("velocity"), p.backward("strike")
    return Settling(p.table, *sweeps, position_rows(m), np.array([size(m), SOFT]))


def no_settling(programs: Programs) -> Settling:
    """The same without rows, for steps that are not settled."""
    return Settling(programs.table, *[programs.body()] * 6, np.zeros(0, dtype=np.int64), np.array([1.0, SOFT]))


def position_rows(model: Model) -> np.ndarray:
    """Where `check` leaves the residuals of positions."""
    found = [int(model.report_at[k]) + i for k, node in enumerate(model.nodes)
             for i, level in enumerate(node.kind.levels) if level == POSITION]  # fmt: skip
    return np.array(found, dtype=np.int64)


def _places(model: Model, tree: int) -> np.ndarray:
    """(bodies, 3) m: of the bodies of a component, as built."""
    places = [getattr(body, "position", None) for b, body in enumerate(model.bodies.elements) if model.forest.tree[b] == tree]
    return np.array([np.resize(x, 3) for x in places if x is not None]).reshape(-1, 3)


def _components(model: Model) -> set[int]:
    """In which rows depend on others."""
    return {model.forest.tree[model.nodes[k].ends[-1]] for k in model.redundant}


def size(model: Model) -> float:
    """m: how far the bodies of a component in which rows depend on others are from their middle, as built; of the smallest such
    component. A metre where there is one body alone."""
    places = [_places(model, tree) for tree in _components(model)]
    found = [float(np.linalg.norm(x - x.mean(axis=0), axis=1).max()) for x in places if len(x) > 1]
    return min((x for x in found if x > 0), default=1.0)


def reach(model: Model) -> float:
    """m: how far from the origin such a component is, as built."""
    return max((float(np.abs(_places(model, tree)).max(initial=0.0)) for tree in _components(model)), default=0.0)
