"""A force and a constraint that are declared outside of the package, each in one file: they work wherever the package's own do."""

import pickle

import numpy as np
import pytest

import linkwork as lw
import linkwork.kinds as lk
from linkwork.elements.core.registry import outside_digest
from tests.elements.outside.attraction import Attraction, AttractionKind
from tests.elements.outside.gardeners_string import GardenersString
from tests.elements.outside.test_outside import STEPPED, installed, run

WITH_IMPLICIT = [*STEPPED, ("implicit", "backward-euler")]
IN_JOINTS = [("ltdl", "joint-rk4"), ("ltdl", "joint-euler"), ("ltdl", "joint-implicit"), ("aba", "joint-rk4")]
ORDER = {"rattle": 2, "rk4": 4, "euler": 1, "backward-euler": 1}


def orbit(strength=1.0, **given):
    """A planet on a circle of 1 m around a sun that is held: angle t."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(5.0, name="sun"))
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(0, 1, 0), name="planet"))
    world.add(lw.Ball(world.ground, "sun", (0, 0, 0), name="held"))
    world.add(Attraction("sun", "planet", strength, name="gravity", **given))
    return world


@pytest.mark.parametrize("solver, integrator", WITH_IMPLICIT)
def test_a_planet_goes_round(solver, integrator):
    """Its error falls with the order of the integrator, and rk4's is that of rounding."""
    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(orbit(), dt=dt, solver=solver, integrator=integrator)
        sim.step(round(1 / dt))
        errors.append(float(np.abs(sim.position("planet") - (np.cos(1), np.sin(1), 0)).max()))
    assert errors[1] < 1e-11 or errors[1] == pytest.approx(errors[0] / 2 ** ORDER[integrator], rel=0.1)
    assert errors[0] < 0.01
    np.testing.assert_allclose(sim.force("gravity").force, -sim.position("planet"), atol=0.01)


def test_its_power_is_what_its_potential_loses():
    sim = lw.Simulation(orbit(strength=0.7, softening=0.1), dt=1e-3, integrator="rk4")
    before = sim.energy()
    sim.step(2000)
    assert sim.energy().total == pytest.approx(before.total, abs=1e-10)
    assert abs(sim.energy().potential - before.potential) > 0.05


def pencil(action):
    """In the x-z plane, in the string's loop around two pegs at x = -1 and 1."""
    world = lw.World(gravity=(0, 0, -9.81))
    world.add(lw.Particle(1.0, position=(0, 0, np.sqrt(3)), velocity=(1, 0, 0), name="pencil"))
    world.add(lw.PointOnPlane(world.ground, "pencil", normal=(0, 1, 0), name="paper"))
    world.add(action)
    return world


def string(**given):
    return GardenersString("ground", "pencil", (-1, 0, 0), (1, 0, 0), name="string", **given)


@pytest.mark.parametrize("solver, integrator", WITH_IMPLICIT)
def test_a_pencil_draws_an_ellipse(solver, integrator):
    """x^2 / 4 + z^2 / 3 = 1; and as a user's function it has the same motion and the same reaction."""

    def written(b, t):
        return lw.norm(b.position - (-1, 0, 0)) + lw.norm(b.position - (1, 0, 0)) - 4.0

    sims = [lw.Simulation(pencil(action), dt=1e-3, solver=solver, integrator=integrator)
            for action in (string(length=4.0), string(), lw.Constraint("pencil", written, name="string"))]  # fmt: skip
    for sim in sims:
        sim.step(400)
    x, y, z = sims[0].position("pencil")
    loose = 1e-3 if integrator in ("euler", "rk4") else 1e-9
    assert x**2 / 4 + z**2 / 3 == pytest.approx(1.0, abs=loose) and abs(y) < 1e-12 and x > 0.3
    for sim in sims[1:]:
        np.testing.assert_allclose(sim.position("pencil"), (x, y, z), atol=1e-12)
    np.testing.assert_allclose(sims[2].reaction("string").force, sims[0].reaction("string").force, atol=1e-8)


@pytest.mark.parametrize("solver, integrator", IN_JOINTS)
def test_both_in_joint_coordinates(solver, integrator):
    """An arm of two links whose tip is attracted, and, where loops can be closed, in the string: as in maximal coordinates."""

    def world():
        found = lw.World()
        found.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="upper"))
        found.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 1), position=(1, 0, -0.5), name="lower"))
        found.add(lw.Hinge(found.ground, "upper", (0, 0, 0), (0, 1, 0), name="shoulder"))
        found.add(lw.Hinge("upper", "lower", (1, 0, 0), (0, 1, 0), name="elbow"))
        found.add(Attraction(found.ground, "lower", 3.0, 0.1, on_a=(0, 0, 2), on_b=(0, 0, -0.5), name="pull"))
        if solver != "aba":
            found.add(GardenersString(found.ground, "lower", (0, 0, -1), (0, 0, 1), on_b=(0, 0, -0.5), name="string"))
        return found

    sim, twin = lw.Simulation(world(), dt=1e-3, solver=solver, integrator=integrator), lw.Simulation(world(), dt=1e-3)
    for each in (sim, twin):
        each.step(300)
    slack = 2e-2 if integrator in ("joint-euler", "joint-implicit") else 1e-5
    np.testing.assert_allclose(sim.position("lower"), twin.position("lower"), atol=slack)
    assert abs(sim.angle("elbow")) > 0.1 and sim.drift() < 1e-6


