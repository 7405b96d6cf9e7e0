"""sim.matrices: derivatives against finite differences, identities with what a simulation tells, on all kinds and solvers."""

import copy

import numpy as np
import pytest

import linkwork as lw
from tests.oracles import kkt
from tests.simulation.matrix_oracles import SOLVERS, close, moved, reads, simulation, slope, stirred
from tests.simulation.worlds import zoo
from tests.solvers.forests import forest
from tests.symbolic import pairs

PAIRS = [("rigid", "rigid"), ("rigid", "scalable"), ("affine", "planar"), ("planar", "Lagrangian"), ("particle", "rigid"),
         ("scalable", "planar particle"), ("ground", "rigid"), ("ground", "affine"), ("Lagrangian", "rigid")]  # fmt: skip


def some_pairs(name, count=3):
    """Pairs of kinds that a constraint takes, another choice for each constraint."""
    start = list(pairs.CONSTRAINTS).index(name) % len(PAIRS)
    wanted = [("ground", b) for _, b in PAIRS] if name in pairs.UNARY else PAIRS
    order = [PAIRS[0] if name not in pairs.UNARY else ("ground", "rigid"), *wanted[start:], *wanted[:start]]
    taken = [kinds for kinds in dict.fromkeys(order) if not isinstance(pairs.verdict(name, kinds), str)]
    assert taken, name
    return taken[:count]


CASES = [(name, kinds) for name in pairs.CONSTRAINTS for kinds in some_pairs(name)]


@pytest.mark.parametrize(("name", "kinds"), CASES)
def test_derivatives_of_every_constraint(name, kinds):
    world, _ = pairs.build(name, kinds)
    sim = simulation(world, "fronts")
    stirred(sim, seed=len(name), speed=0.5)
    m = sim.matrices
    linear = np.array([row.level == "position" for row in m.rows]) | ("(points)" not in name)
    at_position = [row.level == "position" for row in m.rows]
    close(slope(sim, lambda m: m.C)[at_position], m.Cdot[at_position], 1e-8)
    v, known = reads(sim, sim.velocity, sim.angular_velocity)
    close(m.v[known], v[known], 1e-14)
    asked = m.Cdot - m.J @ m.v  # C_t, whatever the velocities are
    stirred(sim, seed=99)
    other = sim.matrices
    close((other.J - m.J).toarray()[linear], 0.0, 1e-14)
    close((other.Cdot - other.J @ other.v)[linear], asked[linear], 1e-13, np.abs(m.Cdot).max())
    J = slope(sim, lambda m: m.J.toarray())
    close(other.Jdot.toarray(), J, 1e-8)
    acceleration = sim.acceleration, sim.angular_acceleration
    a, known = reads(sim, *acceleration)
    found = other.solve().acceleration
    close(found[known], a[known], 1e-9)
    close(other.J @ found, -other.bias, 1e-11, np.abs(other.bias).max())


@pytest.mark.parametrize("name", ["Ball", "Hinge", "Distance", "PointOnCurve (own coordinate)", "Tangent", "Gear", "Slider"])
def test_the_bias_is_the_rate_of_j_times_v_where_time_is_not_spoken_of(name):
    sim = simulation(pairs.build(name, ("rigid", "rigid"))[0])
    stirred(sim, seed=3)
    m = sim.matrices
    close(m.Jdot @ m.v, m.bias, 1e-11)


