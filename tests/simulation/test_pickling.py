"""Worlds, models and simulations, pickled and copied: the same bits, the same parameters, and no code."""

import copy
import io
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.core.traced import Traced
from linkwork.model.compile_model import compile

CLONES = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
clones = pytest.mark.parametrize("clone", CLONES, ids=["deepcopy", "pickle"])
INTEGRATORS = ["rattle", "euler", "rk4", "dopri5", "first-order"]


def functions(velocities=True):
    """Every element that takes a function, with Parameters in fields, in functions, and in both."""
    world = lw.World()
    k, c, height = lw.Parameter(4.0, name="k"), lw.Parameter(0.3), lw.Parameter(0.5, name="height")
    for n, x in enumerate(np.arange(8.0)):
        world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(x, 0, 0), name=f"body{n}"))
    world.add(lw.Particle(0.3, position=(1, 0, 1), name="bead"))
    world.add(lw.Particle(0.3, position=(0.5, 3, 0.25), name="drop"))
    world.add(lw.Hinge(world.ground, "body0", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Drive("axle", lambda t: c * lw.sin(t), name="drive"))
    world.add(lw.Slider(world.ground, "body1", at=(1, 0, 0), axis=(1, 0, 0), name="rail"))
    world.add(lw.Motion("rail", lambda t: 0.2 * t**2 * k, name="push"))
    world.add(lw.Motion("body2", lambda t: (2 + 0.1 * t, 0, 0.2 * t), at=(0.0, 0.0, 0.0), name="carried"))
    world.add(lw.Constraint("body3", lambda b, t: lw.dot(b.point((0, 0, 0.2)), (0, 0, 1)) - 0.2, name="sheet"))
    world.add(lw.Constraint("body3", "body4", lambda a, b, t: lw.norm(a.position - b.position) - 1.0, name="rod"))
    turn = lw.VelocityConstraint("body5", lambda b, t: b.spin((0, 0, 2)) - height * lw.cos(t), name="turn")
    world.add(turn)
    world.add(lw.PointOnCurve(world.ground, "bead", lambda p: (p[2] - p[0] ** 2, p[1]), name="wire"))
    world.add(lw.PointOnSurface(world.ground, "drop", lambda p: p[2] - height * p[0], name="roof"))
    world.add(lw.Force("body4", lambda b, t: -k * (b.position - b.direction((0, 1, 0))), name="pull"))
    world.add(lw.Force("body5", "body6", lambda a, b, t: c * (a.position - b.position), on_a=(0, 0, 0.1), name="pair"))
    world.add(lw.Force("body6", lambda b, t: 0.1 * k * b.orientation[:, 0], torque=True, name="twist"))
    world.add(lw.Wrench("body7", force=lambda t: (0, lw.sin(t), c), torque=lambda t: (t, 0, 0), frame="body", name="jet"))
    world.add(lw.Spring("body6", "body7", k, rest=0.8, name="spring"))
    world.add(lw.Motor("axle", name="motor"))
    if velocities:
        world.add(lw.Force("body7", lambda b, t: -c * lw.norm(b.velocity) * b.velocity, name="air"))
    return world


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, dt=2e-3, **options)


def same(a, b):
    assert (a.time, a.steps, a.age) == (b.time, b.steps, b.age) and a.values.tobytes() == b.values.tobytes()


@clones
def test_a_world_with_functions_moves_the_same(clone):
    world = functions()
    first, second = quietly(world), quietly(clone(world))
    first.step(40)
    second.step(40)
    same(first.state, second.state)
    assert np.abs(second.position("body7") - (7, 0, 0)).max() > 1e-3


@clones
def test_a_copy_of_a_copy_is_the_same_expression(clone):
    world = functions()
    twin = clone(world)
    again = clone(twin)
    for name in ("pull", "pair", "rod", "push", "turn"):
        given, found = world.find(name).traced("function"), again.find(name).function
        assert isinstance(found, Traced) and found.digest == given.digest and found is not twin.find(name).function


@clones
def test_a_copy_needs_no_new_kernels(clone):
    from linkwork.codegen.loader import LOADER

    world = functions()
    quietly(world).step()
    before = LOADER.compiled
    quietly(clone(world)).step()
    assert LOADER.compiled == before


@clones
def test_parameters_stay_shared_and_keep_their_names(clone):
    world = functions()
    quietly(world)  # names the nameless one
    twin = clone(world)
    k, c = twin.find("spring").stiffness, twin.find("air").function.parameters[0]
    assert k is not world.find("spring").stiffness and (k.name, k.value) == ("k", 4.0)
    for name in ("pull", "push", "twist"):
        assert twin.find(name).function.parameters == [k]
    assert twin.find("pair").function.parameters == twin.find("drive").rate.parameters == [c]
    assert c.name == "parameter1"
    sims = quietly(world), quietly(twin)
    sims[1].set(k, 9.0)
    assert [sim.get("k") for sim in sims] == [4.0, 9.0]


@clones
def test_elements_refer_to_the_bodies_of_their_own_world(clone):
    twin = clone(functions())
    for element in (*twin.constraints, *twin.forces):
        assert all(other in twin for _, _, other in element.references())


