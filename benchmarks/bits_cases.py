"""The cases of `benchmarks.bits`, run in the process of one tree, by what linkwork offers to users alone.

A case is a name; what comes of it are numbers by channel (poses, velocities, state, energy, reactions, contacts, ...) and words
by channel (refusals, notes, what ended the run).
"""

import base64
import copy
import dataclasses
import functools
import gc
import importlib
import itertools
import math
import pickle
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks import children

FILES = sorted((children.HERE / "tests" / "formats" / "seeds").glob("*.*"))
SUFFIXES = (".yaml", ".urdf", ".xml")
VARIANTS: dict[str, dict[str, Any]] = {  # beside the pairs of solver and integrator
    "implicit/one iteration": {"solver": "implicit", "iterations": 1},
    "implicit/exact tangent": {"solver": "implicit", "tangent": "exact"},
    "cg/least-squares": {"solver": "cg", "integrator": "euler", "method": "least-squares"},
}
FOLDER = Path(lw.__file__).resolve().parents[2]  # what stands in it has other paths in the other tree
PICKLE, CHECKPOINT = "sim.pickle", "checkpoint.npz"
EDITED = ("chain", "hinge-chain", "four-bars", "rag-doll-on-stairs", "box-stack", "scalable", "robot-drag")
EDITED_WITH = ("tree/rattle", "tree/euler", "tree/dopri5", "fronts/shake", "anticipation/euler", "cg/euler",
               "implicit/backward-euler", "aba/joint-euler", "ltdl/joint-euler", "ltdl/joint-implicit")  # fmt: skip
LARGEST = 80  # bodies of a world; scenes that have more are made smaller, except with their own options
WORK = {"tree": 2e5, "dense": 2e6}  # bodies times steps of a run; of dense solvers bodies^2 times steps
ADAPTIVE = "dopri5"  # it cuts a step into as many parts as its tolerance asks for: by many where forces are stiff
PARTS = 20  # of a step that it is reckoned with
STIFF = 1000  # parts of a scene's dt that are its step where the scene is made for implicit steps
CUBED = ("dense", "anticipation", "cg")  # whose steps grow faster than the number of bodies
FEWEST = 4  # steps of a run
ONE_BY_ONE = 2  # steps of the run that are made by a call each
COLLECTED = 25  # cases between two collections of garbage
SOME = 8  # joints and bodies that are asked one by one


class Told:
    """What a case tells."""

    def __init__(self):
        self.numbers, self.words = {}, {}

    def number(self, channel, value):
        found = np.ascontiguousarray(value, dtype=float)
        self.numbers.setdefault(channel, []).append(found.ravel())

    def word(self, channel, text):
        self.words.setdefault(channel, []).append(str(text).replace(str(FOLDER), "..."))

    def ask(self, channel, function, *arguments, **options):
        """The numbers that a function gives, or its refusal."""
        try:
            self.number(channel, function(*arguments, **options))
        except Exception as error:  # also one that is no LinkworkError: then both trees must raise it
            self.word(channel, sentence(error))

    def plain(self):
        numbers = {name: base64.b64encode(np.concatenate(found).tobytes()).decode() for name, found in self.numbers.items()}
        return {"numbers": numbers, "words": self.words}


def sentence(error):
    """An error in words; one that is no LinkworkError is marked, since it may be a fault of this file."""
    return f"{'' if isinstance(error, lw.LinkworkError) else children.BROKEN}{type(error).__name__}: {error}"


def pairs():
    """(every solver, every integrator), as the refusals of unknown names list them."""
    found = []
    for what in ("solver", "integrator"):
        try:
            lw.Simulation(lw.World(), **{what: "?"})
        except lw.LinkworkError as error:
            found.append([name for name in str(error).split("there are ")[1].split(", ") if name != "auto"])
    return found


def gallery_pairs():
    """The pairs that go together at all, as "solver/integrator"."""
    solvers, integrators = pairs()
    world = lw.scenes.get("pendulum")
    return [f"{s}/{i}" for s in solvers for i in integrators if not _refused(world, solver=s, integrator=i)]


