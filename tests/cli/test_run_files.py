"""Files at the command line, end to end, in a folder of their own and in a process of their own where signals are sent."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import main
from linkwork.cli.run_loop import Run
from linkwork.recording.fields import fields_of
from linkwork.recording.recording import Recording
from linkwork.util.atomic_io import CLAIM

SCENE = """\
linkwork: 1
simulate: {seconds: 0.4, dt: 0.002, record_every: 0.02}
parameters: {k: 20.0}
elements:
  - RigidBody: {name: arm, mass: 1.0, shape: {Box: [0.4, 0.05, 0.05]}, position: [0.2, 0, 0]}
  - Hinge: {name: axle, a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0]}
  - Spring: {name: pull, a: ground, b: arm, on_a: [0, 0, 1], stiffness: k}
  - Visual: {name: skin, body: arm, shape: {Sphere: [0.1]}, color: [0.9, 0.3, 0.2, 1]}
"""
BALLS = """\
linkwork: 1
simulate: {seconds: 0.3, dt: 0.005, record_every: 0.02}
elements:
  - RigidBody: {name: low, mass: 1.0, shape: {Sphere: [0.1]}, position: [0, 0, 0.11]}
  - RigidBody: {name: high, mass: 2.0, shape: {Box: [0.2, 0.2, 0.2]}, position: [0.02, 0, 0.35]}
  - Collider: {name: floor, body: ground, shape: Plane}
  - Contact: {name: touch}
