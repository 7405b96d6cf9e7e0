"""The commands, called as the entry point calls them: what they print, leave and refuse."""

import json
import signal
import subprocess
import sys

import pytest

import linkwork as lw
from linkwork import scenes
from linkwork.cli import main
from linkwork.recording.recording import Recording
from linkwork.util import resources

FILES = {"recording.nc", "checkpoint.npz", "scene.yaml", "plot.png", "replay.html", "report.txt", "report.json"}


def call(capsys, *arguments):
    """(exit code, stdout, stderr) of `linkwork arguments`."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines(keepends=True) if "compiling" not in line]  # said where kernels are new
    return caught.value.code or 0, out, "".join(told)


def test_scenes_lists_every_scene(capsys):
    code, out, _ = call(capsys, "scenes")
    assert code == 0
    assert all(name in out for name in scenes.names())


def test_version(capsys):
    code, out, _ = call(capsys, "--version")
    assert code == 0 and out.startswith("linkwork ")


def test_run_prints_a_report_and_writes_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, "run", "double-pendulum", "--seconds", 0.1)
    assert code == 0 and err == ""
    assert out.startswith("double-pendulum: 2 bodies, 2 constraints, 10 rows, 2 freedoms\n0.1 s in 100 steps of 0.001 s")
    for word in ("steps a second", "drift", "energy", "shoulder (Hinge)", "expected"):
        assert word in out
    assert list(tmp_path.iterdir()) == []


TOO_LARGE = {
    "many links": (("chain", "--set", "n=1e9"), 'Scene "chain": n is 1e+09: 1e+09 bodies need about 7.5 TB, and this machine has 8 GB; give less'),
    "a deep tree": (("tree", "--set", "depth=40"), 'Scene "tree": depth is 40: 1.1e+12 bodies need about 8.25e+03 TB, and'),
    "many arms": (("star", "--set", "arms=1e5", "--set", "links=1e5"), 'Scene "star": arms is 100000 and links is 100000: 1e+10 bodies'),
    "a long recording": (("pendulum", "--seconds", 1e9), "Simulation: 1e+11 frames need about 1"),
    "steps without number": (("pendulum", "--seconds", 1e300), "Simulation: seconds is 1e+300, 1e+303 steps of 0.001 s; give less"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOO_LARGE)
def test_what_memory_cannot_hold_is_refused_at_once(capsys, monkeypatch, case):
    monkeypatch.setattr(resources, "installed", lambda: 8_000_000_000)
    arguments, sentence = TOO_LARGE[case]
    code, out, err = call(capsys, "run", *arguments)
    assert code == 2 and out == "" and err.startswith(f"linkwork: {sentence}") and err.count("\n") == 1


def test_notes_are_sentences_on_stderr(capsys):
    code, _, err = call(capsys, "run", "pendulum", "--seconds", 0.01, "--record-every", 0.0003)
    sentence = "record_every is 0.0003 s, less than dt; each step is recorded, 0.001 s apart"
    assert code == 0 and err == f"linkwork: Simulation: {sentence}\n"


def test_run_leaves_its_files(capsys, tmp_path):
    folder = tmp_path / "deep" / "run"
    options = ("--seconds", 0.2, "--dt", 0.002, "--record-every", 0.02, "--solver", "dense", "--set", "n=3")
    code, out, _ = call(capsys, "run", "chain", *options, "--out", folder)
    assert code == 0
    assert {path.name for path in folder.iterdir()} == FILES
    assert all(path.stat().st_size > 0 for path in folder.iterdir())
    recording = Recording.load(folder / "recording.nc")
    assert len(recording) == 11 and recording.bodies == ["link1", "link2", "link3"]
    assert recording.attributes["scene"] == "chain" and recording.attributes["parameters"]["n"] == 3
    report = json.loads((folder / "report.json").read_text())
    assert report["options"] == {
        "seconds": 0.2, "dt": 0.002, "solver": "dense", "integrator": "rattle", "record_every": 0.02, "keyframe": None, "seed": None,
        "shake": None, "method": None,
    }  # fmt: skip
    assert report["parameters"]["n"] == 3 and report["steps"] == 100 and not report["interrupted"]
    assert {"linkwork", "numpy", "casadi", "python"} <= set(report["versions"])
    assert (folder / "report.txt").read_text() in out


def test_the_report_tells_the_end_of_the_run_though_it_is_timed_afterwards(capsys, tmp_path):
    call(capsys, "run", "pendulum", "--seconds", 0.5, "--out", tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    sim = lw.Simulation(scenes.get("pendulum"), dt=report["options"]["dt"])
    recording = sim.run(0.5)
    assert report["energy"]["end"]["total"] == sim.energy().total
    assert report["facts"][0]["found"] == sim.angle("pivot")
    assert report["drift"]["largest"] == recording.drift.max()


def test_a_coarse_step_is_told_to_miss_the_closed_form(capsys):
    _, out, _ = call(capsys, "run", "pendulum", "--dt", 0.02)
    assert "off by more than 0.0001" in out


@pytest.mark.parametrize("name", scenes.names())
def test_info_describes_every_scene(capsys, name):
    code, out, err = call(capsys, "info", name)
    assert code == 0 and err == ""
    world = scenes.get(name)
    assert out.startswith(f"{name}: ")
    for line in ("bodies", "constraints", "freedoms", "trees", "memory", "ground"):
        assert f"{line} " in out or f"\n{line}" in out
    assert f"{len(world.bodies)}: " in out and world.bodies[0].name in out


def test_info_tells_what_joint_coordinates_would_cost(capsys):
    _, out, _ = call(capsys, "info", "rag-doll")
    assert "in joint coordinates" in out and "31 × 31" in out and "faster" in out
    _, out, _ = call(capsys, "info", "bridge")  # a loop
    assert "in joint coordinates" not in out


def test_info_of_the_tree_counts_as_the_paper_does(capsys):
    _, out, _ = call(capsys, "info", "tree")
    assert "381: 762 velocities less 381 rows" in out and "and 67 more further out" in out
    _, out, _ = call(capsys, "info", "tree", "--lines", 200)
    assert "more further out" not in out and all(f"link{k} " in out for k in range(1, 128))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "chan"), 'no scene named "chan"; did you mean "chain"?'),
        (("info", "chan"), 'did you mean "chain"?'),
        (("run", "arm.urdf"), "arm.urdf: there is no such file"),
        (("info", "models/scene.YAML"), "there is no such file"),
        (("run", "chain", "--set", "m=1"), 'there is no parameter "m"'),
        (("run", "chain", "--set", "n=many"), "give a parameter and a number"),
        (("run", "chain", "--set", "n"), "give a parameter and a number"),
        (("run", "chain", "--set", "n=0"), "give a whole number of at least 1"),
        (("run", "chain", "--seconds", "-1"), "seconds is -1"),
        (("run", "chain", "--seconds", "nan"), "seconds is nan"),
        (("run", "chain", "--dt", "0"), "dt is 0"),
        (("run", "chain", "--record-every", "0"), "record_every is 0"),
        (("run", "chain", "--solver", "tre"), 'did you mean "tree"?'),
        (("run", "chain", "--integrator", "rk5"), 'no integrator is called "rk5"'),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence(capsys, arguments, words):
    code, out, err = call(capsys, *arguments)
    assert code == 2 and out == ""
    assert words in err and err.startswith("linkwork: ") and err.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_refused_before_the_run(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = call(capsys, "run", "chain", "--out", tmp_path / "file" / "run")
    assert code == 2 and out == "" and err.startswith("linkwork: --out ") and err.count("\n") == 1


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_run_that_diverges_keeps_what_was_recorded(capsys, tmp_path):
    code, out, err = call(capsys, "run", "chain", "--integrator", "euler", "--dt", 0.05, "--seconds", 60, "--out", tmp_path)
    assert code == 2 and "take a smaller dt" in err and err.count("\n") == 1
    assert "recording.nc" in out and len(Recording.load(tmp_path / "recording.nc")) > 1


def interrupt_at(monkeypatch, step):
    """Ctrl-C during the simulation's step of this number."""
    from linkwork.simulation.simulation import Simulation

    before = Simulation.step

    def stepping(self, n=1):
        before(self, n)
        if self.steps >= step and not stepping.done:
            stepping.done = True
            signal.raise_signal(signal.SIGINT)

    stepping.done = False
    monkeypatch.setattr(Simulation, "step", stepping)


