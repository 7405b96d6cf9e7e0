"""How compiled code feels Ctrl-C in the middle of a step.

Python runs the handlers of signals between its own instructions, and a step has none of those. So compiled code counts what it
does, and every so often lets Python look whether a signal has come. If its handler raises, all compiled code that is under way
returns with that exception, as if it had been raised there.
"""

from __future__ import annotations

import ctypes

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

WORTH = 1 << 24  # numbers that are gone through between two looks, a few hundredths of a second
_COUNTER, _STOPPED, _LOOKING = "linkwork_work_done", "linkwork_stopped", "linkwork_looking"
# symbols: compiled code that is kept on disk finds them by name
_done, _stopped, _looking = ctypes.c_int64(0), ctypes.c_int64(0), ctypes.c_int64(0)
for _name, _place in ((_COUNTER, _done), (_STOPPED, _stopped), (_LOOKING, _looking)):
    binding.add_symbol(_name, ctypes.addressof(_place))


def _symbol(module, name: str):
    return module.globals[name] if name in module.globals else ir.GlobalVariable(module, ir.IntType(64), name)


def _look(context, module):
    """A function of its own, so that what counts stays small: whether a handler has raised, or Python that was called has."""
    name, word, long = "linkwork_look", ir.IntType(32), ir.IntType(64)
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(word, []), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    function.attributes.add("cold")
    builder = ir.IRBuilder(function.append_basic_block())
    stopped, none = _symbol(module, _STOPPED), ir.Constant(long, 0)
    builder.store(none, _symbol(module, _COUNTER))
    python = context.get_python_api(builder)
    held = python.gil_ensure()
    look = cgutils.get_or_insert_function(module, ir.FunctionType(word, []), "PyErr_CheckSignals")
    looking = _symbol(module, _LOOKING)
    builder.store(ir.Constant(long, 1), looking)
    raised = cgutils.alloca_once_value(builder, builder.call(look, []))
    builder.store(none, looking)
    with builder.if_then(builder.icmp_signed("!=", builder.load(stopped), none)):
        builder.store(none, stopped)
        python.err_set_none("PyExc_KeyboardInterrupt")
        builder.store(ir.Constant(word, 1), raised)
    python.gil_release(held)
    builder.ret(builder.load(raised))
    return function


def check_interrupt(amount: int) -> None:
    """Count so many numbers that are gone through: in every part of a step, those of the workspace. Once they are worth a look,
    raise what handlers of signals raise. Python itself feels signals: there it does nothing."""


@overload(check_interrupt, jit_options={"forceinline": True})
def _check_interrupt(amount):
    return lambda amount: _count(amount)


@intrinsic
def _count(typing_context, amount):

    def generate(context, builder, signature, arguments):
        counter = _symbol(builder.module, _COUNTER)
        total = builder.add(builder.load(counter), arguments[0])
        builder.store(total, counter)
        with cgutils.if_unlikely(builder, builder.icmp_signed(">", total, ir.Constant(ir.IntType(64), WORTH))):
            raised = builder.call(_look(context, builder.module), [])
            with cgutils.if_unlikely(builder, builder.icmp_signed("!=", raised, ir.Constant(ir.IntType(32), 0))):
                context.call_conv.return_exc(builder)
        return context.get_dummy_value()

    return types.none(types.int64), generate


def stop() -> None:
    """Let compiled code raise KeyboardInterrupt when it looks next: for Python that it calls, which cannot raise through it."""
    _stopped.value, _done.value = 1, WORTH + 1


def raise_if_stopped() -> None:
    """What compiled code had no more occasion to raise."""
    if _stopped.value:
        _stopped.value = 0
        raise KeyboardInterrupt


def stopped() -> bool:
    return bool(_stopped.value)


def looking() -> bool:
    """Whether a handler that runs now was called by compiled code that looks for signals, and may raise through it."""
    return bool(_looking.value)
