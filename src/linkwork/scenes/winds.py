"""Wind along x that comes in gusts, as a user would write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.traced import BodyProxy, Traced


AIR = 1.2  # kg/m^3
GUSTS = ((0.5, 1.1, 0.4), (0.3, 2.9, 1.3), (0.2, 6.7, 2.9))  # share of the speed, rad/s, rad a metre across


def flow(speed: float, place: SX, t: SX) -> tuple[Any, Any, Any]:
    """The wind (3, m/s) at a place (3, m) and time, of this mean speed (m/s); numbers or expressions."""
    from linkwork.elements.core.functions import sin

    x, y, z = (place[k] for k in range(3))
    gust = sum(share * sin(rate * (t - x / 10) + across * (y + z)) for share, rate, across in GUSTS)
    return speed * (1 + gust), 0.2 * speed * gust, 0.1 * speed * gust


def drag(speed: float, area: float, body: BodyProxy, t: SX) -> SX:
    """The force (3, N) of that wind on a body of this area (m^2)."""
    from linkwork.elements.core.functions import norm
    from linkwork.elements.core.traced import vector

    past = vector(flow(speed, body.position, t)) - body.velocity
    return 0.5 * AIR * area * norm(past) * past


def force(function: Callable[..., Any]) -> Traced:
    """The function of a Force after tracing: many bodies may share it."""
    from linkwork.elements.core.traced import Traced

    return Traced("Force", function, ("b", "t"))
