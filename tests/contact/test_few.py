"""Newton's method on the law itself, as steps use it: random problems, piles of redundant contacts, room on demand."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.elimination import ROW, SIZE, eliminate
from linkwork.contact.problem import Problem
from linkwork.contact.proximal import proximal, proximal_workspace
from linkwork.contact.solver import MOST, SOLVE, run_solver
from tests.contact.random_problems import copied, law_violation, random_problem, response


def settle(problem, work, tolerance, fallen):
    """As steps solve: (factorisations, residual, what will do)."""
    outcome = np.zeros(4)
    assert run_solver(problem, work, outcome, SOLVE, tolerance, fallen)
    return outcome[:3].tolist()


KINDS = {
    "free": {},
    "jointed": {"jointed": True},
    "repeated": {"duplicates": 2},
    "without friction": {"mu": 0.0},
    "rough": {"mu": 1.0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_moves_is_solved_finely_if_few_contacts_press(kind):
    """Of a hundred random problems of five contacts, nearly all as exactly as is asked for; of the others that is told."""
    solved = 0
    for seed in range(100):
        problem = random_problem(np.random.default_rng(seed), **KINDS[kind])
        given = copied(problem)
        work = proximal_workspace(len(problem.u), len(problem.first), len(problem.mu), len(problem.R), len(problem.u))
        factorisations, residual, enough = settle(problem, work, 1e-9, 1e-3)
        R, J = response(given)
        W, q = J @ R @ J.T, J @ given.u.ravel()
        assert np.allclose(problem.u.ravel(), given.u.ravel() + R @ J.T @ problem.impulse.ravel(), atol=1e-9)
        assert factorisations <= 100
        if residual <= enough:
            assert law_violation(W, q, given.mu, problem.impulse) < 20 * enough
            solved += 1
    assert solved >= 99


def test_the_same_start_gives_the_same_bits():
    found = []
    for _ in range(2):
        problem = random_problem(np.random.default_rng(7), contacts=8, jointed=True)
        work = proximal_workspace(len(problem.u), len(problem.first), 8, len(problem.R), len(problem.u))
        settle(problem, work, 1e-9, 1e-3)
        found.append(problem.impulse.copy())
    assert np.array_equal(*found)


def test_what_is_known_of_a_problem_changes_nothing():
    """Blocks that are kept from one problem to the next give the bits of those that are made anew."""
    found = []
    for known in (0, 1):
        problem = random_problem(np.random.default_rng(3), contacts=7, jointed=True)
        work = proximal_workspace(len(problem.u), len(problem.first), 7, len(problem.R), len(problem.u))
        start = problem.u.copy()
        settle(problem, work, 1e-9, 1e-3)
        problem.u[:], problem.target[:, 0] = 1.1 * start, 0.01
        work.base.known[0] = known
        settle(problem, work, 1e-9, 1e-3)
        found.append(problem.impulse.copy())
    assert np.array_equal(*found)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13, 36, 71, 72])
def test_elimination_finds_what_lapack_finds(n):
    """Matrices with nothing on their diagonals, too; and one that has no inverse is told."""
    rng, room = np.random.default_rng(n), np.zeros((SIZE, ROW))
    x, inverse, place, swapped = np.zeros(ROW), np.zeros(ROW), np.zeros(ROW, dtype=np.int64), np.zeros(ROW, dtype=np.int64)
    for kind in ("positive", "any", "hollow"):
        if kind == "hollow" and n == 1:
            continue
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A = A @ A.T + np.eye(n) if kind == "positive" else A
        if kind == "hollow":
            np.fill_diagonal(A, 0.0)
        room[:] = 0.0
        room[:n, :n], room[:n, n] = A, b
        assert eliminate(room.ravel(), x, inverse, place, swapped, n)
        assert np.abs(A @ x[:n] - b).max() < 1e-9 * np.linalg.cond(A)
    room[:] = 0.0
    room[: n - 1, : n - 1] = np.eye(n - 1)
    assert not eliminate(room.ravel(), x, inverse, place, swapped, n)


def rows_alone(rng, contacts, duplicates=0):
    """A random problem of rows without tangents: bounds and dry friction, hard ones and such that yield, from some impulses."""
    problem = random_problem(rng, contacts=contacts, jointed=rng.random() < 0.7, mu=0.0, duplicates=duplicates)
    problem.Ja[:, 1:], problem.Jb[:, 1:] = 0.0, 0.0
    angles = rng.random(contacts) < 0.5
    for J in (problem.Ja, problem.Jb):
        J[angles, 0, :3] = 0.0
    problem.mu[:] = np.where(rng.random(contacts) < 0.3, -rng.exponential(0.3, contacts), 0.0)
    problem.compliance[:] = np.where(rng.random(contacts) < 0.3, rng.exponential(0.3, contacts), 0.0)
    problem.target[:, 0] = np.where(problem.mu == 0.0, rng.normal(scale=0.3, size=contacts), 0.0)
    problem.impulse[:, 0] = np.where(rng.random(contacts) < 0.5, rng.exponential(size=contacts), 0.0)
    return problem


@pytest.mark.parametrize("contacts", [1, 2, 6, 12, 24, 26])
def test_rows_without_tangents_obey_their_law(contacts):
    """Bounds: f >= 0, c >= 0, one of them zero; dry friction: |f| <= bound, at the bound against the motion; c + E f of what yields.
    The law is that of a convex problem: what obeys it is its solution."""
    solved = 0
    for seed in range(60):
        rng = np.random.default_rng([contacts, seed])
        problem = rows_alone(rng, contacts, duplicates=seed % 3 if contacts > 5 else 0)
        given, work = copied(problem), proximal_workspace(4, 4, contacts, 36 * 16, 4)
        _, residual, enough = settle(problem, work, 1e-10, 1e-3)
        R, J = response(given)
        assert np.allclose(problem.u.ravel(), given.u.ravel() + R @ J.T @ problem.impulse.ravel(), atol=1e-8)
        f, low = problem.impulse[:, 0], given.mu
        c = (J @ problem.u.ravel())[::3] - given.target[:, 0] + given.compliance * f
        if residual > enough:  # more rows than freedoms, with targets that contradict each other
            assert contacts > 5
            continue
        bounded, dry, off = given.mu == 0.0, given.mu < 0.0, max(1e-7, 20 * enough)
        solved += residual <= 1e-10
        assert np.all(f[bounded] >= 0) and np.all(c[bounded] > -off) and np.all(np.minimum(f, np.abs(c))[bounded] < off)
        assert np.all(np.abs(f[dry]) <= -low[dry] + off)
        slips = dry & (np.abs(c) > off)
        assert np.allclose(f[slips], low[slips] * np.sign(c[slips]), atol=off)
    assert solved >= (55 if contacts <= 12 else 20)  # to the tolerance, others as well as will do


def table(feet):
    """A slab on many feet, more than it needs, of which each has four corners."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    slab = world.add(lw.RigidBody(10.0, (1.0, 1.0, 2.0), position=(0, 0, 0.55), velocity=(0.4, 0.1, 0), name="slab"))
    world.add(lw.Collider(slab, lw.Box(1.2, 1.2, 0.1)))
    for k in range(feet):
        at = 0.5 * np.array([np.cos(2 * np.pi * k / feet), np.sin(2 * np.pi * k / feet), 0])
        foot = world.add(
            lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.5), position=at + np.array((0, 0, 0.25)), velocity=(0.4, 0.1, 0))
        )
        world.add(lw.Weld(slab, foot))
    world.add(lw.Contact(friction=0.6))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "shake"])
