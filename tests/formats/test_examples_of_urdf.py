"""The examples in the docstrings of what reads URDF run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["urdf", "paths", "numbers"])
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"linkwork.formats.{name}"))
    assert result.attempted > 0 and result.failed == 0
