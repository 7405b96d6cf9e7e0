"""solver="auto": what it chooses, that the choice holds, and how fast forces act."""

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.core.element import ForceElement
from linkwork.model.active_world import ActiveWorld
from linkwork.simulation.fastest_force import fastest_rate


def arm(links=2, **spring):
    """Rods on hinges, with a spring in each if one is given."""
    world = lw.World()
    last = world.ground
    for k in range(links):
        rod = world.add(lw.RigidBody(1.0, (0.01, 0.02, 0.03), position=(k + 0.5, 0, 0), name=f"rod{k}"))
        world.add(lw.Hinge(last, rod, at=(k, 0, 0), axis=(0, 1, 0), name=f"hinge{k}"))
        if spring:
            world.add(lw.JointSpring(f"hinge{k}", **spring, name=f"spring{k}"))
        last = rod
    return world


def pair(world, dt=1e-3, **options):
    sim = lw.Simulation(world, dt=dt, solver="auto", **options)
    assert (sim.solver, sim.integrator_name) == sim.choice[:2]
    assert "\n" not in sim.choice.reason
    return sim.choice[:2]


def test_smooth_trees_go_in_joint_coordinates_and_loops_in_maximal_ones():
    assert pair(arm()) == ("aba", "joint-rk4")
    closed = arm()
    closed.add(lw.Distance(closed.ground, "rod1", on_a=(3, 0, 0), name="rope"))
    assert pair(closed) == ("tree", "rk4")
    beads = lw.World()
    beads.add(lw.Distance(beads.ground, beads.add(lw.Particle(1.0, position=(1, 0, 0)))))
    assert pair(beads) == ("tree", "rk4")


def test_what_acts_by_impulses_goes_with_rattle():
    world = arm()
    world.add(lw.HardLimit("hinge0", upper=1.0, name="stop"))
    assert pair(world) == ("tree", "rattle")


@pytest.mark.parametrize("spring", [{"stiffness": 1e7}, {"stiffness": 0.0, "damping": 1e4}])
def test_stiffness_is_a_matter_of_the_step(spring):
    assert pair(arm(**spring)) == ("aba", "joint-implicit")
    assert pair(arm(**spring), dt=1e-6) == ("aba", "joint-rk4")


def test_stiff_forces_beyond_joints_and_in_loops_are_implicit():
    world = arm()
    world.add(lw.Spring(world.ground, "rod1", 1e8, on_a=(2, 0, 1), name="tie"))
    assert pair(world) == ("implicit", "backward-euler")
    world = arm(stiffness=1e7)
    world.add(lw.Spring(world.ground, "rod1", 1.0, on_a=(2, 0, 1), name="tie"))  # soft
    assert pair(world) == ("aba", "joint-implicit")
    world.add(lw.Distance(world.ground, "rod1", on_a=(3, 0, 0), name="rod"))
    assert pair(world) == ("implicit", "backward-euler")


def test_soft_limits_count_as_if_they_pressed():
    world = arm()
    world.add(lw.JointLimit("hinge0", upper=1.0, stiffness=1e8, name="stop"))
    assert pair(world) == ("aba", "joint-implicit")


def test_rates_are_those_of_closed_forms():
    world = lw.World(gravity=(0, 0, 0))
    mass = world.add(lw.Particle(2.0, position=(1, 0, 0), name="mass"))
    world.add(lw.Spring(world.ground, mass, 5000.0, damping=30.0))
    assert fastest_rate(world) == pytest.approx(50.0)
    world = lw.World()
    bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    world.add(lw.JointSpring("hinge", 0.0, damping=3300.0))
    assert fastest_rate(world) == pytest.approx(3300.0 / 1.1)


@pytest.mark.parametrize("seed", range(5))
def test_rates_are_eigenvalues_in_joint_coordinates(seed):
    """The oracle: H^-1 K and H^-1 D, with springs and dampers of random strength in the hinges of a chain."""
    rng = np.random.default_rng(seed)
    world, k, d = arm(5), 10 ** rng.uniform(1, 5, 5), 10 ** rng.uniform(0, 2, 5)
    for i in range(5):
        world.add(lw.JointSpring(f"hinge{i}", k[i], damping=d[i]))
    tree = lw.reduced.compile(world)
    H = lw.reduced.crba(tree, lw.reduced.neutral(tree))
    sprung, damped = (np.abs(np.linalg.eigvals(np.linalg.solve(H, np.diag(x)))).max() for x in (k, d))
    assert fastest_rate(world) == pytest.approx(max(damped, sprung**0.5), rel=0.05)


def test_only_the_forces_that_are_asked_for_count():
    world = arm(stiffness=1e6)
    world.add(lw.Spring(world.ground, "rod1", 10.0, on_a=(2, 0, 1), name="tie"))

    def is_tie(force: ForceElement) -> bool:
        return force.name == "tie"

    assert fastest_rate(world, of=is_tie) < 10.0 < 1000.0 < fastest_rate(world)
    assert fastest_rate(ActiveWorld(world, ["spring0", "spring1"])) < 10.0


def test_a_change_that_the_pair_cannot_take_is_taken_by_another():
    world = arm()
    sim = lw.Simulation(world, solver="auto")
    sim.step(200)
    before = sim.q.copy(), sim.qd.copy(), sim.time
    world.add(lw.HardLimit("hinge1", upper=3.0, name="stop"))
    with pytest.warns(lw.Note, match='it goes on with solver "tree" with the integrator "rattle"'):
        sim.step()
    sim = lw.Simulation(world, solver="auto")
    assert sim.choice[:2] == ("tree", "rattle")
    world.remove("stop")
    sim.set_state(q=before[0], qd=before[1])
    assert np.allclose(sim.q, before[0], atol=1e-12) and np.allclose(sim.qd, before[1], atol=1e-12)


def test_a_change_keeps_the_state():
    world = arm()
    sim, twin = lw.Simulation(world, solver="auto"), lw.Simulation(arm(), solver="aba")
    sim.step(300)
    twin.step(300)
    world.add(lw.Rope(world.ground, "rod1", length=50.0, name="rope"))
    with pytest.warns(lw.Note, match="it goes on with"):
        assert np.allclose(sim.q, twin.q, atol=1e-12) and np.allclose(sim.qd, twin.qd, atol=1e-12)
    assert sim.time == twin.time and sim.solver == "tree"


def test_the_choice_is_copied():
    sim = lw.Simulation(arm(), solver="auto")
    assert pickle.loads(pickle.dumps(sim)).choice == sim.choice
    assert lw.Simulation(arm()).choice is None


def test_an_integrator_may_be_given():
    assert pair(arm(), integrator="joint-euler") == ("aba", "joint-euler")
    assert pair(arm(), integrator="euler") == ("tree", "euler")
    assert pair(arm(), integrator="backward-euler") == ("implicit", "backward-euler")
    assert pair(arm(), method="measured")[1] == "joint-rk4"


def test_robots_choose_unless_told(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text("""<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
        <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>""")
    world = lw.load(path)
    assert world.simulate == {"solver": "auto"} and lw.Simulation(world).choice[:2] == ("aba", "joint-rk4")
    assert lw.Simulation(world, solver="tree").choice is None


def test_bad_methods_are_refused():
    with pytest.raises(lw.LinkworkError, match='no method is called "measure"; did you mean "measured"'):
        lw.Simulation(arm(), solver="auto", method="measure")
