"""The errors linkwork raises. Each message is one sentence: the object, its name, the value, the remedy.

Names come from files that anyone may have written. A terminal obeys control characters, and characters that change the
direction of writing make a line read other than it is: `printable` writes both as escapes, wherever a name is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.recording.recording import Recording

# control characters and what ends a line; marks that change the direction of writing or are not seen (but for those that join
# letters); halves of characters
_UNSEEN = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
    "\\ud800-\\udfff\\U000e0000-\\U000e007f]"
)


def printable(text: object) -> str:
    """A text as it may be shown: in one line, and with nothing in it that a terminal obeys or that is not seen.

    >>> printable("arm\\x1b[31m \\u202e"), printable("Träger 1")
    ('arm\\\\x1b[31m \\\\u202e', 'Träger 1')
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))


class LinkworkError(Exception):
    """Any error that linkwork raises on purpose."""

    def __str__(self) -> str:  # the sentence alone: KeyError would show its quoted repr
        return printable(self.args[0]) if self.args else ""


class ElementError(LinkworkError, ValueError):
    """A body, joint, constraint, force, shape or parameter has a value that it cannot have."""


class ModelError(LinkworkError):
    """Elements that are sound one by one do not make a model together (loops, redundancy, dangling references)."""


class NotFiniteError(ModelError):
    """A state has a number that is not finite."""


class ArrayError(LinkworkError, ValueError):
    """An array has a shape or values with which an algorithm cannot work."""


class FileError(LinkworkError):
    """A file does not say what it should: the sentence begins with the file, and the line where it is known."""


class DivergenceError(LinkworkError, RuntimeError):
    """A run left the finite numbers or did not converge: `step`, `time` (seconds) and `worst`, the element to look at."""

    def __init__(self, message: str = "", *, step: int | None = None, time: float | None = None, worst: object = None) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.worst = worst
        self.recording: Recording | None = None  # what was recorded until then, where a run was recorded


class UnknownNameError(LinkworkError, KeyError):
    """No element has that name."""


class Note(UserWarning):
    """Something that linkwork put right and tells."""

    def __str__(self) -> str:
        return printable(super().__str__())


@dataclass(frozen=True)
class Remark:
    """Something that a file says and linkwork does not do, or does in another way."""

    file: str
    line: int | None
    what: str  # the element and its name
    why: str  # what becomes of it, and the way out where there is one

    def __str__(self) -> str:
        return printable(f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.what}: {self.why}")


def suggestion(name: object, known: Iterable[object]) -> str:
    """`; did you mean "..."?` where a known name is near, else nothing."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
