"""Control: the commands of motors by name."""

from __future__ import annotations

from collections.abc import Mapping

from linkwork.elements import checks
from linkwork.elements.base import Element
from linkwork.errors import UnknownNameError, suggestion
from linkwork.symbolic.kernels import parameter_record


class Control(Mapping):
    """Commands of motors by name: `sim.control["drive"] = 2.0`."""

    def __init__(self, sim):
        self._sim = sim
        self._entry: dict[str, int] = {}
        for k, force in enumerate(sim.model.forces):
            layout = parameter_record(force.kind.law)
            if "command" in layout:
                self._entry[force.element.name] = int(sim.model.force_at[k]) + layout.offset("command")

    def _where(self, name) -> int:
        self._sim._follow_world()
        if self._sim.control is not self:
            return self._sim.control._where(name)
        key = name.name if isinstance(name, Element) else name
        if key not in self._entry:
            raise UnknownNameError(f'Simulation: no motor is called "{key}"{suggestion(key, self._entry)}')
        return self._entry[key]

    def __getitem__(self, name) -> float:
        return float(self._sim.work[self._where(name)])

    def __setitem__(self, name, value) -> None:
        self._sim.work[self._where(name)] = checks.number(self._sim, f'control["{name}"]', value)
        self._sim._touched()

    def __iter__(self):
        return iter(self._entry)

    def __len__(self) -> int:
        return len(self._entry)

    def given(self) -> dict[str, float]:
        """All commands by name, of the model that is there now."""
        return {name: float(self._sim.work[entry]) for name, entry in self._entry.items()}
