"""A body and a shape that are declared outside of the package, each in one file: they work wherever the package's own do."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import event

import linkwork as lw
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.detect import detect
from tests.elements.outside.frustum import Frustum
from tests.elements.outside.gyrostat import Gyrostat

HERE = Path(__file__).parent
INERTIA, WHEEL = (0.4, 0.4, 0.6), 0.2
STEPPED = [
    ("tree", "rattle"),
    ("dense", "rattle"),
    ("cg", "rattle"),
    ("anticipation", "rattle"),
    ("tree", "euler"),
    ("tree", "rk4"),
]


def top(**given):
    usual = {"inertia": INERTIA, "wheel_inertia": WHEEL, "wheel_rate": 9.0, "angular_velocity": (0.5, 0.0, 1.0), "name": "top"}
    return Gyrostat(2.0, **{**usual, **given})


def angular_momentum(sim, body="top"):
    R, w = sim.frame(body), sim.angular_velocity(body)
    rate = sim.work[sim.model.field_of_body(sim.model.names[body][1], "v")][6]
    return R @ np.diag(INERTIA) @ R.T @ w + WHEEL * rate * R[:, 2]


@pytest.mark.parametrize("solver, integrator", STEPPED)
def test_a_symmetric_gyrostat_precesses_about_its_angular_momentum(solver, integrator):
    """Its axis goes around L with |L| / I across, whatever the wheel does."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(top())
    sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator=integrator)
    L = angular_momentum(sim)
    sim.step(500)
    e, turn = L / np.linalg.norm(L), np.linalg.norm(L) / INERTIA[0] * 0.5
    start = np.array([0.0, 0, 1])
    along = e * (e @ start)
    expected = along + np.cos(turn) * (start - along) + np.sin(turn) * np.cross(e, start)
    slack = 5e-3 if integrator == "euler" else 2e-6
    np.testing.assert_allclose(sim.frame("top")[:, 2], expected, atol=slack)
    np.testing.assert_allclose(angular_momentum(sim), L, atol=slack)


def hung(**given):
    """A rigid arm on a hinge, and the gyrostat on a ball at its end."""
    world = lw.World(gravity=(0, 0, -9.81))
    arm = world.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    body = world.add(top(position=(1.0, 0, -0.4), **{"velocity": (0, 0.2, 0), **given}))
    world.add(lw.Hinge(world.ground, arm, (0, 0, 0), (0, 1, 0), name="pin"))
    world.add(lw.Ball(arm, body, (1.0, 0, 0), name="socket"))
    return world


@pytest.mark.parametrize("solver, integrator", STEPPED)
def test_energy_is_kept_on_joints_and_all_solvers_agree(solver, integrator):
    sim, twin = (lw.Simulation(hung(), dt=1e-3, solver=s, integrator=integrator) for s in (solver, "dense"))
    before = sim.energy().total
    sim.step(300)
    twin.step(300)
    assert sim.energy().total == pytest.approx(before, abs=0.05 if integrator == "euler" else 1e-4)
    np.testing.assert_allclose(sim.position("top"), twin.position("top"), atol=1e-8)
    assert sim.drift() < 1e-3


def test_implicit_steps_approach_the_same_motion():
    ends = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(hung(), dt=dt, solver="implicit")
        sim.step(round(0.2 / dt))
        ends.append(sim.position("top"))
    exact = lw.Simulation(hung(), dt=1e-3)
    exact.step(200)
    errors = [np.linalg.norm(end - exact.position("top")) for end in ends]
    assert errors[1] < 0.7 * errors[0] < 0.05


def test_all_that_it_says_of_itself_is_checked_by_differences():
    world = hung(orientation=(0.5, 0.1, -0.7, 0.5))
    report = lw.check(world.find("top"))
    assert report.ok, report.problems


