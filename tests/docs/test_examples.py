"""The examples in the docstrings of every module run as they stand."""

import doctest
import importlib
import pkgutil

import pytest

import linkwork

ELSEWHERE = {"linkwork.recording.recording", "linkwork.cli.__main__"}  # needs a recording: tests/recording; runs a command
MODULES = {"linkwork", *(found.name for found in pkgutil.walk_packages(linkwork.__path__, "linkwork."))} - ELSEWHERE


@pytest.mark.parametrize("name", sorted(MODULES))
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    assert doctest.testmod(importlib.import_module("linkwork.simulation.simulation")).attempted > 10
