"""What is printed, what is right, and a number for each. `table()` is the list; every function below it is one
demonstration and returns (error as printed, error put right), relative to the answer of dense LAPACK."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.appendix import Node, accelerations, factor, hang, join, solve
from papers.baraff96.forests import dense, mass, nodes_of, random_forest, whole
from papers.baraff96.matrices import System

FORESTS = 200
RATIOS = (1.0, 1e2, 1e4, 1e6)  # mass of the last link over the others'


@dataclass(frozen=True)
class Erratum:
    place: str
    printed: str
    right: str
    error_printed: float | str
    error_right: float | str


def off(found, expected):
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def table(forests=FORESTS):
    return [
        Erratum("App. A, solve(b)", "starts from +b", "start from -b: as printed it returns -lambda",
                *sign_of_the_appendix(forests)[:2]),
        Erratum("eq. (8) has -J, (9) and App. A have +J", "-J or +J", "either: only y changes its sign",
                *sign_of_J()),
        Erratum("8.1, response of the primary constraints", "A lambda = +J M^-1 k", "-J M^-1 k, as in 8.2 step 3",
                *sign_of_the_response()),
        Erratum("7.2, 7.3, densesolve and sparsesolve", "x_i -= H_ij^T x_j, j < i", "H_ji^T: the factor is above",
                *index_of_the_factor()),
        Erratum("App. A, factor, at a body node", "n.J = J_pq^T, p the body, q the constraint", "n.J = (J_qp)^T",
                *block_of_a_body_node()),
        Erratum("7.3, `if i != n`", "only the last node has no parent", "`parent != NULL`: every tree has a root",
                *roots_of_a_forest()),
        Erratum("5, density of A", "(j_i1) M_1 (j_j1^T)", "(j_i1) M_1^-1 (j_j1^T)", *block_of_A()),
        Erratum("3, collisions", "dv = m j", "m dv = j", *impulse()),
    ]  # fmt: skip


def sign_of_the_appendix(forests=FORESTS):
    """(printed, right, printed against -lambda): medians over random forests, checked against A lambda = b; then the
    worst of `right`."""
    rng, errors = np.random.default_rng(1), []
    for _ in range(forests):
        nodes, forward = random_forest(rng)
        if not any(n.isconstraint for n in nodes):
            continue
        M, J, place = dense(nodes)
        b = rng.normal(size=len(J))
        expected = np.linalg.solve(J @ np.linalg.solve(M, J.T), b)
        factor(forward)
        given = {n.i: b[place[n]] for n in nodes if n.isconstraint}
        printed, right = (_stacked(solve(forward, given, as_printed=p)) for p in (True, False))
        errors.append((off(printed, expected), off(right, expected), off(-printed, expected)))
    return *(float(x) for x in np.median(errors, axis=0)), float(np.max(errors, axis=0)[1])


def _stacked(parts):
    return np.concatenate([parts[k] for k in sorted(parts)])


def _example(seed=2):
    """(M, J, rng) of one random forest with constraints."""
    rng = np.random.default_rng(seed)
    while True:
        nodes, _ = random_forest(rng)
        if sum(n.isconstraint for n in nodes) >= 4:
            return *dense(nodes)[:2], rng


def sign_of_J():
    """How far lambda is off with -J and with +J in H."""
    M, J, rng = _example()
    b = rng.normal(size=len(J))
    expected = np.linalg.solve(J @ np.linalg.solve(M, J.T), b)
    right = np.concatenate([np.zeros(len(M)), -b])
    return tuple(off(np.linalg.solve(whole(M, s * J), right)[len(M) :], expected) for s in (-1.0, 1.0))


def sign_of_the_response():
    """|J M^-1 (J^T lambda + k)| over |J M^-1 k|: the response may not violate the constraints."""
    M, J, rng = _example()
    k = rng.normal(size=len(M))
    violated = J @ np.linalg.solve(M, k)
    A = J @ np.linalg.solve(M, J.T)
    found = [J @ np.linalg.solve(M, J.T @ np.linalg.solve(A, sign * violated) + k) for sign in (1.0, -1.0)]
    return tuple(float(np.abs(f).max() / np.abs(violated).max()) for f in found)


def index_of_the_factor():
    """densefactor and densesolve in blocks of 3, the lower triangle of H left as it was."""
    rng, n = np.random.default_rng(3), 9  # bodies 0, 2, 4, ... of a chain and the constraints between them
    H = {(i, j): np.zeros((3, 3)) for i in range(n) for j in range(n)}
    for i in range(n):
        if i % 2 == 0:
            H[i, i] = mass(rng, 3)
        if i + 1 < n:
            H[i, i + 1] = rng.normal(size=(3, 3))
            H[i + 1, i] = H[i, i + 1].T.copy()
    z = rng.normal(size=(n, 3))
    expected = np.linalg.solve(np.block([[H[i, j] for j in range(n)] for i in range(n)]), z.ravel())
    for i in range(n):
        for k in range(i):
            H[i, i] = H[i, i] - H[k, i].T @ H[k, k] @ H[k, i]
        for j in range(i + 1, n):
            for k in range(i):
                H[i, j] = H[i, j] - H[k, i].T @ H[k, k] @ H[k, j]
            H[i, j] = np.linalg.solve(H[i, i], H[i, j])

    def densesolve(block):
        x = z.copy()
        for i in range(n):
            for j in range(i):
                x[i] -= block(i, j).T @ x[j]
        for i in reversed(range(n)):
            x[i] = np.linalg.solve(H[i, i], x[i])
            for j in range(i + 1, n):
                x[i] -= H[i, j] @ x[j]
        return x.ravel()

    return off(densesolve(lambda i, j: H[i, j]), expected), off(densesolve(lambda i, j: H[j, i]), expected)


def block_of_a_body_node():
    """The six body nodes of figure 2 in the paper's order: how many get the block that couples them to their parent."""
    joins = {1: (1, 2), 2: (2, 3), 3: (2, 4), 4: (1, 5), 5: (5, 6)}  # constraint -> its two bodies, eq. (9)
    parent = {3: 2, 4: 3, 2: 1, 1: 4, 5: 5, 6: 5}  # body p -> the constraint q above it
    printed = sum(p == q for p, q in parent.items())  # J_pq, constraint p on body q, is J_qp only where p = q
    right = sum(p in joins[q] for p, q in parent.items())
    return f"{printed} of {len(parent)} blocks right", f"{right} of {len(parent)} right"


