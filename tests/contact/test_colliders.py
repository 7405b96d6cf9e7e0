"""Which pairs touch, what is refused, and what `detect` promises: order, capacity, no memory of what was before."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.codegen.jit import jit
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.detect import detect
from linkwork.errors import ElementError

BALL = lw.Sphere(0.1)


def touching(placed, apart=()):
    """The pairs of colliders that touch with all bodies at the origin."""
    geometry = compile_colliders(placed, apart)
    n = 1 + max((c.body for c in placed), default=0)
    out = contacts_for(1000)
    count = detect(geometry, np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), 0.01, scratch_for(geometry), out)
    return sorted(set(zip(out.a[:count].tolist(), out.b[:count].tolist(), strict=True)))


def test_colliders_of_one_body_and_two_of_the_ground_never_touch():
    assert touching([Placed(BALL, 0), Placed(BALL, 0), Placed(BALL), Placed(BALL), Placed(lw.Plane())]) == [
        (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]  # fmt: skip


def test_groups_rules_and_exceptions():
    balls = [Placed(BALL, k) for k in range(4)]
    assert len(touching(balls)) == 6
    assert touching(balls, apart=[(0, 1), (3, 2), (2, 3)]) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    grouped = [Placed(BALL, k, group=(0, 0, 1, -1)[k]) for k in range(4)]
    assert touching(grouped) == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    ruled = [Placed(BALL, k, rules=((0,), (0, 70), (70,), ())[k]) for k in range(4)]
    assert touching(ruled) == [(0, 1), (1, 2)]


def test_many_exceptions_are_all_found():
    rng = np.random.default_rng(0)
    every = [(a, b) for a in range(30) for b in range(a + 1, 30)]
    apart = [every[k] for k in rng.permutation(len(every))[:200]]
    assert touching([Placed(BALL, k) for k in range(30)], apart) == sorted(set(every) - set(apart))


def pile(rng, n):
    shapes = [
        BALL,
        lw.Box(0.2, 0.15, 0.25),
        lw.Capsule(0.05, 0.2),
        lw.Cylinder(0.1, 0.2),
        lw.ConvexHull(rng.normal(size=(12, 3)) * 0.1),
    ]
    placed = [Placed(lw.Plane()), *(Placed(shapes[k % 5], k, position=(0.01, 0, 0)) for k in range(n))]
    R = np.ascontiguousarray(Rotation.random(n, random_state=rng).as_matrix())
    return compile_colliders(placed), R, rng.uniform(0, 1, (n, 3)) * (0.6, 0.6, 0.5)


def run(geometry, R, p, scratch, capacity=4000, margin=0.01):
    out = contacts_for(capacity)
    count = detect(geometry, R, p, margin, scratch, out)
    return count, out


def test_the_same_input_gives_the_same_bits_whatever_happened_before():
    geometry, R, p = pile(np.random.default_rng(1), 60)
    scratch = scratch_for(geometry)
    count, first = run(geometry, R, p, scratch)
    run(geometry, np.ascontiguousarray(R[::-1]), p[::-1] * 3, scratch)
    again, second = run(geometry, R, p, scratch)
    fresh, third = run(geometry, R, p, scratch_for(geometry))
    assert count == again == fresh > 100
    for x, y, z in zip(first, second, third, strict=True):
        assert x.tobytes() == y.tobytes() == z.tobytes()


def test_contacts_are_ordered_and_known_by_pair_and_feature():
    geometry, R, p = pile(np.random.default_rng(2), 60)
    count, out = run(geometry, R, p, scratch_for(geometry))
    keys = list(zip(out.a[:count].tolist(), out.b[:count].tolist(), out.feature[:count].tolist(), strict=True))
    assert keys == sorted(keys) and len(set(keys)) == count
    assert (out.a[:count] < out.b[:count]).all() and (out.gap[:count] <= 0.01).all()
    assert np.allclose(np.linalg.norm(out.normal[:count], axis=1), 1, atol=1e-12)


def test_features_last_while_contacts_do():
    geometry, R, p = pile(np.random.default_rng(3), 60)
    count, out = run(geometry, R, p, scratch_for(geometry))
    turned = np.ascontiguousarray(Rotation.from_rotvec((1e-7, -2e-7, 1e-7)).as_matrix() @ R)
    later, moved = run(geometry, turned, p + 1e-7, scratch_for(geometry))
    keys = [
        set(zip(o.a[:n].tolist(), o.b[:n].tolist(), o.feature[:n].tolist(), strict=True))
        for n, o in ((count, out), (later, moved))
    ]
    assert len(keys[0] & keys[1]) > 0.99 * count


def test_normals_point_from_the_first_to_the_second_whatever_their_order():
    rng = np.random.default_rng(4)
    for first, second in ((BALL, lw.Box(0.3, 0.3, 0.3)), (lw.Plane(), BALL), (lw.Capsule(0.1, 0.2), lw.Cylinder(0.1, 0.1))):
        bodies = (-1, 0) if isinstance(first, lw.Plane) else (1, 0)
        R, p = np.tile(np.eye(3), (2, 1, 1)), np.array([rng.uniform((0, 0, 0.09), (0.02, 0.02, 0.11)), np.zeros(3)])
        one = run(
            compile_colliders([Placed(first, bodies[0]), Placed(second, bodies[1])]),
            R,
            p,
            scratch_for(compile_colliders([Placed(BALL), Placed(BALL)])),
        )
        other = run(
            compile_colliders([Placed(second, bodies[1]), Placed(first, bodies[0])]),
            R,
            p,
            scratch_for(compile_colliders([Placed(BALL), Placed(BALL)])),
        )
        assert one[0] == other[0] > 0
        assert np.allclose(one[1].normal, -other[1].normal) and np.allclose(one[1].point, other[1].point)


def test_too_little_room_tells_how_much_is_needed():
    geometry, R, p = pile(np.random.default_rng(5), 40)
    count, whole = run(geometry, R, p, scratch_for(geometry))
    needed, part = run(geometry, R, p, scratch_for(geometry), capacity=count // 2)
    assert needed == count
    again, full = run(geometry, R, p, scratch_for(geometry), capacity=needed)
    assert again == count and np.array_equal(full.feature, whole.feature[:count])
    assert run(geometry, R, p, scratch_for(geometry), capacity=0)[0] == count


def test_local_poses_are_those_of_the_body():
    R = Rotation.from_rotvec((0.3, -0.2, 0.9)).as_matrix()[None]
    p, local = np.array([[0.4, 0.1, 0.6]]), np.array([0.1, -0.2, 0.05])
    centre = p[0] + R[0] @ local
    geometry = compile_colliders([Placed(lw.Plane(), position=(0, 0, centre[2] - 0.09)), Placed(BALL, 0, position=local)])
    count, out = run(geometry, np.ascontiguousarray(R), p, scratch_for(geometry))
    assert count == 1 and out.gap[0] == pytest.approx(-0.01) and np.allclose(out.point[0], centre - (0, 0, 0.095))


def test_bodies_that_left_the_finite_numbers_touch_nothing():
    geometry, R, p = pile(np.random.default_rng(6), 20)
    for bad in (np.nan, np.inf, -np.inf, 1e300):
        lost = p.copy()
        lost[3] = bad
        count, out = run(geometry, R, lost, scratch_for(geometry))
        assert count > 0 and np.isfinite(out.point[:count]).all() and np.isfinite(out.normal[:count]).all()


def test_a_step_allocates_nothing():
    from numba.core.runtime import _nrt_python, rtsys

    @jit
    def steps(k, geometry, R, p, scratch, out):
        for _ in range(k):
            detect(geometry, R, p, 0.01, scratch, out)

    geometry, R, p = pile(np.random.default_rng(8), 40)
    arguments = geometry, R, p, scratch_for(geometry), contacts_for(4000)
    steps(1, *arguments)
    _nrt_python.memsys_enable_stats()
    counts = []
    for k in (1, 6):  # a call from Python wraps its arrays, however many steps it takes
        before = rtsys.get_allocation_stats().alloc
        steps(k, *arguments)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    _nrt_python.memsys_disable_stats()
    assert counts[0] == counts[1] > 0


def test_interpreted_and_compiled_routines_agree():
    """`LINKWORK_KERNELS=casadi` runs the same lines as plain Python."""
    compiled = as_lists()
    environment = os.environ | {"LINKWORK_KERNELS": "casadi"}
    command = "import json; from tests.contact.test_colliders import as_lists; print(json.dumps(as_lists()))"
    done = subprocess.run(
        [sys.executable, "-c", command],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    interpreted = json.loads(done.stdout)
    assert interpreted[:3] == compiled[:3]
    for here, there in zip(compiled[3:], interpreted[3:], strict=True):
        assert np.allclose(here, there, rtol=0, atol=1e-6)


def as_lists():
    geometry, R, p = pile(np.random.default_rng(7), 12)
    count, out = run(geometry, R, p, scratch_for(geometry))
    return [field[:count].tolist() for field in out]


SENTENCES = [
    (lambda: lw.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), "ConvexHull: 3 different points enclose no volume; give four at least"),
    (lambda: lw.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0)]), "ConvexHull: all points lie in one plane, so they enclose no volume; give points in space, or a thin Box"),
    (lambda: lw.ConvexHull([(0, 0, 0), (1, 0, 0), (0, np.nan, 0), (1, 1, 1)]), "ConvexHull: points[2, 1] is nan; give finite numbers"),
    (lambda: lw.ConvexHull([(0, 0), (1, 0)]), "ConvexHull: points has the shape (2, 2); give points as rows of three numbers"),
    (lambda: lw.ConvexHull("cube"), "ConvexHull: points is 'cube'; give points as rows of three numbers, such as [(0, 0, 0), (1, 0, 0)]"),
    (lambda: lw.Mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]), "Mesh: triangle 0 of the vertices (0, 1, 2) has no area; leave it out"),
    (lambda: lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)]), "Mesh: triangles[0, 2] is 3 but there are 3 vertices; give numbers from 0 to 2"),
    (lambda: lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2.0)]), "Mesh: triangles is ((0, 1, 2)); give rows of three numbers of vertices, such as [(0, 1, 2)]"),
    (lambda: lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).volume, "Mesh: 3 edges, such as (0, 1), belong to one triangle only, so it encloses no volume; close the holes, or give ConvexHull(vertices)"),
    (lambda: lw.HeightField([[0, 1, 2]], (1, 1)), "HeightField: heights has the shape (1, 3); give two rows and two columns at least"),
    (lambda: lw.HeightField([[0, 1], [np.inf, 2]], (1, 1)), "HeightField: heights[1, 0] is inf; give finite numbers"),
    (lambda: lw.HeightField([[0, 1], [1, 2]], (1, 0)), "HeightField: size is 0; give a finite number greater than 0"),
    (lambda: lw.Plane().volume, "Plane: it encloses no volume; put it on the ground as a collider, or give a body a solid such as Box"),
    (lambda: lw.RigidBody(1.0, (1, 1, 1), shape=lw.Plane()), "RigidBody: shape is Plane(), which only stands on the ground; give a solid such as Box(0.4, 0.1, 0.1)"),
    (lambda: compile_colliders([Placed(lw.Plane(), 0, name="lid")]), 'Placed "lid": a Plane is on a body that moves; put it on the ground, or give a Box of some thickness'),
    (lambda: compile_colliders([Placed(lw.Mesh(np.eye(3), [(0, 1, 2)]), 0)]), "Placed: a Mesh is on a body that moves; put it on the ground, or give ConvexHull(vertices)"),
    (lambda: compile_colliders([Placed(lw.Shape(), 0)]), "Placed: Shape() has no contact geometry; give a shape of linkwork such as Box(0.1, 0.1, 0.1)"),
]  # fmt: skip


@pytest.mark.parametrize("make, sentence", SENTENCES, ids=[s.split(";")[0][:60] for _, s in SENTENCES])
def test_bad_input_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(ElementError, match=f"^{re.escape(sentence)}$"):
        make()
