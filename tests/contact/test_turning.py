"""Friction against spinning and rolling: the law on random problems with a slow twin, closed forms, energy, what it is refused on."""

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen.jit import INTERPRETED
from linkwork.contact.gauss_seidel import gauss_seidel
from linkwork.contact.problem import CONVERGED, Problem, workspace
from linkwork.contact.proximal import proximal, proximal_workspace
from tests.contact.random_problems import copied, law_violation, random_problem, response

FEW = 10 if INTERPRETED else 300
ROOM = dict(slots=12, groups=12, contacts=120, responses=36 * 100, widest=4)
PROXIMAL, PLAIN = proximal_workspace(**ROOM, panels=100_000), workspace(**ROOM)
G = 9.81


def turning_problem(rng, contacts, **kind):
    """A random problem of which each contact has companions: none, one about the normal, one about the tangents, or both."""
    problem = random_problem(rng, contacts=contacts, **kind)
    follows, rows = list(problem.follows), [[a[k] for a in [*problem][5:-1]] for k in range(contacts)]
    for turn in (0, 1):
        for lead in np.flatnonzero(rng.random(contacts) < 0.7):
            slot_a, slot_b, Ja, Jb, *_ = rows[lead]
            frame = (Jb if np.abs(Jb).any() else -Ja)[:, :3]
            far = rng.uniform(0.05, 1.0)
            companion = np.zeros((3, 6))
            companion[1:, 3:] = far * (np.array([frame[0], np.zeros(3)]) if turn == 0 else frame[1:])
            rows.append(
                [slot_a, slot_b, -companion * (slot_a >= 0), companion, rng.uniform(0.01, 1), np.zeros(3), np.zeros(3), 0.0]
            )
            follows.append(lead)
    columns = [np.ascontiguousarray(np.array(column)) for column in zip(*rows, strict=True)]
    columns[:2] = [column.astype(np.int32) for column in columns[:2]]
    return Problem(*[*problem][:5], *columns, np.array(follows))


def violation(problem, f):
    """The law read aloud, of contacts and of companions."""
    R, J = response(problem)
    W, q, leads = J @ R @ J.T, J @ problem.u.ravel(), problem.follows < 0
    c = (W @ f.ravel() + q).reshape(-1, 3)
    of_leads = np.flatnonzero(np.repeat(leads, 3))
    worst = law_violation(W[np.ix_(of_leads, of_leads)], c.ravel()[of_leads] - W[np.ix_(of_leads, of_leads)] @ f[leads].ravel(),
                          problem.mu[leads], f[leads])  # fmt: skip
    for k in np.flatnonzero(~leads):
        bound, couple, turning = problem.mu[k] * f[problem.follows[k], 0], np.linalg.norm(f[k, 1:]), np.linalg.norm(c[k, 1:])
        against = np.linalg.norm(turning * f[k, 1:] + bound * c[k, 1:]) / (1 + turning)
        worst = max(worst, couple - bound, against, abs(f[k, 0]))
    return worst


def slow(problem, sweeps=20_000, tolerance=1e-12):
    """Projected Gauss-Seidel with the steps of Uzawa: impulses (m, 3), or None where it does not settle."""
    R, J = response(problem)
    W, q, f = J @ R @ J.T, J @ problem.u.ravel(), np.zeros((len(problem.mu), 3))
    steps = [1.0 / max(np.linalg.eigvalsh(W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3])[-1], 1e-9) for k in range(len(f))]
    for _ in range(sweeps):
        change = 0.0
        for k, lead in enumerate(problem.follows):
            rows = slice(3 * k, 3 * k + 3)
            z = f[k] - steps[k] * (W[rows] @ f.ravel() + q[rows])
            z[0] = max(z[0], 0.0) if lead < 0 else 0.0
            bound, length = problem.mu[k] * (z[0] if lead < 0 else f[lead, 0]), np.linalg.norm(z[1:])
            z[1:] *= bound / length if length > bound else 1.0
            change = max(change, np.abs(z - f[k]).max() / steps[k])
            f[k] = z
        if change <= tolerance:
            return f
    return None


@pytest.mark.parametrize("kind", [dict(), dict(jointed=True), dict(mu=0.0), dict(slots=10)])
def test_law_holds_on_random_problems(kind):
    missed = 0
    for seed in range(FEW):
        rng = np.random.default_rng(seed)
        problem = turning_problem(rng, int(rng.integers(1, 5)) if not kind.get("slots") else 24, **kind)
        solved = copied(problem)
        status, _, residual = proximal(solved, PROXIMAL, 1e-10, 300)
        R, J = response(problem)
        assert np.allclose(solved.u.ravel(), problem.u.ravel() + R @ J.T @ solved.impulse.ravel(), atol=1e-8)
        if status == CONVERGED:
            assert residual <= 1e-10 and violation(problem, solved.impulse) < 1e-7
        missed += status != CONVERGED
    assert missed <= 0.01 * FEW


