"""Sensor: what every sensor is. It reads a simulation, takes no part in the motion, and may be noisy, slow and late."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element
from linkwork.elements.core.field_types import NumbersField, default
from linkwork.elements.core.included import carried_along
from linkwork.elements.core.registry import kind_for

MOST_DELAY = 100_000  # steps


@dataclass(eq=False, repr=False)
class Sensor(Element):
    """What sensors have in common.

    `noise` is the standard deviation of Gaussian noise, one for all channels or one for each, in their unit. It depends on
    `seed`, on the sensor's name and on the number of the step alone. A sensor with a `rate` (1/s) samples at the first step of
    each period and holds what it has; one with a `delay` (s, or `delay_steps`) tells what it was so much earlier. Nothing
    beyond +-`cutoff` is told.
    """

    sort: ClassVar[str] = "sensor"
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {"rate": ("1/s",), "delay": ("s",), "noise": (), "cutoff": ()}

    noise: NumbersField = field(default=default(0.0), kw_only=True)  # one, or one for each channel
    seed: int = field(default=0, kw_only=True)
    rate: float | None = field(default=None, kw_only=True)  # 1/s; None: at every step
    delay: float = field(default=0.0, kw_only=True)  # s
    delay_steps: int = field(default=0, kw_only=True)
    cutoff: float | None = field(default=None, kw_only=True)

    include_at = carried_along

    def __post_init__(self) -> None:
        super().__post_init__()
        given = checks.entries(self.noise)
        several = [self.noise] if given is None else given
        checked = [checks.non_negative(self, "noise", each) for each in several]
        self.noise = np.array(checked[0] if given is None else checked)
        self.seed = checks.whole(self, "seed", self.seed, most=2**63 - 1)
        self.rate = checks.optional(checks.positive, self, "rate", self.rate)
        self.delay = checks.non_negative(self, "delay", self.delay)
        self.delay_steps = checks.whole(self, "delay_steps", self.delay_steps, most=MOST_DELAY)
        if self.delay and self.delay_steps:
            checks.fail(self, f"delay is {self.delay:g} and delay_steps is {self.delay_steps}", "give one of the two")
        self.cutoff = checks.optional(checks.positive, self, "cutoff", self.cutoff)

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        """One noise for each channel, where there are several."""
        if self.noise.ndim:
            twin = copy(self)
            twin.replace_references(resolved)
            if (count := len(kind_for(twin).channels(twin))) != len(self.noise):
                checks.fail(
                    self, f"noise has {len(self.noise)} numbers, and it has {count} channels", f"give one number, or {count}"
                )

    def check_axes(self, body: Any) -> None:
        """Refuse a body without axes of its own, which nothing can be told in."""
        if isinstance(body, Body) and body.dim and not kind_for(body).framed:
            checks.fail(
                self, f"{checks.label(body)} has no axes", "give a body with a frame, such as a RigidBody, or a Frame on one"
            )

    @property
    def sampled(self) -> bool:
        """Whether it tells something other than what is now."""
        return self.rate is not None or self.delay > 0.0 or self.delay_steps > 0
