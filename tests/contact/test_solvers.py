"""The solvers of the contact problem: the law on random problems, slow twins, classic truths, what rests stays."""

import math

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from scipy.optimize import nnls

from linkwork.codegen.jit import INTERPRETED
from linkwork.contact.block_factors import connect, factor, factors, find, order, solve
from linkwork.contact.gauss_seidel import gauss_seidel
from linkwork.contact.one_contact import one_contact
from linkwork.contact.pivoting import pivot_dense, pivot_workspace, pivoting
from linkwork.contact.problem import CONVERGED, INCONSISTENT, TOO_SMALL, Problem, law_residual, workspace
from linkwork.contact.proximal import proximal, proximal_workspace
from linkwork.contact.unit_mass import dense, prepare
from tests.contact.boxes import GRAVITY, pile, stack, wall
from tests.contact.random_problems import all_planar_solutions, copied, law_violation, random_problem, response

FEW = 10 if INTERPRETED else 100
ROOM = dict(slots=4, groups=4, contacts=8, responses=36 * 16, widest=4)
PIVOT, PROXIMAL, PLAIN = pivot_workspace(**ROOM), proximal_workspace(**ROOM), workspace(**ROOM)
SOLVERS = {
    "pivoting": lambda problem: pivoting(problem, PIVOT, 1e-11),
    "proximal": lambda problem: proximal(problem, PROXIMAL, 1e-10, 300),
    "gauss_seidel": lambda problem: gauss_seidel(problem, PLAIN, 1e-10, 3000),
}
KINDS = {
    "free": dict(),
    "without friction": dict(mu=0.0),
    "duplicated": dict(duplicates=2),
    "duplicated without friction": dict(duplicates=3, mu=0.0),
    "planar": dict(planar=True),
    "rough": dict(slots=3, contacts=2, mu=50.0),
    "too many": dict(slots=2, contacts=8, mu=0.2),
    "too many without friction": dict(slots=1, contacts=8, mu=0.0),
    "jointed": dict(jointed=True, contacts=3),
}
MAY_MISS = {("jointed", "pivoting"): 1, ("jointed", "proximal"): 1, ("jointed", "gauss_seidel"): 1, ("free", "gauss_seidel"): 2,
            ("rough", "proximal"): 1, ("rough", "gauss_seidel"): 1, ("duplicated", "gauss_seidel"): 2}  # fmt: skip  # of a hundred


def one_body(mass, inertia, arm, u, mu, target=(0.0, 0.0, 0.0)):
    """One free body and one contact with the ground at `arm` from its centre; normal z, tangents x and y."""
    frame = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    R = np.diag([1 / mass] * 3 + [1 / inertia] * 3)
    J = np.concatenate([frame, np.cross(arm, frame)], axis=1)[None]
    return Problem(np.array([u], dtype=float), np.zeros(1, np.int32), np.ones(1, np.int32), np.zeros(1, np.int64), R.ravel(),
                   np.full(1, -1, np.int32), np.zeros(1, np.int32), np.zeros((1, 3, 6)), J, np.array([float(mu)]),
                   np.array([target], dtype=float), np.zeros((1, 3)), np.zeros(1), np.full(1, -1))  # fmt: skip


def test_one_contact_meets_the_law():
    rng = np.random.default_rng(1)
    worst = 0.0
    for case in range(20 * FEW):
        L = rng.normal(size=(3, 3 if case % 3 else 2))
        D, q, mu = L @ L.T, rng.normal(size=3), rng.choice([0.0, 0.1, 0.5, 1.0, 3.0])
        if case % 3 == 0:
            q = D @ rng.normal(size=3)
        f = np.array(one_contact(D, *q, mu, *rng.normal(size=2)))
        scale = np.trace(D) / 3
        worst = max(worst, law_residual(*f, *(D @ f + q), mu, scale) / (np.abs(q).max() + scale * np.abs(f).max()))
    assert worst < 1e-9


