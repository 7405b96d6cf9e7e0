"""Forces: virtual work by finite differences, potentials, Newton's third law, motors, parameters, users' functions."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.reactions import solve_accelerations
from tests.oracles.poses import flow
from tests.symbolic.probe import STENCIL, difference

H = 3e-4
KINDS = ("rigid", "planar", "particle", "scalable", "affine", "ground")


def body(world, kind, side):
    rng = np.random.default_rng("ab".index(side))
    x = rng.normal(size=3) * (1, 0, 1)
    w = rng.normal(size=3)
    q = np.array([0.8, 0.6, 0, 0]) if side == "a" else np.array([0.6, 0, 0.8, 0])
    made = {
        "rigid": lambda: lw.RigidBody(1.2, (0.3, 0.25, 0.2), position=x, orientation=q, velocity=w, angular_velocity=w[::-1]),
        "planar": lambda: lw.PlanarBody(1.1, 0.3, position=x[[0, 2]], angle=0.4, velocity=w[:2], angular_velocity=0.7),
        "particle": lambda: lw.Particle(0.8, x, w),
        "scalable": lambda: lw.ScalableBody(1.3, (0.1, 0.2, 0.15), position=x, orientation=q, stretch=(1.2, 0.9, 1.1), velocity=w,
                                            angular_velocity=w[::-1], stretch_rate=(0.1, 0.2, -0.1)),
        "affine": lambda: lw.AffineBody(0.9, (0.12, 0.2, 0.1), position=x, velocity=w,
                                        deformation=((1.1, 0.1, 0), (0.2, 0.9, 0.1), (0, 0.05, 1.2)),
                                        deformation_rate=((0.1, 0, 0.1), (0, 0.2, 0), (0, 0, -0.1))),
    }  # fmt: skip
    return world.ground if kind == "ground" else world.add(made[kind]())


def efforts(sim):
    """Generalised force of the forces alone on each body: M a with the same world without them taken off."""
    sim._system.changed()
    solve_accelerations(sim._system)
    dense = sim.schedules
    return dense.matrix(sim.work)[: sim.model.velocities, : sim.model.velocities] @ np.concatenate(
        [sim.work[sim.model.field_of_body(k, "x")] for k in range(len(sim.model.bodies.kinds))])  # fmt: skip


def built(make, kinds=("rigid", "rigid")):
    world = lw.World(gravity=(0, 0, 0))
    a, b = body(world, kinds[0], "a"), body(world, kinds[1], "b")
    if make is not None:
        world.add(make(world, a, b))
    return lw.Simulation(world, solver="dense", integrator="euler")


def generalised(make, kinds=("rigid", "rigid")):
    """(sim, the force's generalised force on all bodies)."""
    sim, bare = built(make, kinds), built(None, kinds)
    return sim, efforts(sim) - efforts(bare)


def local(kind):
    return (0.0, 0.0, 0.0) if kind in ("particle", "ground") else (0.2, 0.0, -0.3)


PAIRS = [(a, b) for a in KINDS for b in KINDS if b != "ground"]


@pytest.mark.parametrize("kinds", PAIRS, ids=lambda k: "-".join(k))
def test_springs_push_down_their_potential_and_do_no_work_of_their_own(kinds):
    def make(world, a, b):
        return lw.Spring(a, b, 30.0, rest=0.4, on_a=local(kinds[0]), on_b=local(kinds[1]))

    sim, force = generalised(make, kinds)
    v = np.concatenate([sim.work[sim.model.field_of_body(k, "v")] for k in range(len(sim.model.bodies.kinds))])
    # power of the spring = - d(potential)/dt along the motion with constant v
    energies = []
    for by in [k * H for k, _ in STENCIL]:
        sim.reset()
        for k, kind in enumerate(sim.model.bodies.kinds):
            where = sim.model.field_of_body(k, "q")
            sim.work[where] = flow(kind.name, sim.work[where].copy(), sim.work[sim.model.field_of_body(k, "v")], by)
        sim._system.changed()
        energies.append(sim.energy().potential)
    assert abs(force @ v + difference(energies, H)) < 1e-7


FORCES = {
    "spring": lambda w, a, b: lw.Spring(a, b, 30.0, rest=0.4, damping=2.0, on_a=(0.2, 0, -0.3), on_b=(0.1, 0.2, 0.3)),
    "damper": lambda w, a, b: lw.Damper(a, b, 5.0, on_a=(0.2, 0, -0.3), on_b=(0.1, 0.2, 0.3)),
    "user": lambda w, a, b: lw.Force(a, b, lambda a, b, t: -2.0 * (b.position - a.position), on_a=(0, 0, 0), on_b=(0, 0, 0)),
    "user torque": lambda w, a, b: lw.Force(a, b, lambda a, b, t: a.angular_velocity - b.angular_velocity, torque=True),
}


@pytest.mark.parametrize("name", FORCES)
def test_inner_forces_keep_momentum(name):
    sim, f = generalised(FORCES[name])
    x = [sim.work[sim.model.field_of_body(k, "q")][:3] for k in range(2)]
    np.testing.assert_allclose(f[:3] + f[6:9], 0, atol=1e-12)
    np.testing.assert_allclose(f[3:6] + f[9:12] + np.cross(x[0], f[:3]) + np.cross(x[1], f[6:9]), 0, atol=1e-12)
    assert np.abs(f).max() > 0.1


def test_springs_and_dampers_of_one_world_keep_their_own_numbers():
    for order in (0, 1):
        world = lw.World(gravity=(0, 0, 0))
        a = world.add(lw.Particle(1.0, (1, 0, 0), (2, 0, 0)))
        b = world.add(lw.Particle(1.0, (0, 3, 0), (0, 2, 0)))
        makes = [lambda w=world, a=a: w.add(lw.Damper(w.ground, a, 3.0)),
                 lambda w=world, b=b: w.add(lw.Spring(w.ground, b, 10.0, rest=1.0, damping=0.5))]  # fmt: skip
        for make in makes[:: 1 - 2 * order]:
            make()
        sim = lw.Simulation(world)
        np.testing.assert_allclose(sim.acceleration(a), (-6, 0, 0), atol=1e-12)
        np.testing.assert_allclose(sim.acceleration(b), (0, -21, 0), atol=1e-12)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_wrench_is_a_force_at_a_point_and_a_torque(frame):
    F, T, at = np.array([1.0, -2, 3]), np.array([0.3, 0.1, -0.2]), np.array([0.3, -0.1, 0.2])
    sim, f = generalised(lambda w, a, b: lw.Wrench(b, force=F, torque=lambda t: T, at=at, frame=frame))
    R = sim.frame(sim.world.bodies[1])
    Q = R if frame == "body" else np.eye(3)
    np.testing.assert_allclose(f[6:9], Q @ F, atol=1e-12)
    np.testing.assert_allclose(f[9:12], Q @ T + np.cross(R @ at, Q @ F), atol=1e-12)


def test_drag_takes_energy_out():
    sim, f = generalised(lambda w, a, b: lw.Drag(b, linear=0.5, quadratic=0.2, angular=0.3, at=(0.1, 0.2, 0.3)))
    b = sim.world.bodies[1]
    w = sim.angular_velocity(b)
    v = sim.velocity(b) + np.cross(w, sim.frame(b) @ (0.1, 0.2, 0.3))
    np.testing.assert_allclose(f[6:9], -(0.5 + 0.2 * np.linalg.norm(v)) * v, atol=1e-12)
    power = f[6:9] @ sim.velocity(b) + f[9:12] @ w
    assert abs(power + (0.5 + 0.2 * np.linalg.norm(v)) * v @ v + 0.3 * w @ w) < 1e-12


def motor(kind, flipped=False, **options):
    world = lw.World(gravity=(0, 0, 0))
    wheel = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.15), angular_velocity=(0, 1.5 * (1 - 2 * flipped), 0)))
    pair = (wheel, world.ground) if flipped else (world.ground, wheel)
    axle = world.add(lw.Hinge(*pair, at=(0, 0, 0), axis=(0, 1, 0)))
    world.add(lw.Motor(axle, kind=kind, name="m", **options))
    sim = lw.Simulation(world, integrator="euler", dt=1e-3)
    sign = -1 if flipped else 1
    return sim, lambda: sign * sim.angular_acceleration(wheel)[1] * 0.2, axle


