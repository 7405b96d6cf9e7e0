"""Functions as texts: the expression of a traced function in the language of formulas, with names for what is used twice."""

from collections import Counter

import casadi as ca

from linkwork.errors import LinkworkError
from linkwork.formats.symbols import BINARY, UNARY

OPERATIONS = {getattr(ca, name): name[3:] for name in dir(ca) if name.startswith("OP_")}
INFIX = {"ADD": ("+", 4), "SUB": ("-", 4), "MUL": ("*", 5), "DIV": ("/", 5), "LT": ("<", 3), "LE": ("<=", 3), "EQ": ("==", 3),
         "NE": ("!=", 3), "POW": ("**", 7), "CONSTPOW": ("**", 7)}  # fmt: skip
CALLS = {
    **{code: name for name, code in (UNARY | BINARY).items()},
    **{ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SQRT: "sqrt",
       ca.OP_TANH: "tanh", ca.OP_ATAN2: "atan2", ca.OP_FMIN: "minimum", ca.OP_FMAX: "maximum"},
}  # fmt: skip
CALLED = {OPERATIONS[code]: name for code, name in CALLS.items()}
ATOM, NEGATED = 9, 6
LONGEST = 100  # characters of a part that gets no name of its own
OFFERS = {"point": ("position", "point"), "point_rate": ("velocity", "point_velocity"), "axis": (None, "direction"),
          "spin": ("angular_velocity", None), "coordinates": ("coordinates", None),
          "coordinate_rates": ("rates", None)}  # fmt: skip


def printed(traced, words=None):
    """A Traced function as a text of which a Formula makes the same expression; `words`: id of a Parameter -> the word for it.

    >>> from linkwork.elements.core.traced import Traced
    >>> printed(Traced("pull", lambda b, t: -3 * b.position[0] ** 2, ("b", "t")))
    'x1 = b.position\\n-3.0 * x1[0]**2'
    """
    return _Printer(traced, words or {id(p): p.name for p in traced.parameters}).text()


class _Printer:
    def __init__(self, traced, words):
        self.traced, self.lines, self.count, self.taken = traced, [], 0, set(words.values())
        self.inputs = [
            self.request(number, what, local, traced.function.size1_in(k))
            for k, (number, what, local) in enumerate(traced.requests)
        ]
        for name in traced.arguments[traced.bodies :]:
            entries = range(traced.function.size1_in(len(self.inputs)))
            self.inputs.append(["t"] if name == "t" else [f"{name}[{k}]" for k in entries])
        self.inputs.append([words[id(p)] for p in traced.parameters])

    def fresh(self):
        while True:
            self.count += 1
            name = f"x{self.count}"
            if name not in self.taken:
                return name

    def request(self, number, what, local, size):
        body, (plain, method) = self.traced.arguments[number], OFFERS[what]
        if method is None or (plain is not None and not any(local)):
            asked = f"{body}.{plain}"
        else:
            asked = f"{body}.{method}(({', '.join(repr(float(x)) for x in local)}))"
        name = self.fresh()
        self.lines.append(f"{name} = {asked}")
        return [f"{name}[{k}]" for k in range(size)]

    def text(self):
        code, stores = _single_assignment(self.traced.function)
        uses = Counter(j for _, operands, _ in code for j in operands if isinstance(j, int)) + Counter(stores)
        values: list = []  # (text, precedence) of each instruction
        for k, (op, operands, constant) in enumerate(code):
            text, level = self.written(op, operands, constant, values)
            if level < ATOM and (uses[k] > 1 or len(text) > LONGEST):
                name = self.fresh()
                self.lines.append(f"{name} = {text}")
                text, level = name, ATOM
            values.append((text, level))
        results = [values[j][0] for j in stores]
        several = ", ".join(results) if sum(map(len, results)) <= LONGEST else ",\n ".join(results)
        self.lines.append(results[0] if len(results) == 1 else f"[{several}]")
        return "\n".join(self.lines)

    def written(self, op, operands, constant, values):
        if op == "INPUT":
            argument, entry = constant
            return self.inputs[argument][entry], ATOM
        if op == "CONST":
            if constant != constant or abs(constant) == float("inf"):
                raise LinkworkError(f"the function has the constant {constant}, which no file holds; give finite numbers")
            return repr(float(constant)), ATOM if not repr(float(constant)).startswith("-") else NEGATED
        given = [values[j] for j in operands]
        if op == "NEG":
            return f"-{_within(given[0], NEGATED)}", NEGATED
        if op == "SQ":
            return f"{_within(given[0], 8)}**2", 7
        if op == "TWICE":
            return f"2 * {_within(given[0], 6)}", 5
        if op == "INV":
            return f"1 / {_within(given[0], 6)}", 5
        if op in INFIX:
            sign, level = INFIX[op]
            left, right = (8, 8) if level == 7 else (level + (level == 3), level + 1)
            space = "" if level == 7 else " "
            return f"{_within(given[0], left)}{space}{sign}{space}{_within(given[1], right)}", level
        if op not in CALLED:
            raise LinkworkError(f"the function has the operation {op}, which formulas do not have; write it with others")
        return f"{CALLED[op]}({', '.join(text for text, _ in given)})", ATOM - 1


def _within(value, least):
    text, level = value
    return text if level >= least else f"({text})"


def _single_assignment(function):
    """([(operation, operands, constant or place of the input), ...], [the value of each row of the result])."""
    slot: dict[int, int] = {}
    code: list[tuple] = []
    stores: dict[int, int] = {}
    for k in range(function.n_instructions()):
        op = OPERATIONS[function.instruction_id(k)]
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if op == "OUTPUT":
            stores[writes[1]] = slot[reads[0]]
            continue
        if op == "ASSIGN":
            slot[writes[0]] = slot[reads[0]]
            continue
        if op == "INPUT":
            code.append((op, (), tuple(reads)))
        elif op == "CONST":
            code.append((op, (), function.instruction_constant(k)))
        else:
            code.append((op, tuple(slot[i] for i in reads), None))
        slot[writes[0]] = len(code) - 1
    return code, [stores[row] for row in range(function.size1_out(0))]
