"""What bodies, constraints and forces share: a name, references to other elements, parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, get_args

from linkwork.elements.core import checks
from linkwork.elements.core.changing import Making, change, check_deleted
from linkwork.elements.core.families import OfFamily
from linkwork.elements.core.field_types import NameField, default
from linkwork.elements.core.included import Move, carried_along
from linkwork.elements.core.parameter import Parameter, parameters_in
from linkwork.elements.core.registry import kind_for

if TYPE_CHECKING:
    from linkwork.elements.core.traced import Traced
    from linkwork.util.array_types import FloatArray

_NOWHERE: Any = type(None)  # what `_world` is outside of any World; inside it is a weak reference: called, it gives it


def _speaks_of_parameter(annotation: Any) -> bool:
    if isinstance(annotation, str):  # from __future__ import annotations
        return "Parameter" in re.findall(r"\w+", annotation)
    return annotation is Parameter or any(_speaks_of_parameter(part) for part in get_args(annotation))


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a body is: a local point p is at position + frame @ p, but for Lagrangian bodies."""

    position: FloatArray  # (3,) m
    orientation: FloatArray  # (4,)
    frame: FloatArray  # (3, 3)
    coordinates: FloatArray | None = None  # (n,), u of a Lagrangian body, and ...
    parameters: FloatArray | None = None  # ... the numbers of its functions' Parameters: its points depend on nothing else


