"""The schema for editors: made from the elements, up to date, and of one mind with the reader."""

import importlib.util
import inspect
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

import linkwork as lw
from linkwork import elements
from linkwork.elements import Element, Ground, Shape
from linkwork.formats.scene import schema
from tests.formats.test_scene_saving import mechanism

DOCS = Path(__file__).resolve().parents[2] / "docs"
SEEDS = Path(__file__).parent / "seeds"
PUBLISHED = json.loads((DOCS / "scene.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(PUBLISHED)


def errors(text):
    return [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))]


def test_the_published_schema_is_up_to_date():
    found = importlib.util.spec_from_file_location("make_schema", DOCS / "make_schema.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    assert module.PATH.read_text(encoding="utf-8") == module.text(), "run python docs/make_schema.py"


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)


def test_it_has_all_that_can_be_built_in_python():
    """Every concrete class and every option of its constructor."""
    abstract = {"Body", "ConstraintElement", "ContactElement", "Element", "ForceElement", "Ground", "Joint", "Sensor", "Shape"}
    for name in elements.__all__:
        made = getattr(elements, name)
        if inspect.isclass(made) and issubclass(made, (Element, Shape)) and name not in abstract:
            described = PUBLISHED["$defs"][name]["properties"]
            assert set(inspect.signature(made).parameters) <= set(described), name
            assert PUBLISHED["$defs"][name]["description"], name
    assert not issubclass(Ground, Shape) and {"double_pendulum", "bead_on_wire", "bending_beam", "squashing_ball"} <= set(
        PUBLISHED["$defs"]
    )


def test_numbers_tell_their_units():
    fields = PUBLISHED["$defs"]["RigidBody"]["properties"]
    assert fields["mass"]["description"] == "numbers alone are in kg"
    assert PUBLISHED["$defs"]["Motor"]["properties"]["limit"]["description"] == "numbers alone are in N m or N"


@pytest.mark.parametrize("name", ["slider-crank", "bowling", "spinning-top", "governor", "rag-doll", "scalable"])
def test_saved_scenes_satisfy_it(name, tmp_path):
    assert errors(lw.save(lw.scenes.get(name), tmp_path / "x.yaml").read_text(encoding="utf-8")) == []


def test_what_has_every_kind_satisfies_it(tmp_path):
    assert errors(lw.save(mechanism(), tmp_path / "x.yaml").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.yaml")), ids=lambda path: path.name)
def test_seeds_satisfy_it(path):
    assert errors(path.read_text(encoding="utf-8")) == []
    lw.load(path)


@pytest.mark.parametrize(
    "text",
    [
        "elements: []",
        "linkwork: 1\nelement: []",
        "linkwork: 1\nelements: [{RigidBdy: {mass: 1}}]",
        "linkwork: 1\nelements: [{RigidBody: {mas: 1}}]",
        "linkwork: 1\nelements: [{RigidBody: {mass: true}}]",
        "linkwork: 1\nelements: [{RigidBody: {mass: 1, shape: {Bx: [1, 1, 1]}}}]",
        "linkwork: 1\nelements: [{Ball: {a: ground}}]",
        "linkwork: 1\nelements: [{Ball: {a: ground, b: x, at: [0, 0, 0]}, Hinge: {}}]",
        "linkwork: 1\nelements: [{repeat: 3}]",
        "linkwork: 1\nelements: [{repeat: 3, elements: [{RigidBdy: {}}]}]",
        "linkwork: 1\nsimulate: {sekonds: 2}",
        "linkwork: 1\nkeyframes: {home: {position: {}}}",
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(text, tmp_path):
    assert errors(text)
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(lw.FileError):
        lw.load(path)


def test_a_new_element_needs_no_line_here():
    """The Kind of a class that nobody has seen: fields, roles, units and Parameters from its annotations."""
    from dataclasses import dataclass, field
    from typing import ClassVar

    from linkwork.elements import ForceElement, Joint, Parameter

    @dataclass(eq=False, repr=False)
    class Brake(ForceElement):
        """Brakes."""

        REFERENCES: ClassVar[dict] = {"joint": "joint"}
        FUNCTIONS: ClassVar[dict] = {"law": ("t",)}
        joint: Joint | str
        torque: float | Parameter
        law: object = None
        mode: str = field(default="wet", kw_only=True)
        on: bool = field(default=True, kw_only=True)

    found = schema.kind("Brake", Brake)
    roles = {name: given.roles for name, given in found.fields.items()}
    assert roles == {
        "joint": {"reference"},
        "torque": {"number"},
        "law": {"number", "function"},
        "mode": {"text"},
        "on": {"flag"},
        "name": {"text"},
    }
    assert found.fields["torque"].live and found.fields["torque"].units == ("N m",) and found.fields["torque"].required
    assert found.fits({"joint": "axle", "torque": "2 N m", "on": False}) and not found.fits({"joint": "axle"})
