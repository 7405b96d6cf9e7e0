"""Following: a simulation goes on in its world as that is changed, and as parts are switched; what stays keeps its state.

A change is taken up when the simulation is next asked for anything. Constraints that are new then, and violated, are drawn in
(symbolic/drawn.py); velocities are made consistent with them by an impulse.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from math import inf

import numpy as np

from linkwork.elements import Keyframe, Motor
from linkwork.elements.bodies.rigid import RIGID, RigidPlacement
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element
from linkwork.errors import LinkworkError, ModelError, NotFiniteError, UnknownNameError, suggestion
from linkwork.model.model import Arrangement, Model, State
from linkwork.model.poses import made_at, poses_of
from linkwork.model.state_transfer import carried, counters, named_number
from linkwork.model.states import MOST_STEPS, Layout, converted
from linkwork.simulation import contradictions
from linkwork.simulation.system import VIOLATED, Building
from linkwork.symbolic.drawn import Draw, draw

FLOAT = np.dtype(float)
CONFLICTING = 1e-3  # m/s, rad/s: where impulses leave more than that, other constraints are in the way


class Following(Building):
    """How a Simulation keeps up with its world, and its state over that."""

    _start: tuple[Model, State]  # where `reset` goes back to, and the model that it is a state of

    # -- state and parameters ----------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """Everything that a run changes: poses, velocities, turns counted, commands, warm starts, time, and what is switched
        off. Assigning a copy brings the same bits again; one of a simulation of the same world with another solver, integrator
        or dt is the same to rounding, without warm starts that do not fit.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> first, second = lw.Simulation(world), lw.Simulation(world, solver="dense", integrator="rk4")
        >>> first.step(100)
        >>> second.state = first.state
        >>> bool(abs(second.angle("pivot") - first.angle("pivot")) < 1e-12)
        True
        """
        self._follow_world()
        return self._state()

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise LinkworkError(f"Simulation: state is {checks.show(state)}; give a copy of a state of this simulation")
        self._follow_world()
        before = wanted = self._arrangement
        if state.arrangement is not before:
            wanted = replace(state.arrangement, own=before.own)
        if wanted == before:
            self._check_state(state)
            self._take(state)
            return
        self._check_arrangement(wanted)
        self._arrange(wanted, settle=False)
        try:
            self._check_state(state)
            self._take(state)
        except LinkworkError:
            self._arrange(before, settle=False)
            raise

    def _check_arrangement(self, wanted: Arrangement) -> None:
        """What a state has switched off or draws in is here, and can be."""
        for name in sorted(wanted.off) + [name for name, _ in wanted.drawn]:
            if name not in self.world:
                raise ModelError(f'Simulation: the state is of a world with "{name}" in it; take one from this model')
            if name in wanted.off:
                self._switchable(name)
        if wanted.drawn and not self.integrator.draws_in:
            label = checks.label(self.world.find(wanted.drawn[0][0]))
            raise ModelError(f"{label}: it is being drawn in by the state, which joint coordinates cannot do; take one from "
                             f"after {wanted.drawn[0][1].ends:.6g} s")  # fmt: skip

    def reset(self, keyframe: str | Keyframe | None = None) -> None:
        """Back to the start: the state in which the simulation was made, with the same parts switched on; commands stay as they
        are. What was added since then is as built. With a keyframe, one of `world.keyframes` by its name or any other, bodies
        are where its joint coordinates put them, turns counted, and motors have its commands.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> first = sim.world.constraints[0].name
        >>> sim.reset(lw.Keyframe(positions={first: 7.0}, velocities={first: 2.0}))
        >>> round(sim.angle(first), 9), round(sim.rate(first), 9)
        (7.0, 2.0)
        """
        self._follow_world()
        given = None if keyframe is None else self._keyframe(keyframe)
        first, _ = self._start
        start = self._start_here()
        if start.arrangement != self._arrangement:
            self._arrange(start.arrangement, settle=False)
            start = self._start_here()
        there = None if given is None else self._placed(*given)
        commands = self.control.entries()
        self._take(start)
        self.control.take(commands)
        if fresh := self._fresh(first):
            self._settle(fresh)
        self._starting = True
        if there is not None:
            self._place(*there)

    def _keyframe(self, given: str | Keyframe) -> tuple[str, Keyframe]:
        known = self.world.keyframes
        if isinstance(given, Keyframe):
            return next((name for name, one in known.items() if one is given), "given"), given
        if not isinstance(given, str):
            raise LinkworkError(f"Simulation: keyframe is {checks.show(given)}; give a Keyframe or the name of one")
        if given not in known:
            hint = suggestion(given, known) or f"; there {'are ' + ', '.join(known) if known else 'is none'}"
            raise UnknownNameError(f'Simulation: no keyframe is called "{given}"{hint}')
        return given, known[given]

    def _placed(self, name: str, keyframe: Keyframe) -> tuple:
        """Bodies, angles of joints and commands of a keyframe, all of them checked before anything changes."""
        from linkwork.reduced.keyframes import placed  # as all of reduced: imported by those who use it

        for motor, command in keyframe.controls.items():
            checks.number(f'Keyframe "{name}"', f'the control of "{motor}"', command)
            if not isinstance(self.world.find(motor), Motor):
                raise LinkworkError(f'Keyframe "{name}": "{motor}" is no motor; leave its control out')
        return *placed(self.model.world, name, keyframe), keyframe.controls

    def _place(self, bodies, angles: Mapping, controls: Mapping) -> None:
        """Bodies, counters of turns and commands of a keyframe. Constraints that it violates are drawn in."""
        there = copy(self.model.bodies.frames[RIGID.name])
        assert isinstance(there, RigidPlacement)
        there.position, there.orientation = bodies.position, bodies.orientation
        there.velocity, there.spin = bodies.velocity[:, :3], bodies.velocity[:, 3:]
        there.place(there.origin)
        for field, values in there.start().items():
            if field in ("q", "v"):
                for number, row in enumerate(values):
                    self.work[self.model.field_of_body(number, field)] = row
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_turns(angles)
        self.control.hold()
        for motor in self.control:
            if isinstance(self.world.find(motor), Motor):
                self.control[motor] = controls.get(motor, 0.0)
        if found := _constraints(self.model):
            self._settle(found)
        self._touched()

    def _start_here(self) -> State:
        """The start, as a state of the model of now."""
        first, start = self._start
        if self.model is first:
            return start
        off = frozenset(name for name in start.arrangement.off if name in self.world)
        here = Arrangement(off, own=self._arrangement.own)
        return State(carried(first, self.model, start.values), start.time, start.steps, start.age, self._layout, None, here)

    def _state(self) -> State:
        contact = None if self._touching is None else self._touching.memory
        values = self.work[self.model.state_index]
        return State(values, self.time, self.steps, self.age, self._layout, contact, self._arrangement)

    def _take(self, state: State) -> None:
        """Go to a state that fits."""
        values, age, contact, own = state.values, state.age, state.contact, self._layout
        theirs = own if state.layout is None else state.layout
        if theirs is not own and theirs.digest != own.digest:
            values = converted(values, theirs, own, self.work[self.model.state_index])
            age = age if theirs.fits_history(own) else 0
            contact = None if contact is None else contact.elsewhere()
        if theirs is not own and contact is not None and not (self._touching is not None and self._touching.knows(contact)):
            contact = None
        self.work[self.model.state_index] = values
        self.work[0] = state.time
        if self._touching is not None:
            self._touching.forget()
            self._touching.memory = contact
        inside = self.__dict__  # to which one assigns much faster than by Sealed
        inside["steps"], inside["age"], inside["_past"] = state.steps, age, []
        inside["_pause"], inside["_compare_at"] = 1, 0
        inside["_impulses"] = inside["_unbooked"] = False
        inside["_starting"] = self._starting and state.steps == 0
        self._touched()

    def _refuse_state(self, theirs: Layout) -> None:
        if isinstance(theirs, Layout) and theirs.size != self._layout.size:
            raise ModelError(f"Simulation: a state of {theirs.size} numbers does not fit this model of "
                             f"{self._layout.size}; take one from the same model")  # fmt: skip
        raise ModelError("Simulation: the state is one of another model, or from before bodies, constraints or a force "
                         "that counts turns were added or removed; take one from this model")  # fmt: skip

    def _check_state(self, state: State) -> None:
        """Refuse a state of another model, and by name what is no number or not finite: compiled code must never see it."""
        values, theirs = state.values, self._layout if state.layout is None else state.layout
        if theirs is not self._layout and not (isinstance(theirs, Layout) and self._layout.fits(theirs)):
            self._refuse_state(theirs)
        if not (isinstance(values, np.ndarray) and values.ndim == 1 and (values.dtype is FLOAT or values.dtype == FLOAT)):
            raise ModelError(f"Simulation: the values of the state are {checks.show(values)}; give an array of float64")
        if len(values) != theirs.size:
            raise ModelError(f"Simulation: a state of {len(values)} numbers does not fit this model of "
                             f"{theirs.size}; take one from the same model")  # fmt: skip
        if np.count_nonzero(np.isfinite(values)) != theirs.size:
            wrong = int(np.flatnonzero(~np.isfinite(values))[0])
            whose = named_number(self.model, self._layout, theirs, wrong)
            raise NotFiniteError(
                f"Simulation: {whose} is {values[wrong]:g} in the state; give a state whose numbers are finite"
            )
        if theirs is self._layout or theirs.fits_history(self._layout):
            pace = theirs.pace(values)
            if not self.integrator.knows_pace(*pace):
                raise ModelError(f"Simulation: the pace of the integrator is {pace[0]:g}, kept for {pace[1]:g}, in the state, "
                                 f"as {self.integrator_name} never leaves it; give a state that was not changed")  # fmt: skip
        time, steps, age, contact = state.time, state.steps, state.age, state.contact
        if not (type(time) is float and -inf < time < inf):
            checks.number(self, "the time of the state", time)
        if not (type(steps) is int and type(age) is int and 0 <= steps <= MOST_STEPS and 0 <= age <= MOST_STEPS):
            checks.whole(self, "the number of steps of the state", steps, most=MOST_STEPS)
            checks.whole(self, "the age of the state", age, most=MOST_STEPS)
        if contact is not None and (wrong_contact := contact.wrong()) is not None:
            raise NotFiniteError(
                f"Simulation: the state remembers a contact with {wrong_contact}; take a state that was not changed"
            )

    def set(self, parameter, value) -> None:
        """Change a Parameter, to a value that its elements take; nothing is compiled."""
        name = self._parameter(parameter)
        self.work[self.model.parameters[name][1]] = self._trials[name].check(value)
        self._touched()

    def get(self, parameter) -> float:
        """The value of a Parameter now."""
        return float(self.work[self.model.parameters[self._parameter(parameter)][1][0]])

    def _parameter(self, parameter) -> str:
        self._follow_world()
        name = getattr(parameter, "name", parameter)
        if not isinstance(name, str):
            raise LinkworkError(f"Simulation: parameter is {checks.show(parameter)}; give a Parameter or its name")
        if name not in self.model.parameters:
            raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, self.model.parameters)}')
        return name

    # -- changes -----------------------------------------------------------------------------------------------------
    def switch(self, element, on: bool) -> None:
        """Switch a constraint, force or contact on or off, in this simulation. What refers to it, as a motor to its hinge, goes
        with it; a constraint that is violated when it comes on is drawn in at a bounded speed.

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> lamp = world.add(lw.Particle(2.0, position=(0, 0, 1), name="lamp"))
        >>> hook = world.add(lw.Ball(world.ground, lamp, at=(0, 0, 1), name="hook"))
        >>> sim = lw.Simulation(world)
        >>> sim.switch("hook", on=False)
        >>> sim.step(100)
        >>> round(float(sim.velocity("lamp")[2]), 3), sim.off
        (-0.981, ('hook',))
        """
        name, off = self._switchable(element), self._arrangement.off
        if not isinstance(on, (bool, np.bool_)):
            raise LinkworkError(f'Simulation: on is {checks.show(on)} for "{name}"; give True or False')
        self._follow_world()
        if on == (name in off):
            self._arrange(replace(self._arrangement, off=off - {name} if on else off | {name}))

    def _switched(self, off) -> frozenset[str]:
        """The names of what is switched off at the start."""
        return frozenset(self._switchable(element) for element in checks.several(self, "off", off, "elements or their names"))

    def _switchable(self, element) -> str:
        found = self.world.find(element)
        if isinstance(found, Body):
            raise LinkworkError(f"{checks.label(found)}: a body is not switched off; remove it, or switch what acts on it")
        return str(found.name)

    @property
    def off(self) -> tuple[str, ...]:
        """The names of what is switched off."""
        return tuple(sorted(self._arrangement.off))

    def add(self, element):
        """Add to the world what is made for this moment: `at`, `axis` and lengths that are left out are those of the bodies
        where they are now in this simulation, not as built. Otherwise as `world.add`.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> puck = world.add(lw.Particle(1.0, velocity=(2, 0, 0), name="puck"))
        >>> sim = lw.Simulation(world)
        >>> sim.step(500)
        >>> rod = sim.add(lw.Distance(world.ground, puck, name="rod"))
        >>> sim.step(), round(sim.drift(), 9)
        (None, 0.0)
        """
        self._follow_world()
        poses = poses_of(self.model, self.work)
        self.world.add(element)
        for one in element if isinstance(element, (list, tuple)) else [element]:
            made_at(one, poses)
        return element

    def _twin_with(self, integrator: str):
        """A simulation of the same world as it is arranged now, as built, with the solver `tree` and this integrator."""
        twin = object.__new__(type(self))
        vars(twin).update(world=self.world, notes=[], steps=0, age=0, solver="tree", integrator_name=integrator)
        twin._arrangement, twin._compiled_at = self._arrangement, self._compiled_at
        twin._dt, twin._given, twin._newton = self._dt, (None, None, None), ("symmetric", 0)
        twin._refuse_contact()
        twin._build()
        return twin

    def _follow_world(self) -> None:
        """Take up what has changed since the model was compiled; end what has been drawn in."""
        if self.world.version == self._world_version and not (self._arrangement.drawn and self._ended()):
            return
        known = {id(element) for element in _constraints(self.model)}
        there = {str(element.name): id(element) for element in self.world.elements}
        drawn = [(name, one) for name, one in self._arrangement.drawn if there.get(name) in known and not self._past_end(one)]
        own = tuple(element for element in self._arrangement.own if all(x in self.world for _, _, x in element.references()))
        self._arrange(Arrangement(self._arrangement.off.intersection(there), tuple(drawn), own))

    def _ended(self) -> bool:
        return any(self._past_end(one) for _, one in self._arrangement.drawn)

    def _past_end(self, one: Draw) -> bool:
        return self.time >= one.ends

    def _steps_to_end(self, n: int) -> int:
        """How many of n steps can be made at once before something has been drawn in: none too many, however it rounds."""
        return min([n, *(max(1, int((one.ends - self.time) / self.dt)) for _, one in self._arrangement.drawn)])

    def _arrange(self, arrangement: Arrangement, settle: bool = True) -> None:
        """Go on in the world as it is, arranged like this; `settle`: new constraints are taken up by what is moving."""
        old, before = self.model, dict(vars(self))
        try:
            self._arrangement = arrangement
            self._known_order = old.order if self._same_graph(old) else None
            if self._known_order is None:
                self._compiled_at = poses_of(old, self.work)
            self._rebuild(arrangement)
            if settle and (fresh := self._fresh(old)):
                self._settle(fresh)
        except BaseException:  # as it was, until the world is one that can be followed
            vars(self).update(before)
            raise
        if self._touching is not None and any(name not in self.model.names for name in old.names):
            from linkwork.simulation import contact_query

            self._parted = contact_query.parted(old, self._touching) | (self._parted or set())
        self._touched()

    def _fresh(self, old: Model) -> list[Element]:
        """Constraints that another model of the world did not have."""
        known = {id(element) for element in _constraints(old)}
        return [element for element in _constraints(self.model) if id(element) not in known]

    def _same_graph(self, old: Model) -> bool:
        """Whether a model would have the nodes and bodies of the old one, by number: then its configuration and order serve."""
        present = self._present
        place = {id(element): k for k, element in enumerate(present.constraints)}
        nodes = [[place.get(id(element), -1) for element in node.elements] for node in old.nodes]
        known = sorted(k for node in nodes for k in node) == list(range(len(place)))
        ordered = nodes == sorted(map(sorted, nodes))
        return known and ordered and list(map(id, old.bodies.elements)) == list(map(id, present.bodies))

    def _rebuild(self, arrangement: Arrangement) -> None:
        """The model of a changed world, in the state that the old one was in."""
        old, state, touching, commands = self.model, self._state(), self._touching, self.control.entries()
        values = {name: self.work[entries[0]] for name, (_, entries) in old.parameters.items()}
        self._arrangement = arrangement
        self._refuse_contact()
        self._build()
        if self.integrator_name == "first-order":
            self._refuse_velocity_forces()
        self._put(values, commands)
        self.work[self.model.state_index] = carried(old, self.model, state.values)
        self.work[0] = state.time
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters(known={id(element) for element, _ in counters(old)})
        if self._touching is not None and touching is not None and state.contact is not None:
            self._touching.recall(state.contact, touching)

    def _put(self, values: Mapping[str, float], commands: Mapping[str, np.ndarray]) -> None:
        """Values of parameters and commands, where they are still there."""
        for name, value in values.items():
            if name in self.model.parameters:
                self.work[self.model.parameters[name][1]] = self._trials[name].check(value)
        self.control.take(commands)

    def _violated(self, fresh: list[Element]) -> list[tuple[str, Draw]]:
        """Those of the new constraints that do not hold now."""
        self.integrator.run(self.work, self.programs.body("place"), self.programs.check())
        found, told, farthest = [], list[tuple[Element, str]](), 0.0
        for element in fresh:
            _, k, part = self.model.names[str(element.name)]
            node = self.model.nodes[k]
            piece, rows = node.kind.parts[part], node.rows_of(element)
            offset = np.zeros(len(piece.relation.levels))
            offset[list(piece.kept)] = self.work[self.model.report_at[k] :][rows]
            offset[[level != "position" for level in piece.relation.levels]] = 0.0
            if not np.isfinite(offset).all():
                wrong = offset[~np.isfinite(offset)][0]
                raise ModelError(f"{checks.label(element)}: it gives {wrong:g} where its bodies are now; move them, or write "
                                 "it so that it is finite there")  # fmt: skip
            if not (worst := float(np.abs(offset).max())) > VIOLATED:
                continue
            off, drawn = f"{checks.label(element)}: it is off by {worst:.3g} where its bodies are now", draw(offset, self.time)
            farthest = max(farthest, worst)
            if not self.integrator.draws_in:
                raise ModelError(f'{off}, which joint coordinates cannot draw in; move them, or use solver="tree"')
            told.append((element, f"{off}; it is drawn in until {drawn.ends:.6g} s"))
            found.append((str(element.name), drawn))
        if len(told) == 1:
            self.note(told[0][1])
        elif told:
            ends = max(drawn.ends for _, drawn in found)
            self.note(f"{checks.labels([element for element, _ in told])}: they are off where their bodies are now, by "
                      f"{farthest:.3g} at most; they are drawn in until {ends:.6g} s")  # fmt: skip
        return found

    def _settle(self, fresh: list[Element]) -> None:
        """New constraints hold from now on, but for what is drawn in: velocities are made consistent with them."""
        if violated := self._violated(fresh):
            self._known_order = self.model.order
            self._rebuild(replace(self._arrangement, drawn=(*self._arrangement.drawn, *violated)))
        self._foresee()
        vars(self).update(_stale=False, age=0)  # multipliers are not extrapolated: those of new rows have no past
        if self.integrator_name != "first-order":
            self._make_velocities_consistent(*self._fastest(fresh), "when it came into force")
            self._refuse_conflict(fresh)
        self._check_factors()
        if any(element in self.world for element in fresh):
            self._tell_redundant("where its bodies are now")

    def _foresee(self) -> None:
        """Make what follows from here to the end of the next step, all at once."""
        p = self.programs
        with p.at_once():
            p.check(), p.body("strike"), p.up("velocity", first=("kick",)), p.backward(), p.body("place")
            getattr(self.integrator, "sweeps", None)

    def _fastest(self, fresh: list[Element]) -> tuple[float, Element]:
        """Of new constraints the largest rate (m/s, rad/s) at which one of them changes, and that constraint."""
        self.integrator.run(self.work, self.programs.check())
        found = []
        for element in fresh:
            _, k, _ = self.model.names[str(element.name)]
            node = self.model.nodes[k]
            rates = self.work[self.model.report_at[k] + node.kind.size :][node.rows_of(element)]
            found.append((float(np.abs(rates).max()), element))
        return max(found, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))

    def _refuse_conflict(self, fresh: list[Element]) -> None:
        """Rates that no impulse has put right are those of constraints that exclude each other."""
        off, element = self._fastest(fresh)
        if not off <= CONFLICTING:
            found = contradictions.found(self)
            why = str(found[0]) if found else "it contradicts other constraints"
            raise ModelError(f"{checks.label(element)}: no impulse can make velocities consistent with it, {off:.3g} are left; "
                             f"{why}, remove one of them")  # fmt: skip


def _constraints(model: Model) -> list[Element]:
    return [element for node in model.nodes for element in node.elements]
