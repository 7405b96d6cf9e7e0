"""The example of hernandez11, figure 2 and eq. (5): six bodies, five joints, forces between the bodies of each joint."""

import numpy as np
import pytest

import linkwork as lw
from tests.implicit.systems import assembled, parts_of, simulation, solved, start_step
from tests.solvers.forests import unit

JOINTS = {1: (1, 2), 2: (2, 3), 3: (2, 4), 4: (1, 5), 5: (5, 6)}
FORMS = [("symmetric", True), ("symmetric", False), ("exact", False)]
forms = pytest.mark.parametrize(("tangent", "limbs"), FORMS, ids=["limbs", "fronts", "exact"])


def six_bodies(root, springs=True):
    """`root` is the body that is eliminated last: the one that was added first."""
    rng, made = np.random.default_rng(11), {}
    for k in range(1, 7):
        made[k] = lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), position=rng.normal(size=3), orientation=unit(rng, 4),
                               velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), com=0.1 * rng.normal(size=3),
                               name=f"body {k}")  # fmt: skip
    world = lw.World()
    for k in (root, *[k for k in made if k != root]):
        world.add(made[k])
    for k, (a, b) in JOINTS.items():
        joint = world.add(lw.Ball(made[a], made[b], at=rng.normal(size=3), name=f"joint {k}"))
        world.add(lw.JointSpring(joint, 30.0, damping=1.0))
        if springs:  # which couple places, too
            world.add(lw.Spring(made[a], made[b], 200.0, rest=0.5, damping=1.0, on_a=0.2 * rng.normal(size=3)))
    return world


@pytest.mark.parametrize("root", range(1, 7))
@forms
def test_every_body_may_be_the_root(root, tangent, limbs):
    sim = simulation(six_bodies(root, springs=not limbs), tangent, limbs=limbs)  # with springs there are no limbs
    assert sim.model.forest.parent[0] == -1 and sim.model.bodies.elements[0].name == f"body {root}"
    assert bool(sim.model.joint_pivot_of) == limbs
    start_step(sim)
    A, r = assembled(sim, "begin")
    expected = np.linalg.solve(A, r)
    np.testing.assert_allclose(solved(sim, "begin"), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@forms
def test_the_matrix_has_the_blocks_of_equation_5(tangent, limbs):
    sim = simulation(six_bodies(1), tangent, limbs=limbs)
    start_step(sim)
    A, part = assembled(sim, "begin")[0], parts_of(sim.model)
    number = {name: k for k, name in enumerate([b.name for b in sim.model.bodies.elements])}
    number |= {node.elements[0].name: 6 + k for k, node in enumerate(sim.model.nodes)}
    there = {(f"body {k}", f"body {k}") for k in range(1, 7)}
    for k, (a, b) in JOINTS.items():
        there |= {(f"body {a}", f"body {b}"), (f"joint {k}", f"body {a}"), (f"joint {k}", f"body {b}")}
    for one, i in number.items():
        for other, j in number.items():
            block = A[part[i], part[j]]
            assert block.any() == ((one, other) in there or (other, one) in there), (one, other)


@pytest.mark.parametrize("iterations", [1, None])
@forms
def test_the_motion_does_not_depend_on_the_root(tangent, limbs, iterations):
    ends = []
    for root in range(1, 7):
        sim = simulation(six_bodies(root, springs=not limbs), tangent, dt=1 / 60, limbs=limbs, iterations=iterations)
        sim.step(5)
        ends.append([sim.position(f"body {k}") for k in range(1, 7)])
    np.testing.assert_allclose(ends, np.broadcast_to(ends[0], np.shape(ends)), rtol=0, atol=1e-9)
