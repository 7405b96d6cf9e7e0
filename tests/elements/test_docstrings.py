"""Every element has an example, and says what a body offers to functions."""

import importlib


def test_every_public_class_has_an_example():
    elements = importlib.import_module("linkwork.elements")
    abstract = {"Body", "ConstraintElement", "ContactElement", "Element", "ForceElement", "Joint", "Sensor", "Shape"}
    missing = [n for n in elements.__all__ if n not in abstract and ">>>" not in (getattr(elements, n).__doc__ or "")]
    assert not missing


def test_what_a_body_offers_to_functions_is_listed_where_functions_are_given():
    elements, offers = (
        importlib.import_module("linkwork.elements"),
        set(importlib.import_module("linkwork.elements.core.traced").OFFERS),
    )
    rates = {"velocity", "angular_velocity", "point_velocity", "spin", "rates"}
    for element, offered in (("Force", offers), ("VelocityConstraint", offers), ("Constraint", offers - rates)):
        assert [name for name in offered if f"`b.{name}" not in getattr(elements, element).__doc__] == []
