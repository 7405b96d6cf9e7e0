"""Numbers that documents take from committed results are those of the results, and their words still hold."""

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


def test_the_words_of_baraff96_hold():
    time = {key: row["seconds"] for key, row in baraff96.cells(RESULT["multipliers"]).items()}
    assert time["star", "A, SuperLU", 1000] > time["star", "A, dense Cholesky", 1000]
    rivals = {
        way: seconds for (name, way, n), seconds in time.items() if (name, n) == ("chain", 10_000) and way != "H, linkwork"
    }
    assert min(rivals, key=rivals.get) == "A, banded Cholesky"
    ratios = [one[kind]["factor_over_solve"] for one in RESULT["sizes"].values() for kind in ("seconds", "arithmetic")]
    assert max(ratios) < 4
    worst = RESULT["accuracy"][-1]
    assert 1e2 < worst["explicit inverse (App. A)"] / worst["LDL^T of blocks (linkwork)"] < 1e4
    assert 1e4 < worst["LDL^T of blocks (linkwork)"] / worst["dense LU (LAPACK)"] < 1e6


def test_only_what_lies_between_the_markers_changes():
    text = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\nkept\n<!-- end -->\n"
    assert tables.filled(text, {"x": "new\nlines"}) == text.replace("old", "new\nlines")
    with pytest.raises(ValueError, match="unpack"):
        tables.filled(text, {"z": "new"})
