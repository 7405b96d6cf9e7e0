"""What a recording is given, and what it must be: names, numbers, shapes of arrays, times."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import UnknownNameError
from linkwork.recording.fields import CONTACT_FIELDS, FIELDS, RecordingError, fields_of

if TYPE_CHECKING:
    from linkwork.elements.core.shape import Shape
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray, Vector


def check_arrays(rec: Recording) -> None:
    """Shapes of all arrays, names that are known, contacts that are there: a RecordingError where they are not."""
    sizes = {"time": len(rec.time), "body": len(rec.bodies), "joint": len(rec.joints), "quaternion": 4}
    for name, value in fields_of(rec).items():
        wanted = tuple(sizes.get(d, 3) for d in FIELDS[name][0])
        if value.shape != wanted:
            remedy = f"{len(rec.time)} frames, {len(rec.bodies)} bodies and {len(rec.joints)} joints need {wanted}"
            raise RecordingError(f"Recording: {name} has shape {value.shape}; {remedy}")
    named = {body for link in rec.links for body in (link[1], link[3])} | {
        body for _, body, *_ in (*rec.colliders, *rec.visuals, *rec.frames)
    }
    for body in named - {None, *rec.bodies}:
        index_of(body, "body", rec.bodies)  # raises
    names_in("frames", [name for name, *_ in rec.frames])
    if rec.touching is not None:
        _check_touching(rec)
        sizes |= {"contact": int(rec.touching.count.sum()), "end": 2}
        for name, value in rec.touching.columns().items():
            wanted = tuple(sizes.get(d, 3) for d in CONTACT_FIELDS[name][0])
            if value.shape != wanted or len(rec.touching.count) != len(rec.time):
                raise RecordingError(f"Recording: contact_{name} has shape {value.shape}; its counts need {wanted}")
    for name, value in rec.extra.items():
        if value.ndim == 0 or len(value) != len(rec.time):
            raise RecordingError(f'Recording: extra "{name}" has shape {value.shape}; give {len(rec.time)} frames')


def _check_touching(rec: Recording) -> None:
    """Counts, and numbers of bodies and colliders that are there."""
    table, frames = rec.touching, len(rec.time)
    assert table is not None
    for name, most in (("count", None), ("bodies", len(rec.bodies)), ("colliders", len(table.names))):
        numbers, least = getattr(table, name), -1 if name == "bodies" else 0
        if numbers.dtype.kind not in "iu" or (numbers.size and numbers.min() < least):
            raise RecordingError(f"Recording: contact_{name} is {checks.show(numbers)}; give whole numbers from {least} on")
        if most is not None and numbers.size and numbers.max() >= most:
            raise RecordingError(f"Recording: contact_{name} has {numbers.max()}, and there are {most} {name}")
    if table.count.shape != (frames,):
        raise RecordingError(f"Recording: contact_count has shape {table.count.shape}; {frames} frames need ({frames},)")


def check_times(rec: Recording) -> None:
    """In a file times increase."""
    back = np.flatnonzero(np.diff(rec.time) <= 0)
    if len(back):
        k = int(back[0])
        raise RecordingError(f"Recording: time goes from {rec.time[k]:g} s to {rec.time[k + 1]:g} s in frame {k + 1}, "
                             "and should increase; record parts that begin anew on their own")  # fmt: skip


def index_of(name: Any, sort: str, names: list[str]) -> int:
    """The place of a name among those of a recording."""
    if isinstance(name, str) and name in names:
        return names.index(name)
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f'did you mean "{near[0]}"?' if near else "it has " + (", ".join(names[:5]) or "none")
    raise UnknownNameError(f'Recording: there is no {sort} named "{name}"; {hint}')


def names_in(what: str, given: Any) -> list[str]:
    names = list(given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise RecordingError(f"Recording: {what} are {checks.show(names)}; give names, each once")
    return names


def numbers_in(name: str, given: Any) -> FloatArray:
    """An array of floats; numbers that are written as text are none."""
    found = np.asarray(given)
    if found.dtype.kind not in "fiu":
        raise RecordingError(f"Recording: {name} is {checks.show(found)}; give real numbers")
    return found.astype(float, copy=False)


def link_of(name: str, body_a: str | None, point_a: Vector, body_b: str, point_b: Vector) -> tuple[Any, ...]:
    return (name, body_a, tuple(map(float, point_a)), body_b, tuple(map(float, point_b)))


def collider_of(name: str, body: str | None, shape: Shape, position: Vector, orientation: Vector) -> tuple[Any, ...]:
    return (name, body, shape, tuple(map(float, position)), tuple(map(float, orientation)))


def visual_of(
    name: str, body: str | None, shape: Shape, position: Vector, orientation: Vector, color: Vector | None
) -> tuple[Any, ...]:
    return (*collider_of(name, body, shape, position, orientation), None if color is None else tuple(map(float, color)))
