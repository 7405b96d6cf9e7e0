"""What is read of a simulation, by compiled readouts, against numpy: all kinds of bodies, joints and forces, all solvers."""

import copy
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.solvers import SOLVERS
from linkwork.engines.traits import PAIRS
from linkwork.simulation.body_points import point_jacobian
from linkwork.simulation.reactions import node_jacobians, solve_accelerations
from tests.oracles import reads
from tests.oracles.poses import bent
from tests.reduced.forests import random_state, random_world
from tests.simulation.worlds import zoo
from tests.solvers.forests import forest

CLOSE = 1e-14


def quietly(make, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return make(*given, **options)


def assert_close(found, expected, scale=CLOSE):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=scale * (1 + np.abs(expected).max(initial=0.0)))


def assert_read(sim):
    """Everything of bodies and joints, by name and as arrays."""
    expected = reads.poses(sim)
    assert_close(sim.positions, expected.position)
    assert_close(sim.orientations, expected.orientation)
    assert_close(sim.velocities, np.hstack([expected.velocity, expected.angular_velocity]))
    for k, body in enumerate(sim.world.bodies):
        for name in ("position", "orientation", "velocity", "angular_velocity", "frame"):
            assert_close(getattr(sim, name)(body), getattr(expected, name)[k])
    read = 0
    for joint in sim.world.constraints:
        if isinstance(joint, (lw.Hinge, lw.Slider, lw.Cylindrical, lw.Screw)):
            assert_close((sim.angle(joint), sim.rate(joint)), reads.coordinate(sim, joint))
            read += 1
    return read


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_worlds_of_all_kinds_are_read_as_numpy_says(first):
    kinds, joints = set(), 0
    for seed in range(first, first + 8):
        world = forest(seed, loops=seed % 2)
        sim = quietly(lw.Simulation, world)
        joints += assert_read(sim)
        sim.step(3)
        assert_read(sim)
        kinds |= {type(body).__name__ for body in world.bodies}
    assert joints > 3 and {"RigidBody", "AffineBody", "ScalableBody", "PlanarBody", "Particle"} <= kinds


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_reads_the_same_of_the_same_state(solver):
    world = quietly(lw.scenes.get, "chain", n=4)
    first = quietly(lw.Simulation, world)
    first.step(20)
    sim = quietly(lw.Simulation, world, solver=solver)
    sim.state = first.state
    assert_read(sim)
    assert_close(sim.q, first.q, 1e-12)
    assert_close(sim.qd, first.qd, 1e-11)
    assert sim.q_names == first.q_names
    sim.step()
    assert_read(sim)


def test_a_lagrangian_body_is_read():
    world = lw.World()
    places = np.array([(0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3), (0.2, 0.1, 0)])
    body = lw.LagrangianBody(
        bent, coordinates=(0.1, 0.2, 0.3, 0.1, 0.2), rates=(1, 2, 3, 0.4, 0.5), masses=[1.0] * 4, points=places
    )
    world.add(body)
    sim = lw.Simulation(world)
    sim.step(3)
    assert_read(sim)
    assert np.array_equal(sim.q, sim.coordinates(body)) and np.array_equal(sim.qd, sim.rates(body))
    solve_accelerations(sim._system)
    assert_close(sim.acceleration(body), reads.accelerations(sim, 0)[0])


