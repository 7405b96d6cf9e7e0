"""The units of fields, as data: what the comments beside them say. A test keeps both the same.

A field's name nearly always tells its unit; where it does not, UNITS of its element does, or of a function that makes
elements BY_FUNCTION. Of several units a joint decides.
"""

from __future__ import annotations

from typing import NamedTuple


class Quantity(NamedTuple):
    """What a number is, and its unit."""

    what: str
    unit: str


def rate_of(quantity: Quantity) -> Quantity:
    """That of its rate of change.

    >>> rate_of(Quantity("angle", "rad"))
    Quantity(what='angle', unit='rad/s')
    """
    return Quantity(quantity.what, f"{quantity.unit}/s" if quantity.unit else "")


ANGLE, TRAVEL = Quantity("angle", "rad"), Quantity("travel", "m")
QUATERNION = tuple(Quantity(f"quaternion {c}", "1") for c in "wxyz")
POSITION = tuple(Quantity(f"position {c}", "m") for c in "xyz")
VELOCITY = tuple(Quantity(f"velocity {c}", "m/s") for c in "xyz")
ANGULAR_VELOCITY = tuple(Quantity(f"angular velocity {c}", "rad/s") for c in "xyz")

BY_NAME: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mass", "masses"), ("kg",)),
    **dict.fromkeys(("inertia", "second_moment"), ("kg m^2",)),
    "density": ("kg/m^3",),
    "volumes": ("m^3",),
    **dict.fromkeys(("position", "at", "on_a", "on_b", "com", "length", "radius", "thickness", "pitch", "x", "y", "z"), ("m",)),
    **dict.fromkeys(("points", "vertices", "heights", "size", "plane", "sphere", "travel_rest"), ("m",)),
    **dict.fromkeys(("velocity", "bounce_above", "recovery", "slip"), ("m/s",)),
    "angular_velocity": ("rad/s",),
    **dict.fromkeys(("angle", "cone", "twist"), ("rad",)),
    **dict.fromkeys(("stretch_rate", "deformation_rate"), ("1/s",)),
    **dict.fromkeys(("lower", "upper"), ("rad", "m")),
    "force": ("N",),
    "torque": ("N m",),
    **dict.fromkeys(("stiffness", "travel_stiffness"), ("N/m",)),
    **dict.fromkeys(("damping", "travel_damping", "linear"), ("N s/m",)),
    "quadratic": ("N s^2/m^2",),
    **dict.fromkeys(("angular", "angular_damping"), ("N m s",)),
    "angular_stiffness": ("N m/rad",),
    "kp": ("N m/rad", "N/m"),
    "kd": ("N m s/rad", "N s/m"),
    "limit": ("N m", "N"),
    "gravity": ("m/s^2",),
    "times": ("s",),
    "gap": ("s",),
    "positions": ("m",),
}

BY_FUNCTION: dict[str, tuple[str, ...]] = {
    "double_pendulum.lengths": ("m",),
    "double_pendulum.angles": ("rad",),
    "double_pendulum.rates": ("rad/s",),
    "double_pendulum.pivot": ("m",),
    "bead_on_wire.at": (),
    "bending_beam.bending": ("N m^2",),
    "bending_beam.clamp": ("m",),
    "bending_beam.bent": ("m",),
    "bending_beam.rates": ("m/s",),
    "bending_beam.damping": (),
    "squashing_ball.stiffness": ("N m",),
    "squashing_ball.damping": (),
}  # fmt: skip


def units_of(kind: str, field: str, made: type | None = None) -> tuple[str, ...]:
    """The units that a field of a kind may have: none where it is no quantity, several where a joint decides.
    `made`: the class, whose UNITS come first.

    >>> units_of("Hinge", "at"), units_of("Motor", "limit"), units_of("Collider", "friction")
    (('m',), ('N m', 'N'), ())
    """
    found = getattr(made, "UNITS", {}).get(field, BY_FUNCTION.get(f"{kind}.{field}"))
    return BY_NAME.get(field, ()) if found is None else found
