"""linkwork: constrained multibody dynamics, solved in time linear in the number of bodies.

>>> import linkwork as lw
>>> world = lw.World(gravity=(0, 0, -9.81))
>>> bob = world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
>>> rod = world.add(lw.Distance(world.ground, bob, name="rod"))
>>> sim = lw.Simulation(world, dt=1e-3)
>>> sim.step()
"""

from importlib import import_module as _import_module

from linkwork.elements import *  # noqa: F403
from linkwork.elements import __all__ as _elements
from linkwork.errors import (
    ArrayError,
    DivergenceError,
    ElementError,
    FileError,
    LinkworkError,
    ModelError,
    Note,
    Remark,
    UnknownNameError,
)
from linkwork.world import World

__version__ = "0.1.0"

# what needs CasADi, LLVM or plotting is imported when first used
_LATER = {
    "Simulation": "linkwork.simulation.simulation",
    "Recording": "linkwork.recording.recording",
    "scenes": "linkwork.scenes",
    "reduced": "linkwork.reduced",
    "load": "linkwork.formats",
    "save": "linkwork.formats",
    "check": "linkwork.verify.check",
    "CheckReport": "linkwork.verify.check",
    **dict.fromkeys(
        ("dot", "cross", "norm", "where", "minimum", "maximum", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "atan2"),
        "linkwork.elements.core.functions",
    ),
}

__all__ = [*_elements, *_LATER, "ArrayError", "DivergenceError", "ElementError", "FileError", "LinkworkError", "ModelError",
           "Note", "Remark", "UnknownNameError", "World"]  # fmt: skip


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    module = _import_module(_LATER[name])
    value = module if _LATER[name] == f"linkwork.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_LATER])
