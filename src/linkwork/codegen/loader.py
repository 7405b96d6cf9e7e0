"""Kernels -> machine code, cached on disk.

A kernel's object file is kept (`store`) under a name made of its key, the sources of this package that write kernels, the
LLVM version and the processor: a change of any of them is another file, so that a stale one is never loaded.
Engines live as long as the process (a freed one is a segfault), behind one lock.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache

import llvmlite
import llvmlite.binding as llvm
import llvmlite.ir as ir

from linkwork.codegen import store
from linkwork.codegen.cache_key import kernel_sources
from linkwork.codegen.emit import emit
from linkwork.codegen.trace import Kernel, Trace
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED, LOOK, safe_point

LOCK = threading.RLock()
PATIENCE = 1.0  # seconds of compiling after which a word is said
EFFORTS = ("_hurried", "", "_pairs")  # with which a kernel is compiled, in names


@cache
def _machine(effort: int = 3):
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except RuntimeError:  # numba has done it already
        pass
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=effort)


@cache
def _engine():
    empty = llvm.parse_assembly(str(ir.Module("linkwork")))
    return llvm.create_mcjit_compiler(empty, _machine())


@cache
def platform_digest() -> str:
    parts = (kernel_sources(), llvmlite.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name(),
             llvm.get_host_cpu_features().flatten(), sys.platform)  # fmt: skip
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()


def symbol_names(kernel: Kernel, lanes: int) -> list[str]:
    """Its name, then those of what is made with more effort from the same key: the bits are the same."""
    digest = hashlib.sha256(f"{kernel.key}|{lanes}|{platform_digest()}".encode()).hexdigest()
    return [f"lw_{digest[:40]}{effort}" for effort in EFFORTS[0 if kernel.hurried else 2 if kernel.pairs else 1 :]]


def place_of(name: str) -> str:
    """Where a kernel is kept."""
    return f"kernels/{name}.o"


@cache
def _triple() -> str:
    """What this process runs on: asked for once, since LLVM answers one question at a time and may be at work on a kernel."""
    return llvm.get_process_triple()


def written(trace: Trace, name: str, lanes: int, shared: tuple[int, ...] = ()) -> str:
    """The LLVM IR of one kernel."""
    return f'target triple = "{_triple()}"\n{emit(name, trace.function(), trace.sources, trace.targets, lanes, shared)}'


def machine_code(text: str, pairs: bool, hurried: bool = False) -> bytes:
    """The object file of one kernel. `pairs`: let LLVM join scalar operations into vectors (the bits stay). What is not so
    joined is straight-line code without common subexpressions, for which LLVM's other passes do nothing but take time."""
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    if hurried:
        return _machine(0).emit_object(parsed)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = pairs
    builder = llvm.create_pass_builder(_machine(), options)
    passes = builder.getModulePassManager() if pairs else llvm.create_new_module_pass_manager()
    if not pairs:
        passes.add_instruction_combine_pass()
    passes.run(parsed, builder)
    return _machine(3 if pairs else 1).emit_object(parsed)  # of straight-line code the third makes what the first does


class KernelLoader:
    """Addresses of kernels in this process, compiled or loaded on first use."""

    def __init__(self) -> None:
        self.addresses: dict[str, int] = {}
        self.compiled = 0  # kernels written anew by this process, for reports and tests

    def addresses_of(self, kernels: Iterable[Kernel], lanes: int = 1) -> list[int]:
        with LOCK, INTERRUPTS_DEFERRED:
            missing: dict[str, Kernel | bytes] = {}  # by name: the object file from the disk, or the kernel to compile
            names = [self._name(kernel, lanes, missing) for kernel in kernels]
            if missing:
                for code in self._codes(missing, lanes):
                    _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
                _engine().finalize_object()
                for name in missing:
                    self.addresses[name] = _engine().get_function_address(name)
            return [self.addresses[name] for name in names]

    def _name(self, kernel: Kernel, lanes: int, missing: dict[str, Kernel | bytes]) -> str:
        """Of the kernel, or of what is there already of the same and made with more effort; adds it to what is missing."""
        names = symbol_names(kernel, lanes)
        for name in names:
            if name in self.addresses or name in missing:
                return name
        for name in names:
            code = store.read(place_of(name))
            if code is not None:
                missing[name] = code
                return name
        missing[names[0]] = kernel
        return names[0]

    def _codes(self, missing: Mapping[str, Kernel | bytes], lanes: int) -> list[bytes]:
        """Object files, from the disk or made anew: while LLVM, which knows nothing of Python, is at work on one kernel, the
        next one is written."""
        began, told = time.perf_counter(), False
        found: list[bytes | Future[bytes]] = []
        beside = ThreadPoolExecutor(1)
        try:
            for number, (name, kernel) in enumerate(missing.items()):
                if isinstance(kernel, bytes):
                    found.append(kernel)
                    continue
                safe_point()
                text = written(kernel.trace(), name, lanes, kernel.shared)
                found.append(beside.submit(_made, name, text, kernel.pairs, kernel.hurried))
                self.compiled += 1
                if not told and time.perf_counter() - began > PATIENCE and number + 1 < len(missing):
                    told = True
                    print(f"linkwork: compiling {len(missing) - number - 1} more kernels (kept for next time) ...",
                          file=sys.stderr, flush=True)  # fmt: skip
            return [code if isinstance(code, bytes) else _result(code) for code in found]
        finally:
            beside.shutdown(wait=False, cancel_futures=True)


def _result(code: Future[bytes]) -> bytes:
    """What another thread makes, waited for."""
    while not wait([code], LOOK).done:
        safe_point()
    return code.result()


def _made(name: str, text: str, *effort: bool) -> bytes:
    """The object file of a kernel, kept on disk."""
    code = machine_code(text, *effort)
    store.keep(place_of(name), code)
    return code


LOADER = KernelLoader()