def _refused(world, **options):
    try:
        lw.Simulation(world, **options)
    except lw.LinkworkError as error:
        return "does not go with" in str(error)
    return False


def cases():
    """The names of all cases."""
    solvers, integrators = pairs()
    ways = [*gallery_pairs(), *VARIANTS]
    found = [f"pair/{solver}/{integrator}" for solver in [*solvers, "auto"] for integrator in integrators]
    found += [f"scene/{scene}/{way}" for scene in lw.scenes.names() for way in ["own", *ways]]
    found += [f"file/{path.name}/{way}" for path in FILES if path.suffix in SUFFIXES for way in ["own", *ways]]
    found += [f"{edit}/{scene}/{way}" for scene in EDITED for way in EDITED_WITH for edit in EDITS]
    found += [f"reduced/{scene}" for scene in lw.scenes.names()]
    found += [f"saved/{scene}" for scene in lw.scenes.names()]
    return found


def run(case, most, written, read):
    """What a case tells, in `most` steps or fewer. `written`: the folder for files that this tree writes, `read`: that of the
    files that the base has written."""
    told = Told()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _run(told, case, most, Path(written), Path(read))
        except Exception as error:  # refused, stopped or broken: the other tree must say the same
            told.word("ends", sentence(error))
    for warning in caught:
        if not issubclass(warning.category, lw.Note):  # notes of a simulation are told as such
            told.word("warnings", f"{warning.category.__name__}: {warning.message}")
    _clean_up()
    return told.plain()


def _clean_up(count=itertools.count(1)):  # noqa: B008 - one count for all calls
    """Simulations go in circles, and a collection takes as long as a short case."""
    if next(count) % COLLECTED == 0:
        gc.collect()


def _run(told, case, most, written, read):
    sort, what, *way = case.split("/")
    if sort == "pair":
        return told.word("takes it", lw.Simulation(lw.scenes.get("pendulum"), solver=what, integrator=way[0]).solver)
    if sort == "reduced":
        return joint_coordinates(told, lw.scenes.get(what, **smaller(what)))
    if sort == "saved":
        return save(told, lw.scenes.get(what, **smaller(what)), written)
    world, options, dt = made(told, sort, what, "/".join(way))
    steps = number_of_steps(options, len(world.bodies), most)
    sim = lw.Simulation(world, dt=dt, **options)
    try:
        if sort in EDITS:
            place = "-".join(["", what, *way])
            return EDITS[sort](told, sim, steps, written / place, read / place)
        motion(told, sim, steps)
    finally:
        told.ask("last state", lambda: sim.state.values)
        for note in sim.notes:
            told.word("notes", note)


def made(told, sort, what, way):
    """(world, options of its Simulation, dt)."""
    options = {} if way == "own" else VARIANTS.get(way) or dict(zip(("solver", "integrator"), way.split("/"), strict=True))
    if sort == "file":
        world = lw.load(next(path for path in FILES if path.name == what))
        for remark in world.remarks:
            told.word("remarks", remark)
        return world, options, 1e-3
    scene = lw.scenes.find(what)
    if way == "own":
        return scene(), dict(scene.options), scene.dt
    stiff = scene.options.get("solver") == "implicit" and options.get("integrator") == ADAPTIVE
    return scene(**smaller(what)), options, scene.dt / (STIFF if stiff else 1)


@functools.cache
def smaller(name):
    """Parameters with which a scene has no more than LARGEST bodies: its largest count is halved until then."""
    scene = lw.scenes.find(name)
    counts = {key: value for key, value in scene.parameters.items() if type(value) is int}
    while counts and len(scene(**counts).bodies) > LARGEST:
        most = max(counts, key=lambda key: counts[key])
        counts[most] //= 2
    return counts


def number_of_steps(options, bodies, most):
    """Fewer where a step is expensive."""
    limit = WORK["dense"] / bodies**2 if options.get("solver") in CUBED else WORK["tree"] / bodies
    if options.get("integrator") == ADAPTIVE:
        limit, most = limit / PARTS, most // 4
    return int(max(FEWEST, min(most, limit)))


