"""Every scene of the page on scene files is loaded, and is what the schema says; so is that of the decision."""

from pathlib import Path

import pytest

import linkwork as lw
from tests.docs.test_blocks import blocks_in
from tests.formats.test_schema import errors

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (DOCS / "files-scene.md", DOCS / "decisions" / "0030-scene-files.md")
SCENES = [block for page in PAGES for block in blocks_in(page) if block.language == "yaml"]


@pytest.mark.parametrize("block", SCENES, ids=lambda block: block.where)
def test_scenes_of_the_page(block, tmp_path):
    for each in SCENES:
        (tmp_path / (each.options or ("scene.yaml",))[0]).write_text(each.code, encoding="utf-8")
    world = lw.load(tmp_path / (block.options or ("scene.yaml",))[0])
    assert world.bodies and not world.remarks and errors(block.code) == []
    sim = lw.Simulation(world)
    sim.step(2)
    assert sim.drift() < 1e-9


def test_the_sentences_of_the_page_are_those_that_are_told(tmp_path):
    page = PAGES[0].read_text(encoding="utf-8")
    first = next(block for block in SCENES if block.options == ("pendulum.yaml",)).code
    crank = first.replace("bob", "rod") + "\n" * 2
    wrong = {
        "pendulum.yaml": first.replace("1 kg", "5 cm"),
        "crank.yaml": crank + "  - Force: {name: wind, bodies: [rod], function: b.speed}\n",
    }
    for name, text in wrong.items():
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(lw.FileError) as error:
            lw.load(path)
        said = str(error.value).removeprefix(f"{tmp_path}/")
        assert said.split("; there are")[0].replace("\n", " ") in page


def test_there_are_scenes():
    assert len(SCENES) >= 6
