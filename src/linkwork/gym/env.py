"""Env: one world of a task as an environment of Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.gym.episodes import Episodes
from linkwork.gym.needs import gymnasium
from linkwork.gym.pictures import FPS, RENDER_MODES, Camera, checked_mode

if TYPE_CHECKING:
    from linkwork.gym.tasks import Task
    from linkwork.util.array_types import AnyArray, FloatArray


class Env(gymnasium.Env):
    """One world of a task, as Gymnasium has environments: observations and actions are arrays of float64, actions the commands
    of all motors within their ranges.

    `render_mode`: None, or "rgb_array" for pictures (linkwork[pictures]). `info` of a step has "failed", the reason, where the
    world could not be stepped on: the episode has terminated then.

    >>> import linkwork as lw
    >>> env = lw.gym.Env(lw.gym.task("pendulum"))
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> observation.shape, terminated, truncated
    ((3,), False, False)
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FPS}

    def __init__(self, task: Task, render_mode: str | None = None) -> None:
        self._episodes = Episodes(task, 1, threads=1)
        self.render_mode = checked_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / (task.dt * task.hold))}
        self.observation_space = box(np.full(self._episodes.width, -np.inf), np.full(self._episodes.width, np.inf))
        self.action_space = box(self._episodes.low, self._episodes.high)
        self._camera = Camera(self._episodes.batch) if render_mode else None

    @property
    def batch(self) -> Any:
        """The batch of one world that it is."""
        return self._episodes.batch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode: (observation, info)."""
        super().reset(seed=seed)
        self._episodes.begin([0], [self.np_random])
        if self._camera is not None:
            self._camera.begin()
        return self._episodes.observation()[0], {}

    def step(self, action: AnyArray) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """One action: (observation, reward, terminated, truncated, info)."""
        found = self._episodes.act(np.asarray(action)[None], np.ones(1, dtype=bool))
        reason = self._episodes.batch.reason(0)
        info = {} if reason is None else {"failed": reason}
        return found.observation[0], float(found.reward[0]), bool(found.terminated[0]), bool(found.truncated[0]), info

    def render(self) -> Any:
        """(height, width, 3) uint8, with `render_mode="rgb_array"`."""
        return None if self._camera is None else self._camera.shot()

    def close(self) -> None:
        """Give what pictures need back."""
        if self._camera is not None:
            self._camera.close()


def box(low: FloatArray, high: FloatArray) -> Any:
    """A space of float64 between bounds."""
    return gymnasium.spaces.Box(low, high, dtype=np.float64)
