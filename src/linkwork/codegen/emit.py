"""CasADi SX function -> LLVM IR: straight-line code on `double` or `<lanes x double>`.

In:  an SX `Function` and, for each scalar entry of its arguments and results, the record (pointer argument) and
     the entry of that record where it lies.
Out: one LLVM function `void name(double* p0, ..., double* p5)`, every kernel of the same type.
Must hold: an entry is stored after it was last loaded (a record may be read and written; the records of a kernel do not
overlap), and as soon as it is known, since what waits takes up a register; no fast-math flag, products of single use are fused
by `llvm.fma`, so the bits are the same for every lane count, optimisation level and vectoriser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import casadi as ca
import llvmlite.ir as ir

from linkwork.codegen.arctangent import arctangent
from linkwork.codegen.trace import POINTERS

OPS = {getattr(ca, name): name[3:] for name in dir(ca) if name.startswith("OP_")}
DOUBLE = ir.DoubleType()
KERNEL_TYPE = ir.FunctionType(ir.VoidType(), [ir.PointerType(DOUBLE)] * POINTERS)

# CasADi operation -> LLVM intrinsic that exists for vectors too
INTRINSICS = {"SQRT": "sqrt", "FABS": "fabs", "FLOOR": "floor", "CEIL": "ceil", "COPYSIGN": "copysign"}
# CasADi operation -> C library function, called once a lane
LIBRARY = {
    "SIN": "sin", "COS": "cos", "TAN": "tan", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan",
    "EXP": "exp", "LOG": "log", "LOG1P": "log1p", "EXPM1": "expm1", "POW": "pow", "CONSTPOW": "pow", "TANH": "tanh",
    "SINH": "sinh", "COSH": "cosh", "ASINH": "asinh", "ACOSH": "acosh", "ATANH": "atanh", "ERF": "erf",
    "FMOD": "fmod", "HYPOT": "hypot",
}  # fmt: skip
COMPARISONS = {"LT": "<", "LE": "<=", "EQ": "==", "NE": "!="}


def instructions(function: ca.Function):
    """CasADi's instruction list, which reuses work slots, in single-assignment form.

    Returns (code, stores): code is a list of (op, operands, constant), stores a list of (value, (result, entry)).
    """
    slot: dict[int, int] = {}
    code: list[tuple] = []
    stores: list[tuple] = []
    for k in range(function.n_instructions()):
        op = OPS[function.instruction_id(k)]
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if op == "OUTPUT":
            stores.append((slot[reads[0]], tuple(writes)))
            continue
        if op == "ASSIGN":
            slot[writes[0]] = slot[reads[0]]
            continue
        if op == "INPUT":
            code.append((op, tuple(reads), None))
        elif op == "CONST":
            code.append((op, (), function.instruction_constant(k)))
        else:
            code.append((op, tuple(slot[i] for i in reads), None))
        slot[writes[0]] = len(code) - 1
    return _share_reciprocals(code, stores)


def _share_reciprocals(code, stores):
    """Divisions by the same value become one reciprocal and products (CasADi folds `a * (1/b)` into `a / b`)."""
    divisions = Counter(operands[-1] for op, operands, _ in code if op in ("DIV", "INV"))
    rewritten: list[tuple] = []
    place: list[int] = []
    reciprocal: dict[int, int] = {}
    for op, operands, constant in code:
        moved = operands if op == "INPUT" else tuple(place[j] for j in operands)
        if op in ("DIV", "INV") and divisions[operands[-1]] > 1:
            below = moved[-1]
            if below not in reciprocal:
                rewritten.append(("INV", (below,), None))
                reciprocal[below] = len(rewritten) - 1
            if op == "INV":
                place.append(reciprocal[below])
                continue
            op, moved = "MUL", (moved[0], reciprocal[below])
        rewritten.append((op, moved, constant))
        place.append(len(rewritten) - 1)
    return rewritten, [(place[j], where) for j, where in stores]


class Emitter:
    """Writes one kernel into an LLVM module."""

    def __init__(self, module: ir.Module, name: str, lanes: int):
        self.module, self.lanes = module, lanes
        self.type = DOUBLE if lanes == 1 else ir.VectorType(DOUBLE, lanes)
        self.function = ir.Function(module, KERNEL_TYPE, name=name)
        self.builder = ir.IRBuilder(self.function.append_basic_block())

    def address(self, pointer: int, entry: int):
        place = self.builder.gep(self.function.args[pointer], [ir.Constant(ir.IntType(64), entry * self.lanes)])
        return place if self.lanes == 1 else self.builder.bitcast(place, self.type.as_pointer())

    def broadcast(self, pointer: int, entry: int):
        """A scalar that all lanes share."""
        place = self.builder.gep(self.function.args[pointer], [ir.Constant(ir.IntType(64), entry)])
        scalar = self.builder.load(place, align=8)
        if self.lanes == 1:
            return scalar
        undefined = ir.Constant(self.type, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, mask)

    def constant(self, value: float):
        return ir.Constant(self.type, value if self.lanes == 1 else [value] * self.lanes)

    def declare(self, name: str, arguments: int, of_type):
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, ir.FunctionType(of_type, [of_type] * arguments), name=name)

    def intrinsic(self, name: str, values):
        suffix = "f64" if self.lanes == 1 else f"v{self.lanes}f64"
        return self.builder.call(self.declare(f"llvm.{name}.{suffix}", len(values), self.type), values)

    def library(self, name: str, values):
        call = self.declare(name, len(values), DOUBLE)
        if self.lanes == 1:
            return self.builder.call(call, values)
        result = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.lanes):
            index = ir.Constant(ir.IntType(32), lane)
            scalars = [self.builder.extract_element(value, index) for value in values]
            result = self.builder.insert_element(result, self.builder.call(call, scalars), index)
        return result

    def truth(self, value):
        return self.builder.fcmp_unordered("!=", value, self.constant(0.0))

    def number(self, truth):
        return self.builder.select(truth, self.constant(1.0), self.constant(0.0))

    def operation(self, op: str, x):
        b = self.builder
        simple = {"ADD": b.fadd, "SUB": b.fsub, "MUL": b.fmul, "DIV": b.fdiv, "NEG": b.fneg}
        if op in simple:
            return simple[op](*x)
        if op == "SQ":
            return b.fmul(x[0], x[0])
        if op == "TWICE":
            return b.fadd(x[0], x[0])
        if op == "INV":
            return b.fdiv(self.constant(1.0), x[0])
        if op in INTRINSICS:
            return self.intrinsic(INTRINSICS[op], x)
        if op == "ATAN2":
            return arctangent(self, *x)
        if op in LIBRARY:
            return self.library(LIBRARY[op], x)
        if op in COMPARISONS:
            return self.number(b.fcmp_ordered(COMPARISONS[op], *x))
        if op in ("FMIN", "FMAX"):
            return b.select(b.fcmp_ordered("<" if op == "FMIN" else ">", *x), *x)
        if op == "IF_ELSE_ZERO":
            return b.select(self.truth(x[0]), x[1], self.constant(0.0))
        if op == "NOT":
            return self.number(b.not_(self.truth(x[0])))
        if op in ("AND", "OR"):
            join = b.and_ if op == "AND" else b.or_
            return self.number(join(self.truth(x[0]), self.truth(x[1])))
        if op == "SIGN":
            positive = self.number(b.fcmp_ordered(">", x[0], self.constant(0.0)))
            return b.fsub(positive, self.number(b.fcmp_ordered("<", x[0], self.constant(0.0))))
        raise NotImplementedError(f"the operation {op} has no machine code; write the function without it")


def emit(
    module: ir.Module, name: str, function: ca.Function, sources, targets, lanes: int = 1, shared: Iterable[int] = ()
) -> None:
    """Add the kernel `name` to `module`. sources[i][k], targets[i][k]: (pointer, entry) of argument/result i, entry k.

    Pointer 0 is the record of globals: scalars that all lanes share, as are those of the pointers `shared`.
    """
    shared = {0, *shared}
    out = Emitter(module, name, lanes)
    code, stores = instructions(function)
    uses = [0] * len(code)
    for op, operands, _ in code:
        if op != "INPUT":
            for j in operands:
                uses[j] += 1
    for j, _ in stores:
        uses[j] += 1

    def is_product(j):
        return code[j][0] in ("MUL", "SQ") and uses[j] == 1

    fused = set()
    for op, operands, _ in code:
        if op in ("ADD", "SUB"):
            product = next((j for j in operands if is_product(j)), None)
            if product is not None:
                fused.add(product)

    stored = _stores_by_turn(code, stores, sources, targets)
    value: list = [None] * len(code)
    for k, (op, operands, constant) in enumerate(code):
        if k in fused:
            continue
        if op == "INPUT":
            pointer, entry = sources[operands[0]][operands[1]]
            if pointer in shared:
                value[k] = out.broadcast(pointer, entry)
            else:
                value[k] = out.builder.load(out.address(pointer, entry), align=8)
        elif op == "CONST":
            value[k] = out.constant(constant)
        elif op in ("ADD", "SUB") and any(j in fused for j in operands):
            j = next(j for j in operands if j in fused)
            x, y = value[code[j][1][0]], value[code[j][1][-1]]
            other = value[operands[1] if j == operands[0] else operands[0]]
            if op == "SUB":
                if j == operands[0]:
                    other = out.builder.fneg(other)
                else:
                    x = out.builder.fneg(x)
            value[k] = out.intrinsic("fma", [x, y, other])
        else:
            value[k] = out.operation(op, [value[j] for j in operands])
        for j, (pointer, entry) in stored.get(k, ()):
            out.builder.store(value[j], out.address(pointer, entry), align=8)
    out.builder.ret_void()


def _stores_by_turn(code, stores, sources, targets) -> dict[int, list[tuple]]:
    """Instruction -> (value, place) of what is stored after it; of several values for one place the last."""
    loaded = {sources[operands[0]][operands[1]]: k for k, (op, operands, _) in enumerate(code) if op == "INPUT"}
    found: dict[int, list[tuple]] = {}
    for place, j in {targets[result][entry]: j for j, (result, entry) in stores}.items():
        found.setdefault(max(j, loaded.get(place, 0)), []).append((j, place))
    return found
