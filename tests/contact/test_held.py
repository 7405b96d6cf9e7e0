"""Surfaces that lie flush on bodies which joints hold: no push along their normal moves them apart, so they are left out."""

import numpy as np
import pytest

import linkwork as lw

LYING = (np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0, 0.0)  # the axis of a cylinder along y
WAYS = [("tree", "rattle"), ("tree", "euler"), ("implicit", "backward-euler"), ("ltdl", "joint-euler")]


def plates_on_an_axle():
    """Two plates on hinges of one axle, face to face across its axis."""
    world = lw.World()
    axle = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(0, 0, 1), name="axle"))
    world.add(lw.Hinge(world.ground, axle, at=(0, 0, 1), axis=(0, 1, 0), name="bearing"))
    for k, y in enumerate((-0.05, 0.05)):
        plate = world.add(lw.RigidBody(1.0, shape=lw.Box(0.3, 0.1, 0.1), position=(0.1 + 0.1 * k, y, 1), name=f"plate{k}"))
        world.add(lw.Hinge(axle, plate, at=(0, 0, 1), axis=(0, 1, 0), name=f"hinge{k}"))
    return world, "plate0", "plate1"


def a_wheel_at_a_chassis():
    """The cap of a wheel in the side of a box, which carries it by a strut: nothing of it can move across."""
    world = lw.World()
    chassis = world.add(lw.RigidBody(50.0, shape=lw.Box(1.0, 0.4, 0.2), position=(0, 0, 1), name="chassis"))
    hub = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.2, 0.25, 1), name="hub"))
    wheel = world.add(
        lw.RigidBody(2.0, shape=lw.Cylinder(0.15, 0.1), position=(0.2, 0.25, 1), orientation=LYING,
                     angular_velocity=(0, 3.0, 0), name="wheel")
    )  # fmt: skip
    world.add(lw.Slider(chassis, hub, at=(0.2, 0.25, 1), axis=(0, 0, 1), name="strut"))
    world.add(lw.JointSpring("strut", 2e3, damping=50.0))
    world.add(lw.Hinge(hub, wheel, at=(0.2, 0.25, 1), axis=(0, 1, 0), name="axle"))
    return world, "chassis", "wheel"


def a_capsule_in_a_socket():
    """A capsule that slides along its axis, through a sledge, between the flush walls of a socket."""
    world = lw.World()
    socket = world.add(lw.RigidBody(5.0, (0.1, 0.1, 0.1), position=(0, 0, 1), name="socket"))
    for k, y in enumerate((-0.06, 0.06)):
        world.add(lw.Collider(socket, lw.Box(0.4, 0.02, 0.2), position=(0, y, 0), name=f"wall{k}"))
    sledge = world.add(lw.RigidBody(0.5, (0.01, 0.01, 0.01), position=(0, 0, 1), name="sledge"))
    pin = world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0, 0, 1), velocity=(0.2, 0, 0), name="pin"))
    along_x = (np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0)
    world.add(lw.Collider(pin, lw.Capsule(0.05, 0.2), orientation=along_x, name="capsule"))
    world.add(lw.Hinge(world.ground, socket, at=(0, 0, 1.5), axis=(0, 1, 0), name="bearing"))
    world.add(lw.Slider(socket, sledge, at=(0, 0, 1), axis=(1, 0, 0), name="way"))
    world.add(lw.Hinge(sledge, pin, at=(0, 0, 1), axis=(1, 0, 0), name="twist"))
    return world, "socket", "pin"


def locked_by_six_rods():
    """An arm that six rods lock to a frame, and a block welded to the frame: all that arm and block answer together is
    rounding."""
    world = lw.World()
    frame = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(0, 0, 1), name="frame"))
    arm = world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0.3, 0, 1), name="arm"))
    block = world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0.5, 0, 1), name="block"))
    world.add(lw.Weld(frame, block, at=(0.5, 0, 1), name="weld"))
    feet = [(0.1, 0.3, 0.0), (0.1, -0.3, 0.1), (-0.2, 0.1, 0.3), (0.3, 0.0, 0.4), (0.2, 0.2, -0.3), (0.0, -0.2, -0.3)]
    heads = [(-0.1, 0.1, 0.0), (0.0, -0.1, 0.1), (0.1, 0.1, 0.1), (-0.1, 0.0, 0.1), (0.1, -0.1, 0.0), (0.0, 0.0, -0.1)]
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        world.add(lw.Distance(frame, arm, on_a=foot, on_b=head, name=f"rod{k}"))
    return world, "arm", "block"


MADE = [plates_on_an_axle, a_wheel_at_a_chassis, a_capsule_in_a_socket, locked_by_six_rods]


def run(make, contact, solver, integrator):
    world, *named = make()
    world.add(lw.Contact(friction=0.5))
    if not contact:
        world.add(lw.NoContact(*named))
    sim = lw.Simulation(world, dt=2e-3, solver=solver, integrator=integrator)
    sim.step(100)
    return sim, named


@pytest.mark.parametrize(("solver", "integrator"), WAYS)
@pytest.mark.parametrize("make", MADE)
def test_flush_surfaces_change_nothing_of_a_motion_that_joints_leave(make, solver, integrator):
    sim, named = run(make, True, solver, integrator)
    without, _ = run(make, False, solver, integrator)
    for body in sim.world.bodies:
        assert np.abs(sim.position(body) - without.position(body)).max() < 1e-8
        assert np.abs(sim.velocity(body) - without.velocity(body)).max() < 1e-7
    assert sim.contact_report().converged


def test_what_presses_without_an_answer_is_named_once():
    world, *_ = locked_by_six_rods()
    world.find("arm").position[0] += 0.004  # into the block: rods are as long as they are built
    world.add(lw.Contact())
    sim = lw.Simulation(world, dt=2e-3)
    for _ in range(2):
        sim.step(50)
        told = [text for text in sim.notes if "no push moves them apart" in text]
        assert len(told) == 1 and '"arm"' in told[0] and '"block"' in told[0] and "NoContact" in told[0]
    assert sim.drift() < 1e-9 and sim.contact_report().converged
