"""Contact with implicit steps and in joint coordinates, against closed forms, against `rattle`, and against the law itself."""

import copy
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.problem import law_residual
from linkwork.contact.rows import GAP, RECOVERY
from linkwork.contact.stage_kernels import RECOVERED
from tests.simulation.test_contacts import boxes, quietly, same, tumbling

G = 9.81
HOW = {
    "one iteration": {"solver": "implicit", "iterations": 1},
    "implicit": {"solver": "implicit"},
    "aba": {"solver": "aba", "integrator": "joint-euler"},
    "ltdl": {"solver": "ltdl", "integrator": "joint-implicit"},
}
EVERY = pytest.mark.parametrize("how", HOW.values(), ids=HOW)
IMPLICIT = pytest.mark.parametrize("how", [HOW["one iteration"], HOW["implicit"]], ids=["one iteration", "implicit"])


def incline(angle, mu):
    """A box on a plane that falls towards +x."""
    turned = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), orientation=turned))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.3, 0.3, 0.06), orientation=turned,
                           position=(0.03 * np.sin(angle), 0, 0.03 * np.cos(angle)), name="box"))  # fmt: skip
    world.add(lw.Contact(friction=mu))
    return world


@EVERY
def test_a_stack_stands_and_the_floor_bears_it(how):
    sim = lw.Simulation(boxes(5), dt=1 / 240, **how)
    sim.step(240)
    for k in range(5):
        assert np.allclose(sim.position(f"box{k}"), (0, 0, 0.05 + 0.1 * k), atol=1e-8)
        assert np.abs(sim.velocity(f"box{k}")).max() < 1e-8
    points, report = sim.contacts(), sim.contact_report()
    assert len(points) == 20 and np.allclose(points.forces[:4].sum(axis=0), (0, 0, 5 * G), atol=1e-4)
    assert report.converged and report.residual < 1e-8 and report.penetration < 1e-8


@EVERY
@pytest.mark.parametrize(("mu", "sticks"), [(np.tan(0.4) * 1.01, True), (0.2, False)])
def test_a_box_sticks_below_the_angle_of_friction_and_slides_above(how, mu, sticks):
    sim = lw.Simulation(incline(0.4, mu), dt=1e-3, **how)
    sim.step(400)
    speed = 0.0 if sticks else G * (np.sin(0.4) - mu * np.cos(0.4)) * 0.4
    exact = 1e-8 if sticks else 2e-5 * speed  # what moves is solved to a part of its velocity
    assert np.allclose(sim.velocity("box"), speed * np.array([np.cos(0.4), 0, -np.sin(0.4)]), atol=exact)
    assert np.abs(sim.angular_velocity("box")).max() < exact / 0.05


@EVERY
def test_a_ball_bounces_to_e_squared_of_its_height(how):
    radius, height, e = 0.05, 0.4, 0.7
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(radius), position=(0, 0, radius + height), name="ball"))
    world.add(lw.Contact(restitution=e))
    sim = lw.Simulation(world, dt=1e-3, **how)
    highest, last = [], 0.0
    for _ in range(900):
        sim.step()
        speed = sim.velocity("ball")[2]
        if last > 0 >= speed:
            highest.append(sim.position("ball")[2] - radius)
        last = speed
    assert np.allclose(highest[:2], [height * e**2, height * e**4], rtol=0.05)


@EVERY
def test_a_row_of_balls_passes_an_impact_on(how):
    world = lw.World(gravity=(0, 0, 0))
    for k in range(5):
        start = (1.0, 0, 0) if k == 0 else (0, 0, 0)
        world.add(
            lw.RigidBody(
                1.0, shape=lw.Sphere(0.05), position=(0.1 * k - 0.02 * (k == 0), 0, 0), velocity=start, name=f"ball{k}"
            )
        )
    world.add(lw.Contact(restitution=1.0, friction=0.0))
    sim = lw.Simulation(world, dt=1e-3, **how)
    sim.step(40)
    assert np.allclose([sim.velocity(f"ball{k}")[0] for k in range(5)], [0, 0, 0, 0, 1], atol=1e-4)


