"""What a simulation can tell of contact: what touches, with which force; what ropes and hard limits do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.contact.contact_build import joined_bodies
from linkwork.contact.contact_system import ContactSystem
from linkwork.contact.points import TouchingPoint, TouchingPoints
from linkwork.contact.rows import BODY_A, BODY_B, COLLIDER_A, COLLIDER_B, FEATURE, GAP, NORMAL, POINT, STIFFNESS, Rows
from linkwork.elements.contacts.contact import RECOVERY
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.model.graph import GROUND
from linkwork.model.model import Model

if TYPE_CHECKING:
    from linkwork.elements.bodies.ground import Ground
    from linkwork.elements.core.element import Body
    from linkwork.util.array_types import FloatArray


SHALLOW = 0.02  # part of a body's half size, as built, that needs no note
STRETCHED = 1e-6  # m, rad: of a rope or hard limit, the same


@dataclass(frozen=True)
class ContactReport:
    """How the contact problems of the last step (of the last call of `step`) were solved.

    `residual` is how far velocities are from the law of contact (m/s), at most, and `worst` where: two bodies or colliders, or
    a rope or hard limit; empty without a residual. `penetration` is the deepest overlap of hard surfaces (m), `deformation`
    that of soft ones; `beyond` has the ropes and hard limits that are past their bounds, by name, and by how much (m or rad).
    Where `converged` is False, a smaller dt, less friction where bodies are wedged, or fewer redundant supports make it
    easier."""

    points: int
    iterations: int
    residual: float
    converged: bool
    penetration: float
    worst: tuple[Element, ...] = ()
    beyond: dict[str, float] = field(default_factory=dict)
    deformation: float = 0.0


def touching_points(contact: ContactSystem, bodies: Sequence[Body], ground: Ground, dt: float) -> TouchingPoints:
    """Contacts at the end of the last step, those that gave something at its beginning alone behind them."""
    found: dict[tuple[int, int, int], dict[str, Any]] = {}
    for rows, m in contact.steps() if contact.before_count else [(contact.rows, contact.count)]:
        for k in range(m):
            lead = rows.follows[k]
            if lead >= 0 and (key := _key(rows, lead)) in found:
                found[key]["couple"] = found[key]["couple"] + _couple(rows, k)
            label, number = rows.labels[k], rows.numbers[k]
            if label[COLLIDER_A] >= len(contact.names) or not (number[GAP] <= contact.near or rows.given[k].any()):
                continue
            key = _key(rows, k)
            ends = tuple(ground if b < 0 else bodies[contact.body_of(b)] for b in (label[BODY_A], label[BODY_B]))
            where = {"bodies": ends, "colliders": (contact.names[key[0]], contact.names[key[1]]),
                     "point": number[POINT : POINT + 3].copy(), "normal": number[NORMAL : NORMAL + 3].copy(),
                     "gap": float(number[GAP]), "impulse": np.zeros(3), "couple": np.zeros(3)}  # fmt: skip
            found.setdefault(key, where)["impulse"] = found.get(key, where)["impulse"] + rows.given[k]
    for entry in found.values():
        entry["impulse"] = entry["impulse"] * (dt / contact.duration(dt))
        entry["torque"] = entry.pop("couple") / contact.duration(dt)
    return TouchingPoints(TouchingPoint(force=entry["impulse"] / dt, **entry) for entry in found.values())


def _key(rows: Rows, k: int) -> tuple[int, int, int]:
    """Which point of which pair a row is."""
    label = rows.labels[k]
    return int(label[COLLIDER_A]), int(label[COLLIDER_B]), int(label[FEATURE])


def _couple(rows: Rows, k: int) -> FloatArray:
    """(3,) N m s: what a companion gave in a stage to the second body."""
    J = rows.Jb[k] if rows.slot_b[k] >= 0 else -rows.Ja[k]
    couple: FloatArray = rows.total[k] @ J[:, 3:]
    return couple


def report(contact: ContactSystem) -> ContactReport:
    rows, m = (contact.rows, contact.count) if contact.ended else (contact.before, contact.before_count)
    surfaces, gaps = len(contact.names), rows.numbers[:m, GAP]
    first = rows.labels[:m, COLLIDER_A]
    stops = (first >= surfaces) & (rows.follows[:m] < 0)
    beyond: dict[str, float] = {}
    for number, gap in zip(first[stops].tolist(), gaps[stops].tolist(), strict=True):
        name = contact.stops[number - surfaces].element.name
        if gap < 0.0:
            beyond[name] = max(beyond.get(name, 0.0), -gap)
    soft = rows.numbers[:m, STIFFNESS] > 0.0
    deepest, pressed = (float(max(0.0, -gaps[those].min(initial=0.0))) for those in ((first < surfaces) & ~soft, soft))
    companions = int((rows.follows[:m] >= 0).sum())
    return ContactReport(contact.count - companions, contact.iterations, contact.residual, contact.unsolved == 0.0, deepest,
                         tuple(contact.worst or ()), beyond, pressed)  # fmt: skip


def _stands(source: Any) -> bool:
    """Whether a collider, or the body whose shape it is, is fixed to the ground."""
    found: bool = getattr(source, "body", source).dim == 0
    return found


def parted(old: Model, contact: ContactSystem) -> set[frozenset[int]]:
    """Pairs of bodies, by the identity of their elements, that joints of an old model kept from touching, and those of now do
    not."""
    here, apart = contact.model, []
    covered = {id(here.bodies.elements[contact.body_of(b)]) for b in contact.materials.body.tolist() if b >= 0}
    for model in (old, here):
        elements = model.bodies.elements
        numbers = {k for k, element in enumerate(elements) if id(element) in covered}
        pairs = joined_bodies(model, numbers)
        apart.append({frozenset(GROUND if b == GROUND else id(elements[b]) for b in pair) for pair in pairs})
    return apart[0] - apart[1]


def deepest(contact: ContactSystem, when: str = "as built", among: set[frozenset[int]] | None = None) -> str | None:
    """A sentence on overlaps at the start, or among pairs of bodies that joints have kept from touching, if any is worth one:
    how many pairs, and the deepest."""
    worst, text, stops, pairs = 0.0, None, False, set()
    for k in np.flatnonzero(contact.rows.follows[: contact.count] < 0).tolist():
        label, depth = contact.rows.labels[k], -float(contact.rows.numbers[k, GAP])
        ends = (label[BODY_A], label[BODY_B])
        bodies = frozenset(GROUND if b < 0 else id(contact.model.bodies.elements[contact.body_of(b)]) for b in ends)
        if (among is not None and bodies not in among) or contact.rows.numbers[k, STIFFNESS] > 0.0:
            continue
        if label[COLLIDER_A] >= len(contact.names):
            element, limit = contact.stops[label[COLLIDER_A] - len(contact.names)].element, STRETCHED
            sentence = f"{checks.label(element)}: it is beyond its bound by {depth:.3g} {when}"
        else:
            one, other = sorted((contact.names[label[end]] for end in (COLLIDER_A, COLLIDER_B)), key=_stands)
            size = min(contact.sizes[label[COLLIDER_A]], contact.sizes[label[COLLIDER_B]])
            limit, sentence = SHALLOW * size, f"{checks.label(one)}: it is {depth:.3g} m inside {checks.label(other)} {when}"
        if depth > limit:
            pairs.add((int(label[COLLIDER_A]), int(label[COLLIDER_B])))
        if depth > max(limit, worst):
            worst, text, stops = depth, sentence, label[COLLIDER_A] >= len(contact.names)
    if text is None:
        return None
    others = "" if len(pairs) == 1 else f", the deepest of {len(pairs)} such pairs"
    how = "it is let out at no more than the recovery speed of its Contact; place them apart, or give NoContact if not meant"
    if stops:
        how = f"it is taken back at no more than {RECOVERY:g} m/s or rad/s; place its bodies so that it holds"
    return f"{text}{others}; {how}"
