"""What every test has in common."""

import math

import pytest


@pytest.fixture(autouse=True)
def no_word_about_waiting(monkeypatch):
    """Progress and words about compiling are shown after some seconds: on a busy machine tests would find them in what is
    printed. Those that are about them set these times themselves."""
    from linkwork.codegen import loader
    from linkwork.simulation import progress
    from linkwork.viz import plot as drawing

    monkeypatch.setattr(progress, "PATIENCE", math.inf)
    monkeypatch.setattr(drawing, "SLOW", math.inf)
    monkeypatch.setattr(loader, "PATIENCE", math.inf)
