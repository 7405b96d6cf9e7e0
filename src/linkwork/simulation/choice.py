"""solver="auto": the solver and integrator that suit a world and a step, and why.

Three questions decide, all of them about the model and dt, so that the answer is the same on every machine:

1. Do springs and dampers act faster than a step can follow? Then the step is implicit.
2. Does something act by impulses within the step (contact, hard limits, ropes, dry friction)? Then motion has kinks, and an
   order above two gains nothing.
3. Are coordinates of joints enough, in a tree of rigid bodies? They cost less and do not drift.

Smooth motion is made in steps of fourth order, which cost more and need be fewer (benchmarks/auto.py compares all pairs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.elements.core.registry import kind_for
from linkwork.engines.traits import TABLE
from linkwork.errors import ModelError
from linkwork.model.graph import GROUND
from linkwork.model.massless import is_massless
from linkwork.simulation.fastest_force import fastest_rate
from linkwork.simulation.options import Choice

if TYPE_CHECKING:
    from linkwork.elements.core.element import ForceElement
    from linkwork.model.active_world import ActiveWorld
    from linkwork.reduced.tree import Tree
    from linkwork.world import World

OF_LOOPS = "closes a loop or has no joint coordinate"
FOLLOWED = 1.0  # times dt: rates that explicit steps follow; those of fourth order are stable up to 2.8, of second up to 2


def chosen(world: World | ActiveWorld, dt: float, integrator: str | None = None, measured: bool = False) -> Choice:
    """The solver and integrator for a world in steps of dt (s); `integrator`: the one that is asked for. `measured`: which of
    two ways in joint coordinates is faster is decided by rates measured on this machine.

    >>> import linkwork as lw
    >>> chosen(lw.scenes.get("double-pendulum"), 1e-3)[:2], chosen(lw.scenes.get("four-bars"), 1e-3)[:2]
    (('aba', 'joint-rk4'), ('tree', 'rk4'))
    """
    tree, why_not = _tree(world)
    if integrator is not None:
        return _for_integrator(integrator, world, tree, why_not, measured)
    acting = next((element for element in world.contacts if element.acts), None)
    rate = fastest_rate(world)
    if rate * dt > FOLLOWED:
        return _for_fast_forces(world, dt, rate, tree, why_not, measured)
    if acting is not None:
        return Choice(
            "tree", "rattle", f'"{acting.name}" acts by impulses within a step, which this pair makes to second order'
        )
    if tree is None:
        return Choice("tree", "rk4", f"motion is smooth, so that fourth order pays, and {why_not}")
    return Choice(_solver_of(tree, measured), "joint-rk4",
                  "motion is smooth, so that fourth order pays, and in joint coordinates a tree does not drift")  # fmt: skip


def _for_fast_forces(
    world: World | ActiveWorld, dt: float, rate: float, tree: Tree | None, why_not: str, measured: bool
) -> Choice:
    """Implicit steps, of bodies or, where all that is fast acts at the joints of a tree, in joint coordinates."""
    fast = f"springs or dampers act within {1.0 / rate:.2g} s, which is less than dt"
    massless = next((body for body in world.bodies if is_massless(body)), None)
    at_joints = tree is not None and fastest_rate(world, of=lambda force: not acts_at_a_joint(tree, force)) * dt <= FOLLOWED
    if tree is not None and at_joints:
        return Choice(_solver_of(tree, measured), "joint-implicit",
                      f"{fast}, at the joints of a tree, where joint coordinates take them implicitly")  # fmt: skip
    if massless is None:
        why = why_not if tree is None else "not only between the two bodies of a joint"
        return Choice("implicit", "backward-euler", f"{fast}, and {why}")
    kept = f'{fast}; "{massless.name}" has no mass, which keeps backward Euler of bodies off'
    if tree is None and not why_not.endswith(OF_LOOPS):
        return Choice("tree", "rattle", f"{kept}, so that dt may be too long")
    solver = "ltdl" if tree is None else _solver_of(tree, measured)
    return Choice(solver, "joint-implicit", f"{kept}, and joint coordinates take implicitly what acts at joints")


def acts_at_a_joint(tree: Tree, force: ForceElement) -> bool:
    """Whether a force depends on how the two bodies of a joint of the tree stand to each other, and on nothing else."""
    from linkwork.engines.joint_coordinates.steps import child_of

    kind = kind_for(force)
    ends = [GROUND if body is None or body.dim == 0 else tree.body(body) for body in kind.bodies(force)]
    return child_of(tree, ends, kind.relative) is not None


def _for_integrator(integrator: str, world: World | ActiveWorld, tree: Tree | None, why_not: str, measured: bool) -> Choice:
    if integrator in TABLE["aba"]:
        if tree is None:
            return Choice("ltdl", integrator, f"it is what goes with this integrator where {why_not}")
        return Choice(_solver_of(tree, measured), integrator, "the faster way in joint coordinates, of two")
    solver = next(name for name, known in TABLE.items() if integrator in known)
    return Choice(solver, integrator, "it is what goes with this integrator")


def _tree(world: World | ActiveWorld) -> tuple[Tree | None, str]:
    """The world in joint coordinates; None where these are not enough, and why."""
    from linkwork.reduced.tree import compile  # as all of reduced: imported by those who use it

    try:
        tree = compile(world, loops=True)
    except ModelError as error:
        return None, f"joint coordinates are not for it ({str(error).split(';')[0]})"
    if tree.closing:
        return None, f'"{tree.closing[0].name}" {OF_LOOPS}'
    return (tree, "") if tree.links else (None, "nothing in it has joint coordinates")


def _solver_of(tree: Tree, measured: bool) -> str:
    """Of a tree: "aba", which was faster or within 4 % on all that were tried, unless this machine is asked."""
    if not measured:
        return "aba"
    from linkwork.reduced.cost.choice import faster

    return faster(tree)
