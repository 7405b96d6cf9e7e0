"""The law of contact, step by step, in short runs; and what verdicts say."""

import numpy as np
import pytest

from benchmarks import contact_residuals
from linkwork.codegen.jit import INTERPRETED

STEPS = 30 if INTERPRETED else 400


@pytest.mark.parametrize("name", ["sliding", "bouncing"])
def test_calm_scenes_keep_the_law_and_their_energy(name):
    told = contact_residuals.watch(contact_residuals.CALM_SCENES[name], "rattle", STEPS, seed=2)
    row = contact_residuals.verdict(name, "rattle", 2, False, told)
    assert row["kept"] and row["within"] == 1.0 and row["worst"] < 0.1


@pytest.mark.skipif(INTERPRETED, reason="takes minutes")
def test_a_pile_is_near_the_law_and_says_where_it_is_not():
    told = contact_residuals.watch(contact_residuals.WILD_SCENES["pile, mu 1"], "euler", STEPS, seed=2)
    assert contact_residuals.verdict("pile, mu 1", "euler", 2, True, told)["kept"]


def test_verdicts():
    residuals, solved = np.full(1000, 1e-6), np.ones(1000, dtype=bool)
    solved[:3] = False

    def kept(wild=False, **changed):
        told = {"residuals": residuals, "solved": solved, "named": True, "gained": 0.0} | changed
        return contact_residuals.verdict("a", "rattle", 0, wild, tuple(told.values()))["kept"]

    assert not kept() and kept(wild=True) and kept(solved=np.ones(1000, dtype=bool))
    assert not kept(wild=True, named=False) and not kept(wild=True, gained=0.02)
    assert not kept(wild=True, residuals=np.where(np.arange(1000) < 101, 5e-3, 0.0))


def test_energy_that_comes_back_is_gained():
    assert contact_residuals.gained(np.array([10.0, 4.0, 7.0, 0.0])) == pytest.approx(0.3)
    assert contact_residuals.gained(np.array([1.0, 1.0, 1.0])) is None
