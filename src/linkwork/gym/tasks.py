"""Task: what an environment asks of a world: what is observed, what is rewarded, how an episode begins and ends.

All functions are of arrays over worlds, so that one task serves a single environment and thousands of worlds in step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.batches.batch import Batch
    from linkwork.util.array_types import AnyArray, BoolArray, FloatArray, Vector

WHO = "Task"
MOST_STEPS = 10**9


class Motion(NamedTuple):
    """Where worlds were before a step of an environment."""

    q: FloatArray  # (n, nq)
    qd: FloatArray  # (n, nv)


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What an environment asks of a world. Its functions are of a Batch, and give an array with a row for each world.

    reward: (batch, actions, before) -> (n,): of a step; `before` has q and qd before it.
    observe: batch -> (n, k); unless told, q and qd.
    terminated: batch -> (n,) bool: worlds whose episode has come to its end.
    start: rng -> what `Batch.set_state` takes for one world, drawn at random; unless told, worlds begin as built.

    Actions are the commands of all motors, held for `hold` steps of dt (s); an episode has `episode` such actions, or no bound.
    options: of the Simulation, such as solver and integrator.

    >>> import linkwork as lw
    >>> world = lw.scenes.get("pendulum")
    >>> motor = world.add(lw.Motor(world.constraints[0], range=(-1, 1), name="motor"))
    >>> task = Task(world=world, reward=lambda batch, u, before: -batch.q[:, 0] ** 2, dt=0.01, hold=2, episode=200)
    >>> task.hold * task.dt
    0.02
    """

    world: World
    reward: Callable[[Batch, FloatArray, Motion], AnyArray]
    observe: Callable[[Batch], AnyArray] | None = None
    terminated: Callable[[Batch], BoolArray] | None = None
    start: Callable[[np.random.Generator], Mapping[str, Vector]] | None = None
    dt: float = 1e-3
    hold: int = 1
    episode: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.world, World):
            raise LinkworkError(f"Task: world is {checks.show(self.world)}; give a World")
        checks.positive(WHO, "dt", self.dt)
        checks.whole(WHO, "hold", self.hold, least=1, most=MOST_STEPS)
        if self.episode is not None:
            checks.whole(WHO, "episode", self.episode, least=1, most=MOST_STEPS)
        for name in ("reward", "observe", "terminated", "start"):
            given = getattr(self, name)
            if not (callable(given) or (given is None and name != "reward")):
                raise LinkworkError(f"Task: {name} is {checks.show(given)}; give a function")
