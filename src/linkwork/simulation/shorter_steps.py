"""A run looked at again, as it was before: the last states before a stop, and whether shorter steps get past it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from linkwork.engines.step_driver import CUT, OK
from linkwork.model.model import State
from linkwork.simulation.residuals import worst as worst_of
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.simulation.system import System

FINER = (16, 256)  # parts of a step that are tried where one failed
LEAST_TRIED, MOST_TRIED = 600, 150_000_000  # of them, and entries of workspaces that more may go through
CALM = 1e6  # times as fast as it was, or as a metre a second: what grows more than this is no success


@contextmanager
def looking_back(system: System) -> Iterator[None]:
    """The simulation afterwards is as it was."""
    stopped, counted, facts = system.work.copy(), (system.steps, system.age), system.validity.facts
    past, watched = system.watch.past, system.integrator.stop_before_cut
    try:
        yield
    finally:
        system.integrator.stop_before_cut = watched
        system.work[:] = stopped
        system.steps, system.age = counted
        system.watch.past = past
        system.validity.facts = facts
        system.changed()


def last_states(system: System) -> list[State]:
    """The last one or two states before the stop: the steps since the simulation last kept one are made again."""
    end, states = system.steps, list(system.watch.past)
    system.take(states[-1])
    system.prepare()
    while system.steps < end:
        _, status = system.advance(1)
        if status != OK:
            break
        states = [states[-1], system.state()]
    return states


def short_enough(system: System, start: State) -> float | None:
    """s: of some shorter steps the longest that gets past the stop, from a state that was kept before or from the start, and
    without anything becoming much faster than it was there; None where none does."""
    dt, end, states = system.dt, system.time, [*system.watch.past, start]
    with looking_back(system):
        states.append(last_states(system)[-1])
    for parts in FINER:
        for first in states:
            steps = parts * (2 + 2 * int(max(0.0, end - first.time) / dt))  # twice as far: what only comes later is no success
            calm = np.isfinite(first.values).all() and first.arrangement == system.arrangement
            if not calm or steps * system.model.size > max(MOST_TRIED, LEAST_TRIED * system.model.size):
                continue
            with looking_back(system):
                if _made_in_parts(system, first, parts, steps):
                    return dt / parts
    return None


def short_enough_to_hold(system: System, off: float) -> float | None:
    """s: the longest of some shorter steps that leave less than half of what a constraint is off by."""
    for parts in FINER:
        with looking_back(system):
            if _made_in_parts(system, system.state(), parts, 4 * parts) and worst_of(system, velocity=False)[0] < 0.5 * off:
                return system.dt / parts
    return None


def _made_in_parts(system: System, first: State, parts: int, steps: int) -> bool:
    dt = system.dt
    feedback = [GLOBALS.offset(name) for name in ("stiffness", "damping")]
    powers = (1 if system.options.first_order else 2, 1)
    system.take(first)
    speeds = np.concatenate([np.r_[system.model.field_of_body(k, "v")] for k in range(len(system.model.bodies.kinds))])
    limit = CALM * (1.0 + np.abs(system.work[speeds]).max())
    try:
        system.dt = system.integrator.dt = system.work[GLOBALS.offset("step")] = dt / parts
        for entry, given, power in zip(feedback, (system.options.stiffness, system.options.damping), powers, strict=True):
            if given is None:
                system.work[entry] *= parts**power
        system.prepare()
        made = 0
        while made < steps:
            more, status = system.advance(min(parts, steps - made))
            made += more
            if status not in (OK, CUT) or not np.abs(system.work[speeds]).max() < limit:
                return False
            if status == CUT:
                system.integrator.stop_before_cut = False
        return True
    finally:
        system.dt = system.integrator.dt = dt
