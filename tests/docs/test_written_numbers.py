"""Numbers that documents take from committed results are those of the results, and their words still hold."""

import copy
import json
from pathlib import Path

import pytest

from benchmarks import readme, tables
from papers.baraff96 import readme as baraff96
from papers.baraff96 import report

ROOT = Path(__file__).resolve().parents[2]
RESULT = json.loads((baraff96.FOLDER / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "blocks", "command"),
    [
        (ROOT / "README.md", readme.blocks(), "benchmarks.readme"),
        (baraff96.FOLDER / "README.md", baraff96.blocks(RESULT), "papers.baraff96.readme"),
    ],
    ids=["README", "baraff96"],
)
def test_a_readme_has_the_numbers_of_its_results(path, blocks, command):
    text = path.read_text(encoding="utf-8")
    assert tables.filled(text, blocks) == text, f"run python -m {command}"


def test_the_page_of_baraff96_is_that_of_its_results():
    assert report.page(RESULT) == (baraff96.FOLDER / "results.md").read_text(encoding="utf-8"), (
        "run python -m papers.baraff96 --draw"
    )


def told(change):
    """The blocks of baraff96's page as they would be with other numbers."""
    result = copy.deepcopy(RESULT)
    change(result)
    return baraff96.blocks(result)


def test_a_verdict_of_baraff96_follows_its_numbers():
    claims, accuracy = "results.json: claims", "results.json: accuracy"
    as_it_is = baraff96.blocks(RESULT)[claims]
    assert "not so here" not in as_it_is

    def slow(result):
        for row in result["growth"]["slopes"]:
            row["slope"] = 1.7

    assert "whatever the topology | **not so here**: `tree` has slopes 1.70" in told(slow)[claims]

    def filled_in(result):
        next(row for row in result["multipliers"]["rows"] if row["way"] == "H, linkwork")["stored"] += 1

    assert "**not so here** in blocks: the factors of all chains and stars here hold not as many" in told(filled_in)[claims]

    def quicker(result):
        for row in result["multipliers"]["rows"]:
            if row["way"] == "A, SuperLU" and row["structure"] == "chain":
                row["seconds"] = 1e-6

    assert "`A, SuperLU` is the closest rival" in told(quicker)[claims]

    def exact(result):
        result["accuracy"][-1]["explicit inverse (App. A)"] = result["accuracy"][-1]["LDL^T of blocks (linkwork)"]

    assert "keep no more digits" in told(exact)[accuracy]

    def definite(result):
        for case in result["footnote_8"]:
            case["pivot"] = [-1.0, -1.0, -1.0]

    assert "two conditions" in as_it_is and "two conditions" not in told(definite)[claims]


def test_only_what_lies_between_the_markers_changes():
    text = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nkept\n<!-- end -->\n"
    assert tables.filled(text, {"x": "new\nlines"}) == text.replace("old", "new\nlines")
    with pytest.raises(ValueError, match="unpack"):
        tables.filled(text, {"z": "new"})
