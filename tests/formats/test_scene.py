"""Scene files: what they say becomes the world that Python's lines would make; what is wrong is told with file and line."""

import math
import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.formats import yaml_lines
from linkwork.formats.scene import budget
from linkwork.formats.scene import read as scene
from tests.formats import fuzz
from tests.formats.worlds import differences

HEAD = "linkwork: 1\nelements:\n"
ARM = HEAD + "  - RigidBody: {name: arm, mass: 1, inertia: [1, 1, 1]}\n"
PLACED = ("bead-on-wire", "bowling", "box-stack", "cardan", "chain", "four-bars", "gear-train", "hand", "rag-doll", "rolling-disc",
          "scalable", "skate", "slider-crank", "spinning-top", "squeezer", "stewart", "turntable")  # fmt: skip
SMALL = {"chain": {"n": 4}}


@pytest.fixture
def given(tmp_path):
    def load(text, name="scene.yaml", **options):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return lw.load(tmp_path / name, **options)

    load.folder = tmp_path
    return load


def doubling(folder, files, leaf):
    """The last of so many files, each of which includes the one before twice."""
    (folder / "0.yaml").write_text(HEAD + leaf if leaf else "linkwork: 1\n")
    for k in range(files):
        both = "".join(f"  - {{include: {k}.yaml, prefix: {letter}}}\n" for letter in "ab")
        (folder / f"{k + 1}.yaml").write_text(HEAD + both)
    return folder / f"{files}.yaml"