def roots_of_a_forest():
    """(roots that `if i != n` sends to a parent, the error of lambda with `if i has a parent`) in a forest of three trees."""
    rng = np.random.default_rng(7)
    while True:
        nodes, forward = random_forest(rng)
        roots = [n for n in forward if n.parent is None]
        if len(roots) == 3 and any(n.isconstraint for n in forward):
            break
    asked = sum(n is not forward[-1] and n.parent not in n.blocks for n in roots)
    M, J, place = dense(nodes)
    b = rng.normal(size=len(J))
    factor(forward)
    found = _stacked(solve(forward, {n.i: b[place[n]] for n in nodes if n.isconstraint}))
    return f"{asked} of {len(roots)} roots ask for a parent", off(found, np.linalg.solve(J @ np.linalg.solve(M, J.T), b))


def block_of_A():
    """Block (1, 2) of A for a star whose first body has a mass of 4."""
    rng = np.random.default_rng(4)
    hub, arms = Node(False, 0, 4.0 * mass(rng, 6)), [Node(False, k, mass(rng, 6)) for k in (1, 2)]
    joints = [Node(True, k) for k in (0, 1)]
    for joint, arm in zip(joints, arms, strict=True):
        join(joint, hub, rng.normal(size=(3, 6)))
        join(joint, arm, rng.normal(size=(3, 6)))
    M, J, _ = dense([hub, *arms, *joints])
    block = (J @ np.linalg.solve(M, J.T))[:3, 3:]
    left, right = joints[0].blocks[hub], joints[1].blocks[hub]
    return off(left @ hub.M @ right.T, block), off(left @ np.linalg.solve(hub.M, right.T), block)


def impulse():
    """A particle of 2 kg struck by 3 N s, simulated: how far m j, and j / m, are from the velocity that it gets."""
    m, j = 2.0, 3.0
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(m, name="struck"))
    sim = lw.Simulation(world)
    sim.strike("struck", impulse=(j, 0, 0))
    got = float(sim.velocity("struck")[0])
    return abs(m * j - got) / got, abs(j / m - got) / got


# -- footnote 8: "the matrices are always either positive or negative definite" ------------------------------------


def footnote_8():
    """Two models whose H is regular and well conditioned, and a pivot that is not definite in an order that the paper
    allows. For each: the condition of H, the pivot's eigenvalues in that order and in ours, and the error of `tree`."""
    hanging = System(structures.chain(3))
    puck = System(structures.ball_on_a_planar_body())
    bodies, constraints = nodes_of(hanging)
    leaf = _pivots(bodies[2], constraints[0])
    root = _pivots(constraints[0], constraints[0])
    first = _counterexample("a world joint as a leaf: a chain of 3 rooted at its last link", hanging, leaf, root)
    names = list(puck.matrices.bodies)
    bodies, constraints = nodes_of(puck)
    below = _pivots(bodies[names.index("arm")], constraints[0])
    above = _pivots(bodies[names.index("puck")], constraints[0])
    what = "three rows on a child that feels two: a ball between a rigid body (root) and a planar one"
    return [first, _counterexample(what, puck, below, above)]


