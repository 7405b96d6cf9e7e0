"""What bodies fill in when they are made: masses and moments of their shapes, checked vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.elements.core.shape import Shape

if TYPE_CHECKING:
    from linkwork.elements.core.element import Body
    from linkwork.util.array_types import FloatArray


def check_shape(body: Body, shape: Shape | None) -> None:
    if shape is not None and not isinstance(shape, Shape):
        checks.fail(body, f"shape is {checks.show(shape)}", "give a shape such as Box(0.4, 0.1, 0.1)")
    if shape is not None and not shape.solid:
        checks.fail(body, f"shape is {shape!r}, which only stands on the ground", "give a solid such as Box(0.4, 0.1, 0.1)")


def fill_mass(body: Any) -> None:
    """The mass as given, else that of the shape at the density."""
    shape, density = getattr(body, "shape", None), getattr(body, "density", None)
    check_shape(body, shape)
    if density is not None:
        body.density = checks.positive(body, "density", density)
        if shape is None:
            checks.fail(body, f"density is {body.density:g} but there is no shape", "give shape= or leave density out")
    if body.mass is None and density is None:
        remedy = "give mass=, or shape= with density=" if hasattr(body, "shape") else "give mass= in kg"
        checks.fail(body, "mass is missing", remedy)
    given = body.shape.volume * body.density if body.mass is None else body.mass
    body.mass = checks.positive(body, "mass", given)


def of_shape(body: Any, field: str) -> FloatArray:
    """`inertia` or `second_moment` of the shape."""
    if body.shape is None:
        checks.fail(body, f"{field} is missing", f"give {field}= or shape=")
    found: FloatArray = getattr(body.shape, field)(body.mass)
    return found


def fill_moment(body: Any, field: str, check: Callable[..., Any]) -> None:
    """The matrix `inertia` or `second_moment` as given, else that of the shape."""
    moment, sound = getattr(body, field), False
    if moment is None:
        moment = of_shape(body, field)
        low, _, high = sorted(moment.diagonal().tolist())
        sound = checks.THIN * high < low and high <= checks.LARGEST  # what else a moment needs, that of a shape has
    setattr(body, field, moment if sound else check(body, field, moment))


def check_vectors(body: Any, *names: str) -> None:
    for name in names:
        setattr(body, name, checks.vector(body, name, getattr(body, name)))
