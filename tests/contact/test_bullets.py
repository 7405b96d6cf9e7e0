"""Nothing tunnels: bullets at 500 m/s and sheets of a millimetre, in steps in which they fly half a metre and five metres."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen.jit import INTERPRETED

EVERY = pytest.mark.parametrize("how", [
    {}, {"integrator": "shake"}, {"integrator": "euler"}, {"solver": "implicit"}, {"solver": "aba", "integrator": "joint-euler"},
    {"solver": "ltdl", "integrator": "joint-implicit"},
])  # fmt: skip
DIAMOND = lw.ConvexHull(0.005 * np.vstack([np.eye(3), -np.eye(3)]))
BULLETS = {"ball": lw.Sphere(0.004), "box": lw.Box(0.008, 0.006, 0.01), "hull": DIAMOND, "capsule": lw.Capsule(0.003, 0.008),
           "cylinder": lw.Cylinder(0.004, 0.01), "ellipsoid": lw.Ellipsoid(0.008, 0.006, 0.01)}  # fmt: skip
THIN = 0.001


def cloth():
    """A square of two triangles in z = 0."""
    return lw.Mesh(np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float), np.array([(0, 1, 2), (0, 2, 3)]))


def plate():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-THIN / 2, THIN / 2)], float)
    return lw.ConvexHull(corners)


SHEETS = {"box": (lw.Box(2, 2, THIN), THIN / 2), "hull": (plate(), THIN / 2), "mesh": (cloth(), 0.0),
          "heights": (lw.HeightField(np.zeros((5, 5)), np.array((2.0, 2.0))), 0.0)}  # fmt: skip


def lowest(sim, steps):
    """How low the bullet's middle comes above the sheet, in its frame (m)."""
    least = np.inf
    for _ in range(steps):
        sim.step()
        x, y, z = sim.position("bullet")
        if max(abs(x), abs(y)) < 0.95:
            least = min(least, z)
    return least


@EVERY
@pytest.mark.parametrize("sheet", SHEETS)
def test_a_bullet_does_not_pass_a_sheet_on_the_ground(how, sheet):
    shape, top = SHEETS[sheet]
    for bullet, solid in BULLETS.items():
        for dt, slant in ((1e-2, 0.0), (1e-3, 0.7)) if not INTERPRETED else ((1e-3, 0.0),):
            world = lw.World(gravity=(0, 0, 0))
            world.add(lw.Collider(world.ground, shape, name="sheet"))
            world.add(lw.RigidBody(0.01, shape=solid, position=(-0.3371 * np.tan(slant), 0.013, 0.3371), name="bullet",
                                   velocity=500.0 * np.array([np.sin(slant), 0, -np.cos(slant)]),
                                   angular_velocity=(3, 200, 1) if bullet != "ball" else (0, 0, 0)))  # fmt: skip
            world.add(lw.Contact(friction=0.0))
            assert lowest(lw.Simulation(world, dt=dt, **how), 5) > top, (bullet, dt)


@EVERY
def test_a_bullet_takes_a_loose_sheet_with_it(how):
    for solid in (BULLETS["ball"], BULLETS["box"]):
        world = lw.World()
        world.add(lw.RigidBody(1.0, shape=lw.Box(2, 2, THIN), velocity=(0, 0, 300), name="sheet"))
        world.add(lw.RigidBody(0.01, shape=solid, position=(0, 0, 0.3), velocity=(0, 0, -500), name="bullet"))
        world.add(lw.Contact(friction=0.3, restitution=0.5))
        sim = lw.Simulation(world, dt=1e-3, **how)
        sim.step(5)
        assert sim.position("bullet")[2] - sim.position("sheet")[2] > THIN / 2


@EVERY
def test_bullets_do_not_pass_each_other_nor_leave_a_gap(how):
    world = lw.World(gravity=(0, 0, 0))
    for way in (1, -1):
        world.add(
            lw.RigidBody(0.01, shape=BULLETS["ball"], position=(0, 0, 0.211 * way), velocity=(0, 0, -500 * way), name=f"b{way}")
        )
        world.add(lw.Collider(world.ground, lw.Box(2, 2, THIN), position=(1, 1, 0.05 * way), name=f"plate{way}"))
    world.add(lw.RigidBody(0.01, shape=BULLETS["ball"], position=(1, 1, 0), velocity=(3, 0, -500), name="between"))
    world.add(lw.Contact(friction=0.0, restitution=1.0))
    sim = lw.Simulation(world, dt=1e-3, **how)
    for _ in range(10):
        sim.step()
        assert sim.position("b1")[2] - sim.position("b-1")[2] > 0.0079 and abs(sim.position("between")[2]) < 0.05
