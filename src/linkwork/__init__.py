"""linkwork: constrained multibody dynamics, solved in time linear in the number of bodies.

>>> import linkwork as lw
>>> world = lw.World(gravity=(0, 0, -9.81))
>>> bob = world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
>>> rod = world.add(lw.Distance(world.ground, bob, name="rod"))
>>> sim = lw.Simulation(world, dt=1e-3)
>>> sim.step()
"""

from typing import TYPE_CHECKING

from linkwork.elements import WHERE as _ELEMENTS
from linkwork.errors import ArrayError as ArrayError
from linkwork.errors import DivergenceError as DivergenceError
from linkwork.errors import ElementError as ElementError
from linkwork.errors import FileError as FileError
from linkwork.errors import LinkworkError as LinkworkError
from linkwork.errors import ModelError as ModelError
from linkwork.errors import Note as Note
from linkwork.errors import Remark as Remark
from linkwork.errors import UnknownNameError as UnknownNameError
from linkwork.util.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from linkwork import control as control
    from linkwork import gym as gym
    from linkwork import reduced as reduced
    from linkwork import scenes as scenes
    from linkwork.batches.batch import Batch as Batch
    from linkwork.elements import *  # noqa: F403
    from linkwork.elements.core.expression import Expression as Expression
    from linkwork.elements.core.functions import atan2 as atan2
    from linkwork.elements.core.functions import cos as cos
    from linkwork.elements.core.functions import cross as cross
    from linkwork.elements.core.functions import dot as dot
    from linkwork.elements.core.functions import exp as exp
    from linkwork.elements.core.functions import log as log
    from linkwork.elements.core.functions import maximum as maximum
    from linkwork.elements.core.functions import minimum as minimum
    from linkwork.elements.core.functions import norm as norm
    from linkwork.elements.core.functions import sin as sin
    from linkwork.elements.core.functions import sqrt as sqrt
    from linkwork.elements.core.functions import tan as tan
    from linkwork.elements.core.functions import tanh as tanh
    from linkwork.elements.core.functions import where as where
    from linkwork.elements.core.traced import BodyProxy as BodyProxy
    from linkwork.formats import load as load
    from linkwork.formats import save as save
    from linkwork.recording.recording import Recording as Recording
    from linkwork.simulation.simulation import Simulation as Simulation
    from linkwork.verify.check import check as check
    from linkwork.verify.check_report import CheckReport as CheckReport
    from linkwork.world import World as World

__version__ = "0.1.0"

# Name -> module. CasADi, LLVM and plotting are imported when a name that needs them is first used; the imports above are for
# type checkers, and a test compares them with this table.
_LATER = {
    **_ELEMENTS,
    "World": "linkwork.world",
    "Simulation": "linkwork.simulation.simulation",
    "Batch": "linkwork.batches.batch",
    "Recording": "linkwork.recording.recording",
    "scenes": "linkwork.scenes",
    "control": "linkwork.control",
    "reduced": "linkwork.reduced",
    "gym": "linkwork.gym",
    "load": "linkwork.formats",
    "save": "linkwork.formats",
    "check": "linkwork.verify.check",
    "CheckReport": "linkwork.verify.check_report",
    "BodyProxy": "linkwork.elements.core.traced",
    "Expression": "linkwork.elements.core.expression",
    **dict.fromkeys(
        ("dot", "cross", "norm", "where", "minimum", "maximum", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "atan2"),
        "linkwork.elements.core.functions",
    ),
}

if not TYPE_CHECKING:  # checkers take the names above for all that there is, and refuse others
    __all__ = [*_LATER, "ArrayError", "DivergenceError", "ElementError", "FileError", "LinkworkError", "ModelError", "Note",
               "Remark", "UnknownNameError"]  # fmt: skip
    __getattr__, __dir__ = _lazy_names(__name__, _LATER)