@cache
def _hyphenated(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")


@dataclass(eq=False, repr=False)
class Element(OfFamily, metaclass=Making):
    """Anything that a World holds. Elements are compared and hashed by identity. Fields may be assigned until the world is
    first simulated; then they are checked, and refuse from then on; arrays are read-only then."""

    sort: ClassVar[str]  # "body", "joint", "constraint", "force", "contact", "visual", "frame" or "sensor"
    REFERENCES: ClassVar[dict[str, str]] = {}  # field -> "body", "joint" or "body or joint"; a field may hold a tuple of them
    OPTIONAL: ClassVar[tuple[str, ...]] = ()  # those of them that may be None
    PARAMETERS: ClassVar[tuple[str, ...]] = ()  # the fields that may hold Parameters: their annotations say so
    UNITS: ClassVar[dict[str, tuple[str, ...]]] = {}  # field -> its units where its name does not tell them (core/units.py)
    WORLD_POINTS: ClassVar[tuple[str, ...]] = ()  # fields that are points of the world as built ...
    WORLD_DIRECTIONS: ClassVar[tuple[str, ...]] = ()  # ... and directions
    ENDS: ClassVar[dict[str, Any]] = {
        "a": (("on_a",), ("axis_a", "normal_a")),
        "b": (("on_b",), ("axis_b",)),
    }  # and in a body's frame
    GROUPS: ClassVar[tuple[str, ...]] = ()  # fields that name groups, which have a prefix where a world is included in another
    MOVING: ClassVar[tuple[str, ...]] = ()  # of what a hand does: fields that change while it is in force
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {}  # field with a function -> its arguments: ("t",), ("bodies", "t"), ...

    name: NameField = field(default=default(None), kw_only=True)

    _world: ClassVar[Any] = _NOWHERE
    built: ClassVar[dict[str, Pose] | None] = None  # body's name -> Pose: of what `at`, `axis` and lengths left out speak

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = inspect.get_annotations(cls, eval_str=True).items()
        cls.PARAMETERS += tuple(name for name, annotation in own if _speaks_of_parameter(annotation))

    def __post_init__(self) -> None:
        checks.name(self, self.name)
        if self.REFERENCES:
            self.check_references()

    def __repr__(self) -> str:
        return f"<{checks.label(self)}>"

    if not TYPE_CHECKING:  # checkers would take it that any attribute may be assigned

        def __setattr__(self, name: str, value: Any) -> None:
            if name[:1] == "_":
                object.__setattr__(self, name, value)
            else:
                change(self, name, value)

        def __delattr__(self, name: str) -> None:
            check_deleted(self, name)
            object.__delattr__(self, name)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self._fields())
        return twin

    def __getstate__(self) -> dict[str, Any]:  # of pickles and deep copies: expressions stand for functions, never code
        fields = self._fields()
        return fields | {where: self.traced(where) for where in self.FUNCTIONS if callable(fields[where])}

    def _fields(self) -> dict[str, Any]:  # a copy is in no world until one takes it
        return {key: value for key, value in self.__dict__.items() if key != "_world"}

    @classmethod
    def prefix(cls) -> str:
        """The first part of a default name: PointOnLine gives "point-on-line"."""
        return _hyphenated(cls.__name__)

    def references(self) -> list[tuple[str, str, Any]]:
        """(field, wanted, element or name) for every other element that this one speaks of."""
        found: list[tuple[str, str, Any]] = []
        for where, wanted in self.REFERENCES.items():
            value = getattr(self, where)
            if isinstance(value, tuple):
                found += [(where, wanted, item) for item in value]
            elif value is not None or where not in self.OPTIONAL:
                found.append((where, wanted, value))
        return found

    def poses(self) -> dict[str, Pose]:
        """body's name -> Pose, of bodies that were not as built when this was made; what refers to a joint is as that is."""
        found = self.built or {}
        if any("joint" in wanted for wanted in self.REFERENCES.values()):
            for _, _, other in self.references():
                found = found | other.poses()
        return found

    def replace_references(self, resolved: Iterable[Element]) -> None:
        """Put elements for the names, in the order of references()."""
        following = iter(resolved)
        for where in self.REFERENCES:
            value = getattr(self, where)
            if value is not None or where not in self.OPTIONAL:
                new = tuple(next(following) for _ in value) if isinstance(value, tuple) else next(following)
                vars(self)[where] = new

    def check_references(self) -> None:
        """Each reference is a name, or an element of the sort wanted."""
        for where, wanted in self.REFERENCES.items():
            value = getattr(self, where)
            if is_a(value, wanted) or (value is None and where in self.OPTIONAL):  # nearly always
                continue
            for item in value if isinstance(value, tuple) else (value,):
                if not is_a(item, wanted) and not (isinstance(item, str) and item):
                    shown = f"a {type(item).__name__}" if isinstance(item, Element) else checks.show(item)
                    checks.fail(self, f"{where} is {shown}", f"give a {wanted} or its name")

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        """What can be said only once every name is an element; resolved is in the order of references()."""

    def include_at(self, move: Move) -> str | None:
        """Move what it says of the world with the world that it is in; or say why that cannot be."""
        return "nothing is known of how it could be moved"

    def made_at(self, place: Callable[..., FloatArray]) -> None:
        """Fill in what was left out and follows from where bodies are; place(body, local point) is a point of the world."""

    def variant(self) -> Hashable:
        """Which of the kinds of its class it is, where there are several (core/registry.py)."""
        return None

    def traced(self, where: str, size: int | None = None, sizes: Mapping[str, int | None] | None = None) -> Traced:
        """The function in a field as an expression, of `size` rows if given; a number is the function that gives it. `sizes`:
        of its arguments, in the place of what the element says."""
        from linkwork.elements.core.traced import traced

        value = getattr(self, where)
        function = value if callable(value) else lambda t: value
        return traced(checks.label(self), function, self.arguments(where), size, self.sizes() if sizes is None else sizes)

    def arguments(self, where: str) -> tuple[str, ...]:
        """The names of the arguments of the function in a field."""
        found = self.FUNCTIONS[where]
        return body_arguments(len(self.references())) if "bodies" in found else found

    def sizes(self) -> dict[str, int | None]:
        """How many numbers some arguments of its functions have, where the element decides; of bodies, how many generalised
        coordinates (None: not known of a name)."""
        if not any("bodies" in arguments for arguments in self.FUNCTIONS.values()):
            return {}
        bodies = [item for _, _, item in self.references()]
        counts = [None if isinstance(body, str) else body.generalised for body in bodies]
        return dict(zip(body_arguments(len(bodies)), counts, strict=False))

    def follows(self, name: str) -> bool:
        """Whether what a field holds was made from other fields, so that files leave it out."""
        return False

    def parameters(self) -> list[Parameter]:
        """Every Parameter in a field, in order; one used twice comes twice."""
        found: list[Parameter] = []
        for name in self.PARAMETERS:
            value = getattr(self, name)
            if value is not None:
                found += parameters_in((value,))
        return found


@dataclass(eq=False, repr=False)
class Body(Element):
    """What constraints and forces act on."""

    sort: ClassVar[str] = "body"
    kind: ClassVar[str]
    dim: ClassVar[int]  # number of velocity components
    generalised: ClassVar[int] = 0  # number of coordinates of its own, which users' functions may ask for

    @classmethod
    def prefix(cls) -> str:
        return cls.kind

    def include_at(self, move: Move) -> str | None:
        found: str | None = kind_for(self).include_at(self, move)
        return found


