"""What controllers have in common: the tree that they know, and the motors that they drive."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_for
from linkwork.errors import ElementError, ModelError, Note
from linkwork.reduced import Tree, compile

if TYPE_CHECKING:
    from linkwork.elements.core.joint import JointLike
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, IntArray, Numbers, Vector
    from linkwork.world import World


class Controller(ABC):
    """The base of controllers: `efforts(q, qd)` are the forces and torques of all freedoms of the tree (`controller.tree`).
    Called with a simulation, it reads q and qd there and sends them to the motors, as `sim.run(1.0, control=controller)` does.

    Motors are those of kind "torque" on joints, without a filter. What has no motor gets no effort, and other motors keep their
    commands.

    >>> class Drop(Controller):
    ...     def efforts(self, q, qd):
    ...         return np.zeros(self.tree.nv)
    >>> import linkwork as lw
    >>> world = lw.scenes.get("double-pendulum")
    >>> motor = world.add(lw.Motor(world.constraints[0], name="shoulder motor"))
    >>> sim = lw.Simulation(world)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", Note)  # the second joint has no motor
    ...     Drop(world)(sim)
    array([0., 0.])
    """

    def __init__(self, world: World | Tree) -> None:
        self.tree: Tree = world if isinstance(world, Tree) else compile(world, loops=True)
        self._wired: tuple[Any, IntArray, IntArray, FloatArray] | None = None
        self.time = 0.0  # s, of the simulation that called last

    @abstractmethod
    def efforts(self, q: Numbers, qd: Numbers) -> FloatArray:
        """(nv,), N m or N."""

    def __call__(self, sim: Simulation) -> FloatArray:
        """Efforts (nv,) of a simulation's state, sent to its motors."""
        self.time = sim.time
        names = sim.control.command_names
        if self._wired is None or self._wired[0] is not names:
            self._wired = (names, *self._motors(sim))
        _, places, freedoms, gears = self._wired
        efforts = self.efforts(sim.q[: self.tree.nq], sim.qd[: self.tree.nv])
        commands = sim.control.commands
        commands[places] = efforts[freedoms] / gears
        sim.control.commands = commands
        return efforts

    def _motors(self, sim: Simulation) -> tuple[IntArray, IntArray, FloatArray]:
        """Of each motor the place of its command, its freedom and its gear."""
        here = {link.element: int(v) for link, v in zip(self.tree.links, self.tree.v_at, strict=False)}
        found = []
        for place, name in enumerate(sim.control.command_names):
            motor = sim.world.find(name.of)
            if kind_for(motor).direct and motor.joint in here:
                found.append((place, here[motor.joint], float(motor.gear)))
        who = type(self).__name__
        if not found:
            raise ModelError(f'{who}: no joint of this world has a motor of kind "torque"; add lw.Motor(joint)')
        driven = {freedom for _, freedom, _ in found}
        idle = [link.element for link, v in zip(self.tree.links, self.tree.v_at, strict=False) if int(v) not in driven]
        if idle:
            lack = "has" if len(idle) == 1 else "have"
            text = f'{who}: {checks.labels(idle)} {lack} no motor of kind "torque", and no effort is put there'
            warnings.warn(text, Note, stacklevel=3)
        places, freedoms, gears = zip(*found, strict=True)
        return np.array(places, dtype=np.int64), np.array(freedoms, dtype=np.int64), np.array(gears)

    def _by_freedom(self, what: str, given: Numbers | Mapping[JointLike, float]) -> FloatArray:
        """(nv,): gains as one number for all, one for each freedom, or by joint (0 for others)."""
        found, who = np.zeros(self.tree.nv), type(self).__name__
        if isinstance(given, Mapping):
            for joint, value in given.items():
                found[self.tree.velocities(joint)] = checks.number(who, f'{what} of "{getattr(joint, "name", joint)}"', value)
        else:
            try:
                found[:] = np.asarray(given, dtype=float)
            except (TypeError, ValueError):
                found[:] = np.nan
        if not (found >= 0.0).all() or not np.isfinite(found).all():
            remedy = f"give a number of at least 0, {self.tree.nv} of them, or such by joint"
            raise ElementError(f"{who}: {what} is {checks.show(given)}; {remedy}")
        return found

    def _vector(self, what: str, given: Vector | None, size: int, start: FloatArray) -> FloatArray:
        """What is followed, checked."""
        return start.copy() if given is None else checks.vector(type(self).__name__, what, given, size)
