"""Watch: what is looked at now and then while a run goes on, and told once; and the states from which a stop is looked into."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.contact.told import pairs_held, pairs_pressed
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_type
from linkwork.engines.step_driver import OK
from linkwork.errors import printable
from linkwork.model import readout
from linkwork.model.model import State
from linkwork.simulation import contradictions, diagnose
from linkwork.simulation.contradictions import Contradiction
from linkwork.simulation.notes import Notes
from linkwork.simulation.residuals import worst
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.simulation.system import System

VIOLATED = 1e-6  # metres or radians by which a constraint may be off as built
INCONSISTENT = 1e-9  # metres or radians a second that are put right at the start ...
UNSOLVED = 1e-5  # m/s that contact velocities may be off without a word
UNSOLVED_TEXT = "are off the law of contact by"
STRETCHED_TEXT = "it was beyond its bound by"
TOLD_AGAIN = 10.0  # times as far beyond it
CROWDED_TEXT = "it touches at too many points at once"
HELD_TEXT = "no push moves them apart: such contacts are left out"
PRESSED_TEXT = "from both sides, so that no motion"
MOST_TOLD, MOST_NAMED = 5, 5  # notes on pairs that press so, and pairs in one
UNMET_TEXT = "the run goes on, sim.solver_report() tells more"
TURNING_TEXT = "it tumbles by"
CONTRADICTING_TEXT = "not all of them can hold"
MOST_CONTRADICTIONS = 3  # that are told
RARELY = 256  # steps between looks for them
REMEMBERED = 2_000_000  # entries of the workspace times steps between two states that are kept ...
SHORTEST, LONGEST = 50, 2000  # ... and the bounds of those steps
LOOKED_AT = 500  # steps of one iteration, after which somebody looks whether constraints hold
DRAWN_IN = 20.0  # times that feedback of first-order motion takes to draw in most of what is off, before somebody looks


class Watch:
    """Of one System, which it is given with every call: it keeps none, so that a System that was replaced is gone at once."""

    __slots__ = ("compare_at", "compares", "every", "held_to_tell", "looks", "past", "pause", "pressed_to_tell", "remember_at",
                 "stretch_told", "tells_crowded", "tells_turning", "tells_unmet", "tells_unsolved", "told_pairs",
                 "turn_at")  # fmt: skip

    def __init__(self, system: System) -> None:
        notes = system.notes
        self.tells_unsolved = not notes.mentions(UNSOLVED_TEXT)
        self.tells_unmet = not notes.mentions(UNMET_TEXT)
        self.held_to_tell = MOST_TOLD - sum(HELD_TEXT in text for text in notes)
        self.pressed_to_tell = MOST_TOLD - sum(PRESSED_TEXT in text for text in notes)
        self.told_pairs: frozenset[str] = frozenset()
        self.tells_crowded = not notes.mentions(CROWDED_TEXT)
        self.stretch_told = np.inf if notes.mentions(STRETCHED_TEXT) else 0.0  # m or rad
        self.tells_turning = not notes.mentions(TURNING_TEXT)
        told = sum(CONTRADICTING_TEXT in text for text in notes)
        at_risk = told < MOST_CONTRADICTIONS and contradictions.trees_at_risk(system.model, system.contact is not None)
        self.compares = bool(at_risk)  # whether prescribed motion may contradict something
        single = system.integrator.iterations == 1
        self.looks = single or system.options.first_order  # whether constraints may be loose
        self.every = max(SHORTEST, min(LOOKED_AT if single else LONGEST, REMEMBERED // system.model.size))  # steps
        self.turn_at = 0  # the next look at bodies that turn fast
        self.remember_at = 0
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what was seen: the state is another one."""
        self.past: list[State] = []  # the last two that were kept; the next one will be at the step `remember_at`
        self.pause, self.compare_at = 1, 0  # steps between looks at contradictions, and the next one

    def copy(self) -> Watch:
        return copy(self)

    @staticmethod
    def of_steps(notes: Notes) -> bool:
        """Whether an integrator stops before the first step that must be made in parts: nobody has been told of one."""
        return not any(text.startswith((diagnose.NOT_CONVERGED, diagnose.LOOSE, diagnose.SLACK)) for text in notes)

    # -- while it runs ---------------------------------------------------------------------------------------------------
    def remember(self, system: System) -> None:
        """Keep a state every so many steps and after each change from outside: from there a run that stops is looked into."""
        self.past = [*self.past[-1:], system.state()]
        self.remember_at = system.steps + self.every
        system.validity.remembered()
        if self.looks:
            self.note_if_loose(system)
        if system.steps >= self.turn_at:
            self.turn_at = 2 * system.steps + 1  # seldom: a look costs as much as many steps of a small world
            self.note_turning(system)

    def after(self, system: System, well: bool = True) -> None:
        """Look at what the last steps had to leave: contact impulses, rows of a solver that iterates; if they went well, at
        what presses without an answer."""
        contact = system.contact
        if contact is not None and self.tells_unsolved and contact.unsolved > UNSOLVED:
            self.tells_unsolved = False
            if not self.note_contradictions(system, f"at {system.time:.6g} s"):
                off = f"some contact impulses until {system.time:.6g} s {UNSOLVED_TEXT} {contact.unsolved:.3g} m/s"
                where = f", the worst at {_names(contact.worst)}" if contact.worst else ""
                better = "a smaller dt or less friction makes it easier; sim.contact_report() tells more"
                system.notes.add(f"Simulation: {off}{where}, which was the best of many iterations; the run goes on; {better}")
        if system.schedules.iterates:
            self.note_unmet(system)
        if well and contact is not None and self.held_to_tell > 0 and (held := self._new(pairs_held(contact))):
            self.held_to_tell -= 1
            self._note_held(system, held)
        if well and contact is not None and self.pressed_to_tell > 0 and (pressed := self._new(pairs_pressed(contact))):
            self.pressed_to_tell -= 1
            self._note_pressed(system, pressed)
        if contact is not None and self.tells_crowded and (crowded := contact.crowded) is not None:
            self.tells_crowded = False
            system.notes.add(f"{checks.label(crowded)}: {CROWDED_TEXT}, of which the nearest are taken; the run goes on; "
                             "give it fewer colliders, or what it touches a coarser mesh")  # fmt: skip
        if well and contact is not None and (stretched := contact.stretched) is not None:
            element, beyond = stretched
            if beyond > TOLD_AGAIN * self.stretch_told:
                self.stretch_told = beyond
                self._note_stretched(system, element, beyond)

    def at_the_end(self, system: System) -> None:
        """Look at everything once more, at the end of a run."""
        if self.looks:
            self.note_if_loose(system)
        self.note_turning(system)
        if self.compares:
            self.compare(system)

    def _new(self, pairs: list[list[Any]]) -> list[list[Any]]:
        """Those of which no note has told."""
        fresh = [pair for pair in pairs if _names(pair) not in self.told_pairs]
        self.told_pairs |= {_names(pair) for pair in fresh}
        return fresh

    def _note_held(self, system: System, pairs: list[list[Any]]) -> None:
        """A note on what presses without an answer, pair by pair."""
        bounds, touching = [one for one in pairs if len(one) == 1], [one for one in pairs if len(one) > 1]
        if bounds:
            held = f"at its bound, but constraints or motions hold its bodies, so that {HELD_TEXT}"
            system.notes.add(f"{_listed(bounds)}: each is {held}" if len(bounds) > 1 else f"{_listed(bounds)}: it is {held}")
        if touching:
            system.notes.add(f"Simulation: {_listed(touching)} press on each other, but joints or motions hold them, so that "
                             f"{HELD_TEXT}; give NoContact if they are not meant to touch")  # fmt: skip

    def _note_pressed(self, system: System, pairs: list[list[Any]]) -> None:
        """A note on overlap that cannot be taken back, pair by pair."""
        bounds, touching = [one for one in pairs if len(one) == 1], [one for one in pairs if len(one) > 1]
        room, hold = "make room between what does not move, or give NoContact", "ask for bounds that can hold together"
        beyond = "stand beyond their bounds" if len(bounds) > 1 else "stands beyond its bound"
        for those, what, better in ((bounds, beyond, hold), (touching, "overlap", room)):
            if those:
                told = f"Simulation: {_listed(those)} {what}, and others press {PRESSED_TEXT} takes it back"
                system.notes.add(f"{told} (at {system.time:.6g} s): it is left as it is, and the run goes on; {better}")

    def _note_stretched(self, system: System, element: Element, off: float) -> None:
        """A note on a rope or hard limit that steps do not hold; another one when it is off by ten times as much."""
        better = "iterations=None" if system.options.solver == "implicit" else 'solver="implicit"'
        system.notes.add(f"{checks.label(element)}: {STRETCHED_TEXT} {off:.3g} until {system.time:.6g} s, since a step takes "
                          f"what it holds for straight; {better} holds it at the end of every step")  # fmt: skip

    def note_turning(self, system: System) -> None:
        """A note, once, on a body that turns further in a step than the integrator is good for."""
        integrator = system.integrator
        if self.tells_turning and integrator.traits.most_mixed < np.inf and (found := _fastest_turn(system)) is not None:
            mixed, rate, body = found
            if mixed > integrator.traits.most_mixed:
                self.tells_turning = False
                better = system.dt * np.sqrt(integrator.traits.most_mixed / mixed)
                turn = f"{TURNING_TEXT} {rate * system.dt:.2g} rad ({rate:.3g} rad/s) in a step of {system.dt:g} s"
                when = f"{turn} at {system.time:.6g} s, {integrator.traits.mixing.format(better)}"
                system.notes.add(f"{checks.label(body)}: {when}")

    def note_if_loose(self, system: System) -> None:
        """A note, once, where single iterations, or feedback that had its time, do not keep a constraint: no tolerance would
        tell."""
        integrator = system.integrator
        rate = float(system.work[GLOBALS.offset("stiffness")])
        looks = integrator.iterations == 1 or rate * system.dt * system.steps > DRAWN_IN
        if looks and integrator.stop_before_cut and (text := diagnose.loose(system)) is not None:
            integrator.stop_before_cut = False
            system.notes.add(text)

    def note_unmet(self, system: System) -> None:
        """A note, once, where the solver could not meet all rows."""
        if self.tells_unmet and (text := system.schedules.complaint(system.work)) is not None:
            self.tells_unmet = False
            system.notes.add(f"{text} (until {system.time:.6g} s); {UNMET_TEXT}")

    # -- contradictions --------------------------------------------------------------------------------------------------
    def note_contradictions(self, system: System, when: str) -> list[Contradiction]:
        """A note on each set of constraints that contradict each other, once; returns those that do."""
        if not self.compares or not _looks_off(system):
            return []
        found = contradictions.found(system)
        for one in found[:MOST_CONTRADICTIONS]:
            text = f"Simulation: {one}"
            if not any(known.startswith(text.rsplit(" by ", 1)[0]) for known in system.notes):
                remedy = "remove one of them, or ask for what can be met"
                system.notes.add(f"{text} {when}; {CONTRADICTING_TEXT}: {remedy}")
        return found

    def compare(self, system: System) -> None:
        """Look for constraints that have come to contradict each other. Where rates are off and nothing contradicts, as with
        feedback, the next look is as far off again."""
        self.note_contradictions(system, f"at {system.time:.6g} s")
        self.compares = sum(CONTRADICTING_TEXT in text for text in system.notes) < MOST_CONTRADICTIONS
        self.pause = 2 * self.pause if _looks_off(system) else min(RARELY, 2 * self.pause)
        self.compare_at = system.steps + self.pause