def test_what_slides_to_rest_on_more_contacts_than_it_needs_comes_to_the_tolerance(integrator):
    """Twelve to 24 contacts that do not determine their forces: solved as said on the way, and to 1e-6 m/s once it stands."""
    for feet in (3, 5, 6):
        sim = lw.Simulation(table(feet), dt=1 / 240, integrator=integrator)
        for _ in range(60):
            sim.step()
            assert sim.contact_report().residual < 5e-3
        sim.step(240)
        place = sim.position("slab")
        sim.step(480)
        report = sim.contact_report()
        assert report.converged and report.residual < 1e-6
        assert len(sim.contacts()) == 4 * feet and np.abs(sim.position("slab") - place).max() < 1e-6
        weight = sim.contacts().forces[:, 2].sum()
        assert weight == pytest.approx(9.81 * (10 + feet), rel=1e-5)


def heap():
    """Boxes that fall onto each other: far more contacts than there is room for as built."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(12):
        turn = np.array([1.0, 0.3 * (k % 3), 0.2 * (k % 2), 0.1])
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.1), position=(0.15 * (k % 2), 0.15 * (k % 3), 0.3 + 0.15 * k),
                               orientation=turn / np.linalg.norm(turn), name=f"box{k}"))  # fmt: skip
    world.add(lw.Contact(friction=0.5))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "shake", "euler", "backward-euler"])
def test_stages_find_room_on_the_way(integrator):
    """A compiled run asks for room in the middle of a step, and has the bits of one that had it from the beginning."""
    solver = "implicit" if integrator == "backward-euler" else "tree"
    one, other = (lw.Simulation(heap(), dt=2e-3, solver=solver, integrator=integrator) for _ in range(2))
    other.integrator.contact._make_room(2000, 100_000, 100_000)
    one.step(300)
    other.step(300)
    assert len(one.contacts()) > 16 and np.array_equal(one.state.values, other.state.values)


def test_what_cannot_be_made_room_for_is_raised_where_the_step_was_asked_for(monkeypatch):
    sim = lw.Simulation(heap(), dt=2e-3)

    def full(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(sim.integrator.contact, "_make_room", full)
    with pytest.raises(MemoryError, match="no room"):
        sim.step(300)


def test_a_rag_doll_tumbles_down_the_stairs_at_240_steps_a_second():
    """Light hands spin fast: `shake` holds the joints all the way, overlaps little, and ends at the foot of the stairs."""
    sim = lw.Simulation(lw.scenes.get("rag-doll-on-stairs"), dt=1 / 240, integrator="shake")
    begun, deepest = sim.energy().total, 0.0
    for _ in range(480):
        sim.step()
        deepest = max(deepest, sim.contact_report().penetration)
    assert sim.drift() < 1e-9 and deepest < 0.01
    assert sim.energy().total < begun and sim.position("pelvis")[2] < 0.0


@pytest.mark.parametrize("contacts", [3, 12, 30])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_the_solver_returns_whatever_it_is_given(contacts, value):
    """Sweeps that gained a third of an infinite residual, which is infinite, went on for ever."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, contacts=contacts, jointed=seed % 2 == 0)
        where = (problem.u, problem.target, problem.R, problem.impulse)[seed % 4].reshape(-1)
        where[rng.integers(len(where))] = value
        if seed % 3 == 0:  # rows without tangents
            problem.mu[:], problem.Ja[:, 1:], problem.Jb[:, 1:] = 0.0, 0.0, 0.0
        work = proximal_workspace(len(problem.u), len(problem.first), len(problem.mu), len(problem.R), len(problem.u))
        factorisations, residual, enough = settle(problem, work, 1e-9, 1e-3)
        assert factorisations <= MOST and not np.isnan(residual)


