"""What compares two source trees: it reports a changed bit, a changed word, a case that one tree lacks."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest

import linkwork
from benchmarks import bits, bits_cases, children, house
from tests.contact.support import PAIRS


@pytest.fixture
def told():
    """A short run of a pendulum."""
    return bits_cases.run("scene/pendulum/tree/rattle", 6, "unused", "unused")


def changed(answer, channel, index, number):
    """The same with one number more in one entry."""
    told = bits_cases.Told()
    for name, values in bits.decoded(answer).items():
        told.number(name, values + number * (np.arange(len(values)) == index) if name == channel else values)
    return {"numbers": told.plain()["numbers"], "words": copy.deepcopy(answer["words"])}


def test_the_same_run_has_the_same_bits(told):
    again = bits_cases.run("scene/pendulum/tree/rattle", 6, "unused", "unused")
    assert bits.difference(told, again) is None
    assert bits.digest(told) == bits.digest(again)
    assert {"position", "orientation", "velocity", "state", "energy", "reaction", "after reset"} <= told["numbers"].keys()
    assert not any(text.startswith(children.BROKEN) for texts in told["words"].values() for text in texts)


def test_one_changed_number_is_reported_with_its_size(told):
    found = bits.difference(told, changed(told, "position", 0, 1e-3))
    largest = np.abs(bits.decoded(told)["position"]).max()
    assert list(found["numbers"]) == ["position"] and not found["words"]
    assert bits.poses_apart(found) == pytest.approx(1e-3 / largest)
    assert "scene/pendulum: poses" in bits.sentence("scene/pendulum", found)


def test_the_last_bit_counts(told):
    state = bits.decoded(told)["state"]
    largest = int(np.abs(state).argmax())
    other = changed(told, "state", largest, np.spacing(state[largest]))
    assert 0.0 < bits.difference(told, other)["numbers"]["state"] < 1e-15
    assert bits.digest(told) != bits.digest(other)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], None),
        ([1.0, 2.0], [1.0, 2.0, 3.0], math.inf),
        ([0.0, 2.0], [-0.0, 2.0], 0.0),  # another sign of zero: other bits, no distance
        ([1.0, math.nan], [1.0, 2.0], math.inf),
        ([1.0, math.nan], [1.0, math.nan], None),
        ([1.0, 4.0], [2.0, 4.0], 0.25),
        ([0.0], [1.0], 1 / np.finfo(float).tiny),
    ],
)
def test_how_far_arrays_are_apart(old, new, expected):
    assert bits.apart(np.array(old), np.array(new)) == expected


def test_a_channel_that_is_missing_and_other_words_are_reported(told):
    other = copy.deepcopy(told)
    del other["numbers"]["energy"]
    other["words"]["ends"] = ["DivergenceError: another sentence"]
    found = bits.difference(told, other)
    assert found == {"numbers": {"energy": math.inf}, "words": {"ends": [None, "DivergenceError: another sentence"]}}


def test_a_refusal_is_told_in_its_own_words():
    told = bits_cases.run("scene/box-stack/cg/euler", 6, "unused", "unused")
    assert "cg" in told["words"]["ends"][0] and not told["numbers"].get("position")
    other = copy.deepcopy(told)
    other["words"]["ends"][0] += "!"
    assert list(bits.difference(told, other)["words"]) == ["ends"]


def test_the_verdict_needs_cases_and_no_difference():
    good = {"digests": {"a": ["1", "1"]}, "different": {}, "lost": {}, "only": {"base": [], "new": []}}
    assert bits.verdict(good)
    for wrong in (
        {"digests": {}},
        {"different": {"a": {}}},
        {"lost": {"a": {"new": "no answer"}}},
        {"only": {"base": ["a"], "new": []}},
    ):
        assert not bits.verdict(good | wrong)


def test_every_pair_of_the_package_and_every_edit_is_a_case():
    cases = bits_cases.cases()
    assert len(set(cases)) == len(cases)
    assert {f"scene/chain/{solver}/{integrator}" for solver, integrator in PAIRS} <= set(cases)
    assert {f"{edit}/chain/tree/rattle" for edit in bits_cases.EDITS} <= set(cases)
    assert {path.suffix for path in bits_cases.FILES} >= set(bits_cases.SUFFIXES)


def test_turns_alternate_and_the_best_counts():
    times, asked = {"base": iter([3.0, 2.0, 4.0]), "new": iter([6.0, 5.0, 1.0])}, []

    def ask(side):
        asked.append(side)
        return next(times[side])

    assert house.in_turns(ask, ["base", "new"], 3) == {"base": 2.0, "new": 1.0}
    assert asked == ["base", "new", "new", "base", "base", "new"]


def test_the_page_of_timings_is_made_from_the_result():
    machine = {"cpu": "c", "cores": 1, "memory_gb": 1, "system": "s", "python": "3", "versions": {}, "date": "d", "load": 0}
    rows = [{"case": "a step", "base": 2e-6, "new": 3e-6, "ratio": 1.5}, {"case": "another", "failed": "it is broken"}]
    text = house.page({"machine": machine, "base": "x", "new": "y", "rounds": 2, "missing": ["Panda"], "rows": rows})
    assert "| a step | 2 | 3 | 1.500 |" in text and "it is broken" in text and "Not installed here: Panda." in text


ENOUGH = 120.0  # s for an answer: the process imports linkwork first
SOURCES = Path(linkwork.__file__).resolve().parents[1]


@pytest.fixture
def child():
    one = children.Child("tests.benchmarks.dying", SOURCES)
    yield one
    one.close()


def asked(child, limit=ENOUGH, **request):
    child.ask(**request)
    return child.answer(limit)


def test_a_process_that_dies_or_never_answers_is_reported_and_started_anew(child):
    assert asked(child, do="echo", text="a") == "a"
    with pytest.raises(children.Lost, match="SIGSEGV"):
        asked(child, do="die")
    assert asked(child, do="echo", text="b") == "b"
    with pytest.raises(children.Lost, match=r"no answer in 0\.1 s"):
        asked(child, 0.1, do="wait")
    assert asked(child, do="echo", text="c") == "c"
    with pytest.raises(RuntimeError, match="it is not done"):
        asked(child, do="refuse")
    assert asked(child, do="echo", text="d") == "d"


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="there is no linkwork in it"):
        children.copied({"base": str(tmp_path)}, str(tmp_path / "copies"))


def test_trees_are_copied_as_they_are(tmp_path):
    (tmp_path / "src" / "linkwork").mkdir(parents=True)
    (tmp_path / "src" / "linkwork" / "__init__.py").write_text("old = 1")
    found = children.copied({"base": str(tmp_path / "src")}, str(tmp_path / "copies"))["base"]
    (tmp_path / "src" / "linkwork" / "__init__.py").write_text("new = 1")
    assert (found / "linkwork" / "__init__.py").read_text() == "old = 1"
