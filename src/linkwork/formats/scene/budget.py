"""How much a scene file may come to, the files that it includes counted."""

from collections import Counter

from linkwork.formats.source import MOST_ELEMENTS

MOST_INCLUDES = 100_000  # of all files together


class Budget:
    """How many elements there have been, in all files together, and what is known of the files: each is parsed once."""

    def __init__(self):
        self.spent = 0
        self.parsed: dict = {}  # path -> what the file says
        self.foreseen: dict = {}  # (path, parameters) -> Counter, see `read`
        self.robots: Counter = Counter()  # path of a URDF or MJCF -> how often it will be included

    def spend(self, count, fail):
        self.ask(count, fail)
        self.spent += count

    def ask(self, count, fail):
        """Refuse what cannot be spent."""
        if self.spent + count > MOST_ELEMENTS:
            fail(f"more than {MOST_ELEMENTS} elements, repetitions counted", "repeat less, or split the scene")

    def ask_all(self, foreseen, fail):
        """Refuse what all files together cannot spend, before any of it is made."""
        self.ask(foreseen["elements"], fail)
        if foreseen["includes"] > MOST_INCLUDES:
            fail(f"more than {MOST_INCLUDES} includes, those of included files counted", "include less, or repeat elements")
