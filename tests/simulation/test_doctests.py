"""The examples in docstrings run as they stand."""

import doctest
import importlib

import pytest

MODULES = ["linkwork", "linkwork.util.resources", "linkwork.simulation.simulation", "linkwork.simulation.query", "linkwork.verify.check", "linkwork.model.model",
           "linkwork.simulation.editor", "linkwork.simulation.hands", "linkwork.model.active_world", "linkwork.symbolic.drawn",
           "linkwork.symbolic.functions", "linkwork.elements.traced"]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_there_are_examples():
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 10
