"""Control: the commands of motors and of those that follow a motion, by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.elements import checks
from linkwork.elements.base import Element
from linkwork.errors import LinkworkError, UnknownNameError, suggestion

SHOWN = 8  # names in a sentence


class Control(Mapping):
    """Commands by name. Of motors a number: `sim.control["drive"] = 2.0`. Of a Follow without a motion a position (3, m), or
    with an orientation: `sim.control["hand"] = (0.1, 0, 1), (1, 0, 0, 0)`; read, both are joined, (3,) or (7,)."""

    def __init__(self, sim):
        self._sim = sim
        self._entry: dict[str, slice] = {}
        for element, entries in sim.model.commands:
            self._entry[str(element.name)] = slice(int(entries[0]), int(entries[-1]) + 1)

    def _where(self, name) -> slice:
        self._sim._follow_world()
        if self._sim.control is not self:
            return self._sim.control._where(name)
        key = name.name if isinstance(name, Element) else name
        if key not in self._entry:
            hint = suggestion(key, self._entry) or _those(self._entry)
            raise UnknownNameError(f'Simulation: nothing that takes commands is called "{key}"{hint}')
        return self._entry[key]

    def __getitem__(self, name):
        found = self._sim.work[self._where(name)]
        return float(found[0]) if len(found) == 1 else found.copy()

    def __setitem__(self, name, value) -> None:
        where, label = self._where(name), f'control["{getattr(name, "name", name)}"]'
        if where.stop - where.start == 1:
            self._sim.work[where] = checks.number(self._sim, label, value)
        else:
            pose = self._pose(label, value, where.stop - where.start == 7)
            self._sim.work[where.start : where.start + len(pose)] = pose
        self._sim._touched()

    def _pose(self, label: str, value, turns: bool) -> np.ndarray:
        """A position, or position and orientation, from either or both joined."""
        given = checks.entries(value) or []
        if len(given) not in (2, 7):
            return checks.vector(self._sim, label, value)
        position, orientation = given if len(given) == 2 else (given[:3], given[3:])
        if not turns:
            raise LinkworkError(f"Simulation: {label} takes no orientation, for its Follow has no angular coefficients; "
                                "give a position alone")  # fmt: skip
        parts = checks.vector(self._sim, label, position), checks.quaternion(self._sim, label, orientation)
        return np.concatenate(parts)

    def entries(self) -> dict[str, np.ndarray]:
        """All commands as they stand in the workspace."""
        return {name: self._sim.work[where].copy() for name, where in self._entry.items()}

    def take(self, entries: Mapping[str, np.ndarray]) -> None:
        """Commands as `entries` gave them, to those who still take such."""
        for name, values in entries.items():
            where = self._entry.get(name, slice(0, 0))
            if where.stop - where.start == len(values):
                self._sim.work[where] = values

    def __iter__(self):
        return iter(self._entry)

    def __len__(self) -> int:
        return len(self._entry)


def _those(known):
    """`; there are ...`, of many the first."""
    some = ", ".join(list(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return f"; there are {some}" if known else "; add a Motor, or a Follow without a motion"
