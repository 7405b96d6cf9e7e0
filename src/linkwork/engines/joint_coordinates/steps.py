"""Steps in joint coordinates: nothing can drift. Coordinates q and velocities qd of a tree of joints are the state; the bodies
of the model follow them. With the solvers `aba` and `ltdl` the bodies' forces come from the model, the accelerations from the
articulated-body algorithm or from the inertia matrix; with `tree` accelerations come from the model, too (baraff96 section
2.2: the middle ground). What closes loops (`ltdl`) is obeyed by the accelerations, and again, to rounding, by places and
velocities after every step.

`joint-rk4`: the classical Runge-Kutta method on the manifold of configurations (Munthe-Kaas), order 4. `joint-euler`:
semi-implicit Euler, order 1. `joint-implicit`: the same with forces that are local to a joint linearly implicit, so that they
may be as stiff as they like:

    (H + h D + h^2 K) qdd = tau - C - h K qd        D = -dtau/dqd, K = -dtau/dq: blocks of single joints, H keeps its zeros
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.codegen.jit import entry
from linkwork.codegen.struct import Struct
from linkwork.elements import Parameter
from linkwork.elements.core import checks
from linkwork.elements.core.freedom import Freedom, FreedomLaw
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.registry import kind_type
from linkwork.engines.engine import Engine
from linkwork.engines.maximal import regularised_projection_steps as projection
from linkwork.engines.scalars import KICK, TIME, WORK_DONE
from linkwork.engines.traits import TRAITS
from linkwork.errors import ModelError
from linkwork.kernels.implicit_forces import holding_kernel
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Node
from linkwork.model.state_transfer import counters
from linkwork.model.states import JOINTS

if TYPE_CHECKING:  # only who steps in joint coordinates waits for numba
    from linkwork.elements.core.force_kind import ForceKind
    from linkwork.engines.joint_coordinates.loop_closure import Inertia, LoopRows
    from linkwork.engines.joint_coordinates.tree_plan import TreePlan
    from linkwork.reduced.tree import Tree
    from linkwork.reduced.workspace import TreeWorkspace

WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
REACHES = (0.5, 0.5, 1.0, 0.0)  # from each stage to the next, in steps from the beginning
WITH_LOOPS = ("ltdl", "anticipation")
CLOSING = (projection.CLOSED, projection.SOFTEST, projection.SLOW, projection.ROUNDED, projection.HARDER, projection.SINGULAR)


class JointEngine(Engine):
    """The base: a tree of joints within the workspace of the model."""

    weights: tuple[float, ...]  # of stages
    reaches: tuple[float, ...]
    implicit = False  # forces that are local to a joint are
    _taking: Callable | None = None  # `take_bodies`, compiled

    def __init__(self, *given):
        from linkwork.engines.joint_coordinates import tree_steps
        from linkwork.engines.joint_coordinates.tree_plan import ABA, FOLLOWING, LTDL
        from linkwork.reduced.tree import compile

        super().__init__(*given)
        schedules, model = self.schedules, self.schedules.model
        for joint in model.world.constraints:
            for name in kind_of_joint(joint).constant_fields if isinstance(joint, Joint) else ():
                if isinstance(getattr(joint, name), Parameter):
                    raise ModelError(f"{checks.label(joint)}: its {name} is a Parameter, which joint coordinates do not "
                                     "follow; give a number")  # fmt: skip
        self.dynamics = {"tree": FOLLOWING, "aba": ABA, "ltdl": LTDL, "anticipation": ABA}[schedules.name]
        tree = compile(model.world, loops=schedules.name in WITH_LOOPS)
        self.closing = tree.closing
        attempts = {
            (False, False): (tree_steps.attempt, tree_steps.attempt_in_stages),
            (False, True): (tree_steps.attempt_in_contact, tree_steps.attempt_in_stages),
            (True, False): (tree_steps.attempt_with_loops, tree_steps.attempt_with_loops_in_stages),
            (True, True): (tree_steps.attempt_with_loops_in_contact, tree_steps.attempt_with_loops_in_stages),
        }
        self.attempt = attempts[bool(tree.closing), self.touches][len(self.weights) > 1]
        self.finish = tree_steps.finish_with_loops if tree.closing else tree_steps.finish
        for c in tree.closing:
            if self._node(c).kind.force_directed:
                raise ModelError(f"{checks.label(c)}: it names the force that holds it, which joint coordinates do not take; "
                                 'use solver="anticipation" with rattle or euler')  # fmt: skip
        self.local = self._local_forces(tree) if self.implicit else []
        self.touched = sorted({b for c in tree.closing for b in self._ends(c)})
        self.efforts = self._efforts(tree)
        along_joints = sum(map(len, self.efforts.values())) == len(model.forces) and not self.local
        along_joints &= not any(measure.kind.counters for measure in model.measures)
        damped = bool(np.any(getattr(model.bodies.rigid, "damping", 0.0)))
        # nothing acts on bodies but their weights: then no step asks for them
        self.light = along_joints and not damped and self.dynamics != FOLLOWING and not tree.closing
        self.guarded = self.touches and bounded(tree) and not tree.closing
        self.tree = self._tree(tree)
        schedules.model = model.extended(self.tree.initial, JOINTS, self.tree.state)

    @cached_property
    def inverse_mass(self):
        from linkwork.engines.joint_coordinates.inverse_mass import JointInverseMass

        return JointInverseMass(self)

    def _sweeps(self) -> dict[str, str]:
        """What a plan calls its sweeps -> what the tree does; "" is none."""
        from linkwork.engines.joint_coordinates.tree_plan import ABA, FOLLOWING, LTDL

        move = "bias_move" if self.dynamics == LTDL else "aba_move"
        last, joined = "", ""  # accelerations by themselves, or together with what follows from them
        if self.dynamics == ABA:
            last, joined = ("aba_last", "") if self.closing else ("", "aba_last+")
        found = {
            "recover": "recover", "move": move, "bodies": "lifted" if self.light else "bodies",
            "signs": "sign" if self.light else "", "bodies_in_step": "" if self.light else "bodies",
            "wrenches": "" if self.light or self.dynamics == FOLLOWING else "loads",
            "inwards": {ABA: "aba", LTDL: "bias", FOLLOWING: "following"}[self.dynamics], "last": last,
        }  # fmt: skip
        if len(self.weights) > 1:
            found |= {"open": "open_step", "stage": f"{joined}stage+{move}", "last_stage": f"{joined}stage",
                      "close": f"close_step+{move}"}  # fmt: skip
        elif self.touches:
            found |= {"kick": f"{joined}kick", "rates": "rates", "drift": f"drift+{move}",
                      "velocities": "poses" if self.light else "velocities"}  # fmt: skip
        else:
            found |= {"leap": f"{joined}euler+{move}"}
        if self.closing:
            found |= {"correct_position": "nudge", "apply_impulses": "strike"}
        if self.local:
            found |= {"release": "release", "hold": "hold"}
        return found

    def _tree(self, tree: Tree) -> TreeWorkspace:
        from linkwork.engines.joint_coordinates.inverse_mass import JointInverseMass
        from linkwork.engines.joint_coordinates.tree_plan import FOLLOWING, LTDL
        from linkwork.reduced.workspace import Tangent, TreeWorkspace, Within

        model = self.schedules.model
        frames = model.bodies.rigid
        sweeps = list(self._sweeps().values())
        sweeps += JointInverseMass.sweeps(self.dynamics, bool(self.closing)) if self.touches else ()
        sweeps += ["inertia", "factor", "up", "down"] if self.dynamics == LTDL else []
        if self.closing:
            sweeps += ["turning", *(f"columns {b}" for b in self.touched)]
            sweeps += [] if self.dynamics == LTDL else ["rest", "response"]
        told = "x" if self.dynamics == FOLLOWING else "b"  # of bodies: accelerations, else forces
        numbers = range(len(tree.bodies))
        within = Within(model.size, [model.field_of_body(b, "q").start for b in numbers],
                        [model.field_of_body(b, told).start for b in numbers], model.scratch,
                        self.efforts if self.light else {})  # fmt: skip
        held = [Tangent(tree.bodies[child][1], child) for _, child in self.local]
        return TreeWorkspace(tree, list(zip(frames.axes, frames.origin, strict=True)),
                             list(dict.fromkeys(filter(None, sweeps))), held, within, self.light)  # fmt: skip

    def _efforts(self, tree: Tree) -> dict[int, list[tuple[ForceKind, int]]]:
        """Forces along the only coordinate of a joint of the tree, by its link, and where their parameters lie."""
        from linkwork.reduced.step_kernels import MOST_FORCES

        model = self.schedules.model
        found: dict[int, list[tuple[ForceKind, int]]] = {}
        links = {data.element: i for i, data in enumerate(tree.links) if data.kind.nv == 1}
        for number, force in enumerate(model.forces):
            i = links.get(getattr(force.element, "joint", None))
            if i is not None and force.kind.law.axial:
                found.setdefault(i, []).append((force.kind.law, int(model.force_at[number])))
        return {i: forces for i, forces in found.items() if len(forces) <= MOST_FORCES}

    def _rotors(self) -> np.ndarray:
        """(k, 2): entries of links, and those of the inertias of Armatures that belong to them, which are Parameters' to
        change. Armatures of joints that close loops are rows (loop_closure.py)."""
        from linkwork.engines.joint_coordinates.loops import inertia_entry, table

        links = {data.element: i for i, data in enumerate(self.tree.tree.links)}
        found = []
        rotors: list[Any] = [e for e in self.schedules.model.world.constraints if kind_type(e).is_rotor]
        for element in rotors:
            if element.joint in links:
                where, inertia = (
                    self.tree.constant(links[element.joint], "armature"),
                    inertia_entry(self.schedules.model, element),
                )
                found += [(k, inertia) for k in range(where.start, where.stop)]
        return table(found, 2)

    def _turns(self) -> np.ndarray:
        """(k, 2): entries of angles of q, and of the counters of their turns; those of joints come first, and then those of the
        forces along them, which count the same turns."""
        from linkwork.engines.joint_coordinates.loops import table

        tree, found = self.tree.tree, list[tuple[int, int]]()
        links = {data.element: i for i, data in enumerate(tree.links)}
        for element, entries in counters(self.schedules.model):
            i = links.get(element, links.get(getattr(element, "joint", None)) if self.light else None)
            if i is None:
                continue
            data, q = tree.links[i], self.tree.q[tree.q_at[i] : tree.q_at[i + 1]]
            turns = data.kind.angles[::-1] if data.backwards else data.kind.angles
            angles = [int(at) for at, turn in zip(q, turns, strict=True) if turn]
            found += zip(angles, entries[::2].tolist(), strict=True)
        return table(found, 2)

    def _guards(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of coordinates: (k, 2) entries of q and qd, (k, 3) sign, bound, and how near to it a limit acts."""
        from linkwork.contact.rows import BOUND, STOP_KIND, TRAVEL
        from linkwork.engines.joint_coordinates.loops import table

        entries, bounds = list[tuple[int, int]](), list[tuple[float, float, float]]()
        contact = self.contact
        if self.guarded and contact is not None:
            tree, rows = self.tree.tree, contact.hard_stops
            links = {data.element: i for i, data in enumerate(tree.links)}
            for stop, label, numbers in zip(contact.stops, rows.labels, rows.numbers, strict=True):
                i = links[stop.element.joint]  # type: ignore[attr-defined]  # `bounded` takes no other
                k = tree.links[i].kind.freedoms.index(Freedom.LENGTH if label[STOP_KIND] == TRAVEL else Freedom.TURN)
                entries.append((int(self.tree.q[tree.q_at[i] + k]), int(self.tree.qd[tree.v_at[i] + k])))
                bounds.append((stop.sign, float(numbers[BOUND]), contact.near))
        return table(entries, 2), np.array(bounds).reshape(-1, 3)

    def _node(self, constraint) -> Node:
        model = self.schedules.model
        return model.nodes[model.names[constraint.name][1]]

    def _ends(self, constraint) -> list[int]:
        """Numbers of the bodies of a constraint's node that move."""
        return [b for b in self._node(constraint).ends if b != GROUND]

    def _local_forces(self, tree) -> list[tuple[int, int]]:
        """Number of each force that depends on how the two bodies of a joint stand to each other and on nothing else, and of
        the body that the joint moves. The others that could be stiff are named in `cautions`."""
        found, others = [], []
        for number, force in enumerate(self.schedules.model.forces):
            if not force.kind.law.yields:
                continue
            child = child_of(tree, force.ends, force.kind.law.relative)
            if child is not None:
                found.append((number, child))
            else:
                others.append(force.element)
        if others:
            one = len(others) == 1
            said = "it does not act at a single joint" if one else "they do not act at single joints"
            self.cautions.append(f"{checks.labels(others)}: {said}, so that {'it is' if one else 'they are'} explicit in joint "
                                f'coordinates; use solver="implicit" if {"it is" if one else "they are"} stiff')  # fmt: skip
        return found

    @cached_property
    def loops(self) -> LoopRows:
        """Of what the tree leaves open; without rows where that is nothing."""
        from linkwork.engines.joint_coordinates.loops import loop_rows

        return loop_rows(self.schedules, self.tree, self.touched)

    @cached_property
    def inertia(self) -> Inertia:
        """Of the tree; empty where the articulated-body algorithm is used."""
        from linkwork.engines.joint_coordinates.loop_closure import Inertia
        from linkwork.engines.joint_coordinates.loops import flat
        from linkwork.engines.joint_coordinates.tree_plan import LTDL

        own, places = self.tree, [flat([])] * 5
        if self.dynamics == LTDL:
            places = [own.inertia.blocks, own.inertia.tiles, own.inertia.pivots, own.inertia.right, own.inertia.joints]
        factoring = [own.sweep(name if self.dynamics == LTDL else "") for name in ("inertia", "factor", "up", "down")]
        return Inertia(*factoring, *places)

    @cached_property
    def plan(self) -> TreePlan:
        from linkwork.engines.joint_coordinates.loops import flat, stacked
        from linkwork.engines.joint_coordinates.tree_plan import FOLLOWING, TreePlan

        p, own, hook = self.schedules, self.tree, self.hook
        none = p.body()
        loads = [none] if self.light else [p.loads()]
        if self.dynamics == FOLLOWING:
            loads = [p.up(RowMode.ACCELERATION, first=(BodyKernel.ACCELERATE,), light=True), p.backward(light=True)]
        place = p.body(BodyKernel.UPDATE_POSE)
        forces = [p.force(number, holding_kernel(p.model.forces[number].kind, p.model.forces[number].ends.index(child)))
                  for number, child in self.local]  # fmt: skip
        model_sweeps = {"loads": np.concatenate(loads), "place": place, "place_in_step": none if self.light else place,
                        "count": none if self.light else p.count(), "forces": stacked(forces)}  # fmt: skip
        sweeps = dict.fromkeys([name for name, kind in TreePlan.__annotations__.items() if kind == "np.ndarray"], none)
        sweeps |= {name: own.sweep(what) for name, what in self._sweeps().items()} | model_sweeps
        roots = [own.field(i, "qd").stop - 1 for i, data in enumerate(own.tree.links) if data.parent < 0]
        sentinels = flat([roots])
        coordinates = [np.r_[p.model.field_of_body(b, "q"), p.model.field_of_body(b, "v")] for b in own.moving]
        scalars = [own.scalar(name) for name in ("weight", "reach", "known", "placed")]
        marks = np.array([TIME, KICK, WORK_DONE, *scalars, own.left, self.dynamics, self.light, self.guarded], dtype=np.int64)
        guards, bounds = self._guards()
        shown = np.full(len(own.tree.bodies), -1, dtype=np.int64)
        shown[own.moving] = np.arange(len(own.moving))
        return TreePlan(**sweeps | {
            "kernels": p.table, "own_kernels": own.table, "inertia": self.inertia, "q": own.q, "qd": own.qd,
            "x": own.tau, "sentinels": sentinels, "coordinates": flat(coordinates),
            "watched": own.watched, "turns": self._turns(), "guards": guards, "bounds": bounds, "shown_by": shown,
            "rotors": self._rotors(), "weights": np.array(self.weights), "reaches": np.array(self.reaches),
            "closing": np.array(CLOSING), "marks": marks, "began": np.zeros(len(own.q) + len(own.qd)),
            "given": np.zeros(sum(map(len, coordinates))), "hook": hook, "steps": self.empty_table(sentinels),
        })  # fmt: skip

    @cached_property
    def compiled_plan(self) -> Struct:
        from linkwork.engines.joint_coordinates.tree_steps import TreeWithLoops

        return TreeWithLoops(self.plan, self.loops, self.plan.steps) if self.closing else self.plan

    def place(self, work):
        """Joints where the bodies are."""
        from linkwork.engines.joint_coordinates.tree_state import take_bodies

        if self._taking is None:
            self._taking = entry(take_bodies, work, self.plan)
        self._taking(work, self.plan)


