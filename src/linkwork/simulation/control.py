"""Control: the commands of motors, of those that follow a motion, and of bodies that are moved by hand, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.elements import Motion
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.trajectory import product
from linkwork.elements.core.units import POSITION, QUATERNION
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.kernels.node import parameter_record
from linkwork.model import readout
from linkwork.model.model import Model
from linkwork.simulation.coordinates import Coordinate
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from linkwork.simulation.system import System

FLOAT = np.dtype(float)
SHOWN = 8  # names in a sentence
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
FEWEST_STEPS = 4  # in which a live Motion goes where it is told to be


class Commands:
    """Where commands lie in the workspaces of a model, by name."""

    def __init__(self, model: Model):
        self.entry: dict[str, slice] = {}
        self._model = model
        for element, entries in model.commands:
            self.entry[str(element.name)] = slice(int(entries[0]), int(entries[-1]) + 1)
        self.names = tuple(name for element, entries in model.commands for name in _named(model, element, len(entries)))
        self.all = np.concatenate([np.zeros(0, dtype=np.int64), *(entries for _, entries in model.commands)])
        self.quaternions = [k for k, name in enumerate(self.names) if name.what == "quaternion w"]
        self.live: dict[str, tuple[Motion, Record, int]] = {}  # with the layout of its numbers, and where they begin
        for element in model.world.constraints:
            if isinstance(element, Motion) and element.live and element.name in model.names:
                name, (_, node, part) = str(element.name), model.names[element.name]
                layouts = [parameter_record(other.relation) for other in model.nodes[node].kind.parts]
                at = int(model.parameters_at(node)) + sum(layout.size for layout in layouts[:part])
                self.live[name] = element, layouts[part], at
                self.entry[name] = slice(at + layouts[part].offset("to"), at + layouts[part].slice("to").stop)

    def where(self, name) -> slice:
        """The entries of a command."""
        key = name.name if isinstance(name, Element) else name
        if not isinstance(key, str) or key not in self.entry:
            hint = suggestion(key, self.entry) or _those(self.entry)
            raise UnknownNameError(f'Simulation: nothing that takes commands is called "{key}"{hint}')
        return self.entry[key]

    def normalised(self, given: np.ndarray) -> np.ndarray:
        """Commands with unit quaternions."""
        given = given.copy()
        for first in self.quaternions:
            name = self.names[first].of
            given[first : first + 4] = checks.quaternion("Simulation", f'commands of "{name}"', given[first : first + 4])
        return given

    def send(self, name: str, work: np.ndarray, dt: float, first_order: bool) -> None:
        """Let a live Motion begin its way from where its body is, as fast as that is, to where it has been told to be. In
        first-order motion velocities are no state, and a step moves bodies as fast as they go at its beginning: there it begins
        with the velocity with which the cubic slows down all the way, 1 - (1 - s)^3."""
        element, layout, at = self.live[name]
        told, pose = work[self.entry[name]], self._pose_of(element, work)
        q = pose.orientation[0]
        way = product(told[None, 3:7], (q * CONJUGATE)[None])[0]
        way = way if way[0] >= 0.0 else -way
        sine = float(np.linalg.norm(way[1:]))
        turn = 2 * np.arctan2(sine, way[0]) / sine * way[1:] if sine > 0.0 else np.zeros(3)
        x, v, w, over = pose.position[0], pose.velocity[0], pose.angular_velocity[0], max(element.within, FEWEST_STEPS * dt)
        if first_order:
            v, w = 3 * (told[:3] - x) / over, 3 * turn / over
        begins = {"begin": work[0], "over": over, "x": x, "v": v, "w": w, "q": q, "turn": turn}
        for field, value in begins.items():
            work[at + layout.offset(field) : at + layout.slice(field).stop] = value

    def hold(self, work: np.ndarray) -> None:
        """Tell bodies that are moved by hand to stay where they are."""
        for element, layout, at in self.live.values():
            pose = self._pose_of(element, work)
            x, q = pose.position[0], pose.orientation[0]
            stays = {"begin": work[0], "over": 1.0, "x": x, "v": 0.0, "w": 0.0, "q": q, "turn": 0.0, "to": np.r_[x, q]}
            for field, value in stays.items():
                work[at + layout.offset(field) : at + layout.slice(field).stop] = value

    def _pose_of(self, element: Motion, work: np.ndarray) -> readout.Poses:
        """Where a live Motion's body is."""
        target = element.target
        _, number, _ = self._model.names[str(target.name if isinstance(target, Element) else target)]
        return readout.poses(self._model, work, number)

    def entries(self, work: np.ndarray, ways: bool = False) -> dict[str, np.ndarray]:
        """All commands as they stand in a workspace; those of live Motions, with the whole way to where they are told to be,
        where `ways` are asked for: else they belong to the state alone."""
        return {name: work[self._whole(name)].copy() for name in self.entry if ways or name not in self.live}

    def _whole(self, name: str) -> slice:
        if name not in self.live:
            return self.entry.get(name, slice(0, 0))
        _, layout, at = self.live[name]
        return slice(at + layout.offset("begin"), at + layout.slice("to").stop)

    def take(self, work: np.ndarray, entries: Mapping[str, np.ndarray]) -> None:
        """Commands as `entries` gave them, to those who still take such."""
        for name, values in entries.items():
            where = self._whole(name)
            if where.stop - where.start == len(values):
                work[where] = values


