"""What the numbers of a state mean, so that it goes to any simulation of the same world, whatever its solver and integrator.

A state holds entries of a workspace, which depends on the solver: the origin of a rigid body lies at its joint where the two
are eliminated together, elsewhere at the centre of mass. A Layout says which entries are what and where those origins are.
Between two layouts poses and velocities are carried over as a user sees them; warm starts go where they fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from typing import Any

import numpy as np

from linkwork.elements.bodies.rigid import RIGID as RIGID_KIND
from linkwork.elements.core.placement import CONJUGATE, apply, matrices, product, quaternions

FORMAT = 1  # of states that are pickled or in checkpoints: raised when an older linkwork could not read them

MOST_STEPS = 10**18  # of a run: more do not fit into an int64

RIGID = "rigid"  # 13 numbers a body: position (m) and quaternion of its internal frame, its linear and angular velocity
COMMANDS = "commands"
JOINTS = "joints"  # whether coordinates and velocities of joints are known, and their values; only some layouts have them
NEEDED = ("work", RIGID, "bodies", "turns", "kept")  # parts of every layout, in the same order
OF_INTEGRATOR = ("pace", "history")  # kept by an integrator for its next step, of the same length
OF_SOLVER = ("warm",)  # from which an iterative solver starts


@dataclass(frozen=True, eq=False)
class Layout:
    """What the numbers of a state are."""

    parts: tuple[tuple[str, int], ...]  # what comes one after another, and how many numbers of each
    signature: str  # of the bodies, constraints and forces that count turns: the same for like worlds
    made_with: tuple[str, str, float]  # solver, integrator, dt (s)
    home: np.ndarray  # (k, 3) m: of rigid bodies, users' origins in the internal frames
    axes: np.ndarray  # (k, 4): of rigid bodies, internal axes in the users' frames
    commands: tuple[tuple[str, int], ...]  # what takes commands, and how many numbers

    @classmethod
    def of(cls, model, made_with: tuple[str, str, float]) -> Layout:
        rigid = model.bodies.frames.get(RIGID_KIND.name)
        home = np.zeros((0, 3)) if rigid is None else rigid.user_point(np.zeros_like(rigid.x))
        axes = np.zeros((0, 4)) if rigid is None else quaternions(rigid.axes)
        commands = tuple((str(element.name), len(entries)) for element, entries in model.commands)
        return cls(model.state_parts, model.signature, made_with, home, axes, commands)

    @cached_property
    def size(self) -> int:
        return sum(count for _, count in self.parts)

    @cached_property
    def digest(self) -> bytes:
        told = repr((self.parts, self.signature, self.made_with, self.commands)).encode()
        return blake2s(told + self.home.tobytes() + self.axes.tobytes()).digest()

    def where(self, name: str) -> np.ndarray:
        """The numbers of one sort."""
        return self._where.get(name, np.zeros(0, dtype=np.int64))

    @cached_property
    def _where(self) -> dict[str, np.ndarray]:
        found: dict[str, list[np.ndarray]] = {}
        at = 0
        for name, count in self.parts:
            found.setdefault(name, []).append(np.arange(at, at + count))
            at += count
        return {name: np.concatenate(pieces) for name, pieces in found.items()}

    def named(self, number: int) -> tuple[str, int]:
        """The sort of a number, and which one of that sort it is."""
        for name, where in self._where.items():
            if len(place := np.flatnonzero(where == number)):
                return name, int(place[0])
        raise IndexError(number)

    def pace(self, values: np.ndarray) -> tuple[float, float]:
        """Of these values, what an integrator that controls its steps has left there: its pace, and how long it has kept it."""
        pace, calm = self._pace_at
        return values.item(pace), values.item(calm)

    @cached_property
    def _pace_at(self) -> tuple[int, int]:
        pace, calm = self.where("pace").tolist()
        return pace, calm

    def check(self) -> None:
        """ValueError where its own parts do not agree, as in a file that somebody has changed."""
        sizes = {name: len(self.where(name)) for name in (RIGID, COMMANDS)}
        told = {RIGID: 13 * len(self.home), COMMANDS: sum(size for _, size in self.commands)}
        if sizes != told or len(self.axes) != len(self.home):
            raise ValueError(f"its layout has {sizes} numbers, which are {told}")
        if not (np.isfinite(self.home).all() and np.allclose((self.axes**2).sum(axis=1), 1.0)):
            raise ValueError("the frames of its rigid bodies are none")

    def fits(self, other: Layout) -> bool:
        """Whether states of one are states of the other, of another solver or integrator."""
        same = all(len(self.where(name)) == len(other.where(name)) for name in NEEDED)
        return self.signature == other.signature and same and len(self.home) == len(other.home)

    def fits_history(self, other: Layout) -> bool:
        """Whether the other's integrator is of the same kind, with the same step: it can go on with what this one keeps."""
        same = all(len(self.where(name)) == len(other.where(name)) for name in OF_INTEGRATOR)
        return self.made_with[1:] == other.made_with[1:] and same


def converted(values: np.ndarray, old: Layout, new: Layout, now: np.ndarray) -> np.ndarray:
    """Numbers of the old layout as the new one has them; `now`: those of the new one at present, of which commands that the
    old one does not know are kept."""
    found = np.zeros(new.size)
    found[new.where(COMMANDS)] = now[new.where(COMMANDS)]
    warm = old.made_with == new.made_with and len(old.where("warm")) == len(new.where("warm"))
    for name in (*NEEDED, *(OF_INTEGRATOR if old.fits_history(new) else ()), *(OF_SOLVER if warm else ())):
        found[new.where(name)] = values[old.where(name)]
    _move_rigid(found, old, new)
    known = command_places(old)
    for name, where in command_places(new).items():
        if (there := known.get(name)) is not None and len(there) == len(where):
            found[where] = values[there]
    return found


def command_places(layout: Layout) -> dict[str, np.ndarray]:
    ends = np.cumsum([size for _, size in layout.commands])
    where = layout.where(COMMANDS)
    return {name: where[end - size : end] for (name, size), end in zip(layout.commands, ends.tolist(), strict=True)}


def _move_rigid(values: np.ndarray, old: Layout, new: Layout) -> None:
    """Origins and axes of rigid bodies from where the old layout has them to those of the new one."""
    moved = np.flatnonzero((old.home != new.home).any(axis=1) | (old.axes != new.axes).any(axis=1))
    if not len(moved):
        return
    where = new.where(RIGID).reshape(len(new.home), -1)[moved]
    x, q, v, w = np.split(values[where], [3, 7, 10], axis=1)
    arm = apply(matrices(q), old.home[moved])  # to the user's origin ...
    turned = np.flatnonzero((old.axes[moved] != new.axes[moved]).any(axis=1))
    q[turned] = product(product(q[turned], old.axes[moved][turned] * CONJUGATE), new.axes[moved][turned])
    arm -= apply(matrices(q), new.home[moved])  # ... and from there
    values[where] = np.hstack([x + arm, q, v + np.cross(w, arm), w])


def plain(layout: Layout) -> dict[str, Any]:
    """A layout without its arrays, as JSON has it."""
    return {
        "format": FORMAT,
        "parts": [list(part) for part in layout.parts],
        "signature": layout.signature,
        "made with": list(layout.made_with),
        "commands": [list(one) for one in layout.commands],
    }