@dataclass(eq=False, repr=False)
class ConstraintElement(Element):
    """Joints and constraints: rows that the solver keeps."""

    sort: ClassVar[str] = "constraint"

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)


@dataclass(eq=False, repr=False)
class PairConstraint(ConstraintElement):
    """A constraint between two bodies."""

    REFERENCES: ClassVar[dict[Any, Any]] = {"a": "body", "b": "body"}

    a: Body | str
    b: Body | str

    include_at = carried_along


@dataclass(eq=False, repr=False)
class ForceElement(Element):
    """Forces: given, not solved for."""

    sort: ClassVar[str] = "force"
    bounds_joint: ClassVar[bool] = False  # acts beyond bounds of coordinates of its `joint`: `given`, `lower`, `upper`

    def check_resolved(self, resolved: Sequence[Any]) -> None:
        check_ends(self, resolved)


@dataclass(eq=False, repr=False)
class ContactElement(Element):
    """What acts by impulses within bounds."""

    sort: ClassVar[str] = "contact"
    acts: ClassVar[bool] = True  # without others: a world with one of these has contact
    touched: ClassVar[bool] = False  # has a shape
    is_stop: ClassVar[bool] = False  # bounds a distance or a coordinate, or rubs in it
    bounds_joint: ClassVar[bool] = False  # a stop that bounds coordinates of its `joint`: `given`, `lower`, `upper`
    rubs: ClassVar[bool] = False  # a stop without a bound: dry friction
    refuses_violation: ClassVar[bool] = False  # must hold as built, but for what is soon taken back

    def points(self) -> list[Any]:
        """(body, point in its frame) of all that it touches or holds by points."""
        return []

    def check_point(self, body: Body) -> None:
        """Refuse a body of which it can not take a single point."""

    def _check_restitution(self) -> None:
        value = checks.non_negative(self, "restitution", vars(self)["restitution"])
        if value > 1.0:
            checks.fail(self, f"restitution is {value:g}", "give a number from 0 (no bounce) to 1 (nothing lost)")
        vars(self)["restitution"] = value


def is_a(item: object, wanted: str) -> bool:
    """Whether item is an element of the sort wanted: "body", "joint" or "body or joint"."""
    return isinstance(item, Element) and item.sort in wanted  # no sort is a part of another one's word


def body_arguments(bodies: int) -> tuple[str, ...]:
    """The arguments of a user's function of so many bodies and the time.

    >>> body_arguments(1), body_arguments(2), body_arguments(3)
    (('b', 't'), ('a', 'b', 't'), ('b1', 'b2', 'b3', 't'))
    """
    if bodies <= 2:
        return ("b", "t") if bodies == 1 else ("a", "b", "t")
    return (*[f"b{k}" for k in range(1, bodies + 1)], "t")


def bodies_and_function(
    who: Element, arguments: tuple[Any, ...], function: Callable[..., Any] | None, most: int | None = None
) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """(bodies, function) from the positional arguments: the function is the last of them unless given by its name. `most`: how
    many bodies there may be."""
    bodies = tuple(arguments)
    if function is None and bodies:
        bodies, function = bodies[:-1], bodies[-1]
    if not 1 <= len(bodies) <= (most or len(bodies)):
        checks.fail(
            who, f"it has {len(bodies)} bodies", f"give one {'or two bodies' if most else 'body or more'}, then the function"
        )
    return bodies, checks.function(who, "function", function, body_arguments(len(bodies)))


def check_ends(who: Element, resolved: Sequence[Any]) -> None:
    """Bodies (or joints) that differ, at least one of them moving."""
    if len(resolved) == 2 and resolved[0] is resolved[1]:
        checks.fail(who, f"both ends are {checks.label(resolved[0])}", "give two different ones")
    if len(resolved) > 2:
        check_different(who, resolved)
    for item in resolved:
        if getattr(item, "dim", None) != 0:
            return
    checks.fail(who, "it acts on the ground alone", "give a body that moves")


def check_different(who: Element, resolved: Sequence[Any]) -> None:
    """No body among several is named twice."""
    seen: set[int] = set()
    for item in resolved:
        if id(item) in seen:
            checks.fail(who, f"it names {checks.label(item)} twice", "name each of its bodies once")
        seen.add(id(item))


BodyLike: TypeAlias = Body | str  # a body or its name
ElementLike: TypeAlias = Element | str  # an element or its name
