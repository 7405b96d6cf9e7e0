"""Environments of Gymnasium from any world: `Task` says what is observed and rewarded, `Env` and `VectorEnv` run it."""

from typing import TYPE_CHECKING

from linkwork.util.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from linkwork.gym.env import Env as Env
    from linkwork.gym.ready import task as task
    from linkwork.gym.tasks import Motion as Motion
    from linkwork.gym.tasks import Task as Task
    from linkwork.gym.vector_env import VectorEnv as VectorEnv

_LATER = {
    "Env": "linkwork.gym.env",
    "VectorEnv": "linkwork.gym.vector_env",
    "Task": "linkwork.gym.tasks",
    "Motion": "linkwork.gym.tasks",
    "task": "linkwork.gym.ready",
}

if not TYPE_CHECKING:
    __all__ = [*_LATER]
    __getattr__, __dir__ = _lazy_names(__name__, _LATER)
