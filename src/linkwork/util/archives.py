"""NumPy archives (.npz) of others: read only after what they declare has been compared with how long they are."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile

GROWTH, ALLOWANCE = 32, 2**24  # bytes in memory: up to this multiple of the file, and so many more; compressed files grow
PARTS = 10_000  # arrays in one file


def most(path: Path) -> int:
    """Bytes that the contents of a file may take."""
    return GROWTH * path.stat().st_size + ALLOWANCE


@contextmanager
def opened(path: Path) -> Iterator[NpzFile]:
    """The arrays of a .npz file, by name; ValueError where it declares more than it can hold, or code."""
    _check(path)
    with np.load(path, allow_pickle=False) as data:
        yield data


def _check(path: Path) -> None:
    left = most(path)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > PARTS:
            raise ValueError(f"it declares {len(members)} arrays")
        names = [member.filename for member in members]
        if len(set(names)) < len(names):
            raise ValueError("two of its arrays have one name")
        for member in members:
            left -= member.file_size
            if left < 0:
                raise ValueError(f"{member.filename} declares more than {path.stat().st_size} bytes can hold")
            with archive.open(member) as stream:
                _check_header(member, stream)


def _check_header(member: zipfile.ZipInfo, stream: IO[bytes]) -> None:
    """The shape and type of an array are those of as many bytes as there are."""
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"{member.filename} is of the version {version} of NumPy's format")
    shape, _, kind = read(stream)
    if kind.hasobject:
        raise ValueError(f"{member.filename} holds objects")
    if kind.fields is not None:
        raise ValueError(f"{member.filename} holds records")
    count = 1
    for length in shape:  # in Python's integers, which do not overflow
        if length < 0:
            raise ValueError(f"{member.filename} has the shape {shape}")
        count *= length
    if stream.tell() + count * kind.itemsize != member.file_size:
        raise ValueError(f"{member.filename} declares {count} numbers, and has {member.file_size} bytes")
