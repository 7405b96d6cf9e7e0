"""Drivers: what Python calls, and what is called by its address, as machine code with all that it calls.

A driver is kept in `store`, one file for a function and the types of its arguments. numba has a cache of its own, which
unpickles whatever it finds there, and what is unpickled is run.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba import _dynfunc, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps

from linkwork.codegen import lowering, native, store
from linkwork.codegen.cache_key import PACKAGE, driver_sources
from linkwork.codegen.waiting import stop_if_abandoned

# What code depends on beside sources, types and the processor. Python is asked for what all its versions have, except those
# without a lock, whose objects are others.
VERSIONS = (
    numba.__version__,
    llvmlite.__version__,
    np.__version__.split(".")[:2],
    sys.implementation.name,
    getattr(sys, "abiflags", ""),
)
SHIPPED = Path(__file__).with_name("shipped")  # bitcode that wheels bring (shipping/compile_drivers.py)
FOUND: Counter[str] = Counter()  # drivers of this process: "kept" ones, "shipped" ones, and those that were "compiled"
_ALONE = count()  # for functions that no file tells of


class Driver(NamedTuple):
    """Where a driver is in this process."""

    python: Any  # what Python calls; None if it is not for Python
    address: int  # with numba's calling convention
    c_address: int  # with that of C; 0 without
    lent: object = None  # what it borrows of Python
    plain: bool = False  # returns numbers or nothing


class Code(NamedTuple):
    """A driver as object file or bitcode: its symbols begin with its name, so that no two are the same."""

    key: str
    name: str  # with which its symbols begin
    content: bytes
    ways: tuple[str, ...]  # in which it is called: "", "_python", "_c"
    lent: tuple[tuple[str, str, list], ...]  # what its functions borrow of Python: symbol, module, constants
    reload: tuple  # what numba wants called where it runs
    plain: bool  # as in Driver


class Place(NamedTuple):
    """What a driver is known by."""

    file: str | None  # in the store; None for what is not kept
    shipped: str  # of its bitcode
    key: str  # on all machines
    name: str  # with which its symbols begin
    title: str  # for people


def place_of(function, options, signature) -> Place:
    """`options`: those of numba; `signature`: types."""
    sources, own = driver_sources(function.__module__)[:20], _own_source(function)
    title = re.sub(r"[^\w.]+", "_", f"{function.__module__}.{function.__qualname__}")[-100:]
    unique = next(_ALONE) if own is None else ""
    key = repr((sources, own, title, _text(function), unique, sorted(options.items()), signature, VERSIONS,
                llvm.get_process_triple()))  # fmt: skip
    digest = hashlib.sha256(key.encode()).hexdigest()[:40]
    host = hashlib.sha256(f"{digest}|{native.host_name()}".encode()).hexdigest()[:20]
    file = None if own is None else f"drivers/{sources}{own}/{title}.{host}.driver"
    return Place(file, f"{title}.{digest[:20]}.bitcode", key, f"lw_{digest}", title.removeprefix("linkwork."))


def _text(function) -> str:
    """The digest of where a function is in its file, and of what it holds as a closure: numbers, and other functions."""
    code = function.__code__
    where = code.co_code if function.__name__ == "<lambda>" else b""  # several may stand in a line; others are alone in it
    digest = hashlib.sha256(where + code.co_firstlineno.to_bytes(8))
    for cell in function.__closure__ or ():
        held = cell.cell_contents
        digest.update(_text(held.py_func).encode() if isinstance(held, CPUDispatcher) else dumps(held))
    return digest.hexdigest()


def _own_source(function) -> str | None:
    """For a function of another package: the digest of its file, which `driver_sources` knows nothing of; None without one."""
    path = Path(inspect.getfile(function))
    if path.is_relative_to(PACKAGE):
        return ""
    return f"-{_digest(path)}" if path.is_file() else None


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:20]


def kept(place: Place) -> Code | None:
    """What an earlier process made."""
    code = None if place.file is None else _code(place, store.read(place.file))
    FOUND["kept"] += code is not None
    return code


def shipped(place: Place) -> Code | None:
    """What the maker of a wheel made, as machine code of this processor."""
    code = _code(place, store.read_shipped(SHIPPED, place.shipped))
    FOUND["shipped"] += code is not None
    return None if code is None else _finished(place, code, llvm.parse_bitcode(code.content))


def _code(place: Place, content: bytes | None) -> Code | None:
    code = None if content is None else Code(*pickle.loads(content))
    return code if code is not None and code.key == place.key else None


def made(place: Place, lowered) -> Code:
    """Machine code of a function that is lowered, kept for next time."""
    FOUND["compiled"] += 1
    module, ways = linked(place, lowered)
    stop_if_abandoned()
    native.optimise(module, native.host() if SHIP is None else native.common())
    code = Code(place.key, place.name, b"", ways, _borrowed(place, module), tuple(lowered.reload_init),
                is_plain(lowered.signature.return_type))  # fmt: skip
    if SHIP is not None and place.file is not None and not lowering.depends_on_process(module):
        SHIP(place.shipped, store.packed(place.shipped, dumps(tuple(code._replace(content=module.as_bitcode())))))
    return _finished(place, code, module)


SHIP: Callable[[str, bytes], object] | None = None  # takes names and files of bitcode, where a wheel is made


def _finished(place: Place, code: Code, module: llvm.ModuleRef) -> Code:
    """With machine code for this processor, which is kept."""
    stop_if_abandoned()
    code = code._replace(content=native.machine_code(module))
    stop_if_abandoned()
    if place.file is not None and not lowering.depends_on_process(module):
        store.keep(place.file, dumps(tuple(code)))
    return code


def linked(place: Place, lowered) -> tuple[llvm.ModuleRef, tuple[str, ...]]:
    """All IR of a driver, of which nothing can be seen from outside but the ways in which it is called: these too."""
    module, fndesc = lowering.linked(lowered.library), lowered.fndesc
    entries = {fndesc.llvm_func_name: "", fndesc.llvm_cpython_wrapper_name: "_python", fndesc.llvm_cfunc_wrapper_name: "_c"}
    ways = []
    for one in module.functions:
        way = None if one.is_declaration else entries.get(one.name)
        if way is not None:
            ways.append(way)
            one.linkage, one.name = "external", place.name + way
        elif not one.is_declaration:
            one.linkage = "internal"
    return module, tuple(ways)


def _borrowed(place: Place, module: llvm.ModuleRef) -> tuple[tuple[str, str, list], ...]:
    """What a module's functions borrow of Python: symbols, which get names of their own, modules and constants."""
    lent: list[tuple[str, str, list]] = []
    for symbol, environment in lowering.environments(module).items():
        name = f"{place.name}_lent{len(lent)}"
        module.get_global_variable(symbol).name = name
        lent.append((name, environment.globals.get("__name__", ""), list(environment.consts)))
    return tuple(lent)


