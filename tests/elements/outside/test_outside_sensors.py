"""Sensors of another package do all that those of this one do."""

import numpy as np
import pytest

import linkwork as lw
from tests.elements.outside.inclinometer import AltimeterSensor, InclinometerSensor


def test_sensors_from_outside():
    world = lw.scenes.get("double-pendulum")
    upper, lower = world.bodies
    world.add([InclinometerSensor(lower, name="tilt"), AltimeterSensor([upper, lower], noise=0.1, rate=100, name="height")])
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(25)
    assert sim.sensors["tilt"] == pytest.approx(np.arccos(sim.frame(lower)[2, 2]), abs=1e-12)
    assert str(sim.sensors.channels[1]) == "height: height, m"
    rec = sim.run(0.02, record_every=0.01)
    assert rec["tilt"].values.shape == (3, 1) and rec["height"].units == ("m",)


def test_a_kind_that_lacks_something_is_refused_where_it_is_declared():
    from linkwork.kinds import MeasuredSensorKind, Sensor, kind_of

    class Silent(Sensor):
        pass

    with pytest.raises(TypeError, match="SilentKind: it lacks channels, measure; a kind of Silent needs them"):

        @kind_of(Silent)
        class SilentKind(MeasuredSensorKind):
            pass