def test_reads():
    sim = lw.Simulation(hung(), dt=1e-3)
    sim.step(100)
    a, alpha = sim.acceleration("top"), sim.angular_acceleration("top")
    pull, w, R = sim.reaction("socket"), sim.angular_velocity("top"), sim.frame("top")
    np.testing.assert_allclose(2.0 * a, pull.force + 2.0 * np.array([0, 0, -9.81]), atol=1e-8)
    rate = sim.work[sim.model.field_of_body(1, "v")][6]
    inertia = R @ np.diag(INERTIA) @ R.T
    wheel = -R[:, 2] @ alpha  # nothing acts on the wheel: a.w + s stays
    torque = inertia @ alpha + WHEEL * wheel * R[:, 2] + np.cross(w, inertia @ w + WHEEL * rate * R[:, 2])
    np.testing.assert_allclose(np.cross(pull.at - sim.position("top"), pull.force) + pull.torque, torque, atol=1e-7)
    assert sim.jacobian("top").shape == (3, 7)
    np.testing.assert_allclose(sim.point("top", (0, 0, 0.4)), sim.point("arm", (0.5, 0, 0)), atol=1e-6)


def test_frames():
    world = hung()
    world.add(lw.Frame("top", position=(0.1, 0.2, 0.3), orientation=(0.5, 0.5, -0.5, 0.5), name="rim"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(100)
    arm, w, alpha = sim.frame("top") @ (0.1, 0.2, 0.3), sim.angular_velocity("top"), sim.angular_acceleration("top")
    np.testing.assert_allclose(sim.position("rim"), sim.position("top") + arm, atol=1e-14)
    np.testing.assert_allclose(sim.velocity("rim"), sim.velocity("top") + np.cross(w, arm), atol=1e-13)
    turning = np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    np.testing.assert_allclose(sim.acceleration("rim"), sim.acceleration("top") + turning, atol=1e-11)
    np.testing.assert_allclose(sim.frame_jacobian("rim") @ sim.qd, sim.twist("rim"), atol=1e-12)


def test_states_go_from_solver_to_solver_and_through_pickles():
    sim = lw.Simulation(hung(), dt=1e-3)
    sim.step(50)
    copied, other = pickle.loads(pickle.dumps(sim)), lw.Simulation(hung(), dt=1e-3, solver="dense")
    other.state = sim.state
    for each in (sim, copied, other):
        each.step(50)
    np.testing.assert_array_equal(copied.position("top"), sim.position("top"))
    np.testing.assert_allclose(other.position("top"), sim.position("top"), atol=1e-9)


def test_joint_coordinates_refuse_it_by_name():
    with pytest.raises(lw.LinkworkError, match='Gyrostat "top": joint coordinates are those of rigid bodies'):
        lw.reduced.compile(hung())


def test_it_is_recorded_and_painted(tmp_path):
    sim = lw.Simulation(hung(shape=Frustum(0.3, 0.1, 0.4)), dt=1e-3)
    rec = sim.run(0.1, record_every=0.02)
    np.testing.assert_array_equal(rec.position[-1, 1], sim.position("top"))
    np.testing.assert_array_equal(rec.orientation[-1, 1], sim.orientation("top"))
    assert rec.animate(tmp_path / "run.gif", size=(120, 90)).stat().st_size > 1000
    assert rec.replay(tmp_path / "run.html").stat().st_size > 1000


# -- the shape -----------------------------------------------------------------------------------------------------------
def test_its_moments_are_those_of_a_hull_with_many_sides():
    cone, angle = Frustum(0.5, 0.2, 0.7), np.linspace(0, 2 * np.pi, 400, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    hull = lw.ConvexHull(np.concatenate([np.c_[0.5 * ring, np.zeros(400)], np.c_[0.2 * ring, np.full(400, 0.7)]]))
    assert cone.volume == pytest.approx(hull.volume, rel=1e-4)
    np.testing.assert_allclose(cone.inertia(3.0), hull.inertia(3.0), rtol=1e-4, atol=1e-12)
    low, high = cone.bounds()
    np.testing.assert_allclose(np.array([low, high]), [hull.points.min(axis=0), hull.points.max(axis=0)], atol=1e-4)
    facets = cone.facets(24)
    assert lw.ConvexHull(facets.vertices).volume == pytest.approx(cone.volume, rel=0.05)


def touched(shape, other, R, p, margin=2.0):
    geometry = compile_colliders([Placed(other), Placed(shape, body=0)])
    scratch, out = scratch_for(geometry), contacts_for(64)
    count = detect(geometry, np.ascontiguousarray(R)[None], np.ascontiguousarray(p)[None], margin, scratch, out)
    return min(range(count), key=lambda k: out.gap[k]), out, count


@pytest.mark.parametrize("other", [lw.Sphere(0.2), lw.Box(0.4, 0.3, 0.2), lw.Capsule(0.1, 0.3), lw.Ellipsoid(0.3, 0.4, 0.5), lw.Plane(),
                                   lw.ConvexHull([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)]),
                                   lw.Mesh([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [(0, 1, 2), (0, 2, 3)])], ids=lambda s: type(s).__name__)  # fmt: skip
def test_as_a_cylinder_it_touches_as_a_cylinder_does(other):
    rng, flat = np.random.default_rng(1), isinstance(other, (lw.Plane, lw.Mesh))
    for _ in range(30):
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        R, p = q * np.sign(np.linalg.det(q)), 0.35 * rng.normal(size=3)
        p[2] = 0.15 + abs(p[2]) if flat else p[2]
        found = []
        for shape in (Frustum(0.2, 0.2, 0.5), lw.Cylinder(0.2, 0.5)):
            k, out, _ = touched(shape, other, R, p)
            found.append((out.gap[k], out.normal[k].copy()))
        assert found[0][0] == pytest.approx(found[1][0], abs=2e-7)
        if abs(found[0][0]) > 1e-3:
            assert found[0][1] @ found[1][1] > 1 - 1e-5


class Brick(lw.Box):
    """Another shape, which collides by its support function alone."""

    collision = lw.Shape.collision


def test_contact_is_compiled_once_for_all_shapes_from_outside():
    """Once a world with one has run, another shape has its support function compiled, and nothing else."""
    others = lw.Plane(), lw.Box(1, 1, 1), lw.Sphere(0.1), Frustum(0.2, 0.1, 0.5)
    place = np.eye(3), np.array([0.1, 0.2, 0.3])
    for other in others:
        touched(Frustum(0.2, 0.1, 0.5), other, *place)
    with event.install_recorder("numba:compile") as recorder:
        for other in others:
            touched(Brick(0.2, 0.1, 0.5), other, *place)
    assert {record.data["dispatcher"].py_func for _, record in recorder.buffer} <= {lw.Box.support}


@pytest.mark.parametrize("seed", range(10))
def test_a_box_by_its_support_function_touches_as_a_box_does(seed):
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    R, p = q * np.sign(np.linalg.det(q)), 0.3 * rng.normal(size=3)
    found = []
    for shape in (Brick(0.2, 0.3, 0.4), lw.Box(0.2, 0.3, 0.4)):
        k, out, _ = touched(shape, lw.Ellipsoid(0.3, 0.2, 0.4), R, p)
        found.append((out.gap[k], out.normal[k].copy()))
    assert found[0][0] == pytest.approx(found[1][0], abs=2e-7)
    assert found[0][1] @ found[1][1] > 1 - 1e-5


FLOORS = {
    "plane": (lw.Plane(), 0.0),
    "box": (lw.Box(4, 4, 1), -0.5),
    "mesh": (lw.Mesh([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [(0, 1, 2), (0, 2, 3)]), 0.0),
    "one of its kind": (Frustum(2.0, 2.0, 1.0), -0.5),
}
CONTACT = [("tree", "rattle"), ("tree", "euler"), ("tree", "shake"), ("implicit", "backward-euler")]


@pytest.mark.parametrize("floor, way", [*((floor, CONTACT[0]) for floor in FLOORS), *(("plane", way) for way in CONTACT[1:])])
def test_a_body_from_outside_with_a_shape_from_outside_stands_on_its_flat_end(floor, way):
    world, cone, (shape, z) = lw.World(), Frustum(0.3, 0.1, 0.4), FLOORS[floor]
    height = -cone.bounds()[0][2]
    still = {"inertia": None, "wheel_inertia": 1e-3, "angular_velocity": (0, 0, 0)}
    world.add(top(shape=cone, position=(0, 0, height + 1e-3), **still))
    world.add(lw.Collider(world.ground, shape, position=(0, 0, z)))
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world, dt=2e-3, solver=way[0], integrator=way[1])
    sim.step(500)
    assert len(sim.contacts()) >= 3
    assert sim.position("top")[2] == pytest.approx(height, abs=1e-4)
    assert sim.frame("top")[2, 2] > 1 - 1e-6
    assert np.abs(sim.velocity("top")).max() < 1e-5


# -- files ---------------------------------------------------------------------------------------------------------------
SCRIPT = """
import numpy as np
import linkwork as lw
from frustum import Frustum
from gyrostat import Gyrostat

world = lw.World()
world.add(Gyrostat(2.0, wheel_inertia=1e-3, wheel_rate=20.0, shape=Frustum(0.3, 0.1, 0.4), position=(0, 0, 1), name="top"))
world.add(lw.Collider("ground", Frustum(0.5, 0.4, 0.2), name="stone"))
lw.save(world, "top.yaml")
text = open("top.yaml").read()
assert "Gyrostat" in text and "Frustum" in text and "import" not in text
back = lw.load("top.yaml")
assert type(back.find("top")) is Gyrostat and back.find("top").shape == Frustum(0.3, 0.1, 0.4)
np.testing.assert_array_equal(back.find("top").inertia, world.find("top").inertia)
open("units.yaml", "w").write(text.replace("wheel_rate: 20", "wheel_rate: 20 rad/s"))
assert lw.load("units.yaml").find("top").wheel_rate == 20.0
rec = lw.Simulation(back, dt=1e-3).run(0.05, record_every=0.01)
for ending in (".npz", ".nc"):
    rec.save("run" + ending)
    again = lw.Recording.load("run" + ending)
    assert again.shapes["top"] == Frustum(0.3, 0.1, 0.4)
    np.testing.assert_array_equal(again.position, rec.position)
print("done")
"""


def installed(folder: Path, points: str) -> Path:
    """A package that names entry points, as an installer leaves it."""
    facts = folder / "outside-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[linkwork.elements]\n{points}")
    return folder


def run(script, folder, *places):
    path = os.pathsep.join([str(folder), str(HERE), *map(str, places), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )


def test_scene_files_and_recordings_know_what_is_installed(tmp_path):
    found = run(SCRIPT, installed(tmp_path, "Gyrostat = gyrostat:Gyrostat\nFrustum = frustum:Frustum\n"))
    assert found.stdout.strip() == "done", found.stderr


def test_a_file_imports_nothing(tmp_path):
    (tmp_path / "top.yaml").write_text("linkwork: 1\nelements:\n  - Gyrostat: {name: top, mass: 1}\n")
    found = run("import linkwork as lw; lw.load('top.yaml')", tmp_path)
    assert 'there is no element of the kind "Gyrostat"' in found.stderr


@pytest.mark.parametrize("points, said", [("RigidBody = gyrostat:Gyrostat\n", "there is an element of this name already"),
                                          ("Top = gyrostat:Gyrostat\n", "it is no class of elements or shapes of this name")])  # fmt: skip
def test_entry_points_that_cannot_be_are_refused(tmp_path, points, said):
    (tmp_path / "top.yaml").write_text("linkwork: 1\nelements:\n  - Particle: {name: top, mass: 1}\n")
    found = run("import linkwork as lw; lw.load('top.yaml')", installed(tmp_path, points))
    assert said in found.stderr
