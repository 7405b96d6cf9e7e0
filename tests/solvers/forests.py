"""Random forests of mixed bodies and joints, and what each solver makes of them.

Run as a program with LINKWORK_KERNELS=casadi it solves many of them without compiling, and prints a line of JSON for each.
"""

import json
import sys
import warnings
from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.linalg import lu_factor, lu_solve

import linkwork as lw
from linkwork.kernels.node import SOFT
from linkwork.kernels.node_kernels import node_right_kernel
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model import compile_model as compiler
from linkwork.model import nodes as stacking
from linkwork.simulation.reactions import node_jacobians, solve_accelerations
from linkwork.symbolic.views import GLOBALS
from tests.oracles import kkt

GRAVITY = 9.81
SPATIAL, PLANAR, POINTS = ("rigid", "scalable", "affine"), ("planar",), ("particle", "planar particle")


def unit(rng, n):
    x = rng.normal(size=n)
    return x / np.linalg.norm(x)


def add_body(world, rng, kind, spread):
    mass = 10 ** rng.uniform(-spread, spread)
    flat = rng.normal(size=2)
    position = rng.normal(size=3)
    spin, velocity = rng.normal(size=3), rng.normal(size=3)
    size = mass * rng.uniform(0.05, 0.1, size=3)
    if kind == "rigid":
        made = lw.RigidBody(mass, size, position=position, orientation=unit(rng, 4), velocity=velocity,
                            angular_velocity=spin, com=0.1 * rng.normal(size=3))  # fmt: skip
    elif kind == "planar":
        made = lw.PlanarBody(mass, size[0], position=flat, angle=rng.normal(), velocity=velocity[:2], angular_velocity=spin[0])
    elif kind == "particle":
        made = lw.Particle(mass, position, velocity)
    elif kind == "planar particle":
        made = lw.PlanarParticle(mass, flat, velocity[:2])
    elif kind == "scalable":
        made = lw.ScalableBody(mass, size, position=position, orientation=unit(rng, 4), stretch=rng.uniform(0.8, 1.2, 3),
                               velocity=velocity, angular_velocity=spin, stiffness=1.0)  # fmt: skip
    else:
        F = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
        made = lw.AffineBody(mass, size, position=position, deformation=F, velocity=velocity, stiffness=1.0,
                             deformation_rate=0.1 * rng.normal(size=(3, 3)))  # fmt: skip
    return world.add(made)


def where(body):
    """A body's position in space."""
    p = body.position
    return np.array([p[0], 0.0, p[1]]) if len(p) == 2 else p


def kind_of(body):
    return {"RigidBody": "rigid", "ScalableBody": "scalable", "AffineBody": "affine", "PlanarBody": "planar",
            "Particle": "particle", "PlanarParticle": "planar particle", "Ground": "ground"}[type(body).__name__]  # fmt: skip


def joint(rng, a, b):
    """A constraint between two bodies that holds as built."""
    kinds = {kind_of(a), kind_of(b)}
    points = [x for x in (a, b) if kind_of(x) in POINTS]
    if len(points) == 2:
        return lw.Distance(a, b)
    if points:
        at = where(points[0])
        return [lw.Ball(a, b, at), lw.Distance(a, b) if "ground" not in kinds else lw.Distance(a, b, on_a=(3, 0, 4))
                if kind_of(a) == "ground" else lw.Distance(a, b, on_b=(3, 0, 4))][rng.integers(2)]  # fmt: skip
    at = rng.normal(size=3)
    if "planar" in kinds:
        at[1] = 0.0 if rng.random() < 0.7 else at[1]
        along = rng.normal(size=2)
        choices = (lambda: lw.Ball(a, b, at), lambda: lw.Hinge(a, b, at, axis=(0, 1, 0)),
                   lambda: lw.Slider(a, b, at, axis=(along[0], 0, along[1])), lambda: lw.Weld(a, b),
                   lambda: lw.Cylindrical(a, b, at, axis=(0, 1, 0)))  # fmt: skip
        return choices[rng.choice(len(choices), p=[0.35, 0.35, 0.1, 0.1, 0.1])]()
    axis = unit(rng, 3)
    other = np.cross(axis, unit(rng, 3))
    choices = (lambda: lw.Ball(a, b, at), lambda: lw.Hinge(a, b, at, axis=axis), lambda: lw.Slider(a, b, at, axis=axis),
               lambda: lw.Cylindrical(a, b, at, axis=axis), lambda: lw.Universal(a, b, at, first=axis, second=other),
               lambda: lw.Planar(a, b, at, normal=axis), lambda: lw.Weld(a, b, at),
               lambda: lw.Screw(a, b, at, axis=axis, pitch=0.3), lambda: lw.PointOnPlane(a, b, at, normal=axis),
               lambda: lw.PointOnLine(a, b, at, axis=axis))  # fmt: skip
    return choices[rng.choice(len(choices), p=[0.25, 0.25, *[0.0625] * 8])]()


