"""The examples in the docstrings of what reads and writes files run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name", ["linkwork.formats", "linkwork.formats.urdf.read", "linkwork.formats.paths", "linkwork.formats.numbers"]
)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0
