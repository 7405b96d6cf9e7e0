"""What scene files may say: models made from the elements themselves, so that a new element, or a new field of one, can be
written in a file without a line here. `json_schema` is what editors read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, create_model
from typing_extensions import TypeAliasType

from linkwork import elements
from linkwork.elements import Body, ConstraintElement, Element, ForceElement, Ground, Joint, Sensor, Shape, Trajectory
from linkwork.elements.core.element import ContactElement
from linkwork.elements.core.outside import named, outside
from linkwork.elements.core.units import units_of
from linkwork.formats.quantities import suggested

VERSION = 1
ABSTRACT = (Element, Body, ConstraintElement, ForceElement, ContactElement, Joint, Sensor, Shape, Ground)
MADE = {
    "double_pendulum": {},
    "bead_on_wire": {"curve": ("s",)},
    "bending_beam": {},
    "squashing_ball": {},
}  # -> their functions
STRICT = ConfigDict(extra="forbid")

Number = StrictInt | StrictFloat | StrictStr
Numbers = TypeAliasType("Numbers", Number | list["Numbers"])  # type: ignore[misc]


class AxisAngle(BaseModel):
    """An orientation: the turn by an angle (rad) about an axis."""

    model_config = STRICT
    axis: list[Number]
    angle: Number


class FromFile(BaseModel):
    """A recorded motion in a CSV file with the header t,x,y,z or t,x,y,z,qw,qx,qy,qz, inside the folder of the scene; or that
    of one body in a file of many, with the header t,NAME.x,NAME.y,NAME.z,NAME.qw,..."""

    model_config = STRICT
    file: str
    of: str | None = Field(None, description="The body whose motion is taken, in a file of many")
    gap: Number | None = Field(None, description="s")


class Pose(BaseModel):
    """Where a body was when an element was made: what `at`, `axis` and lengths that are left out speak of."""

    model_config = STRICT
    position: list[Number]
    orientation: list[Number]
    frame: list[list[Number]]
    coordinates: list[Number] | None = None


@dataclass(frozen=True)
class Given:
    """A field that a file may give: what may stand there."""

    name: str
    roles: frozenset  # of "reference", "references", "path", "function", "number", "text", "flag", "shape", "motion"
    units: tuple  # SI units that it may have, where it is a number
    live: bool  # whether a Parameter may stand there
    required: bool
    default: Any

    @property
    def wanted(self):
        """What to give, for messages."""
        words = {
            "reference": "the name of an element",
            "references": "a list of names of bodies",
            "path": "a list of bodies and points such as [[arm, [0, 0, 0]], [hand, [0, 0, 0.1]]]",
            "function": 'a formula such as "2 * sin(t)"',
            "number": "a number" if not self.units else f'a number, or one with a unit such as "2 {self.units[0]}"',
            "text": "a word",
            "flag": "true or false",
            "shape": "a shape such as {Box: [0.4, 0.1, 0.1]}",
            "motion": "a motion such as {times: [0, 1], positions: [[0, 0, 0], [0, 0, 1]]}",
        }
        found = " or ".join(words[role] for role in sorted(self.roles))
        return found + (" (or a list of them)" if "number" in self.roles else "")


def numbers(name, units=()):
    """A field of numbers with these units."""
    return Given(name, frozenset({"number"}), units, False, False, None)


@dataclass(frozen=True)
class Kind:
    """Something that a file can make, by the name that it has in Python."""

    name: str
    make: Callable
    fields: dict  # name -> Given
    positional: tuple  # the names of fields in the order of arguments
    many: str | None  # the field that is a list of bodies, where they are given one by one in Python
    functions: dict  # field -> its arguments, where no element tells them
    model: Any  # of pydantic

    def fits(self, raw):
        return self.model.__pydantic_validator__.isinstance_python(raw)


@cache
def kinds():
    """name -> Kind, of everything that `elements:` may hold."""
    found = {}
    for name in (*elements.WHERE, *outside()):
        value = named(name)
        if name in MADE or (inspect.isclass(value) and issubclass(value, Element) and value not in ABSTRACT):
            found[name] = kind(name, value)
    return found


@cache
def shapes():
    """name -> Kind, of all shapes."""
    found = {name: named(name) for name in (*elements.WHERE, *outside())}
    return {name: kind(name, value) for name, value in found.items()
            if inspect.isclass(value) and issubclass(value, Shape) and value is not Shape}  # fmt: skip


@cache
def motion():
    """The Kind of recorded motions."""
    return kind("Trajectory", Trajectory)


def kind(name, make):
    """The Kind of a class of elements or shapes, or of a function that makes one, by its signature and annotations."""
    parameters = [p for p in inspect.signature(make).parameters.values() if p.kind is not p.VAR_KEYWORD]
    hints = get_type_hints(make, include_extras=True) if inspect.isclass(make) else {}
    many = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    fields = {p.name: _given(name, make, p, hints.get(p.name, Any)) for p in parameters}
    positional = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD) if many is None else ()
    return Kind(name, make, fields, positional, many, MADE.get(name, {}), _model(name, make, fields))


def _given(owner, make, parameter, annotation):
    name, many = parameter.name, parameter.kind is parameter.VAR_POSITIONAL
    default = None if parameter.default is parameter.empty else parameter.default
    required = parameter.default is parameter.empty and not many
    roles = _roles(owner, make, name, annotation, many)
    units = units_of(owner, name, make) if roles & {"number", "path"} else ()
    return Given(name, frozenset(roles), units, name in getattr(make, "PARAMETERS", ()), required, default)


def _roles(owner, make, name, annotation, many):
    """What may stand in a field: by what its element says of it, else by its annotation."""
    references = getattr(make, "REFERENCES", {})
    if name in references:
        return {"references" if many or tuple in _parts(annotation) else "reference"}
    if name == "name":
        return {"text"}
    if name == "points" and "bodies" in references:
        return {"path"}
    if name in MADE.get(owner, {}):
        return {"function"}
    found = {_role(part) for part in _parts(annotation) if part is not type(None)}
    return found | {"function"} if name in getattr(make, "FUNCTIONS", {}) else found


def _parts(annotation):
    """The alternatives of an annotation, without what is annotated to them."""
    if hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    origin, inner = getattr(annotation, "__origin__", annotation), get_args(annotation)
    if not inner or origin in (tuple, list, dict, Callable):
        return [origin]
    return [each for part in inner for each in _parts(part)]


def _role(part):
    if part is str:
        return "text"
    if part is bool:
        return "flag"
    if inspect.isclass(part) and issubclass(part, Shape):
        return "shape"
    if part is Trajectory:
        return "motion"
    return "function" if part is Callable else "number"


def _model(owner, make, fields):
    """The model of a mapping of fields."""
    told = {given.name: _told(given) for given in fields.values()}
    if inspect.isclass(make) and issubclass(make, Element):
        told["built"] = (
            dict[str, Pose] | None,
            Field(None, description="Written by linkwork: where its bodies were when it was made."),
        )
    return create_model(owner, __config__=STRICT, __doc__=description(make), **told)


def _told(given):
    union: Any = AxisAngle if given.name == "orientation" else None
    for role in sorted(given.roles):
        union = _TYPES[role]() if union is None else union | _TYPES[role]()
    told = suggested(given.units) if given.roles & {"number", "path"} else None
    return union if given.required else union | None, Field(... if given.required else None, description=told)


def description(make):
    """The docstring up to its first example."""
    text = inspect.getdoc(make) or ""
    return text.split(">>>")[0].strip()


def one_of(name, doc, kinds_of):
    """The model of a mapping with one key, a kind, and its fields or its arguments in order as the value."""
    told: dict[str, Any] = {
        each.name: (each.model | list[Any] | None, Field(None, description=description(each.make)))
        for each in kinds_of.values()
    }
    config = ConfigDict(extra="forbid", json_schema_extra={"minProperties": 1, "maxProperties": 1})
    return create_model(name, __config__=config, __doc__=doc, **told)


@cache
def _shape():
    return one_of("AnyShape", "A shape by its name, with its fields, or its sizes in order.", shapes()) | StrictStr


_TYPES: dict[str, Callable] = {
    "reference": lambda: StrictStr,
    "references": lambda: list[StrictStr],
    "path": lambda: list[tuple[StrictStr, list[Number]]],
    "function": lambda: StrictStr,
    "number": lambda: Numbers,
    "text": lambda: StrictStr,
    "flag": lambda: StrictBool,
    "shape": _shape,
    "motion": lambda: motion().model | FromFile,
}


class Repeat(BaseModel):
    """Elements again and again: in texts "{i}" is the number of the repetition, from 0, and "{0.1 * i}" what is made of it."""

    model_config = STRICT
    repeat: StrictInt | StrictStr = Field(description="How many times: a whole number, or a formula of parameters")
    as_: StrictStr = Field("i", alias="as", description="The name of the number of the repetition")
    elements: list[Any]


class Include(BaseModel):
    """Another file's elements: URDF, MJCF or a scene, inside the folder of this one. Its gravity and its options of
    `simulate` do not count."""

    model_config = STRICT
    include: StrictStr = Field(description="The path from this file")
    prefix: StrictStr = Field("", description="In front of all names in it")
    position: list[Number] | None = Field(None, description="m: where its origin is")
    orientation: list[Number] | AxisAngle | None = Field(
        None, description="How it is turned: a quaternion w, x, y, z, or an axis and an angle"
    )
    floating: StrictBool | None = Field(None, description="Of URDF: whether its root link is free")
    limits: StrictStr | None = Field(None, description="Of MJCF and URDF: hard, soft, or none to leave them out")
    friction: StrictStr | None = Field(None, description="Of MJCF: of joints, hard, or none to leave it out")
    contact: StrictStr | None = Field(None, description="Of MJCF and URDF: hard, or none to leave it out")
    packages: dict[str, StrictStr] | None = Field(None, description="Of URDF: name -> folder, of package://name")
    package_roots: list[StrictStr] | None = Field(None, description="Of URDF: folders that hold packages")
    parameters: dict[str, Number] | None = Field(None, description="Of scenes: name -> number, of those that it declares")


class State(BaseModel):
    """A state by the coordinates of joints: what is not named is as built, at rest, with no command."""

    model_config = STRICT
    positions: dict[str, Numbers] = Field(default_factory=dict, description="Of joints and of bodies that float")
    velocities: dict[str, Numbers] = Field(default_factory=dict, description="Of joints and of bodies that float")
    controls: dict[str, Numbers] = Field(default_factory=dict, description="Of motors")
    activations: dict[str, Numbers] = Field(default_factory=dict, description="Of motors with a filter")


class Simulate(BaseModel):
    """How `linkwork run` simulates it, unless told otherwise."""

    model_config = STRICT
    seconds: Number | None = Field(None, description="s: how long")
    dt: Number | None = Field(None, description="s: the time step")
    solver: StrictStr | None = None
    integrator: StrictStr | None = None
    record_every: Number | None = Field(None, description="s between frames of the recording")
    tolerance: Number | None = Field(None, description="m, of rattle's position stage, of dopri5 and of implicit steps")
    stiffness: Number | None = Field(None, description="1/s^2, Baumgarte feedback of euler")
    damping: Number | None = Field(None, description="1/s, Baumgarte feedback of euler")
    tangent: StrictStr | None = Field(None, description="Of implicit steps: symmetric or exact")
    iterations: StrictInt | None = Field(None, description="Of implicit steps: 1 is one linear solve a step")
    method: StrictStr | None = Field(None, description="Of cg: least-residual, or least-squares as witkin97 prints it")
    seed: StrictInt | None = None
    off: list[StrictStr] | None = Field(None, description="Elements that are switched off at the start")
    keyframe: StrictStr | None = Field(None, description="The keyframe that it starts from")


class Named(BaseModel):
    """A Parameter whose name in Python is no word that formulas could speak of."""

    model_config = STRICT
    name: StrictStr | None
    value: Number


class Head(BaseModel):
    """A scene of linkwork: numbers are SI, or have a unit ("5 cm"); "{2 * n}" is computed when the file is loaded."""

    model_config = STRICT
    linkwork: StrictInt = Field(description="The version of the format: 1")
    exact: StrictBool = Field(
        False, description="Written by linkwork: unit vectors stand to the last bit, and are not normalised again"
    )
    gravity: list[Number] = Field([0.0, 0.0, -9.81], description="m/s^2")
    parameters: dict[str, Number | Named] = Field(
        default_factory=dict, description="Numbers by name, for fields, formulas and {...}"
    )
    simulate: Simulate | None = None
    elements: list[Any] = Field(default_factory=list)
    keyframes: dict[str, State] = Field(default_factory=dict)


@cache
def scene_model():
    """The model of a whole file, down to the fields of each element."""
    element = one_of("AnyElement", "An element by its name in Python, with its fields, or its arguments in order.", kinds())
    item = TypeAliasType("Item", element | StrictStr | Include | Repeat)  # type: ignore[misc]
    items: Any = list[item]  # type: ignore[valid-type]
    return create_model("Scene", __base__=Head, __doc__=Head.__doc__, elements=(items, Field(default_factory=list)))


def json_schema():
    """The JSON schema of scene files."""
    found = scene_model().model_json_schema(by_alias=True)
    found["$defs"]["Repeat"]["properties"]["elements"]["items"] = {"$ref": "#/$defs/Item"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "linkwork scene"}