def test_control_c_keeps_what_was_recorded(capsys, tmp_path, monkeypatch):
    interrupt_at(monkeypatch, 50)
    code, out, err = call(capsys, "run", "pendulum", "--out", tmp_path)
    assert code == 130 and "Traceback" not in err
    assert "stopped by Ctrl-C" in out and {path.name for path in tmp_path.iterdir()} == FILES
    recording = Recording.load(tmp_path / "recording.nc")
    assert 1 < len(recording) < 10
    assert json.loads((tmp_path / "report.json").read_text())["interrupted"]


def test_help_and_scenes_do_not_load_what_they_do_not_need():
    """Scenes are made of elements, whose files hold their mathematics; so those load CasADi, which help does not need."""
    most = ["numba", "llvmlite", "matplotlib", "xarray", "scipy"]
    for arguments, heavy in ((["--help"], [*most, "casadi"]), (["scenes"], most)):
        program = (
            "import sys\nfrom linkwork.cli import main\n"
            f"try: main({arguments})\nexcept SystemExit: pass\n"
            f"print('loaded', [m for m in {heavy} if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.rstrip().endswith("loaded []")


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "linkwork.cli", "run", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


def test_a_scene_may_name_its_solver_and_the_command_another(capsys, tmp_path):
    def options(*given):
        code, _, err = call(
            capsys, "run", "hanging-chain", "--set", "n=3", "--seconds", 0.1, *given, "--out", tmp_path, "--overwrite"
        )
        assert code == 0, err
        return json.loads((tmp_path / "report.json").read_text())["options"]

    assert options()["integrator"] == "backward-euler"
    given = options("--solver", "tree", "--dt", 0.001)
    assert (given["solver"], given["integrator"]) == ("tree", "rattle")
