"""Control: the commands of motors, of those that follow a motion, and of bodies that are moved by hand, by name."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from linkwork.codegen.trace import Record
from linkwork.elements import Motion
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.trajectory import product
from linkwork.elements.core.units import POSITION, QUATERNION
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.kernels.node import parameter_record
from linkwork.simulation.coordinates import Coordinate
from linkwork.util.sealing import Sealed

FLOAT = np.dtype(float)
SHOWN = 8  # names in a sentence
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
FEWEST_STEPS = 4  # in which a live Motion goes where it is told to be


class Control(Sealed, Mapping):
    """Commands by name. Of motors a number: `sim.control["drive"] = 2.0`. Of a Follow without a motion a position (3, m), or
    with an orientation: `sim.control["hand"] = (0.1, 0, 1), (1, 0, 0, 0)`; read, both are joined, (3,) or (7,). So it is of a
    Motion without a function, where a position alone leaves the orientation as it was told last."""

    REMEDIES = {"": 'assign a command by its name, as in sim.control["drive"] = 2.0'}

    def __init__(self, sim):
        self._sim = sim
        self._entry: dict[str, slice] = {}
        for element, entries in sim.model.commands:
            self._entry[str(element.name)] = slice(int(entries[0]), int(entries[-1]) + 1)
        named = [name for element, entries in sim.model.commands for name in _named(sim.model, element, len(entries))]
        self._command_names = tuple(named)
        self._all = np.concatenate([np.zeros(0, dtype=np.int64), *(entries for _, entries in sim.model.commands)])
        self._quaternions = [k for k, name in enumerate(named) if name.what == "quaternion w"]
        self._live: dict[str, tuple[Motion, Record, int]] = {}  # with the layout of its numbers, and where they begin
        for element in sim.model.world.constraints:
            if isinstance(element, Motion) and element.live and element.name in sim.model.names:
                name, (_, node, part) = str(element.name), sim.model.names[element.name]
                layouts = [parameter_record(other.relation) for other in sim.model.nodes[node].kind.parts]
                at = int(sim.model.parameters_at(node)) + sum(layout.size for layout in layouts[:part])
                self._live[name] = element, layouts[part], at
                self._entry[name] = slice(at + layouts[part].offset("to"), at + layouts[part].slice("to").stop)

    def _where(self, name) -> slice:
        self._sim._follow_world()
        if self._sim.control is not self:
            return self._sim.control._where(name)
        key = name.name if isinstance(name, Element) else name
        if not isinstance(key, str) or key not in self._entry:
            hint = suggestion(key, self._entry) or _those(self._entry)
            raise UnknownNameError(f'Simulation: nothing that takes commands is called "{key}"{hint}')
        return self._entry[key]

    def __getitem__(self, name):
        found = self._sim.work[self._where(name)]
        return float(found[0]) if len(found) == 1 else found.copy()

    def __setitem__(self, name, value) -> None:
        where = self._where(name)
        if where.stop - where.start == 1:
            if not (type(value) is float and isfinite(value)):  # nearly never
                value = checks.number(self._sim, f'control["{getattr(name, "name", name)}"]', value)
            self._sim.work[where.start] = value
            self._sim._valid.commanded()
            return
        key = str(getattr(name, "name", name))
        pose = self._pose(f'control["{key}"]', value, where.stop - where.start == 7)
        self._sim.work[where.start : where.start + len(pose)] = pose
        if key in self._sim.control._live:
            self._sim.control._send(key)
            self._sim._touched()
        else:
            self._sim._valid.commanded()

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
        own = self._now()
        return own._sim.work[own._all]

    @commands.setter
    def commands(self, values) -> None:
        own = self._now()
        given = values if type(values) is np.ndarray and values.dtype is FLOAT else own._numbers(values)
        if given.shape != own._all.shape:
            raise LinkworkError(f"Simulation: commands have the shape {given.shape}; give {own._all.shape}, as "
                                "sim.control.command_names says")  # fmt: skip
        if not isfinite(sum(given.tolist())):  # a finite sum has finite parts
            given = own._finite(given)
        if own._quaternions:
            given = own._normalised(given)
        own._sim.work[own._all] = given
        own._sim._valid.commanded()

    @property
    def command_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `commands` are."""
        return self._now()._command_names

    def _now(self) -> Control:
        """That of the simulation as it is now."""
        self._sim._follow_world()
        return self._sim.control

    def _numbers(self, values) -> np.ndarray:
        try:
            return np.array(values, dtype=float)
        except (TypeError, ValueError):
            text = f"Simulation: commands are {checks.show(values)}; give {len(self._all)} numbers"
            raise LinkworkError(text) from None

    def _finite(self, given: np.ndarray) -> np.ndarray:
        """The commands, refused where one of them is not finite."""
        for name, value in zip(self._command_names, given.tolist(), strict=True):
            if not isfinite(value):
                raise LinkworkError(f'Simulation: the command "{name}" is {value:g}; give finite numbers')
        return given

    def _normalised(self, given: np.ndarray) -> np.ndarray:
        given = given.copy()
        for first in self._quaternions:
            name = self._command_names[first].of
            given[first : first + 4] = checks.quaternion(self._sim, f'commands of "{name}"', given[first : first + 4])
        return given

    def _send(self, name: str) -> None:
        """Let a live Motion begin its way from where its body is, as fast as that is, to where it has been told to be."""
        (element, layout, at), sim = self._live[name], self._sim
        told, body = sim.work[self._entry[name]], element.target
        q = sim.orientation(body)
        way = product(told[None, 3:7], (q * CONJUGATE)[None])[0]
        way = way if way[0] >= 0.0 else -way
        sine = float(np.linalg.norm(way[1:]))
        turn = 2 * np.arctan2(sine, way[0]) / sine * way[1:] if sine > 0.0 else np.zeros(3)
        begins = {"begin": sim.time, "over": max(element.within, FEWEST_STEPS * sim.dt), "x": sim.position(body),
                  "v": sim.velocity(body), "w": sim.angular_velocity(body), "q": q, "turn": turn}  # fmt: skip
        for field, value in begins.items():
            sim.work[at + layout.offset(field) : at + layout.slice(field).stop] = value

    def hold(self) -> None:
        """Tell bodies that are moved by hand to stay where they are."""
        sim = self._sim
        for element, layout, at in self._live.values():
            x, q = sim.position(element.target), sim.orientation(element.target)
            stays = {"begin": sim.time, "over": 1.0, "x": x, "v": 0.0, "w": 0.0, "q": q, "turn": 0.0, "to": np.r_[x, q]}
            for field, value in stays.items():
                sim.work[at + layout.offset(field) : at + layout.slice(field).stop] = value

    def _pose(self, label: str, value, turns: bool) -> np.ndarray:
        """A position, or position and orientation, from either or both joined."""
        given = checks.entries(value) or []
        if len(given) not in (2, 7):
            return checks.vector(self._sim, label, value)
        position, orientation = given if len(given) == 2 else (given[:3], given[3:])
        if not turns:
            raise LinkworkError(f"Simulation: {label} takes no orientation, for its Follow has no angular coefficients; "
                                "give a position alone")  # fmt: skip
        parts = checks.vector(self._sim, label, position), checks.quaternion(self._sim, label, orientation)
        return np.concatenate(parts)

    def entries(self, ways: bool = False) -> dict[str, np.ndarray]:
        """All commands as they stand in the workspace; those of live Motions, with the whole way to where they are told to be,
        where `ways` are asked for: else they belong to the state alone."""
        return {name: self._sim.work[self._whole(name)].copy() for name in self._entry if ways or name not in self._live}

    def _whole(self, name: str) -> slice:
        if name not in self._live:
            return self._entry.get(name, slice(0, 0))
        _, layout, at = self._live[name]
        return slice(at + layout.offset("begin"), at + layout.slice("to").stop)

    def take(self, entries: Mapping[str, np.ndarray]) -> None:
        """Commands as `entries` gave them, to those who still take such."""
        for name, values in entries.items():
            where = self._whole(name)
            if where.stop - where.start == len(values):
                self._sim.work[where] = values

    def __iter__(self):
        return iter(self._entry)

    def __len__(self) -> int:
        return len(self._entry)


def _named(model, element, count: int) -> list[Coordinate]:
    """What the commands of an element are."""
    name = str(element.name)
    if count > 1:
        return [Coordinate(name, *quantity) for quantity in (*POSITION, *QUATERNION)[:count]]
    _, node, part = model.names[str(element.joint.name)]
    unit = model.nodes[node].kind.parts[part].relation.read_names[0].unit
    if element.kind == "torque":
        return [Coordinate(name, *(("torque", "N m") if unit == "rad" else ("force", "N")))]
    return [Coordinate(name, element.kind, unit if element.kind == "position" else f"{unit}/s")]


def _those(known):
    """`; there are ...`, of many the first."""
    some = ", ".join(list(known)[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return f"; there are {some}" if known else "; add a Motor, or a Follow or Motion without a motion"
