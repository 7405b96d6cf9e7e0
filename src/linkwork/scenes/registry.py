"""The list of scenes: each is a function of numbers that returns a World, with its step, duration and closed form."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from linkwork.elements.core import checks
from linkwork.errors import UnknownNameError
from linkwork.util import resources

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.world import World


MOST = 1e15  # of anything that a scene counts
Build = TypeVar("Build", bound=Callable[..., Any])
_SCENES: dict[str, Scene] = {}


@dataclass(frozen=True)
class Fact:
    """Something that is known of a scene without simulating it, beside what a simulation found.

    >>> Fact("angle of the pendulum, rad", found=0.5001, expected=0.5, tolerance=1e-3).holds
    True
    """

    what: str
    found: float
    expected: float
    tolerance: float  # absolute

    @property
    def holds(self) -> bool:
        return abs(self.found - self.expected) <= self.tolerance


@dataclass(frozen=True)
class Scene:
    """One entry: `build` makes the world, `dt`, `seconds` and `options` suit it, `facts` knows its motion.

    `options` are what a Simulation of it is made with besides dt: `Simulation(scene(), dt=scene.dt, **scene.options)`.
    """

    name: str
    build: Callable[..., World]  # keyword parameters -> World
    dt: float  # s
    seconds: float  # s
    facts: Callable[..., list[Fact]] | None = None  # (sim, **all parameters) -> list of Fact, for any time of the simulation
    bodies: Callable[..., float] | None = None  # whole-number parameters -> how many bodies; None: their product
    options: Mapping[str, Any] = field(default_factory=dict)  # such as solver="implicit"

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.build) or "").splitlines()[0]

    @property
    def parameters(self) -> dict[str, float]:
        """Name -> default: a whole number counts things, any other is a float."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}

    def __call__(self, **parameters: float) -> World:
        return self.build(**self.complete(parameters))

    def check(self, sim: Simulation, **parameters: float) -> list[Fact]:
        """The Facts, if any is known, about a simulation of this scene with these parameters, as it is now."""
        return [] if self.facts is None else self.facts(sim, **self.complete(parameters))

    def complete(self, given: Mapping[str, float]) -> dict[str, float]:
        """All parameters, those given in the place of their defaults. Unknown names and wrong values are refused."""
        defaults = self.parameters
        for name in given:
            if name not in defaults:
                hint = _hint(name, defaults, f"it has {', '.join(defaults)}")
                raise UnknownNameError(f'Scene "{self.name}": there is no parameter "{name}"; {hint}')
        complete = {name: self._checked(name, given.get(name, default), default) for name, default in defaults.items()}
        self._refuse_too_many({name: value for name, value in complete.items() if type(value) is int})
        return complete

    def _refuse_too_many(self, counts: dict[str, int]) -> None:
        bodies = (self.bodies or _product)(**counts)
        need = resources.too_large(bodies * resources.A_BODY)
        if need is not None:
            asked = " and ".join(f"{name} is {value:.6g}" for name, value in counts.items())
            remedy = f"give less: about {(resources.installed() or 0) / resources.A_BODY:.1g} would fit"
            checks.fail(self, f"{asked}: {bodies:.3g} bodies need {need}", remedy)

    def _checked(self, name: str, value: float, default: float) -> float:
        value = checks.number(self, name, value)
        if isinstance(default, float):
            return value
        if not 1 <= value < MOST or value != math.floor(value):
            checks.fail(self, f"{name} is {value:g}", "give a whole number of at least 1")
        return int(value)


def scene(name: str, *, dt: float = 1e-3, seconds: float = 5.0, facts: Callable[..., list[Fact]] | None = None,
          bodies: Callable[..., float] | None = None, **options: Any) -> Callable[[Build], Build]:  # fmt: skip
    """Registers the function below it under this name; options: of the Simulation, such as solver="implicit"."""

    def register(build: Build) -> Build:
        if name in _SCENES:
            raise ValueError(f'two scenes have the name "{name}"')
        _SCENES[name] = Scene(name, build, dt, seconds, facts, bodies, options)
        return build

    return register


def names() -> tuple[str, ...]:
    """The names of all scenes, in alphabetical order."""
    return tuple(sorted(_SCENES))


def find(name: str) -> Scene:
    """The Scene of that name."""
    if not isinstance(name, str) or name not in _SCENES:
        hint = _hint(name, _SCENES, f"there are {', '.join(names())}")
        raise UnknownNameError(f'Scenes: there is no scene named "{name}"; {hint}')
    return _SCENES[name]


def get(name: str, **parameters: float) -> World:
    """The world of the scene of that name, built with these parameters.

    >>> get("chain", n=5)
    <World: 5 bodies, 5 constraints, 0 forces>
    """
    return find(name)(**parameters)


def _product(**counts: int) -> int:
    return math.prod(counts.values())


def _hint(name: str, known: Mapping[str, object], otherwise: str) -> str:
    near = difflib.get_close_matches(str(name), known, n=1)
    return f'did you mean "{near[0]}"?' if near else otherwise
