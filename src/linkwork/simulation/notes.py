"""Notes: what a simulation has told its user, in order; each is also given as a warning."""

from __future__ import annotations

import sys
import warnings

from linkwork.errors import Note, printable


class Notes(list[str]):
    """A list of what was told. It lives as long as its simulation, over all edits."""

    def add(self, text: str) -> None:
        """Keep and show a note."""
        text = printable(text)
        self.append(text)
        warnings.warn(text, Note, stacklevel=_level_outside())

    def mentions(self, fragment: str) -> bool:
        """Whether a note with these words was given."""
        return any(fragment in text for text in self)


def _level_outside() -> int:
    """The level of the first line outside of linkwork, for a warning that our caller gives."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "linkwork":
        level, frame = level + 1, frame.f_back
    return level