def checked(sim, relative=1e-9):
    """All identities of one simulation."""
    m = sim.matrices
    found = m.solve()
    right = np.concatenate([m.forces, -m.bias])
    x = np.concatenate([found.acceleration, -found.multipliers])
    scale = np.abs(m.KKT).sum(axis=1).max() * np.abs(x).max()
    assert np.abs(m.KKT @ x - right).max() <= 1e-12 * max(scale, np.abs(right).max())
    acceleration, known = reads(sim, sim.acceleration, sim.angular_acceleration)
    close(found.acceleration[known], acceleration[known], relative)
    for name, rows in m.constraints.items():
        close(found.multipliers[rows], sim.reaction(name).generalised, relative, np.abs(found.multipliers).max())
    assert np.array_equal(m.M.toarray(), m.M.toarray().T)
    kinetic = 0.5 * m.v @ m.M @ m.v
    rotors = sum(0.5 * e.inertia * sim.rate(e.joint) ** 2 for e in sim.world.constraints if isinstance(e, lw.Armature))
    assert kinetic + rotors == pytest.approx(sim.energy().kinetic, rel=1e-12, abs=1e-12)
    return m


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(8))
def test_identities_of_random_trees(solver, seed):
    sim = simulation(forest(seed), solver)
    if not sim.model.redundant:  # such rows contradict each other at velocities that they do not allow
        stirred(sim, seed)
    checked(sim)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_identities_of_random_loops(solver, seed):
    sim = simulation(forest(seed + 40, kinds=("rigid", "scalable", "particle"), loops=2), solver)
    checked(sim, 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_identities_of_a_zoo_in_motion(solver):
    sim = simulation(zoo(), solver, dt=2e-3)
    sim.step(20)
    checked(sim)


@pytest.mark.parametrize(("solver", "integrator"), [("aba", "joint-rk4"), ("ltdl", "joint-euler"), ("tree", "joint-rk4")])
def test_identities_in_joint_coordinates(solver, integrator):
    sim = simulation(lw.scenes.get("double-pendulum"), solver, integrator=integrator)
    sim.step(50)
    checked(sim)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_right_side_against_a_dense_solution_in_extended_precision(solver):
    sim = simulation(forest(9, kinds=("rigid", "affine", "particle")), solver)
    assert not sim.model.redundant and len(sim.model.nodes) > 3
    m, rng = sim.matrices, np.random.default_rng(0)
    for _ in range(3):
        f, b = rng.normal(size=len(m.columns)), rng.normal(size=len(m.rows))
        exact = kkt.solve(m.KKT.toarray(), np.concatenate([f, b])).astype(float)
        found = m.solve(f, b)
        close(np.concatenate([found.acceleration, -found.multipliers]), exact, 1e-9)


@pytest.mark.parametrize("solver", ["tree", "fronts", "dense", "cg"])
def test_redundant_rows_share_with_least_norm(solver):
    sim = simulation(lw.scenes.get("four-bars"), solver)
    m = checked(sim, 1e-7)
    b = np.random.default_rng(1).normal(size=len(m.rows))  # contradicts itself
    found, J = m.solve(np.zeros(len(m.columns)), b), m.J.toarray()
    close(J @ found.acceleration, J @ np.linalg.lstsq(J, b, rcond=1e-9)[0], 1e-7)
    shortest = np.linalg.lstsq(J.T, m.M @ found.acceleration, rcond=1e-9)[0]
    close(found.multipliers, shortest, 1e-6)


@pytest.mark.parametrize("solver", ["tree", "fronts", "dense", "cg"])
def test_rotors_are_a_diagonal(solver):
    world = lw.World(gravity=(0, 0, -10))
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), angular_velocity=(0, 2, 0), name="arm"))
    axle = world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Armature(axle, 0.7, name="rotor"))
    sim = simulation(world, solver)
    m = checked(sim)
    assert m.E[m.constraints["rotor"]].tolist() == [1 / 0.7] and m.rows[m.constraints["rotor"].start].level == "rotor"
    assert m.solve().acceleration[4] == pytest.approx(10 / (1.1 + 0.7), rel=1e-12)
    assert m.H.toarray() == pytest.approx(np.array([[1.8]]))


def test_a_constraint_that_names_its_force_makes_the_matrix_unsymmetric():
    world = lw.World(gravity=(0, 0, -10))
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    wheel = world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), position=(1, 0, 0), name="wheel"))
    for at, a, b in (((0, 0, 0), world.ground, arm), ((1, 0, 0), arm, wheel)):
        world.add(lw.Hinge(a, b, at=at, axis=(0, 1, 0)))
    world.add(lw.Constraint(arm, wheel, lambda a, w, t: a.point((1, 0, 0))[2], name="level",
                            force=lambda a, w, t: w.spin((0, 1, 0)) - a.spin((0, 1, 0))))  # fmt: skip
    sim = simulation(world, "anticipation")
    m = checked(sim)
    rows = m.constraints["level"]
    assert m.P[rows].toarray().tolist() == [[0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0]]
    assert not np.allclose(m.P[rows].toarray(), m.J[rows].toarray())
    assert m.solve().multipliers[rows] == pytest.approx([20.0])


def test_contact_counts_with_its_mean_of_the_last_step():
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05), name="box"))
    world.add(lw.Contact())
    sim = simulation(world)
    close(sim.matrices.forces, [0, 0, -20, 0, 0, 0], 1e-12)
    sim.step(10)
    close(sim.matrices.forces, np.zeros(6), 1e-6)


