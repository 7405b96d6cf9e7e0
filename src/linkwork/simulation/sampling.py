"""Timing of sensors: at which steps one samples, and how late it tells. Everything is counted in steps, so that it is the same
however steps are divided into calls."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_for

if TYPE_CHECKING:
    from linkwork.elements.core.sensor import Sensor
    from linkwork.model.held_samples import Held
    from linkwork.simulation.notes import Notes
    from linkwork.world import World

SLACK = 1e-6  # of a step: what rounding makes of whole numbers


class Timing(NamedTuple):
    """Of one sensor."""

    period: float  # steps from sample to sample, one at least
    delay: int  # steps

    def count(self, step: int) -> int:
        """The number of the sample that is held at a step."""
        return floor((step + SLACK) / self.period)

    def due(self, step: int) -> bool:
        """Whether a sample is taken at a step.

        >>> [step for step in range(11) if Timing(2.5, 0).due(step)]
        [0, 3, 5, 8, 10]
        """
        return step == 0 or self.count(step) > self.count(step - 1)

    def steps_to_next(self, step: int) -> int:
        """From a step to the next one at which a sample is taken.

        >>> Timing(2.5, 0).steps_to_next(5), Timing(1.0, 4).steps_to_next(5)
        (3, 1)
        """
        ahead = max(1, ceil((self.count(step) + 1) * self.period - SLACK) - step)
        return ahead if self.due(step + ahead) else ahead + 1


def timing_of(sensor: Sensor, dt: float) -> Timing:
    """In steps of dt."""
    period = 1.0 if sensor.rate is None else max(1.0, 1.0 / (sensor.rate * dt))
    return Timing(period, sensor.delay_steps or round(sensor.delay / dt))


def still_held(world: World, held: Held) -> Held:
    """The samples of sensors that are in a world and take such."""
    counts = {str(s.name): len(kind_for(s).channels(s)) for s in world.sensors if s.sampled} if held else {}
    return {name: samples for name, samples in held.items() if name in counts and samples.fits(counts[name])}


def tell_timing(world: World, dt: float, notes: Notes) -> None:
    """Notes on sensors whose rate or delay the step does not allow, each given once."""
    for sensor in world.sensors:
        found = []
        if sensor.rate is not None and sensor.rate * dt > 1.0 + SLACK:
            found.append(f"its rate is {sensor.rate:g} 1/s, and a step {dt:g} s; it samples at each step")
        steps = sensor.delay / dt
        if abs(steps - round(steps)) > SLACK * max(1.0, steps):
            found.append(
                f"its delay is {sensor.delay:g} s, no whole number of steps of {dt:g} s; it is {round(steps) * dt:g} s"
            )
        for text in (f"{checks.label(sensor)}: {one}" for one in found):
            if text not in notes:
                notes.add(text)