@pytest.mark.parametrize(
    ("clone", "solver"), [(CLONES[0], "tree"), *((CLONES[1], name) for name in ("tree", "fronts", "dense"))]
)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_simulation_goes_on_bit_for_bit(clone, solver, integrator):
    sim = quietly(functions(velocities=integrator != "first-order"), solver=solver, integrator=integrator)
    sim.control["motor"] = 0.7
    sim.set("k", 5.0)
    sim.step(7)
    twin = clone(sim)
    assert twin.world is not sim.world and twin.control["motor"] == 0.7 and twin.get("k") == 5.0
    same(sim.state, twin.state)
    for one in (sim, twin):
        one.step(9)
    same(sim.state, twin.state)
    assert sim.energy() == twin.energy() and sim.drift() == twin.drift()
    assert sim.reaction("rod").force.tobytes() == twin.reaction("rod").force.tobytes()
    for one in (sim, twin):
        one.reset()
        one.step(2)
    same(sim.state, twin.state)


def test_options_and_notes_are_kept():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob"))
    sim = quietly(world, integrator="euler", stiffness=3.0, damping=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a note is not told twice
        twin = copy.deepcopy(sim)
    assert twin.dt == sim.dt and len(twin.notes) == 1 and twin.notes == sim.notes
    sim.step(50)
    twin.step(50)
    same(sim.state, twin.state)


def test_what_was_added_since_is_taken_up():
    world = functions()
    sim = quietly(world)
    sim.step(3)
    world.add(lw.Drag("body7", 0.3, name="late"))
    twin = copy.deepcopy(sim)
    assert "late" in twin.model.names
    world.add(lw.Particle(1.0, name="later"))
    assert "later" in pickle.loads(pickle.dumps(sim)).model.names


@clones
def test_a_model_is_compiled_again(clone):
    world = functions()
    model = compile(world, limbs=False, packed=True)
    twin, of = clone((model, world))
    assert twin.world is of and twin.summary() == model.summary() and not twin.joint_pivot_of and twin.packed == model.packed
    np.testing.assert_array_equal(twin.workspace(), model.workspace())
    world.add(lw.Particle(1.0))
    with pytest.raises(lw.ModelError, match=r"^Model: its world has changed since it was compiled; compile the world again"):
        clone(model)


def test_no_code_is_pickled():
    class Watchful(pickle.Unpickler):
        asked: set = set()

        def find_class(self, module, name):
            self.asked.add(module.split(".")[0])
            return super().find_class(module, name)

    sim = quietly(functions())
    for thing in (sim.world, sim.model, sim):
        Watchful(io.BytesIO(pickle.dumps(thing))).load()
    assert Watchful.asked <= {"linkwork", "numpy", "casadi", "functools", "copyreg"}


def test_elements_alone_and_unattached():
    wind = pickle.loads(pickle.dumps(lw.Force("sail", lambda s, t: -0.4 * s.velocity, at=(0, 0, 0.1), name="wind")))
    assert wind.bodies == ("sail",) and repr(wind.function) == "<Traced function of b, t>"
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), velocity=(1, 0, 0), name="sail"))
    world.add(wind)
    sim = lw.Simulation(world)
    np.testing.assert_allclose(sim.acceleration("sail"), [-0.4, 0, -9.81], atol=1e-12)
    shallow = copy.copy(lw.Motion("sail", abs, name="path"))
    assert shallow.function is abs


def test_a_traced_function_stands_where_the_function_stood():
    pull = lw.Force("bob", lambda b, t: -3 * b.position).traced("function")
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
    world.add(lw.Force("bob", pull))
    world.add(lw.Force("bob", lambda b, t: 2 * pull(b, t)))
    np.testing.assert_allclose(lw.Simulation(world).acceleration("bob"), [-9, 0, 0], atol=1e-12)
    with pytest.raises(lw.ElementError, match=r"^Force: function cannot be called with \(a, b, t\); write it as"):
        lw.Force("bob", "other", pull)


@clones
def test_functions_that_cannot_be_traced_are_named(clone):
    world = lw.World()
    world.add(lw.Particle(1.0, name="bob"))
    world.add(lw.Force("bob", lambda b, t: b.colour, name="paint"))
    with pytest.raises(lw.ElementError, match=r'^Force "paint": its function asks a body for colour, [^\n]*$'):
        clone(world)


@pytest.mark.parametrize("name", lw.scenes.names())
def test_every_scene_can_be_copied(name):
    world = lw.scenes.get(name)
    twin = pickle.loads(pickle.dumps(world))
    assert repr(twin) == repr(world) and [e.name for e in twin.bodies] == [e.name for e in world.bodies]


SCRIPT = """
import multiprocessing

import linkwork as lw

def tip(sim):
    sim.step(50)
    return sim.state.values.tobytes()

if __name__ == "__main__":
    world, c = lw.World(), lw.Parameter(0.2, name="c")
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), name="arm"))
    world.add(lw.Ball(world.ground, "arm", at=(0, 0, 0)))
    world.add(lw.Force("arm", lambda b, t: -c * b.velocity + lw.sin(t) * b.direction((0, 1, 0))))
    sim = lw.Simulation(world)
    sim.set("c", 0.3)
    sim.step(20)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(tip, (sim,))
    print(there == tip(sim))
"""


def test_a_simulation_goes_to_another_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert ran.stdout == "True\n", ran.stderr