@pytest.mark.parametrize("flipped", [False, True])
def test_motors_give_the_torque_that_their_kind_says(flipped):
    sim, torque, axle = motor("torque", flipped)
    sim.control["m"] = 0.7
    assert abs(torque() - 0.7) < 1e-12
    sim, torque, axle = motor("velocity", flipped, kd=2.0)
    sim.control["m"] = 4.0
    assert abs(torque() - 2.0 * (4.0 - 1.5)) < 1e-12
    sim, torque, axle = motor("velocity", flipped, kd=2.0, limit=1.0)
    for command, wanted in ((4.0, 1.0), (-9.0, -1.0), (1.7, 0.4)):
        sim.control["m"] = command
        assert abs(torque() - wanted) < 1e-12
    sim, torque, axle = motor("position", flipped, kp=3.0, kd=0.5)
    sim.control["m"] = 1.0
    assert abs(torque() - (3.0 * 1.0 - 0.5 * 1.5)) < 1e-12
    sim.control["m"] = 20.0
    sim.step(4000)
    x, rate = sim.angle(axle), sim.rate(axle)
    assert x > 2 * np.pi and abs(torque() - (3.0 * (20.0 - x) - 0.5 * rate)) < 1e-9  # turns are counted


def test_a_slider_motor_has_no_moment():
    world = lw.World(gravity=(0, 0, 0))
    rail = world.add(lw.RigidBody(2.0, (0.3, 0.2, 0.25), position=(0, 0, 0)))
    cart = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.15), position=(0.5, 0.4, 0.1)))
    slide = world.add(lw.Slider(rail, cart, at=(0.3, 0.2, 0), axis=(1, 0, 0)))
    world.add(lw.Motor(slide, name="m"))
    sim = lw.Simulation(world)
    sim.control["m"] = 3.0
    linear = 2.0 * sim.acceleration(rail) + 1.0 * sim.acceleration(cart)
    angular = sum(np.diag(b.inertia) * sim.angular_acceleration(b) + b.mass * np.cross(b.position, sim.acceleration(b))
                  for b in (rail, cart))  # fmt: skip
    np.testing.assert_allclose(linear, 0, atol=1e-12)
    np.testing.assert_allclose(angular, 0, atol=1e-12)