@EVERY
def test_a_state_brings_the_same_bits_again(how):
    sim = quietly(tumbling(), dt=2e-3, **how)
    sim.step(50)
    kept = sim.state.copy()
    sim.contacts(), sim.acceleration("box0"), sim.reaction("hinge")
    sim.step(50)
    end = sim.state.copy()
    sim.state = kept
    for _ in range(50):
        sim.step()
    assert np.array_equal(sim.state.values, end.values)
    twin = copy.deepcopy(sim)
    sim.step(10)
    twin.step(10)
    assert same(sim, twin)


@EVERY
def test_what_tumbles_comes_to_rest_on_its_stops_and_gains_no_energy(how):
    """More than 1e-5 of it: the order of the schemes in joint coordinates."""
    sim = quietly(tumbling(), dt=2e-3, **how)
    energies = [sim.energy().total]
    for _ in range(500):
        sim.step()
        energies.append(sim.energy().total)
    assert np.diff(energies).max() < 1e-5 * np.ptp(energies)
    assert np.isclose(sim.angle("hinge"), 0.4, atol=1e-5) and sim.drift() < 1e-9
    assert np.linalg.norm(sim.position("ball") - (-0.1, 0, 0.6)) < 0.5 + 1e-5
    assert sim.contact_report().penetration < 1e-5


@EVERY
def test_ropes_and_limits_hold_and_tell_their_reactions(how):
    world = lw.World()
    lamp = world.add(lw.RigidBody(2.0, (0.01, 0.01, 0.01), position=(0, 0, 1), name="lamp"))
    world.add(lw.Rope(world.ground, lamp, length=0.5, on_a=(0, 0, 1.2), name="cord"))
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(3, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, arm, at=(2, 0, 0), axis=(0, 1, 0), name="elbow"))
    world.add(lw.HardLimit("elbow", lower=-0.1, upper=1.0, name="stop"))
    sim = lw.Simulation(world, dt=2e-3, **how)
    sim.step(1000)
    assert np.isclose(sim.position("lamp")[2], 0.7, atol=1e-8) and np.isclose(sim.angle("elbow"), 1.0, atol=1e-8)
    assert np.allclose(sim.reaction("cord").force, (0, 0, 2 * G), atol=1e-5)
    assert np.isclose(np.abs(sim.reaction("stop").torque).max(), G * np.cos(1.0), atol=1e-5)
    assert np.abs(sim.acceleration("arm")).max() < 1e-5


def anchored(count=4):
    """A chain on hinges that falls from its anchor onto a floor."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    at, before = (0.0, 0, 0.1), world.ground
    for k in range(count):
        body = world.add(lw.RigidBody(0.1, shape=lw.Capsule(0.01, 0.06), position=(0.05 + 0.1 * k, 0, 0.1),
                                      orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), name=f"link{k}"))  # fmt: skip
        world.add(lw.Hinge(before, body, at=at, axis=(0, 1, 0), name=f"hinge{k}"))
        at, before = (0.1 * (k + 1), 0, 0.1), body
    for k in range(1, count):
        world.add(lw.Damper(f"link{k - 1}", f"link{k}", 0.5, on_a=(0, 0, 0.02), on_b=(0.02, 0, 0)))
    world.add(lw.Contact(friction=0.0))
    return world


@pytest.mark.parametrize("how", [HOW["implicit"], HOW["aba"], {"solver": "tree", "integrator": "joint-euler"}])
def test_a_chain_falls_on_a_floor_as_with_rattle(how):
    """Its rest is one: link by link from the anchor, the last ones flat."""
    sim, reference = lw.Simulation(anchored(), dt=2e-3, **how), lw.Simulation(anchored(), dt=2e-3)
    for one in (sim, reference):
        one.step(1200)
    for k in range(4):
        assert np.allclose(sim.position(f"link{k}"), reference.position(f"link{k}"), atol=2e-5)
        assert np.abs(sim.velocity(f"link{k}")).max() < 1e-3
    forces = [one.contacts().forces.sum(axis=0) for one in (sim, reference)]
    assert np.allclose(*forces, atol=2e-3) and forces[0][2] > 0.5


def four_bar():
    """Two cranks of 0.3 m and a coupler with a round foot, which comes to stand on the floor at an angle asin 0.8."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    for name, x in (("left", 0.0), ("right", 0.5)):
        world.add(lw.RigidBody(0.5, (0.01, 0.01, 0.01), position=(x + 0.15, 0, 0.3), name=name))
        world.add(lw.Hinge(world.ground, name, at=(x, 0, 0.3), axis=(0, 1, 0), name=f"{name} pivot"))
    world.add(lw.RigidBody(1.0, (0.02, 0.02, 0.02), position=(0.55, 0, 0.3), name="coupler"))
    world.add(lw.Collider("coupler", lw.Sphere(0.06)))
    world.add(lw.Hinge("left", "coupler", at=(0.3, 0, 0.3), axis=(0, 1, 0), name="one"))
    world.add(lw.Ball("right", "coupler", at=(0.8, 0, 0.3), name="other"))
    world.add(lw.Contact("coupler", friction=0.0))
    return world


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("how", [HOW["one iteration"], HOW["implicit"], {"solver": "ltdl", "integrator": "joint-euler"},
                                 {"solver": "anticipation", "integrator": "joint-euler"}])  # fmt: skip