def _names(named: list[Any]) -> str:
    return " and ".join(map(checks.label, named))


def _listed(pairs: list[list[Any]]) -> str:
    """Pairs by name, as many as one reads."""
    more = len(pairs) - MOST_NAMED
    return "; ".join(map(_names, pairs[:MOST_NAMED])) + (f"; {more} others" if more > 0 else "")


def _looks_off(system: System) -> bool:
    """Whether something may contradict: rates or places are off, or what touches overlaps."""
    off = contradictions.overlaps(system) or worst(system, velocity=True)[0] > INCONSISTENT
    return off or worst(system, velocity=False)[0] > VIOLATED


def make_in_parts(system: System) -> int:
    """The first step that must be cut, with a note; from here on they are made without a word."""
    text = diagnose.not_converged(system)
    system.integrator.stop_before_cut = False
    _, status = system.advance(1)
    if status == OK:
        system.notes.add(f"{text}; this step was made in {system.work[GLOBALS.offset('parts')]:.0f} parts")
    return status


def note_redundant(system: System, when: str = "as built", found: Iterable[Contradiction] = ()) -> None:
    """One note on all rows that depend on others, counted, but for those that contradict others."""
    model = system.model
    redundant = dict(model.redundant)
    for one in found:
        numbers = [model.names[str(element.name)][1] for element in one.elements if isinstance(element, Element)]
        number = next((k for k in sorted(numbers, reverse=True) if redundant.get(k)), None)
        if number is not None:
            redundant[number] -= 1
    nodes = [model.nodes[k] for k, rows in redundant.items() if rows]
    if not nodes:
        return
    whose = "its" if len(nodes) == 1 else "their"
    rows, size = sum(redundant.values()), sum(node.kind.size - len(node.kind.rotors) for node in nodes)
    named = [next(e for e in reversed(node.elements) if not kind_type(e).is_rotor) for node in nodes]
    known = f"{checks.labels(named)}: {rows} of the {size} rows between {whose} bodies are redundant "
    if not any(text.startswith(printable(known)) for text in system.notes):
        system.notes.add(f"{known}{when}, other constraints hold them already; all share the load with least norm, for "
                          "other reactions take a constraint with fewer rows, such as a Ball for a Hinge")  # fmt: skip


