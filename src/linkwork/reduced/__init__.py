"""Mechanisms in joint coordinates: trees, their dynamics and kinematics; sparse factorisations of inertia matrices and what all
of it costs (featherstone05)."""

from linkwork.reduced import cost
from linkwork.reduced.algorithms import aba, crba, gravity_torques, rnea
from linkwork.reduced.bounds import Limits, limits
from linkwork.reduced.configurations import difference, integrate, neutral, random
from linkwork.reduced.convert import Bodies, State, from_bodies, to_bodies
from linkwork.reduced.kinematics import (
    Poses,
    centre_of_mass,
    centroidal_momentum,
    centroidal_momentum_matrix,
    energy,
    forward_kinematics,
    frame_names,
    frame_poses,
    frame_twists,
    jacobian,
    jacobian_rate,
    velocities,
)
from linkwork.reduced.packed import ltdl_packed, pack, places, solve_packed, unpack
from linkwork.reduced.proximity import Distances, collision_pairs, distances
from linkwork.reduced.reach import Reach, inverse_kinematics
from linkwork.reduced.sparse import (
    Factors,
    expanded,
    from_paper,
    inverse,
    ltdl,
    ltl,
    mul_L,
    mul_LT,
    solve,
    solve_L,
    solve_LT,
    solve_matrix,
)
from linkwork.reduced.structure import NestedForm, Numbering, envelope, nested_form, number_regularly, pattern
from linkwork.reduced.targets import Target
from linkwork.reduced.task_space import task_inertia
from linkwork.reduced.tree import Tree, compile
from linkwork.reduced.ways import Way, factoring

__all__ = [
    "Bodies",
    "Distances",
    "Factors",
    "Limits",
    "NestedForm",
    "Numbering",
    "Poses",
    "Reach",
    "State",
    "Target",
    "Tree",
    "Way",
    "aba",
    "centre_of_mass",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "collision_pairs",
    "compile",
    "cost",
    "crba",
    "difference",
    "distances",
    "energy",
    "envelope",
    "expanded",
    "factoring",
    "forward_kinematics",
    "frame_names",
    "frame_poses",
    "frame_twists",
    "from_bodies",
    "from_paper",
    "gravity_torques",
    "integrate",
    "inverse",
    "inverse_kinematics",
    "jacobian",
    "jacobian_rate",
    "limits",
    "ltdl",
    "ltdl_packed",
    "ltl",
    "mul_L",
    "mul_LT",
    "neutral",
    "nested_form",
    "number_regularly",
    "pack",
    "pattern",
    "places",
    "random",
    "rnea",
    "solve",
    "solve_L",
    "solve_LT",
    "solve_matrix",
    "solve_packed",
    "task_inertia",
    "to_bodies",
    "unpack",
    "velocities",
]