def test_h_is_the_mass_matrix_in_joint_velocities():
    world = lw.World()
    before, names = world.ground, []
    for k, make in enumerate((lw.Hinge, lw.Ball, lw.Slider, lw.Universal)):
        body = world.add(lw.RigidBody(1.0 + k, (0.1, 0.2, 0.15), position=(k, 0, 0.1 * k), com=(0.1, 0, 0.05), name=f"link{k}"))
        axes = {lw.Ball: {}, lw.Universal: {"first": (1, 0, 0), "second": (0, 1, 0)}}.get(make, {"axis": (0, 1, 0.5)})
        names.append(world.add(make(before, body, at=(k - 0.5, 0, 0), **axes, name=f"joint{k}")).name)
        before = body
    world.add(lw.RigidBody(3.0, (1, 2, 3), position=(0, 5, 0), name="free"))
    sim = simulation(world)
    sim.step(20)
    m = sim.matrices
    assert [(c.of, c.unit) for c in m.freedoms] == [
        ("joint0", "rad/s"), *[("joint1", "rad/s")] * 3, ("joint2", "m/s"), *[("joint3", "rad/s")] * 2,
        *[("free", "m/s")] * 3, *[("free", "rad/s")] * 3]  # fmt: skip
    q = lw.reduced.from_bodies(m.tree, [sim.position(b) for b in m.bodies], [sim.orientation(b) for b in m.bodies]).q
    S = np.array([lw.reduced.velocities(m.tree, q, qd).ravel() for qd in np.eye(m.tree.nv)]).T
    close(m.H.toarray(), S.T @ m.M.toarray() @ S, 1e-12)
    assert m.H.nnz < m.H.shape[0] ** 2
    with pytest.raises(lw.ModelError):
        _ = simulation(lw.scenes.get("slider-crank")).matrices.H


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_response_is_what_a_wrench_changes(solver):
    def accelerations(**given):
        world = zoo(velocity_forces=False)
        if given:
            world.add(lw.Wrench("rod", **given))
        sim = simulation(world, solver)
        return sim.matrices, reads(sim, sim.acceleration, sim.angular_acceleration)

    force, torque, at = (1.0, -2.0, 3.0), (0.1, 0.3, -0.2), (0.1, 0.2, -0.3)
    m, (before, known) = accelerations()
    _, (after, _) = accelerations(force=force, torque=torque, at=at)
    close(m.response("rod", force, torque, at).acceleration[known], (after - before)[known], 1e-8)


def test_forces_on_bodies_of_every_kind():
    """Their power is that of the force on the moving point."""
    world = lw.World()
    for number, kind in enumerate(k for k in pairs.KINDS if k != "ground"):
        body = copy.copy(pairs.body(lw.World(), kind, np.array([number, 0.0, 0.0]), "a"))
        body.name = kind
        world.add(body)
    sim = simulation(world)
    stirred(sim, seed=1)
    m, f = sim.matrices, np.array([0.3, -0.7, 1.1])
    for body in world.bodies:
        at = (0.0, 0.0, 0.0) if "article" in type(body).__name__ else (0.2, 0.0, -0.1)
        velocity = slope_of_point(sim, body, at)
        assert m.force(body, f, at=at) @ m.v == pytest.approx(f @ velocity, rel=1e-7)
    assert m.force("rigid", torque=f) @ m.v == pytest.approx(f @ sim.angular_velocity("rigid"))
    assert m.force("planar", torque=f) @ m.v == pytest.approx(f @ sim.angular_velocity("planar"))
    with pytest.raises(lw.LinkworkError, match='^Matrices: Particle "particle" has no angular velocity, so that a torque '):
        m.force("particle", torque=f)


def slope_of_point(sim, body, at, h=1e-5):
    before, places = sim.state, []
    for step in (h, -h):
        state = moved_state(sim, step)
        sim.state = state
        places.append(sim.point(body, at))
        sim.state = before
    return (places[0] - places[1]) / (2 * h)


def moved_state(sim, h):
    before = sim.state
    found = []
    moved(_Catching(sim, found), h)
    sim.state = before
    return found[0]


class _Catching:
    """A simulation that notes the first state that it is given."""

    def __init__(self, sim, found):
        vars(self).update(_sim=sim, _found=found)

    def __getattr__(self, name):
        return getattr(self._sim, name)

    def __setattr__(self, name, value):
        if name == "state":
            self._found.append(value.copy())
        setattr(self._sim, name, value)


@pytest.mark.parametrize("solver", SOLVERS)
def test_asking_changes_nothing(solver):
    quiet, asked = (simulation(zoo(), solver) for _ in range(2))
    for _ in range(5):
        quiet.step(2)
        m = asked.matrices
        m.solve()
        m.response("rod", (1, 0, 0))
        asked.step(2)
        assert quiet.state.values.tobytes() == asked.state.values.tobytes()
        assert m.elimination.order.shape and m.Jdot.shape == m.J.shape


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_stays_as_it_was(solver):
    sim, twin = (simulation(zoo(), solver) for _ in range(2))
    early = sim.matrices
    wanted = twin.matrices
    solution = wanted.solve()
    sim.step(10)
    sim.acceleration("rod")
    assert np.array_equal(early.J.toarray(), wanted.J.toarray())
    found = early.solve()
    assert np.array_equal(found.acceleration, solution.acceleration)
    assert np.array_equal(found.multipliers, solution.multipliers)
    assert np.array_equal(early.force("rod", (1, 2, 3), at=(1, 0, 0)), wanted.force("rod", (1, 2, 3), at=(1, 0, 0)))


