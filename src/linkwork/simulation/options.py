"""Options: how a simulation makes its steps. They are checked once and never change; all refusals of options are here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from linkwork.elements.core import checks
from linkwork.engines import traits
from linkwork.engines.solvers import METHODS as METHODS
from linkwork.engines.solvers import SOLVERS as SOLVERS
from linkwork.engines.solvers import TANGENTS
from linkwork.engines.traits import TRAITS as TRAITS
from linkwork.engines.traits import Traits
from linkwork.errors import LinkworkError, suggestion
from linkwork.model.active_world import ActiveWorld, whole_of
from linkwork.model.model import Model
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.contacts import Contact


WHO = "Simulation"  # whose options they are, in errors
AUTO = "auto"  # the solver that is chosen by the model and dt (choice.py)
METHODS_OF_AUTO = ("known", "measured")  # how it decides which of two ways in joint coordinates is faster


class Choice(NamedTuple):
    """What `solver="auto"` has decided."""

    solver: str
    integrator: str
    reason: str  # one sentence

    def __str__(self) -> str:
        return f'solver "{self.solver}" with the integrator "{self.integrator}": {self.reason}'


Chooser: TypeAlias = Callable[["World | ActiveWorld", float, "str | None", bool], Choice]


@dataclass(frozen=True)
class Options:
    """As they were given, with what was left out filled in. `None`: the default of the integrator."""

    dt: float  # s
    solver: str
    integrator: str
    tolerance: float | None = None  # m, rad
    stiffness: float | None = None  # 1/s^2; of first-order motion 1/s
    damping: float | None = None  # 1/s
    variant: str = "symmetric"  # the tangent of implicit; the method of cg
    iterations: int = 0  # of implicit; 0: until the tolerance is met
    choice: Choice | None = None  # why these, where "auto" was asked for

    @classmethod
    def checked(
        cls,
        active_world: World | ActiveWorld,
        dt: float,
        solver: str | None,
        integrator: str | None,
        choose: Chooser,
        *,
        tolerance: float | None,
        stiffness: float | None,
        damping: float | None,
        tangent: str | None,
        iterations: int | None,
        method: str | None,
    ) -> Options:
        """The options of a simulation of a world, without what is switched off. What does not go together is refused. `choose`
        is asked where the solver is "auto"."""
        dt = _step(dt)
        solver = _known("solver", _usual(active_world) if solver is None else solver, (*SOLVERS, AUTO))
        integrator = None if integrator is None else _known("integrator", integrator, TRAITS)
        choice = None
        if solver == AUTO:
            measured = _known("method", METHODS_OF_AUTO[0] if method is None else method, METHODS_OF_AUTO) == "measured"
            choice, method = choose(active_world, dt, integrator, measured), None
            solver, integrator = choice.solver, choice.integrator
        pair = traits.traits_of(solver, integrator)
        variant, most = _newton_options(solver, tangent, iterations, method)
        found = cls(dt, solver, pair.integrator, variant=variant, iterations=most)
        found.refuse_contact(active_world)
        if tolerance is not None:
            tolerance = checks.positive(WHO, "tolerance", tolerance)
            if tolerance < 1e-15:
                raise LinkworkError(
                    f"Simulation: tolerance is {tolerance:g}, below what double numbers can hold; give 1e-14 or more"
                )
            traits.refuse_tolerance(pair)
            if iterations == 1:
                raise LinkworkError("Simulation: one iteration meets no tolerance; leave tolerance out, or iterations")
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if value is not None:
                traits.refuse_feedback(pair, name)
        k = None if stiffness is None else checks.non_negative(WHO, "stiffness", stiffness)
        d = None if damping is None else checks.non_negative(WHO, "damping", damping)
        return cls(dt, solver, pair.integrator, tolerance, k, d, variant, most, choice)

    def chosen_anew(self, active_world: World | ActiveWorld, choose: Chooser) -> Options:
        """Where these were chosen, those of a world that has changed, if they are others; what was given stays where it can."""
        if self.choice is None or (found := choose(active_world, self.dt, None, False))[:2] == self.choice[:2]:
            return self
        return Options(self.dt, found.solver, found.integrator, choice=found)

    @property
    def traits(self) -> Traits:
        """What the solver and the integrator can do together."""
        return traits.TABLE[self.solver][self.integrator]

    @property
    def first_order(self) -> bool:
        """Whether forces make velocities, and not accelerations."""
        return not self.traits.has_velocities

    def plain(self) -> tuple[Any, ...]:
        """The options as they are pickled."""
        given = self.tolerance, self.stiffness, self.damping
        return self.dt, self.solver, self.integrator, given, (self.variant, self.iterations, self.choice)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Options:
        """The options from what `plain` has given."""
        dt, solver, integrator, given, newton = plain
        return cls(dt, solver, integrator, *given, *newton)

    def refuse_contact(self, active_world: World | ActiveWorld) -> None:
        """Contact needs a place within a step, and a symmetric matrix."""
        element = first_contact(active_world)
        if element is not None:
            traits.refuse_contact(self.traits, checks.label(element), self.variant != "exact")

    def refuse_velocity_forces(self, model: Model) -> None:
        """First-order motion has no velocities that a force or a constraint could depend on."""
        if not self.first_order:
            return
        for force in model.forces:
            if force.kind.law.velocity_dependent:
                raise LinkworkError(f"{checks.label(force.element)}: it depends on velocity, which first-order motion does "
                                    "not have; remove it or use another integrator")  # fmt: skip
        for node in model.nodes:
            for part, element in zip(node.kind.parts, node.elements, strict=True):
                if part.kind.nonlinear:
                    raise LinkworkError(f"{checks.label(element)}: it is not linear in velocities, which first-order motion "
                                        "cannot hold; remove it or use another integrator")  # fmt: skip
        if model.velocity_forces:
            raise LinkworkError("Simulation: a body with damping cannot move first-order; set its damping to zero")


def first_contact(world: World | ActiveWorld) -> Contact | None:
    """The first element that acts by contact, if there is any."""
    return next((element for element in world.contacts if element.acts), None)


def _usual(world: World | ActiveWorld) -> str:
    """The solver of a world of which none is said: worlds that were loaded from robots' files ask for "auto"."""
    suggested = whole_of(world).simulate.get("solver")
    return AUTO if suggested == AUTO else "tree"