def forest(seed, kinds=(*SPATIAL, *PLANAR, *POINTS), largest=8, spread=0.0, grounds=0.5, stacked=0.2, loops=0):
    """A world of one to `largest` bodies; masses from 10^-spread to 10^spread kg. With `loops` it is no forest: so many more
    constraints between bodies."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    bodies = [add_body(world, rng, kinds[rng.integers(len(kinds))], spread) for _ in range(rng.integers(1, largest + 1))]
    links = []
    for k in range(1, len(bodies)):
        if rng.random() < 0.85:
            links.append((bodies[rng.integers(k)], bodies[k]))
    links += [(world.ground, body) for body in bodies for _ in range(2) if rng.random() < grounds / 2]
    for k in rng.permutation(len(links)):
        a, b = links[k][:: rng.choice([1, -1])]
        made = world.add(joint(rng, a, b))
        if isinstance(made, lw.Hinge) and rng.random() < stacked:
            world.add(lw.Drive(made, 1.5))
        elif rng.random() < stacked and not isinstance(made, lw.Distance) and kind_of(a) not in POINTS:
            normal = rng.normal(size=3) * (1, 0, 1) if kind_of(b) in ("planar", "planar particle") else rng.normal(size=3)
            world.add(lw.PointOnPlane(a, b, normal=normal))
    for _ in range(loops if len(bodies) > 2 else 0):
        a, b = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        world.add(joint(rng, a, b) if rng.random() < 0.3 else lw.Distance(a, b))
    for body in bodies:
        if rng.random() < 0.3:
            world.add(lw.Spring(world.ground, body, 10.0, rest=0.5, damping=0.3))
    return world


def whole_jacobian(world):
    """J of all rows as built, from the nodes before any order is chosen."""
    bodies = compiler.bodies_of(world)
    groups = stacking.grouped(world.constraints, bodies)
    numbers = [stacking.numbers_of(g, bodies) for g in groups]
    kept = [stacking.kept_rows(g, n, compiler._records(bodies)) for g, n in zip(groups, numbers, strict=True)]
    nodes = stacking.stacked(groups, numbers, kept, len(world.constraints))
    blocks = compiler._jacobians(nodes, compiler._records(bodies))
    first = np.concatenate([[0], np.cumsum([k.nv for k in bodies.kinds])]).astype(int)
    J = []
    for k, node in enumerate(nodes):
        rows = np.zeros((node.kind.size, first[-1]))
        for end, block in zip(node.ends, blocks(k), strict=True):
            if end >= 0:
                rows[:, first[end] : first[end + 1]] = block
        J.append(rows)
    return np.vstack(J) if J else np.zeros((0, first[-1]))


def accelerations(sim):
    """Solve for accelerations, without feedback."""
    sim._system.changed()
    solve_accelerations(sim._system)


def assembled(sim):
    """H and r of the accelerations at the coordinates and velocities that this simulation has, without feedback."""
    p, m, work = sim.schedules, sim.model, sim.work.copy()
    for name, value in (("stiffness", 0.0), ("damping", 0.0), ("kick", 1.0)):
        work[GLOBALS.offset(name)] = value
    sim.integrator.run(
        work,
        p.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE),
        p._keep("forces", p._add_forces),
        p._keep("rows", partial(rows, p)),
    )
    fields = [m.field_of_body(k, "b") for k in range(len(m.bodies.kinds))]
    fields += [m.field_of_node(k, "b") for k in range(len(m.nodes))]
    first = np.concatenate([[0], np.cumsum([f.stop - f.start for f in fields])]).astype(int)
    places = [slice(*pair) for pair in pairwise(first)]
    H = np.zeros((first[-1], first[-1]))
    for k, kind in enumerate(m.bodies.kinds):
        H[places[k], places[k]] = symmetric(work[m.field_of_body(k, "D")], kind.nv)
    for k, node in enumerate(m.nodes):
        at = places[len(m.bodies.kinds) + k]
        for end, J in zip(node.ends, node_jacobians(sim._system, k), strict=True):
            if end >= 0:
                H[at, places[end]], H[places[end], at] = J, J.T
    return H, np.concatenate([work[field] for field in fields])


def symmetric(triangle, n):
    """The whole of a symmetric matrix from its lower triangle, row by row."""
    D = np.zeros((n, n))
    D[np.tril_indices(n)] = triangle
    return D + np.tril(D, -1).T


def rows(schedules, ops):
    """The right-hand sides of all rows."""
    schedules._add_nodes(ops, lambda kind, start, b, x: node_right_kernel(kind, RowMode.ACCELERATION, start, b))


def solution(sim):
    """Accelerations of all bodies and multipliers of all nodes, in the coordinates of this simulation."""
    m = sim.model
    fields = [m.field_of_body(k, "x") for k in range(len(m.bodies.kinds))]
    fields += [m.field_of_node(k, "x") for k in range(len(m.nodes))]
    return np.concatenate([sim.work[field] for field in fields])


def motion(sim):
    """Accelerations with those of rigid bodies at the centre of mass: the same for every solver."""
    model, parts = sim.model, []
    for k, kind in enumerate(model.bodies.kinds):
        x = sim.work[model.field_of_body(k, "x")].copy()
        if kind.name == "RigidBody":
            q, v = sim.work[model.field_of_body(k, "q")], sim.work[model.field_of_body(k, "v")]
            body = model.bodies.elements[k]
            arm = sim.position(body) + sim.frame(body) @ body.com - q[:3]
            x[:3] += np.cross(x[3:], arm) + np.cross(v[3:], np.cross(v[3:], arm))
        parts.append(x)
    return np.concatenate(parts)


ELIMINATIONS = ("fronts", "tree", "anticipation")


def simulations(world, solvers=("dense", *ELIMINATIONS)):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return {name: lw.Simulation(world, solver=name, integrator="euler") for name in solvers}


def forward_error(x, exact, n):
    """The larger of two: of the n accelerations, relative to the largest or to gravity where nothing moves; and of the
    multipliers, relative to the largest."""
    error, size = np.abs(x - exact), np.abs(exact)
    multipliers = error[n:].max(initial=0) / (size[n:].max(initial=0) or 1)
    return float(max(error[:n].max() / max(size[:n].max(), GRAVITY), multipliers))


def lu_errors(H, r, exact, n, orders=5):
    """Of dense LU with the equations as they stand, and in random orders: each rounds otherwise, some with more luck."""
    rng, found = np.random.default_rng(len(r)), []
    for order in [np.arange(len(r)), *[rng.permutation(len(r)) for _ in range(orders - 1)]]:
        x = np.empty(len(r))
        x[order] = lu_solve(lu_factor(H[np.ix_(order, order)]), r[order])
        found.append(forward_error(x, exact, n))
    return found


def errors(sim):
    """Of one solver and of dense LU, on the system that this simulation has."""
    accelerations(sim)
    (H, r), x, n = assembled(sim), solution(sim), sim.model.velocities
    exact = kkt.solve(H, r)
    return {"backward": kkt.backward_error(H, x, r), "forward": forward_error(x, exact, n), "lu": lu_errors(H, r, exact, n),
            "drift": sim.drift(velocity=True)}  # fmt: skip


def compared(sims):
    """Errors of all eliminations on one world, how far they are from `dense`, and facts about it."""
    dense = sims.pop("dense")
    each = {name: errors(sim) for name, sim in sims.items()}
    found = {what: {name: each[name][what] for name in each} for what in ("backward", "forward", "lu", "drift")}
    accelerations(dense)
    moving, n = motion(dense), dense.model.velocities
    size = max(np.abs(moving).max(), GRAVITY)
    found["apart"] = {name: float(np.abs(motion(sim) - moving).max() / size) for name, sim in sims.items()}
    H, _ = assembled(dense)
    found["pivots"] = pivots(sims["fronts"])
    found["neighbours"] = dense.model.summary()["neighbours"]
    found["limbs"] = sims["tree"].model.summary()["limbs"]
    found["ties"] = [len(sims["tree"].model.later[body]) for _, body, *_ in sims["tree"].schedules.loop_coupled]
    if "anticipation" in sims:
        found["auxiliary"] = sims["anticipation"].model.summary()["auxiliary"]
        found["schur of W"] = w_against_schur(sims["anticipation"]) if found["auxiliary"] else (0.0, 0.0)
    found["condition"] = float(np.linalg.cond(H))
    found["schur"] = float(np.linalg.cond(H[n:, :n] @ np.linalg.solve(H[:n, :n], H[:n, n:]))) if len(H) > n else 1.0
    keys = [k.key for k in sims["fronts"].schedules.kernels]
    found["pieces"] = sum(key.startswith("piece") for key in keys)
    found["crossed"] = sum(key.startswith("piece|cross") for key in keys)
    return found | features(dense.model)


def w_against_schur(sim):
    """Of `anticipation`: the error of W against the dense Schur complement of the primary rows (softness included), relative to its largest entry and
    (in parts of a million) to the condition of what it is a complement of; and the least eigenvalue of W, relative too."""
    accelerations(sim)
    (H, _), responses = assembled(sim), sim.schedules.responses
    sim.integrator.run(
        sim.work, sim.schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), sim.schedules.up(RowMode.ACCELERATION)
    )
    lower = responses.matrix(sim.work)
    W = np.tril(lower) + np.tril(lower, -1).T
    first = sim.model.velocities + np.concatenate([[0], np.cumsum([node.kind.size for node in sim.model.nodes])]).astype(int)
    rows = np.concatenate([np.arange(first[k], first[k + 1]) for k in responses.nodes])
    n = sim.model.velocities
    for k in sim.model.soft:
        for row in range(first[k], first[k + 1]):
            H[row, row] -= SOFT * (H[row, :n] ** 2 / H.diagonal()[:n]).sum()
    others = np.setdiff1d(np.arange(len(H)), rows)
    primary = H[np.ix_(others, others)]
    exact = H[np.ix_(rows, others)] @ np.linalg.solve(primary, H[np.ix_(others, rows)]) - H[np.ix_(rows, rows)]
    scale = np.abs(exact).max()
    error = np.abs(W - exact).max() / scale / max(1.0, 1e-6 * np.linalg.cond(primary))
    return float(error), float(np.linalg.eigvalsh(W)[0] / scale)


def features(model):
    """What a forest has of what makes it hard."""
    masses = [body.mass for body in model.bodies.elements]
    grounded = Counter(model.forest.tree[node.ends[1]] for node in model.nodes if node.ends[0] < 0)
    return {"bodies": len(masses), "ratio of masses": max(masses) / min(masses), "grounded": max(grounded.values(), default=0),
            "stacked": sum(len(node.elements) > 1 for node in model.nodes)}  # fmt: skip


def pivots(sim):
    """Whether every pivot of a body is positive and every pivot of a constraint negative after factoring."""
    p, n, good = sim.schedules, len(sim.model.bodies.kinds), True
    for vertex in p.model.later:
        d, at = p._dim(vertex), p._front_at(vertex)
        diagonal = np.array([at + i * (i + 3) // 2 for i in range(d)])
        good = good and bool(np.all(sim.work[diagonal] > 0 if vertex < n else sim.work[diagonal] < 0))
    return good


def judged(seed, **options):
    """One line of the report: what came out; or why the world was refused; or how many rows are redundant, and how well the
    motion and the multipliers of least norm were found."""
    world = forest(seed, **options)
    J = whole_jacobian(world)
    singular = np.linalg.svd(J, compute_uv=False) if J.size else np.ones(1)
    ratio = float(singular[-1] / singular[0]) if J.shape[0] <= J.shape[1] else 0.0
    try:
        sims = simulations(world, ("dense", *ELIMINATIONS[: 3 if options.get("loops") else 2]))
    except lw.ModelError as error:
        return {"seed": seed, "ratio": ratio, "refused": str(error)}
    model = sims["tree"].model
    found = {"seed": seed, "ratio": ratio, "loops": len(model.forest.closing), "redundant": sum(model.redundant.values()),
             "lacking": J.shape[0] - int(np.sum(singular > 1e-9 * singular[0])) if J.size else 0}  # fmt: skip
    return found | (shared(sims) if model.redundant else compared(sims))


def shared(sims):
    """Errors where rows are redundant: accelerations of least squares, multipliers of least norm. The latter are found by
    themselves: where masses differ by 1e6, rounding of large accelerations would lengthen them."""
    found = {}
    for name in ELIMINATIONS:
        if name not in sims:
            continue
        sim = sims[name]
        accelerations(sim)
        (H, r), x, n = assembled(sim), solution(sim), sim.model.velocities
        exact = np.linalg.lstsq(H, r, rcond=1e-10)[0]
        exact[n:] = np.linalg.lstsq(H[n:, :n].T, r[:n] - H[:n, :n] @ exact[:n], rcond=1e-10)[0]
        found[name] = forward_error(x, exact, n)
        found["consistent"] = float(np.abs(H @ exact - r).max() / np.abs(r).max())
    return {"shared": found}


def remembered(make):
    """`make` of a kernel, once for each key: many worlds have nodes of the same few kinds."""
    known = {}
    return lambda kernel, pointer: known.get(kernel.key) or known.setdefault(kernel.key, make(kernel, pointer))


if __name__ == "__main__":
    stacking.Evaluator = compiler.Evaluator = remembered(stacking.Evaluator)
    begin, end, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for seed in range(begin, end):
        print(json.dumps(judged(seed, **options)), flush=True)
