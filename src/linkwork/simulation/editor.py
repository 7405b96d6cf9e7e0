"""Editor: a simulation goes on in its world as that is changed, and as parts are switched; what stays keeps its state.

A change is taken up when the simulation is next asked for anything: a new System is built, the state is transferred, new
constraints come into force (rearrange.py: what they violate is drawn in, velocities are made consistent), and one assignment
puts it in the place of the old one. Whatever fails before that leaves the old System as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Keyframe
from linkwork.elements.constraints.ramped import Ramp
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element, ForceElement
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.sensor import Sensor
from linkwork.errors import LinkworkError, ModelError, UnknownNameError, suggestion
from linkwork.model.model import Arrangement, Model, State
from linkwork.model.poses import made_at, poses_of
from linkwork.model.state_transfer import transferred
from linkwork.simulation.lengths import activation_at, set_activations
from linkwork.simulation.rearrange import added, constraints_of, rearranged, settled
from linkwork.simulation.start import start_turns
from linkwork.simulation.state_check import refuse_misfit
from linkwork.simulation.system import System
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.core.element import ElementLike
    from linkwork.elements.core.parameter import Parameter
    from linkwork.reduced.convert import Bodies
    from linkwork.util.array_types import FloatArray


class Editor:
    """The System of a simulation, and all that puts another one in its place."""

    __slots__ = ("start", "system")

    def __init__(self, system: System, start: tuple[Model, State] | None = None) -> None:
        self.system = system
        # where `reset` goes back to, and the model that it is a state of
        self.start: tuple[Model, State] = (system.model, system.state().copy()) if start is None else start

    def follow(self) -> System:
        """The System of the world as it is now: what has changed since it was compiled is taken up, and what has been drawn in
        ends."""
        system = self.system
        if system.world.version == system.version and not (system.arrangement.drawn and self.ended()):
            return system
        known = {id(element) for element in constraints_of(system.model)}
        there = {str(element.name): id(element) for element in system.world.elements}
        drawn = [(name, one) for name, one in system.arrangement.drawn if there.get(name) in known and not self._past_end(one)]
        own = tuple(element for element in system.arrangement.own if all(x in system.world for _, _, x in element.references()))
        self.arrange(Arrangement(system.arrangement.off.intersection(there), tuple(drawn), own))
        return self.system

    def arrange(self, arrangement: Arrangement) -> None:
        """Go on in the world as it is, arranged like this; new constraints are taken up by what is moving."""
        old, system = self.system.model, rearranged(self.system, arrangement)
        if system.contact is not None and any(name not in system.model.names for name in old.names):
            from linkwork.simulation import contact_query

            system.parted = contact_query.parted(old, system.contact) | system.parted
        self.system = system

    def ended(self) -> bool:
        """Whether something that was drawn in has arrived."""
        return any(self._past_end(one) for _, one in self.system.arrangement.drawn)

    def _past_end(self, one: Ramp) -> bool:
        return self.system.time >= one.ends

    def steps_to_end(self, n: int) -> int:
        """How many of n steps can be made at once before something has been drawn in: none too many, however it rounds."""
        system = self.system
        return min([n, *(max(1, int((one.ends - system.time) / system.dt)) for _, one in system.arrangement.drawn)])

    # -- what is in force ------------------------------------------------------------------------------------------------
    def switch(self, element: Element | str, on: bool) -> None:
        """Switch a constraint, force or contact on or off."""
        name = switchable(self.system.world, element)
        if not isinstance(on, (bool, np.bool_)):
            raise LinkworkError(f'Simulation: on is {checks.show(on)} for "{name}"; give True or False')
        arrangement = self.follow().arrangement
        off = arrangement.off
        if on == (name in off):
            self.arrange(replace(arrangement, off=off - {name} if on else off | {name}))

    def add(self, element: Element | Sequence[Element]) -> None:
        """Add to the world what is made for where bodies are now."""
        system = self.follow()
        poses = poses_of(system.model, system.work)
        system.world.add(element)
        for one in [element] if isinstance(element, Element) else element:
            made_at(one, poses)

    # -- state -----------------------------------------------------------------------------------------------------------
    def restore(self, state: State) -> None:
        """Go to a state of this simulation, or of another one of the same world. Where what is in force stays the same it is
        checked and then written into the System, which cannot fail, since simulations that try out controls do this often."""
        if not isinstance(state, State):
            raise LinkworkError(f"Simulation: state is {checks.show(state)}; give a copy of a state of this simulation")
        system = self.follow()
        before = wanted = system.arrangement
        if state.arrangement is not before:
            wanted = replace(state.arrangement, own=before.own)
        if wanted != before:
            self._check_arrangement(wanted)
            system = rearranged(system, wanted, settles=False)
        refuse_misfit(system, state)
        system.take(state)
        self.system = system

    def _check_arrangement(self, wanted: Arrangement) -> None:
        """What a state has switched off or draws in is here, and can be."""
        world = self.system.world
        for name in sorted(wanted.off) + [name for name, _ in wanted.drawn]:
            if name not in world:
                raise ModelError(f'Simulation: the state is of a world with "{name}" in it; take one from this model')
            if name in wanted.off:
                switchable(world, name)
        if wanted.drawn and not self.system.integrator.traits.draws_in:
            label = checks.label(world.find(wanted.drawn[0][0]))
            raise ModelError(f"{label}: it is being drawn in by the state, which joint coordinates cannot do; take one from "
                             f"after {wanted.drawn[0][1].ends:.6g} s")  # fmt: skip

    def start_in(self, system: System) -> State:
        """The start, as a state of a System."""
        first, start = self.start
        if system.model is first:
            return start
        off = frozenset(name for name in start.arrangement.off if name in system.world)
        here = Arrangement(off, own=system.arrangement.own)
        return State(
            transferred(first, system.model, start.values), start.time, start.steps, start.age, system.layout, None, here
        )

    def reset(self, keyframe: str | Keyframe | None = None) -> None:
        """Back to the start, or to a keyframe. Where nothing has to be settled the System is written, as by `restore`."""
        old = system = self.follow()
        given = None if keyframe is None else _keyframe(system.world, keyframe)
        first, _ = self.start
        start = self.start_in(system)
        if start.arrangement != system.arrangement:
            system = rearranged(system, start.arrangement, settles=False)
            start = self.start_in(system)
        fresh = added(first, system.model)
        if system is old and (given is not None or fresh):  # else there is nothing that could fail
            system = system.copy()
        there = None if given is None else _placed(system, *given)
        commands = system.commands.entries(system.work)
        with _lent(old):
            system.take(start)
            system.commands.take(system.work, commands)
            if fresh:
                system = settled(system, fresh)
            system.starting = True
            if there is not None:
                system = _at(system, *there)
        self.system = system

    # -- parameters ------------------------------------------------------------------------------------------------------
    def set(self, parameter: Parameter | str, value: float) -> None:
        """Change a Parameter, to a value that its elements take."""
        system = self.follow()
        name = parameter_name(system.model, parameter)
        system.work[system.model.parameters[name][1]] = system.build.parameter_checks[name].check(value)
        system.changed()

    def get(self, parameter: Parameter | str) -> float:
        """The value of a Parameter now."""
        system = self.follow()
        return float(system.work[system.model.parameters[parameter_name(system.model, parameter)][1][0]])


@contextmanager
def _lent(system: System) -> Iterator[None]:
    """Another System of the same Build is made ready: should that fail, what this one found in contact is as it was."""
    contact = system.contact
    if contact is None:
        yield
        return
    memory, flags, counts = contact.memory, contact.flags.copy(), contact.counts.copy()
    try:
        yield
    except BaseException:
        contact.memory = memory
        contact.flags[:], contact.counts[:] = flags, counts
        raise


def parameter_name(model: Model, parameter: Parameter | str) -> str:
    name = getattr(parameter, "name", parameter)
    if not isinstance(name, str):
        raise LinkworkError(f"Simulation: parameter is {checks.show(parameter)}; give a Parameter or its name")
    if name not in model.parameters:
        raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, model.parameters)}')
    return name


def switched_off(world: World, off: Iterable[ElementLike]) -> frozenset[str]:
    """The names of what is switched off at the start."""
    return frozenset(switchable(world, one) for one in checks.several("Simulation", "off", off, "elements or their names"))


def switchable(world: World, element: ElementLike) -> str:
    """The name of an element that can be switched."""
    found = world.find(element)
    if isinstance(found, Body):
        raise LinkworkError(f"{checks.label(found)}: a body is not switched off; remove it, or switch what acts on it")
    if isinstance(found, Frame | Sensor):
        raise LinkworkError(f"{checks.label(found)}: a {found.sort} does nothing that could be switched off; remove it")
    return str(found.name)


def _keyframe(world: World, given: str | Keyframe) -> tuple[str, Keyframe]:
    known = world.keyframes
    if isinstance(given, Keyframe):
        return next((name for name, one in known.items() if one is given), "given"), given
    if not isinstance(given, str):
        raise LinkworkError(f"Simulation: keyframe is {checks.show(given)}; give a Keyframe or the name of one")
    if given not in known:
        hint = suggestion(given, known) or f"; there {'are ' + ', '.join(known) if known else 'is none'}"
        raise UnknownNameError(f'Simulation: no keyframe is called "{given}"{hint}')
    return given, known[given]


def _is_motor(element: Element) -> bool:
    """Whether it is a force whose command is one number."""
    return isinstance(element, ForceElement) and sum(map(len, kind_for(element).commands(element).values())) == 1


def _placed(system: System, name: str, keyframe: Keyframe) -> tuple[Any, ...]:
    """Bodies, angles of joints and commands of a keyframe, all of them checked before anything changes."""
    from linkwork.reduced.keyframes import placed  # as all of reduced: imported by those who use it

    for motor, command in keyframe.controls.items():
        checks.number(f'Keyframe "{name}"', f'the control of "{motor}"', command)
        if not _is_motor(system.world.find(motor)):
            raise LinkworkError(f'Keyframe "{name}": "{motor}" is no motor; leave its control out')
    for motor in keyframe.activations:
        activation_at(system, motor)
    return *placed(system.model.world, name, keyframe), keyframe


def _at(system: System, bodies: Bodies, angles: Mapping[int, FloatArray], keyframe: Keyframe) -> System:
    """The System with bodies, counters of turns and commands of a keyframe. Constraints that it violates are drawn in."""
    there = copy(system.model.bodies.rigid)
    there.position, there.orientation = bodies.position, bodies.orientation
    there.velocity, there.spin = bodies.velocity[:, :3], bodies.velocity[:, 3:]
    there.place(there.origin)
    for field, values in there.start().items():
        if field in ("q", "v"):
            for number, row in enumerate(values):
                system.work[system.model.field_of_body(number, field)] = row
    system.validity.changed()
    system.place()
    start_turns(system, angles)
    commands = system.commands
    commands.hold(system.work)
    for motor in commands.entry:
        if _is_motor(system.world.find(motor)):
            system.work[commands.where(motor)] = checks.number(
                "Simulation", f'control["{motor}"]', keyframe.controls.get(motor, 0.0)
            )
    set_activations(system, keyframe.activations)
    if found := constraints_of(system.model):
        system = settled(system, found)
    system.changed()
    return system
