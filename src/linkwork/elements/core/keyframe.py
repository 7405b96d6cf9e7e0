"""A state that a model knows by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.elements.core import checks


@dataclass(frozen=True)
class Keyframe:
    """Where a model starts, in the coordinates of its joints: what is not named is as built, at rest, with no command.

    `positions` and `velocities` by the names of joints (numbers as `linkwork.reduced` has them: one of a hinge or slider, a
    quaternion and an angular velocity of a ball) and of bodies that float (position and quaternion; velocity and angular
    velocity, world axes); `controls` by the names of motors, and `activations` by those of motors with a filter.

    >>> Keyframe(positions={"knee": 0.3}, controls={"drive": 1.0}).velocities
    {}
    """

    positions: dict[str, Any] = field(default_factory=dict)
    velocities: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    activations: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
                checks.fail(self, f"{name} is {checks.show(given)}", f'give them by name, such as {name}={{"knee": 0.3}}')
