"""Functions as LLVM IR: numba's front end without its back end.

numba links each function that it compiles into every caller above it, and optimises it and makes machine code of it again
there: of seven instructions that LLVM sees of a driver, one is used. While `lowering` lasts, numba makes LLVM IR alone, and of
what Python calls, or what is called by its address, all IR is linked and made machine code once (`drivers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target

ENVIRONMENT = "_ZN08NumbaEnv"  # with which the symbols begin under which numba's functions find what Python lends them
DYNAMIC = "numba.dynamic.globals"  # ... and those of addresses of this process


class Lowered(JITCodeLibrary):
    """The IR of one function, as numba writes it; of what it calls it knows the libraries."""

    _shared_module: llvm.ModuleRef | None

    def add_ir_module(self, ir_module):
        for variable in ir_module.global_values:
            if variable.name.startswith(ENVIRONMENT):  # defined where machine code is loaded, if it still needs it
                variable.linkage, variable.initializer = "external", None
        super().add_ir_module(ir_module)

    def add_llvm_module(self, ll_module):
        self._final_module.link_in(ll_module)

    def finalize(self):
        for function in self._final_module.functions:  # several modules may have the same helper of numba's
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "weak_odr"
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0

    def _get_module_for_linking(self):
        """For code that is compiled in numba's own way and happens to call the same functions of numba: as numba makes it."""
        if self._shared_module is None:
            ordinary = self.codegen.ordinary.create_library(self.name)
            ordinary._final_module = module = linked(self)
            lent = environments(module)
            module.link_in(llvm.parse_assembly("\n".join(f"@{name} = common global i8* null" for name in lent)))
            ordinary.finalize()
            for name, environment in lent.items():
                self.codegen.ordinary.set_env(name, environment)
            self._shared_module = ordinary._get_module_for_linking()
        return self._shared_module


class _Lowering(JITCPUCodegen):
    """numba's code generator, whose libraries are lowered ones; no machine code has an environment yet."""

    _library_class = Lowered

    ordinary: JITCPUCodegen

    def set_env(self, env_name, env):
        _LENT[env_name] = env


_LENT: dict[str, Environment] = {}  # what lowered functions borrow of Python, by the symbols under which they look for it


@contextmanager
def lowering() -> Iterator[None]:
    """In the meantime numba makes LLVM IR and no machine code. The caller holds numba's lock, so that no other thread
    compiles."""
    context = cpu_target.target_context
    context.refresh()  # compiles what it is in need of itself
    ordinary = context.codegen()
    made = _Lowering.__new__(_Lowering)
    made.__dict__.update(ordinary.__dict__, ordinary=ordinary)
    context._internal_codegen = made
    try:
        yield
    finally:
        context._internal_codegen = ordinary


@cache
def supported() -> bool:
    """Whether numba is made of the parts that this file puts others in the place of."""
    context = cpu_target.target_context
    context.refresh()
    library = context.codegen().create_library("linkwork")
    parts = ("_final_module", "_linking_libraries", "_finalized", "_shared_module", "_get_module_for_linking", "add_ir_module",
             "add_llvm_module", "finalize", "get_pointer_to_function")  # fmt: skip
    return (
        type(library) is JITCodeLibrary
        and all(hasattr(library, part) for part in parts)
        and all(hasattr(context.codegen(), part) for part in ("_create_empty_module", "_library_class", "set_env"))
        and hasattr(context, "_internal_codegen")
    )


def linked(library) -> llvm.ModuleRef:
    """The IR of a function and of all that it calls, directly or not, in a module of its own."""
    found, ahead = {library: None}, [library]
    while ahead:
        for other in ahead.pop()._linking_libraries:
            if other not in found:
                found[other] = None
                if isinstance(other, Lowered):
                    ahead.append(other)
    module = llvm.parse_assembly(str(library.codegen._create_empty_module(library.name)))
    for one in found:
        if isinstance(one, Lowered):
            module.link_in(one._final_module, preserve=True)
    for one in found:  # of numba's own functions LLVM takes only those that are called already
        if not isinstance(one, Lowered):
            module.link_in(_made_by_numba(one), preserve=True)
    return module


def _made_by_numba(library) -> llvm.ModuleRef:
    """A function of numba's own that was compiled in numba's way before, for somebody else. numba defines its environments in
    the module and fills them in where it loads it; here they are declared, and lent as those of lowered functions are."""
    module = library._get_module_for_linking()
    names = [v.name for v in module.global_variables if v.name.startswith(ENVIRONMENT)]
    if not names:
        return module
    for name in names:
        if name not in _LENT:
            _LENT[name] = Environment._memo[name]
    return llvm.parse_assembly(_DEFINED_ENVIRONMENT.sub(r"\1external \2", str(module)))


_DEFINED_ENVIRONMENT = re.compile(
    rf'^(@"?{ENVIRONMENT}\S+ = )common ((?:local_)?(?:unnamed_addr )?global \S+) null', re.MULTILINE
)


def environments(module) -> dict[str, Environment]:
    """What the functions of a module borrow of Python, by the symbols under which they look for it."""
    return {v.name: _LENT[v.name] for v in module.global_variables if v.name.startswith(ENVIRONMENT)}


def depends_on_process(module) -> bool:
    """Whether there are addresses in a module, so that it is of no use to another process."""
    return any(variable.name.startswith(DYNAMIC) for variable in module.global_variables)


def is_lowering() -> bool:
    """Whether this thread is at it: it holds numba's lock then, and no other one is."""
    return global_compiler_lock.is_locked() and isinstance(cpu_target.target_context.codegen(), _Lowering)