def test_as_a_slow_twin_has_it():
    other = settled = 0
    for seed in range(FEW // 3):
        rng = np.random.default_rng(seed)
        problem = turning_problem(rng, 1 + seed % 3, mu=0.3)
        twin = slow(problem)
        if twin is None:
            continue
        settled += 1
        assert violation(problem, twin) < 1e-9
        R, J = response(problem)
        wanted = problem.u.ravel() + R @ J.T @ twin.ravel()
        for solve in (lambda p: proximal(p, PROXIMAL, 1e-11, 300), lambda p: gauss_seidel(p, PLAIN, 1e-11, 3000)):
            solved = copied(problem)
            assert solve(solved)[0] == CONVERGED
            other += not np.allclose(solved.u.ravel(), wanted, atol=1e-7)
    assert settled > 0.9 * (FEW // 3) and other <= 0.02 * settled


EVERY = pytest.mark.parametrize("solver, integrator", [
    ("tree", "rattle"), ("tree", "shake"), ("fronts", "euler"), ("implicit", "backward-euler"), ("aba", "joint-euler"),
    ("ltdl", "joint-implicit"),
])  # fmt: skip


def ball(velocity=0.0, spin=0.0, slope=0.0, radius=0.1, **options):
    """A ball that rolls along x on a plane, which leans by a slope (rad) down along x."""
    world = lw.World(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(2.0, shape=lw.Sphere(radius), position=(0, 0, radius), velocity=(velocity, 0, 0),
                           angular_velocity=(0, velocity / radius, spin), name="ball"))  # fmt: skip
    world.add(lw.Contact(friction=0.6, **options))
    return world


@EVERY
@pytest.mark.parametrize("soft", [dict(), dict(stiffness=2e5, damping=50.0)])
def test_a_ball_rolls_to_a_stop(solver, integrator, soft):
    """Of the couple c N, with a = alpha r: (m + I / r^2) a = -c N / r, so a = -c g / (1.4 r)."""
    sim = lw.Simulation(ball(velocity=0.5, rolling=0.02, **soft), dt=1e-3, solver=solver, integrator=integrator)
    slowing = 0.02 * G / (1.4 * 0.1)
    sim.step(200)
    assert np.isclose(sim.velocity("ball")[0], 0.5 - 0.2 * slowing, atol=2e-3 if soft else 1e-6)
    (point,) = sim.contacts()
    assert np.allclose(point.torque, (0, -0.02 * point.force[2], 0), atol=1e-3 * 2.0 * G * 0.02)
    assert sim.contact_report().converged and sim.contact_report().points == 1
    sim.step(300)
    assert np.abs(sim.velocity("ball")).max() < 1e-6 and np.abs(sim.angular_velocity("ball")).max() < 1e-5
    assert np.isclose(sim.position("ball")[0], 0.5**2 / (2 * slowing), atol=1e-3)


@EVERY
def test_on_a_slope_it_stays_up_to_the_angle_of_rolling(solver, integrator):
    """It rolls where m g r sin > c m g cos."""
    for part in (0.99, 1.01):
        slope = np.arctan(part * 0.02 / 0.1)
        sim = lw.Simulation(ball(slope=slope, rolling=0.02), dt=1e-3, solver=solver, integrator=integrator)
        sim.step(500)
        rolls = max(0.0, (np.sin(slope) - 0.2 * np.cos(slope)) * G / 1.4 * 0.5)
        assert np.isclose(sim.velocity("ball")[0], rolls, rtol=1e-4, atol=1e-7) and (rolls > 1e-3) == (part > 1)


@EVERY
def test_a_spinning_ball_stops_by_torsion(solver, integrator):
    """I dw/dt = -c m g."""
    sim = lw.Simulation(ball(spin=5.0, torsion=0.004), dt=1e-3, solver=solver, integrator=integrator)
    slowing = 0.004 * G / (0.4 * 0.1**2)
    sim.step(300)
    assert np.allclose(sim.angular_velocity("ball"), (0, 0, 5.0 - 0.3 * slowing), atol=1e-6)
    sim.step(int(1000 * 5.0 / slowing) - 300)
    assert sim.angular_velocity("ball")[2] > 0.0
    sim.step(2)
    assert np.abs(sim.angular_velocity("ball")).max() < 1e-6


def test_couples_act_on_both():
    """Two balls that are pressed together in free space come to spin as one: their angular momentum stays."""
    world = lw.World(gravity=(0, 0, 0))
    for k, spin in enumerate((6.0, 0.0)):
        world.add(lw.RigidBody(1.0 + k, shape=lw.Sphere(0.1), position=(0.2 * k, 0, 0), angular_velocity=(spin, 0, 0),
                               name=f"ball{k}"))  # fmt: skip
        world.add(lw.Force(f"ball{k}", lambda b, t, way=1 - 2 * k: (20.0 * way, 0, 0)))
    world.add(lw.Contact(friction=0.5, torsion=0.003))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(100)
    one, other = (sim.angular_velocity(f"ball{k}")[0] for k in range(2))
    assert np.isclose(one, 6.0 - 0.1 * 0.003 * 20.0 / 0.004) and np.isclose(other, 0.1 * 0.003 * 20.0 / 0.008)
    sim.step(400)
    assert np.allclose(sim.angular_velocity("ball0"), sim.angular_velocity("ball1"), atol=1e-9)
    assert np.isclose(sim.angular_velocity("ball0")[0], 6.0 * 0.004 / (0.004 + 0.008))


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_energy_falls(integrator):
    for seed in range(2 if INTERPRETED else 6):
        rng = np.random.default_rng(seed)
        world = lw.World()
        world.add(lw.Collider(world.ground, lw.Plane(), friction=0.5, torsion=0.02, rolling=0.01, name="floor"))
        for k in range(5):
            shape = (lw.Sphere(0.1), lw.Capsule(0.05, 0.1), lw.Cylinder(0.1, 0.05))[k % 3]
            world.add(lw.RigidBody(1.0, (2e-3, 3e-3, 4e-3), position=(0.3 * k, 0, 0.15), velocity=(*rng.normal(size=2), 0),
                                   angular_velocity=5 * rng.normal(size=3), name=f"b{k}"))  # fmt: skip
            world.add(lw.Collider(f"b{k}", shape, friction=0.5, torsion=0.02, rolling=0.01, name=f"c{k}"))
        world.add(lw.Contact())
        sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
        energies = [sim.energy().total]
        for _ in range(60):
            sim.step(10)
            energies.append(sim.energy().total)
        assert np.diff(energies).max() < 1e-4 * energies[0]


def test_without_inertia_couples_are_forces():
    """A ball that is turned on a floor by a couple, where velocities follow forces: I w = M - c F, and none while M <= c F."""
    for couple, turning in ((0.201, (0.201 - 0.01 * 20.0) / 0.004), (0.199, 0.0)):
        world = lw.World(gravity=(0, 0, 0))
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(0, 0, 0.1), name="ball"))
        world.add(lw.Wrench("ball", force=(0, 0, -20.0), torque=(0, 0, couple)))
        world.add(lw.Contact(friction=0.5, torsion=0.01))
        sim = lw.Simulation(world, dt=1e-2, integrator="first-order")
        sim.step(5)
        assert np.allclose(sim.angular_velocity("ball"), (0, 0, turning), atol=1e-8)