def test_one_contact_without_response():
    assert one_contact(np.zeros((3, 3)), -1.0, 0.3, 0.0, 0.5, 0.0, 0.0) == (0.0, 0.0, 0.0)
    D = np.diag([2.0, 0.0, 0.0])  # a rope, a stop: only the normal row
    assert one_contact(D, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0) == (0.5, 0.0, 0.0)
    f = one_contact(np.diag([2.0, 0.0, 1.0]), -1.0, 3.0, 0.0, 0.5, 0.0, 0.0)  # slip that nothing can stop
    assert f == pytest.approx((0.5, -0.25, 0.0))


@pytest.mark.parametrize("jointed", [False, True])
def test_coordinates_of_unit_mass_give_the_same_matrix(jointed):
    rng = np.random.default_rng(2)
    for _ in range(FEW // 4):
        problem = random_problem(rng, jointed=jointed)
        W, q = np.zeros((15, 15)), np.zeros(15)
        assert prepare(problem, PLAIN, False)
        dense(problem, PLAIN, W, q)
        R, J = response(problem)
        assert np.allclose(W, J @ R @ J.T, atol=1e-11) and np.allclose(q, J @ problem.u.ravel(), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SOLVERS)
def test_law_holds_on_random_problems(name, kind):
    missed = 0
    for seed in range(FEW):
        problem = random_problem(np.random.default_rng(seed), **KINDS[kind])
        solved = copied(problem)
        status, iterations, residual = SOLVERS[name](solved)
        R, J = response(problem)
        assert np.allclose(
            solved.u.ravel(),
            problem.u.ravel() + R @ J.T @ solved.impulse.ravel(),
            atol=1e-9 * (1 + np.abs(solved.impulse).max()),
        )
        if status == CONVERGED:
            assert residual <= 1e-10
            assert law_violation(J @ R @ J.T, J @ problem.u.ravel(), problem.mu, solved.impulse) < 1e-7
        missed += status != CONVERGED
    assert missed <= MAY_MISS.get((kind, name), 0)


@pytest.mark.parametrize("name", SOLVERS)
def test_frictionless_impulses_solve_the_quadratic_programme(name):
    """min 1/2 f W f + q f, f >= 0 is the nearest point of a cone: nonnegative least squares. Velocities are unique, impulses need not be."""
    worst = 0.0
    for seed in range(FEW):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, slots=3, contacts=8, mu=0.0, duplicates=seed % 3)
        R, J = response(problem)
        L = np.linalg.cholesky(R)
        f, _ = nnls((J[::3] @ L).T, -np.linalg.solve(L, problem.u.ravel()))
        SOLVERS[name](solved := copied(problem))
        worst = max(worst, np.abs(J @ (solved.u.ravel() - problem.u.ravel() - R @ J[::3].T @ f)).max())
    assert worst < 1e-7


