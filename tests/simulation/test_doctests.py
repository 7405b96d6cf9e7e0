"""The examples in docstrings run as they stand."""

import doctest
import importlib

import pytest

MODULES = ["linkwork", "linkwork.memory", "linkwork.simulation", "linkwork.reports", "linkwork.checking", "linkwork.model.types",
           "linkwork.following", "linkwork.grabbing", "linkwork.model.present", "linkwork.symbolic.drawn",
           "linkwork.symbolic.functions", "linkwork.elements.traced"]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_there_are_examples():
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 10
