"""Steps in joint coordinates: nothing can drift. With the solvers `aba` and `ltdl` the bodies' forces come from the model, the
accelerations from the articulated-body algorithm or from the inertia matrix; with `tree` accelerations come from the model,
too (baraff96 section 2.2: the middle ground). The model is brought along. Every step begins with the joint coordinates of the
bodies as they are, so that a state in maximal coordinates is all there is. What closes loops (`ltdl`) is obeyed by the
accelerations, and again, to rounding, by places and velocities after every step.

`joint-rk4`: the classical Runge-Kutta method on the manifold of configurations (Munthe-Kaas), order 4. `joint-euler`:
semi-implicit Euler, order 1. `joint-implicit`: the same with forces that are local to a joint linearly implicit, so that they
may be as stiff as they like:

    (H + h D + h^2 K) qdd = tau - C - h K qd        D = -dtau/dqd, K = -dtau/dq: blocks of single joints, H keeps its zeros
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.elements import Armature, Parameter
from linkwork.elements.bodies.rigid import RIGID, RigidPlacement
from linkwork.elements.core import checks
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.engines.engine import DIVERGED, DONE, GROWS, KICK, OK, STEP, STUCK, TIME, Integrator, finite
from linkwork.engines.joint_coordinates.loops import (
    ACCELERATION,
    LENGTH,
    PLACE,
    VELOCITY,
    Loops,
    answer,
    copied,
    factor,
    find_rows,
    flat,
    inertia_entry,
    power,
    solve,
    stacked,
)
from linkwork.engines.maximal.settling import CLOSED as CLOSED_TIGHTLY
from linkwork.engines.maximal.settling import HARDER, ROUNDED, SINGULAR, SLOW, SOFTEST
from linkwork.errors import ModelError
from linkwork.kernels.implicit_bodies import TANGENT, holding_kernel
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Node

WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
REACHES = (0.5, 0.5, 1.0, 0.0)  # from each stage to the next, in steps from the beginning
WAYS = {"tree": "following", "aba": "aba", "ltdl": "ltdl", "anticipation": "aba"}  # solver -> way to accelerations
WITH_LOOPS = ("ltdl", "anticipation")
CLOSED, ROUNDS = 1e-12, 20  # loops: metres or radians that are left open, and rounds to get there ...
OPEN = 1e-6  # ... more than which stops the run
PARTS = 16  # of a step in a singular place, ...
RESCUES, MOST_RESCUES = 8, 64  # ... projections in each of them, and how many there may be ...
NEARLY_CLOSED = 1e-9  # ... until loops are open by less


@jit
def bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at):
    """The model where the tree is."""
    sweep(own, own_table, outwards)
    copied(own, state_at, work, coordinates_at)
    sweep(work, table, place)


@jit
def take_hold(work, table, own, own_table, holding):
    """What implicit forces add at their joints."""
    scratch, operations, release, hold, tangents_at = holding
    sweep(own, own_table, release)
    for k in range(tangents_at.shape[0]):
        sweep(work, table, operations[k : k + 1])
        for i in range(TANGENT):
            own[tangents_at[k] + i] = work[scratch + i]
        sweep(own, own_table, hold[k : k + 1])


@jit
def accelerations(work, table, loads, own, own_table, dynamics, places, holding, inertia, loops, over=0.0):
    """qdd of the tree, with the forces (or the accelerations) that the model has at its present state; the power (W) of
    prescribed motion. `over` s: loops are obeyed by velocities at the end of this time, if it is not zero."""
    _, forces_at, _, loads_at, tau_at = places
    sweep(work, table, loads)
    copied(work, forces_at, own, loads_at)
    for i in tau_at:
        own[i] = 0.0
    out, back = dynamics
    sweep(own, own_table, out)
    if holding is not None:
        take_hold(work, table, own, own_table, holding)
    sweep(own, own_table, back)
    if loops is not None:
        sweep(own, own_table, loops[1][0])
        find_rows(work, table, own, own_table, loops, ACCELERATION if over == 0.0 else VELOCITY)
        if over != 0.0:
            loops[2][1][:] /= over
    if inertia is not None:
        factor(own, own_table, inertia)
        solve(own, own_table, inertia, loops)
    elif loops is not None:
        sweep(own, own_table, loops[1][1])
        answer(own, own_table, loops)
    return power(work, loops) if loops is not None else 0.0


@jit
def move_rows(own, own_table, inertia, loops, tau_at, softness=0.0):
    """x of the joints, of least kinetic norm, that moves the rows as they ask for."""
    for i in tau_at:
        own[i] = 0.0
    if inertia is not None:
        solve(own, own_table, inertia, loops, softness)
    else:
        answer(own, own_table, loops, softness)


@jit
def close(work, table, place, own, own_table, dynamics, outwards, moves, places, inertia, loops):
    """Loops closed, by steps of least kinetic norm: what they are off by afterwards, and whether the place is regular, which is
    asked where rows depend on others. They are then as soft as they are open (settling.py)."""
    coordinates_at, _, state_at, _, tau_at = places
    nudge, strike = moves
    factor_at_rest(own, own_table, dynamics, inertia, loops)
    worst, length = find_rows(work, table, own, own_table, loops, PLACE), loops[3][LENGTH]
    closed, part, slow = CLOSED_TIGHTLY * length if length > 0.0 else CLOSED, 1.0, 0
    for _ in range(ROUNDS):
        if not worst > closed:
            break
        softness = part * min(worst / length, SOFTEST) if length > 0.0 else 0.0
        move_rows(own, own_table, inertia, loops, tau_at, softness)
        sweep(own, own_table, nudge)
        bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
        before, worst = worst, find_rows(work, table, own, own_table, loops, PLACE)
        if length > 0.0 and worst > SLOW * before and worst > ROUNDED * length:
            slow, part = slow + 1, HARDER * part
        elif worst >= before:
            break
        if slow == SINGULAR:
            break
    follow_rows(work, table, place, own, own_table, outwards, strike, places, inertia, loops)
    return worst, slow < SINGULAR


@jit
def factor_at_rest(own, own_table, dynamics, inertia, loops):
    """What `move_rows` needs: links in place."""
    if inertia is not None:
        factor(own, own_table, inertia)
    else:
        for operations in dynamics:
            sweep(own, own_table, operations)
        sweep(own, own_table, loops[1][1])


@jit
def follow_rows(work, table, place, own, own_table, outwards, strike, places, inertia, loops):
    """Velocities that the loops allow."""
    coordinates_at, _, state_at, _, tau_at = places
    find_rows(work, table, own, own_table, loops, VELOCITY)
    move_rows(own, own_table, inertia, loops, tau_at)
    sweep(own, own_table, strike)
    bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)


@jit
def step_through(work, model, own, tree, places, holding, inertia, loops, speeds, began, h):
    """A step in a place that is singular, from where it `began`: velocities that the loops allow, a motion with them, and the
    nearest place, with the directions found there. Of first order. What loops are off by afterwards."""
    table, loads, place, _ = model
    own_table, recover, out, back, outwards, _, _, _, nudge, strike = tree
    coordinates_at, _, state_at, _, tau_at = places
    for i in range(coordinates_at.shape[0]):
        work[coordinates_at[i]] = began[i]
    sweep(work, table, place)
    copied(work, coordinates_at, own, state_at)
    sweep(own, own_table, recover)
    h, off = h / PARTS, 0.0
    for _ in range(PARTS):
        work[DONE] += h * accelerations(work, table, loads, own, own_table, (out, back), places, holding, inertia, loops, h)
        for i in tau_at:
            own[i] *= h
        sweep(own, own_table, strike)
        for i in range(tau_at.shape[0]):
            own[tau_at[i]] = h * own[speeds[i]]
        sweep(own, own_table, nudge)
        work[TIME] += h
        bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
        factor_at_rest(own, own_table, (out, back), inertia, loops)
        off = find_rows(work, table, own, own_table, loops, PLACE)
        for k in range(MOST_RESCUES):
            move_rows(own, own_table, inertia, loops, tau_at)
            sweep(own, own_table, nudge)
            bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
            follow_rows(work, table, place, own, own_table, outwards, strike, places, inertia, loops)
            off = find_rows(work, table, own, own_table, loops, PLACE)
            if k + 1 >= RESCUES and off <= NEARLY_CLOSED:
                break
    return off


@jit
def steps_in_joints(
    work, model, own, tree, places, holding, inertia, loops, weights, reaches, entries, speeds, sentinels, steps
):
    """`model`: table, loads, place, count; `tree`: table, recover, dynamics outwards and back, outwards, open, stage and close
    of a step, nudge and strike; `places`: coordinates and forces in the model, state, loads and tau in the tree; `holding`,
    `inertia`, `loops`: as `take_hold`, `factor` and `find_rows` have them, None where there is none: what they need is then
    not compiled."""
    table, loads, place, count = model
    own_table, recover, out, back, outwards, begin, stage, end, nudge, strike = tree
    coordinates_at, _, state_at, _, _ = places
    h = work[STEP]
    work[KICK] = 1.0
    own[entries[0]] = h
    for k in range(steps):
        start, done, regular = work[TIME], work[DONE], True
        began = work[coordinates_at]
        copied(work, coordinates_at, own, state_at)
        sweep(own, own_table, recover)
        sweep(own, own_table, begin)
        for s in range(weights.shape[0]):
            watts = accelerations(work, table, loads, own, own_table, (out, back), places, holding, inertia, loops)
            work[DONE] += weights[s] * h * watts
            own[entries[1]] = weights[s] * h
            own[entries[2]] = reaches[s] * h
            sweep(own, own_table, stage)
            work[TIME] = start + reaches[s] * h
            if s + 1 < weights.shape[0]:
                bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
                if loops is not None and loops[3][LENGTH] > 0.0:
                    moves = nudge, strike
                    _, regular = close(
                        work, table, place, own, own_table, (out, back), outwards, moves, places, inertia, loops
                    )  # fmt: skip
                    if not regular:
                        break
        sweep(own, own_table, end)
        work[TIME] = start + h
        bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
        off = 0.0
        if loops is not None:
            moves = nudge, strike
            if regular:
                off, regular = close(
                    work, table, place, own, own_table, (out, back), outwards, moves, places, inertia, loops
                )  # fmt: skip
            if not regular:
                work[TIME], work[DONE] = start, done
                off = step_through(work, model, own, tree, places, holding, inertia, loops, speeds, began, h)
        sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
        if off > OPEN:
            return k + 1, STUCK, 0
    return steps, OK, 0


class InJoints(Integrator):
    """The base: a tree beside the model."""

    takes_feedback = keeps_impulses = draws_in = False
    weights: tuple[float, ...]
    reaches: tuple[float, ...]
    parts: tuple[str, str, str]  # the sweeps that open a step, make a stage and close the step; "" is none
    implicit = False  # forces that are local to a joint are

    def __init__(self, *given):
        super().__init__(*given)
        self.way = WAYS[self.programs.name]
        self.stepper = self._stepper()
        self.rotors = self._rotors()

    @property
    def _dynamics(self) -> tuple[str, str]:
        """Sweeps outwards and back."""
        return {"following": ("", "following"), "aba": ("aba out", "aba back"), "ltdl": ("bias out", "bias back")}[self.way]

    def _stepper(self):
        from linkwork.reduced.tree import compile
        from linkwork.reduced.workspace import Stepper, Tangent  # only who steps in joint coordinates waits for numba

        model = self.programs.model
        for joint in model.world.constraints:
            for name in kind_of_joint(joint).constant_fields if isinstance(joint, Joint) else ():
                if isinstance(getattr(joint, name), Parameter):
                    raise ModelError(f"{checks.label(joint)}: its {name} is a Parameter, which joint coordinates do not "
                                     "follow; give a number")  # fmt: skip
        tree, frames = compile(model.world, loops=self.programs.name in WITH_LOOPS), model.bodies.frames[RIGID.name]
        assert isinstance(frames, RigidPlacement)
        for c in tree.closing:
            if self._node(c).kind.aimed:
                raise ModelError(f"{checks.label(c)}: it names the force that holds it, which joint coordinates do not take; "
                                 'use solver="anticipation" with rattle or euler')  # fmt: skip
        self.local = self._local_forces(tree) if self.implicit else []
        self.touched = sorted({b for c in tree.closing for b in self._ends(c)})
        sweeps = ["recover", "outwards", *filter(None, (*self._dynamics, *self.parts))]
        sweeps += ["release", "hold"] if self.local else []
        sweeps += ["inertia", "factor", "up", "down"] if self.way == "ltdl" else []
        if tree.closing:
            sweeps += ["turning", "nudge", "strike", *(f"columns {b}" for b in self.touched)]
            sweeps += [] if self.way == "ltdl" else ["rest", "response"]
        sweeps = list(dict.fromkeys([*sweeps, *self.further()]))
        held = [Tangent(tree.bodies[child][1], child) for _, child in self.local]
        return Stepper(tree, list(zip(frames.axes, frames.origin, strict=True)), sweeps, held)

    def prepare(self, work):
        """Inertias of rotors may have changed with Parameters."""
        super().prepare(work)
        for link, entries in self.rotors:
            self.stepper.work[self.stepper.constant(link, "armature")] = work[entries].sum()

    def _rotors(self) -> list[tuple[int, np.ndarray]]:
        """Links that Armatures belong to, and the entries of the model that hold their inertias. Those of joints that close
        loops are rows (closing.py)."""
        model, found = self.programs.model, dict[int, list[int]]()
        links = {data.element: i for i, data in enumerate(self.stepper.tree.links)}
        for element in model.world.constraints:
            if isinstance(element, Armature) and element.joint in links:
                found.setdefault(links[element.joint], []).append(inertia_entry(model, element))
        return [(link, np.array(entries)) for link, entries in found.items()]

    def further(self) -> tuple[str, ...]:
        """Names of sweeps that are needed beside those of a step."""
        return ()

    def _node(self, constraint) -> Node:
        model = self.programs.model
        return model.nodes[model.names[constraint.name][1]]

    def _ends(self, constraint) -> list[int]:
        """Numbers of the bodies of a constraint's node that move."""
        return [b for b in self._node(constraint).ends if b != GROUND]

    def _local_forces(self, tree) -> list[tuple[int, int]]:
        """Number of each force that depends on how the two bodies of a joint stand to each other and on nothing else, and of
        the body that the joint moves. The others that could be stiff are named in `remarks`."""
        found, others = [], []
        for number, force in enumerate(self.programs.model.forces):
            if not force.kind.law.yields:
                continue
            child = _child(tree, force.ends, force.kind.law.relative)
            if child is not None:
                found.append((number, child))
            else:
                others.append(force.element)
        if others:
            one = len(others) == 1
            said = "it does not act at a single joint" if one else "they do not act at single joints"
            self.remarks.append(f"{checks.labels(others)}: {said}, so that {'it is' if one else 'they are'} explicit in joint "
                                f'coordinates; use solver="implicit" if {"it is" if one else "they are"} stiff')  # fmt: skip
        return found

    @cached_property
    def plan(self) -> tuple:
        p, own = self.programs, self.stepper
        solved = self.way == "following"  # bodies tell accelerations, else forces
        fields = [[p.model.field_of_body(b, name) for name in ("q", "v", "x" if solved else "b")] for b in own.moving]
        coordinates, told = [np.r_[q, v] for q, v, _ in fields], [np.r_[last] for _, _, last in fields]
        places = (flat(coordinates), flat(told), own.state, own.loads, own.tau)
        loads = (p.up("acceleration", first=("accelerate",), light=True), p.backward(light=True)) if solved else (p.loads(),)
        sweeps = np.concatenate(loads), p.body("place"), p.count()
        holding = self._holding() if self.local else None  # and the loops, before the table is taken: they complete it
        loops = Loops(p, own, self.touched).parts if own.tree.closing else None
        closing = [own.sweep(name if own.tree.closing else "") for name in ("nudge", "strike")]
        parts = [own.sweep(name) for name in ("recover", *self._dynamics, "outwards", *self.parts)]
        inertia = None
        if self.way == "ltdl":
            found, names = own.inertia, ("inertia", "factor", "up", "down")
            at = found.blocks, found.tiles, found.pivots, found.right, found.joints
            inertia = tuple(own.sweep(name) for name in names), at
        return (p.table, *sweeps), (own.table, *parts, *closing), places, holding, inertia, loops

    def _holding(self) -> tuple:
        p, own = self.programs, self.stepper
        operations = [p.force(number, holding_kernel(p.model.forces[number].kind, p.model.forces[number].ends.index(child)))
                      for number, child in self.local]  # fmt: skip
        tangents = np.array([own.of_body(child, "tangent") for _, child in self.local], dtype=np.int64)
        return p.model.scratch, stacked(operations), own.sweep("release"), own.sweep("hold"), tangents

    def advance(self, work, steps, age):
        from linkwork.reduced.workspace import ENTRIES

        model, tree, *others = self.plan
        weights, reaches, entries = np.array(self.weights), np.array(self.reaches), np.array(ENTRIES)
        speeds = self.stepper.layout.start + self.stepper.layout.fields("qd")
        return steps_in_joints(
            work, model, self.stepper.work, tree, *others, weights, reaches, entries, speeds, self.sentinels, steps
        )  # fmt: skip


def _child(tree, ends, relative: bool) -> int | None:
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


class JointEuler(InJoints):
    name, order = "joint-euler", 1
    most_mixed, mixing = 0.002, GROWS
    weights, reaches, parts = (1.0,), (1.0,), ("", "euler", "")


class JointImplicit(JointEuler):
    name, implicit = "joint-implicit", True


class JointRK4(InJoints):
    name, order = "joint-rk4", 4
    most_mixed, mixing = 0.005, GROWS
    weights, reaches, parts = WEIGHTS, REACHES, ("open_step", "stage", "close_step")
