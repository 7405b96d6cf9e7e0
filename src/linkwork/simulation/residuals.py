"""What constraints are off by: residuals of position rows, rates of all rows, and the constraint that is the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.element import Element
from linkwork.model.model import Model
from linkwork.symbolic.vocabulary import Level

if TYPE_CHECKING:
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, IntArray


def residuals(system: System, velocity: bool) -> tuple[FloatArray, FloatArray]:
    """Residuals of all position rows, or rates of all rows; and the node of each."""
    system.place()
    system.run(system.schedules.check())
    entries, nodes = _rows(system)[velocity]
    return system.work[entries], nodes


def worst(system: System, velocity: bool) -> tuple[float, Element | None]:
    """(largest residual, its element)."""
    found, nodes = residuals(system, velocity)
    if not len(found):
        return 0.0, None
    wrong = np.flatnonzero(~np.isfinite(found))
    k = int(wrong[0]) if len(wrong) else int(np.argmax(np.abs(found)))
    row = int(_rows(system)[velocity][0][k]) - int(system.model.report_at[nodes[k]])
    node = system.model.nodes[nodes[k]]
    row -= node.kind.size if velocity else 0
    element = next(e for e in node.elements if node.rows_of(e).start <= row < node.rows_of(e).stop)
    return float(abs(found[k])), element


def _rows(system: System) -> tuple[Any, ...]:
    """Made once for a System."""
    if system.report_rows is None:
        system.report_rows = _rows_of_reports(system.model)
    return system.report_rows


def _rows_of_reports(model: Model) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
    """Entries of the report area and the nodes they belong to: residuals of position rows, rates of all rows."""
    nodes, at = model.nodes, model.report_at
    sizes = np.array([node.kind.size for node in nodes], dtype=np.int64)
    owner = np.repeat(np.arange(len(nodes)), sizes)  # the node of each row
    entry = at[owner] + np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]  # where its residual is
    of_kind = {id(node.kind): [level == Level.POSITION for level in node.kind.levels] for node in nodes}
    position = np.array([p for node in nodes for p in of_kind[id(node.kind)]], dtype=bool)
    return (entry[position], owner[position]), (entry + sizes[owner], owner)