class Control(Sealed, Mapping):
    """Commands by name. Of motors a number: `sim.control["drive"] = 2.0`. Of a Follow without a motion a position (3, m), or
    with an orientation: `sim.control["hand"] = (0.1, 0, 1), (1, 0, 0, 0)`; read, both are joined, (3,) or (7,). So it is of a
    Motion without a function, where a position alone leaves the orientation as it was told last."""

    REMEDIES = {"": 'assign a command by its name, as in sim.control["drive"] = 2.0'}

    def __init__(self, follow: Callable[[], System]):
        """follow: the System of now."""
        self._follow = follow

    def __getitem__(self, name):
        system = self._follow()
        found = system.work[system.commands.where(name)]
        return float(found[0]) if len(found) == 1 else found.copy()

    def __setitem__(self, name, value) -> None:
        system = self._follow()
        where = system.commands.where(name)
        if where.stop - where.start == 1:
            if not (type(value) is float and isfinite(value)):  # nearly never
                value = checks.number("Simulation", f'control["{getattr(name, "name", name)}"]', value)
            system.work[where.start] = value
            system.validity.commanded()
            return
        key = str(getattr(name, "name", name))
        pose = _pose(f'control["{key}"]', value, where.stop - where.start == 7)
        system.work[where.start : where.start + len(pose)] = pose
        if key in system.commands.live:
            system.commands.send(key, system.work, system.dt, system.options.first_order)
            system.changed()
        else:
            system.validity.commanded()

    @property
    def commands(self) -> np.ndarray:
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
        return system.work[system.commands.all]

    @commands.setter
    def commands(self, values) -> None:
        system = self._follow()
        own = system.commands
        given = values if type(values) is np.ndarray and values.dtype is FLOAT else _numbers(values, len(own.all))
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

    def __iter__(self):
        return iter(self._follow().commands.entry)

    def __len__(self) -> int:
        return len(self._follow().commands.entry)


def _numbers(values, count: int) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise LinkworkError(f"Simulation: commands are {checks.show(values)}; give {count} numbers") from None


def _refuse_not_finite(names: tuple[Coordinate, ...], given: np.ndarray) -> None:
    """Refuse commands by the name of the first that is not finite."""
    for name, value in zip(names, given.tolist(), strict=True):
        if not isfinite(value):
            raise LinkworkError(f'Simulation: the command "{name}" is {value:g}; give finite numbers')


def _named(model: Model, element, count: int) -> list[Coordinate]:
    """What the commands of an element are."""
    name = str(element.name)
    if count > 1:
        return [Coordinate(name, *quantity) for quantity in (*POSITION, *QUATERNION)[:count]]
    _, node, part = model.names[str(element.joint.name)]
    unit = model.nodes[node].kind.parts[part].relation.read_names[0].unit
    if element.kind == "torque":
        return [Coordinate(name, *(("torque", "N m") if unit == "rad" else ("force", "N")))]
    return [Coordinate(name, element.kind, unit if element.kind == "position" else f"{unit}/s")]


def _pose(label: str, value, turns: bool) -> np.ndarray:
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


def _those(known):
    """`; there are ...`, of many the first."""
    some = ", ".join(list(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return f"; there are {some}" if known else "; add a Motor, or a Follow or Motion without a motion"
