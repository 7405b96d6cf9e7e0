"""A gallery of worlds that tests, benchmarks, documents and the command line share.

>>> from linkwork import scenes
>>> world = scenes.get("chain", n=100)
>>> scene = scenes.find("pendulum")
>>> scene.dt, scene.seconds, scene.parameters["length"]
(0.001, 5.0, 1.0)

`scene.check(sim, **parameters)` compares a simulation with what is known of the scene without simulating it.
"""

from .branches import star, tree
from .chains import bridge, chain, hinge_chain
from .figures import rag_doll, rag_doll_on_stairs
from .hands import hand, hand_recorded
from .linkages import four_bars, ladder, scissor_lift, slider_crank, squeezer, stewart
from .mixtures import mixed, scalable
from .nets import net
from .pendulums import double_pendulum, pendulum, top
from .piles import box_stack, dominoes, wall
from .plants import plant
from .registry import Fact, Scene, find, get, names, scene
from .robots import robot_drag
from .rods import bent_rod, hanging_chain
from .shafts import cardan, governor
from .sprockets import bicycle_chain
from .strands import hair
from .toys import bowling, spinning_top
from .tracks import bead_on_wire, skate
from .wheels import gear_train, rolling_disc, turntable

__all__ = [
    "Fact",
    "Scene",
    "find",
    "get",
    "names",
    "scene",
    "bead_on_wire",
    "bent_rod",
    "bicycle_chain",
    "bowling",
    "box_stack",
    "bridge",
    "cardan",
    "chain",
    "dominoes",
    "double_pendulum",
    "four_bars",
    "gear_train",
    "governor",
    "hair",
    "hand",
    "hand_recorded",
    "hanging_chain",
    "hinge_chain",
    "ladder",
    "mixed",
    "net",
    "pendulum",
    "plant",
    "rag_doll",
    "rag_doll_on_stairs",
    "robot_drag",
    "rolling_disc",
    "scalable",
    "scissor_lift",
    "skate",
    "slider_crank",
    "spinning_top",
    "squeezer",
    "star",
    "stewart",
    "top",
    "tree",
    "turntable",
    "wall",
]