"""
URDF = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.2"/><mass value="2"/><inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry><material name="m"><color rgba="0.1 0.6 0.2 1"/></material></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-0.1" upper="2" effort="5" velocity="3"/><dynamics damping="0.2" friction="0.3"/>
  </joint>
</robot>
"""
MJCF = """\
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="cart" pos="0 0 0.3">
      <freejoint/>
      <geom name="box" type="box" size="0.2 0.1 0.1" mass="2" rgba="0.9 0.5 0.1 1"/>
      <body name="arm" pos="0.2 0 0.1">
        <joint name="hip" type="hinge" axis="0 1 0" armature="0.01" damping="0.05" frictionloss="0.1"/>
        <geom name="rod" type="capsule" size="0.03 0.2" pos="0 0 0.2" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <sensor><e_kinetic name="energy"/></sensor>
</mujoco>
"""
FILES = {"arm.yaml": SCENE, "balls.yaml": BALLS, "arm.urdf": URDF, "cart.xml": MJCF}
LEFT = {"recording.nc", "checkpoint.npz", "scene.yaml", "plot.png", "replay.html", "report.txt", "report.json"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(SCENE)
    return tmp_path


@pytest.fixture
def no_plots(monkeypatch):
    """What takes most of the time of a short run, where it is not looked at."""
    monkeypatch.setattr(Recording, "plot", lambda self, path: path.touch())
    monkeypatch.setattr(Recording, "replay", lambda self, path: path.touch() or path)


def call(capsys, *arguments):
    """(exit code, stdout, stderr) of `linkwork arguments`."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines(keepends=True) if "compiling" not in line]
    return caught.value.code or 0, out, "".join(told)


def assert_same_bits(a, b):
    """Two recordings, number by number."""
    assert a.time.tobytes() == b.time.tobytes()
    for name, values in fields_of(a).items():
        assert values.tobytes() == fields_of(b)[name].tobytes(), name
    assert list(a.extra) == list(b.extra)
    for name, values in a.extra.items():
        assert values.tobytes() == b.extra[name].tobytes(), name
    assert (a.touching is None) == (b.touching is None)
    if a.touching is not None:
        assert a.touching.names == b.touching.names
        for name, values in {"count": a.touching.count, **a.touching.columns()}.items():
            assert values.tobytes() == getattr(b.touching, name).tobytes(), name


def test_a_scene_file_runs_as_it_suggests(capsys, folder):
    code, out, err = call(capsys, "run", "arm.yaml", "--out", "run")
    assert (code, err) == (0, "")
    assert out.startswith(
        "arm: 1 body, 1 constraint, 5 rows, 1 freedom\n0.4 s in 200 steps of 0.002 s (tree, rattle), 21 frames"
    )
    assert {path.name for path in (folder / "run").iterdir()} == LEFT
    report = json.loads((folder / "run/report.json").read_text())
    assert report["file"] == "arm.yaml" and report["parameters"] == {"k": 20} and report["remarks"] == []
    assert {"linkwork", "numpy", "casadi", "python"} <= set(report["versions"])
    recording = Recording.load(folder / "run/recording.nc")
    world = lw.load("arm.yaml")
    sim = lw.Simulation(world, dt=0.002)
    assert_same_bits(recording, sim.run(0.4, record_every=0.02, record=["axle"]))
    assert recording.visuals[0][0] == "skin" and recording.visuals[0][5] == (0.9, 0.3, 0.2, 1)


def test_the_scene_that_is_left_is_the_same_run_again(capsys, folder, no_plots):
    options = ("--set", "k=31", "--seed", 7, "--seconds", 0.2, "--integrator", "rk4")
    assert call(capsys, "run", "arm.yaml", *options, "--out", "first")[0] == 0
    assert call(capsys, "run", "first/scene.yaml", "--out", "second")[0] == 0
    assert_same_bits(Recording.load("first/recording.nc"), Recording.load("second/recording.nc"))


def test_the_method_of_cg_is_an_option_of_files_and_runs(capsys, folder, no_plots):
    squares = ("--solver", "cg", "--method", "least-squares", "--seconds", 0.1)
    assert call(capsys, "run", "arm.yaml", *squares, "--out", "told")[0] == 0
    assert "method: least-squares" in (folder / "told/scene.yaml").read_text()
    (folder / "squares.yaml").write_text((folder / "told/scene.yaml").read_text())
    world = lw.load("squares.yaml")
    assert world.simulate["method"] == "least-squares"
    for name, words in (("left", ("told/scene.yaml",)), ("resumed", ("squares.yaml", "--seconds", 0.04))):
        assert call(capsys, "run", *words, "--out", name)[0] == 0
    assert call(capsys, "run", "squares.yaml", "--out", "resumed", "--resume", "--seconds", 0.1)[0] == 0
    told = Recording.load("told/recording.nc")
    for name in ("left", "resumed"):
        assert_same_bits(told, Recording.load(f"{name}/recording.nc"))
    sim = lw.Simulation(world, **{name: world.simulate[name] for name in ("dt", "solver", "integrator", "method")})
    assert_same_bits(told, sim.run(0.1, record_every=0.02, record=["axle"]))
    code, _, err = call(capsys, "run", "squares.yaml", "--out", "resumed", "--resume", "--method", "least-residual")
    assert code != 0 and "--method: the run that goes on has least-squares, not least-residual" in err
    assert call(capsys, "run", "squares.yaml", "--solver", "tree")[0] == 0  # the method goes with the solver
    code, _, err = call(capsys, "run", "arm.yaml", "--method", "least-squares")
    assert code != 0 and 'the solver "tree" takes no method; use solver="cg"' in err
    (folder / "squares.yaml").write_text((folder / "told/scene.yaml").read_text().replace("least-squares", "least-cubes"))
    code, _, err = call(capsys, "run", "squares.yaml")
    assert code != 0 and 'there is no method "least-cubes"' in err


def test_a_run_may_start_from_a_keyframe(capsys, folder, no_plots):
    (folder / "key.yaml").write_text(SCENE + "keyframes:\n  up: {positions: {axle: -0.5}, velocities: {axle: 1.0}}\n")
    assert call(capsys, "run", "key.yaml", "--keyframe", "up", "--seconds", 0.1, "--out", "run")[0] == 0
    assert call(capsys, "run", "key.yaml", "--seconds", 0.2, "--out", "run", "--resume")[0] == 0
    sim = lw.Simulation(lw.load("key.yaml"), dt=0.002)
    sim.reset("up")
    assert_same_bits(Recording.load("run/recording.nc"), sim.run(0.2, record_every=0.02, record=["axle"]))
    code, _, err = call(capsys, "run", "key.yaml", "--keyframe", "upp")
    assert code == 2 and 'did you mean "up"?' in err and err.count("\n") == 1
    code, _, err = call(capsys, "run", "key.yaml", "--keyframe", "up", "--seed", 1)
    assert code == 2 and '--seed: the keyframe "up" says how fast everything starts' in err and err.count("\n") == 1
    code, _, err = call(capsys, "run", "key.yaml", "--keyframe", "far away")
    assert code == 2 and 'no keyframe is called "far away"; there are up' in err and err.count("\n") == 1


def test_a_keyframe_is_part_of_the_scene_that_is_left_and_of_the_report(capsys, folder, no_plots, monkeypatch):
    (folder / "key.yaml").write_text(SCENE + "keyframes:\n  up: {positions: {axle: -0.5}, velocities: {axle: 1.0}}\n")
    assert call(capsys, "run", "key.yaml", "--keyframe", "up", "--seconds", 0.1, "--out", "first")[0] == 0
    start = json.loads((folder / "first/report.json").read_text())["energy"]["start"]
    assert call(capsys, "run", "key.yaml", "--seconds", 0.2, "--out", "first", "--resume")[0] == 0
    assert json.loads((folder / "first/report.json").read_text())["energy"]["start"] == start and start["kinetic"] > 0
    starts, reset = [], lw.Simulation.reset
    monkeypatch.setattr(lw.Simulation, "reset", lambda sim, keyframe=None: (starts.append(keyframe), reset(sim, keyframe))[1])
    assert call(capsys, "run", "first/scene.yaml", "--out", "second")[0] == 0
    assert starts == ["up", "up", "up"]  # the run, a step of it, and the same once more to time it
    assert_same_bits(Recording.load("first/recording.nc"), Recording.load("second/recording.nc"))
    (folder / "lost.yaml").write_text(SCENE.replace("simulate: {", "simulate: {keyframe: down, "))
    code, _, err = call(capsys, "info", "lost.yaml")
    assert code == 2 and 'lost.yaml:2: simulate: no keyframe is called "down"; there is none' in err and err.count("\n") == 1


def test_info_names_the_first_frames_and_runs_record_them(capsys, folder, no_plots):
    frames = "".join(f"  - Frame: {{name: gauge{k}, body: arm, position: [0, 0, {k}]}}\n" for k in range(8))
    head, rest = SCENE.split("elements:\n")
    (folder / "gauges.yaml").write_text(f"{head}elements:\n{rest}{frames}")
    code, out, _ = call(capsys, "info", "gauges.yaml")
    named = ", ".join(f"gauge{k}" for k in range(6))
    assert code == 0 and f"  frames      8: {named} and 2 more\n" in out
    assert "frames" not in call(capsys, "info", "arm.yaml")[1]
    assert call(capsys, "run", "gauges.yaml", "--seconds", 0.1, "--out", "first")[0] == 0
    rec = Recording.load("first/recording.nc")
    assert [frame[0] for frame in rec.frames] == [f"gauge{k}" for k in range(8)]
    assert np.allclose(np.linalg.norm(rec["gauge5"].position - rec["arm"].position, axis=1), 5)


def test_a_seed_is_all_that_is_random(folder):
    from linkwork.cli.run_loop import push

    def start(seed, shake=0.1):
        world = lw.load("arm.yaml")
        if seed is not None:
            push(world, seed, shake)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            return lw.Simulation(world).velocity("arm")

    assert np.all(start(None) == 0) and np.all(start(1) == start(1)) and not np.all(start(1) == start(2))
    np.testing.assert_allclose(start(1, 0.01), 0.1 * start(1), atol=1e-15)
    assert abs(start(1)[1]) < 1e-12 < abs(start(1)[2])  # what the hinge does not allow is taken away


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("file", FILES)
def test_a_run_goes_on_bit_for_bit(capsys, folder, no_plots, file):
    (folder / file).write_text(FILES[file])
    options = ("--seed", 3, "--dt", 0.005, "--record-every", 0.02)
    assert call(capsys, "run", file, *options, "--out", "whole", "--seconds", 0.3)[0] == 0
    assert call(capsys, "run", file, *options, "--out", "parts", "--seconds", 0.13)[0] == 0
    code, out, _ = call(capsys, "run", file, "--out", "parts", "--resume", "--seconds", 0.3)
    assert code == 0 and "from before" in out
    assert_same_bits(Recording.load("whole/recording.nc"), Recording.load("parts/recording.nc"))
    code, out, _ = call(capsys, "run", file, "--out", "parts", "--resume")  # there is nothing left to do
    assert code == 0
    assert_same_bits(Recording.load("whole/recording.nc"), Recording.load("parts/recording.nc"))
    assert call(capsys, "run", "whole/scene.yaml", "--out", "again")[0] == 0
    assert_same_bits(Recording.load("whole/recording.nc"), Recording.load("again/recording.nc"))


def test_robots_at_the_command_line(capsys, folder):
    (folder / "arm.urdf").write_text(URDF)
    (folder / "cart.xml").write_text(MJCF)
    code, out, _ = call(capsys, "info", "arm.urdf")
    assert (
        code == 0
        and "1 Hinge" in out
        and "visuals     1: 1 Box" in out
        and "upper rigid, 2 kg  Hinge shoulder to the ground" in out
    )
    assert "not taken as written: 1\n" in out and "speeds of joints are not bounded" in out.splitlines()[-1]
    code, out, err = call(capsys, "info", "arm.urdf", "--floating")
    assert code == 2 and out == "" and 'link "base" floats and has no mass' in err
    code, out, _ = call(capsys, "info", "cart.xml")
    assert code == 0 and 'sensor "energy"' in out.splitlines()[-1] and "arm rigid, 0.5 kg  Hinge hip, Armature" in out
    for file in ("arm.urdf", "cart.xml"):
        code, out, err = call(capsys, "run", file, "--strict", "--out", "run")
        assert code == 2 and out == "" and "strict=True refuses it" in err and not (folder / "run").exists()
    code, out, err = call(capsys, "run", "cart.xml", "--floating")
    assert code == 2 and "--floating sets the root link of a URDF free" in err
    code, out, err = call(capsys, "run", "arm.urdf", "--set", "k=1")
    assert code == 2 and "only scene files have parameters" in err
    code, out, err = call(capsys, "convert", "cart.xml", "cart.yaml")
    assert code == 0 and out.startswith("cart.yaml: 2 bodies")
    assert [v.name for v in lw.load("cart.yaml").visuals] == [v.name for v in lw.load("cart.xml").visuals]


def command(*arguments):
    return [sys.executable, "-m", "linkwork.cli", *map(str, arguments)]


INTERRUPTED = """
import os, signal, sys
from linkwork import cli
from linkwork.simulation import simulation

step = simulation.Simulation.step

def stepping(self, n=1):
    step(self, n)
    if self.steps >= 5000:
        simulation.Simulation.step = step
        os.kill(os.getpid(), signal.SIGINT)

simulation.Simulation.step = stepping
cli.main(sys.argv[1:])
"""


def test_control_c_keeps_the_run_and_it_goes_on_bit_for_bit(folder):
    """In a process of its own: SIGINT while it runs."""
    options = ("--seconds", "40", "--dt", "0.0001", "--record-every", "0.1")
    interrupted = [sys.executable, "-c", INTERRUPTED, "run", "arm.yaml", *options, "--out", "run"]
    process = subprocess.run(interrupted, capture_output=True, text=True)
    out, err = process.stdout, process.stderr
    assert process.returncode == 130, err
    assert "stopped by Ctrl-C" in out and "Traceback" not in err and "--resume" in err
    assert {path.name for path in (folder / "run").iterdir()} == LEFT
    report = json.loads((folder / "run/report.json").read_text())
    assert report["interrupted"] and 0 < report["time"] < 40
    part = Recording.load("run/recording.nc")
    end = round(report["time"] + 0.2, 1)
    done = subprocess.run(
        command("run", "arm.yaml", "--out", "run", "--resume", "--seconds", end), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    alone = lw.Simulation(lw.load("arm.yaml"), dt=0.0001).run(end, record_every=0.1, record=["axle"])
    whole = Recording.load("run/recording.nc")
    assert_same_bits(alone, whole)
    assert len(whole) > len(part) - 1 and "note" not in whole.attributes


def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(folder, monkeypatch, capsys):
    from linkwork.cli import run_loop

    monkeypatch.setattr(run_loop, "OFTEN", 0.0)
    monkeypatch.setattr(run_loop, "SHARE", 0.0)
    check = run_loop.Run._check

    def die_after_the_third(self):
        check(self)
        die_after_the_third.made += 1
        if die_after_the_third.made == 3:
            raise KeyboardInterrupt  # as a second Ctrl-C does: at once

    die_after_the_third.made = 0
    monkeypatch.setattr(run_loop.Run, "_check", die_after_the_third)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        main(["run", "arm.yaml", "--out", "run"])
    capsys.readouterr()
    assert {path.name for path in (folder / "run").iterdir()} == {"recording.nc", "checkpoint.npz", "scene.yaml"}
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    code, out, _ = call(capsys, "run", "arm.yaml", "--out", "run", "--resume")
    assert code == 0 and "the first 30 from before" in out
    assert_same_bits(
        lw.Simulation(lw.load("arm.yaml"), dt=0.002).run(0.4, record_every=0.02, record=["axle"]),
        Recording.load("run/recording.nc"),
    )


def test_what_cannot_go_on_is_refused(capsys, folder, no_plots):
    assert call(capsys, "run", "arm.yaml", "--seconds", 0.1, "--out", "run")[0] == 0
    before = {path.name: path.read_bytes() for path in (folder / "run").iterdir()}
    refused = {
        ("--out", "run"): "it holds a run already (checkpoint.npz)",
        ("--out", "run", "--resume", "--dt", 0.01): "--dt: the run that goes on has 0.002, not 0.01; leave it out",
        ("--out", "run", "--resume", "--solver", "dense"): "--solver: the run that goes on has tree, not dense",
        ("--out", "run", "--resume", "--seed", 1): "--seed: the run that goes on has None, not 1",
        ("--out", "run", "--resume", "--set", "k=1"): '"arm" is no longer what run/scene.yaml says',
        ("--out", "run", "--resume", "--seconds", 0.05): 'the run in "run" is at 0.1 s already, and 0.05 s are less; give more',
        ("--set", "k=1", "--set", "k=2"): "--set k: it is given twice, 1 and 2; give it once",
        ("--out", "none", "--resume"): '"none" holds no checkpoint.npz to go on from',
        ("--resume",): "there is no folder to go on from",
        ("--out", "run", "--resume", "--overwrite"): "exclude each other",
        ("--shake", 1): "give --seed too",
        ("--seed", 1, "--shake", -1): "shake is -1",
    }
    for options, words in refused.items():
        code, out, err = call(capsys, "run", "arm.yaml", *options)
        assert code == 2 and out == "" and words in err and err.count("\n") == 1, (options, err)
    (folder / "run/checkpoint.npz").write_bytes(before["checkpoint.npz"][:-50])
    code, _, err = call(capsys, "run", "arm.yaml", "--out", "run", "--resume")
    assert code == 2 and "it is no whole checkpoint" in err and err.count("\n") == 1
    (folder / "run/checkpoint.npz").write_bytes(before["checkpoint.npz"])
    for name in ("recording.nc", "scene.yaml"):
        (folder / "run" / name).unlink()
        code, _, err = call(capsys, "run", "arm.yaml", "--out", "run", "--resume")
        assert code == 2 and f'"run" holds no {name} to go on from; begin the run anew' in err and err.count("\n") == 1
        (folder / "run" / name).write_bytes(before[name])
    assert {path.name: path.read_bytes() for path in (folder / "run").iterdir()} == before
    assert sorted(path.name for path in folder.iterdir()) == ["arm.yaml", "run"]
    assert call(capsys, "run", "arm.yaml", "--seconds", 0.1, "--out", "run", "--overwrite")[0] == 0


def test_another_scene_does_not_go_on_with_the_settings_of_a_run(capsys, folder, no_plots):
    assert call(capsys, "run", "arm.yaml", "--seconds", 0.02, "--set", "k=9", "--out", "run")[0] == 0
    (folder / "balls.yaml").write_text(BALLS)
    code, _, err = call(capsys, "run", "balls.yaml", "--out", "run", "--resume")
    assert code == 2 and err.count("\n") == 1
    assert '--resume: the run in "run" began with "arm" --set k=9: balls.yaml: it declares no parameter "k"' in err


def test_a_scene_that_lies_in_the_folder_is_not_written_over(capsys, folder, no_plots):
    (folder / "scene.yaml").write_text(SCENE)
    code, _, err = call(capsys, "run", "scene.yaml", "--out", ".")
    assert code == 2 and "it holds a run already (scene.yaml); give another folder, or --overwrite" in err
    assert (folder / "scene.yaml").read_text() == SCENE


def test_of_two_runs_that_begin_in_one_folder_the_second_is_refused(capsys, folder, no_plots, monkeypatch):
    from linkwork.cli import run_loop

    build = run_loop.Simulation

    def slowly(*arguments, **options):
        """Meanwhile another one begins there."""
        (folder / "run").mkdir()
        (folder / "run/scene.yaml").write_text("of the other")
        return build(*arguments, **options)

    monkeypatch.setattr(run_loop, "Simulation", slowly)
    code, _, err = call(capsys, "run", "arm.yaml", "--out", "run")
    assert code == 2 and "it holds a run already (scene.yaml)" in err and err.count("\n") == 1
    assert (folder / "run/scene.yaml").read_text() == "of the other"


def test_while_a_run_writes_to_a_folder_no_other_does(capsys, folder, no_plots, monkeypatch):
    """Neither one that begins, nor one that would write over it, nor one that goes on."""
    simulate, others = Run.simulate, []

    def and_others_try(self):
        monkeypatch.setattr(Run, "simulate", simulate)  # should one of them get so far
        for options in (("--overwrite",), ("--resume",), ()):
            if options == ("--resume",):
                self.recorder.take()
                self._check()  # something to go on from
                self.sim.step()  # the run takes its first frame later than this one
            others.append(call(capsys, "run", "arm.yaml", "--out", "run", *options))
        return simulate(self)

    monkeypatch.setattr(Run, "simulate", and_others_try)
    code, out, err = call(capsys, "run", "arm.yaml", "--out", "run")
    assert code == 0 and "left in run" in out and {path.name for path in (folder / "run").iterdir()} == LEFT
    for code, out, err in others:
        assert code == 2 and out == "" and err.count("\n") == 1 and '--out "run": ' in err
    assert all("another run is writing to it; give another folder" in err for _, _, err in others[:2])
    assert call(capsys, "run", "arm.yaml", "--out", "run", "--overwrite")[0] == 0


@pytest.mark.slow
def test_of_two_processes_one_has_the_folder(folder):
    """Both begin at once; whoever comes second is refused, and what is left is of the other one."""
    commands = [command("run", "arm.yaml", "--seconds", 0.1, "--seed", seed, "--out", "run", "--overwrite") for seed in (1, 2)]
    held = subprocess.Popen([sys.executable, "-c", HOLD, "run"], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert held.stdout.readline() == "True\n"
        refused = subprocess.run(commands[0], capture_output=True, text=True)
        assert refused.returncode == 2 and "another run is writing to it" in refused.stderr
        assert [path.name for path in (folder / "run").iterdir()] == [CLAIM]
    finally:
        held.kill()  # the system lets go of what it held
        held.communicate()
    done = subprocess.run(commands[1], capture_output=True, text=True)
    assert done.returncode == 0 and {path.name for path in (folder / "run").iterdir()} == LEFT


HOLD = """
import pathlib, sys
from linkwork.util.atomic_io import claimed
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
with claimed(folder) as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def test_a_folder_that_cannot_be_claimed_is_refused(capsys, folder, no_plots, monkeypatch):
    assert call(capsys, "run", "arm.yaml", "--seconds", 0.1, "--out", "run")[0] == 0
    (folder / "run" / CLAIM).mkdir()  # as root, no folder is read-only
    for options in (("--resume",), ("--overwrite",)):
        code, _, err = call(capsys, "run", "arm.yaml", "--out", "run", *options)
        assert code == 2 and '--out "run": Is a directory; give a folder' in err and err.count("\n") == 1


def test_the_report_of_a_stack_has_the_forces_of_the_last_step(capsys, folder, no_plots):
    """Though how fast the run is was measured by running it again."""
    code, out, _ = call(capsys, "run", "box-stack", "--set", "n=2", "--seconds", 0.1, "--out", "run")
    facts = {fact["what"]: fact for fact in json.loads((folder / "run/report.json").read_text())["facts"]}
    assert code == 0 and "off by" not in out and facts["force of the floor, N"]["found"] == pytest.approx(19.62, rel=1e-4)
    code, out, _ = call(
        capsys, "run", "box-stack", "--out", "run", "--resume"
    )  # at its end: no step is made, no force is known
    assert code == 0 and "the first 100 from before" in out and "off by" not in out and "floor" not in out


def test_a_folder_is_no_scene(capsys, folder):
    (folder / "run").mkdir()
    for name in ("run", "info"):
        code, _, err = call(capsys, name, "run")
        assert code == 2 and err == 'linkwork: "run": it is a folder; give a file in it, such as run/scene.yaml\n'


def test_what_a_model_refuses_is_said_of_the_file(capsys, folder):
    (folder / "empty.yaml").write_text("linkwork: 1\n")
    code, _, err = call(capsys, "run", "empty.yaml")
    assert code == 2 and err.startswith("linkwork: empty.yaml: World: there is no body in it") and err.count("\n") == 1


BAD = {
    "no file": ("none.yaml", None, "none.yaml: there is no such file"),
    "half a file": ("half.yaml", SCENE[:-40], "half.yaml:"),
    "tabs": ("tabs.yaml", SCENE.replace("  - Hinge", "\t- Hinge"), "tabs.yaml:6: a tab indents it, which YAML does not have; use spaces"),
    "no number": ("nan.yaml", SCENE.replace("mass: 1.0", "mass: .nan"), "nan.yaml:5:"),
    "an unknown body": ("who.yaml", SCENE.replace("b: arm, at", "b: leg, at"), "who.yaml:6:"),
    "no XML": ("half.urdf", URDF[:-30], "half.urdf:"),
    "an unknown link": ("who.urdf", URDF.replace('child link="upper"', 'child link="lower"'), "who.urdf:7:"),
    "an entity": ("evil.xml", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + MJCF, "evil.xml:1: it declares a document type"),
    "no such format": ("arm.stl", "solid", "arm.stl: linkwork reads .urdf, .xacro, .xml (MJCF), .mjcf and .yaml"),
    "no model": ("far.yaml", SCENE.replace("at: [0, 0, 0]", "at: [0, 0, 0], axis_b: [1, 0, 0]"), "far.yaml:6:"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", ["run", "info", "convert"])
def test_bad_files_are_refused_in_one_sentence_and_nothing_is_written(capsys, folder, case, name):
    file, text, words = BAD[case]
    if text is not None:
        (folder / file).write_text(text)
    there = sorted(folder.iterdir())
    more = {"run": ("--out", "run"), "info": (), "convert": ("new.yaml",)}[name]
    code, out, err = call(capsys, name, file, *more)
    assert code == 2 and out == "" and words in err and err.startswith("linkwork: ") and err.count("\n") == 1
    assert sorted(folder.iterdir()) == there


def test_parameters_of_a_file(capsys, folder):
    code, _, err = call(capsys, "run", "arm.yaml", "--set", "q=1")
    assert code == 2 and 'it declares no parameter "q"' in err and err.count("\n") == 1
    code, out, _ = call(capsys, "info", "arm.yaml", "--set", "k=7")
    assert code == 0 and "k 7\n" in out


def test_info_lists_what_is_not_taken_as_written(capsys, folder, monkeypatch):
    from linkwork.formats.scene import read as scene

    read = scene.load

    def with_remarks(reading, **options):
        reading.remark(9, '<plugin> "p[1]"', "left out")
        reading.remark(3, "<tendon>", "drawn straight")
        reading.remark(None, "texture", "not shown", file="other.yaml")
        return read(reading, **options)

    monkeypatch.setattr(scene, "load", with_remarks)
    code, out, err = call(capsys, "info", "arm.yaml")
    assert (code, err) == (0, "")
    tail = out.splitlines()[-6:]
    assert tail[0] == "not taken as written: 3" and tail[1].strip() == "arm.yaml"
    assert (
        tail[2].split() == ["3", "<tendon>:", "drawn", "straight"]
        and tail[3].split()[:2] == ["9", "<plugin>"]
        and '"p[1]"' in tail[3]
    )
    assert tail[4].strip() == "other.yaml" and tail[5].strip() == "texture: not shown"
    code, _, err = call(capsys, "run", "arm.yaml", "--strict", "--out", "run")
    assert code == 2 and "strict=True refuses it" in err and not (folder / "run").exists()


def test_info_of_what_cannot_be_simulated_tells_why_and_shows_the_rest(capsys, folder):
    (folder / "off.yaml").write_text(SCENE + "  - Distance: {name: rod, a: ground, b: arm, length: 5.0}\n")
    code, out, err = call(capsys, "info", "off.yaml")
    assert (code, err) == (0, "")
    assert "it cannot be simulated as it is: Distance" in out and "bodies      1: 1 rigid" in out and "Hinge axle" in out
    code, out, err = call(capsys, "run", "off.yaml", "--out", "run")
    assert code == 2 and 'Distance "rod": it is off by' in err and not (folder / "run").exists()


def test_convert_writes_what_loads_as_the_same(capsys, folder):
    code, out, err = call(capsys, "convert", "arm.yaml", "new.yaml", "--set", "k=3")
    assert (code, err) == (0, "") and out == "new.yaml: 1 body, 1 constraint, 1 force\n"
    world = lw.load("new.yaml")
    assert world.find("pull").stiffness.value == 3 and world.simulate["dt"] == 0.002
    for arguments, words in {
        ("arm.yaml", "new.yaml"): "there is such a file already",
        ("arm.yaml", "new.urdf"): "linkwork writes scene files",
        ("arm.nc", "new2.yaml"): 'no scene named "arm.nc"',
    }.items():
        code, out, err = call(capsys, "convert", *arguments)
        assert code == 2 and out == "" and words in err and err.count("\n") == 1
    assert call(capsys, "convert", "chain", "new.yaml", "--overwrite", "--set", "n=3")[0] == 0
    assert len(lw.load("new.yaml").bodies) == 3 and lw.load("new.yaml").simulate["dt"] == 1e-3


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys, folder, monkeypatch):
    from linkwork.simulation import progress

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "QUIET", 0.0)
    code, _, err = call(capsys, "run", "arm.yaml")
    assert code == 0 and err.startswith("20 of 200 steps, ") and err.splitlines()[0].endswith(" left") and "steps/s" in err
    assert os.environ.get("TERM") is None or "\x1b" not in err


def test_help_of_every_command(capsys):
    for name in ("run", "info", "convert", "render"):
        code, out, _ = call(capsys, name, "--help")
        assert code == 0 and "Usage" in out


def test_packages_and_meshes_as_found(folder, capsys):
    """A mesh in a package that is elsewhere: refused with the remedy, found with --package, left out on demand."""
    mesh = '<visual><geometry><mesh filename="package://hand/palm.stl"/></geometry></visual>'
    (folder / "arm.urdf").write_text(URDF.replace("<inertial>", f"{mesh}<inertial>", 1))
    code, out, err = call(capsys, "info", "arm.urdf")
    assert code == 2 and out == "" and 'there is no package "hand" around it' in err and 'meshes="as found"' in err
    code, out, err = call(capsys, "info", "arm.urdf", "--meshes-as-found")
    assert code == 0 and "palm.stl" in out
    (folder / "elsewhere").mkdir()
    shutil.copy(Path(__file__).parents[1] / "formats/seeds/wedge.stl", folder / "elsewhere/palm.stl")
    code, out, err = call(capsys, "info", "arm.urdf", "--package", "hand=elsewhere")
    assert code == 0 and "palm.stl" not in out
    code, out, err = call(capsys, "info", "arm.urdf", "--package", "hand")
    remedy = "give a name and a folder, such as --package robot=/folder/of/robot, or a folder that holds packages"
    assert code == 2 and err == f'linkwork: --package "hand": {remedy}\n'
