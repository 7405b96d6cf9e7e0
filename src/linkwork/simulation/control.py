"""Control: the commands of motors, of those that follow a motion, and of bodies that are moved by hand, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_for, kind_type
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.kernels.node import parameter_record
from linkwork.model import readout
from linkwork.model.model import Model
from linkwork.simulation.coordinates import Coordinate
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from linkwork.elements.core.element import ElementLike
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, Vector

FLOAT = np.dtype(float)
SHOWN = 8  # names in a sentence


@dataclass(frozen=True)
class Live:
    """A constraint that takes commands: its kind, the layout of its parameters, and where they begin."""

    element: Element
    kind: ConstraintKind
    layout: Record
    at: int

    def span(self, fields: Iterable[str]) -> slice:
        """Where fields lie that are one after another."""
        names = [*fields]
        return slice(self.at + self.layout.offset(names[0]), self.at + self.layout.slice(names[-1]).stop)

    def write(self, work: FloatArray, values: Mapping[str, Any]) -> None:
        for field, value in values.items():
            work[self.at + self.layout.offset(field) : self.at + self.layout.slice(field).stop] = value


class Commands:
    """Where commands lie in the workspaces of a model, by name."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.entry = {str(element.name): slice(int(entries[0]), int(entries[-1]) + 1) for element, entries in model.commands}
        self.names = tuple(name for element, _ in model.commands for name in _named(element))
        self.all = np.concatenate([np.zeros(0, dtype=np.int64), *(entries for _, entries in model.commands)])
        self.quaternions = [k for k, name in enumerate(self.names) if name.what == "quaternion w"]
        self.single = {name: where.start for name, where in self.entry.items() if where.stop - where.start == 1}
        self.live: dict[str, Live] = {}
        for element in model.world.constraints:
            if kind_type(element).commanded and element.name in model.names:
                name, (_, node, part) = str(element.name), model.names[element.name]
                kinds = [other.kind for other in model.nodes[node].kind.parts]
                layouts = list(map(parameter_record, kinds))
                at = int(model.parameters_at(node)) + sum(layout.size for layout in layouts[:part])
                self.live[name] = Live(element, kinds[part], layouts[part], at)
                self.entry[name] = self.live[name].span(kinds[part].commands(element))

    def where(self, name: ElementLike) -> slice:
        """The entries of a command."""
        key = name.name if isinstance(name, Element) else name
        if not isinstance(key, str) or key not in self.entry:
            hint = suggestion(key, self.entry) or _those(self.entry)
            raise UnknownNameError(f'Simulation: nothing that takes commands is called "{key}"{hint}')
        return self.entry[key]

    def normalised(self, given: FloatArray) -> FloatArray:
        """Commands with unit quaternions."""
        given = given.copy()
        for first in self.quaternions:
            name = self.names[first].of
            given[first : first + 4] = checks.quaternion("Simulation", f'commands of "{name}"', given[first : first + 4])
        return given

    def send(self, name: str, work: FloatArray, dt: float, first_order: bool) -> None:
        """Let what takes commands begin its way from where its body is, as fast as that is, to where it has been told to be."""
        one = self.live[name]
        pose = self._pose_of(one, work)
        one.write(work, one.kind.sent(one.element, pose, work[self.entry[name]], work[0], dt, first_order))

    def hold(self, work: FloatArray) -> None:
        """Tell bodies that are moved by hand to stay where they are."""
        for one in self.live.values():
            one.write(work, one.kind.stayed(self._pose_of(one, work), work[0]))

    def _pose_of(self, one: Live, work: FloatArray) -> readout.Poses:
        """Where the body that commands move is."""
        body = next(body for body in one.kind.bodies(one.element) if body is not None)
        return readout.poses(self._model, work, self._model.bodies.number[id(body)])

    def entries(self, work: FloatArray, ways: bool = False) -> dict[str, FloatArray]:
        """All commands as they stand in a workspace; those of live Motions, with the whole way to where they are told to be,
        where `ways` are asked for: else they belong to the state alone."""
        return {name: work[self._whole(name)].copy() for name in self.entry if ways or name not in self.live}

    def _whole(self, name: str) -> slice:
        if name not in self.live:
            return self.entry.get(name, slice(0, 0))
        return self.live[name].span(self.live[name].kind.state_fields)

    def take(self, work: FloatArray, entries: Mapping[str, FloatArray]) -> None:
        """Commands as `entries` gave them, to those who still take such."""
        for name, values in entries.items():
            where = self._whole(name)
            if where.stop - where.start == len(values):
                work[where] = values


