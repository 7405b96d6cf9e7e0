"""LLVM IR of drivers -> machine code of this processor, and machine code -> addresses.

The code is the same whatever made the IR: numba a moment ago, or another machine, long ago (`shipped`).
"""

from __future__ import annotations

import platform
from functools import cache

import llvmlite.binding as llvm
import llvmlite.ir as ir


def _target(cpu: str, features: str):
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except RuntimeError:  # numba has done it already
        pass
    target = llvm.Target.from_triple(llvm.get_process_triple())
    on_x86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    return target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="static" if on_x86 else "default", codemodel="jitdefault", jit=True
    )


@cache
def _host() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def host_name() -> str:
    """This processor, and what it can do."""
    return " ".join(_host())


@cache
def host():
    """What machine code is made for."""
    return _target(*_host())


@cache
def common():
    """What bitcode is optimised for that goes to other machines: vectors that most of them have. Others split them."""
    on_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return _target("x86-64-v3" if on_x86 else "generic", "")


@cache
def _engine():
    return llvm.create_mcjit_compiler(llvm.parse_assembly(str(ir.Module("linkwork drivers"))), host())


def optimise(module: llvm.ModuleRef, machine) -> None:
    """In two turns: what is small becomes part of what calls it, then counts of references that cancel go, which numba's code
    is full of; then all that LLVM knows."""
    for level, vectors in ((0, False), (3, True)):
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization, options.slp_vectorization = vectors, False
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        if level == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)


def machine_code(module: llvm.ModuleRef) -> bytes:
    """The object file of a module that is optimised."""
    return host().emit_object(module)


def loaded(code: bytes, names: list[str], given: dict[str, int]) -> list[int]:
    """Where an object file's functions are in this process. `given`: where the symbols are that it lacks, beside those of numba
    and Python."""
    for name, address in given.items():
        llvm.add_symbol(name, address)
    _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine().finalize_object()
    return [_engine().get_function_address(name) for name in names]
