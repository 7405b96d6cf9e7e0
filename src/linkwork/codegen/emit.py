"""CasADi SX function -> LLVM IR, as text: straight-line code on `double` or `<lanes x double>`.

In:  an SX `Function` and, for each scalar entry of its arguments and results, the record (pointer argument) and
     the entry of that record where it lies.
Out: one LLVM function `void name(double* p0, ..., double* p5)`, every kernel of the same type.
Must hold: an entry is stored after it was last loaded (a record may be read and written; the records of a kernel do not
overlap), and as soon as it is known, since what waits takes up a register; no fast-math flag, products of single use are fused
by `llvm.fma`, so the bits are the same for every lane count, optimisation level and vectoriser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from struct import pack, unpack

import casadi as ca

from linkwork.codegen.atan2 import arctangent
from linkwork.codegen.trace import POINTERS

OPS = {getattr(ca, name): name[3:] for name in dir(ca) if name.startswith("OP_")}

# CasADi operation -> LLVM instruction
SIMPLE = {"ADD": "fadd", "SUB": "fsub", "MUL": "fmul", "DIV": "fdiv", "NEG": "fneg"}
# CasADi operation -> LLVM intrinsic that exists for vectors too
INTRINSICS = {"SQRT": "sqrt", "FABS": "fabs", "FLOOR": "floor", "CEIL": "ceil", "COPYSIGN": "copysign"}
# CasADi operation -> C library function, called once a lane
LIBRARY = {
    "SIN": "sin", "COS": "cos", "TAN": "tan", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan",
    "EXP": "exp", "LOG": "log", "LOG1P": "log1p", "EXPM1": "expm1", "POW": "pow", "CONSTPOW": "pow", "TANH": "tanh",
    "SINH": "sinh", "COSH": "cosh", "ASINH": "asinh", "ACOSH": "acosh", "ATANH": "atanh", "ERF": "erf",
    "FMOD": "fmod", "HYPOT": "hypot",
}  # fmt: skip
COMPARISONS = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "one"}


def instructions(function: ca.Function):
    """CasADi's instruction list, which reuses work slots, in single-assignment form.

    Returns (code, stores): code is a list of (op, operands, constant), stores a list of (value, (result, entry)).
    """
    slot: dict[int, int] = {}
    code: list[tuple] = []
    stores: list[tuple] = []
    identity, input_of, output_of = function.instruction_id, function.instruction_input, function.instruction_output
    for k in range(function.n_instructions()):
        op, reads, writes = OPS[identity(k)], input_of(k), output_of(k)
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
            code.append((op, tuple([slot[i] for i in reads]), None))
        slot[writes[0]] = len(code) - 1
    return _share_reciprocals(code, stores)


def _share_reciprocals(code, stores):
    """Divisions by the same value become one reciprocal and products (CasADi folds `a * (1/b)` into `a / b`)."""
    divisions = Counter(operands[-1] for op, operands, _ in code if op in ("DIV", "INV"))
    rewritten: list[tuple] = []
    place: list[int] = []
    reciprocal: dict[int, int] = {}
    for op, operands, constant in code:
        moved = operands if op == "INPUT" else tuple([place[j] for j in operands])
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
    """Writes one kernel line by line. Values are their names, or constants as they are written."""

    def __init__(self, name: str, lanes: int):
        self.name, self.lanes = name, lanes
        self.type, self.truths = ("double", "i1") if lanes == 1 else (f"<{lanes} x double>", f"<{lanes} x i1>")
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}

    def new(self, text: str) -> str:
        """The value of an instruction."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def address(self, pointer: int, entry: int) -> str:
        place = self.new(f"getelementptr double, double* %p{pointer}, i64 {entry * self.lanes}")
        return place if self.lanes == 1 else self.new(f"bitcast double* {place} to {self.type}*")

    def load(self, pointer: int, entry: int) -> str:
        return self.new(f"load {self.type}, {self.type}* {self.address(pointer, entry)}, align 8")

    def store(self, value: str, pointer: int, entry: int) -> None:
        self.lines.append(f"store {self.type} {value}, {self.type}* {self.address(pointer, entry)}, align 8")

    def broadcast(self, pointer: int, entry: int) -> str:
        """A scalar that all lanes share."""
        place = self.new(f"getelementptr double, double* %p{pointer}, i64 {entry}")
        scalar = self.new(f"load double, double* {place}, align 8")
        if self.lanes == 1:
            return scalar
        one = self.new(f"insertelement {self.type} undef, double {scalar}, i32 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.new(f"shufflevector {self.type} {one}, {self.type} undef, {mask}")

    def constant(self, value: float) -> str:
        written = f"0x{unpack('<Q', pack('<d', value))[0]:016x}"
        return written if self.lanes == 1 else f"<{', '.join([f'double {written}'] * self.lanes)}>"

    def call(self, name: str, values: Sequence[str], kind: str) -> str:
        """Of a function that takes and returns values of this kind."""
        if name not in self.declared:
            self.declared[name] = f"declare {kind} @{name}({', '.join([kind] * len(values))})"
        return self.new(f"call {kind} @{name}({', '.join([f'{kind} {value}' for value in values])})")

    def intrinsic(self, name: str, values: Sequence[str]) -> str:
        return self.call(f"llvm.{name}.{'f64' if self.lanes == 1 else f'v{self.lanes}f64'}", values, self.type)

    def library(self, name: str, values: Sequence[str]) -> str:
        if self.lanes == 1:
            return self.call(name, values, "double")
        result = "undef"
        for lane in range(self.lanes):
            scalars = [self.new(f"extractelement {self.type} {value}, i32 {lane}") for value in values]
            result = self.new(f"insertelement {self.type} {result}, double {self.call(name, scalars, 'double')}, i32 {lane}")
        return result

    def fadd(self, x: str, y: str) -> str:
        return self.new(f"fadd {self.type} {x}, {y}")

    def fsub(self, x: str, y: str) -> str:
        return self.new(f"fsub {self.type} {x}, {y}")

    def fmul(self, x: str, y: str) -> str:
        return self.new(f"fmul {self.type} {x}, {y}")

    def fdiv(self, x: str, y: str) -> str:
        return self.new(f"fdiv {self.type} {x}, {y}")

    def fneg(self, x: str) -> str:
        return self.new(f"fneg {self.type} {x}")

    def compare(self, how: str, x: str, y: str) -> str:
        """A truth; `how` as LLVM says it."""
        return self.new(f"fcmp {how} {self.type} {x}, {y}")

    def select(self, truth: str, x: str, y: str) -> str:
        return self.new(f"select {self.truths} {truth}, {self.type} {x}, {self.type} {y}")

    def truth(self, value: str) -> str:
        return self.compare("une", value, self.constant(0.0))

    def number(self, truth: str) -> str:
        return self.select(truth, self.constant(1.0), self.constant(0.0))

    def operation(self, op: str, x: Sequence[str]) -> str:
        if op in SIMPLE:
            return self.new(f"{SIMPLE[op]} {self.type} {', '.join(x)}")
        if op == "SQ":
            return self.fmul(x[0], x[0])
        if op == "TWICE":
            return self.fadd(x[0], x[0])
        if op == "INV":
            return self.fdiv(self.constant(1.0), x[0])
        if op in INTRINSICS:
            return self.intrinsic(INTRINSICS[op], x)
        if op == "ATAN2":
            return arctangent(self, *x)
        if op in LIBRARY:
            return self.library(LIBRARY[op], x)
        if op in COMPARISONS:
            return self.number(self.compare(COMPARISONS[op], *x))
        if op in ("FMIN", "FMAX"):
            return self.select(self.compare("olt" if op == "FMIN" else "ogt", *x), *x)
        if op == "IF_ELSE_ZERO":
            return self.select(self.truth(x[0]), x[1], self.constant(0.0))
        if op == "NOT":
            return self.select(self.truth(x[0]), self.constant(0.0), self.constant(1.0))
        if op in ("AND", "OR"):
            return self.number(self.new(f"{op.lower()} {self.truths} {self.truth(x[0])}, {self.truth(x[1])}"))
        if op == "SIGN":
            positive = self.number(self.compare("ogt", x[0], self.constant(0.0)))
            return self.fsub(positive, self.number(self.compare("olt", x[0], self.constant(0.0))))
        raise NotImplementedError(f"the operation {op} has no machine code; write the function without it")

    def text(self) -> str:
        """The function, and what it calls."""
        pointers = ", ".join(f"double* %p{k}" for k in range(POINTERS))
        return "\n".join(
            [*self.declared.values(), f"define void @{self.name}({pointers}) {{", *self.lines, "ret void", "}", ""]
        )


def emit(name: str, function: ca.Function, sources, targets, lanes: int = 1, shared: Iterable[int] = ()) -> str:
    """The kernel `name`. sources[i][k], targets[i][k]: (pointer, entry) of argument/result i, entry k.

    Pointer 0 is the record of globals: scalars that all lanes share, as are those of the pointers `shared`.
    """
    shared = {0, *shared}
    out = Emitter(name, lanes)
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
                value[k] = out.load(pointer, entry)
        elif op == "CONST":
            value[k] = out.constant(constant)
        elif op in ("ADD", "SUB") and any(j in fused for j in operands):
            j = next(j for j in operands if j in fused)
            x, y = value[code[j][1][0]], value[code[j][1][-1]]
            other = value[operands[1] if j == operands[0] else operands[0]]
            if op == "SUB":
                if j == operands[0]:
                    other = out.fneg(other)
                else:
                    x = out.fneg(x)
            value[k] = out.intrinsic("fma", [x, y, other])
        else:
            value[k] = out.operation(op, [value[j] for j in operands])
        for j, (pointer, entry) in stored.get(k, ()):
            out.store(value[j], pointer, entry)
    return out.text()


def _stores_by_turn(code, stores, sources, targets) -> dict[int, list[tuple]]:
    """Instruction -> (value, place) of what is stored after it; of several values for one place the last."""
    loaded = {sources[operands[0]][operands[1]]: k for k, (op, operands, _) in enumerate(code) if op == "INPUT"}
    found: dict[int, list[tuple]] = {}
    for place, j in {targets[result][entry]: j for j, (result, entry) in stores}.items():
        found.setdefault(max(j, loaded.get(place, 0)), []).append((j, place))
    return found
