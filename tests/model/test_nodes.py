"""From elements to nodes: anchors given in every way, refusals by name, rows that a plane drops."""

import numpy as np
import pytest

import linkwork as lw

BODY = {"mass": 1.0, "inertia": (0.1, 0.2, 0.25)}


def world_with(**options):
    world = lw.World()
    return world, world.add(lw.RigidBody(**BODY, position=(0, 0, 1), name="b", **options))


@pytest.mark.parametrize("given", [{"at": (0, 0, 1), "on_b": (0.3, 0, 0)}, {"on_a": (0, 0, 1), "on_b": (0.3, 0, 0)},
                                   {"at": (0.3, 0, 1)}, {"on_b": (0.3, 0, 0)}])  # fmt: skip
def test_the_point_of_b_on_a_plane_is_the_one_given(given):
    world, b = world_with()
    world.add(lw.PointOnPlane(world.ground, b, normal=(0, 0, 1), **given))
    sim = lw.Simulation(world)
    # a rod tip held: force N at 0.3 m with N (1/m + r^2/I) = g
    N = 9.81 / (1 + 0.09 / 0.2)
    np.testing.assert_allclose(sim.acceleration(b), (0, 0, -9.81 + N), atol=1e-12)
    np.testing.assert_allclose(sim.angular_acceleration(b), (0, -0.3 * N / 0.2, 0), atol=1e-12)


@pytest.mark.parametrize("make", [lambda w, b: lw.PointOnPlane(w.ground, b, normal=(0, 0, 1)),
                                  lambda w, b: lw.PointOnLine(w.ground, b, axis=(1, 0, 0))])  # fmt: skip
def test_without_any_point_it_is_the_position_of_b(make):
    world, b = world_with(com=(0.2, 0, 0))
    world.add(make(world, b))
    sim = lw.Simulation(world)
    assert abs(sim.acceleration(b)[2]) < 1e-12


def test_a_weld_needs_no_anchor_and_reacts_at_the_position_of_b():
    world, b = world_with()
    c = world.add(lw.RigidBody(**BODY, position=(1, 0, 1)))
    world.add(lw.Weld(world.ground, b))
    weld = world.add(lw.Weld(b, c))
    reaction = lw.Simulation(world).reaction(weld)
    np.testing.assert_allclose(reaction.at, (1, 0, 1))
    np.testing.assert_allclose(reaction.force, (0, 0, 9.81), atol=1e-12)
    np.testing.assert_allclose(reaction.torque, 0, atol=1e-12)


def test_a_gear_between_two_hinges_of_one_body_is_refused():
    world, b = world_with()
    one = world.add(lw.Hinge(world.ground, b, at=(0, 0, 1), axis=(0, 1, 0)))
    two = world.add(lw.Hinge(b, world.ground, at=(0, 0, 1), axis=(0, 1, 0)))
    with pytest.raises(
        lw.ElementError, match='Gear "mesh": both its joints are between Ground "ground" and RigidBody "b"; give'
    ):
        world.add(lw.Gear(one, two, 2.0, name="mesh"))


def test_motion_out_of_the_plane_of_a_planar_body_is_refused_even_if_it_starts_later():
    world = lw.World()
    puck = world.add(lw.PlanarBody(1.0, 1.0))
    world.add(lw.Motion(puck, lambda t: (t, 3 * t, 0), name="path"))
    with pytest.raises(lw.ElementError, match='Motion "path": row 2 is off'):
        lw.Simulation(world)


@pytest.mark.parametrize("plane, axis", [("xz", (0, 1, 0)), ("xy", (0, 0, 1)), ("yz", (1, 0, 0))])
def test_a_pendulum_in_any_plane_is_one_in_space(plane, axis):
    """The same pendulum as a planar and as a rigid body, gravity in its plane."""
    in_plane = {"xz": (0, 2), "xy": (0, 1), "yz": (1, 2)}[plane]
    gravity, start = np.zeros(3), np.zeros(3)
    gravity[in_plane[1]], start[in_plane[0]] = -9.81, 0.5
    found = []
    for kind in ("planar", "rigid"):
        world = lw.World(gravity=gravity)
        if kind == "planar":
            body = world.add(lw.PlanarBody(1.3, 0.2, position=start[list(in_plane)], plane=plane))
        else:
            body = world.add(lw.RigidBody(1.3, (0.2, 0.2, 0.2), position=start))
        hinge = world.add(lw.Hinge(world.ground, body, at=(0, 0, 0), axis=axis))
        sim = lw.Simulation(world)
        sim.step(50)
        found.append([*sim.position(body), *sim.velocity(body), *sim.angular_velocity(body), sim.angle(hinge), sim.rate(hinge)])
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    assert abs(found[0][-2]) > 1e-3


def test_a_reaction_is_told_at_the_anchor_whichever_end_is_the_ground():
    world, b = world_with()
    hinge = world.add(lw.Hinge(b, world.ground, at=(1, 0, 1), axis=(0, 1, 0)))
    reaction = lw.Simulation(world).reaction(hinge)
    np.testing.assert_allclose(reaction.at, (1, 0, 1), atol=1e-12)
    np.testing.assert_allclose(reaction.torque, 0, atol=1e-12)


def test_the_travel_of_a_slider_on_a_stretched_body_is_zero_as_built():
    world = lw.World(gravity=(0, 0, 0))
    cart = world.add(lw.ScalableBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), stretch=(2, 1, 1), stretch_rate=(1, 0, 0)))
    rail = world.add(lw.Slider(world.ground, cart, at=(2, 0, 0), axis=(1, 0, 0)))
    sim = lw.Simulation(world)
    assert abs(sim.angle(rail)) < 1e-12 and abs(sim.rate(rail) - 0.5) < 1e-12


def test_a_parameter_in_an_anchor_is_refused():
    p = lw.Parameter(0.5, name="p")
    with pytest.raises(lw.ElementError, match="on_b"):
        lw.Spring("a", "b", 10.0, rest=0.1, on_b=(p, 0, 0))