def test_names_and_order():
    world = lw.World()
    b = world.add(lw.PlanarBody(1.0, 0.1, name="b"))
    a = world.add(lw.ScalableBody(1.0, (0.1, 0.1, 0.1), name="a"))
    world.add(lw.LagrangianBody(lambda u: ((u[0], u[1], 0),), (1.0,), coordinates=(0, 0), name="c"))
    world.add(lw.Ball(b, a, at=(0, 0, 0), name="one"))
    world.add(lw.Ball(world.ground, b, at=(0, 0, 0), name="two"))
    world.add(lw.PointOnPlane(b, a, normal=(1, 0, 0), name="three"))  # between the same bodies as the first
    m = simulation(world).matrices
    assert [str(c) for c in m.columns] == [
        "b: velocity x, m/s", "b: velocity z, m/s", "b: angle, rad/s", *(f"a: velocity {c}, m/s" for c in "xyz"),
        *(f"a: angular velocity {c}, rad/s" for c in "xyz"), *(f"a: stretch {c}, 1/s" for c in "xyz"),
        "c: rate 0", "c: rate 1"]  # fmt: skip
    assert [str(r) for r in m.rows] == ["one[0]", "one[1]", "one[2]", "two[0]", "two[2]", "three[0]"]
    assert list(m.constraints) == ["one", "two", "three"] and m.bodies["a"] == slice(3, 12)
    assert m.J[m.constraints["two"], m.bodies["b"]].toarray().tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(("solver", "seed"), [(solver, seed) for solver in SOLVERS for seed in (1, 2, 43)])
def test_the_order_of_elimination_says_where_factors_fill(solver, seed):
    sim = simulation(forest(seed, kinds=("rigid", "particle"), loops=2 * (seed > 40)), solver)
    m = sim.matrices
    order = m.elimination
    count = len(m.rows) - sum(m.constraints[name].stop - m.constraints[name].start for name in order.left_out)
    assert len(order.order) == len(set(order.order)) == len(m.columns) + count
    assert all(parent == -1 or parent > k for k, parent in enumerate(order.parents))
    assert all(order.parents[k] == min(later, default=-1) for k, later in enumerate(order.later))
    K, allowed = m.KKT.toarray() != 0, {}
    for k, rows in enumerate(order.rows):  # by hand: the graph of what is left
        others = {j for j in range(k + 1, len(order.rows)) if K[np.ix_(rows, order.rows[j])].any()}
        assert others <= set(order.later[k])
        allowed[k] = others
        for i in order.later[k]:
            for j in order.later[k]:
                K[np.ix_(order.rows[i], order.rows[j])] = True


def test_refusals():
    m = simulation(lw.scenes.get("pendulum")).matrices
    with pytest.raises(lw.LinkworkError, match="^Matrices: forces is .*; give 6 finite numbers, in the order of its names$"):
        m.solve(forces=np.zeros(5))
    with pytest.raises(lw.LinkworkError, match="^Matrices: rows is .*; give 5 finite numbers"):
        m.solve(rows=np.full(5, np.nan))
    with pytest.raises(lw.UnknownNameError, match='^Matrices: no body is called "rad"; did you mean "rod"'):
        m.force("rad", (1, 0, 0))
    with pytest.raises(lw.LinkworkError, match='^Stages: the solver "tree" assembles and eliminates in one go; '):
        m.stages.eliminate()


@pytest.mark.parametrize("solver", ["fronts", "anticipation"])
def test_stages_make_a_solve(solver):
    sim = simulation(lw.scenes.get("chain"), solver)
    m, rng = sim.matrices, np.random.default_rng(0)
    f, b = rng.normal(size=len(m.columns)), rng.normal(size=len(m.rows))
    stages, wanted = m.stages, m.solve(f, b)
    stages.reset(f, b)
    stages.eliminate()
    stages.backward()
    first = stages.solution
    close(first, np.concatenate([wanted.acceleration, -wanted.multipliers]), 1e-8)
    stages.reset(factored=True)
    stages.reset(f, b, factored=True)
    stages.backward()
    assert np.array_equal(stages.solution, first)
    assert stages.nothing.arithmetic == 0 < stages.forward.arithmetic < stages.eliminate.arithmetic
    before = sim.state.values.tobytes()
    stages.whole()
    assert sim.state.values.tobytes() == before
