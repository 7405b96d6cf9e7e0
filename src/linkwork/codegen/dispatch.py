"""numba's dispatchers, with drivers in the place of what numba would make for Python.

What compiled code calls is in `overloads`, lowered and no more; what Python calls, or what is called by its address, is in
`drivers`. Where numba is made of other parts than `lowering` knows, it compiles in its own way: slower, and the same bits.
"""

from __future__ import annotations

import threading
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from linkwork.codegen import drivers
from linkwork.codegen.drivers import Driver, is_plain
from linkwork.codegen.lowering import is_lowering, lowering, supported
from linkwork.codegen.telling import Telling, reached
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED, interruptible, stop_if_abandoned

OPTIONS = {"nogil": True, "error_model": "numpy"}


class Abandoned(event.Listener):
    """Ends a compilation that nobody waits for any more, before its next pass."""

    def on_start(self, _event) -> None:
        stop_if_abandoned()

    def on_end(self, _event) -> None:
        pass


event.register("numba:run_pass", Abandoned())


class _Lowered(CPUDispatcher):
    def add_overload(self, cres):
        """numba would let Python call it."""
        if is_lowering():
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            CPUDispatcher.add_overload(self, cres)


class InnerDispatcher(_Lowered):
    """Of a function that compiled code alone calls."""

    def get_call_template(self, args, kws):
        return CPUDispatcher.get_call_template(self, tuple(map(types.unliteral, args)), kws)

    def __call__(self, *arguments):
        raise TypeError(f"{self.__name__} is for compiled code alone; call a function of `jit` that calls it")


class Dispatcher(_Lowered):
    """Of a function that is compiled on first use."""

    drivers: dict[Any, Driver]  # by types of arguments and result
    careful: type
    plain: type

    def __call__(self, *arguments, **named):
        """Of arrays that are returned numba makes objects by Python, and loses what a handler of signals raises there."""
        with INTERRUPTS_DEFERRED:
            return CPUDispatcher.__call__(self, *arguments, **named)

    def compile(self, sig):
        """What numba asks for: lowered for compiled code, else for Python."""
        return CPUDispatcher.compile(self, sig) if is_lowering() else self.driver(sig).python

    def driver(self, sig) -> Driver:
        """Machine code for a signature, or for types of arguments: from memory, from the disk, or made now."""
        wanted = normalize_signature(sig)
        if wanted not in self.drivers:
            with INTERRUPTS_DEFERRED:
                interruptible(lambda: self._find(*wanted))
            self.__class__ = self.plain if all(one.plain for one in self.drivers.values()) else self.careful
        return self.drivers[wanted]

    def _find(self, arguments, result) -> None:
        with global_compiler_lock:
            if (arguments, result) not in self.drivers:
                self.drivers[arguments, result] = found = self._found(arguments, result)
                if found.python is not None and supported():
                    self._insert([kind._code for kind in arguments], found.python, False)

    def _found(self, arguments, result) -> Driver:
        sig = arguments if result is None else result(*arguments)
        place = drivers.place_of(self.py_func, self.targetoptions, sig)
        code = drivers.kept(place)
        if code is None:
            with Telling(place.title, reached(self)) as telling:
                code = drivers.shipped(place)
                if code is None and not supported():
                    self._cache = drivers.KeptByNumba(place)
                    return self._by_numba(sig, arguments)
                if code is None:
                    with lowering():
                        CPUDispatcher.compile(self, sig)
                    telling.machine_code = True
                    code = drivers.made(place, self.overloads[arguments])
        return drivers.loaded(code, self.py_func)

    def _by_numba(self, sig, arguments) -> Driver:
        python, made = CPUDispatcher.compile(self, sig), self.overloads[arguments]
        names = made.fndesc.llvm_func_name, made.fndesc.llvm_cfunc_wrapper_name
        address, c_address = map(made.library.get_pointer_to_function, names)
        return Driver(python, address, c_address, made, is_plain(made.signature.return_type))

    @property
    def signatures(self):
        return list(dict.fromkeys([*self.overloads, *(arguments for arguments, _ in self.drivers)]))


class PlainDispatcher(Dispatcher):
    """Of one that returns numbers or nothing: called directly."""

    __call__ = CPUDispatcher.__call__


Dispatcher.careful, Dispatcher.plain = Dispatcher, PlainDispatcher

_ALONE = threading.RLock()  # of two threads that call first, one compiles


class ExactDispatcher(Dispatcher):
    """Compiled by its first call. While its module is imported no other thread could do so, for it would wait for that to
    end, and Ctrl-C would not be felt."""

    signatures_wanted: tuple[str, ...]

    def _compile_for_args(self, *_arguments, **_named):
        """What numba calls next, with the same arguments: the same again, which compiles nothing any more."""
        with _ALONE:
            for signature in self.signatures_wanted if self._can_compile else ():
                self.compile(signature)
            self.disable_compile()
        return self


class PlainExactDispatcher(ExactDispatcher):
    """Of one of these that returns numbers or nothing."""

    __call__ = CPUDispatcher.__call__


ExactDispatcher.careful, ExactDispatcher.plain = ExactDispatcher, PlainExactDispatcher


def dispatcher(function, kind: type = Dispatcher, **options):
    """A function that is compiled on first use, and kept with the sources that it depends on."""
    made = numba.njit(**{**OPTIONS, "no_cfunc_wrapper": True, **options})(function)
    made.__class__ = kind
    made.drivers = {}
    return made
