"""Types of elements' fields, for checkers: what may be given, and what stands there once the element is made.

A field that converts takes more than it gives: `RigidBody(mass=1, position=(0, 0, 1))` is fine, and its `position` is an array.
Checkers know such a field as a descriptor, whose `__set__` takes the one and whose `__get__` gives the other; a dataclass's
`__init__` takes what `__set__` does. At run time these are annotations alone, of which the schema of scene files is made.

mypy takes a field for a descriptor only where it has a default. One that must be given is annotated with what may be given; a
class of which users read it declares `__init__` for checkers, and what stands there. `default(...)` is a default of any type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, overload

from linkwork.elements.core.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linkwork.util.array_types import AnyArray, FloatArray, Matrix, Vector

    Given = TypeVar("Given", contravariant=True)
    Kept = TypeVar("Kept", covariant=True)

    class Converted(Generic[Given, Kept]):
        """A field that is given one type and keeps another."""

        @overload
        def __get__(self, element: None, owner: type) -> Any: ...
        @overload
        def __get__(self, element: object, owner: type) -> Kept: ...
        def __get__(self, element: object, owner: type) -> Any: ...
        def __set__(self, element: object, value: Given) -> None: ...

    OpenNumber: TypeAlias = float | Parameter
    OpenNumbers: TypeAlias = OpenNumber | Sequence[OpenNumber] | AnyArray

    NameField: TypeAlias = Converted[str | None, str]  # None: the world gives one
    ScalarField: TypeAlias = Converted[float | None, float]  # None: it is filled in
    VectorField: TypeAlias = Converted[Vector, FloatArray]
    FilledVectorField: TypeAlias = Converted[Vector | None, FloatArray]  # None: it is filled in
    OptionalVectorField: TypeAlias = Converted[Vector | None, FloatArray | None]
    MatrixField: TypeAlias = Converted[Vector | Matrix | None, FloatArray]  # None: it is filled in
    OptionalMatrixField: TypeAlias = Converted[Matrix | None, FloatArray | None]
    NumbersField: TypeAlias = Converted[float | Vector, FloatArray]  # one number stands for all
    OptionalNumbersField: TypeAlias = Converted[float | Vector | None, FloatArray | None]
    OpenScalarField: TypeAlias = Converted[OpenNumber | None, OpenNumber]  # None: it is filled in
    OpenVectorField: TypeAlias = Converted[OpenNumbers, AnyArray]  # dtype object where it holds Parameters
    OptionalOpenVectorField: TypeAlias = Converted[OpenNumbers | None, AnyArray | None]
    OpenVectorOrFunctionField: TypeAlias = Converted[OpenNumbers | Callable[..., Any], AnyArray | Callable[..., Any]]
    BoundsField: TypeAlias = Converted[float | Vector | None, float | FloatArray | None]  # one for all coordinates, or each
    GivenVector: TypeAlias = Vector  # of fields without a default
    GivenOpenVector: TypeAlias = OpenNumbers
    KeptVector: TypeAlias = FloatArray  # of fields that an `__init__` sets
else:
    NameField = str | None
    ScalarField = VectorField = FilledVectorField = OptionalVectorField = Any
    MatrixField = OptionalMatrixField = NumbersField = OptionalNumbersField = Any
    OpenScalarField = float | Parameter | None
    OpenVectorField = OptionalOpenVectorField = GivenOpenVector = Annotated[Any, Parameter]
    OpenVectorOrFunctionField = Annotated[Any, Parameter] | Callable[..., Any]
    BoundsField = GivenVector = KeptVector = Any


def default(value: object) -> Any:
    """A default as checkers take it for a field that converts: the value itself."""
    return value
