"""hernandez11: the appendix, the elimination, tangents, drift and examples; nothing that depends on the machine's speed."""

import json
import shutil

import numpy as np
import pytest

from benchmarks.tables import filled
from papers.hernandez11 import derivative, drift, examples, growth, readme, recording, roots, stability, tangents
from papers.hernandez11.chain import crooked
from papers.hernandez11.rotations import exact, exponential, logarithm


@pytest.mark.parametrize("phi", [1e-5, 0.3, 2.0, 3.1])
def test_the_logarithm_inverts_the_exponential(phi):
    w = phi * np.array([2.0, -1.0, 2.0]) / 3
    np.testing.assert_allclose(logarithm(exponential(w)), w, atol=1e-9)
    np.testing.assert_allclose(exact(w) @ w, w, atol=1e-12)


def test_the_printed_derivative_is_wrong_along_the_axis_alone():
    for row in derivative.errors(angles=(0.5, 1.5, 2.5, 3.0)):
        assert row["exact"] < 1e-8 and row["mended"] < 1e-8
        assert row["along"] == pytest.approx(row["phi over sin phi"], rel=1e-9)
        assert row["across"] < 1e-12
        assert row["printed"] > 0.01


def test_a_spring_let_go_starts_too_slowly_with_the_printed_derivative():
    exact_, printed_ = (derivative.release(form)[1] for form in (derivative.exact, derivative.printed))
    start = derivative.LET_GO
    assert start - printed_ < 0.75 * (start - exact_)


def test_figure_2_can_be_rooted_at_every_body_and_at_no_joint():
    for row in roots.every_root():
        for method in roots.METHODS:
            if row["root"].startswith("body"):
                assert row[method] < 1e-11
            else:
                assert row[method] > 0.1
    assert roots.uncoupled_root() < 1e-11


def test_only_symmetric_tangents_suit_the_printed_elimination():
    found = {(row["tangent"], row["root"]): row for row in roots.random_trees(count=15)}
    assert found["symmetric", "body"]["printed"] < 1e-10 < 0.1 < found["springs", "body"]["printed"]
    for kind in roots.KINDS:
        assert found[kind, "body"]["block LDU"] < 1e-10


def test_the_chain_in_numpy_has_the_derivatives_it_says():
    chain, q = crooked(3)
    v, h = np.random.default_rng(2).normal(size=18), 1e-6
    Kq, Kv = chain.derivatives(q, v)
    _, J = chain.constraints(q)
    for k, push in enumerate(np.eye(18)):
        ahead, behind = (chain.moved(q, s * h * push) for s in (1, -1))
        np.testing.assert_allclose((chain.force(ahead, v) - chain.force(behind, v)) / (2 * h), Kq[:, k], atol=1e-6)
        by_speed = chain.force(q, v + h * push) - chain.force(q, v - h * push)
        np.testing.assert_allclose(by_speed / (2 * h), Kv[:, k], atol=1e-6)
        apart = chain.constraints(ahead)[0] - chain.constraints(behind)[0]
        np.testing.assert_allclose(apart / (2 * h), J[:, k], atol=1e-8)


def test_the_right_hand_side_is_right_as_printed():
    printed, others, all_ = tangents.right_hand_side()
    assert printed["order"] == pytest.approx(3.0, abs=0.1)
    assert others["order"] == pytest.approx(1.0, abs=0.1) and all_["order"] == pytest.approx(1.0, abs=0.1)


def test_one_symmetric_tangent_keeps_momentum_and_is_positive():
    found = {row["tangent"]: row for row in tangents.momentum()}
    symmetric, half = found["symmetric, S on all four blocks"], found["(A + Aᵀ)/2"]
    assert symmetric["gained"] < 1e-14 and symmetric["lowest"] > -1e-9
    assert half["gained"] > 1e-3 and half["lowest"] < -0.1


def test_linkwork_keeps_angular_momentum_while_its_joints_are_closed():
    once = tangents.kept(steps=1)[0]
    assert (once["tangent"], once["iterations"]) == ("symmetric", 1)
    assert once["first step"] < 1e-12


