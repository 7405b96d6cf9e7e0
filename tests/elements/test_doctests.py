"""The examples in the docstrings of the data layer run."""

import doctest
import importlib

import pytest

MODULES = [
    "parameter",
    "shapes",
    "bodies",
    "joints",
    "constraints",
    "contacts",
    "forces",
    "joint_forces",
    "trajectory",
    "handles",
]


@pytest.mark.parametrize("name", [*(f"linkwork.elements.{m}" for m in MODULES), "linkwork.world"])
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0


def test_every_public_class_has_an_example():
    elements = importlib.import_module("linkwork.elements")
    abstract = {"Body", "ConstraintElement", "ContactElement", "Element", "ForceElement", "Joint", "Shape"}
    missing = [n for n in elements.__all__ if n not in abstract and ">>>" not in (getattr(elements, n).__doc__ or "")]
    assert not missing


def test_what_a_body_offers_to_functions_is_listed_where_functions_are_given():
    elements, offers = (
        importlib.import_module("linkwork.elements"),
        set(importlib.import_module("linkwork.elements.traced").OFFERS),
    )
    rates = {"velocity", "angular_velocity", "point_velocity", "spin"}
    for element, offered in (("Force", offers), ("VelocityConstraint", offers), ("Constraint", offers - rates)):
        assert [name for name in offered if f"`b.{name}" not in getattr(elements, element).__doc__] == []
