"""featherstone05: every printed number, the nested form, inertia matrices and accuracy; nothing that depends on the machine's speed."""

import json
import shutil

import numpy as np
import pytest

from benchmarks.tables import filled
from linkwork.reduced import cost, mul_LT, pattern
from papers.featherstone05 import accuracy, inertia, large, nested, published, readme
from papers.featherstone05.trees import HUMANOID, TREE_1, robot
from tests.oracles import branches


@pytest.mark.parametrize("claim", published.claims(), ids=lambda claim: claim["what"])
def test_every_printed_number_is_found_to_the_digit(claim):
    assert claim["found"] == claim["printed"]


def test_the_rule_of_thumb_is_one():
    for row in published.rule_of_thumb():
        assert row["factor"] == pytest.approx(row["density"] ** 2, rel=0.15)
        assert row["solve"] == pytest.approx(row["density"], rel=0.1)


@pytest.mark.parametrize("parents", [TREE_1.rows, HUMANOID.rows, robot().rows])
def test_the_nested_form_has_no_zero_inside_its_envelope(parents):
    found = nested.summary(parents)
    assert found["zeros inside"] == 0
    assert found["envelope"] == cost.D1(parents)


def test_eq_4_is_the_pattern_of_tree_1():
    rows = ["1111111", "1101100", "1010011", "1101000", "1100100", "1010010", "1010001"]
    assert np.array_equal(pattern(TREE_1.rows), np.array([[c == "1" for c in row] for row in rows]))


@pytest.mark.parametrize("parents", [HUMANOID.rows, *branches.parent_arrays(15, seed=4)])
def test_inertia_matrices_are_the_kinetic_energy(parents):
    """q' H q' / 2 is the energy of all bodies, each with the velocity that its joints give it."""
    rng = np.random.default_rng(7)
    inertias, axes = inertia.random_bodies(parents, rng)
    H, qd = inertia.joint_space_inertia(parents, inertias, axes), rng.normal(size=len(parents))
    velocities = np.zeros((len(parents), 6))
    for i, parent in enumerate(parents):
        velocities[i] = (velocities[parent] if parent >= 0 else 0) + axes[i] * qd[i]
    energy = 0.5 * np.einsum("ni,nij,nj", velocities, inertias, velocities)
    assert 0.5 * qd @ H @ qd == pytest.approx(energy, rel=1e-12)
    assert not H[~pattern(parents)].any()


def test_ltdl_is_about_as_accurate_as_lapack():
    for row in accuracy.measure(matrices=20):
        errors = row["errors"]
        for part in ("factor", "solution"):
            assert errors["LTDL"][part] < 4 * errors["LAPACK Cholesky"][part]
    assert accuracy.reversed_cholesky(matrices=10) < 1e-11


def test_products_with_the_transposed_factor_work_in_place():
    rng = np.random.default_rng(8)
    parents = HUMANOID.rows
    L, x = np.tril(branches.matrix(parents, rng)), rng.normal(size=30)
    y = x.copy()
    np.testing.assert_allclose(mul_LT(parents, L, y, y), L.T @ x, rtol=1e-12, atol=1e-12)


@pytest.fixture
def committed():
    return json.loads((readme.FOLDER / "results.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_results_say(committed):
    text = (readme.FOLDER / "README.md").read_text(encoding="utf-8")
    assert filled(text, readme.blocks(committed)) == text


def test_the_results_hold_what_is_printed(committed):
    assert committed["claims"] == published.claims()


def test_the_aim_was_reached(committed):
    ways = committed["times"]["ways"]["humanoid"]["factor"]
    assert ways["LTDL in tiles, one by one"] < 0.5 * ways["LAPACK dpotrf"]


def test_the_own_counts_are_those_of_the_kernels(committed):
    assert committed["own_counts"] == published.own_counts()


def test_verdicts_follow_the_numbers(committed):
    text = readme.blocks(committed)["results.json: accuracy in words"]
    for row in committed["accuracy"]:
        for part in ("factor", "solution"):
            row["errors"]["LTDL"][part] = 0.5 * row["errors"]["LAPACK Cholesky"][part]
    changed = readme.blocks(committed)["results.json: accuracy in words"]
    assert "as the remark says" in changed and "as the remark says" not in text
    assert "4 of 4" in changed
    committed["times"]["maximal"]["chain"] *= 2
    assert "does not mind" not in readme.blocks(committed)["results.json: maximal"]


def test_large_trees_are_measured():
    found = large.measure(families={"balanced tree": (4,), "unbranched": (5,)}, seconds=0.0)
    assert [row["n"] for row in found["rows"]] == [15, 5]
    assert [row["operations"] for row in found["rows"]] == [
        int(cost.ltdl(p).total()) for p in ((np.arange(15) + 1) // 2 - 1, cost.chain(5))
    ]


@pytest.mark.slow
def test_everything_is_drawn_again(tmp_path):
    from papers.featherstone05.__main__ import main

    shutil.copy(readme.FOLDER / "results.json", tmp_path)
    main(["--draw", "--out", str(tmp_path)])
    assert {path.stem for path in tmp_path.glob("*.png")} == {"figure_5", "figure_7", "nested", "times", "large", "accuracy"}