def _fastest_turn(system: System) -> tuple[float, float, Element] | None:
    """Of the rigid body whose axes of different inertia the spin of a step mixes the most: how much (`Rigid.unresolved`),
    its rate (rad/s), and the body."""
    m = system.model
    if RIGID.name not in m.bodies.members:
        return None
    held = system.schedules.constrained if system.integrator.traits.cuts_turns else ()
    numbers = np.array([b for b in m.bodies.members[RIGID.name] if b not in held])
    if not len(numbers):
        return None
    kind = m.bodies.kinds[numbers[0]]
    q, v, inertia = readout.fields(m, system.work, kind, numbers, "q", "v", "inertia")
    inertia = np.where(inertia > 0.0, inertia, 1.0)
    l = inertia * np.einsum("kji,kj->ki", readout.matrices(q[:, 3:7]), v[:, 3:6])
    s, one = l * l, 1.0 / inertia
    bent = np.abs((one[:, 0] - one[:, 1]) * (one[:, 1] - one[:, 2]))
    between = s[:, 0] * s[:, 1] + s[:, 1] * s[:, 2] + s[:, 2] * s[:, 0]
    mixed = system.dt**2 * bent * between / np.maximum(s.sum(axis=1), 1e-300)
    k = int(np.argmax(mixed))
    return float(mixed[k]), float(np.linalg.norm(v[k, 3:6])), m.bodies.elements[numbers[k]]
