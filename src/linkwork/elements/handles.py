"""What a hand does to a body that it has taken hold of at a point (`Simulation.grab`): it pulls, or leads the point."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ConstraintElement, ForceElement, Vector


@dataclass(eq=False, repr=False)
class Pull(ForceElement):
    """A spring and a damper between the point `at` of a body and a goal in the world, never stronger than `limit`.

    >>> Pull("lamp", goal=(0, 0, 1), stiffness=100.0, limit=50.0, name="hand")
    <Pull "hand">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    MOVING: ClassVar[tuple[str, ...]] = ("goal",)  # what changes while it is in force

    body: Body | str
    at: Vector = checks.ZERO  # (3,), m, in the body's frame
    goal: Vector = checks.ZERO  # (3,), m, world
    stiffness: float = 0.0  # N/m
    damping: float = 0.0  # N s/m
    limit: float = np.inf  # N


@dataclass(eq=False, repr=False)
class Hold(ConstraintElement):
    """The point `at` of a body is led from `start`, where it has a velocity at the time `since`, to a goal in the world, as a
    critically damped oscillator comes to rest.

    >>> Hold("lamp", start=(0, 0, 0), goal=(0, 0, 1), pace=10.0, name="hand")
    <Hold "hand">
    """

    REFERENCES: ClassVar[dict] = {"body": "body"}
    MOVING: ClassVar[tuple[str, ...]] = ("start", "velocity", "goal", "since", "pace")  # what changes while it is in force

    body: Body | str
    at: Vector = checks.ZERO  # (3,), m, in the body's frame
    start: Vector = checks.ZERO  # (3,), m, world
    velocity: Vector = checks.ZERO  # (3,), m/s
    goal: Vector = checks.ZERO  # (3,), m, world
    since: float = 0.0  # s
    pace: float = 1.0  # 1/s