def _step(given: float) -> float:
    dt = checks.positive(WHO, "dt", given)
    if not 1e-100 < dt < 1e100:
        raise LinkworkError(f"Simulation: dt is {given:g} s; give a step between 1e-100 s and 1e100 s")
    return dt


def _known(what: str, name: str, table: Collection[str]) -> str:
    if not isinstance(name, str) or name not in table:
        shown = f'"{name}"' if isinstance(name, str) else checks.show(name)
        raise LinkworkError(f"Simulation: no {what} is called {shown}{suggestion(name, table)}; "
                            f"there are {', '.join(table)}")  # fmt: skip
    return name


def _newton_options(solver: str, tangent: str | None, iterations: int | None, method: str | None) -> tuple[str, int]:
    """(tangent, iterations; 0: until the tolerance is met), of cg (method, 0), refused where the solver has none."""
    if method is not None and solver != "cg":
        raise LinkworkError(f'Simulation: the solver "{solver}" takes no method; use solver="cg", or leave it out')
    if solver != "implicit":
        for name, value in (("tangent", tangent), ("iterations", iterations)):
            if value is not None:
                raise LinkworkError(
                    f'Simulation: the solver "{solver}" takes no {name}; use solver="implicit", or leave it out'
                )
        return _known("method", METHODS[0] if method is None else method, METHODS) if solver == "cg" else "symmetric", 0
    whole = isinstance(iterations, (int, np.integer)) and not isinstance(iterations, bool)
    if iterations is not None and not (whole and iterations >= 1):
        raise LinkworkError(f"Simulation: iterations is {checks.show(iterations)}; give a whole number, at least 1, or None")
    return _known("tangent", "symmetric" if tangent is None else tangent, TANGENTS), int(iterations or 0)