def motion(told, sim, steps):
    """A run with looks at it, then from its start again, without."""
    sim.step()
    look(told, sim)
    for k in (steps // 2 - 1, *[1] * ONE_BY_ONE, max(0, steps - steps // 2 - ONE_BY_ONE)):
        sim.step(k)
        told.number("state", sim.state.values)
    look(told, sim)
    sim.reset()
    sim.step(4)
    told.number("after reset", sim.state.values)


def add(told, sim, steps, *_):
    """A body on a joint, a spring with a parameter and a violated rod come, and go again."""
    sim.step(steps)
    world, first, last = sim.world, sim.world.bodies[0], sim.world.bodies[-1]
    at = sim.position(last)
    body = lw.RigidBody(0.1, shape=lw.Sphere(0.01), position=at + np.array([0, 0, 0.4]), name="weight")
    sim.add([body, lw.Ball(last, body, at=at, name="shackle")])
    sim.step(steps)
    look(told, sim)
    stiffness = lw.Parameter(3.0, name="stiffness of the rubber")
    sim.add(lw.Spring(world.ground, body, stiffness, name="rubber"))
    sim.step(steps)
    sim.set(stiffness.name, 5.0)
    sim.step(steps)
    look(told, sim)
    world.remove("rubber")
    sim.add(lw.Distance(first, body, 0.99 * math.dist(sim.position(body), sim.position(first)), name="rod"))
    sim.step(steps)
    look(told, sim)
    world.remove(body, cascade=True)
    sim.step(steps)
    look(told, sim)


def switch(told, sim, steps, *_):
    """The last constraint, or the rule of contact, off and on again."""
    element = (sim.world.constraints or sim.world.contacts)[-1]
    for on in (False, True):
        sim.step(steps)
        sim.switch(element, on)
        look(told, sim)
    sim.step(steps)
    look(told, sim)


def grab(told, sim, steps, *_):
    """The last body is led by a spring, the first one by a constraint; then one is struck."""
    sim.step(steps)
    for by, body in (("spring", sim.world.bodies[-1]), ("constraint", sim.world.bodies[0])):
        try:
            with sim.grab(body, by=by) as hand:
                hand.to(sim.position(body) + np.array([0.02, 0.01, 0.03]))
                sim.step(steps)
                told.number("hand", [*hand.force, *hand.point, hand.slipping])
                look(told, sim)
        except lw.LinkworkError as error:
            told.word("hand", sentence(error))
    sim.strike(sim.world.bodies[0], (0.1, 0.0, 0.2))
    look(told, sim)
    sim.step(steps)
    look(told, sim)


def states(told, sim, steps, *_):
    """States taken and set again, copies, a recorded run with a function before each step."""
    sim.step(steps)
    kept = sim.state.copy()
    sim.step(steps)
    look(told, sim)
    sim.state = kept
    other = copy.deepcopy(sim)
    for one in (sim, other):
        one.step(steps)
        look(told, one)
    sim.reset()
    recorded = sim.run(steps * sim.dt, 2 * sim.dt, control=lambda sim: sim.energy(),
                       until=lambda sim: sim.steps > 3 * steps // 4,
                       record=[element.name for element in sim.world.constraints[:2]])  # fmt: skip
    for name, variable in sorted(recorded.to_xarray().variables.items()):
        if variable.dtype.kind in "fiub":
            told.number(f"recorded {name}", variable.values)
    look(told, sim)


def kept_files(told, sim, steps, written, read):
    """A pickle and a checkpoint: each goes on with the same bits."""
    written.mkdir(parents=True, exist_ok=True)
    sim.step(steps)
    (written / PICKLE).write_bytes(pickle.dumps(sim))
    _checkpoints().save(sim, written / CHECKPOINT)
    old_files(told, sim, steps, written, written)


def old_files(told, sim, steps, written, read):
    """The same, of the files that the base has written in the case before."""
    if not (read / CHECKPOINT).exists():
        return told.word("ends", "there are no files of the base; run the cases kept/, too")
    _checkpoints().load(read / CHECKPOINT).put(sim)
    for one in (sim, pickle.loads((read / PICKLE).read_bytes())):
        one.step(steps)
        look(told, one)


def _checkpoints():
    """Where a tree has them."""
    for name in ("linkwork.checkpoints", "linkwork.simulation.checkpoints"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    raise ImportError("linkwork has no checkpoints where they are looked for; add their place here")


EDITS = {"add": add, "switch": switch, "grab": grab, "states": states, "kept": kept_files, "old": old_files}


def joint_coordinates(told, world):
    """The algorithms of `lw.reduced` at a random state."""
    tree = lw.reduced.compile(world)
    q, rng = lw.reduced.random(tree, seed=1), np.random.default_rng(2)
    qd, tau = rng.normal(size=(2, tree.nv))
    reduced, body = lw.reduced, world.bodies[-1]
    for name in ("aba", "rnea"):
        told.ask(name, getattr(reduced, name), tree, q, qd, tau)
    for name in ("crba", "centre_of_mass", "centroidal_momentum_matrix"):
        told.ask(name, getattr(reduced, name), tree, q)
    for name in ("velocities", "energy"):
        told.ask(name, getattr(reduced, name), tree, q, qd)
    told.ask("jacobian", reduced.jacobian, tree, q, body)
    told.ask("jacobian_rate", reduced.jacobian_rate, tree, q, qd, body)


def save(told, world, written):
    """As a scene file: its text."""
    with tempfile.TemporaryDirectory() as folder:
        told.word("file", lw.save(world, Path(folder) / "world.yaml").read_text(encoding="utf-8"))


def look(told, sim):
    """All that a user can ask at this moment."""
    world = sim.world
    bodies, joints = some(world.bodies, 2 * LARGEST), some([c for c in world.constraints if isinstance(c, lw.Joint)], SOME)
    told.number("time", [sim.time, sim.steps])
    told.number("state", sim.state.values)
    for body in bodies:
        told.ask("position", sim.position, body)
        told.ask("orientation", sim.orientation, body)
        told.ask("velocity", sim.velocity, body)
        told.ask("angular velocity", sim.angular_velocity, body)
    for body in some(world.bodies, SOME):
        told.ask("frame", sim.frame, body)
        told.ask("coordinates", sim.coordinates, body)
        told.ask("rates", sim.rates, body)
    for joint in joints:
        told.ask("angle", sim.angle, joint)
        told.ask("rate", sim.rate, joint)
    _contacts(told, sim)
    told.ask("energy", lambda: [(e := sim.energy()).kinetic, e.potential, e.work])
    told.ask("drift", lambda: [sim.drift(), sim.drift(velocity=True)])
    stops = [e for e in world.elements if isinstance(e, (lw.Rope, lw.HardLimit, lw.JointFriction))]
    pulling = [*some(world.constraints, SOME), *some(stops, SOME)]
    for element in pulling:
        told.ask("impulse", sim.impulse, element)
        told.ask("unknowns", sim.unknowns, element)
    for element in pulling:
        told.ask(
            "reaction", lambda e=element: np.hstack([(r := sim.reaction(e)).force, r.torque, r.at, r.generalised, r.determined])
        )
    for body in some(world.bodies, SOME):
        told.ask("acceleration", sim.acceleration, body)
        told.ask("angular acceleration", sim.angular_acceleration, body)
        told.ask("jacobian", sim.jacobian, body)
    told.ask("iterations", lambda: [n for n in dataclasses.astuple(sim.solver_report()) if isinstance(n, int | float)])


def _contacts(told, sim):
    try:
        found, report = sim.contacts(), sim.contact_report()
    except lw.LinkworkError as error:
        return told.word("contacts", sentence(error))
    for column in ("points", "normals", "gaps", "forces", "impulses"):
        told.number(f"contact {column}", getattr(found, column))
    told.number("contact report", [report.points, report.iterations, report.residual, report.converged, report.penetration])
    for point in found:
        told.word("contact bodies", " and ".join(body.name for body in point.bodies))


def some(elements, most):
    """At most so many of them, the first and the last included."""
    elements = list(elements)
    if len(elements) <= most:
        return elements
    return [elements[k] for k in np.linspace(0, len(elements) - 1, most).round().astype(int)]


if __name__ == "__main__":
    children.serve({"cases": cases, "run": run})