def loaded(code: Code, function) -> Driver:
    """Machine code, ready to be called. It is loaded once, whoever asks: a closure that is made twice is one driver."""
    if code.name in _LOADED:
        return _LOADED[code.name]
    cpu_target.target_context.refresh()  # numba's own functions are at hand then
    for wanted in code.reload:
        wanted()
    environments, cells = [], {}
    for symbol, module, constants in code.lent:
        environment = _dynfunc.Environment(vars(sys.modules[module]) if module in sys.modules else {})
        environment.consts[:] = constants
        environments.append(environment)
        cells[symbol] = ctypes.c_void_p(id(environment))
    given = {symbol: ctypes.addressof(cell) for symbol, cell in cells.items()}
    found = dict(zip(code.ways, native.loaded(code.content, [code.name + way for way in code.ways], given), strict=True))
    python = None
    if "_python" in found:
        python = _dynfunc.make_function(function, function.__name__, "", found["_python"], environments[0], None)
    _LOADED[code.name] = driver = Driver(python, found[""], found.get("_c", 0), (environments, cells), code.plain)
    return driver


def is_plain(kind: types.Type) -> bool:
    """Whether Python takes no part in making an object of this type."""
    return all(map(is_plain, kind)) if isinstance(kind, types.BaseTuple) else isinstance(kind, PLAIN)


PLAIN = (types.Number, types.Boolean, types.NoneType)
_LOADED: dict[str, Driver] = {}  # machine code lives as long as the process


class KeptByNumba(NullCache):
    """What numba asks before it compiles a driver in its own way, and gives what it compiled."""

    def __init__(self, place: Place):
        self.place = place

    def load_overload(self, sig, target_context):
        target_context.refresh()
        content = None if self.place.file is None else store.read(f"{self.place.file}-by-numba")
        key, made = ("", ()) if content is None else pickle.loads(content)
        return CompileResult._rebuild(target_context, *made) if key == self.place.key else None

    def save_overload(self, sig, data):
        if self.place.file is not None and not data.library.has_dynamic_globals:
            store.keep(f"{self.place.file}-by-numba", dumps((self.place.key, data._reduce())))