def test_turns_are_counted_where_they_are_read():
    world = lw.World(gravity=(0, 0, 0))
    wheel = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 30), name="wheel"))
    world.add(lw.Cylindrical(world.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    sim = lw.Simulation(world)
    for _ in range(50):
        sim.step(20)
        assert sim.angle("axle") == pytest.approx(30 * sim.time, rel=1e-9)
        assert sim.q[0] == sim.angle("axle") and sim.q[1] == sim.travel("axle")


def test_a_travel_is_asked_of_what_travels():
    world = lw.World(gravity=(0, 0, -10))
    lift = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="lift"))
    world.add(lw.Slider(world.ground, lift, at=(0, 0, 0), axis=(0, 0, 1), name="rail"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    world.add(lw.Hinge("lift", "arm", at=(0, 0, 0), axis=(0, 1, 0), name="elbow"))
    sim = lw.Simulation(world)
    sim.step(10)
    assert sim.travel("rail") == sim.angle("rail") == sim.position("lift")[2] < 0
    with pytest.raises(lw.LinkworkError, match='Hinge "elbow": it does not travel; ask for its angle'):
        sim.travel("elbow")


# -- coordinates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_coordinates_of_trees_are_those_of_reduced(seed):
    world = random_world(seed)
    tree = lw.reduced.compile(world)
    q, qd, _ = random_state(tree, seed)
    sim = quietly(lw.Simulation, world)
    sim.set_state(q=q, qd=qd)
    for found, expected, names, unit in ((sim.q, q, sim.q_names, "quaternion"), (sim.qd, qd, sim.qd_names, "none")):
        assert len(found) == len(expected) == len(names)
        turned = np.array([name.what.startswith(unit) for name in names], dtype=bool)
        assert_close(found[~turned], expected[~turned], 1e-13)
        assert_close(np.abs(found[turned]), np.abs(expected[turned]), 1e-13)
    back = lw.reduced.from_bodies(tree, sim.positions, sim.orientations, sim.velocities)
    assert_close(sim.qd, back.qd, 1e-13)
    assert_close(np.abs(sim.q), np.abs(back.q), 1e-13)
    assert [name.of for name in sim.q_names if name.what == "quaternion w"] == [
        link.element.name for link in tree.links if link.kind.nq >= 4]  # fmt: skip


def test_names_say_what_each_entry_is():
    world = lw.World()
    sled = world.add(lw.RigidBody(1.0, (1, 1, 1), name="sled"))
    world.add(lw.Slider(world.ground, sled, at=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="arm"))
    world.add(lw.Universal(sled, "arm", at=(1, 0, 0), name="cross"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(3, 0, 0), name="stone"))
    world.add(lw.PlanarParticle(1.0, (0, 0), name="bead"))
    sim = lw.Simulation(world)
    assert [str(name) for name in sim.q_names] == [
        "rail: travel, m", "cross: angle about the first axis, rad", "cross: angle about the second axis, rad",
        *(f"stone: position {c}, m" for c in "xyz"), *(f"stone: quaternion {c}, 1" for c in "wxyz"),
        "bead: position x, m", "bead: position z, m"]  # fmt: skip
    assert [str(name) for name in sim.qd_names] == [
        "rail: travel, m/s", "cross: angle about the first axis, rad/s", "cross: angle about the second axis, rad/s",
        *(f"stone: velocity {c}, m/s" for c in "xyz"), *(f"stone: angular velocity {c}, rad/s" for c in "xyz"),
        "bead: velocity x, m/s", "bead: velocity z, m/s"]  # fmt: skip
    assert len(sim.q) == len(sim.q_names) and len(sim.qd) == len(sim.qd_names)


def test_a_loop_has_the_coordinates_of_a_spanning_tree():
    sim = lw.Simulation(lw.scenes.get("slider-crank"))
    tree = lw.reduced.compile(sim.world, loops=True)
    assert [name.of for name in sim.q_names] == [link.element.name for link in tree.links]


# -- arrays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["positions", "orientations", "velocities", "q", "qd"])
def test_arrays_cannot_be_written_and_stay_as_they_are(name):
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    sim.step(10)
    before = getattr(sim, name)
    kept = before.copy()
    with pytest.raises(ValueError, match="read-only"):
        before[:] = 0.0
    sim.step(10)
    after = getattr(sim, name)
    assert np.array_equal(before, kept) and not np.array_equal(before, after)


def test_what_is_read_by_name_is_ones_own():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    body = sim.world.bodies[0]
    sim.position(body)[:] = 7.0
    assert sim.position(body).max() < 7.0


# -- what is read is of now --------------------------------------------------------------------------------------------


def everything(sim):
    found = {"q": sim.q, "qd": sim.qd, "positions": sim.positions, "velocities": sim.velocities, "forces": sim.forces.force}
    found |= {c.name: sim.reaction(c).force for c in sim.world.constraints}
    found |= {b.name: sim.acceleration(b) for b in sim.world.bodies}
    return {name: np.array(value) for name, value in found.items()}


def spring_pendulum():
    world = lw.World(gravity=(0, 0, -10))
    bob = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="bob"))
    world.add(lw.Hinge(world.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), name="pivot"))
    world.add(lw.Spring(world.ground, bob, lw.Parameter(20.0, name="k"), rest=0.5, name="spring"))
    world.add(lw.Motor("pivot", name="motor"))
    return world


