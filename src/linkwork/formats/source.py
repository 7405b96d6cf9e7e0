"""What all readers share: bytes with a bound, where a sentence about a file begins, and remarks."""

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import FileError, LinkworkError, Remark

MOST_BYTES = 64 * 2**20  # of one text file
MOST_ELEMENTS = 1_000_000  # of one file, includes and repetitions counted


@dataclass
class Reading:
    """One file that is being read, and what is to be told of it."""

    path: Path
    strict: bool = False
    remarks: dict = field(default_factory=dict)  # Remarks, in order; a dict, since a file may give rise to a million
    root: Path | None = None  # the folder, without links, that may be read; None: the file's own

    def remark(self, line, what, why, *, file=None):
        """Note that something is not taken as written; with `strict` it is refused."""
        found = Remark(str(file or self.path), line, what, why)
        if self.strict:
            raise FileError(f"{found}; strict=True refuses it")
        self.remarks.setdefault(found)

    def fail(self, line, problem, remedy, *, file=None):
        """Raise a FileError: one sentence with the file and the line, if there is one."""
        raise FileError(f"{self.place(line, file)}: {problem}; {remedy}")

    def place(self, line, file=None):
        """`robot.urdf:5`: where a sentence begins."""
        return f"{file or self.path}{'' if line is None else f':{line}'}"

    def checked(self, line, make, *args, **options):
        """What `make` gives; what an element refuses is said of the file and the line that asks for it."""
        try:
            return make(*args, **options)
        except FileError:
            raise
        except LinkworkError as error:
            raise FileError(f"{self.place(line)}: {error}") from None


def read(path, most=MOST_BYTES):
    """The bytes of a file, of which it may have at most so many."""
    try:
        if not path.is_file():
            raise FileError(f"{path}: {'it is no file' if path.exists() else 'there is no such file'}; give the path of one")
        size = path.stat().st_size
        if size > most:
            raise FileError(f"{path}: it has {size / 2**20:.0f} MB; files of at most {most / 2**20:.0f} MB are read")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: it cannot be read ({reason}); give a file that can") from None


def decode(path, data):
    """Bytes as text: UTF-8, with or without a mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}:{line}: byte {error.start} is no UTF-8; save the file as UTF-8") from None