@pytest.mark.parametrize("compliance", [0.0, 0.3, 50.0])
def test_a_row_that_yields_gives_way_by_its_compliance(compliance):
    """A sliding particle of 2 kg meets the floor: v + f / m = -E f, and friction is mu f."""
    one, none, J = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros((1, 3, 6))
    J[0, 0, 2] = J[0, 1, 0] = J[0, 2, 1] = 1.0
    problem = Problem(u=np.array([[9.0, 0, -1, 0, 0, 0]]), first=one, size=one + 1, at=np.zeros(1, dtype=np.int64),
                      R=np.diag([0.5, 0.5, 0.5, 0, 0, 0]).ravel(), slot_a=none, slot_b=one, Ja=np.zeros((1, 3, 6)), Jb=J,
                      mu=np.array([0.5]), target=np.zeros((1, 3)), impulse=np.zeros((1, 3)), compliance=np.full(1, compliance),
                      follows=np.full(1, -1))  # fmt: skip
    status, _, residual = proximal(problem, proximal_workspace(1, 1, 1, 36), 1e-12, 50)
    pressed = 1.0 / (0.5 + compliance)
    assert status == 0 and residual <= 1e-12
    assert np.allclose(problem.impulse, [[pressed, -0.5 * pressed, 0]], rtol=1e-10)
    assert np.isclose(problem.u[0, 2], -compliance * pressed, atol=1e-11)
