"""Where numba finds the drivers that it compiled before: in `store`, one file for a function and the types of its arguments.

numba has a cache of its own. It unpickles whatever it finds there, and what is unpickled is run.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import re
import sys
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from linkwork.codegen import store
from linkwork.codegen.cache_key import PACKAGE, driver_sources

VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, *sys.version_info[:3], getattr(sys, "abiflags", ""))


class Drivers(NullCache):
    """What a dispatcher or a callback of numba asks before it compiles a function, and gives what it compiled."""

    def __init__(self, function):
        sources, own = driver_sources(function.__module__)[:20], _own_source(function)
        title = re.sub(r"[^\w.]+", "_", f"{function.__module__}.{function.__qualname__}")[-100:]
        self.function, self.place = function, None if own is None else f"drivers/{sources}{own}/{title}"

    def load_overload(self, sig, target_context):
        """A CompileResult, or None: numba's name for what was compiled for one signature."""
        target_context.refresh()
        if self.place is None:
            return None
        key = self._key(sig, target_context.codegen())
        kept = store.read(self._name(key))
        if kept is None:
            return None
        found, payload = pickle.loads(kept)
        return CompileResult._rebuild(target_context, *payload) if found == key else None

    def save_overload(self, sig, result):
        """Keep a CompileResult. One with addresses of this process in it is of use to no other."""
        if self.place is not None and not result.library.has_dynamic_globals:
            key = self._key(sig, result.codegen)
            store.keep(self._name(key), dumps((key, result._reduce())))

    def _key(self, sig, codegen):
        """All that machine code depends on besides sources: types, processor, versions, and what a closure holds."""
        cells = tuple(cell.cell_contents for cell in self.function.__closure__ or ())
        code = hashlib.sha256(self.function.__code__.co_code + (dumps(cells) if cells else b"")).hexdigest()
        return sig, codegen.magic_tuple(), code, VERSIONS

    def _name(self, key) -> str:
        return f"{self.place}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"


def _own_source(function) -> str | None:
    """For a function of another package: the digest of its file, which `driver_sources` knows nothing of; None without one."""
    path = Path(inspect.getfile(function))
    if path.is_relative_to(PACKAGE):
        return ""
    return f"-{_digest(path)}" if path.is_file() else None


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:20]