CHANGES = {
    "step": lambda sim: sim.step(),
    "strike": lambda sim: sim.strike("bob", (0, 0, 0.3)),
    "state": lambda sim: setattr(sim, "state", sim._editor.start[1]),
    "reset": lambda sim: sim.reset(lw.Keyframe(positions={"pivot": 0.5})),
    "set": lambda sim: sim.set("k", 35.0),
    "control": lambda sim: sim.control.__setitem__("motor", 2.0),
    "commands": lambda sim: setattr(sim.control, "commands", [3.0]),
    "set_state": lambda sim: sim.set_state(q=[0.7]),
    "switch": lambda sim: sim.switch("spring", on=False),
    "add": lambda sim: sim.add(lw.Drag("bob", 0.5, name="air")),
    "grab": lambda sim: sim.grab("bob").to((1, 0, 1)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_read_is_read_anew_after_every_change(change):
    sim = lw.Simulation(spring_pendulum())
    sim.step(20)
    before = everything(sim)
    CHANGES[change](sim)
    after = everything(sim)
    other = copy.deepcopy(sim) if change != "grab" else None
    if other is not None:  # one that has never been read
        fresh = everything(other)
        assert set(fresh) == set(after)
        for name in after:
            assert_close(after[name], fresh[name], 1e-11)
    assert any(before[name].shape != after[name].shape or not np.array_equal(before[name], after[name]) for name in before)


def test_a_handle_that_pulls_is_read_as_a_force():
    sim = lw.Simulation(spring_pendulum())
    with sim.grab("bob") as hand:
        hand.to((1, 0, 2))
        assert_close(sim.force(hand.name).force, hand.force, 1e-12)
        sim.step(5)
        assert_close(sim.force(hand.name).force, hand.force, 1e-12)


def test_reading_changes_no_bit_of_what_follows():
    ends = []
    for reading in (False, True):
        sim = quietly(lw.Simulation, zoo())
        for _ in range(20):
            sim.step()
            if reading:
                sim.positions, sim.q, sim.qd, sim.forces, sim.angle("axle")
        ends.append(sim.state.values.tobytes())
    assert ends[0] == ends[1]


@pytest.mark.parametrize("solver,integrator", PAIRS)
def test_a_command_leaves_a_simulation_ready(solver, integrator):
    """Steps after a command have the bits that they have from the state alone."""
    world = lw.scenes.get("double-pendulum")
    for joint in world.constraints:
        world.add(lw.Motor(joint, name=f"{joint.name} motor"))
    ends = []
    for afresh in (False, True):
        sim = quietly(lw.Simulation, world, solver=solver, integrator=integrator)
        for k in range(12):
            sim.control.commands = 0.2 * np.sin(np.arange(2) + k)
            if afresh:
                sim._system.changed()
            sim.step()
        ends.append(sim.state.values.tobytes())
    assert ends[0] == ends[1]


# -- accelerations, reactions, forces ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_reactions_and_accelerations_are_those_of_numpy(seed):
    world = forest(seed, loops=seed % 3)
    sim = quietly(lw.Simulation, world, integrator="euler")
    sim.step(2)
    solve_accelerations(sim._system)
    for k, body in enumerate(world.bodies):
        linear, angular = reads.accelerations(sim, k)
        assert_close(sim.acceleration(body), linear)
        assert_close(sim.angular_acceleration(body), angular)
    m, wrenches = sim.model, 0
    for number, node in enumerate(m.nodes):
        multipliers, blocks = -sim.work[m.field_of_node(number, "x")], [b.copy() for b in node_jacobians(sim._system, number)]
        for element in node.elements:
            rows = node.rows_of(element)
            for end, block in zip(node.ends, blocks, strict=True):
                if end < 0:
                    continue
                told = sim.reaction(element, m.bodies.elements[end])
                force, torque = reads.wrench(m, sim.work, end, block[rows].T @ multipliers[rows], told.at)
                assert_close(told.force, force, 1e-13)
                assert_close(told.torque, torque, 1e-12)
                assert_close(told.generalised, multipliers[rows])
                wrenches += 1
    assert wrenches == sum(end >= 0 for node in m.nodes for _ in node.elements for end in node.ends)


def loads_by_work(sim, element, body, number, ends):
    """The power of a force on a body, from the generalised force that steps add."""
    from linkwork.kernels.force_kernels import force_report_kernel
    from linkwork.model.nodes import Evaluator

    force, m = sim.model.forces[number], sim.model
    given = {0: sim.work, 1: sim.work[m.force_at[number] :]}
    given |= {2 + k: sim.work[m.body_at[end] :] for k, end in enumerate(ends) if end >= 0}
    flat, at = Evaluator(force_report_kernel(force.kind), 2 + len(ends))(given), 0
    for end, kind in zip(ends, force.kind.kinds, strict=True):
        if kind is None:
            continue
        part = flat[at : at + kind.nv] if at + kind.nv <= len(flat) else np.zeros(kind.nv)
        at += kind.nv
        if end == body:
            return float(part @ sim.work[m.field_of_body(body, "v")])
    raise AssertionError(element)


def machine():
    """A force of every kind that joints and bodies take."""
    world = lw.World(gravity=(0, 0, -10))
    one = world.add(
        lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), com=(0.1, 0, 0), angular_velocity=(0, 2, 0), name="one")
    )
    two = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(2, 0, 0), velocity=(0, 0.3, 0), name="two"))
    box = world.add(
        lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(0, 3, 0), velocity=(0.2, 0.1, 0.3), angular_velocity=(1, 2, 3), name="box")
    )
    bead = world.add(lw.Particle(0.5, position=(1, 1, 1), velocity=(1, 0, 0), name="bead"))
    jelly = world.add(
        lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0, 5, 0), velocity=(0, 0, 0.5), stiffness=5.0, name="jelly")
    )
    world.add(lw.Hinge(world.ground, one, at=(0, 0, 0), axis=(0, 1, 0), name="pivot"))
    world.add(lw.Ball(one, two, at=(1.5, 0, 0), name="ball"))
    world.add(lw.Spring(one, bead, 10.0, rest=0.5, damping=0.3, name="spring"))
    world.add(lw.Damper(box, two, 0.7, on_a=(0.1, 0, 0), name="damper"))
    world.add(lw.Drag(box, 0.2, quadratic=0.1, angular=0.05, at=(0.2, 0, 0), name="drag"))
    world.add(lw.Wrench(box, force=(1, 2, 3), torque=(0.1, 0.2, 0.3), at=(0, 0.1, 0), name="wrench"))
    world.add(lw.Motor("pivot", kind="velocity", kd=0.4, name="motor"))
    way = [(one, (0.2, 0, 0)), (bead, (0, 0, 0)), (two, (0, 0.1, 0)), (jelly, (0.1, 0, 0))]
    world.add(lw.Cable(way, 30.0, rest=1.0, name="cable"))
    world.add(lw.JointSpring("pivot", 3.0, damping=0.2, rest=0.4, name="joint spring"))
    world.add(lw.JointSpring("ball", 2.0, damping=0.1, name="ball spring"))
    world.add(lw.TorsionSpring(two, box, 0.8, name="torsion"))
    world.add(lw.JointLimit("pivot", 0.2, 0.5, stiffness=40.0, name="limit"))
    world.add(lw.Follow(box, stiffness=5.0, damping=0.3, angular_stiffness=1.0, name="follow"))
    world.add(lw.Force(bead, jelly, lambda a, b, t: 2.0 * (a.position - b.position), name="user"))
    return world