def test_a_four_bar_comes_to_stand_on_the_floor(how):
    """Virtual work: what the floor bears times cos is half of each crank's weight and the coupler's."""
    sim = lw.Simulation(four_bar(), dt=1e-3, **how)
    sim.step(600)
    assert np.isclose(sim.angle("left pivot"), np.arcsin(0.8), atol=1e-6) and np.isclose(
        sim.position("coupler")[2], 0.06, atol=1e-7
    )
    assert np.allclose(sim.contacts().forces.sum(axis=0), (0, 0, 1.5 * G), atol=1e-3)
    assert np.abs(sim.velocity("coupler")).max() < 1e-7 and sim.drift() < 1e-9


@IMPLICIT
def test_a_stiff_spring_presses_a_box_against_a_wall(how):
    """In its first step it meets the wall; then it stands, with the force of the spring, whatever the step."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Collider(world.ground, lw.Box(0.2, 2, 2), position=(0.6, 0, 0), name="wall"))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0.3, 0, 0), velocity=(1, 0, 0), name="box"))
    world.add(lw.Spring(world.ground, "box", 1e6, rest=0.0, on_a=(0.501, 0, 0), damping=10.0))
    world.add(lw.Contact())
    sim = lw.Simulation(world, dt=1e-2, **how)
    sim.step(20)
    assert np.isclose(sim.position("box")[0], 0.4, atol=1e-6) and np.abs(sim.velocity("box")).max() < 1e-6
    assert np.allclose(sim.contacts().forces.sum(axis=0), (-1e6 * 0.101, 0, 0), rtol=1e-5, atol=1.0)


@pytest.mark.parametrize("how", [HOW["one iteration"], HOW["implicit"], {"solver": "aba", "integrator": "joint-implicit"}])
@pytest.mark.parametrize("stiffness", [1e9, 1e-6])
def test_stiff_springs_answer_an_impact_within_the_step(how, stiffness):
    """A ball of 10 kg meets 1 kg that a spring ties to 9 kg: stiff, they are one body of 10 kg; soft, one of 1 kg."""
    world = lw.World(gravity=(0, 0, 0))
    for name, mass, x, speed in (("ball", 10.0, -0.11, 1.0), ("near", 1.0, 0.0, 0.0), ("far", 9.0, 0.3, 0.0)):
        world.add(lw.RigidBody(mass, shape=lw.Sphere(0.05), position=(x, 0, 0), velocity=(speed, 0, 0), name=name))
    world.add(lw.Slider("near", "far", at=(0.1, 0, 0), axis=(1, 0, 0), name="rail"))
    world.add(lw.JointSpring("rail", stiffness))
    world.add(lw.Contact(friction=0.0, restitution=1.0))
    sim = lw.Simulation(world, dt=1e-2, **how)
    sim.step(1)
    mass = 10.0 if stiffness > 1 else 1.0
    assert np.isclose(sim.velocity("ball")[0], (10 - mass) / (10 + mass), atol=1e-3)
    assert np.isclose(sim.velocity("near")[0], 20 / (10 + mass), atol=1e-3)
    assert np.isclose(sim.velocity("far")[0], 1.0 if stiffness > 1 else 0.0, atol=1e-3)


def bouncing_chain():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    for k in range(6):
        world.add(lw.RigidBody(0.1, shape=lw.Capsule(0.01, 0.06), position=(0.08 * k, 0, 0.2 + 0.02 * k),
                               orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), name=f"link{k}"))  # fmt: skip
        if k:
            ball = world.add(lw.Ball(f"link{k - 1}", f"link{k}", at=(0.08 * k - 0.04, 0, 0.19 + 0.02 * k)))
            world.add(lw.JointSpring(ball, 0.02, damping=1e-4))
    world.add(lw.Contact(friction=0.5, restitution=0.5))
    return world


def test_the_law_holds_at_the_converged_end_and_energy_falls():
    """Impulses of the last iteration, and the velocities that the bodies have then: the natural map of the law, in m/s."""
    sim = quietly(bouncing_chain(), dt=2e-3, solver="implicit")
    energies, worst, bounced = [sim.energy().total], 0.0, 0
    fields = [sim.model.field_of_body(b, "v") for b in range(6)]
    for _ in range(400):
        sim.step()
        energies.append(sim.energy().total)
        contact = sim._system.contact
        rows, m = contact.before, contact.before_count
        v = np.array([sim.work[field] for field in fields])
        for k in range(m):
            body, gap = rows.labels[k, 4], rows.numbers[k, GAP]
            assert rows.labels[k, 3] == -1  # links touch the ground alone
            target = -gap / sim.dt if gap > 0 else min(rows.numbers[k, RECOVERY], -RECOVERED * gap / sim.dt)
            target = 0.0 if abs(gap) <= 0.01 * contact.near else target
            bounced += contact.leaving[k] > target
            c = rows.Jb[k] @ v[body] - (max(target, contact.leaving[k]), 0, 0)
            worst = max(worst, law_residual(*rows.total[k], *c, rows.mu[k], 1.0 / 0.1))
    assert bounced > 20 and worst < 1e-4  # of some m/s
    assert np.diff(energies).max() < 1e-9 * np.ptp(energies)


@pytest.mark.parametrize("how", [{"solver": "ltdl", "integrator": "joint-euler"}, {"solver": "tree"}, {"solver": "implicit"}])
def test_prescribed_motion_does_the_work_of_contact(how):
    """A table that is lifted under a box: what both gain is the work, to the order of the step. The table has no freedom, so
    that all of its answers are rounding errors."""
    world = lw.World()
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.4, 0.4, 0.1), position=(0, 0, 0.05), name="table"))
    world.add(lw.Slider(world.ground, "table", at=(0, 0, 0), axis=(0, 0, 1), name="rail"))
    world.add(lw.Motion("rail", lambda t: 0.05 * (1 - lw.cos(4 * t)), name="lift"))
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.15), name="box"))
    world.add(lw.Contact())
    sim = quietly(world, dt=1e-3, **how)
    before = sim.energy().total
    sim.step(500)
    assert np.isclose(sim.energy().work, sim.energy().total - before, rtol=5e-3) and sim.energy().work > 2.0
    assert np.isclose(sim.position("box")[2], sim.position("table")[2] + 0.1, atol=1e-5)


@pytest.mark.parametrize(("how", "told"), [
    ({"solver": "aba", "integrator": "joint-rk4"}, 'the solver "aba" with the integrator "joint-rk4" takes no contact; use .*"aba" with "joint-euler"'),
    ({"solver": "anticipation"}, 'the solver "anticipation" with the integrator "rattle" takes no contact'),
    ({"solver": "implicit", "tangent": "exact"}, 'needs a symmetric matrix; use tangent="symmetric"'),
])  # fmt: skip
def test_others_are_refused_by_name(how, told):
    with pytest.raises(lw.LinkworkError, match=f'Contact "contact1": .*{told}'):
        lw.Simulation(boxes(1), **how)
    sim = None
    world = boxes(1)
    rule = world.contacts[-1]
    world.remove(rule)
    sim = lw.Simulation(world, **how)
    world.add(rule)
    with pytest.raises(lw.LinkworkError, match=told), warnings.catch_warnings():
        sim.step()
