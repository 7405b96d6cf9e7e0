"""What every adapter offers, and the chain that all of them build.

A module is an adapter if it has

    name         "MuJoCo"
    version      "4.0.0"
    work         "step" (a full time step) or "forward dynamics" (accelerations alone)
    ball_chain(n, dt), hinge_chain(n, dt) -> Chain, or raise Refused with the reason

The chain: n boxes of LENGTH x WIDTH x WIDTH metres and MASS kilograms, end to end along +x. The first end lies at the
origin, held to the ground; every joint is a ball, or a hinge about y. Released horizontally at rest, gravity along -z,
no contacts.
"""

from typing import Protocol

MASS = 0.1  # kg
LENGTH = 0.1  # m
WIDTH = 0.02  # m
GRAVITY = -9.81  # m/s^2, along z

# Principal inertia about the centre of mass, kg m^2: a solid box.
INERTIA = (
    MASS / 12 * (WIDTH**2 + WIDTH**2),
    MASS / 12 * (LENGTH**2 + WIDTH**2),
    MASS / 12 * (LENGTH**2 + WIDTH**2),
)


class Refused(Exception):
    """The peer can not build or run this chain here; the message says why."""


class Chain(Protocol):
    """A chain inside one peer."""

    def step(self, k: int) -> None:
        """The timed work, k times, in the fastest loop that the peer offers to Python."""

    def advance(self, k: int) -> None:
        """k time steps. The same as `step`, save where the timed work is forward dynamics alone."""

    def reset(self) -> None:
        """Back to the horizontal chain at rest."""

    def tip(self) -> tuple[float, float, float]:
        """Where the free end of the chain is now, in metres."""
