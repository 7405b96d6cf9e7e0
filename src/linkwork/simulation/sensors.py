"""Sensors: what all sensors of a world read, as one array, and what each of its numbers is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_for
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.model.held_samples import Samples
from linkwork.schedules.sensor_readings import SensorReadings
from linkwork.simulation.coordinates import Coordinate
from linkwork.simulation.reactions import solve_accelerations
from linkwork.simulation.sampling import Timing, timing_of
from linkwork.simulation.sensing import Now
from linkwork.simulation.sensor_noise import gaussian, keys_of

if TYPE_CHECKING:
    from linkwork.elements.core.sensor import Sensor
    from linkwork.simulation.query import Query
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray

SHOWN = 8  # names in a sentence


class SensorReadout:
    """The readout of the sensors of one System."""

    def __init__(self, system: System, query: Query) -> None:
        self.system, self.now, self.sensors = system, Now(system, query), system.world.sensors
        self.readings = SensorReadings(system.schedules.readings, list(self.sensors))
        self.at = self.readings.at
        self.timing: dict[str, Timing] = {str(s.name): timing_of(s, system.dt) for s in self.sensors if s.sampled}
        self._count = -1
        self._out = self._values = np.zeros(0)
        self._filled: set[Any] = set()  # lists of operations that ran, and names of sensors that were measured
        self._told = -1, -1  # of `_values`: the count and the step
        self._describe()

    def _describe(self) -> None:
        """Scales, noise and bounds of all channels."""
        n = self.readings.size
        self.scale, self.offset, self.noise, self.keys = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.uint64)
        self.low, self.high = np.full(n, -np.inf), np.full(n, np.inf)
        for sensor in self.sensors:
            at, kind = self.at[str(sensor.name)], kind_for(sensor)
            self.scale[at], self.offset[at] = kind.scaling(sensor)
            self.noise[at] = sensor.noise
            self.keys[at] = keys_of(str(sensor.name), sensor.seed, at.stop - at.start)
            if sensor.cutoff is not None:
                self.high[at] = sensor.cutoff
                self.low[at] = -np.inf if kind.positive else -sensor.cutoff
        self.scaled = bool((self.scale != 1.0).any() or self.offset.any())
        self.noisy, self.bounded = bool(self.noise.any()), bool(np.isfinite(self.high).any())

    # -- what is true now ------------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        if self._count != self.system.validity.count:
            self._count = self.system.validity.count
            self._out = self.readings.start.copy()
            self._filled.clear()

    def _run(self, name: str, operations: FloatArray, solved: bool) -> None:
        if name not in self._filled and len(operations):
            if solved:
                solve_accelerations(self.system)
            self.readings.readings.fill(self.system.work, operations, self._out)
        self._filled.add(name)

    def _measure(self, sensor: Sensor) -> None:
        if sensor.name not in self._filled:
            self._filled.add(sensor.name)
            self._out[self.at[str(sensor.name)]] = kind_for(sensor).measure(sensor, self.now)

    def _fill(self, only: Sensor | None = None) -> FloatArray:
        """Everything, or at least what one sensor reads, as it is now: an array behind whose numbers others follow."""
        self._begin()
        found = self.readings
        measured = found.measured if only is None else [only] if any(only is one for one in found.measured) else []
        if only is None or not measured:
            self._run("state", found.state, solved=False)
            if only is None or getattr(kind_for(only), "solved", False):
                self._run("solved", found.solved, solved=True)
        for sensor in measured:
            self._measure(sensor)
        return self._out

    # -- what is told ----------------------------------------------------------------------------------------------------
    def _told_of(self, at: slice, step: int) -> FloatArray:
        """What channels tell of what is true now, with the noise of a step."""
        value: FloatArray = self._out[at].copy()
        if self.scaled:
            value = self.scale[at] * value + self.offset[at]
        if self.noisy:
            value += self.noise[at] * gaussian(self.keys[at], step)
        return np.clip(value, self.low[at], self.high[at]) if self.bounded else value

    def values(self) -> FloatArray:
        """All numbers; the array cannot be written."""
        system = self.system
        self.begin()
        if self._told != (key := (system.validity.count, system.steps)):
            self._fill()
            value = self._told_of(slice(0, self.readings.size), system.steps)
            for name, timing in self.timing.items():
                value[self.at[name]] = system.held[name].at(system.steps - timing.delay)
            value.flags.writeable = False
            self._told, self._values = key, value
        return self._values

    def value(self, name: str) -> FloatArray:
        """The numbers of one sensor, and no others found for it."""
        system, at = self.system, self.at[name]
        if self._told == (system.validity.count, system.steps):
            return self._values[at]
        if (timing := self.timing.get(name)) is not None:
            self.begin()
            found = system.held[name].at(system.steps - timing.delay)
        else:
            self._fill(system.world.find(name))
            found = self._told_of(at, system.steps)
        found.flags.writeable = False
        return found

    # -- samples ---------------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """First samples of sensors that have none."""
        held = self.system.held
        if len(held) < len(self.timing):
            self._take([name for name in self.timing if name not in held])

    def steps_to_next(self, most: int) -> int:
        """How many of so many steps can be made before something is to be sampled."""
        return min([most, *(timing.steps_to_next(self.system.steps) for timing in self.timing.values())])

    def after_step(self) -> None:
        """Sample what is due at this step."""
        step = self.system.steps
        if due := [name for name, timing in self.timing.items() if timing.due(step)]:
            self._take(due)

    def _take(self, names: list[str]) -> None:
        system, step, held = self.system, self.system.steps, dict(self.system.held)
        for name in names:
            self._fill(system.world.find(name))
            value = self._told_of(self.at[name], step)
            known = held.get(name, Samples(np.zeros(0, dtype=np.int64), np.zeros((0, len(value)))))
            if len(known.steps) and known.steps[-1] >= step:
                continue
            held[name] = known.with_one(step, value, step - self.timing[name].delay)
        for samples in held.values():
            samples.values.flags.writeable = False
        system.held = held


class Sensors:
    """What the sensors of a simulation tell now: `sim.sensors`.

    It is an array of all numbers, sensors in the order of `world.sensors`, and a table: `sim.sensors["imu"]` has those of one.
    Arrays cannot be written, and stay as they are when the simulation goes on.

    >>> import linkwork as lw
    >>> world = lw.scenes.get("double-pendulum")
    >>> first = world.add(lw.JointPositionSensor(world.constraints[0], name="encoder"))
    >>> second = world.add(lw.GyroSensor(world.bodies[-1], noise=0.01, name="gyro"))
    >>> sim = lw.Simulation(world)
    >>> sim.sensors.values.shape, sim.sensors["gyro"].shape, sim.sensors.slices["gyro"]
    ((4,), (3,), slice(1, 4, None))
    >>> str(sim.sensors.channels[0]), sim.sensors.units[1]
    ('encoder: angle, rad', 'rad/s')
    """

    __slots__ = ("_readout",)

    def __init__(self, readout: Callable[[], SensorReadout]) -> None:
        self._readout = readout

    @property
    def values(self) -> FloatArray:
        """(n,): all numbers."""
        return self._readout().values()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype) if copy or dtype is not None else self.values

    def __len__(self) -> int:
        return self._readout().readings.size

    @overload
    def __getitem__(self, item: str | Sensor | slice) -> FloatArray: ...
    @overload
    def __getitem__(self, item: int) -> float: ...
    def __getitem__(self, item: str | Sensor | slice | int) -> FloatArray | float:
        if isinstance(item, str | Element):
            readout = self._readout()
            return readout.value(_known(readout, item))
        found: FloatArray | float = self.values[item]
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sensors."""
        return tuple(self._readout().at)

    @property
    def channels(self) -> tuple[Coordinate, ...]:
        """What each number is: of which sensor, what, and in which unit."""
        return tuple(Coordinate(str(s.name), *q) for s in self._readout().sensors for q in kind_for(s).channels(s))

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each number."""
        return tuple(channel.unit for channel in self.channels)

    @property
    def slices(self) -> Mapping[str, slice]:
        """Where the numbers of each sensor are, by its name."""
        return MappingProxyType(self._readout().at)

    @property
    def rates(self) -> dict[str, float]:
        """How often each sensor samples (1/s), by its name: with each step unless it has a rate of its own."""
        readout = self._readout()
        return {str(s.name): 1.0 / readout.system.dt if s.rate is None else s.rate for s in readout.sensors}

    def __repr__(self) -> str:
        readout = self._readout()
        return f"<Sensors: {len(readout.sensors)} of them, {readout.readings.size} numbers>"


def _known(readout: SensorReadout, item: str | Element) -> str:
    """The name of a sensor of the world."""
    name = str(item.name) if isinstance(item, Element) else item
    if name in readout.at and not (isinstance(item, Element) and item not in readout.system.world):
        if any(str(one.name) == name for one in readout.readings.resting):
            label = checks.label(readout.system.world.find(name))
            raise LinkworkError(f"{label}: what it reads is switched off; switch it on first")
        return name
    if name in readout.system.world:
        label = checks.label(readout.system.world.find(name))
        raise LinkworkError(f"{label}: it is no sensor; add one that reads it, such as those of docs/sensors.md")
    hint = suggestion(name, readout.at) or (
        f"; there are {', '.join(list(readout.at)[:SHOWN])}" if readout.at else "; there is none"
    )
    raise UnknownNameError(f'Simulation: no sensor is called "{name}"{hint}')
