"""The errors linkwork raises. Each message is one sentence: the object, its name, the value, the remedy."""

from dataclasses import dataclass
from difflib import get_close_matches


class LinkworkError(Exception):
    """Any error that linkwork raises on purpose."""


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

    def __init__(self, message="", *, step=None, time=None, worst=None):
        super().__init__(message)
        self.step = step
        self.time = time
        self.worst = worst
        self.recording = None  # what was recorded until then, where a run was recorded


class UnknownNameError(LinkworkError, KeyError):
    """No element has that name."""

    def __str__(self):  # KeyError would show the quoted repr of the sentence
        return str(self.args[0]) if self.args else ""


class Note(UserWarning):
    """Something that linkwork put right and tells."""


@dataclass(frozen=True)
class Remark:
    """Something that a file says and linkwork does not do, or does in another way."""

    file: str
    line: int | None
    what: str  # the element and its name
    why: str  # what becomes of it, and the way out where there is one

    def __str__(self):
        return f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.what}: {self.why}"


def suggestion(name, known) -> str:
    """`; did you mean "..."?` where a known name is near, else nothing."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