@pytest.mark.parametrize("element", ["gravity", "string"])
def test_all_that_they_say_of_themselves_is_checked_by_differences(element):
    world = orbit() if element == "gravity" else pencil(string())
    report = lw.check(world.find(element))
    assert report.ok, report.problems


def test_parameters_pickles_edits_and_states():
    strength = lw.Parameter(1.0, name="G")
    sim = lw.Simulation(orbit(strength), dt=1e-3)
    sim.step(100)
    copied = pickle.loads(pickle.dumps(sim))
    for each in (sim, copied):
        each.set("G", 2.0)
        each.step(100)
        each.switch("gravity", False)
        before = each.velocity("planet")
        each.step(50)
        np.testing.assert_array_equal(each.velocity("planet"), before)
    np.testing.assert_array_equal(copied.position("planet"), sim.position("planet"))


def test_a_string_that_comes_into_force_too_short_is_drawn_in():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, position=(0, 0, np.sqrt(3)), name="pencil"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(10)
    with pytest.warns(lw.Note, match='GardenersString "string": it is off by 0.1'):
        world.add(string(length=3.9))
        sim.step(1)
    sim.step(400)
    assert sim.drift() < 1e-9


def test_they_are_recorded_and_painted(tmp_path):
    world = pencil(string())
    world.add(Attraction(world.ground, "pencil", 2.0, 0.1, name="pull"))
    recording = lw.Simulation(world, dt=1e-3).run(0.2, record_every=0.05, record=["string"])
    assert np.abs(recording.extra["reaction string"]).max() > 1.0
    assert recording.animate(tmp_path / "run.gif", size=(120, 90)).stat().st_size > 1000
    assert recording.replay(tmp_path / "run.html").stat().st_size > 1000


def test_kernels_are_kept_under_the_digest_of_the_file():
    kind = lk.kind_for(Attraction("a", "b", 1.0))
    assert kind.key == "Attraction" + outside_digest(AttractionKind) and "@" in kind.key


SCRIPT = """
import numpy as np
import linkwork as lw
from attraction import Attraction
from gardeners_string import GardenersString

world = lw.World(gravity=(0, 0, 0))
world.add(lw.Particle(1.0, position=(0, 0, 1), velocity=(1, 0, 0), name="pencil"))
world.add(GardenersString(world.ground, "pencil", (-1, 0, 0), (1, 0, 0), name="string"))
world.add(Attraction(world.ground, "pencil", 2.0, name="pull"))
lw.save(world, "ellipse.yaml")
text = open("ellipse.yaml").read()
assert "Attraction" in text and "GardenersString" in text and "import" not in text
back = lw.load("ellipse.yaml")
assert type(back.find("pull")) is Attraction and type(back.find("string")) is GardenersString
open("units.yaml", "w").write(text.replace("strength: 2", "strength: 2 N m^2"))
assert lw.load("units.yaml").find("pull").strength == 2.0
sims = [lw.Simulation(each, dt=1e-3) for each in (world, back)]
for sim in sims:
    sim.step(100)
np.testing.assert_array_equal(sims[0].position("pencil"), sims[1].position("pencil"))
open("whole.yaml", "w").write("linkwork: 1\\ngravity: [0, 0, 0]\\nelements:\\n  - include: ellipse.yaml\\n    position: [0, 5, 0]\\n")
moved = lw.Simulation(lw.load("whole.yaml"), dt=1e-3)
moved.step(100)
np.testing.assert_allclose(moved.position("pencil") - (0, 5, 0), sims[0].position("pencil"), atol=1e-12)
print("done")
"""


def test_scene_files_know_what_is_installed(tmp_path):
    points = "Attraction = attraction:Attraction\nGardenersString = gardeners_string:GardenersString\n"
    found = run(SCRIPT, installed(tmp_path, points))
    assert found.stdout.strip() == "done", found.stderr


# -- what a kind lacks ----------------------------------------------------------------------------------------------------
class Mute(lk.ForceElement):
    pass


class Lazy(lk.ConstraintElement):
    pass


@pytest.mark.parametrize("base, element, has, lacks", [
    (lk.ForceKind, Mute, {}, "law, parameters"),
    (lk.ForceKind, Mute, {"parameters": None, "law": None, "axial": True}, "along"),
    (lk.ConstraintKind, Lazy, {}, "parameters, rows"),
    (lk.ConstraintKind, Lazy, {"parameters": None, "rows": None, "levels": [], "force_directed": True}, "rates"),
    (lk.ConstraintKind, Lazy, {"parameters": None, "rows": None, "levels": [], "commanded": True}, "sent, stayed"),
    (lk.ConstraintKind, Lazy, {"parameters": None, "rows": None}, "levels"),
])  # fmt: skip
def test_what_a_kind_lacks_is_an_error_where_it_is_declared(base, element, has, lacks):
    with pytest.raises(TypeError, match=f"^OddKind: it lacks {lacks};"):
        lk.kind_of(element)(type("OddKind", (base,), has))


def test_a_flag_that_is_turned_on_later_promises_the_same():
    class Later(AttractionKind):
        def __init__(self, element):
            self.key, self.axial = "later", True

    with pytest.raises(TypeError, match="^Later: it lacks along; a kind of Attraction needs them"):
        Later.of(Attraction("a", "b", 1.0))


def test_what_cannot_be_put_elsewhere_is_refused(tmp_path):
    assert Mute().include_at(None) == "nothing is known of how it could be moved"
