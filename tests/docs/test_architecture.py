"""The drawing of the imports is that of the sources."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def script():
    found = importlib.util.spec_from_file_location("make_architecture", DOCS / "make_architecture.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_drawing_of_the_imports_is_that_of_the_sources():
    made = script()
    assert made.PICTURE.read_text(encoding="utf-8") == made.drawing()


def test_imports_are_found_where_they_are():
    made = script()
    assert made.imports("world") >= {"elements", "errors"}
    assert "simulation" in made.imports("formats") and "formats" not in made.imports("simulation")
