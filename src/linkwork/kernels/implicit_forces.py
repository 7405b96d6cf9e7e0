"""Forces in implicit steps: pointer 1 the force, 2 and 3 (and more) its bodies, behind these the blocks between them. The
equations are at the head of `implicit_bodies`."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.kernels import single_iteration
from linkwork.kernels.force_kernels import ForceNodeKind
from linkwork.kernels.implicit_blocks import add_blocks, add_to, shaped, shifted_views
from linkwork.kernels.implicit_bodies import BEGIN, DRAW, FIRM, MOMENT
from linkwork.kernels.node import load_parameters
from linkwork.kernels.vocabulary import Iteration
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.views import View, derivatives, load_global

TANGENT = 27  # numbers of a tangent on a rigid body: h D + h^2 K (6, 6) as a lower triangle, h K v (6,)


def force_kernel(force: ForceNodeKind, what: Iteration, turned: tuple[bool, ...], exact: bool) -> Kernel:
    """Adds the force and its tangent; `turned`: of each pair of moving bodies, whether the second is eliminated first."""

    def write(trace: Trace) -> None:
        h = load_global(trace, "step")
        f, K, D = linearised(trace, force, what, exact)
        right = SX.zeros(f.shape[0]) if what == DRAW else h * f
        if what in (BEGIN, FIRM):
            v = ca.vertcat(*[View(kind, trace, 2 + k).v for k, kind in enumerate(force.kinds) if kind])
            right += h * D @ v
            force.count(trace, force.parameters_of(trace))
        offset = 0
        for k, kind in enumerate(force.kinds):
            if kind is not None:
                where, size = kind.record["b"]
                trace.store(2 + k, where, trace.load(2 + k, where, size) + right[offset : offset + size])
                offset += size
        add_blocks(trace, force.kinds, shaped(h * D + h * h * K, exact), turned, exact)

    return Kernel(f"implicit|{force.key}|{what}|{turned}|{exact}", write)


def turning_kernel(
    force: ForceNodeKind, what: Iteration, child: int, held: int, joint: ConstraintKind | None, start: int
) -> Kernel:
    """Adds the torque of a force that depends on the relative rotation of its bodies alone, and its tangent, to the joint
    pivot's A and t (pointer 4, from `held` on). `child`: which of the force's bodies is the child of the pivot. `joint`: the
    joint that the force belongs to, whose parameters begin at `start`: the force has the same, and takes these."""

    def write(trace: Trace) -> None:
        h, p = load_global(trace, "step"), force.parameters_of(trace)
        if joint is not None:
            p |= {name: x for name, x in load_parameters(trace, 4, start, joint).items() if x.shape == p.get(name, SX()).shape}
        views = [View(kind, trace, 2 + k, MOMENT[what]) for k, kind in enumerate(force.kinds) if kind is not None]
        tape = Tape(views, load_global(trace, "time"))
        loads, _ = force.law.law(tape.handles, p, tape.time)
        t, A = h * sum((torque for number, _, _, torque in loads if number == 1), SX(3, 1)), SX(3, 3)
        for term in force.law.terms(tape.handles, p, tape.time) or ():
            W = sum((weight for number, _, _, weight in term.motion if number == 1), SX(term.stiffness.shape[0], 3))
            A += W.T @ (h * term.damping + h * h * term.stiffness) @ W
            if what in (BEGIN, FIRM):
                t += h * W.T @ (term.damping @ (W @ (tape.handles[1].spin() - tape.handles[0].spin())))
        A, t = tape.resolve([A, SX(3, 1) if what == DRAW else t])
        add_to(trace, 4, held, ca.vertcat(blocks.lower(A), t if child == 1 else -t))
        if what in (BEGIN, FIRM):
            force.count(trace, p)

    name = f"implicit|{force.key}|{what}|turning|{child}|{held}|{joint.key if joint else None}|{start}"
    return Kernel(name, write, joining=Joining.SMALL)


def holding_kernel(force: ForceNodeKind, child: int) -> Kernel:
    """Pointer 4: `TANGENT` of a force at a joint, by what the body `child` does relative to the other."""

    def write(trace: Trace) -> None:
        h = load_global(trace, "step")
        _, K, D = linearised(trace, force, BEGIN, False)
        v = ca.vertcat(*[View(kind, trace, 2 + k).v for k, kind in enumerate(force.kinds) if kind])
        before = sum(kind.nv for kind in force.kinds[:child] if kind)
        own = slice(before, before + RIGID.nv)
        A = shaped(h * D + h * h * K, False)
        trace.store(4, 0, ca.vertcat(blocks.lower(A[own, own]), (h * K @ v)[own]))

    return Kernel(f"implicit|{force.key}|holding|{child}", write)


def linearised(trace: Trace, force: ForceNodeKind, what: Iteration, exact: bool) -> tuple[SX, SX, SX]:
    """Generalised forces on the moving bodies, -df/dq and -df/dv (none where exact tangents have velocities follow)."""
    views = [None if kind is None else View(kind, trace, 2 + k, MOMENT[what]) for k, kind in enumerate(force.kinds)]
    if not exact:
        tape = Tape(views, load_global(trace, "time"))
        terms = force.law.terms(tape.handles, force.parameters_of(trace), tape.time)
        if terms is not None:
            f = ca.vertcat(*[x for x in force.loads(trace, views) if x is not None])
            return f, *_summed(tape, views, terms)
    shifted = shifted_views(trace, force.kinds, what, follow=exact)
    loads = ca.vertcat(*[x for x in force.loads(trace, shifted) if x is not None])
    [(f, by_shift, by_kick)] = derivatives([loads], [view for view in shifted if view is not None])
    if what in (FIRM, DRAW):
        masses = [ca.diag(view.kind.mass(view)) for view in views if view is not None]
        return f, single_iteration.positive_part(-by_shift, masses), single_iteration.positive_part(-by_kick, masses)
    return f, -by_shift, -by_kick


def _summed(tape: Tape, views, terms) -> tuple[SX, SX]:
    """Stiffness and damping of all terms on the moving bodies."""
    size = sum(view.kind.nv for view in views if view)
    K, D = SX(size, size), SX(size, size)
    for term in terms:
        columns = []
        for body, view in enumerate(views):
            if view is None:
                continue
            B = SX(term.stiffness.shape[0], view.kind.nv)
            for number, what, where, weight in term.motion:
                if number == body:
                    B += weight @ tape.entry(number, view, what, where).primitive.jacobian
            columns.append(B)
        B = ca.horzcat(*columns)
        K += B.T @ term.stiffness @ B
        D += B.T @ term.damping @ B
    K, D = tape.resolve([K, D])
    return K, D