def _pivots(root, joint):
    """Eigenvalues of the joint's pivot when the tree hangs on this root; elimination stops where one is singular."""
    forward = hang(root)
    try:
        factor(forward)
    except np.linalg.LinAlgError:
        pass
    return np.linalg.eigvalsh(joint.D)


def _counterexample(what, system, bad, good):
    b = np.random.default_rng(5).normal(size=system.rows)
    H = system.H.toarray()
    expected = np.linalg.solve(H, np.concatenate([np.zeros(system.velocities), -b]))[system.velocities :]
    J = system.J.toarray()
    return {
        "what": what,
        "rows": system.rows,
        "rank": int(np.linalg.matrix_rank(J)),
        "condition": float(np.linalg.cond(H)),
        "pivot": bad.tolist(),
        "pivot_reordered": good.tolist(),
        "error_of_linkwork": off(system.multipliers(b), expected),
    }


def near_footnote_8(scales=(1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)):
    """Two bodies and three rows, of which the third acts on one body by a block scaled down: errors of lambda with that
    body below the joint and above it (App. A), and of linkwork, which chooses its order itself."""
    found = []
    for scale in scales:
        system = System(structures.weak_row(scale))
        b = np.random.default_rng(6).normal(size=system.rows)
        A = system.A.toarray()
        bodies, constraints = nodes_of(system)
        below, above = (_literal(root, constraints[0], b, np.linalg.solve(A, b)) for root in bodies)
        found.append({
            "scale": scale, "condition of A": float(np.linalg.cond(A)), "below": below, "above": above,
            "linkwork": off(system.multipliers(b), np.linalg.solve(A, b)),
        })  # fmt: skip
    return found


def _literal(root, joint, b, expected):
    """The appendix's error with this root, for a system with one joint; "singular" where a pivot is."""
    forward = hang(root)
    try:
        factor(forward)
    except np.linalg.LinAlgError:
        return "singular"
    return off(solve(forward, {joint.i: b})[joint.i], expected)


# -- "no numerical adjustments": what explicit inverses cost ---------------------------------------------------------


def accuracy(links=50, ratios=RATIOS):
    """A crooked hanging chain with a heavy tip under gravity: relative errors of the accelerations."""
    rows = []
    for ratio in ratios:
        system = System(structures.chain(links, tip=ratio))
        H = system.H.toarray()
        right = np.concatenate([H[: system.velocities, : system.velocities] @ _gravity(links), np.zeros(system.rows)])
        expected = refined(H, right)[: system.velocities]
        _, constraints = nodes_of(system)
        forward = hang(constraints[0])
        factor(forward)
        F = {k: right[6 * k : 6 * k + 6] for k in range(links)}
        c = {k: np.zeros(3) for k in range(links)}
        parts, _ = accelerations(forward, F, c)
        literal = np.concatenate([parts[k] for k in range(links)])
        ours = system.solution(right)[: system.velocities]
        lapack = np.linalg.solve(H, right)[: system.velocities]
        rows.append({
            "ratio": ratio, "explicit inverse (App. A)": off(literal, expected),
            "LDL^T of blocks (linkwork)": off(ours, expected), "dense LU (LAPACK)": off(lapack, expected),
            "same order, no pivoting (SuperLU)": off(_same_order(system, right, 0.0), expected),
            "same order, pivoting (SuperLU)": off(_same_order(system, right, 1.0), expected),
        })  # fmt: skip
    return rows


def _same_order(system, right, threshold):
    """Accelerations by SuperLU in the tree's order: does the order cost digits, or that nothing is pivoted?"""
    order, x = system.order, np.empty(len(right))
    H = system.H[order][:, order].tocsc()
    options = {"SymmetricMode": threshold == 0.0}
    x[order] = splu(H, permc_spec="NATURAL", diag_pivot_thresh=threshold, options=options).solve(right[order])
    return x[: system.velocities]


def _gravity(links):
    return np.tile([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], links)


def refined(H, right, rounds=10):
    """LU, then iterative refinement with residuals in extended precision."""
    factors, wide = lu_factor(H), H.astype(np.longdouble)
    x = np.zeros(len(H), dtype=np.longdouble)
    for _ in range(rounds):
        x = x + lu_solve(factors, (right - wide @ x).astype(float))
    return x.astype(float)