def test_restored_states_go_on_with_the_same_bits():
    sim = lw.Simulation(ball(velocity=0.5, spin=3.0, rolling=0.01, torsion=0.002))
    sim.step(50)
    state, other = sim.state, pickle.loads(pickle.dumps(sim))
    sim.step(50)
    wanted = sim.state
    for again in (sim, other):
        again.state = state
        again.step(50)
        assert np.array_equal(again.velocity("ball"), sim.velocity("ball"))
        assert np.array_equal(again.state.values, wanted.values)


def test_recordings_keep_couples(tmp_path):
    rec = lw.Simulation(ball(velocity=0.5, rolling=0.02)).run(0.1, record_every=0.05)
    rec.save(tmp_path / "run.npz")
    for kept in (rec, lw.Recording.load(tmp_path / "run.npz")):
        assert np.allclose(kept.contacts(-1).torques, [(0, -0.02 * 2.0 * G, 0)], atol=1e-6)


def test_what_colliders_and_rules_say():
    """A pair has the geometric mean of its colliders, unless the rule names it; the last rule counts."""
    for of_rule, wanted in ((dict(), np.sqrt(0.01 * 0.04)), (dict(torsion=0.003), 0.003), (dict(torsion=0.0), 0.0)):
        world = lw.World()
        world.add(lw.Collider(world.ground, lw.Plane(), torsion=0.01, name="floor"))
        world.add(lw.RigidBody(2.0, (0.01, 0.01, 0.01), position=(0, 0, 0.1), angular_velocity=(0, 0, 9), name="ball"))
        world.add(lw.Collider("ball", lw.Sphere(0.1), torsion=0.04))
        world.add(lw.Contact(**of_rule))
        sim = lw.Simulation(world)
        sim.step(10)
        assert np.isclose(sim.contacts()[0].torque[2], -wanted * 2.0 * G)


def test_what_cannot_be_is_refused_by_name():
    for wrong, text in (
        (lambda: lw.Contact(torsion=-0.1), "torsion is -0.1"),
        (lambda: lw.Contact(rolling=-0.1, name="rule"), 'Contact "rule": rolling is -0.1'),
        (lambda: lw.Collider("a", lw.Sphere(1.0), torsion=float("nan")), "torsion is nan"),
        (lambda: lw.Collider("a", lw.Sphere(1.0), rolling="much"), "rolling is"),
    ):
        with pytest.raises(lw.ElementError, match=text):
            wrong()
    with pytest.raises(lw.ModelError, match="on the level of accelerations takes none"):
        lw.Simulation(ball(rolling=0.01), solver="anticipation", integrator="euler")
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    arms = world.add(lw.double_pendulum((1.0, 0.6), (1.0, 0.7), name="arms"))
    world.add(lw.Collider(arms, lw.Sphere(0.05), position=arms.point(1), name="bob"))
    world.add(lw.Contact(torsion=0.1, name="rule"))
    with pytest.raises(lw.ModelError, match='Contact "rule": torsion is 0.1, and points of LagrangianBody "arms" do not turn'):
        lw.Simulation(world)
