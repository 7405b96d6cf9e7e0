"""The facts of a workspace: every event as the table in the module's text has it."""

import re

import pytest

from linkwork.simulation import validity
from linkwork.simulation.validity import Validity

FACTS = ("poses", "ready", "kept", "accelerations", "impulses", "complete")


def table():
    """{event: {fact: what becomes of it}} as the text says."""
    lines = [line.split() for line in validity.__doc__.splitlines() if re.match(r"    \w+ +\S", line)]
    header, rows = lines[0], lines[1:]
    assert header == ["event", *FACTS, "count"]
    joined = [" ".join(row).replace("as kept", "as-kept").split() for row in rows]
    return {row[0]: dict(zip((*FACTS, "count"), row[1:8], strict=True)) for row in joined}


@pytest.mark.parametrize("event", table())
@pytest.mark.parametrize("before", [False, True])
def test_events_do_what_the_table_says(event, before):
    valid = Validity()
    valid.facts = (before,) * len(FACTS)
    count = valid.count
    getattr(valid, event)(*([True] if event == "stepped" else []))
    told = table()[event]
    assert valid.count - count == (told.pop("count") == "grows")
    for fact, what in told.items():
        assert getattr(valid, fact) == {"yes": True, "no": False, "-": before, "as-kept": True}[what], fact


def test_every_event_is_in_the_table():
    events = {name for name, value in vars(Validity).items() if callable(value) and name[0] != "_"}
    assert events == set(table())


def test_what_is_put_back_is_read_anew():
    valid = Validity()
    facts, count = valid.facts, valid.count
    valid.facts = facts
    assert valid.count > count
