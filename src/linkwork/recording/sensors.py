"""Sensors of a recording: what each of their channels is; their numbers stand among the extras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.recording.fields import RecordingError, SensorRecord

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray


def sensor_of(name: str, channels: Sequence[Sequence[str]]) -> tuple[Any, ...]:
    """As a recording keeps it: its name, and (what, unit) of each channel."""
    return name, tuple((str(what), str(unit)) for what, unit in channels)


def extra_of(name: str) -> str:
    """The extra that has the numbers of a sensor."""
    return f"sensor {name}"


def extras(sensors: Sequence[tuple[Any, ...]], values: FloatArray) -> dict[str, tuple[FloatArray, str]]:
    """The extras of sensors whose numbers (T, n) stand one after another, with their units."""
    found, first = {}, 0
    for name, channels in sensors:
        own = values[:, first : first + len(channels)]
        first += len(channels)
        units = dict.fromkeys(unit for _, unit in channels)
        found[extra_of(name)] = own[:, 0] if len(channels) == 1 else own, ", ".join(units)
    return found


def sensor_record(rec: Recording, name: str) -> SensorRecord:
    """What a sensor has told."""
    channels = dict(rec.sensors)[name]
    values = rec.extra[extra_of(name)].reshape(len(rec), len(channels))
    return SensorRecord(name, rec.time, values, *(tuple(part) for part in zip(*channels, strict=True)))


def check_sensors(rec: Recording) -> None:
    """Every sensor has its numbers."""
    for name, channels in rec.sensors:
        found = rec.extra.get(extra_of(name))
        if found is None or found.size != len(rec) * len(channels):
            raise RecordingError(f'Recording: sensor "{name}" has {len(channels)} channels and no numbers for them; '
                                 f'give extra["{extra_of(name)}"]')  # fmt: skip