def test_drift_is_of_second_order_in_numpy_and_no_larger_in_linkwork():
    result = drift.measure(steps=(0.01, 0.005, 0.0025))
    one = "linkwork, one iteration"
    assert result["orders"][drift.EQUATION_3] == pytest.approx(2.0, abs=0.1)
    found = {(row["way"], row["dt"]): row["drift"] for row in result["rows"]}
    assert all(found[one, dt] < 1.1 * found[drift.EQUATION_3, dt] for dt in (0.01, 0.005, 0.0025))
    assert found[one, 0.0025] == pytest.approx(found[drift.EQUATION_3, 0.0025], rel=0.05)  # one solve a step
    assert found["linkwork, until C(q1) = 0", 0.01] < 1e-9
    assert result["thin"][0]["drift"] < 0.01


def test_all_ways_of_figure_4_run():
    result = growth.measure((3, 5), seconds=0.0)
    assert {(row["way"], row["n"]) for row in result["rows"]} == {(way, n) for way in growth.WAYS for n in (3, 5)}
    assert 1e-5 < result["explicit_limit"] < 2e-3


def test_torques_are_felt():
    found = examples.drag(rounds=1)
    assert found["on"]["largest"] > 2 * found["off"]["largest"]
    assert len(found["times"]) == len(found["on"]["force"])


def test_the_hand_ends_alike_by_all_ways():
    found = examples.hand(rounds=1)
    places = np.array([row["ball"] for row in found["rows"]])
    assert np.abs(places - places[0]).max() < 2e-3
    assert found["most_backwards"]["found"] > 0.1 * found["most_backwards"]["asked"]


def test_the_recording_is_what_its_script_writes(tmp_path, monkeypatch):
    written = recording.hands.DRUMMING.read_text()
    monkeypatch.setattr(recording.hands, "DRUMMING", tmp_path / "drumming.csv")
    recording.main()
    assert (tmp_path / "drumming.csv").read_text() == written


def test_the_hand_follows_a_motion_of_many_keys_from_a_file():
    found = examples.recorded()
    assert found["keys"] > 60 and found["bones"] == 16
    assert found["mean"] < 2e-3 and found["off"] < 0.015 and found["drift"] < 1e-12


def made_up(apart=1e-4, won=0.0, stopped=None):
    row = {"case": "rope", "dt": 1 / 60, "tangent": "symmetric", "apart": apart, "won": won, "solves": 1.5, "stopped": stopped}
    return {"rows": [row], "together": stability.TOGETHER, "won": stability.WON, "strands": 1}


def test_what_is_said_of_stability_follows_from_the_rows():
    assert stability.holds(made_up()) and "thin links" in readme._stable(made_up())
    for failed in (made_up(apart=1.0), made_up(won=0.5)):
        assert not stability.holds(failed) and readme._stable(failed).startswith("not everywhere")
    assert readme._stable(made_up(stopped=0.5)).startswith("no: 1 of 1 runs")


def test_verdicts_turn_with_their_numbers(committed):
    errors = [{**row, "across": 0.1} for row in committed["derivative"]["errors"]]
    assert readme._appendix(committed["derivative"]["errors"]).endswith("right across it")
    assert readme._appendix(errors).endswith("wrong across it")
    roots_ = [{**row, "printed": 0.0} for row in committed["roots"]["figure_2"]]
    assert "may not" in readme._any_root(committed["roots"]["figure_2"]) and "may not" not in readme._any_root(roots_)
    assert readme._linear(1.05, "").startswith("linear") and readme._linear(1.5, "").startswith("not linear")


@pytest.fixture
def committed():
    return json.loads((readme.FOLDER / "results.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_results_say(committed):
    text = (readme.FOLDER / "README.md").read_text(encoding="utf-8")
    assert filled(text, readme.blocks(committed)) == text


@pytest.mark.slow
def test_everything_is_drawn_again(tmp_path):
    from papers.hernandez11.__main__ import main

    shutil.copy(readme.FOLDER / "results.json", tmp_path)
    main(["--draw", "--out", str(tmp_path)])
    names = {"growth", "derivative", "drift", "hand", "hand_curves", "drag", "robot_on", "robot_off"}
    assert {path.stem for path in tmp_path.glob("*.png")} == names
