"""World: the elements of a mechanism by name. Plain data, editable at any time; nothing is computed here."""

from __future__ import annotations

import difflib
import weakref
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, overload

from linkwork.elements.bodies.ground import Ground
from linkwork.elements.core import checks
from linkwork.elements.core.changing import check, seal, unseal
from linkwork.elements.core.element import Body, ConstraintElement, ContactElement, Element, ForceElement, is_a
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.sensor import Sensor
from linkwork.elements.core.visual import Visual
from linkwork.errors import ElementError, ModelError, UnknownNameError
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from linkwork.elements.core.keyframe import Keyframe
    from linkwork.elements.core.parameter import Parameter
    from linkwork.errors import Remark
    from linkwork.simulation.assembly import Assembly
    from linkwork.util.array_types import FloatArray, Vector

E = TypeVar("E", bound=Element)
Several = TypeVar("Several", bound=Sequence[Element])  # a list or a tuple


class World(Sealed):
    """Bodies, joints, constraints and forces, each with a name of its own. It pickles and copies (`copy.deepcopy`) as a
    whole, its functions as expressions.

    >>> from linkwork.elements import Ball, Particle
    >>> world = World(gravity=(0, 0, -9.81))
    >>> bob = world.add(Particle(1.0, position=(1, 0, 0)))
    >>> world.add(Ball(world.ground, "particle1", at=(1, 0, 0), name="nail"))
    <Ball "nail">
    >>> world
    <World: 1 body, 1 constraint, 0 forces>
    """

    version: int  # counts the changes
    ground: Ground
    REMEDIES = {"ground": "each world has one of its own", "version": "it counts the changes by itself"}

    def __init__(self, gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        vars(self)["version"] = 0
        vars(self)["ground"] = Ground()
        self._elements: dict[str, Any] = {str(self.ground.name): self.ground}  # by name, in order of addition
        self._used = False  # by a Simulation, or in joint coordinates: elements no longer change ...
        self._sealed: set[int] = set()  # ... and these, by id, have arrays that are read-only
        self._numbers: dict[str, int] = {}  # prefix -> the last number given in a default name
        # `parameters` as of the last addition: scanning all each time is quadratic
        self._known_parameters: dict[str, Parameter] | None = None
        self.gravity = gravity
        self.remarks, self.keyframes, self.simulate = (), {}, {}
        self._own()

    @property
    def gravity(self) -> FloatArray:
        """(3,), m/s^2."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        self._gravity: FloatArray = checks.vector(self, "gravity", value)
        self._gravity.flags.writeable = not self._used
        self._changed()

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Of Remark: what the file that it was loaded from says and linkwork does not do."""
        return self._remarks

    @remarks.setter
    def remarks(self, value: Iterable[Remark]) -> None:
        self._remarks = tuple(checks.several(self, "remarks", value, "remarks"))

    @property
    def keyframes(self) -> dict[str, Keyframe]:
        """Name -> Keyframe."""
        return self._keyframes

    @keyframes.setter
    def keyframes(self, value: Mapping[str, Keyframe]) -> None:
        self._keyframes: dict[str, Keyframe] = checks.mapping(self, "keyframes", value)

    @property
    def simulate(self) -> dict[str, Any]:
        """How `linkwork run` simulates it unless told otherwise: seconds, dt, solver, ..."""
        return self._simulate

    @simulate.setter
    def simulate(self, value: Mapping[str, Any]) -> None:
        self._simulate: dict[str, Any] = checks.mapping(self, "simulate", value)

    @property
    def elements(self) -> tuple[Element, ...]:
        """All elements without the ground, in order of addition."""
        return tuple(self._elements.values())[1:]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies without the ground, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, Body) and e is not self.ground)

    @property
    def constraints(self) -> tuple[ConstraintElement, ...]:
        """The joints and constraints, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, ConstraintElement))

    @property
    def forces(self) -> tuple[ForceElement, ...]:
        """The forces, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, ForceElement))

    @property
    def contacts(self) -> tuple[ContactElement, ...]:
        """Colliders, contacts, ropes and hard limits, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, ContactElement))

    @property
    def visuals(self) -> tuple[Visual, ...]:
        """What is only seen, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, Visual))

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The named frames on bodies and on the ground, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, Frame))

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The sensors, in order of addition."""
        return tuple(e for e in self._elements.values() if isinstance(e, Sensor))

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The Parameters that stand in fields, by name; those that functions speak of are found when compiling."""
        return {p.name: p for element in self._elements.values() for p in element.parameters()}

    @overload
    def add(self, element: E) -> E: ...

    @overload
    def add(self, element: Several) -> Several: ...

    def add(self, element: Any) -> Any:
        """Add an element, or all of a list or none; returns what it was given. Names become elements."""
        if isinstance(element, (list, tuple)):
            return self._add_all(element)
        self._check_new(element)
        resolved = self._resolve(element) if element.REFERENCES else None
        if element.PARAMETERS:
            self._name_parameters(element)
        if resolved:
            element.replace_references(resolved)
        if element.name is None:
            vars(element)["name"] = self._default_name(element.prefix(), self._elements)
        self._elements[str(element.name)] = element
        vars(element)["_world"] = weakref.ref(self)
        vars(self)["version"] += 1
        return element

    @overload
    def remove(self, element: E, *, cascade: bool = False) -> E: ...

    @overload
    def remove(self, element: str, *, cascade: bool = False) -> Any: ...

    def remove(self, element: Any, *, cascade: bool = False) -> Any:
        """Remove an element, by itself or by name; with cascade also all that refer to it. Returns the element."""
        element, cascade = self.find(element), checks.flag(self, "cascade", cascade)
        if element is self.ground:
            raise ModelError("World: the ground cannot be removed; remove what stands on it")
        users = [other for other in self._elements.values() if any(x is element for _, _, x in other.references())]
        if users and not cascade:
            names = ", ".join(checks.label(user) for user in users)
            raise ModelError(f"{checks.label(element)}: still used by {names}; remove those first or give cascade=True")
        for user in users:
            if user in self:  # it may have gone with another one
                self.remove(user, cascade=True)
        del self._elements[element.name]
        del element._world
        unseal(element)
        self._sealed.discard(id(element))
        self._changed()
        return element

    def assemble(self, *, partly: bool = False) -> Assembly:
        """Move the bodies from where they are built to where all constraints hold, as near as they can stay. What the elements
        say of the world as built (`at`, `axis`) stays said of it as it was. Returns an Assembly; what cannot be met is named in
        a ModelError, and nothing is moved, unless `partly` asks for the least sum of squares of what is left.

        >>> from linkwork.elements import Ball, Particle, Distance
        >>> world = World()
        >>> bob = world.add(Particle(1.0, position=(1.3, 0, 0.2), name="bob"))
        >>> rod = world.add(Distance(world.ground, bob, 1.0, name="rod"))
        >>> world.assemble().met
        True
        >>> round(float(bob.position @ bob.position), 9)
        1.0
        """
        partly = checks.flag(self, "partly", partly)
        self._check()
        # it stands on compiled models, above this module
        found: Assembly = import_module("linkwork.simulation.assembly").assemble(self, partly)
        self._changed()
        return found

    @overload
    def find(self, element: E) -> E: ...

    @overload
    def find(self, element: str) -> Any: ...  # what kind of element has that name is known to the caller alone

    def find(self, element: Any) -> Any:
        """The element of that name; an element of this world gives itself."""
        return self._find(element, None, self)

    def __contains__(self, element: object) -> bool:
        if isinstance(element, str):
            return element in self._elements
        return isinstance(element, Element) and element._world() is self

    def __repr__(self) -> str:
        bodies, constraints, forces = len(self.bodies), len(self.constraints), len(self.forces)
        parts = (
            f"{bodies} {'body' if bodies == 1 else 'bodies'}",
            f"{constraints} constraint{'' if constraints == 1 else 's'}",
            f"{forces} force{'' if forces == 1 else 's'}",
        )
        return f"<World: {', '.join(parts)}>"

    def __setstate__(self, state: dict[str, Any]) -> None:  # copied or unpickled: the elements are new ones and belong here
        self.__dict__.update(state)
        self._used, self._sealed = False, set()
        self._own()

    def _use(self) -> None:
        """From now on elements are changed by removing and adding them alone: what has been compiled must not differ."""
        self._check()
        self._used = True
        for element in self._elements.values():
            if id(element) not in self._sealed:
                seal(element)
                self._sealed.add(id(element))
        self._gravity.flags.writeable = False

    def _check(self) -> None:
        """Fields that were assigned are ones that elements could have been made with."""
        for element in self._elements.values():
            check(element, self)

    def _changed(self) -> None:
        """Something is other than it was."""
        self._known_parameters = None
        vars(self)["version"] += 1

    def _own(self) -> None:
        for element in self._elements.values():
            element._world = weakref.ref(self)

    def _add_all(self, elements: Sequence[Element]) -> Sequence[Element]:
        before = len(self._elements)
        try:
            for element in elements:
                self.add(element)
        except Exception:
            for name in reversed(list(self._elements)[before:]):
                self.remove(name)
            raise
        return elements

    def _check_new(self, element: Any) -> None:
        if not isinstance(element, Element) or isinstance(element, Ground):
            remedy = "give a body, joint, constraint, force, contact, visual, frame or sensor"
            checks.fail(self, f"cannot add {checks.show(element)}", remedy)
        home = element._world()
        if home is self:
            checks.fail(element, "it has been added already", "add each element once")
        if home is not None:
            checks.fail(element, "it belongs to another world", "remove it there first or make a new one")
        taken = self._elements.get(element.name)
        if taken is not None:
            checks.fail(element, f"its name is taken by a {type(taken).__name__}", "give another name")

    def _resolve(self, element: Element) -> list[Any] | None:
        """The elements that it refers to, in the order of references(); None if it holds just these already."""
        resolved, named = [], False
        for _, wanted, item in element.references():
            if not is_a(item, wanted) or item._world() is not self:
                item, named = self._find(item, wanted, element), True
            resolved.append(item)
        element.check_resolved(resolved)
        return resolved if named else None

    def _find(self, item: Any, wanted: str | None, who: object) -> Any:
        """The element that item names or is; wanted as in Element.REFERENCES, or None for any."""
        if isinstance(item, str):
            if item not in self._elements:
                raise UnknownNameError(self._unknown(item, wanted, who))
            item = self._elements[item]
        elif item not in self:
            noun = checks.label(item) if isinstance(item, Element) else checks.show(item)
            raise ElementError(f"{checks.label(who)}: {noun} is not in this world; add it to this world first")
        if wanted is not None and not is_a(item, wanted):
            checks.fail(who, f"{checks.label(item)} is no {wanted}", f"give a {wanted}")
        return item

    def _unknown(self, name: str, wanted: str | None, who: object) -> str:
        names = [n for n, e in self._elements.items() if wanted is None or is_a(e, wanted)]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f'did you mean "{near[0]}"?' if near else "add it first"
        return f'{checks.label(who)}: there is no {wanted or "element"} named "{name}"; {hint}'

    def _name_parameters(self, element: Element) -> None:
        used = element.parameters()
        if not used:
            return
        known = self._known_parameters or self.parameters
        for parameter in used:
            if parameter.name is None:
                parameter.name = self._default_name("parameter", known)
            if known.setdefault(parameter.name, parameter) is not parameter:
                self._known_parameters = None
                problem = f'two Parameters have the name "{parameter.name}"'
                checks.fail(element, problem, "use one object for both or give another name")
        self._known_parameters = known

    def _default_name(self, prefix: str, taken: Mapping[str, object]) -> str:
        """prefix1, prefix2, ...: numbers are not used again after a removal."""
        number = self._numbers.get(prefix, 0) + 1
        while (name := f"{prefix}{number}") in taken:
            number += 1
        self._numbers[prefix] = number
        return name
