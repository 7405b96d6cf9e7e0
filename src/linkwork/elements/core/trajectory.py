"""A recorded motion: where a body was at given times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ElementError

if TYPE_CHECKING:
    from linkwork.util.array_types import FilePath, FloatArray, Matrix, Numbers, Vector


GAP = 5.0  # times the median step: a longer one is a gap
COLUMNS = ("t", "x", "y", "z", "qw", "qx", "qy", "qz")


class Trajectory:
    """Positions (and orientations, quaternions w x y z) at increasing times, linear and turning evenly in between.

    Before the first time and after the last one it stands still. A step longer than `gap` seconds (5 median steps if not
    given) is refused.

    >>> wave = Trajectory([0, 1, 2], [(0, 0, 0), (1, 0, 0), (1, 2, 0)])
    >>> wave.at(0.25)[0, :3].tolist()
    [0.25, 0.0, 0.0]
    """

    name = None

    def __init__(
        self, times: Vector, positions: Matrix, orientations: Matrix | None = None, *, gap: float | None = None
    ) -> None:
        self.times = self._array("times", times, ())  # (n,), s
        self.positions = self._array("positions", positions, (3,))  # (n, 3), m
        self.orientations = None if orientations is None else self._unit(orientations)  # (n, 4)
        self._check_times(gap)
        steps = np.diff(self.times)[:, None]
        self._velocity = np.diff(self.positions, axis=0) / steps  # (n - 1, 3), m/s
        self._spin = np.zeros((len(steps), 3))  # (n - 1, 3), rad/s
        if self.orientations is not None:
            self.turn_through(self.orientations)

    def turn_through(self, orientations: FloatArray) -> None:
        """Take these unit quaternions (n, 4) as they are."""
        turns = product(orientations[1:], orientations[:-1] * (1, -1, -1, -1))
        self.orientations, self._spin = orientations, rotation_vectors(turns) / np.diff(self.times)[:, None]

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Trajectory: {len(self)} samples from {self.times[0]:g} s to {self.times[-1]:g} s>"

    def at(self, times: float | Vector) -> FloatArray:
        """(k, 13) at these times: position (3, m), orientation (4), velocity (3, m/s), angular velocity (3, rad/s)."""
        asked: FloatArray = np.atleast_1d(np.asarray(times, dtype=float))
        k = np.clip(np.searchsorted(self.times, asked) - 1, 0, len(self) - 2)
        moving = ((asked >= self.times[0]) & (asked <= self.times[-1]))[:, None]
        since = (np.clip(asked, self.times[0], self.times[-1]) - self.times[k])[:, None]
        turned = np.tile([1.0, 0.0, 0.0, 0.0], (len(asked), 1))
        if self.orientations is not None:
            turned = product(quaternions(self._spin[k] * since), self.orientations[k])
        return np.hstack([self.positions[k] + self._velocity[k] * since, turned, moving * self._velocity[k],
                          moving * self._spin[k]])  # fmt: skip

    def between(self, times: Vector) -> FloatArray:
        """(k - 1, 13) for the steps between k times: the pose at each step's end, and the mean velocities in the step."""
        poses, steps = self.at(times)[:, :7], np.diff(times)[:, None]
        turns = product(poses[1:, 3:], poses[:-1, 3:] * (1, -1, -1, -1))
        return np.hstack([poses[1:], np.diff(poses[:, :3], axis=0) / steps, rotation_vectors(turns) / steps])

    @classmethod
    def load(cls, path: FilePath, *, of: str | None = None, gap: float | None = None) -> Trajectory:
        """From a CSV file with the header t,x,y,z or t,x,y,z,qw,qx,qy,qz; or that of the body `of`, from a file of many with
        columns of their own, t,NAME.x,NAME.y,NAME.z,NAME.qw,...: see `load_all`."""
        header, rows = _table(path)
        if of is None and header in (COLUMNS, COLUMNS[:4]):
            return cls._of_columns(rows[:, 0], rows[:, 1:], gap)
        named = _named(path, header)
        if of is None:
            first = next(iter(named))
            checks.fail(
                "Trajectory", f'"{path}" holds the motion of {len(named)} bodies', f'say of which, such as of="{first}"'
            )
        if of not in named:
            names = ", ".join(list(named)[:3]) + (", ..." if len(named) > 3 else "")
            checks.fail("Trajectory", f'"{path}" holds no motion of "{of}"', f"give a body that it has: {names}")
        return cls._of_columns(rows[:, 0], rows[:, named[of]], gap)

    @classmethod
    def load_all(cls, path: FilePath, *, gap: float | None = None) -> dict[str, Trajectory]:
        """{body: Trajectory} from a CSV file of many, with the header t,NAME.x,NAME.y,NAME.z,NAME.qw,NAME.qx,NAME.qy,NAME.qz
        and so on (orientations may be left out)."""
        header, rows = _table(path)
        return {name: cls._of_columns(rows[:, 0], rows[:, columns], gap) for name, columns in _named(path, header).items()}

    @classmethod
    def _of_columns(cls, times: FloatArray, values: FloatArray, gap: float | None) -> Trajectory:
        return cls(times, values[:, :3], values[:, 3:] if values.shape[1] == 7 else None, gap=gap)

    def save(self, path: FilePath) -> None:
        """As a CSV file that `load` reads, to the last digit."""
        rows = np.hstack([self.times[:, None], self._columns()])
        np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=",".join(COLUMNS[: rows.shape[1]]), comments="")

    @staticmethod
    def save_all(path: FilePath, motions: Mapping[str, Trajectory], *, digits: int = 17) -> None:
        """Motions {body: Trajectory} with the same times as a CSV file that `load_all` reads; digits: significant ones."""
        times = [motion.times for motion in motions.values()]
        if not times or any(not np.array_equal(t, times[0]) for t in times):
            checks.fail("Trajectory", f"{len(times)} motions have no times in common", "give motions with the same times")
        header = [
            "t",
            *(f"{name}.{c}" for name, motion in motions.items() for c in COLUMNS[1 : 1 + motion._columns().shape[1]]),
        ]
        rows = np.hstack([times[0][:, None], *(motion._columns() for motion in motions.values())])
        np.savetxt(path, rows, fmt=f"%.{digits}g", delimiter=",", header=",".join(header), comments="")

    def _columns(self) -> FloatArray:
        """(n, 3) or (n, 7): positions, and orientations if there are any."""
        return np.hstack([self.positions, *([] if self.orientations is None else [self.orientations])])

    def _array(self, field: str, value: Numbers, shape: tuple[int, ...]) -> FloatArray:
        """An array (n, *shape) of finite floats, as many as there are times."""
        wanted = f"n x {shape[0]}" if shape else "n"
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            checks.fail(self, f"{field} is {checks.show(value)}", f"give an array of {wanted} numbers")
        if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
            checks.fail(self, f"{field} has the shape {array.shape}", f"give {wanted} numbers")
        if shape and len(array) != len(self.times):
            checks.fail(self, f"{field} has {len(array)} rows for {len(self.times)} times", "give one row a time")
        bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), math.prod(shape))).all(axis=1))
        if len(bad):
            checks.fail(self, f"{field} is not finite in row {bad[0]}", "fill such rows or leave them out")
        return array

    def _check_times(self, gap: float | None) -> None:
        if len(self) < 2:
            checks.fail(self, f"it has {len(self)} times", "give at least two")
        steps = np.diff(self.times)
        back = np.flatnonzero(steps <= 0)
        if len(back):
            k = back[0]
            checks.fail(self, f"times go from {self.times[k]:g} s to {self.times[k + 1]:g} s in row {k + 1}",
                        "give increasing times")  # fmt: skip
        allowed = GAP * float(np.median(steps)) if gap is None else checks.positive(self, "gap", gap)
        long = np.flatnonzero(steps > allowed * (1 + 1e-9))
        if len(long):
            k = long[0]
            checks.fail(self, f"there is a gap of {steps[k]:g} s after {self.times[k]:g} s (row {k})",
                        f"fill it, or allow it with gap= (now {allowed:g} s)")  # fmt: skip

    def _unit(self, value: Matrix) -> FloatArray:
        """Unit quaternions, each on the side of the one before."""
        array = self._array("orientations", value, (4,))
        lengths = np.linalg.norm(array, axis=1)
        bad = np.flatnonzero(np.abs(lengths - 1.0) > checks.QUATERNION_SLACK)
        if len(bad):
            checks.fail(self, f"orientations has the length {lengths[bad[0]]:g} in row {bad[0]}",
                        "give unit quaternions (w, x, y, z)")  # fmt: skip
        array /= lengths[:, None]
        flips = np.sum(array[1:] * array[:-1], axis=1) < 0
        array[1:] *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)[:, None]
        return array


