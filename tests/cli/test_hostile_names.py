"""Names with characters that a terminal obeys, or that make a line read other than it is: shown as escapes, wherever they are."""

import unicodedata
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import main
from linkwork.errors import printable
from linkwork.recording.recording import Recording

BAD = {"title": "\x1b]0;X\x07", "colour": "\x1b[31m", "c1": "\x9b2J", "line": "\n\r", "bidi": "\u202e\u2066", "half": "\ud800",
       "hidden": "\u200b\ufeff\u00ad", "tag": "\U000e0041", "ends": "\u2028\x85"}  # fmt: skip
ALL = "".join(BAD.values())
UNSEEN = {char for char in ALL if not char.isprintable()}
ARM, AXLE = f"arm{ALL.replace(BAD['half'], '')}", f"axle{BAD['colour']}{BAD['bidi']}$\\frac$"


def clean(text):
    """Whether there is nothing to obey in a text of several lines."""
    return not (UNSEEN - {"\n"}) & set(text)


def yaml_text(name):
    return f'"{name.encode("unicode_escape").decode()}"'


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f"""\
linkwork: 1
simulate: {{seconds: 0.02, dt: 0.002, record_every: 0.01}}
elements:
  - RigidBody: {{name: {yaml_text(ARM)}, mass: 1.0, shape: {{Box: [0.4, 0.05, 0.05]}}, position: [0.2, 0, 0]}}
  - RigidBody: {{name: {yaml_text(ARM + "2")}, mass: 1.0, shape: {{Box: [0.4, 0.05, 0.05]}}, position: [0.6, 0, 0], velocity: [1, 1, 1]}}
  - Hinge: {{name: {yaml_text(AXLE)}, a: ground, b: {yaml_text(ARM)}, at: [0, 0, 0], axis: [0, 1, 0]}}
  - Hinge: {{name: {yaml_text(AXLE + "2")}, a: {yaml_text(ARM)}, b: {yaml_text(ARM + "2")}, at: [0.4, 0, 0], axis: [0, 1, 0]}}
  - Distance: {{name: {yaml_text(AXLE + "3")}, a: ground, b: {yaml_text(ARM + "2")}}}
"""
    path = tmp_path / "scene.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return caught.value.code or 0, out, err


@pytest.mark.parametrize("what", BAD)
def test_what_is_not_seen_is_written_as_an_escape(what):
    shown = printable(f"a{BAD[what]}b")
    assert shown.isascii() and shown.isprintable() and shown[0] == "a" and "\\" in shown
    assert printable(shown) == shown
    assert shown.encode().decode("unicode_escape").encode("utf-8", "surrogatepass") == f"a{BAD[what]}b".encode(
        "utf-8", "surrogatepass"
    )


def test_every_control_character_is_escaped_and_no_letter_is():
    for code in range(0x110000):
        char, kind = chr(code), unicodedata.category(chr(code))
        if kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(char) in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        ):
            assert printable(char) != char, hex(code)
        if kind[0] in "LNPSM" or char == " ":
            assert printable(char) == char, hex(code)


def test_errors_notes_and_names_are_shown_without_them():
    world = lw.World()
    name = f"arm{ALL}"
    body = world.add(lw.RigidBody(1.0, (1, 1, 1), name=name))
    assert body.name == name and world.find(name) is body  # a name is what it is, only its picture differs
    with pytest.raises(lw.LinkworkError) as caught:
        world.add(lw.RigidBody(1.0, (1, 1, 1), name=name))
    assert clean(str(caught.value)) and "\n" not in str(caught.value) and "arm\\x1b]0;X\\x07" in str(caught.value)
    assert clean(repr(body)) and clean(repr(world)) and clean(str(lw.errors.Remark("f\x1b", 1, "what\x1b", "why\x1b")))
    with pytest.raises(lw.errors.UnknownNameError) as caught:
        world.find("\x1b[31m")
    assert clean(str(caught.value))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn(f"of {name}", lw.Note, stacklevel=1)
    assert clean(str(told[0].message))


def test_notes_of_a_simulation(file):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim = lw.Simulation(lw.load(file))
    assert sim.notes and all(clean(note) and "\n" not in note for note in sim.notes)  # the velocities as built were off
    assert all(clean(str(note.message)) for note in told)


def test_commands(file, capsys):
    for arguments in (
        ("info", file),
        ("run", file),
        ("run", file, "--keyframe", BAD["title"]),
        ("convert", file, "b.yaml"),
        ("run", "a\x1b[31m"),
    ):
        code, out, err = call(capsys, *arguments)
        assert clean(out) and clean(err) and (code == 2) == ("--keyframe" in arguments or "a\x1b[31m" in arguments), arguments
    assert "arm\\x1b]0;X\\x07" in call(capsys, "info", file)[1]
    assert [body.name for body in lw.load("b.yaml").bodies] == [ARM, ARM + "2"]


@pytest.mark.slow
def test_what_a_run_leaves(file, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib's, of glyphs that it does not have and formulas that it does not understand
        warnings.simplefilter("ignore", lw.Note)
        code, out, err = call(capsys, "run", file, "--out", "run")
    assert code == 0 and clean(out) and clean(err)
    folder = file.parent / "run"
    for name in ("report.txt", "report.json", "scene.yaml"):
        assert clean((folder / name).read_text(encoding="utf-8")), name
    assert "axle\\x1b[31m" in (folder / "report.txt").read_text()
    recording = Recording.load(folder / "recording.nc")
    assert recording.bodies == [ARM, ARM + "2"] and recording.joints == [AXLE, AXLE + "2"]
    assert np.isfinite(recording.position).all()


def test_a_replay_page(file, monkeypatch):
    viser = pytest.importorskip("viser")
    nodes = []
    scene = viser.SceneApi
    for kind in ("add_batched_meshes_simple", "add_mesh_simple"):
        made = getattr(scene, kind)
        monkeypatch.setattr(scene, kind, lambda self, name, *a, made=made, **k: nodes.append(name) or made(self, name, *a, **k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(lw.load(file), dt=0.002)
    recording = sim.run(0.02, record_every=0.01)
    recording.attributes["scene"] = f"</title><script>{ALL}"
    page = recording.replay(file.parent / "page.html")
    assert nodes and all(clean(name) and "\n" not in name for name in nodes)
    head = page.read_text(encoding="utf-8").split("<title>")[1].split("</title>")[0]
    assert clean(head) and "<script>" not in head
