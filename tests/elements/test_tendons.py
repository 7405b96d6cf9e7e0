"""Fixed tendons, couplings, motors on tendons and frames, filters: against closed forms, and as bad input."""

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats import load, save

SOLVERS = [{}, {"integrator": "rk4"}, {"solver": "implicit"}, {"solver": "aba"}, {"solver": "aba", "integrator": "joint-euler"}]


def arm(gravity=(0, 0, 0)):
    """Two bars on hinges about y, and a slider."""
    world = lw.World(gravity=gravity)
    bars = [world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5 + k, 0, 0), name=f"bar{k}")) for k in range(2)]
    world.add(lw.Hinge(world.ground, bars[0], at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge(bars[0], bars[1], at=(1, 0, 0), axis=(0, 1, 0), name="elbow"))
    cart = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(0, 3, 0), name="cart"))
    world.add(lw.Slider(world.ground, cart, at=(0, 3, 0), axis=(1, 0, 0), name="rail"))
    return world


def test_a_fixed_tendon_is_a_sum_of_coordinates_and_pulls_at_each():
    world = arm()
    world.add(lw.FixedTendon(("shoulder", "elbow", "rail"), (0.5, -1.5, 2.0), stiffness=7.0, damping=0.3, rest=0.4, name="t"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(300)
    length = 0.5 * sim.angle("shoulder") - 1.5 * sim.angle("elbow") + 2.0 * sim.travel("rail")
    rate = 0.5 * sim.rate("shoulder") - 1.5 * sim.rate("elbow") + 2.0 * sim.rate("rail")
    assert np.isclose(sim.length("t"), length, atol=1e-14)
    tension = 7.0 * (length - 0.4) + 0.3 * rate
    assert np.isclose(2.0 * sim.acceleration("cart")[0], -2.0 * tension, atol=1e-9)


@pytest.mark.parametrize("how", SOLVERS[:2])
def test_its_spring_keeps_energy(how):
    world = arm()
    world.add(lw.FixedTendon(("shoulder", "rail"), (1.0, 2.0), stiffness=20.0, rest=(0.2, 0.5), name="t"))
    sim = lw.Simulation(world, dt=1e-3, **how)
    before = sim.energy().total
    assert np.isclose(before, 0.5 * 20.0 * 0.2**2)
    sim.step(2000)
    assert abs(sim.energy().total - before) < 2e-5


def test_turns_of_its_joints_count():
    world = arm()
    world.bodies[1].angular_velocity = (0, 20.0, 0)
    world.bodies[1].velocity = np.cross((0, 20.0, 0), (0.5, 0, 0))
    world.add(lw.FixedTendon(("elbow", "shoulder"), (1.0, 1.0), name="t"))
    world.add(lw.HardLimit("t", upper=9.0, name="stop"))
    sim = lw.Simulation(world, dt=1e-3)
    highest = 0.0
    for _ in range(150):
        sim.step(10)
        highest = max(highest, sim.length("t"))
        assert np.isclose(sim.length("t"), sim.angle("elbow") + sim.angle("shoulder"))
    assert 8.9 < highest < 9.0 + 1e-4


@pytest.mark.parametrize("how", [{}, {"solver": "implicit"}, {"solver": "aba", "integrator": "joint-euler"}])
def test_limits_and_friction_hold_its_length(how):
    world = arm()
    world.add(lw.FixedTendon(("shoulder", "elbow"), (0.5, -1.5), name="t"))
    world.add(lw.Motor("t", name="pull"))
    world.add(lw.HardLimit("t", -0.2, 0.3, name="stop"))
    world.add(lw.JointFriction("t", 0.05, name="rub"))
    sim = lw.Simulation(world, dt=1e-3, **how)
    sim.control["pull"] = 0.04
    sim.step(100)
    assert abs(sim.length("t")) < 1e-9
    assert np.isclose(sim.reaction("rub").generalised[0], -0.04, atol=1e-6)
    sim.control["pull"] = 1.0
    sim.step(2000)
    assert np.isclose(sim.length("t"), 0.3, atol=1e-5)


@pytest.mark.parametrize("how", [{}, {"solver": "ltdl"}, {"solver": "implicit"}])
def test_a_coupling_holds_sums_and_lengths(how):
    world = arm()
    world.add(lw.Cable([("ground", (0, 3, 1)), ("cart", (0, 0, 0))], name="rope"))
    world.add(lw.Coupling(("shoulder", "rope", "elbow"), (1.0, -2.0, 0.5), name="coupled"))
    world.add(lw.Motor("rail", name="push"))
    sim = lw.Simulation(world, dt=1e-3, **how)
    sim.control["push"] = 1.0
    sim.step(400)
    told = sim.angle("shoulder") - 2.0 * sim.length("rope") + 0.5 * sim.angle("elbow")
    assert abs(sim.travel("rail")) > 0.01
    assert np.isclose(told, -2.0, atol=1e-9)


@pytest.mark.parametrize("how", SOLVERS)
def test_a_filter_is_exact_and_resumes_to_the_bit(how, tmp_path):
    world = arm()
    world.add(lw.Motor("rail", filter=0.05, range=(-1, 1), name="push"))
    sim = lw.Simulation(world, dt=1e-3, **how)
    sim.control["push"] = 3.0  # counts as 1
    sim.step(80)
    assert np.isclose(sim.activation("push"), 1 - np.exp(-0.08 / 0.05), rtol=1e-12)
    sim.control["push"] = -1.0
    kept, command = sim.state, dict(sim.control)
    sim.step(70)
    wanted = (sim.travel("rail"), sim.activation("push"), sim.angle("elbow"))
    again = pickle.loads(pickle.dumps(lw.Simulation(world, dt=1e-3, **how)))
    again.state = kept
    again.control["push"] = command["push"]
    again.step(30)
    again.step(40)
    assert (again.travel("rail"), again.activation("push"), again.angle("elbow")) == wanted
    exact = -1 + (1 - np.exp(-0.08 / 0.05) + 1) * np.exp(-0.07 / 0.05)
    assert np.isclose(sim.activation("push"), exact, rtol=1e-11)


def test_a_filter_that_is_added_while_running_begins_then():
    world = arm()
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(50)
    sim.world.add(lw.Motor("rail", filter=0.05, name="push"))
    sim.control["push"] = 1.0
    sim.step(1)
    assert np.isclose(sim.activation("push"), 1 - np.exp(-1e-3 / 0.05), rtol=1e-9)
    sim.reset(lw.Keyframe(activations={"push": 0.7}, controls={"push": 0.7}))
    assert sim.activation("push") == 0.7


def test_motors_damp_and_are_affine():
    world = arm()
    world.bodies[2].velocity = (0.5, 0, 0)
    world.add(lw.Motor("rail", "damper", kd=3.0, range=(0, 1), name="brake"))
    world.add(lw.Motor("rail", "general", gain=(2.0, 0.5, 0.1), bias=(0.3, -4.0, -0.2), gear=1.5, limit=(-2, 40), name="g"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.control["brake"], sim.control["g"] = 0.4, 0.7
    sim.step(100)
    x, v = 1.5 * sim.travel("rail"), 1.5 * sim.rate("rail")
    general = 1.5 * max(-2.0, 0.7 * (2.0 + 0.5 * x + 0.1 * v) + 0.3 - 4.0 * x - 0.2 * v)
    assert np.isclose(2.0 * sim.acceleration("cart")[0], general - 3.0 * 0.4 * sim.rate("rail"), atol=1e-9)


def test_a_motor_on_a_frame_pushes_along_its_axes_and_may_act_between_two():
    world = lw.World(gravity=(0, 0, 0))
    ship = world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.3), name="ship", orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)))
    other = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 1, 0), name="other"))
    world.add(lw.Frame(ship, (0, 0.5, 0), name="nozzle"))
    world.add(lw.Frame(other, name="there"))
    world.add(lw.Motor("nozzle", gear=(0, 0, 3.0, 0, 0, 0), name="thrust"))
    world.add(lw.Motor("nozzle", "position", kp=5.0, kd=1.0, gear=(1.0, 0, 0, 0, 0, 0.5), reference="there", name="hold"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.control["thrust"] = 2.0
    load = sim.force("thrust")
    assert np.allclose(load.force, (6.0, 0, 0)) and np.allclose(sim.acceleration("ship")[1:], 0, atol=1e-9)
    sim.control["thrust"], sim.control["hold"] = 0.0, 0.3
    sim.step(200)
    assert np.linalg.norm(sim.velocity("ship")) > 1e-3
    assert np.allclose(2.0 * sim.velocity("ship") + sim.velocity("other"), 0.0, atol=1e-12)


def test_scene_files_keep_them(tmp_path):
    world = arm()
    world.add(lw.FixedTendon(("shoulder", "elbow"), (0.5, -1.5), stiffness=2.0, rest=(-0.1, 0.1), name="t"))
    world.add(lw.Frame("bar1", (0.5, 0, 0), name="tip"))
    world.add(lw.Frame("bar0", name="mid"))
    world.add(lw.Motor("t", "general", gain=2.0, bias=(0, -1, 0), limit=(-1, 2), filter=0.1, name="m"))
    world.add(lw.Motor("tip", gear=(0, 0, 1, 0, 0.2, 0), reference="mid", name="f"))
    world.add(lw.Coupling(("t", "rail"), (1.0, 1.0), value=0.0, name="c"))
    world.add(lw.HardLimit("t", upper=0.5, name="stop"))
    world.keyframes["go"] = lw.Keyframe(controls={"m": 1.0}, activations={"m": 0.25})
    back = load(save(world, tmp_path / "arm.yaml"))
    assert back.keyframes["go"].activations == {"m": 0.25}
    sims = [lw.Simulation(each, dt=1e-3) for each in (world, back)]
    for sim in sims:
        sim.reset("go")
        sim.control["f"] = 0.3
        sim.step(50)
    assert np.array_equal(sims[0].state.values, sims[1].state.values)


@pytest.mark.parametrize(("make", "told"), [
    (lambda: lw.FixedTendon((), ()), "joints is \\(\\); give one or more"),
    (lambda: lw.FixedTendon(("shoulder",), (1, 2)), "coefficients is \\(1, 2\\); give 1 finite number"),
    (lambda: lw.FixedTendon(("shoulder", "shoulder"), (1, 2)), 'it names Hinge "shoulder" twice; add its coefficients'),
    (lambda: lw.FixedTendon(("shoulder",), (1,), rest=(1, 0)), "give the shorter length"),
    (lambda: lw.Coupling(("shoulder",), (0,)), "its coefficients are 0"),
    (lambda: lw.Coupling(("pull",), (1,)), 'Spring "pull" has no length'),
    (lambda: lw.Motor("pull"), 'Spring "pull" has no length; give a joint, a FixedTendon'),
    (lambda: lw.HardLimit("pull", upper=1), 'Spring "pull" has no length'),
    (lambda: lw.HardLimit("cable", upper=1, cone=0.3), 'Cable "cable" has no use for cone='),
    (lambda: lw.Motor("tip"), "give six numbers"),
    (lambda: lw.Motor("rail", gear=(0, 0, 1, 0, 0, 0)), "give one number"),
    (lambda: lw.Motor("tip", gear=np.eye(6)[0], reference="near"), "both of its frames are on"),
    (lambda: lw.Motor("rail", reference="tip"), "is no frame; leave it out"),
    (lambda: lw.Motor("tip", "position", kp=1.0, gear=np.eye(6)[0]), "has no coordinate to hold; give reference="),
    (lambda: lw.Motor("rail", filter=0.0), "filter is 0"),
    (lambda: lw.Motor("rail", limit=(2, 1)), "give its lower end, then its upper one"),
    (lambda: lw.Motor("rail", gain=2.0), 'kind "torque" has no gain'),
    (lambda: lw.Motor("fixed", name="m"), "gear is 1 on|give six numbers"),
])  # fmt: skip
def test_bad_input_is_one_sentence(make, told):
    world = arm()
    world.add(lw.Spring("bar0", "cart", 1.0, name="pull"))
    world.add(lw.Cable([("ground", (0, 3, 1)), ("cart", (0, 0, 0))], name="cable"))
    world.add(lw.Frame("bar1", name="tip"))
    world.add(lw.Frame("bar1", (0.1, 0, 0), name="near"))
    world.add(lw.Frame("ground", name="fixed"))
    with pytest.raises(lw.LinkworkError, match=told) as caught:
        world.add(make())
    assert "\n" not in str(caught.value)


def test_reads_that_do_not_fit_are_refused():
    world = arm()
    world.add(lw.Motor("rail", name="push"))
    sim = lw.Simulation(world)
    with pytest.raises(lw.LinkworkError, match='Motor "push": it has no activation; give its Motor a filter='):
        sim.activation("push")
    with pytest.raises(lw.LinkworkError, match='Motor "push": it has no length'):
        sim.length("push")
    with pytest.raises(lw.LinkworkError, match="it has no activation"):
        sim.reset(lw.Keyframe(activations={"push": 1.0}))
