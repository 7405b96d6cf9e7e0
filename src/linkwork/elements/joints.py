"""Joints: what two bodies keep in common.

`a` and `b` are bodies or their names. `at` and `axis` are in the world as built; `on_a`, `on_b`, `axis_a`, `axis_b` are
in the frames of the bodies. Where only one of `on_a`, `on_b` (or of `axis_a`, `axis_b`) is given, the other one is
where that point (direction) lies as built. Positions in metres; axes are unit vectors once made.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, ConstraintElement, Vector
from linkwork.elements.core.parameter import Parameter


@dataclass(eq=False, repr=False)
class Joint(ConstraintElement):
    """What all joints share: two bodies and the anchor."""

    sort: ClassVar[str] = "joint"
    REFERENCES: ClassVar[dict] = {"a": "body", "b": "body"}
    rows: ClassVar[int]  # constraint rows between two rigid bodies
    has_coordinate: ClassVar[bool] = False  # one angle or travel, which Motor, Drive and Motion can act on

    a: Body | str
    b: Body | str
    at: Vector | None = None  # (3,), m, world
    on_a: Vector | None = field(default=None, kw_only=True)  # (3,), m, in a's frame
    on_b: Vector | None = field(default=None, kw_only=True)  # (3,), m, in b's frame

    def __post_init__(self):
        super().__post_init__()
        self._check_anchor()

    def _check_anchor(self):
        one_way(self, checks.vector, "at", ("on_a", "on_b"), "at=(0, 0, 0)")


def one_way(who, check, world, local, example, **options):
    """Check a point or direction: it is given in the world, or in the bodies' frames (with these options), not both."""
    in_world = getattr(who, world)
    if in_world is not None:
        setattr(who, world, check(who, world, in_world))
    given = None
    for name in local:
        value = getattr(who, name)
        if value is not None:
            setattr(who, name, check(who, name, value, **options))
            given = given or name
    if (given is None) != (in_world is None):
        return
    ways = " or ".join(f"{name}=" for name in local)
    if given is None:
        checks.fail(who, f"{world} is missing", f"give {example}, or {ways}")
    checks.fail(who, f"both {world} and {given} are given", f"give {world}= or {ways}, not both")


@dataclass(eq=False, repr=False)
class AxisJoint(Joint):
    """A joint with an axis that both bodies share."""

    axis: Vector | None = None  # (3,), unit, world
    axis_a: Vector | None = field(default=None, kw_only=True)  # (3,), unit, in a's frame
    axis_b: Vector | None = field(default=None, kw_only=True)  # (3,), unit, in b's frame

    def __post_init__(self):
        super().__post_init__()
        one_way(self, checks.direction, "axis", ("axis_a", "axis_b"), "a direction such as (0, 1, 0)")


@dataclass(eq=False, repr=False)
class Ball(Joint):
    """A point of a stays on a point of b.

    >>> Ball("crank", "rod", at=(0.4, 0, 0), name="pin")
    <Ball "pin">
    """

    rows: ClassVar[int] = 3


@dataclass(eq=False, repr=False)
class Hinge(AxisJoint):
    """b turns about an axis of a; the angle is right-handed about it, zero as built.

    >>> Hinge("ground", "crank", at=(0, 0, 0), axis=(0, 2, 0)).axis.tolist()
    [0.0, 1.0, 0.0]
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True


@dataclass(eq=False, repr=False)
class Slider(AxisJoint):
    """b travels along an axis of a without turning; the travel is in metres, zero as built.

    >>> Slider("ground", "piston", at=(1, 0, 0), axis=(1, 0, 0)).rows
    5
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True


@dataclass(eq=False, repr=False)
class Cylindrical(AxisJoint):
    """b turns about and travels along an axis of a.

    >>> Cylindrical("sleeve", "shaft", at=(0, 0, 0), axis=(0, 0, 1)).rows
    4
    """

    rows: ClassVar[int] = 4


@dataclass(eq=False, repr=False)
class Universal(Joint):
    """A cross of two axes that stay perpendicular: `first` is fixed to a, `second` to b.

    >>> Universal("input", "output", at=(0, 0, 0), first=(1, 0, 0), second=(0, 1, 0)).rows
    4
    """

    rows: ClassVar[int] = 4

    first: Vector = (1.0, 0.0, 0.0)  # (3,), unit, world
    second: Vector = (0.0, 1.0, 0.0)  # (3,), unit, world, perpendicular to first

    def __post_init__(self):
        super().__post_init__()
        self.first = checks.direction(self, "first", self.first)
        second = checks.direction(self, "second", self.second)
        self.second = checks.perpendicular(self, "second", second, "first", self.first)


@dataclass(eq=False, repr=False)
class Planar(Joint):
    """b slides in a plane of a and turns about its normal.

    >>> Planar("ground", "puck", at=(0, 0, 0), normal=(0, 0, 1)).rows
    3
    """

    rows: ClassVar[int] = 3

    normal: Vector = (0.0, 0.0, 1.0)  # (3,), unit, world

    def __post_init__(self):
        super().__post_init__()
        self.normal = checks.direction(self, "normal", self.normal)


@dataclass(eq=False, repr=False)
class Weld(Joint):
    """b stays as it is built relative to a. Without an anchor, reactions are told at b's `position`.

    >>> Weld("arm", "camera", name="mount")
    <Weld "mount">
    """

    rows: ClassVar[int] = 6

    def _check_anchor(self):
        if self.at is not None or self.on_a is not None or self.on_b is not None:
            super()._check_anchor()


@dataclass(eq=False, repr=False)
class Screw(AxisJoint):
    """b turns about an axis of a and travels `pitch` metres along it each turn; a negative pitch is a left-hand thread.

    >>> Screw("frame", "nut", at=(0, 0, 0), axis=(0, 0, 1), pitch=0.005).pitch
    0.005
    """

    rows: ClassVar[int] = 5
    has_coordinate: ClassVar[bool] = True

    pitch: float | Parameter | None = None  # m a turn

    def __post_init__(self):
        super().__post_init__()
        if self.pitch is None:
            checks.fail(self, "pitch is missing", "give the metres of travel a turn such as pitch=0.005")
        self.pitch = checks.number(self, "pitch", self.pitch, parameter=True)
