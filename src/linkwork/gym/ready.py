"""Tasks that are ready: small machines to learn control with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Box, Capsule, Hinge, Motor, RigidBody, Slider
from linkwork.errors import UnknownNameError, suggestion
from linkwork.gym.tasks import Motion, Task
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.batches.batch import Batch
    from linkwork.util.array_types import AnyArray, BoolArray, FloatArray, Vector

AUTO = {"solver": "auto"}


def pendulum() -> Task:
    """A rod on a hinge is swung up and held upright: angle 0 hangs down; its motor is too weak to lift it at once."""
    world = World()
    rod = world.add(RigidBody(1.0, shape=Capsule(0.03, 0.9), position=(0, 0, -0.5), name="rod"))
    hinge = world.add(Hinge(world.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    world.add(Motor(hinge, range=(-2.0, 2.0), name="motor"))

    def observe(batch: Batch) -> FloatArray:
        angle = batch.q[:, 0]
        return np.stack([np.cos(angle), np.sin(angle), batch.qd[:, 0]], axis=1)

    def reward(batch: Batch, actions: FloatArray, _before: Motion) -> FloatArray:
        angle = np.mod(batch.q[:, 0], 2.0 * np.pi) - np.pi  # from upright
        effort: FloatArray = angle**2 + 0.1 * batch.qd[:, 0] ** 2 + 0.001 * actions[:, 0] ** 2
        return -effort

    def start(rng: np.random.Generator) -> Mapping[str, Vector]:
        return {"q": rng.uniform(-np.pi, np.pi, 1), "qd": rng.uniform(-1.0, 1.0, 1)}

    return Task(world=world, reward=reward, observe=observe, start=start, dt=0.005, hold=10, episode=200, options=AUTO)


def cartpole() -> Task:
    """A pole on a cart that a force drives along a rail: 1 for each action while the pole stands and the cart is near."""
    far, lean = 2.4, 0.21  # m, rad

    def terminated(batch: Batch) -> BoolArray:
        fallen: BoolArray = (np.abs(batch.q[:, 0]) > far) | (np.abs(batch.q[:, 1]) > lean)
        return fallen

    def reward(batch: Batch, _actions: FloatArray, _before: Motion) -> FloatArray:
        return np.ones(batch.n)

    return Task(
        world=_cart(Capsule(0.03, 0.9)),
        reward=reward,
        terminated=terminated,
        start=_upright,
        dt=0.005,
        hold=4,
        episode=500,
        options=AUTO,
    )


def _cart(pole: Capsule) -> World:
    """A cart on a rail along x, and a pole on a hinge on it that stands upright at angle 0."""
    world = World()
    cart = world.add(RigidBody(1.0, shape=Box(0.3, 0.2, 0.15), position=(0, 0, 0), name="cart"))
    rod = world.add(RigidBody(0.1, shape=pole, position=(0, 0, 0.5), name="pole"))
    rail = world.add(Slider(world.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    world.add(Hinge(cart, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    world.add(Motor(rail, range=(-10.0, 10.0), name="force"))
    return world


def _upright(rng: np.random.Generator) -> Mapping[str, Vector]:
    return {"q": rng.uniform(-0.05, 0.05, 2), "qd": rng.uniform(-0.05, 0.05, 2)}


def double_pendulum() -> Task:
    """Two links on hinges of which the lower one alone is driven (an acrobot): the tip is brought above the upper hinge by the
    length of a link, for which each action before costs 1."""
    world, length = World(), 1.0
    upper = world.add(RigidBody(1.0, shape=Capsule(0.03, 0.9), position=(0, 0, -0.5), name="upper"))
    lower = world.add(RigidBody(1.0, shape=Capsule(0.03, 0.9), position=(0, 0, -1.5), name="lower"))
    world.add(Hinge(world.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    elbow = world.add(Hinge(upper, lower, at=(0, 0, -1), axis=(0, 1, 0), name="elbow"))
    world.add(Motor(elbow, range=(-2.0, 2.0), name="motor"))

    def height(batch: Batch) -> AnyArray:
        return -length * (np.cos(batch.q[:, 0]) + np.cos(batch.q[:, 0] + batch.q[:, 1]))

    def observe(batch: Batch) -> FloatArray:
        one, other = batch.q[:, 0], batch.q[:, 1]
        return np.stack([np.cos(one), np.sin(one), np.cos(other), np.sin(other), batch.qd[:, 0], batch.qd[:, 1]], axis=1)

    def terminated(batch: Batch) -> BoolArray:
        above: BoolArray = height(batch) > length
        return above

    def reward(batch: Batch, _actions: FloatArray, _before: Motion) -> FloatArray:
        return np.where(height(batch) > length, 0.0, -1.0)

    def start(rng: np.random.Generator) -> Mapping[str, Vector]:
        return {"q": rng.uniform(-0.1, 0.1, 2), "qd": rng.uniform(-0.1, 0.1, 2)}

    return Task(
        world=world,
        reward=reward,
        observe=observe,
        terminated=terminated,
        start=start,
        dt=0.005,
        hold=20,
        episode=500,
        options=AUTO,
    )


READY: dict[str, Callable[[], Task]] = {"pendulum": pendulum, "cartpole": cartpole, "double-pendulum": double_pendulum}


def task(name: str) -> Task:
    """A task that is ready, by name: pendulum, cartpole or double-pendulum.

    >>> task("cartpole").episode
    500
    """
    if name not in READY:
        raise UnknownNameError(f'lw.gym: no task is called "{name}"{suggestion(name, READY)}; there are {", ".join(READY)}')
    return READY[name]()
