"""VectorEnv: n worlds of a task in step, as Gymnasium has vectors of environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.gym.env import box
from linkwork.gym.episodes import Episodes, Outcome
from linkwork.gym.needs import gymnasium
from linkwork.gym.pictures import FPS, RENDER_MODES, Camera, checked_mode

if TYPE_CHECKING:
    from linkwork.batches.batch import Batch
    from linkwork.gym.tasks import Task
    from linkwork.util.array_types import AnyArray, BoolArray, FloatArray

AutoresetMode = gymnasium.vector.AutoresetMode


class VectorEnv(gymnasium.vector.VectorEnv):
    """n worlds of a task in step: the same as `gymnasium.vector.SyncVectorEnv` of `Env`, bit by bit.

    `autoreset`: what happens when an episode ends, as Gymnasium's `AutoresetMode`: "NextStep" (the default: the next step
    begins another one), "SameStep" (it is begun at once; `infos` has "final_obs"), or "Disabled" (`reset` with a "reset_mask"
    among its options begins it). `threads`: as of `lw.Batch`. World i draws with a generator of its own, seeded with seed + i.

    >>> import linkwork as lw
    >>> envs = lw.gym.VectorEnv(lw.gym.task("cartpole"), 16)
    >>> observations, infos = envs.reset(seed=0)
    >>> observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
    >>> observations.shape, rewards.shape
    ((16, 4), (16,))
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FPS}

    def __init__(self, task: Task, num_envs: int, *, autoreset: str = "NextStep", threads: int | None = None,
                 render_mode: str | None = None) -> None:  # fmt: skip
        self._episodes = own = Episodes(task, num_envs, threads)
        self._mode = _mode(autoreset)
        self.num_envs, self.render_mode = own.batch.n, checked_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / (task.dt * task.hold)), "autoreset_mode": self._mode}
        self.single_observation_space = box(np.full(own.width, -np.inf), np.full(own.width, np.inf))
        self.single_action_space = box(own.low, own.high)
        batch_space = gymnasium.vector.utils.batch_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._generators = [_generator(None) for _ in range(self.num_envs)]
        self._over: BoolArray = np.zeros(self.num_envs, dtype=bool)  # episodes that have ended
        self._cameras = [Camera(own.batch, i) for i in range(self.num_envs)] if render_mode else []

    @property
    def batch(self) -> Batch:
        """The worlds."""
        return self._episodes.batch

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[FloatArray, dict[str, Any]]:  # fmt: skip
        """Begin episodes in all worlds, or in those of options["reset_mask"]: (observations, infos)."""
        n, mask = self.num_envs, (options or {}).get("reset_mask")
        if mask is not None and not _is_mask(mask, n):
            raise LinkworkError(
                f'VectorEnv: options["reset_mask"] is {checks.show(mask)}; give ({n},) truths, at least one of them True'
            )
        seeds: list[int | None] = [None] * n
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(n)]
        elif seed is not None:
            seeds = list(seed)
        if len(seeds) != n:
            raise LinkworkError(f"VectorEnv: {len(seeds)} seeds are given; give {n}, or one number")
        chosen = np.arange(n) if mask is None else np.flatnonzero(mask)
        for i in chosen:
            if seeds[i] is not None:
                self._generators[i] = _generator(seeds[i])
        self._begin(chosen)
        return self._episodes.observation(), {}

    def step(self, actions: AnyArray) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """One action in all worlds: (observations, rewards, terminated, truncated, infos)."""
        if self._mode == AutoresetMode.DISABLED and self._over.any():
            raise LinkworkError(f"VectorEnv: the episode of world {np.flatnonzero(self._over)[0]} is over; reset it by "
                                'reset(options={"reset_mask": mask})')  # fmt: skip
        before, infos = self._over, dict[str, Any]()
        found = self._episodes.act(actions, ~before)
        if before.any():  # in the mode NextStep
            found = self._begun_anew(np.flatnonzero(before), found)
        over = found.terminated | found.truncated
        for i in np.flatnonzero(self.batch.failed & over):
            infos = self._add_info(infos, {"failed": self.batch.reason(int(i))}, int(i))
        self._over = over
        if self._mode == AutoresetMode.SAME_STEP and over.any():
            for i in np.flatnonzero(over):
                reason = self.batch.reason(int(i))
                last = {} if reason is None else {"failed": reason}
                infos = self._add_info(infos, {"final_obs": found.observation[i], "final_info": last}, int(i))
            self._begin(np.flatnonzero(over))
            found = found._replace(observation=self._episodes.observation())
        return found.observation, found.reward, found.terminated, found.truncated, infos

    def _begin(self, chosen: AnyArray) -> None:
        self._episodes.begin(chosen.tolist(), [self._generators[i] for i in chosen])
        self._over = self._over.copy()
        self._over[chosen] = False
        for i in chosen if self._cameras else ():
            self._cameras[i].begin()

    def _begun_anew(self, chosen: AnyArray, found: Outcome) -> Outcome:
        """What a step gives where it was a reset instead."""
        self._begin(chosen)
        reward, terminated, truncated = found.reward.copy(), found.terminated.copy(), found.truncated.copy()
        reward[chosen], terminated[chosen], truncated[chosen] = 0.0, False, False
        return Outcome(self._episodes.observation(), reward, terminated, truncated)

    def render(self) -> Any:
        """A picture of each world, (height, width, 3) uint8, with `render_mode="rgb_array"`."""
        return tuple(camera.shot() for camera in self._cameras) if self._cameras else None

    def close_extras(self, **_kwargs: Any) -> None:
        """Give what pictures need back."""
        for camera in self._cameras:
            camera.close()


def _generator(seed: int | None) -> np.random.Generator:
    """The generator that an Env with this seed has."""
    return gymnasium.utils.seeding.np_random(None if seed is None else int(seed))[0]


def _is_mask(mask: Any, n: int) -> bool:
    return isinstance(mask, np.ndarray) and mask.shape == (n,) and mask.dtype == np.bool_ and bool(mask.any())


def _mode(given: Any) -> Any:
    names = [mode.value for mode in AutoresetMode]
    found = getattr(given, "value", given)
    if found not in names:
        raise LinkworkError(f"VectorEnv: autoreset is {checks.show(given)}; give one of {', '.join(names)}")
    return AutoresetMode(found)