def _table(path: FilePath) -> tuple[tuple[str, ...], FloatArray]:
    """The names and the rows of a CSV file."""
    try:
        path = Path(path)
    except TypeError:
        checks.fail("Trajectory", f"path is {checks.show(path)}", "give the path of a CSV file")
    if not path.is_file():
        raise ElementError(f'Trajectory: there is no file "{path}"; give the path of a CSV file')
    with path.open() as file:
        header = tuple(name.strip() for name in file.readline().split(","))
        if header[:1] != ("t",) or len(header) < 4:
            problem = f'"{path}" begins with {checks.show(",".join(header)[:80])}'
            checks.fail("Trajectory", problem, "give the header t,x,y,z or t,x,y,z,qw,qx,qy,qz, or t,NAME.x,NAME.y,NAME.z,...")
        try:
            rows = np.loadtxt(file, delimiter=",", ndmin=2)
        except ValueError as error:
            raise ElementError(f'Trajectory: "{path}" holds what is no number ({error}); give numbers alone') from None
    if rows.shape[1:] != (len(header),):
        checks.fail("Trajectory", f'"{path}" has no rows of {len(header)} numbers', "give one row a time")
    return header, rows


def _named(path: FilePath, header: tuple[str, ...]) -> dict[str, list[int]]:
    """{body: its columns}, of a file of many."""
    found: dict[str, list[str]] = {}
    for column in header[1:]:
        name, _, what = column.rpartition(".")
        found.setdefault(name, []).append(what)
    for name, columns in found.items():
        if not name or tuple(columns) not in (COLUMNS[1:], COLUMNS[1:4]):
            problem = f'"{path}" has the columns {",".join(columns)} of {checks.show(name)}'
            checks.fail(
                "Trajectory", problem, "give NAME.x,NAME.y,NAME.z of each body, or these and NAME.qw,NAME.qx,NAME.qy,NAME.qz"
            )
    return {name: [header.index(f"{name}.{what}") for what in columns] for name, columns in found.items()}


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Quaternion products (k, 4)."""
    w = p[:, :1] * q[:, :1] - np.sum(p[:, 1:] * q[:, 1:], axis=1, keepdims=True)
    return np.hstack([w, p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])])


def quaternions(vectors: FloatArray) -> FloatArray:
    """Of rotation vectors (k, 3)."""
    half = 0.5 * np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors])


def rotation_vectors(q: FloatArray) -> FloatArray:
    """Of unit quaternions (k, 4), the shorter way."""
    q = np.where(q[:, :1] < 0, -q, q)
    sine = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    factor = np.divide(2 * np.arctan2(sine, q[:, :1]), sine, out=np.full_like(sine, 2.0), where=sine > 0)
    found: FloatArray = factor * q[:, 1:]
    return found