def bounded(tree: Tree) -> bool:
    """Whether all that touches are limits of single coordinates of a tree's joints, whose turns are counted."""
    joints = {data.element for data in tree.links if isinstance(data.element, Joint) and _tells(data.element)}
    acting: list[Any] = [e for e in tree.world.contacts if e.acts]
    return all(e.bounds_joint and e.joint in joints for e in acting)


def _tells(joint: Joint) -> bool:
    """Whether all that a limit can bound of a joint are its coordinates, of which no two are alike."""
    kind = kind_of_joint(joint)
    return kind.law is FreedomLaw.AXIS and kind.whole_turns and len(set(kind.freedoms)) == len(kind.freedoms)


def child_of(tree, ends, relative: bool) -> int | None:
    """Which of the bodies with these numbers a joint moves relative to the other, if there is one; without `relative` the
    other must be at rest."""
    moving = [b for b in ends if b != GROUND]
    if len(moving) > 2:
        return None
    links = [tree.bodies[b][1] for b in moving] + [-1] * (2 - len(moving))
    for b, own, other in zip(moving, links, links[::-1], strict=False):
        if own >= 0 and tree.links[own].parent == other and (relative or other < 0):
            return b
    return None


class JointEuler(JointEngine):
    traits = TRAITS["joint-euler"]
    weights, reaches = (1.0,), (1.0,)


class JointImplicit(JointEuler):
    traits, implicit = TRAITS["joint-implicit"], True


class JointRK4(JointEngine):
    traits = TRAITS["joint-rk4"]
    weights, reaches = WEIGHTS, REACHES