def test_the_power_of_every_force_is_that_of_what_it_puts_on_its_bodies():
    sim = quietly(lw.Simulation, machine())
    sim.control["motor"] = 1.3
    sim.step(5)
    names = set()
    for number, force in enumerate(sim.model.forces):
        for end in force.ends:
            if end < 0:
                continue
            body = sim.model.bodies.elements[end]
            load = sim.force(force.element, body)
            pose = reads.poses(sim)
            F, w = pose.frame[end], pose.angular_velocity[end]
            local = np.linalg.solve(F, load.at - pose.position[end])
            rate = point_jacobian(sim._system, end, local) @ sim.work[sim.model.field_of_body(end, "v")]
            expected = loads_by_work(sim, force.element, end, number, force.ends)
            found = load.force @ rate + load.torque @ w
            assert found == pytest.approx(expected, abs=1e-11), force.element.name
            names.add(force.element.name)
    assert names == {force.name for force in sim.world.forces}
    assert sim.forces.names == tuple(force.name for force in sim.world.forces)
    for k, name in enumerate(sim.forces.names):
        for found, expected in zip(sim.forces[1:], sim.force(name), strict=True):
            assert np.array_equal(found[k], expected)
    with pytest.raises(ValueError, match="read-only"):
        sim.forces.force[:] = 0.0


