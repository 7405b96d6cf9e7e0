"""Environments: Gymnasium's own check, vectors in lockstep with single environments, seeds, pictures, and what is refused."""

import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import linkwork as lw
from linkwork.gym.ready import READY


@pytest.mark.parametrize("name", READY)
def test_gymnasium_finds_nothing_wrong(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*(symmetric and normalized|infinity).*")
        check_env(lw.gym.Env(lw.gym.task(name)), skip_render_check=True)


def equal(one, other):
    """Whether two infos say the same."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all(equal(a, b) for a, b in zip(one, other, strict=True))
    return np.array_equal(one, other)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", ["cartpole", "double-pendulum"])
def test_a_vector_is_single_environments_in_step(name, mode):
    n, rng = 5, np.random.default_rng(3)

    def short():
        task = lw.gym.task(name)
        return lw.gym.Task(**{**vars(task), "episode": 30})

    ours = lw.gym.VectorEnv(short(), n, autoreset=mode.value, threads=2)
    theirs = SyncVectorEnv([lambda: lw.gym.Env(short()) for _ in range(n)], autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] == mode
    assert (ours.single_observation_space, ours.action_space) == (theirs.single_observation_space, theirs.action_space)
    (first, info), (its, its_info) = ours.reset(seed=7), theirs.reset(seed=7)
    assert np.array_equal(first, its)
    assert equal(info, its_info)
    ended = 0
    for _ in range(80):
        actions = rng.uniform(ours.action_space.low, ours.action_space.high)
        mine, its = ours.step(actions), theirs.step(actions)
        assert all(equal(a, b) for a, b in zip(mine, its, strict=True))
        over = mine[2] | mine[3]
        ended += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            a, b = (env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs))
            assert np.array_equal(a[0], b[0])
    assert ended >= 2 * n


def test_the_same_seed_makes_the_same_episode():
    env = lw.gym.Env(lw.gym.task("pendulum"))
    found = []
    for seed in (4, 4, 5):
        first, _ = env.reset(seed=seed)
        found.append([first, *(env.step(np.array([0.5]))[0] for _ in range(5))])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def blown_up():
    """A spring that euler cannot follow."""
    world = lw.World()
    bob = world.add(lw.Particle(1.0, position=(0, 0, -1.1), name="bob"))
    world.add(lw.Spring(world.ground, bob, stiffness=1e9, rest=1.0, name="spring"))
    return lw.gym.Task(
        world=world, reward=lambda batch, *_: np.ones(batch.n), dt=0.01, hold=50, options={"integrator": "euler"}
    )


def test_a_world_that_diverges_ends_its_episode():
    env = lw.gym.Env(blown_up())
    env.reset(seed=0)
    observation, _, terminated, _, info = env.step(np.zeros(0))
    assert terminated
    assert np.isfinite(observation).all()
    assert "diverged" in info["failed"]
    env.reset()
    assert env.batch.steps.tolist() == [0]


def test_pictures_show_the_world_where_it_is():
    env = lw.gym.Env(lw.gym.task("pendulum"), render_mode="rgb_array")
    env.reset(seed=2)
    before = env.render()
    for _ in range(12):
        env.step(np.array([2.0]))
    after = env.render()
    env.close()
    assert before.shape == after.shape == (360, 480, 3)
    assert before.dtype == np.uint8
    assert (np.abs(before.astype(int) - after.astype(int)).max(axis=2) > 60).sum() > 300  # pixels of the rod are elsewhere
    assert lw.gym.Env(lw.gym.task("pendulum")).render() is None


def refused(words, do):
    with pytest.raises(lw.LinkworkError, match=re.escape(words)):
        do()


def test_bad_input():
    task = lw.gym.task("cartpole")
    env = lw.gym.Env(task)
    env.reset(seed=0)
    refused('no task is called "cartpol"; did you mean "cartpole"', lambda: lw.gym.task("cartpol"))
    refused("task is 3", lambda: lw.gym.Env(3))
    refused("render_mode is 'rgb'", lambda: lw.gym.Env(task, render_mode="rgb"))
    refused('the action of world 0 for "force: force, N" is nan', lambda: env.step(np.array([np.nan])))
    refused("actions are of the shape (1, 2)", lambda: env.step(np.zeros(2)))
    refused("autoreset is 'now'", lambda: lw.gym.VectorEnv(task, 2, autoreset="now"))
    envs = lw.gym.VectorEnv(task, 3, autoreset="Disabled")
    refused("2 seeds are given", lambda: envs.reset(seed=[1, 2]))
    refused('options["reset_mask"] is', lambda: envs.reset(options={"reset_mask": np.zeros(3, dtype=bool)}))

    def changed(**given):
        return lw.gym.Task(**{**vars(task), **given})

    refused("reward is None", lambda: changed(reward=None))
    refused("hold is 0", lambda: changed(hold=0))
    refused("world is 'cart'", lambda: changed(world="cart"))
    refused("observe gives an array of the shape (2,)", lambda: lw.gym.Env(changed(observe=lambda batch: batch.q[0])))
    for name, words in (
        ("reward", "reward gives an array of the shape ()"),
        ("terminated", "terminated gives numbers of the type"),
    ):
        wrong = changed(**{name: (lambda batch, *_: 1.0) if name == "reward" else (lambda batch: np.ones(batch.n))})
        one = lw.gym.Env(wrong)
        one.reset(seed=0)
        refused(words, lambda one=one: one.step(np.zeros(1)))
    refused("start gives 3", lambda: lw.gym.Env(changed(start=lambda rng: 3)).reset())


def test_a_step_after_an_episode_that_is_over_is_refused():
    envs = lw.gym.VectorEnv(lw.gym.Task(**{**vars(lw.gym.task("cartpole")), "episode": 1}), 2, autoreset="Disabled")
    envs.reset(seed=0)
    envs.step(np.zeros((2, 1)))
    refused("the episode of world 0 is over", lambda: envs.step(np.zeros((2, 1))))


def test_environments_are_gymnasiums():
    assert isinstance(lw.gym.Env(lw.gym.task("pendulum")), gymnasium.Env)
    assert isinstance(lw.gym.VectorEnv(lw.gym.task("pendulum"), 2), gymnasium.vector.VectorEnv)