def test_the_slider_crank_of_the_design(given):
    loaded = given("""
linkwork: 1
gravity: [0, 0, -9.81]
elements:
  - RigidBody: {name: crank, mass: 1 kg, shape: {Box: [40 cm, 5 cm, 50 mm]}, position: [0.2, 0, 0]}
  - RigidBody: {name: rod, mass: 0.5, shape: {Capsule: [0.02, 0.8]}, position: [0.8, 0, 0], orientation: [0.7071, 0, 0.7071, 0]}
  - Hinge: {name: axle, a: ground, b: crank, at: [0, 0, 0], axis: [0, 1, 0]}
  - Ball: {name: pin, a: crank, b: rod, at: [0.4, 0, 0]}
  - Motor: {name: drive, joint: axle, kind: velocity, kd: 5, limit: 20 N m}
""")
    world = lw.World(gravity=(0, 0, -9.81))
    crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
    rod = world.add(
        lw.RigidBody(
            mass=0.5, shape=lw.Capsule(0.02, 0.8), position=(0.8, 0, 0), orientation=(0.7071, 0, 0.7071, 0), name="rod"
        )
    )
    world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Ball(crank, rod, at=(0.4, 0, 0), name="pin"))
    world.add(lw.Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive"))
    assert differences(world, loaded) == []


def test_functions_and_parameters(given):
    loaded = given("""
linkwork: 1
parameters: {k: 20 N/m, c: "{k / 50}"}
elements:
  - Particle: {name: bead, mass: 0.1, position: [1, 0, 0]}
  - Constraint: {name: track, bodies: [bead], function: "dot(b.position, b.position) - 1"}
  - Force: {name: wind, bodies: [bead], function: "-c * norm(b.velocity) * b.velocity"}
  - Force: [bead, "-k * b.position"]
  - Spring: {a: ground, b: bead, stiffness: k, damping: "{2 * c}"}
  - Wrench: {body: bead, force: "[0, 0, 10 - t]"}
  - Wrench: {body: bead, force: [0, k, 1 kN]}
""", parameters={"k": 30.0})  # fmt: skip
    world, k, c = lw.World(), lw.Parameter(30.0, name="k"), lw.Parameter(0.6, name="c")
    bead = world.add(lw.Particle(0.1, position=(1, 0, 0), name="bead"))
    world.add(lw.Constraint(bead, lambda b, t: lw.dot(b.position, b.position) - 1, name="track"))
    world.add(lw.Force(bead, lambda b, t: -c * lw.norm(b.velocity) * b.velocity, name="wind"))
    world.add(lw.Force(bead, lambda b, t: -k * b.position))
    world.add(lw.Spring(world.ground, bead, k, damping=1.2))
    world.add(lw.Wrench(bead, force=lambda t: (0, 0, 10 - t)))
    world.add(lw.Wrench(bead, force=(0, k, 1000.0)))
    assert differences(world, loaded) == []
    sim = lw.Simulation(loaded)
    sim.set("k", 0.0)
    assert sim.get("k") == 0.0


def test_repetitions(given):
    loaded = given("""
linkwork: 1
parameters: {n: 6}
elements:
  - repeat: n
    elements:
      - RigidBody: {name: "link{i}", mass: 1, shape: {Capsule: [0.02, 0.2]}, position: [0, 0, "{-0.2 * i - 0.1}"]}
  - Ball: [ground, link0, [0, 0, 0]]
  - repeat: "n - 1"
    as: k
    elements:
      - Ball: ["link{k}", "link{k + 1}", [0, 0, "{-0.2 * (k + 1)}"]]
""")  # fmt: skip
    assert [body.name for body in loaded.bodies] == [f"link{i}" for i in range(6)]
    assert loaded.find("link5").position.tolist() == [0, 0, -0.2 * 5 - 0.1]
    assert len(loaded.constraints) == 6 and loaded.constraints[-1].a.name == "link4"
    nested = given(HEAD + "  - repeat: 2\n    as: x\n    elements:\n      - repeat: 3\n        as: y\n        elements:\n"
                   '          - Particle: {name: "p{x}{y}", mass: "{1 + x + 10 * y} g"}\n')  # fmt: skip
    assert [body.mass for body in nested.bodies] == pytest.approx([0.001, 0.011, 0.021, 0.002, 0.012, 0.022], rel=1e-15)


def test_a_motion_from_a_file_of_many(given):
    (given.folder / "all.csv").write_text("t,arm.x,arm.y,arm.z,leg.x,leg.y,leg.z\n0,0,0,0,5,5,5\n1,0,0,1,5,5,6\n")
    line = "  - Follow: {name: pull, body: arm, motion: {file: all.csv, of: leg}, stiffness: 1}\n"
    assert given(ARM + line).find("pull").motion.at(0.5)[0, :3].tolist() == [5, 5, 5.5]


def test_options_keyframes_and_motions(given):
    times = "t,x,y,z\n0,0,0,0\n1,0,0,1\n"
    (given.folder / "wave.csv").write_text(times)
    loaded = given(ARM.replace("elements:", "simulate: {seconds: 2, dt: 2 ms, solver: dense, record_every: 0.01, off: [pull]}\nelements:") + """
  - Hinge: {name: axle, a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0]}
  - Follow: {name: pull, body: arm, motion: {file: wave.csv}, stiffness: 1}
  - Motor: {name: drive, joint: axle}
keyframes:
  up: {positions: {axle: 90 deg}, velocities: {axle: 60 rpm}, controls: {drive: 2}}
""")  # fmt: skip
    assert loaded.simulate == {"seconds": 2, "dt": 0.002, "solver": "dense", "record_every": 0.01, "off": ["pull"]}
    up = loaded.keyframes["up"]
    assert (
        up.positions == {"axle": math.pi / 2}
        and up.velocities["axle"] == pytest.approx(2 * math.pi)
        and up.controls == {"drive": 2}
    )
    assert len(loaded.find("pull").motion) == 2
    assert lw.World().simulate == {}


def test_orientations_by_axis_and_angle(given):
    loaded = given(HEAD + "  - RigidBody: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 2, 0], angle: 90 deg}}\n")
    assert loaded.bodies[0].orientation == pytest.approx([math.sqrt(0.5), 0, math.sqrt(0.5), 0], abs=1e-15)


def test_yaml_of_others_is_the_same(given):
    """Anchors, flow and block, quotes, comments and the mark of UTF-8."""
    loaded = given('\ufeff%YAML 1.2\n---\nlinkwork: 1 # the version\nelements:\n- RigidBody: &a\n    mass: "1"\n    inertia: [1,\n     1, 1]\n'
                   "- RigidBody: *a\n- 'Particle': {mass: 1}\n...\n")  # fmt: skip
    assert [body.name for body in loaded.bodies] == ["rigid1", "rigid2", "particle1"]


class TestIncludes:
    def test_scenes_in_scenes(self, given):
        given("linkwork: 1\nparameters: {k: 2}\nelements:\n  - Particle: {name: p, mass: 1, position: [1, 0, 0]}\n  - Spring: {name: s, a: ground, b: p, stiffness: k}\n"
              '  - Force: {name: f, bodies: [p], function: "-k * b.velocity"}\nkeyframes: {home: {positions: {p: [1, 0, 0]}}}\n', "part.yaml")  # fmt: skip
        loaded = given(
            HEAD
            + "  - repeat: 2\n    elements:\n      - include: part.yaml\n        prefix: 'part{i}/'\n        parameters: {k: '{3 + i}'}\n"
        )
        assert [e.name for e in loaded.elements] == ["part0/p", "part0/s", "part0/f", "part1/p", "part1/s", "part1/f"]
        assert {name: p.value for name, p in loaded.parameters.items()} == {"part0/k": 3.0, "part1/k": 4.0}
        assert loaded.find("part1/s").a is loaded.ground and loaded.keyframes["part1/home"].positions["part1/p"].tolist() == [
            1,
            0,
            0,
        ]
        sim = lw.Simulation(loaded)
        sim.set("part1/k", 0.0)
        assert differences(loaded, lw.load(lw.save(loaded, given.folder / "whole.yaml"))) == []

    def test_robots_in_scenes(self, given):
        (given.folder / "robot.urdf").write_bytes((fuzz.SEEDS / "gripper.urdf").read_bytes())
        for mesh in fuzz.SEEDS.iterdir():
            if mesh.suffix in fuzz.MESHES:
                (given.folder / mesh.name).write_bytes(mesh.read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            alone = lw.load(given.folder / "robot.urdf")
            told = differences(alone, given(HEAD + "  - include: robot.urdf\n"))
            assert told == ["{'solver': 'auto'} and {}"]  # a scene says for itself how it is simulated
            text = HEAD + "  - include: robot.urdf\n    prefix: {0}\n    position: [{1}, 0, 0]\n"
            both = given(text.format("left-", 1) + text.format("right-", 2).removeprefix(HEAD))
        assert len(both.bodies) == 2 * len(alone.bodies)
        name = alone.bodies[0].name
        shift = both.find(f"right-{name}").position - both.find(f"left-{name}").position
        assert shift == pytest.approx([1, 0, 0])
        assert len(both.remarks) == len(alone.remarks)

    def test_two_copies_of_a_robot_touch_each_other(self, given):
        link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>{}</link>'
        ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
        joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        text = f'<robot name="r">{link.format("a", ball)}{link.format("b", "")}{joint}</robot>'
        (given.folder / "robot.urdf").write_text(text)
        include = "  - {{include: robot.urdf, prefix: {}, floating: true, position: [0, 0, {}]{}}}\n"
        floor = "  - Collider: {body: ground, shape: Plane}\n"
        both = given(HEAD + include.format("low-", 0.1, "") + include.format("high-", 0.35, "") + floor)
        assert {c.group for c in both.contacts if isinstance(c, lw.Collider)} == {"low-r", "high-r", None}
        sim = lw.Simulation(both, dt=0.002)
        sim.run(0.5)
        assert sim.position("high-a")[2] == pytest.approx(0.3, abs=1e-3)
        apart = given(HEAD + include.format("low-", 0.1, ", contact: none"))
        assert not apart.contacts
        with pytest.raises(lw.FileError, match=':3: contact is "no"; give hard or none'):
            given(HEAD + include.format("low-", 0.1, ", contact: no"))

    def test_keys_without_values_are_as_if_they_were_not_there(self, given):
        given(HEAD + "  - Particle: {name: p, mass: 1, velocity: null}\n", "part.yaml")
        loaded = given(
            HEAD
            + "  - {include: part.yaml, position: null, orientation: null, floating: null, parameters: null, packages: null}\n"
        )
        assert [body.name for body in loaded.bodies] == ["p"]

    def test_roots_that_float(self, given):
        inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        robot = f'<robot name="r"><link name="base"><inertial><mass value="1"/>{inertia}</inertial></link></robot>'
        (given.folder / "robot.urdf").write_text(robot)
        free = given(HEAD + "  - {include: robot.urdf, floating: true}\n")
        assert [body.name for body in free.bodies] == ["base"] and not free.constraints
        assert differences(free, lw.load(given.folder / "robot.urdf", floating=True)) == ["{} and {'solver': 'auto'}"]

    def test_options_of_mjcf(self, given):
        (given.folder / "cart.xml").write_bytes((fuzz.SEEDS / "cart.xml").read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            soft = given(HEAD + "  - {include: cart.xml, limits: none, contact: none}\n")
            told = differences(soft, lw.load(given.folder / "cart.xml", limits="none", contact="none"))
            assert told == ["{} and {'solver': 'auto'}"]

    def test_keyframes_are_placed(self, given):
        given(
            ARM + "keyframes: {up: {positions: {arm: [1, 0, 0, 1, 0, 0, 0]}, velocities: {arm: [1, 0, 0, 0, 1, 0]}}}\n",
            "part.yaml",
        )
        loaded = given(HEAD + "  - {include: part.yaml, position: [0, 0, 3], orientation: {axis: [0, 0, 1], angle: 90 deg}}\n")
        up, half = loaded.keyframes["up"], math.sqrt(0.5)
        assert np.allclose(up.positions["arm"], [0, 1, 3, half, 0, 0, half]) and np.allclose(
            up.velocities["arm"], [0, 1, 0, -1, 0, 0]
        )

    def test_cables_are_placed(self, given):
        given(ARM + "  - Cable: {points: [[ground, [0, 0, 1 m]], [arm, [1, 0, 0]]], stiffness: 2, rest: 0.1}\n", "part.yaml")
        alone, moved = lw.load(given.folder / "part.yaml"), given(HEAD + "  - {include: part.yaml, position: [0, 2, 3]}\n")
        a, b = (lw.Simulation(world).acceleration("arm") for world in (alone, moved))
        assert np.allclose(a, b) and not np.allclose(a, (0, 0, -9.81))

    def test_gravity_of_a_part_is_remarked_on(self, given):
        given("linkwork: 1\ngravity: [0, 0, -1]\nelements:\n  - Particle: {mass: 1}\n", "part.yaml")
        with pytest.warns(lw.Note, match="its gravity \\(0, 0, -1\\) does not count"):
            given(HEAD + "  - include: part.yaml\n")
        with pytest.raises(lw.FileError, match="strict"):
            given(HEAD + "  - include: part.yaml\n", strict=True)

    @pytest.mark.parametrize(
        ("item", "said"),
        [
            ("include: scene.yaml", ":3: files include one another in a circle: scene.yaml -> scene.yaml"),
            ("include: ring.yaml", "files include one another in a circle: scene.yaml -> ring.yaml -> scene.yaml"),
            ("include: ../outside.yaml", ':3: "../outside.yaml" lies outside of the folder'),
            ("include: link.yaml", ':3: "link.yaml" lies outside of the folder'),
            ("include: /etc/passwd", ':3: "/etc/passwd" lies outside of the folder'),
            ("include: nothing.yaml", ':3: there is no file "nothing.yaml"'),
            ("include: part.txt", "linkwork reads .urdf"),
            ("{include: part.yaml, floating: true}", ':3: "part.yaml" takes no floating; leave it out'),
            ("{include: part.yaml, prefx: x}", ':3: include: there is no "prefx"; did you mean "prefix"?'),
            ("{include: part.yaml, parameters: {q: 1}}", 'part.yaml: it declares no parameter "q"; it declares none'),
            ("{include: part.yaml, orientation: [1, 1, 0, 0]}", ":3: include: orientation (1, 1, 0, 0) has length"),
            ("{include: broken.yaml}", "broken.yaml:2: there is no element of the kind"),
            ("{repeat: 2, elements: [{include: part.yaml}]}", ':3: Particle "p": its name is taken by a Particle'),
            ("{include: placed.yaml, position: [1, 0, 0]}", ':3: Constraint "c": its function speaks of places'),
        ],
    )
    def test_what_cannot_be_included(self, given, item, said):
        (given.folder.parent / "outside.yaml").write_text("linkwork: 1\n")
        (given.folder / "link.yaml").symlink_to(given.folder.parent / "outside.yaml")
        (given.folder / "ring.yaml").write_text(HEAD + "  - include: scene.yaml\n")
        (given.folder / "part.yaml").write_text(HEAD + "  - Particle: {name: p, mass: 1}\n")
        (given.folder / "part.txt").write_text("")
        (given.folder / "broken.yaml").write_text("linkwork: 1\nelements: [{Partcle: {}}]")
        (given.folder / "placed.yaml").write_text(
            HEAD + "  - Particle: {name: p, mass: 1}\n  - Constraint: {name: c, bodies: [p], function: 'b.position[2]'}\n"
        )
        with pytest.raises(lw.FileError) as error:
            given(HEAD + f"  - {item}\n")
        assert said in str(error.value)

    def test_parts_of_parts(self, given):
        """Each file includes the one before twice: the elements are the leaves, and each file is parsed once."""
        top = doubling(given.folder, 6, "  - Particle: {name: p, mass: 1}\n")
        names = {body.name for body in lw.load(top).bodies}
        assert len(names) == 64 and {"aaaaaap", "bababap"} <= names

    @pytest.mark.parametrize("leaf", ["  - Particle: {name: p, mass: 1}\n", "  - {repeat: 9, elements: []}\n", None])
    def test_includes_that_double_are_refused_before_anything_is_made(self, given, leaf, monkeypatch):
        made, parsed = [], []
        monkeypatch.setattr(scene.World, "add", lambda self, element: made.append(element))
        parse = scene.yaml_lines.parse
        monkeypatch.setattr(scene.yaml_lines, "parse", lambda text, path: parsed.append(path) or parse(text, path))
        with pytest.raises(lw.FileError, match="more than [0-9]+ (includes, those of included files counted|elements)"):
            lw.load(doubling(given.folder, scene.DEEPEST - 1, leaf))
        assert made == [] and len(parsed) <= scene.DEEPEST

    def test_what_parameters_repeat_is_counted_too(self, given, monkeypatch):
        monkeypatch.setattr(scene.World, "add", lambda self, element: pytest.fail("nothing is made"))
        part = "parameters: {n: 1}\nelements:\n  - {repeat: '{n}', elements: [Particle: {mass: 1}]}\n"
        (given.folder / "part.yaml").write_text(f"linkwork: 1\n{part}")
        with pytest.raises(lw.FileError, match="more than 1000000 elements"):
            given(HEAD + "  - {repeat: 2000, elements: [{include: part.yaml, prefix: 'a{i}', parameters: {n: '{i}'}}]}\n")

    def test_copies_of_a_robot_are_counted_when_the_first_is_read(self, given, monkeypatch):
        read = []
        urdf = import_module("linkwork.formats.urdf.read")
        load = urdf.load
        monkeypatch.setattr(urdf, "load", lambda reading, **options: read.append(1) or load(reading, **options))
        (given.folder / "robot.urdf").write_text("<robot name='r'><link name='base'/></robot>")
        monkeypatch.setattr(budget, "MOST_ELEMENTS", 300)
        links = "".join(f"<link name='l{k}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                        f"<joint name='j{k}' type='revolute'><parent link='base'/><child link='l{k}'/><axis xyz='0 1 0'/><limit effort='1' velocity='1' lower='-1' upper='1'/></joint>"
                        for k in range(20))  # fmt: skip
        (given.folder / "robot.urdf").write_text(f"<robot name='r'><link name='base'/>{links}</robot>")
        with pytest.raises(lw.FileError, match="scene.yaml:3: more than 300 elements"):
            given(HEAD + "  - {repeat: 100, elements: [{include: robot.urdf, prefix: 'r{i}'}]}\n")
        assert len(read) == 1

    def test_a_prefix_is_short(self, given):
        given(HEAD + "  - Particle: {name: p, mass: 1}\n", "part.yaml")
        with pytest.raises(lw.FileError, match="scene.yaml:3: the prefix has 201 characters; give at most 200"):
            given(HEAD + f"  - {{include: part.yaml, prefix: {'x' * 201}}}\n")

    @pytest.mark.parametrize("name", PLACED)
    def test_placing_is_a_change_of_the_frame(self, name, given):
        """What is placed and turned, in gravity that is turned too, moves as what is not, seen from there."""
        found = lw.scenes.find(name)
        alone = found(**SMALL.get(name, {}))
        lw.save(alone, given.folder / "part.yaml")
        x, turn = np.array([0.3, -2.0, 0.7]), Rotation.from_rotvec([0.4, -0.2, 1.1])
        q = np.roll(turn.as_quat(), 1).tolist()
        text = f"linkwork: 1\nexact: true\ngravity: {turn.apply(alone.gravity).tolist()}\nelements:\n  - include: part.yaml\n"
        try:
            moved = given(text + f"    position: {x.tolist()}\n    orientation: {q}\n")
        except lw.FileError as error:
            assert "so that it cannot be placed elsewhere" in str(error)
            functions = [e for e in alone.elements if any(callable(getattr(e, f)) for f in e.FUNCTIONS)]
            assert functions or any(isinstance(body, (lw.PlanarBody, lw.PlanarParticle)) for body in alone.bodies)
            return
        sims = [lw.Simulation(world, dt=found.dt, **found.options) for world in (alone, moved)]
        some = alone.bodies[:12]
        size = 1 + max(np.abs(sims[0].acceleration(body)).max() for body in some)
        for body in some:
            assert np.allclose(sims[1].position(body.name), x + turn.apply(sims[0].position(body.name)), atol=1e-12)
            there = turn.apply(sims[0].acceleration(body.name))
            assert np.allclose(sims[1].acceleration(body.name), there, atol=1e-7 * size), body
        assert sims[1].energy().kinetic == pytest.approx(sims[0].energy().kinetic, rel=1e-9, abs=1e-12)


WRONG = [
    ("", ':1: it is no scene; begin it with "linkwork: 1"'),
    ("[1, 2]", ":1: it is no scene"),
    ("linkwork: 2\n", ":1: it is of version 2; this linkwork reads 1"),
    ("elements: []\n", ":1: linkwork is missing"),
    ("linkwork: 1\nelemnts: []\n", ':2: there is no "elemnts"; did you mean "elements"?'),
    ("linkwork: 1\nlinkwork: 1\n", ':2: "linkwork" stands twice here, first in line 1'),
    ("linkwork: 1\ngravity: [0, 0]\n", ":2: World: gravity is (0, 0); give 3 finite numbers"),
    ("linkwork: 1\ngravity: [0, 0, 5 kg]\n", ':2: World: gravity is "5 kg", which is no m/s^2'),
    ("linkwork: 1\nparameters: {k: abc}\n", ':2: parameter "k" is "abc"; give a number'),
    ("linkwork: 1\nparameters: {sin: 2}\n", ':2: a parameter cannot have the name "sin"'),
    ("linkwork: 1\nparameters: {k: .nan}\n", ":2: .nan is no finite number"),
    ("linkwork: 1\nparameters: {k: 1e999}\n", ":2: 1e999 is beyond the floating-point numbers"),
    ("linkwork: 1\nsimulate: {solver: tre}\n", ':2: simulate: there is no solver "tre"; did you mean "tree"?'),
    ("linkwork: 1\nsimulate: {dt: 5 kg}\n", ':2: simulate: dt is "5 kg", which is no s'),
    ("linkwork: 1\nsimulate: {secnds: 5}\n", ':2: simulate has no "secnds"; did you mean "seconds"?'),
    ("linkwork: 1\nkeyframes: {home: {positions: {knee: 1}}}\n", ':2: keyframe "home" speaks of "knee", which is not there'),
    (
        "linkwork: 1\nx: !!python/object/apply:os.system [ls]\n",
        ":2: it has the tag tag:yaml.org,2002:python/object/apply:os.system",
    ),
    ("linkwork: 1\n\t- x", ":2: a tab indents it, which YAML does not have; use spaces"),
    ("linkwork: 1\nx: \x07\n", ":2: it is no YAML"),
    ("linkwork: 1\n---\nlinkwork: 1\n", ":2: a second document begins"),
    ("linkwork: 1\n? [1]\n: 2\n", ":2: a key is a list or a mapping"),
    ("linkwork: 1\nx: *y\n", ":2: *y names nothing above it"),
    ("linkwork: 1\nx: &y [*y]\n", ":2: *y names nothing above it"),
    ("linkwork: 1\nx: " + "[" * 500, ":2: it nests more than"),
    (HEAD + "  - RigidBdy: {mass: 1}\n", ':3: there is no element of the kind "RigidBdy"; did you mean "RigidBody"?'),
    (HEAD + "  - RigidBody: {mas: 1}\n", ':3: RigidBody: there is no "mas"; did you mean "mass"?'),
    (HEAD + "  - RigidBody:\n      mass: 1\n      inertia: true\n", ":5: RigidBody: inertia is true; give a number"),
    (HEAD + "  - RigidBody: {mass: 5 cm}\n", ':3: RigidBody: mass is "5 cm", which is no kg'),
    (HEAD + "  - RigidBody: {mass: k}\n", ':3: RigidBody: mass is "k"; declare it under parameters:'),
    (
        "linkwork: 1\nparameters: {k: 2}\nelements:\n  - Particle: {mass: k}\n",
        ':4: Particle: mass is "k", and a Parameter cannot stand there; write "{k}"',
    ),
    (HEAD + "  - RigidBody: {mass: 1, shape: {Bx: [1, 1, 1]}}\n", ':3: RigidBody: shape has no "Bx"; did you mean "Box"?'),
    (HEAD + "  - RigidBody: {mass: 1, shape: {Box: [1, 1]}}\n", ":3: Box: z is missing"),
    (HEAD + "  - RigidBody: {mass: 1, shape: {Box: [1, 1, 1, 1]}}\n", ":3: Box is given 4 values; it takes 3 at most: x, y, z"),
    (
        HEAD + "  - RigidBody: {mass: 1, shape: {Box: [1, 1, -1]}}\n",
        ":3: RigidBody: shape: Box: z is -1; give a finite number greater than 0",
    ),
    (HEAD + "  - RigidBody: {mass: 1, shape: {Box: [1, 1, 1], Sphere: [1]}}\n", ":3: RigidBody: shape names 2 shapes"),
    (HEAD + "  - RigidBody: {mass: 1, shape: {Sphere: [1.0e+200]}, density: 1}\n", ":3: RigidBody: "),
    (HEAD + "  - RigidBody: 5\n", ":3: RigidBody is 5; give its fields: mass, inertia"),
    (HEAD + "  - RigidBody\n", ":3: RigidBody: mass is missing"),
    (
        ARM + "  - Hinge: {a: ground, b: armm, at: [0, 0, 0], axis: [0, 1, 0]}\n",
        ':4: Hinge: there is no body named "armm"; did you mean "arm"?',
    ),
    (ARM + "  - Hinge: {a: ground, b: arm, at: [0, 0, 0]}\n", ":4: Hinge: axis is missing"),
    (ARM + "  - Hinge: {a: ground, at: [0, 0, 0], axis: [0, 1, 0]}\n", ":4: Hinge: b is missing"),
    (ARM + "  - Hinge: {a: ground, b: 5, at: [0, 0, 0], axis: [0, 1, 0]}\n", ":4: Hinge: b is 5; give the name of an element"),
    (
        ARM + "  - RigidBody: {name: arm, mass: 1, inertia: [1, 1, 1]}\n",
        ':4: RigidBody "arm": its name is taken by a RigidBody',
    ),
    (
        ARM + "  - Force: {bodies: [arm], function: b.positn}\n",
        ':4: Force: function asks a body for "positn", which none has; did you mean "position"?',
    ),
    (
        ARM + "  - Force:\n      bodies: [arm]\n      function: k * b.position\n",
        ':6: Force: function speaks of "k", which is not known',
    ),
    (
        ARM + "  - Force: {bodies: [arm], function: 'b.position[5] * (1, 0, 0)'}\n",
        ":4: Force: its function asks for position[5]",
    ),
    (ARM + "  - Force: {bodies: [arm], function: 5}\n", ":4: Force: function is 5; give a formula"),
    (ARM + "  - Force: {bodies: [arm], function: '(1, 0, 0', torque: 1}\n", ":4: Force: torque is 1; give true or false"),
    (ARM + "  - Force: {bodies: arm, function: '(1, 0, 0)'}\n", ':4: Force: bodies is "arm"; give a list of names'),
    (ARM + "  - Drive: {joint: arm, rate: 2 * t}\n", ':4: Drive: RigidBody "arm" is no joint'),
    (ARM + "  - Follow: {body: arm, motion: {file: ../a.csv}, stiffness: 1}\n", ':4: "../a.csv" lies outside'),
    (ARM + "  - bead_on_wire: {curve: '(cos(s), x, 0)'}\n", ':4: bead_on_wire: curve speaks of "x"'),
    (ARM + "  - Visual: {body: arm, shape: {Mesh: {vertices: [[0, 0, 0]], triangles: [[0, 1], [2]]}}}\n", ":4: Visual: shape"),
    (ARM + "  - Cable: {points: [[arm, [0, 0, 0]]], stiffness: 1}\n", ":4: Cable: points is"),
    (ARM + "  - Cable: {points: [arm], stiffness: 1}\n", ':4: Cable: points is "arm"; give a list of bodies and points'),
    (ARM + "keyframes: {up: {positions: {arm: [1, [2, 3]]}}}\n", ':4: keyframe "up": "arm" is (1, (2, 3)); give a number'),
    (HEAD + "  - {RigidBody: {mass: 1}, Ball: {}}\n", ':3: an element has the keys "RigidBody", "Ball"; give one kind'),
    (HEAD + "  - 5\n", ":3: an element is 5; write it as RigidBody"),
    (HEAD + "  - repeat: x\n    elements: []\n", ':3: repeat speaks of "x", which is not known'),
    (HEAD + "  - repeat: 3\n", ":3: repeat: elements is missing"),
    (HEAD + "  - repeat: -1\n    elements: []\n", ":3: repeat is -1; give a whole number of at least 0"),
    (HEAD + "  - repeat: 0.5 * 3\n    elements: []\n", ":3: repeat is 1.5; give a whole number"),
    (HEAD + "  - repeat: 99999999999\n    elements: []\n", ":3: more than 1000000 elements, repetitions counted"),
    (
        HEAD + "  - repeat: 1000000\n    elements: [Particle: {mass: 1}, Particle: {mass: 2}]\n",
        ":3: more than 1000000 elements, repetitions counted",
    ),
    (HEAD + "  - repeat: 2\n    as: sin\n    elements: []\n", ':4: a repetition cannot count with "sin"'),
    (HEAD + "  - repeat: 2\n    elements: [Particle: {mass: '{j}'}]\n", ':4: Particle: mass speaks of "j", which is not known'),
    (HEAD + "  - repeat: 2\n    elements: [Particle: {mass: '{i'}]\n", ':4: Particle: mass has a "{" without its other half'),
    (
        HEAD + "  - repeat: 2\n    elements: [Particle: {mass: '{1 / i}'}]\n",
        ':4: Particle: mass has "1 / i", which gives no number (division by zero)',
    ),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text[-50:].strip() for text, _ in WRONG])
def test_what_is_wrong_is_told_with_file_and_line(given, text, said):
    with pytest.raises(lw.FileError) as error:
        given(text)
    assert str(error.value).startswith(str(given.folder / "scene.yaml") + (said if said.startswith(":") else ""))
    assert "\n" not in str(error.value)


def test_aliases_are_bounded(given):
    bomb = "a0: &a0 [x]\n" + "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 12))
    with pytest.raises(lw.FileError, match="values, aliases counted; split the file"):
        given("linkwork: 1\n" + bomb)


def test_sizes_are_bounded(given, monkeypatch):
    monkeypatch.setattr(yaml_lines, "MOST_NODES", 1000)
    with pytest.raises(lw.FileError, match=":3: more than 1000 values"):
        given(HEAD + f"  - [{', '.join('1' * 2000)}]\n")
    monkeypatch.setattr(budget, "MOST_ELEMENTS", 10)
    with pytest.raises(lw.FileError, match="more than 10 elements"):
        given(HEAD + "  - Particle: {mass: 1}\n" * 11)


def test_files_that_are_no_text(given, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"linkwork: 1\nx: \xff\xfe\n")
    with pytest.raises(lw.FileError, match=":2: byte 15 is no UTF-8"):
        lw.load(path)
    with pytest.raises(lw.FileError, match="there is no such file"):
        lw.load(tmp_path / "y.yaml")
    with pytest.raises(lw.FileError, match='it declares no parameter "q"'):
        given("linkwork: 1\nparameters: {k: 1}\n", parameters={"q": 1})


def test_broken_files_are_loaded_or_refused():
    outcome = fuzz.run("scene", range(300))
    assert outcome.harmful == []
    assert outcome.counts["loaded"] and outcome.counts["refused"] > 200