def test_a_cable_through_many_bodies_is_read():
    world = lw.World(gravity=(0, 0, 0))
    beads = [world.add(lw.Particle(1.0, position=(k, k % 2, 0), name=f"bead{k}")) for k in range(9)]
    world.add(lw.Cable([(bead, (0, 0, 0)) for bead in beads], 10.0, rest=4.0, name="cable"))
    sim = lw.Simulation(world)
    total = sum(sim.force("cable", bead).force for bead in beads)
    tension = 10.0 * (8 * np.sqrt(2) - 4.0)
    assert_close(total, np.zeros(3), 1e-12)
    assert_close(np.linalg.norm(sim.force("cable", "bead0").force), tension, 1e-12)


def test_a_hard_limit_tells_what_it_gave():
    world = lw.World(gravity=(0, 0, -10))
    bob = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="bob"))
    world.add(lw.Hinge(world.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), name="pivot"))
    world.add(lw.HardLimit("pivot", -0.1, 0.1, name="stop"))
    world.add(lw.Contact())
    sim = lw.Simulation(world, integrator="euler")
    sim.step(2000)
    assert sim.force("stop").torque[1] == pytest.approx(-10.0 * np.cos(0.1), rel=1e-2)


def test_what_is_no_force_is_refused():
    sim = lw.Simulation(spring_pendulum())
    with pytest.raises(lw.UnknownNameError, match='no force is called "spirng"; did you mean "spring"'):
        sim.force("spirng")
    with pytest.raises(lw.UnknownNameError, match='no force is called "pivot"'):
        sim.force("pivot")
    sim.add(lw.Particle(1.0, name="bead"))
    with pytest.raises(lw.LinkworkError, match='Spring "spring": it does not act on "bead"; name one of its bodies'):
        sim.force("spring", "bead")
    sim.switch("spring", on=False)
    with pytest.raises(lw.LinkworkError, match='Spring "spring": it is switched off'):
        sim.force("spring")
    assert sim.forces.names == ("motor",)
