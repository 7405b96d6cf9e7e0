"""Kernels compiled with more or less effort: the same bits, and what is there already serves."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen import kernel_table
from linkwork.codegen.kernel_table import NOT_YET
from linkwork.codegen.loader import LOADER
from linkwork.codegen.store import cache_folder
from linkwork.codegen.trace import LITTLE, MANY, MUCH, SOME, Kernel
from linkwork.engines.solvers import SOLVERS
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from tests.codegen.test_emit import run


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    cache_folder.cache_clear()
    yield
    monkeypatch.undo()
    cache_folder.cache_clear()


def products(name):
    """A kernel with sums of products, side by side."""

    def write(trace):
        x, y = trace.load(1, 0, 8), trace.load(1, 8, 8)
        trace.store(2, 0, x * y + y / (1 + x * x) - 3 * x)

    return Kernel(f"test|effort|{name}", write, pairs=True)


def test_the_bits_are_the_same(empty_cache):
    kernel, given = products("bits"), np.random.default_rng(3).normal(size=(16, 1))
    made = LOADER.compiled
    efforts = [kernel, replace(kernel, pairs=False), replace(kernel, pairs=False, hurried=True)]
    found = [run(one, 1, [given, np.zeros((8, 1))])[1].tobytes() for one in efforts]
    assert found[0] == found[1] == found[2]
    assert LOADER.compiled == made + 1  # what was made with more effort serves


def test_more_effort_is_made_where_it_is_asked_for(empty_cache):
    kernel, made = products("more"), LOADER.compiled
    for one in (replace(kernel, pairs=False, hurried=True), replace(kernel, pairs=False), kernel, kernel):
        LOADER.addresses_of([one])
    assert LOADER.compiled == made + 3


def test_effort_is_what_a_kernel_is_worth():
    kernel = products("worth")
    assert kernel.worth(MUCH, MANY).pairs and not kernel.worth(MUCH, MANY).hurried
    assert not kernel.worth(MUCH, MANY - 1).pairs and not kernel.worth(0.9 * MUCH, MANY).pairs
    assert not kernel.worth(LITTLE, 3).hurried and kernel.worth(0.9 * LITTLE, 3).hurried
    assert not kernel.worth(1.0, MANY, patient=False).pairs and kernel.worth(0.9 * SOME, MANY, patient=False).hurried


def schedules():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    return SOLVERS["tree"](sim.model)


def test_sweeps_are_compiled_together_and_are_the_same(monkeypatch):
    alone, together = schedules(), schedules()
    asked = []
    monkeypatch.setattr(kernel_table, "kernel_table", lambda kernels: asked.append(len(kernels)) or np.arange(len(kernels)))
    with together.at_once():
        found = [together.up(RowMode.VELOCITY, first=(BodyKernel.KICK,)), together.backward(), together.check()]
        assert not asked
    assert len(asked) == 1 and NOT_YET not in together.table[np.concatenate(found)[:, 0]]
    for one, other in zip(
        found, [alone.up(RowMode.VELOCITY, first=(BodyKernel.KICK,)), alone.backward(), alone.check()], strict=True
    ):
        assert np.array_equal(one, other)
    assert len(asked) == 4


def test_a_sweep_that_could_not_be_compiled_is_made_anew(monkeypatch):
    p = schedules()
    with monkeypatch.context() as patch:

        def fail(kernels):
            raise KeyboardInterrupt

        patch.setattr(kernel_table, "kernel_table", fail)
        with pytest.raises(KeyboardInterrupt):
            p.backward()
        with pytest.raises(KeyboardInterrupt), p.at_once():
            p.check(), p.backward()
    found = np.concatenate([p.backward(), p.check()])
    assert NOT_YET not in p.table[found[:, 0]]


def test_a_change_of_a_running_scene_is_made_in_a_hurry():
    world = lw.scenes.get("chain", n=4)
    sim = lw.Simulation(world)
    sim.step(3)
    assert sim.schedules.patient
    world.add(lw.Spring(world.bodies[0], world.bodies[2], 3.0))
    sim.step()
    assert not sim.schedules.patient
