"""Wheels and eggs that stretch: they roll by their material, slide by their surfaces, keep energy, and end as rigid ones do."""

import numpy as np
import pytest

import linkwork as lw

R, M, G = 0.3, 1.0, 10.0
SPOKES = np.linspace(0, 2 * np.pi, 720, endpoint=False)
RIM = R * np.stack([np.cos(SPOKES), 0 * SPOKES, np.sin(SPOKES)], axis=1)
MOMENT = (M * R**2 / 4, M * 0.01, M * R**2 / 4)  # of p p^T, of a disc with its axle along y
STRETCH = {"stretch": (1.1, 1.0, 1.1), "stretch_rate": (0.8, 0, 0.8)}


def wheel(kind, gravity=(0, 0, -G), **how):
    world = lw.World(gravity=gravity)
    world.add(kind(mass=M, **how, name="wheel"))
    world.add(lw.Rolling(world.ground, "wheel", R, axis=(0, 1, 0), name="rim"))
    return world


def scaling(stiffness=40.0):
    return wheel(lw.ScalableBody, second_moment=MOMENT, position=(0, 0, 1.1 * R), velocity=(1.1 * R * 2.0, 0, 0.8 * R),
                 angular_velocity=(0, 2.0, 0), stiffness=stiffness, **STRETCH)  # fmt: skip


def affine():
    return wheel(lw.AffineBody, second_moment=MOMENT, position=(0, 0, 1.1 * R), deformation=np.diag([1.1, 1.0, 1.1]),
                 velocity=(1.1 * R * 2.0, 0, 0.8 * R), deformation_rate=((0.8, 0, 2.2), (0, 0, 0), (-2.2, 0, 0.8)),
                 stiffness=40.0)  # fmt: skip


@pytest.mark.parametrize("world", [scaling, affine])
@pytest.mark.parametrize("solver, integrator, dt", [("tree", "rattle", 1e-3), ("dense", "rk4", 1e-3)])
def test_a_scaling_disc_rolls_on_its_lowest_material(world, solver, integrator, dt):
    """Of all spokes the lowest touches the floor, and the material there stands still; energy stays."""
    sim = lw.Simulation(world(), dt=dt, solver=solver, integrator=integrator)
    start = sim.energy().total
    for _ in range(5):
        sim.step(100)
        heights = [sim.point("wheel", p)[2] for p in RIM]
        foot, (F, h) = RIM[int(np.argmin(heights))], (sim.frame("wheel"), 1e-6)
        assert abs(min(heights)) < 1e-4
        down = F[2, (0, 2)] / np.linalg.norm(F[2, (0, 2)])
        foot = -R * np.array([down[0], 0, down[1]])
        before = sim.point("wheel", foot)
        ahead = lw.Simulation(world(), dt=h, solver=solver, integrator=integrator)
        ahead.set_state(q=sim.q, qd=sim.qd)
        ahead.step()
        assert np.abs((ahead.point("wheel", foot) - before) / h).max() < 1e-4
    assert np.isclose(sim.energy().total, start, rtol=2e-4) and sim.drift() < 1e-7


def test_the_stiffer_a_wheel_the_nearer_it_rolls_downhill_to_a_rigid_one():
    """g sin a / (1 + 1/2)."""
    slope, off = 0.2, []
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    for stiffness in (1e2, 1e3, 1e4):
        world = wheel(lw.ScalableBody, gravity, second_moment=MOMENT, position=(0, 0, R), stiffness=stiffness,
                      damping=0.02 * stiffness)  # fmt: skip
        sim = lw.Simulation(world, dt=2e-3, solver="implicit", integrator="backward-euler")
        sim.step(500)
        off.append(abs(sim.velocity("wheel")[0] - G * np.sin(slope) / 1.5))
    assert off[1] < 0.2 * off[0] and off[2] < 0.2 * off[1] and off[2] < 2e-3


@pytest.mark.parametrize("kind", [lw.ScalableBody, lw.AffineBody])
def test_an_egg_that_stretches_slides_on_the_floor(kind):
    """The lowest point of the surface that is stretched stays on the floor: height = |diag(axes) F^T z|; energy stays."""
    axes = np.array([0.2, 0.3, 0.4])
    world = lw.World(gravity=(0, 0, -G))
    world.add(kind(1.0, (0.01, 0.02, 0.03), position=(0, 0, 0.4), velocity=(0.3, 0, 0), stiffness=30.0, name="egg",
                   **({"angular_velocity": (1.0, 0.5, 0)} if kind is lw.ScalableBody else
                      {"deformation_rate": ((0, 0, 0.5), (0, 0, -1.0), (-0.5, 1.0, 0))})))  # fmt: skip
    touch = world.add(lw.Tangent(world.ground, "egg", lambda p: p[2],
                         lambda p: p[0] ** 2 / 0.04 + p[1] ** 2 / 0.09 + p[2] ** 2 / 0.16 - 1, at=(0, 0, 0)))  # fmt: skip
    assert lw.check(touch).ok
    sim = lw.Simulation(world, dt=1e-3)
    start = sim.energy().total
    sim.step(600)
    assert np.isclose(sim.position("egg")[2], np.linalg.norm(axes * sim.frame("egg")[2]), atol=1e-9)
    assert np.isclose(sim.energy().total, start, rtol=1e-3) and abs(sim.frame("egg")[2, 2] - 1) > 1e-3
