"""The examples in the docstrings of joint coordinates run, and every public function has one."""

import doctest
import importlib

import pytest

import linkwork as lw

TUPLES = ("Bodies", "Factors", "NestedForm", "Numbering", "Poses", "State")
MODULES = ["tree", "algorithms", "configurations", "convert", "kinematics", "structure"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    found = doctest.testmod(importlib.import_module(f"linkwork.reduced.{name}"))
    assert found.attempted > 0 and found.failed == 0


def test_every_public_function_has_an_example():
    functions = [name for name in lw.reduced.__all__ if callable(getattr(lw.reduced, name)) and name not in TUPLES]
    assert not [name for name in functions if ">>>" not in (getattr(lw.reduced, name).__doc__ or "")]
