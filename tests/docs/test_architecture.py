"""The drawing of the imports is that of the sources."""

import importlib.util
import re
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


def test_files_and_folders_that_the_page_names_exist():
    made = script()
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", page) + re.findall(r"`((?:[a-z_]+/)+[a-z_]+)`", page)
    assert len(named) > 20
    assert [name for name in named if not (made.SOURCES / name).exists() and name != "docs/make_architecture.py"] == []


def test_the_page_describes_every_folder():
    made = script()
    table = (DOCS / "architecture.md").read_text(encoding="utf-8").split("The papers")[0]
    folders = {name for name in made.layers() if (made.SOURCES / name).is_dir()} - {"util"}
    assert {name for name in folders if f"`{name}`" not in table} == set()
