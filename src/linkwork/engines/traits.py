"""What each integrator does, and which solver goes with it: every refusal of such a combination comes from this table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from linkwork.elements.bodies.rigid import BENT
from linkwork.errors import LinkworkError

GROWS = 'and its energy grows: take dt={:.2g}, or integrator="rattle", which makes such steps in parts'


class ContactLevel(Enum):
    """On what contact acts in a step."""

    NONE = "none"
    VELOCITY = "velocity"  # impulses, by a compiled stage
    ACCELERATION = "acceleration"  # forces, by a routine in Python


@dataclass(frozen=True)
class Traits:
    """Of a solver with an integrator."""

    integrator: str
    order: int
    solver: str = ""
    contact: ContactLevel = ContactLevel.NONE
    contact_phases: int = 1  # of a step; dry friction gives its part in each
    takes_tolerance: bool = False
    default_tolerance: float = 0.0  # m, rad
    takes_feedback: bool = True  # stiffness and damping draw constraints in
    default_stiffness: float = 0.0  # Baumgarte feedback times dt^2, of first-order motion times dt
    default_damping: float = 0.0  # times dt
    keeps_impulses: bool = True  # adds up the multipliers of the last step
    draws_in: bool = True  # constraints may be off while they are drawn in
    has_velocities: bool = True  # that a force may depend on
    packed: bool = False  # works on one packed vector of all coordinates and velocities
    most_mixed: float = np.inf  # of the axes of a body that turns (`watch.py`), from which on its steps are not good ...
    mixing: str = ""  # ... and what becomes of them
    cuts_turns: bool = False  # makes steps of such bodies in parts, if no constraint holds them


_MADE_IN_PARTS = "and its steps are made in parts; dt={:.2g} would do without"
_PROJECTED: dict[str, Any] = {"takes_tolerance": True, "takes_feedback": False, "most_mixed": BENT, "mixing": _MADE_IN_PARTS,
                              "cuts_turns": True}  # fmt: skip
_IN_JOINTS: dict[str, Any] = {"takes_feedback": False, "keeps_impulses": False, "draws_in": False, "mixing": GROWS}

TRAITS: dict[str, Traits] = {
    traits.integrator: traits
    for traits in (
        Traits("rattle", 2, default_tolerance=1e-11, contact_phases=2, **_PROJECTED),
        Traits("shake", 1, default_tolerance=1e-10, **_PROJECTED),
        Traits("euler", 1, keeps_impulses=False, default_stiffness=0.04, default_damping=0.4, most_mixed=0.002, mixing=GROWS),
        Traits("rk4", 4, packed=True, most_mixed=0.005, mixing=GROWS),
        Traits("dopri5", 5, packed=True, takes_tolerance=True, default_tolerance=1e-9),
        Traits("first-order", 1, default_stiffness=0.2, has_velocities=False),
        Traits("backward-euler", 1, takes_tolerance=True, default_tolerance=1e-10, takes_feedback=False),
        Traits("joint-rk4", 4, most_mixed=0.005, **_IN_JOINTS),
        Traits("joint-euler", 1, most_mixed=0.002, **_IN_JOINTS),
        Traits("joint-implicit", 1, most_mixed=0.002, **_IN_JOINTS),
    )
}

_MAXIMAL = ("rattle", "shake", "euler", "rk4", "dopri5", "first-order")
_JOINTS = ("joint-rk4", "joint-euler", "joint-implicit")
_IMPULSES = ("rattle", "shake", "euler", "first-order")


def _pairs(solver: str, integrators: Iterable[str], impulses: Iterable[str] = (), forces: Iterable[str] = ()) -> dict:
    levels = dict.fromkeys(impulses, ContactLevel.VELOCITY) | dict.fromkeys(forces, ContactLevel.ACCELERATION)
    return {name: replace(TRAITS[name], solver=solver, contact=levels.get(name, ContactLevel.NONE)) for name in integrators}


# solver -> integrators that it goes with, the default first; those with which it takes contact, by impulses or by forces
TABLE: dict[str, dict[str, Traits]] = {
    "tree": _pairs("tree", (*_MAXIMAL, *_JOINTS[:2]), (*_IMPULSES, "joint-euler")),
    "fronts": _pairs("fronts", _MAXIMAL, _IMPULSES),
    # by forces with euler, which are of no use in steps of two kicks; in joints by responses of the articulated-body algorithm
    "anticipation": _pairs("anticipation", (*_MAXIMAL, *_JOINTS), _JOINTS[1:], ("euler",)),
    "cg": _pairs("cg", _MAXIMAL),
    "dense": _pairs("dense", _MAXIMAL),
    "implicit": _pairs("implicit", ("backward-euler",), ("backward-euler",)),
    "aba": _pairs("aba", _JOINTS, _JOINTS[1:]),
    "ltdl": _pairs("ltdl", _JOINTS, _JOINTS[1:]),
}
PAIRS = [(solver, integrator) for solver, known in TABLE.items() for integrator in known]


def traits_of(solver: str, integrator: str | None = None) -> Traits:
    """Of a pair, or of a solver with its default; what does not go together is refused.

    >>> traits_of("implicit").integrator, traits_of("tree", "rk4").order
    ('backward-euler', 4)
    """
    known = TABLE[solver]
    integrator = next(iter(known)) if integrator is None else integrator
    if integrator not in known:
        raise LinkworkError(f'Simulation: the solver "{solver}" does not go with the integrator "{integrator}"; '
                            f"with it go {', '.join(known)}")  # fmt: skip
    return known[integrator]


def taking_contact() -> list[str]:
    """Pairs that take contact, in words."""
    return [f'"{solver}" with "{name}"' for solver, known in TABLE.items() for name, traits in known.items()
            if traits.contact is not ContactLevel.NONE]  # fmt: skip


def refuse_tolerance(traits: Traits) -> None:
    if not traits.takes_tolerance:
        raise LinkworkError(f"Simulation: {traits.integrator} takes no tolerance; use rattle or dopri5, or leave it out")


def refuse_feedback(traits: Traits, name: str) -> None:
    """name: stiffness or damping."""
    if not traits.takes_feedback:
        raise LinkworkError(f"Simulation: {traits.integrator} takes no {name}; use euler, or leave it out")


def refuse_contact(traits: Traits, who: str, symmetric: bool) -> None:
    """Contact needs impulses within a step, which few integrators have a place for, and a symmetric matrix. who: the element
    that acts by contact."""
    if traits.contact is ContactLevel.NONE:
        raise LinkworkError(f'{who}: the solver "{traits.solver}" with the integrator "{traits.integrator}" takes no contact; '
                            f"use {', '.join(taking_contact())}")  # fmt: skip
    if not symmetric:
        raise LinkworkError(f'{who}: contact needs a symmetric matrix; use tangent="symmetric", or leave tangent out')
