"""States from outside: refused by name where they are of another model or hold what compiled code must never see."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ModelError, NotFiniteError
from linkwork.model.model import State
from linkwork.model.state_transfer import named_number
from linkwork.model.states import MOST_STEPS, Layout

if TYPE_CHECKING:
    from linkwork.simulation.system import System

FLOAT = np.dtype(float)


def refuse_misfit(system: System, state: State) -> None:
    """Refuse a state of another model, and by name what is no number or not finite: compiled code must never see it."""
    values, own = state.values, system.layout
    theirs = own if state.layout is None else state.layout
    if theirs is not own and not (isinstance(theirs, Layout) and own.fits(theirs)):
        _refuse_layout(own, theirs)
    if not (isinstance(values, np.ndarray) and values.ndim == 1 and (values.dtype is FLOAT or values.dtype == FLOAT)):
        raise ModelError(f"Simulation: the values of the state are {checks.show(values)}; give an array of float64")
    if len(values) != theirs.size:
        raise ModelError(f"Simulation: a state of {len(values)} numbers does not fit this model of "
                         f"{theirs.size}; take one from the same model")  # fmt: skip
    if np.count_nonzero(np.isfinite(values)) != theirs.size:
        wrong = int(np.flatnonzero(~np.isfinite(values))[0])
        whose = named_number(system.model, own, theirs, wrong)
        raise NotFiniteError(f"Simulation: {whose} is {values[wrong]:g} in the state; give a state whose numbers are finite")
    if theirs is own or theirs.fits_history(own):
        pace = theirs.pace(values)
        if not system.integrator.knows_substep(*pace):
            raise ModelError(f"Simulation: the pace of the integrator is {pace[0]:g}, kept for {pace[1]:g}, in the state, "
                             f"as {system.options.integrator} never leaves it; give a state that was not changed")  # fmt: skip
    time, steps, age, contact = state.time, state.steps, state.age, state.contact
    if not (type(time) is float and -inf < time < inf):
        checks.number("Simulation", "the time of the state", time)
    if not (type(steps) is int and type(age) is int and 0 <= steps <= MOST_STEPS and 0 <= age <= MOST_STEPS):
        checks.whole("Simulation", "the number of steps of the state", steps, most=MOST_STEPS)
        checks.whole("Simulation", "the age of the state", age, most=MOST_STEPS)
    if contact is not None and (wrong_contact := contact.wrong()) is not None:
        raise NotFiniteError(
            f"Simulation: the state remembers a contact with {wrong_contact}; take a state that was not changed"
        )


def _refuse_layout(own: Layout, theirs: Layout) -> None:
    if isinstance(theirs, Layout) and theirs.size != own.size:
        raise ModelError(f"Simulation: a state of {theirs.size} numbers does not fit this model of "
                         f"{own.size}; take one from the same model")  # fmt: skip
    raise ModelError("Simulation: the state is one of another model, or from before bodies, constraints or a force "
                     "that counts turns were added or removed; take one from this model")  # fmt: skip
