"""What the next step takes from the last one: impulses that the solver starts from. A part of the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.rows import BODY_A, BODY_B, COLLIDER_A, COLLIDER_B, ROLLING, TORSION
from linkwork.model.graph import GROUND

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem


@dataclass(frozen=True)
class Memory:
    """What the next step takes from the last one: a part of the state."""

    margins: np.ndarray  # (1 + bodies,) rad, m: as in `Finding`
    labels: np.ndarray  # (m, 5) int64: of rows
    impulses: np.ndarray  # (m, 9) N s, m: of the last solve of both stages, in the world, and their points

    def __len__(self) -> int:
        return len(self.labels)

    def elsewhere(self) -> Memory:
        """What another solver or integrator can start from: how far bodies may move until a new search is its own matter."""
        return Memory(EMPTY.margins, self.labels, self.impulses)

    def wrong(self) -> str | None:
        """What is no number in it, in words; a margin without end looks at everything."""
        if np.isnan(self.margins.max(initial=0.0)):
            return "a margin that is none"
        if not np.isfinite(self.impulses.sum()) and not (fine := np.isfinite(self.impulses)).all():
            return f"the impulse {self.impulses[~fine][0]:g}"
        return None


EMPTY = Memory(np.zeros(1), np.zeros((0, 5), dtype=np.int64), np.zeros((0, 9)))


def knows(contact: ContactSystem, memory: Memory) -> bool:
    """Whether it speaks of colliders, stops and bodies that are here, as one from a file may not."""
    colliders, bodies = memory.labels[:, [COLLIDER_A, COLLIDER_B]], memory.labels[:, [BODY_A, BODY_B]]
    here = len(_colliders(contact)), len(contact.inverse_mass.bodies)
    known = all(x.min(initial=0) >= least and x.max(initial=-1) < most
                for x, least, most in ((colliders, 0, here[0]), (bodies, GROUND, here[1])))  # fmt: skip
    return known and memory.margins.min(initial=0.0) >= 0.0


def transferred(memory: Memory, other: ContactSystem, contact: ContactSystem) -> Memory:
    """What another contact system remembered, before the world was changed, of the colliders and stops that are here, too."""
    places = {key: k for k, key in enumerate(_colliders(contact))}
    number = np.array([places.get(key, -1) for key in _colliders(other)], dtype=np.int64)
    here = {key: k for k, key in enumerate(_bodies(contact))}
    body = np.array([*(here.get(key, GROUND) for key in _bodies(other)), GROUND], dtype=np.int64)
    first, n = memory.labels[:, COLLIDER_A], len(other.names)
    labels, of_stops = memory.labels.copy(), (first >= n) & (first < n + len(other.stops))
    labels[:, COLLIDER_A] = number[memory.labels[:, COLLIDER_A]]
    labels[:, COLLIDER_B] = np.where(of_stops, 0, number[memory.labels[:, COLLIDER_B]])
    labels[:, [BODY_A, BODY_B]] = body[memory.labels[:, [BODY_A, BODY_B]]]
    left = np.flatnonzero((labels[:, [COLLIDER_A, COLLIDER_B]] >= 0).all(axis=1))
    left = left[np.lexsort((labels[left, COLLIDER_B], labels[left, COLLIDER_A]))]
    return Memory(EMPTY.margins, labels[left], memory.impulses[left])


def _bodies(contact: ContactSystem) -> list[tuple]:
    """What each number stands for: bodies, then points of them, then what inequalities bound."""
    model = contact.model
    bodies = model.bodies.elements
    points: list[tuple] = [(id(bodies[point.body]), point.local) for point in model.material_points]
    points += [(id(measure.element), rows.start) for measure in model.measures for rows in measure.slots]
    return [(id(body), None) for body in bodies] + points


def _colliders(contact: ContactSystem) -> list[tuple[int, float, int]]:
    """What each collider is, then each stop, then the first colliders of companions."""
    stops = [(id(stop.element), stop.sign, stop.coordinate) for stop in contact.stops]
    kinds = (0, TORSION + 1, ROLLING + 1)
    surfaces, spinning, rolling = ([(id(source), 0.0, kind) for source in contact.names] for kind in kinds)
    return surfaces + stops + spinning + rolling