def test_pivoting_finds_a_solution_that_enumeration_finds():
    for seed in range(FEW // 2):
        rng = np.random.default_rng(seed)
        contacts = 1 + seed % 4
        problem = random_problem(rng, slots=4, contacts=contacts, planar=True, mu=rng.uniform(0, 1))
        R, J = response(problem)
        rows = [3 * k + i for k in range(contacts) for i in range(2)]
        W, q = (J @ R @ J.T)[np.ix_(rows, rows)], (J @ problem.u.ravel())[rows]
        assert pivoting(problem, PIVOT, 1e-11)[0] == CONVERGED
        found = all_planar_solutions(W, q, problem.mu)
        assert any(np.allclose(problem.impulse, f, atol=1e-8) for f in found)


def test_squeezed_between_what_does_not_move():
    """Floor and ceiling close on a body faster than it can leave: no impulses help, and every solver says so."""
    body = one_body(1.0, 0.4, (0, 0, 0), (0, 0, 0, 0, 0, 0), mu=0.0, target=(1.0, 0, 0))
    twice = [np.repeat(array, 2, axis=0) for array in [*body][5:]]
    problem = Problem(*[*body][:5], *twice)
    problem.Jb[1] *= -1.0
    assert pivoting(copied(problem), PIVOT, 1e-10)[0] == INCONSISTENT
    for name in ("proximal", "gauss_seidel"):
        status, _, residual = SOLVERS[name](solved := copied(problem))
        assert status == INCONSISTENT if name == "proximal" else status != CONVERGED and residual > 0.1
        assert np.isfinite(solved.impulse).all()


def test_immovable_bodies_take_no_part():
    reached = 0
    for seed in range(FEW // 2):
        problem = random_problem(np.random.default_rng(seed), immovable=True, mu=0.3)
        for name in SOLVERS:
            status, _, residual = SOLVERS[name](solved := copied(problem))
            assert np.isfinite(solved.impulse).all() and np.array_equal(solved.u[0], problem.u[0])
            reached += status == CONVERGED
    assert reached > FEW


@pytest.mark.parametrize("name", SOLVERS)
def test_sphere_slips_and_then_rolls(name):
    mass, radius, mu, v0, dt = 2.0, 0.3, 0.25, 3.0, 1e-3
    u, rolls = np.array([v0, 0, 0, 0, 0, 0]), math.inf
    for step in range(1200):
        problem = one_body(mass, 0.4 * mass * radius**2, (0, 0, -radius), u - GRAVITY * dt * np.eye(6)[2], mu)
        assert SOLVERS[name](problem)[0] == CONVERGED
        u = problem.u[0]
        if abs(u[0] - radius * u[4]) < 1e-9:
            rolls = min(rolls, step * dt)
    assert u[0] == pytest.approx(5 / 7 * v0, rel=1e-9)
    assert rolls == pytest.approx(2 * v0 / (7 * mu * GRAVITY), abs=2 * dt)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("angle", [0.0, 0.3, 0.8, 1.2])
def test_rod_strikes_the_floor(name, angle):
    mass, length, speed, e = 1.7, 0.9, 2.0, 0.6
    arm = -0.5 * length * np.array([math.cos(angle), 0, math.sin(angle)])
    problem = one_body(mass, mass * length**2 / 12, arm, (0, 0, -speed, 0, 0, 0), 0.0, target=(e * speed, 0, 0))
    assert SOLVERS[name](problem)[0] == CONVERGED
    assert problem.impulse[0, 0] == pytest.approx(mass * speed * (1 + e) / (1 + 3 * math.cos(angle) ** 2), rel=1e-10)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("mu", [0.2, 0.7])
def test_incline(name, mu):
    for tangent in (0.5 * mu, 0.999 * mu, 1.001 * mu, 2 * mu):
        tilt, dt = math.atan(tangent), 0.01
        down = GRAVITY * dt * np.array([math.sin(tilt), 0, -math.cos(tilt), 0, 0, 0])
        problem = one_body(3.0, 1.0, (0, 0, 0), down, mu)
        assert SOLVERS[name](problem)[0] == CONVERGED
        slides = max(0.0, GRAVITY * dt * (math.sin(tilt) - mu * math.cos(tilt)))
        assert problem.u[0, 0] == pytest.approx(slides, abs=1e-9)


@pytest.mark.parametrize("angle", [0.7, 1.0, 1.2])
def test_painleves_rod(angle):
    """A rod that slides on one end: beyond mu = (1 + 3 cos^2) / (3 sin cos) the floor has no force for it, one way round."""
    mass, half = 1.0, 0.5
    rx, rz, inertia = -half * math.cos(angle), -half * math.sin(angle), mass * half**2 / 3
    W = np.array(
        [
            [1 / mass + rx * rx / inertia, -rx * rz / inertia, 0],
            [-rx * rz / inertia, 1 / mass + rz * rz / inertia, 0],
            [0, 0, 1 / mass],
        ]
    )
    q, f = np.array([-GRAVITY, 0.0, 0.0]), np.zeros(3)
    limit = (1 + 3 * math.cos(angle) ** 2) / (3 * math.sin(angle) * math.cos(angle))
    for mu, way, expected in ((0.99 * limit, -1, CONVERGED), (1.01 * limit, -1, INCONSISTENT), (1.01 * limit, 1, CONVERGED)):
        slip = np.array([[float(way), 0.0]])
        status, pivots, residual = pivot_dense(W, q, np.array([mu]), slip, f, PIVOT, 1e-9)
        assert status == expected
        if expected == CONVERGED:
            assert f[1] == pytest.approx(-way * mu * f[0]) and (W @ f + q)[0] == pytest.approx(0.0, abs=1e-9)


def _watch(scene, steps, tolerance=1e-6):
    bodies, contacts = len(scene.x), len(scene.a)
    work = proximal_workspace(bodies, bodies, contacts, 36 * bodies)
    return [scene.step(1 / 240, lambda problem: proximal(problem, work, tolerance, 60)) for _ in range(steps)]


RESTING = {
    "heavy on light": lambda: stack(3 if INTERPRETED else 20, heaviest_on_top=100.0),
    "wall": lambda: wall(2, 2) if INTERPRETED else wall(5, 8),
    "pyramid": lambda: pile(np.random.default_rng(0), 2 if INTERPRETED else 4),
}


@pytest.mark.parametrize("name", RESTING)
def test_what_rests_stays(name):
    scene = RESTING[name]()
    reports = _watch(scene, 6 if INTERPRETED else 120)
    assert all(status == CONVERGED for status, _, _ in reports)
    assert scene.drift() < 1e-5
    weight = GRAVITY / 240 * scene.masses.sum()
    assert scene.impulse[scene.a < 0, 0].sum() == pytest.approx(weight, rel=1e-3)
    assert np.mean([steps for _, steps, _ in reports[len(reports) // 6 :]]) < 6


def test_stack_slides_as_one():
    """Friction slows the lowest box, and has enough left above to slow the others alike."""
    scene, mu, steps = stack(3, friction=0.3), 0.3, 3 if INTERPRETED else 24
    scene.v[:, 0] = 1.0
    assert all(status == CONVERGED for status, _, _ in _watch(scene, steps, 1e-8))
    assert np.allclose(scene.v[:, 0], 1.0 - mu * GRAVITY * steps / 240, atol=1e-5)


def test_same_bits_whatever_the_workspace_did_before():
    problems = [random_problem(np.random.default_rng(seed)) for seed in range(4)]
    for name, fresh in (("proximal", lambda p: proximal(p, proximal_workspace(**ROOM), 1e-10, 300)),
                        ("gauss_seidel", lambda p: gauss_seidel(p, workspace(**ROOM), 1e-10, 3000)),
                        ("pivoting", lambda p: pivoting(p, pivot_workspace(**ROOM), 1e-11))):  # fmt: skip
        for problem in problems:
            SOLVERS[name](one := copied(problem))
            fresh(other := copied(problem))
            assert np.array_equal(one.impulse, other.impulse) and np.array_equal(one.u, other.u)


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("name", ["proximal", "gauss_seidel"])
def test_iterations_allocate_nothing(name):
    """Arrays that are handed over from Python are counted as allocations, so the number is that of the arguments, whatever happens inside."""
    _nrt_python.memsys_enable_stats()
    scene = wall(3, 3)
    bodies, contacts = len(scene.x), len(scene.a)
    work = proximal_workspace(bodies, bodies, contacts, 36 * bodies)
    solver, scratch = (proximal, work) if name == "proximal" else (gauss_seidel, work.base)
    counts = set()
    for iterations in (1, 5, 20):
        problem = copied(scene.problem(1 / 240))
        before = rtsys.get_allocation_stats().alloc
        solver(problem, scratch, 1e-9, iterations)
        counts.add(rtsys.get_allocation_stats().alloc - before)
    assert len(counts) == 1


def test_a_good_guess_costs_nothing():
    problem = random_problem(np.random.default_rng(3), contacts=4, mu=0.4)
    for name in ("proximal", "gauss_seidel"):
        SOLVERS[name](first := copied(problem))
        again = copied(problem)
        again.impulse[:] = first.impulse
        assert SOLVERS[name](again)[1] == 0
        assert np.allclose(again.u, first.u, atol=1e-13)


def test_small_workspaces_are_refused():
    problem = random_problem(np.random.default_rng(0))
    before = copied(problem)
    assert gauss_seidel(problem, workspace(4, 4, 4, 144), 1e-6, 10)[0] == TOO_SMALL
    assert pivoting(problem, pivot_workspace(4, 4, 4, 144), 1e-6)[0] == TOO_SMALL
    assert proximal(problem, proximal_workspace(4, 4, 4, 144), 1e-6, 10)[0] == TOO_SMALL
    assert all(np.array_equal(one, other) for one, other in zip(problem, before, strict=True))
    scene = wall(2, 2)  # more contacts than freedoms, so that factors over bodies are made
    problem, n = scene.problem(1 / 240), len(scene.x)
    before = copied(problem)
    small = proximal_workspace(n, n, len(scene.a), 36 * n, panels=36)
    assert proximal(problem, small, 1e-6, 10)[0] == TOO_SMALL
    assert all(np.array_equal(one, other) for one, other in zip(problem, before, strict=True))
    panels = int(small.over.factors.state[2])
    assert proximal(problem, proximal_workspace(n, n, len(scene.a), 36 * n, panels=panels), 1e-6, 100)[0] == CONVERGED


def test_no_contacts():
    problem = random_problem(np.random.default_rng(0))
    empty = Problem(*[*problem][:5], *(array[:0] for array in [*problem][5:]))
    for name in SOLVERS:
        status, iterations, residual = SOLVERS[name](empty)
        assert status == CONVERGED and residual == 0.0


@pytest.mark.parametrize("symmetric", [True, False])
def test_factors_over_groups(symmetric):
    rng = np.random.default_rng(5)
    for _ in range(FEW // 5):
        groups = int(rng.integers(1, 90))
        rank = rng.integers(0, 8, groups)
        y_at = np.concatenate([[0], np.cumsum(rank)])
        F = factors(groups, y_at[-1] + 1, 200000)
        H = np.eye(y_at[-1])
        for g, h in rng.integers(0, groups, (2 * groups, 2)):
            if g != h:
                connect(F.graph, g, h)
                J = np.zeros((3, y_at[-1]))
                J[:, y_at[g] : y_at[g + 1]] = rng.normal(size=(3, rank[g]))
                J[:, y_at[h] : y_at[h + 1]] = rng.normal(size=(3, rank[h]))
                H += J.T @ (100 * np.eye(3) + (0 if symmetric else 50 * np.triu(rng.normal(size=(3, 3)), 1))) @ J
        assert order(F, groups, rank)
        for panels, matrix in ((F.upper, H), (F.lower, H.T if not symmetric else np.full(H.shape, np.nan))):
            for p in range(groups):
                g, width = F.turn[p], F.width[p]
                panel = panels[F.panel_at[p] : F.panel_at[p + 1]].reshape(rank[g], width)
                panel[:, : rank[g]] = matrix[y_at[g] : y_at[g + 1], y_at[g] : y_at[g + 1]]
                for i in range(F.later[p], F.later[p + 1]):
                    assert find(F, p, F.neighbours[i]) == i
                    h = F.turn[F.neighbours[i]]
                    panel[:, F.offset[i] : F.offset[i] + rank[h]] = matrix[y_at[g] : y_at[g + 1], y_at[h] : y_at[h + 1]]
        b = rng.normal(size=y_at[-1])
        F.x[: len(b)] = b
        assert factor(F, groups, rank, symmetric)
        solve(F, groups, rank, y_at)
        assert np.allclose(H @ F.x[: len(b)], b, atol=1e-8)
