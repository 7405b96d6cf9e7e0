"""Noise, delay and rate of sensors: against their definitions, over states, checkpoints, copies and edits; and bad input."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

import linkwork as lw
from linkwork.simulation import checkpoints
from linkwork.simulation.sampling import Timing
from linkwork.simulation.sensor_noise import gaussian, keys_of
from tests.simulation.sensed import quietly

DT = 1e-3


def timed(**options):
    """A double pendulum with sensors that are noisy, slow and late."""
    world = lw.scenes.get("double-pendulum")
    first, body = world.constraints[0], world.bodies[-1]
    world.add(lw.JointPositionSensor(first, name="true"))
    world.add(lw.JointPositionSensor(first, noise=0.1, seed=3, name="noisy"))
    world.add(lw.JointPositionSensor(first, rate=400, name="slow"))
    world.add(lw.JointPositionSensor(first, delay=0.005, name="late"))
    world.add(lw.JointPositionSensor(first, rate=130, delay_steps=4, noise=0.1, name="all"))
    world.add(lw.AccelerometerSensor(body, rate=90, delay_steps=7, noise=(0.1, 0.2, 0.3), name="imu"))
    return world, quietly(world, dt=DT, **options)


def test_what_slow_and_late_sensors_tell_is_what_was_true_then():
    _, sim = timed()
    true = [sim.sensors["true"][0]]
    for n in range(40):
        if n:
            sim.step()
            true.append(sim.sensors["true"][0])
        assert sim.sensors["slow"] == true[int(2.5 * (n * 2 // 5) + 0.5 + 1e-9)]
        assert sim.sensors["late"] == true[max(0, n - 5)]
        sample = max(k for k in range(n + 1) if Timing(1 / 0.13, 0).due(k) and k <= max(0, n - 4))
        noise = 0.1 * gaussian(keys_of("all", 0, 1), sample)
        np.testing.assert_allclose(sim.sensors["all"], true[sample] + noise, rtol=0, atol=1e-15)


@pytest.mark.parametrize("solver", ["tree", "implicit", "aba"])
def test_bits_do_not_depend_on_calls_nor_on_the_order_of_reading(solver):
    found = []
    for chunks in ([37], [1] * 37, [5, 30, 2], [13, 0, 24]):
        _, sim = timed(solver=solver)
        for chunk in chunks:
            if chunk == 30:
                assert [sim.sensors[name] for name in reversed(sim.sensors.names)]
            sim.step(chunk)
        one_by_one = {name: sim.sensors[name] for name in reversed(sim.sensors.names)}
        values = sim.sensors.values
        assert all((values[sim.sensors.slices[name]] == own).all() for name, own in one_by_one.items())
        found.append((values, sim.q, sim.qd))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_state_a_pickle_and_a_checkpoint_go_on_to_the_bit(tmp_path):
    world, sim = timed()
    sim.step(23)
    state = sim.state
    checkpoints.save(sim, tmp_path / "here.npz")
    twins = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    fresh = quietly(world, dt=DT)
    checkpoints.load(tmp_path / "here.npz").put(fresh)
    other = quietly(world, dt=DT)
    other.state = state
    ends = []
    for one in (sim, *twins, fresh, other):
        told = []
        for _ in range(30):
            told.append(one.sensors.values)
            one.step()
        ends.append(np.array(told))
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])
    sim.state = state
    np.testing.assert_array_equal(sim.sensors.values, ends[0][0])
    sim.reset()
    np.testing.assert_array_equal(sim.sensors.values, quietly(world, dt=DT).sensors.values)


def test_samples_of_another_step_are_not_taken_over():
    world, sim = timed()
    sim.step(23)
    coarse = quietly(world, dt=2 * DT, solver="dense")
    coarse.state = sim.state
    assert coarse.sensors["slow"] == coarse.sensors["true"] == sim.sensors["true"]


def test_edits_keep_samples_and_sensors_come_and_go():
    world, sim = timed()
    twin = copy.deepcopy(sim)
    sim.step(20), twin.step(20)
    world.add(lw.ClockSensor(delay_steps=3, name="clock"))
    world.remove("slow")
    assert "slow" not in sim.sensors.names and sim.sensors["clock"] == pytest.approx(0.02)
    sim.step(10), twin.step(10)
    for name in ("true", "late", "all", "imu"):
        np.testing.assert_allclose(sim.sensors[name], twin.sensors[name], rtol=0, atol=1e-9)
    assert sim.sensors["clock"] == pytest.approx(0.027)
    rec = sim.run(0.01, record_every=0.002)
    world.remove("clock")
    world.remove(world.bodies[-1], cascade=True)
    assert "imu" not in world and "clock" not in sim.sensors.names
    assert rec["clock"].values.shape == (6, 1) and rec["imu"].units == ("m/s^2",) * 3


def test_what_is_switched_off_is_no_number():
    world = lw.scenes.get("double-pendulum")
    elbow = world.constraints[1]
    world.add(
        [lw.JointPositionSensor(elbow, name="encoder"), lw.ForceTorqueSensor(elbow, name="wrist"), lw.ClockSensor(name="clock")]
    )
    sim = quietly(world, dt=DT)
    sim.switch(elbow, False)
    told = sim.sensors.values
    assert np.isnan(told[:7]).all() and told[7] == 0.0
    with pytest.raises(lw.LinkworkError, match='JointPositionSensor "encoder": what it reads is switched off'):
        sim.sensors["encoder"]
    sim.switch(elbow, True)
    assert np.isfinite(sim.sensors.values).all()


def test_noise_is_gaussian_and_independent():
    keys = np.concatenate([keys_of("imu", 0, 3), keys_of("imu", 1, 3), keys_of("gyro", 0, 3)])
    deviates = np.array([gaussian(keys, step) for step in range(4000)])
    assert stats.kstest(deviates.ravel(), "norm").pvalue > 1e-3
    lagged = np.hstack([deviates[1:], deviates[:-1]])
    correlation = np.corrcoef(lagged.T) - np.eye(18)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


def test_due_steps_and_the_steps_to_them_agree():
    for period in (1.0, 2.5, 10.0, 1 / 0.13, 1000 / 90, 3.0000000001, 7.999999999):
        timing = Timing(period, 0)
        due = [step for step in range(300) if timing.due(step)]
        assert due[0] == 0 and abs(len(due) - 300 / period) <= 1
        walked = [0]
        while walked[-1] < due[-1]:
            walked.append(walked[-1] + timing.steps_to_next(walked[-1]))
        assert walked == due
        assert all(timing.steps_to_next(step) == min(k for k in due if k > step) - step for step in range(due[-1]))


def test_a_cutoff_bounds_what_is_told():
    world = lw.scenes.get("double-pendulum")
    world.add([lw.AccelerometerSensor(world.bodies[0], cutoff=2.0, name="a"), lw.ClockSensor(noise=5.0, cutoff=1.0, name="t")])
    sim = quietly(world, dt=DT)
    sim.step(100)
    assert np.abs(sim.sensors["a"]).max() == 2.0 and abs(sim.sensors["t"][0]) <= 1.0


def test_notes_on_what_the_step_does_not_allow():
    world = lw.scenes.get("pendulum")
    world.add([lw.ClockSensor(rate=3000, name="fast"), lw.ClockSensor(delay=0.0014, name="odd")])
    with pytest.warns(lw.Note) as told:
        sim = lw.Simulation(world, dt=DT)
    assert [str(one.message) for one in told] == [
        'ClockSensor "fast": its rate is 3000 1/s, and a step 0.001 s; it samples at each step',
        'ClockSensor "odd": its delay is 0.0014 s, no whole number of steps of 0.001 s; it is 0.001 s',
    ]
    sim.step(5)
    assert sim.sensors["fast"] == sim.time and sim.sensors["odd"] == pytest.approx(0.004)


def made(world):
    """What is refused, and the words for it."""
    joint, body = world.constraints[0], world.bodies[0]
    return [
        (lambda: lw.GyroSensor("tip"), 'GyroSensor: there is no body or frame named "tip"; did you mean "tips"?'),
        (lambda: lw.GyroSensor(joint), "GyroSensor: frame is a Hinge; give a body or frame or its name"),
        (lambda: lw.GyroSensor(body, noise=-0.1), "GyroSensor: noise is -0.1; give a finite number of at least 0"),
        (lambda: lw.GyroSensor(body, noise=(1, 2)), "noise has 2 numbers, and it has 3 channels; give one number, or 3"),
        (lambda: lw.GyroSensor(body, delay=-1.0), "GyroSensor: delay is -1; give a finite number of at least 0"),
        (lambda: lw.GyroSensor(body, delay_steps=0.5), "GyroSensor: delay_steps is 0.5; give a whole number of at least 0"),
        (lambda: lw.GyroSensor(body, delay=1.0, delay_steps=1), "delay is 1 and delay_steps is 1; give one of the two"),
        (lambda: lw.GyroSensor(body, rate=0), "GyroSensor: rate is 0; give a finite number greater than 0"),
        (lambda: lw.GyroSensor(body, cutoff=0), "GyroSensor: cutoff is 0; give a finite number greater than 0"),
        (lambda: lw.GyroSensor(body, seed=-1), "GyroSensor: seed is -1; give a whole number of at least 0"),
        (lambda: lw.ForceTorqueSensor("pivott"), 'ForceTorqueSensor: there is no joint named "pivott"; did you mean "pivot"?'),
        (
            lambda: lw.ForceTorqueSensor(joint, body="stone"),
            'Particle "stone" is no body of Hinge "pivot"; give one of the two',
        ),
        (lambda: lw.JointTorqueSensor("held"), 'Ball "held" has no single coordinate; give a hinge, a slider or a screw'),
        (lambda: lw.JointPositionSensor("stuck"), 'Weld "stuck" has no coordinates; give a joint that moves'),
        (lambda: lw.ActuatorForceSensor("push"), 'Wrench "push" drives no joint or tendon; give a Motor on one'),
        (lambda: lw.CableLengthSensor("push"), 'Wrench "push" has no length; give a Cable, a FixedTendon or a Rope'),
        (lambda: lw.ContactForceSensor("rule"), 'Contact "rule" does not touch; give a body or a Collider'),
        (lambda: lw.TouchSensor(world.ground), "TouchSensor: it is on the ground; give a body that moves"),
        (lambda: lw.TouchSensor(body, 0.1), "TouchSensor: zone is 0.1; give a shape such as Sphere(0.01), or none"),
        (lambda: lw.CenterOfMassSensor([]), "CenterOfMassSensor: it has no bodies; give one or more"),
        (lambda: lw.CenterOfMassSensor([body, body]), "it names RigidBody"),
        (lambda: lw.RangefinderSensor(body, (0, 0, 0)), "RangefinderSensor: axis has zero length; give a direction"),
    ]


def test_bad_input_is_refused_in_a_sentence():
    world = lw.scenes.get("pendulum")
    body = world.bodies[0]
    stone = world.add(lw.Particle(1.0, position=(1, 1, 1), name="stone"))
    world.add([lw.Frame(body, name="tips"), lw.Ball(body, stone, at=(1, 1, 1), name="held"), lw.Wrench(body, name="push"),
               lw.RigidBody(1.0, (1, 1, 1), name="plate"), lw.Weld(world.ground, "plate", at=(0, 0, 0), name="stuck"),
               lw.Contact(name="rule")])  # fmt: skip
    for make, words in made(world):
        with pytest.raises(lw.LinkworkError) as error:
            world.add(make())
        assert words in str(error.value) and "\n" not in str(error.value), (words, str(error.value))


def test_unknown_sensors_and_removed_bodies():
    world = lw.scenes.get("pendulum")
    body = world.bodies[0]
    gyro = world.add(lw.GyroSensor(body, name="gyro"))
    sim = quietly(world, dt=DT)
    with pytest.raises(lw.UnknownNameError, match='no sensor is called "gyr"; did you mean "gyro"?'):
        sim.sensors["gyr"]
    with pytest.raises(lw.LinkworkError, match="it is no sensor; add one that reads it"):
        sim.sensors[str(body.name)]
    with pytest.raises(lw.LinkworkError, match="still used by .*GyroSensor"):
        world.remove(body)
    with pytest.raises(lw.LinkworkError, match="a sensor does nothing that could be switched off; remove it"):
        sim.switch(gyro, False)
    world.remove(gyro)
    with pytest.raises(lw.UnknownNameError, match='no sensor is called "gyro"; there is none'):
        sim.sensors["gyro"]
