"""A gallery of worlds that tests, benchmarks, documents and the command line share.

>>> from linkwork import scenes
>>> world = scenes.get("chain", n=100)
>>> scene = scenes.find("pendulum")
>>> scene.dt, scene.seconds, scene.parameters["length"]
(0.001, 5.0, 1.0)

`scene.check(sim, **parameters)` compares a simulation with what is known of the scene without simulating it.
"""

from linkwork.scenes.branches import star, tree
from linkwork.scenes.chains import bridge, chain, hinge_chain
from linkwork.scenes.figures import rag_doll, rag_doll_on_stairs
from linkwork.scenes.hands import hand, hand_recorded
from linkwork.scenes.linkages import four_bars, ladder, scissor_lift, slider_crank, squeezer, stewart
from linkwork.scenes.mixtures import mixed, scalable
from linkwork.scenes.nets import net
from linkwork.scenes.pendulums import double_pendulum, pendulum, top
from linkwork.scenes.piles import box_stack, dominoes, wall
from linkwork.scenes.plants import plant
from linkwork.scenes.registry import Fact, Scene, find, get, names, scene
from linkwork.scenes.robots import robot_drag
from linkwork.scenes.rods import bent_rod, hanging_chain
from linkwork.scenes.shafts import cardan, governor
from linkwork.scenes.sprockets import bicycle_chain
from linkwork.scenes.strands import hair
from linkwork.scenes.toys import bowling, spinning_top
from linkwork.scenes.tracks import bead_on_wire, skate
from linkwork.scenes.wheels import gear_train, rolling_disc, turntable

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
