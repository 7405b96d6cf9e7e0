"""Plans of the projection onto constraints of which some depend on others (regularised_projection_steps.py)."""

from __future__ import annotations

import numpy as np

from linkwork.engines.maximal.regularised_projection_steps import ROUNDED, RegularisedProjection
from linkwork.kernels.node import SOFT
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model.model import Model
from linkwork.schedules.schedules import Schedules
from linkwork.symbolic.autodiff import POSITION

__all__ = ["ROUNDED", "no_projection", "position_rows", "projection", "reach", "size"]


def projection(schedules: Schedules) -> RegularisedProjection:
    """The plan of a model in which rows depend on others."""
    p, m = schedules, schedules.model
    with p.at_once():
        positions = p.body(BodyKernel.KICK), p.up(RowMode.PROJECT), p.backward(BodyKernel.CORRECT_POSITION)
        sweeps = p.check(), *positions, p.up(RowMode.VELOCITY), p.backward(BodyKernel.APPLY_IMPULSE)
    return RegularisedProjection(p.table, *sweeps, position_rows(m), np.array([size(m), SOFT]))


def no_projection(schedules: Schedules) -> RegularisedProjection:
    """An empty plan, for models in which no row depends on others."""
    return RegularisedProjection(schedules.table, *[schedules.body()] * 6, np.zeros(0, dtype=np.int64), np.array([1.0, SOFT]))


def position_rows(model: Model) -> np.ndarray:
    """Entries in which `check` leaves the residuals of positions."""
    found = [int(model.report_at[k]) + i for k, node in enumerate(model.nodes)
             for i, level in enumerate(node.kind.levels) if level == POSITION]  # fmt: skip
    return np.array(found, dtype=np.int64)


def _places(model: Model, tree: int) -> np.ndarray:
    """(bodies, 3) m: positions of the bodies of a component, as built."""
    places = [getattr(body, "position", None) for b, body in enumerate(model.bodies.elements) if model.forest.tree[b] == tree]
    return np.array([np.resize(x, 3) for x in places if x is not None]).reshape(-1, 3)


def _components(model: Model) -> set[int]:
    """The components in which rows depend on others."""
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
