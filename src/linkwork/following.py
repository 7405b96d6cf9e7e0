"""Following: a simulation goes on in its world as that is changed; what stays keeps its state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.building import Building
from linkwork.elements import checks
from linkwork.errors import LinkworkError, ModelError, UnknownNameError, suggestion
from linkwork.model.carrying import carried
from linkwork.model.types import Model, State


class Following(Building):
    """How a Simulation keeps up with its world."""

    _initial: State

    @property
    def state(self) -> State:
        """Everything that a run changes. Assigning a copy brings the same bits again."""
        contact = None if self._touching is None else self._touching.memory
        return State(self.work[self.model.state_index], self.time, self.steps, self.age, self.model.signature, contact)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise LinkworkError(f"Simulation: state is {checks.show(state)}; give a copy of a state of this simulation")
        if len(state.values) != len(self.model.state_index):
            raise ModelError(f"Simulation: a state of {len(state.values)} numbers does not fit this model of "
                             f"{len(self.model.state_index)}; take one from the same model")  # fmt: skip
        if state.signature not in ("", self.model.signature):
            raise ModelError("Simulation: the state is one of another model, or from before a force that counts turns was "
                             "added or removed; take one from this model")  # fmt: skip
        self.work[self.model.state_index] = state.values
        self.work[0] = state.time
        self.steps, self.age = state.steps, state.age
        if self._touching is not None:
            self._touching.forget()
            self._touching.memory = state.contact
        self._impulses = self._unbooked = False
        self._past = []
        self._touched()

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
        if name not in self.model.parameters:
            raise UnknownNameError(f'Simulation: no parameter is called "{name}"{suggestion(name, self.model.parameters)}')
        return name

    def _follow_world(self) -> None:
        """Take up forces (and gravity) that have changed since the model was compiled; refuse other changes."""
        if self.world.version == self._world_version:
            return
        old, work, state, initial = self.model, self.work, self.state, self._initial
        kept = [e for node in old.nodes for e in node.elements]
        if list(old.bodies.elements) != list(self.world.bodies) or set(map(id, kept)) != set(map(id, self.world.constraints)):
            raise ModelError("World: bodies or constraints were changed after this Simulation was made; make a new one")
        values, commands = {name: work[entries[0]] for name, (_, entries) in old.parameters.items()}, self.control.entries()
        before = dict(vars(self))
        try:
            self._refuse_contact()
            self._build()
            if self.integrator_name == "first-order":
                self._refuse_velocity_forces()
            self._put(values, commands)
        except BaseException:  # as it was, until the world is one that can be followed
            vars(self).update(before)
            raise
        self.work[self.model.state_index] = carried(old, self.model, state.values)
        self.work[0] = state.time
        self.integrator.run(self.work, self.programs.body("place"))
        self._start_counters(of_forces=True)
        now, start = self.work[self.model.state_index], carried(old, self.model, initial.values)
        self._keep_turns(now, _turns_of_forces(old, state.values), of_joints=True)
        self._keep_turns(start, _turns_of_forces(old, initial.values))
        self.work[self.model.state_index] = now
        self._initial = State(start, initial.time, initial.steps, initial.age, self.model.signature)
        if self._touching is not None and state.contact is not None and self._touching.same_colliders(before["_touching"]):
            self._touching.memory = state.contact
        self._touched()

    def _put(self, values: Mapping[str, float], commands: Mapping[str, np.ndarray]) -> None:
        """Values of parameters and commands, where they are still there."""
        for name, value in values.items():
            if name in self.model.parameters:
                self.set(name, value)
        self.control.take(commands)

    def _keep_turns(self, values: np.ndarray, known: dict[int, np.ndarray], of_joints: bool = False) -> None:
        """Put the counters that forces had into a state's values; new ones may have those of their joints."""
        elements = {id(force.element): force for force in self.model.forces}
        for key, turns in _turns_of_forces(self.model, values).items():
            if len(known.get(key, ())) == len(turns):
                turns[:] = known[key]
            elif of_joints and (joint := getattr(elements[key].element, "joint", None)) is not None:
                counted = self._numbers(*self._constraint(joint))["turns"]
                if len(counted) == len(turns):
                    turns[:] = counted


def _turns_of_forces(model: Model, values: np.ndarray) -> dict[int, np.ndarray]:
    """Views of the counters of forces, which end a state's values, by the id of their elements."""
    sizes = [2 * force.kind.law.counters for force in model.forces]
    ends = len(values) - sum(sizes) + np.cumsum(sizes, dtype=int)
    return {id(force.element): values[end - size : end]
            for force, size, end in zip(model.forces, sizes, ends, strict=True) if size}  # fmt: skip
