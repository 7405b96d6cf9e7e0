"""The inverse mass of a tree at contacts, from an integrator in joint coordinates to the arrays of compiled stages."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import OPERANDS
from linkwork.contact.delassus import TREE
from linkwork.contact.delassus_tables import bodies_of, free_bodies
from linkwork.contact.inverse_mass import InverseMass
from linkwork.engines.joint_coordinates import path_delassus
from linkwork.engines.joint_coordinates.loops import firsts, flat
from linkwork.engines.joint_coordinates.path_delassus import Links
from linkwork.engines.joint_coordinates.tree_plan import ABA, LTDL
from linkwork.engines.scalars import WORK_DONE

MOST_MOTIONS = 4_000_000  # numbers: above that R comes from whole responses


class JointInverseMass(InverseMass):
    """Of an integrator whose joints have the velocities of the step's end, and the places and factors of its beginning."""

    carried, scale, turning = 1.0, 0.0, False
    responding, applying = staticmethod(path_delassus.respond), staticmethod(path_delassus.apply_impulses)

    def __init__(self, integrator):
        self.integrator, self.schedules, self.own = integrator, integrator.schedules, integrator.tree
        self.bodies = bodies_of(self.schedules)
        self.order = np.argsort(self.bodies[:, TREE], kind="stable")
        self.free = free_bodies(self.schedules.model, self.bodies[:, TREE])
        self.free[[self.bodies[child, TREE] for _, child in integrator.local]] = False  # something holds them

    @staticmethod
    def sweeps(dynamics: int, closing: bool) -> tuple[str, ...]:
        """Names of the sweeps that it needs; `closing`: of loops."""
        told = "strike", "point", "column", "rates", "velocities"
        if dynamics == LTDL and closing:
            return told
        alone = ("aba_move", "aba") if dynamics != ABA else ()
        return (*told, "spread", "rest", "response", "response in", "response out", *alone)

    @cached_property
    def needs(self) -> Links:  # type: ignore[override]
        own, inertia, loops = self.own, self.integrator.inertia, self.integrator.loops
        tree, dynamics = own.tree, self.integrator.dynamics
        by_matrix, n = dynamics == LTDL and bool(self.integrator.closing), len(tree.links)
        names = ("" if by_matrix else name for name in ("spread", "response in", "response out", "rest", "response"))
        spread, inwards, outwards, rest, response = (own.sweep(name) for name in names)
        by_link = np.zeros((n, 1 + OPERANDS), dtype=np.int32)
        by_link[tree.parent >= 0] = outwards if len(outwards) else 0
        alone = ("", "") if by_matrix or dynamics == ABA else ("aba_move", "aba")  # factors that accelerations came without
        factors = np.concatenate([own.sweep(name) for name in alone])
        x = [np.r_[own.field(i, "x")] for i in range(n)]
        joints = flat(x)
        order = {int(at): k for k, at in enumerate(own.inertia.joints if by_matrix else own.tau)}
        places = flat([[order[at] for at in joints]])
        fields = [[own.field(i, name).start for name in ("r", "U", "dS", "J", "p", "f")] for i in range(n)]
        factored = not by_matrix and not self.integrator.closing and 6 * n * len(joints) <= MOST_MOTIONS
        marks = np.array([factored, bool(self.integrator.closing), WORK_DONE], dtype=np.int64)
        return Links(
            own.table, self.bodies, self.free, tree.parent, firsts(x), joints, places,
            own.inertia.right[places] if by_matrix else flat([]), np.array(fields, dtype=np.int64), own.sweep("column"),
            own.sweep("point"), flat([[link for _, link, _ in tree.bodies]]), flat([self.integrator.touched]),
            factors, spread, np.ascontiguousarray(inwards[::-1]), by_link, rest,
            response, own.sweep("strike"), inertia, loops, marks, np.zeros(n, dtype=np.bool_),
            np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64),
            np.zeros((6 * n + 1) * len(joints) if factored else 0),
        )  # fmt: skip
