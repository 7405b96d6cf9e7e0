"""Episodes: the worlds of a task, each in an episode of its own. What a single environment and a vector of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.batches.batch import Batch
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.errors import LinkworkError
from linkwork.gym.tasks import Motion, Task

if TYPE_CHECKING:
    from linkwork.util.array_types import AnyArray, BoolArray, FloatArray, IntArray

BOUNDS = ("range", "limit")  # of motors: what their commands are bounded by, the first that is there


class Outcome(NamedTuple):
    """What a step of all worlds has led to, a row each."""

    observation: FloatArray  # (n, k)
    reward: FloatArray  # (n,)
    terminated: BoolArray  # (n,)
    truncated: BoolArray  # (n,)


class Episodes:
    """n worlds of a task."""

    def __init__(self, task: Task, n: int, threads: int | None) -> None:
        if not isinstance(task, Task):
            raise LinkworkError(f"Env: task is {checks.show(task)}; give a Task")
        self.task = task
        self.batch = Batch(task.world, n, task.dt, threads=threads, **task.options)
        self.age: IntArray = np.zeros(n, dtype=np.int64)  # actions since an episode began
        self.low, self.high = bounds(self.batch)
        self.width = self.observation().shape[1]

    def observation(self) -> FloatArray:
        """(n, k): what is observed now."""
        batch, observe = self.batch, self.task.observe
        found = np.hstack([batch.q, batch.qd]) if observe is None else _rows("observe", observe(batch), batch.n)
        return found if found.flags.owndata and found.flags.writeable else found.copy()

    def begin(self, chosen: Sequence[int], generators: Sequence[np.random.Generator]) -> None:
        """New episodes in some worlds, each drawn with its own generator."""
        if not len(chosen):
            return
        batch, start = self.batch, self.task.start
        batch.controls[list(chosen)] = 0.0
        batch.reset(chosen)
        self.age[list(chosen)] = 0
        if start is None:
            return
        for i, rng in zip(chosen, generators, strict=True):
            given = start(rng)
            if not hasattr(given, "keys"):
                raise LinkworkError(f"Task: start gives {checks.show(given)}; give a dict for set_state, such as {{'q': q}}")
            batch.set_state([i], **dict[str, Any](given))

    def act(self, actions: Any, chosen: BoolArray) -> Outcome:
        """One action in the chosen worlds. What has failed ends its episode where it was last."""
        batch, task = self.batch, self.task
        given = self._actions(actions)
        before = Motion(batch.q, batch.qd)
        batch.controls[chosen] = given[chosen]
        batch.step(task.hold, worlds=chosen)
        self.age += chosen
        ended = None if task.terminated is None else _of_worlds("terminated", task.terminated(batch), batch.n, bool)
        terminated = batch.failed if ended is None else ended | batch.failed
        truncated = np.zeros(batch.n, dtype=bool) if task.episode is None else self.age >= task.episode
        reward = _of_worlds("reward", task.reward(batch, given, before), batch.n, float)
        return Outcome(self.observation(), reward, terminated, truncated)

    def _actions(self, actions: Any) -> FloatArray:
        try:
            given = np.array(actions, dtype=float)
        except (TypeError, ValueError):
            given = np.zeros(())
        shape = self.batch.controls.shape
        if given.shape != shape:
            shown = f"of the shape {given.shape}" if given.ndim else checks.show(actions)
            raise LinkworkError(f"Env: actions are {shown}; give {shape[1:]} for each world, commands of its motors")
        if not np.isfinite(given).all():
            i, k = np.argwhere(~np.isfinite(given))[0].tolist()
            name = self.batch.control_names[k]
            raise LinkworkError(f'Env: the action of world {i} for "{name}" is {given[i, k]:g}; give finite numbers')
        return given


def bounds(batch: Batch) -> tuple[FloatArray, FloatArray]:
    """The least and the largest command of each motor, infinite where nothing bounds it."""
    names = batch.control_names
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for k, name in enumerate(names):
        found = _bounds_of(batch.world.find(name.of), name.unit)
        if found is not None:
            low[k], high[k] = found
    return low, high


def _bounds_of(motor: Element, unit: str) -> tuple[float, float] | None:
    """The range of a motor, or its limit where commands are what it gives."""
    span, limit = getattr(motor, "range", None), getattr(motor, "limit", None)
    if span is not None:
        return float(span[0]), float(span[1])
    if isinstance(limit, (int, float)) and unit in ("N m", "N"):
        return -float(limit), float(limit)
    return None


def _rows(what: str, found: Any, n: int) -> FloatArray:
    given = np.asarray(found, dtype=float)
    if given.ndim != 2 or given.shape[0] != n:
        raise LinkworkError(f"Task: {what} gives an array of the shape {given.shape}; give ({n}, k), a row for each world")
    return given


def _of_worlds(what: str, found: Any, n: int, kind: type) -> AnyArray:
    given: AnyArray = np.asarray(found)
    if given.shape != (n,):
        raise LinkworkError(f"Task: {what} gives an array of the shape {given.shape}; give ({n},), one for each world")
    if kind is bool and given.dtype != np.bool_:
        raise LinkworkError(f"Task: {what} gives numbers of the type {given.dtype}; give True or False for each world")
    return given.astype(kind)
