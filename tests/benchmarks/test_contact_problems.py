"""Random contact problems: failures are told, few, and measured by a twin that shares no code with the solver."""

import numpy as np
import pytest

from benchmarks import contact_problems
from linkwork.codegen.jit import INTERPRETED

COUNT = 2 if INTERPRETED else 40


@pytest.fixture(scope="module")
def found():
    return contact_problems.measure(COUNT, seed=5)


def test_no_failure_is_untold(found):
    assert len(found) == 2 * 4 * COUNT and not [one for one in found if one["untold"]]


@pytest.mark.skipif(INTERPRETED, reason="a few problems say nothing about how many fail")
def test_few_problems_fail(found):
    assert [row["class"] for row in contact_problems.verdicts(found) if not row["kept"]] == []


def test_what_is_not_solved_is_seen():
    """Impulses that are left at zero, or changed by a thousandth, are off the law."""
    _, _, before = next(contact_problems.cases(1, seed=5))
    solver = contact_problems.room(before)
    impulse, one = contact_problems.attempt(before, 0.0, solver)
    after = contact_problems.copied(before)
    after.impulse[:] = impulse
    off, rounding = contact_problems.off_the_law(before, after)
    assert off == one["off"] <= one["enough"] and rounding < 1e-9
    after.impulse[:] = 1.001 * impulse
    assert contact_problems.off_the_law(before, after)[0] > 1e-4
    after.impulse[:] = 0.0
    approaching = [np.abs(after.Jb[k, 0] @ after.u[after.slot_b[k]]) for k in range(len(after.mu))]
    assert 0.0 < contact_problems.off_the_law(before, after)[0] <= 2.0 * max(approaching) + 10.0


def test_verdicts_count_what_is_told_and_untold():
    one = {"class": "up to 30 contacts", "iterations": 3, "told": False, "untold": False}
    rows = contact_problems.verdicts([{**one, "class": name} for name in contact_problems.CLASSES for _ in range(1000)])
    assert all(row["kept"] for row in rows)
    rest = [{**one, "class": name} for name in list(contact_problems.CLASSES)[1:]]
    assert not contact_problems.verdicts([{**one, "untold": True}, *rest])[0]["kept"]
    assert contact_problems.verdicts([{**one, "told": True}, *[one] * 999, *rest])[0]["kept"]
    assert not contact_problems.verdicts([*[{**one, "told": True}] * 2, *[one] * 998, *rest])[0]["kept"]