def free(function, **options):
    world = lw.World(gravity=(0, 0, 0))
    ball = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(0, 0, 0), **options))
    world.add(lw.Force(ball, function))
    return lw.Simulation(world), ball


def test_users_functions_see_time_parameters_and_branches():
    k = lw.Parameter(3.0, name="k")
    sim, ball = free(lambda b, t: (lw.where(b.position[0] > 1, 5.0, k), 2 * t, lw.norm(b.velocity)))
    np.testing.assert_allclose(sim.acceleration(ball), (1.5, 0, 0), atol=1e-14)
    sim.set(k, 8.0)
    assert sim.get("k") == 8.0
    sim.time = 3.0
    np.testing.assert_allclose(sim.acceleration(ball), (4.0, 3.0, 0), atol=1e-14)
    sim, ball = free(lambda b, t: (lw.where(b.position[0] > 1, 5.0, k), 0, lw.norm(b.velocity)), velocity=(0, 3, 4))
    np.testing.assert_allclose(sim.acceleration(ball)[2], 2.5, atol=1e-14)


def test_two_functions_alike_keep_their_own_parameters():
    world = lw.World(gravity=(0, 0, 0))
    one, two = lw.Parameter(1.0), lw.Parameter(2.0)
    bodies = [world.add(lw.Particle(1.0, (k, 0, 0))) for k in range(2)]
    for body, p in zip(bodies, (one, two), strict=True):
        world.add(lw.Force(body, lambda b, t, p=p: (0, 0, p)))
    sim = lw.Simulation(world)
    assert [sim.acceleration(b)[2] for b in bodies] == [1.0, 2.0]
    sim.set(two, 5.0)
    assert [sim.acceleration(b)[2] for b in bodies] == [1.0, 5.0]


def test_points_that_differ_in_the_seventh_digit_are_two_points():
    sim, ball = free(lambda b, t: (1e9 * (b.point((0.12345678, 0, 0))[0] - b.point((0.12345679, 0, 0))[0]), 0, 0))
    assert abs(sim.acceleration(ball)[0] + 5.0) < 1e-6


def test_norm_has_a_derivative_at_zero():
    world = lw.World(gravity=(0, 0, 0))
    a = world.add(lw.Particle(1.0))
    world.add(lw.Constraint(a, lambda b, t: b.position[2] + lw.norm(b.position)))
    sim = lw.Simulation(world)
    sim.step(3)
    assert np.isfinite(sim.position(a)).all()


@pytest.mark.parametrize("function, says", [
    (lambda b, t: (1, 0, 0) if b.position[0] > 0 else (0, 0, 0), "Python if"),
    (lambda b, t: (1, 0), "2 numbers where 3"),
    (lambda b, t: b.nothing, "nothing"),
    (lambda b, t: (float("nan"), 0, 0), "finite"),
])  # fmt: skip
def test_functions_that_cannot_be_traced_are_refused_by_name(function, says):
    with pytest.raises(lw.ElementError, match=says) as caught:
        free(function)
    assert str(caught.value).startswith('Force "force1"') and "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [
    lambda w, p: lw.Spring(w.ground, p, 10.0, on_b=(0.5, 0, 0)),
    lambda w, p: lw.Distance(w.ground, p, on_b=(0.5, 0, 0)),
    lambda w, p: lw.Wrench(p, force=(1, 0, 0), at=(0, 0.1, 0)),
    lambda w, p: lw.Ball(w.ground, p, at=(9, 0, 0)),
    lambda w, p: lw.Force(p, lambda b, t: b.point((0.1, 0, 0))),
    lambda w, p: lw.Constraint(p, lambda b, t: b.point((0.1, 0, 0))[0]),
])  # fmt: skip
def test_a_particle_has_no_point_beside_its_position(make):
    world = lw.World()
    bead = world.add(lw.Particle(1.0, (1, 0, 0), name="bead"))
    world.add(make(world, bead))
    with pytest.raises(lw.ElementError, match='"bead", which is a point'):
        lw.Simulation(world)


def test_a_motor_keeps_its_command_when_forces_are_added():
    sim, torque, axle = motor("torque")
    sim.control["m"] = 0.7
    sim.world.add(lw.Drag(sim.world.bodies[0], angular=0.1))
    assert sim.control["m"] == 0.7 and dict(sim.control) == {"m": 0.7}
    assert abs(torque() - (0.7 - 0.1 * 1.5)) < 1e-12