class Control(Sealed, Mapping[str, Any]):
    """Commands by name. Of motors a number: `sim.control["drive"] = 2.0`. Of a Follow without a motion a position (3, m), or
    with an orientation: `sim.control["hand"] = (0.1, 0, 1), (1, 0, 0, 0)`; read, both are joined, (3,) or (7,). So it is of a
    Motion without a function, where a position alone leaves the orientation as it was told last."""

    REMEDIES = {"": 'assign a command by its name, as in sim.control["drive"] = 2.0'}

    def __init__(self, follow: Callable[[], System]) -> None:
        """follow: the System of now."""
        self._follow = follow

    def __getitem__(self, name: ElementLike) -> FloatArray | float:
        system = self._follow()
        found = system.work[system.commands.where(name)]
        return float(found[0]) if len(found) == 1 else found.copy()

    def __setitem__(self, name: ElementLike, value: float | Vector | tuple[Vector, Vector]) -> None:
        system = self._follow()
        at = system.commands.single.get(name) if type(name) is str else None
        if at is None or type(value) is not float or not isfinite(value):  # of motors nearly never
            where = system.commands.where(name)
            if where.stop - where.start > 1:
                self._send(system, name, where, value)
                return
            at, value = where.start, checks.number("Simulation", f'control["{getattr(name, "name", name)}"]', value)
        system.work[at] = value
        system.validity.commanded()

    def _send(self, system: System, name: ElementLike, where: slice, value: Any) -> None:
        """Command a place, and how a body is turned there if that is told."""
        key = str(getattr(name, "name", name))
        pose = _pose(f'control["{key}"]', value, where.stop - where.start == 7)
        system.work[where.start : where.start + len(pose)] = pose
        if key in system.commands.live:
            system.commands.send(key, system.work, system.dt, system.options.first_order)
            system.changed()
        else:
            system.validity.commanded()

    @property
    def commands(self) -> FloatArray:
        """The commands of all motors, and of each Follow without a motion, as one array, as `command_names` says. Assigned,
        all of them are set at once: `sim.control.commands = u`.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("double-pendulum")
        >>> motors = [world.add(lw.Motor(joint, name=f"motor{k}")) for k, joint in enumerate(world.constraints)]
        >>> sim = lw.Simulation(world)
        >>> sim.control.commands = [0.5, -0.5]
        >>> sim.control["motor1"], [str(name) for name in sim.control.command_names]
        (-0.5, ['motor0: torque, N m', 'motor1: torque, N m'])
        """
        system = self._follow()
        found: FloatArray = system.work[system.commands.all]
        return found

    @commands.setter
    def commands(self, values: Vector) -> None:
        system = self._follow()
        own = system.commands
        given: Any = values if type(values) is np.ndarray and values.dtype is FLOAT else _numbers(values, len(own.all))
        if given.shape != own.all.shape:
            raise LinkworkError(f"Simulation: commands have the shape {given.shape}; give {own.all.shape}, as "
                                "sim.control.command_names says")  # fmt: skip
        if not isfinite(sum(given.tolist())):  # a finite sum has finite parts
            _refuse_not_finite(own.names, given)
        if own.quaternions:
            given = own.normalised(given)
        system.work[own.all] = given
        system.validity.commanded()

    @property
    def command_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `commands` are."""
        return self._follow().commands.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._follow().commands.entry)

    def __len__(self) -> int:
        return len(self._follow().commands.entry)


def _numbers(values: Vector, count: int) -> FloatArray:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise LinkworkError(f"Simulation: commands are {checks.show(values)}; give {count} numbers") from None


def _refuse_not_finite(names: tuple[Coordinate, ...], given: FloatArray) -> None:
    """Refuse commands by the name of the first that is not finite."""
    for name, value in zip(names, given.tolist(), strict=True):
        if not isfinite(value):
            raise LinkworkError(f'Simulation: the command "{name}" is {value:g}; give finite numbers')


def _named(element: Element) -> list[Coordinate]:
    """What the commands of a force are."""
    return [Coordinate(str(element.name), *each) for part in kind_for(element).commands(element).values() for each in part]


def _pose(label: str, value: Any, turns: bool) -> FloatArray:
    """A position, or position and orientation, from either or both joined."""
    given = checks.entries(value) or []
    if len(given) not in (2, 7):
        return checks.vector("Simulation", label, value)
    position, orientation = given if len(given) == 2 else (given[:3], given[3:])
    if not turns:
        raise LinkworkError(f"Simulation: {label} takes no orientation, for its Follow has no angular coefficients; "
                            "give a position alone")  # fmt: skip
    parts = checks.vector("Simulation", label, position), checks.quaternion("Simulation", label, orientation)
    return np.concatenate(parts)


def _those(known: dict[str, slice]) -> str:
    """`; there are ...`, of many the first."""
    some = ", ".join(list(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return f"; there are {some}" if known else "; add a Motor, or a Follow or Motion without a motion"
