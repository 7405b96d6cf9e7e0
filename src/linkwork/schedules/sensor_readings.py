"""The readout of sensors: which entries belong to which of them, and what fills them; made when sensors are first read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor_kind import (
    EffortSensorKind,
    JointSensorKind,
    LengthSensorKind,
    MeasuredSensorKind,
    PlaceSensorKind,
)
from linkwork.kernels.sensor_kernels import MOST_PLACES, effort_kernel, length_kernel, place_sensor_kernel
from linkwork.schedules.readings import Readings, beyond

if TYPE_CHECKING:
    from linkwork.codegen.trace import Kernel
    from linkwork.elements.core.sensor import Sensor
    from linkwork.model.nodes import ForceNode

Operations = list[tuple["Kernel", tuple[int, ...]]]


@dataclass
class SensorReadings:
    """Where the numbers of each sensor are, and what fills them: two lists of operations and, one by one, what is measured.
    Behind the numbers of all sensors are entries that nobody needs and the constants of operations."""

    readings: Readings
    sensors: list[Sensor]
    at: dict[str, slice] = field(default_factory=dict)  # by name, in the order of the world
    measured: list[Sensor] = field(default_factory=list)
    resting: list[Sensor] = field(default_factory=list)  # what they speak of is switched off

    def __post_init__(self) -> None:
        self.size = 0
        for sensor in self.sensors:
            count = len(kind_for(sensor).channels(sensor))
            self.at[str(sensor.name)] = slice(self.size, self.size + count)
            self.size += count
        self._behind: list[np.ndarray] = []  # what comes behind the numbers of sensors
        self._end = self.size
        lists: dict[str, Operations] = {"sensors": [], "solved sensors": []}
        for sensor in self.sensors:
            self._add(sensor, lists)
        self.start = np.concatenate([np.zeros(self.size), *self._behind])
        for sensor in self.resting:
            self.start[self.at[str(sensor.name)]] = np.nan
        self.state, self.solved = (self.readings.listed(name, found) for name, found in lists.items())

    def _add(self, sensor: Any, lists: dict[str, Operations]) -> None:
        kind, model = kind_for(sensor), self.readings.model
        first, operations = self.at[str(sensor.name)].start, lists["sensors"]
        off = [one for _, _, one in sensor.references() if one.sort in ("joint", "constraint", "force")]
        if any(str(one.name) not in model.names for one in off):
            self.resting.append(sensor)
        elif isinstance(kind, PlaceSensorKind):
            self._add_places(sensor, kind, first, lists["solved sensors"] if kind.solved else operations)
        elif isinstance(kind, JointSensorKind):
            operations.append(self._joint(kind.joint(sensor), kind.rates, first))
        elif isinstance(kind, EffortSensorKind):
            shares = [(f, kind.share(sensor, f.element)) for f in model.forces if f.kind.law.drives]
            for number, (force, share) in enumerate((f, share) for f, share in shares if share):
                where = (*self._of_force(force), beyond(first), beyond(self._put(np.array([share]))))
                operations.append((effort_kernel(force.kind, number > 0), where))
        elif isinstance(kind, LengthSensorKind):
            force = model.forces[model.names[str(kind.tendon(sensor).name)][1]]
            operations.append((length_kernel(force.kind, kind.rates), (*self._of_force(force), beyond(first))))
        else:
            assert isinstance(kind, MeasuredSensorKind)
            self.measured.append(sensor)

    def _of_force(self, force: ForceNode) -> tuple[int, ...]:
        """Where a force is in the workspace, and its bodies."""
        model = self.readings.model
        where = int(model.force_at[model.names[str(force.element.name)][1]])
        return where, *(0 if end < 0 else int(model.body_at[end]) for end in force.ends)

    def _put(self, numbers: np.ndarray) -> int:
        """Keep numbers behind those of sensors; where they begin."""
        begin = self._end
        self._behind.append(np.asarray(numbers, dtype=float).ravel())
        self._end += self._behind[-1].size
        return begin

    def _add_places(self, sensor: Any, kind: PlaceSensorKind, first: int, operations: Operations) -> None:
        bodies = self.readings.model.bodies
        for part, places in enumerate(kind.parts(sensor)):
            assert len(places) <= MOST_PLACES, sensor
            numbers = [bodies.number.get(id(place.body)) for place in places]
            kinds = [None if number is None else bodies.kinds[number] for number in numbers]
            at = [0 if number is None else int(self.readings.model.body_at[number]) for number in numbers]
            poses = [np.concatenate([place.position, place.orientation]) for place in places]
            own = [np.ravel(value) for value in kind.numbers(sensor, part).values()]
            behind = self._put(np.concatenate([*poses, *own]))
            operations.append((place_sensor_kernel(kind, kinds, part > 0), (*at, beyond(first), beyond(behind))))

    def _joint(self, joint: Any, rates: bool, first: int) -> tuple[Kernel, tuple[int, ...]]:
        """The operation that reads the coordinates of a joint, or its velocities, to where they belong."""
        _, node, part = self.readings.model.names[str(joint.name)]
        kind = self.readings.model.nodes[node].kind.parts[part].kind
        constants = self._put(self.readings.constants(joint))
        spare = self._put(np.zeros(len(kind.read_names if rates else kind.read_rates)))
        q, qd = (spare, first) if rates else (first, spare)
        return self.readings.coordinates(node, part, q, qd, constants)
