"""Rollouts: steps of many worlds under given commands or a policy, recorded into arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.batches.selection import chosen_worlds
from linkwork.elements.core import checks
from linkwork.errors import LinkworkError, suggestion

if TYPE_CHECKING:
    from xarray import Dataset

    from linkwork.batches.batch import Batch
    from linkwork.util.array_types import FloatArray, IntArray, Numbers

RECORDED = ("q", "qd", "positions", "orientations", "velocities", "time", "controls")
MOST_STEPS = 10**9  # of commands
AXES = {"q": ("coordinate",), "qd": ("rate",), "positions": ("body", "axis"), "orientations": ("body", "quaternion"),
        "velocities": ("body", "twist"), "time": (), "controls": ("command",)}  # fmt: skip
UNITS = {"positions": "m", "orientations": "1", "velocities": "m/s, rad/s", "time": "s"}

Policy = Callable[["Batch"], "Numbers"]


def rollout(
    batch: Batch,
    controls: Numbers | Policy | None,
    steps: int | None,
    hold: int,
    record: Iterable[str],
    worlds: Any,
    out: Mapping[str, FloatArray] | None,
) -> dict[str, FloatArray]:
    """`Batch.rollout`, which says what it does."""
    chosen, hold = chosen_worlds(batch.n, worlds), checks.whole("Batch", "hold", hold, least=1)
    names = _recorded(record)
    given = None if controls is None or callable(controls) else _commands(batch, controls, len(chosen))
    count = _length(given, steps)
    made = {name: _array(batch, name, len(chosen), count, (out or {}).get(name)) for name in names}
    if strange := set(out or ()) - set(names):
        raise LinkworkError(f'Batch: out has "{sorted(strange)[0]}", which is not recorded; name it in record, or leave it out')
    for k in range(count):
        if given is not None:
            batch.controls[chosen] = given[:, k]
        elif callable(controls):
            batch.controls[chosen] = _answer(batch, controls, chosen)
        batch.step(hold, worlds=chosen)
        for name, array in made.items():
            array[:, k] = getattr(batch, name)[chosen]
    return made


def labelled(batch: Batch, made: Mapping[str, FloatArray], worlds: Any, hold: int) -> Dataset:
    """Arrays of a rollout as an xarray Dataset; `step` counts steps since the rollout began."""
    import xarray

    if not made:
        raise LinkworkError("Batch: nothing was recorded; name something in record")
    _recorded(made)
    chosen, count = chosen_worlds(batch.n, worlds), next(iter(made.values())).shape[1]
    coordinates: dict[str, Any] = {"world": chosen, "step": hold * (1 + np.arange(count))}
    labels = {"coordinate": batch.q_names, "rate": batch.qd_names, "command": batch.control_names, "body": batch.body_names,
              "axis": ("x", "y", "z"), "quaternion": ("w", "x", "y", "z"),
              "twist": ("vx", "vy", "vz", "wx", "wy", "wz")}  # fmt: skip
    for axis in {axis for name in made for axis in AXES[name]}:
        coordinates[axis] = [str(label) for label in labels[axis]]
    variables = {name: (("world", "step", *AXES[name]), array, {"units": UNITS[name]} if name in UNITS else {})
                 for name, array in made.items()}  # fmt: skip
    return xarray.Dataset(variables, coordinates, {"dt": batch.dt, "solver": batch.solver, "integrator": batch.integrator_name})


def _recorded(record: Iterable[str]) -> list[str]:
    names = checks.several("Batch", "record", record)
    for name in names:
        if name not in RECORDED:
            raise LinkworkError(f'Batch: nothing that is recorded is called "{name}"{suggestion(name, RECORDED)}; '
                                f"there are {', '.join(RECORDED)}")  # fmt: skip
    return names


def _commands(batch: Batch, controls: Any, count: int) -> FloatArray:
    """(worlds, steps, commands) numbers; those of one world count for all."""
    width = len(batch.control_names)
    try:
        given = np.array(controls, dtype=float)
    except (TypeError, ValueError):
        given = np.zeros(())
    fits = given.ndim in (2, 3) and given.shape[-1] == width and (given.ndim == 2 or given.shape[0] == count)
    if not fits:
        shown = f"of the shape {given.shape}" if given.ndim else checks.show(controls)
        raise LinkworkError(f"Batch: controls are {shown}; give ({count}, steps, {width}), (steps, {width}) for all worlds, or "
                            "a function of the batch")  # fmt: skip
    return np.broadcast_to(given, (count, *given.shape[-2:]))


def _length(given: FloatArray | None, steps: int | None) -> int:
    if given is None:
        if steps is None:
            raise LinkworkError("Batch: a rollout needs steps where controls are no array; give steps")
        return checks.whole("Batch", "steps", steps, most=MOST_STEPS)
    if steps is not None and steps != given.shape[1]:
        raise LinkworkError(f"Batch: steps is {checks.show(steps)}, but controls are for {given.shape[1]}; leave steps out")
    return int(given.shape[1])


def _array(batch: Batch, name: str, count: int, steps: int, given: FloatArray | None) -> FloatArray:
    shape = (count, steps, *getattr(batch, name).shape[1:])
    if given is None:
        return np.empty(shape)
    if not (isinstance(given, np.ndarray) and given.dtype == float and given.shape == shape and given.flags.writeable):
        shown = f"{given.dtype} of the shape {given.shape}" if isinstance(given, np.ndarray) else checks.show(given)
        raise LinkworkError(f'Batch: out["{name}"] is {shown}; give a writeable array of float64 of the shape {shape}')
    return given


def _answer(batch: Batch, policy: Policy, chosen: IntArray) -> FloatArray:
    """What a policy commands: a row for each world of the batch, or for each of those that are stepped."""
    width = len(batch.control_names)
    given = policy(batch)
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise LinkworkError(f"Batch: the policy gives {checks.show(given)}; give {(batch.n, width)} numbers") from None
    if found.shape == (batch.n, width):
        return found[chosen]
    if found.shape == (len(chosen), width):
        return found
    raise LinkworkError(f"Batch: the policy gives an array of the shape {found.shape}; give {(batch.n, width)}")
