"""Users' functions as texts: "dot(b.position, b.position) - 1". A small language, read by Python's own parser and checked
node by node: arithmetic, comparisons, entries, vectors, linkwork's functions, what bodies offer, and names given to parts
("x = b.position; x[0] ** 2 - x[2]"). Nothing else can be said, so that a file from anywhere can be loaded.
"""

import ast
import inspect
import math
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import suggestion
from linkwork.formats.formula_check import (
    CONSTANTS,
    FUNCTIONS,
    LARGEST_EXPONENT,
    LARGEST_WHOLE,
    OPERATIONS,
    SHORT,
    FormulaError,
    names_in,
    parsed,
    short,
    whole_index,
)


class Formula:
    """A function of bodies, a point, coordinates or the time, made of a text, with Parameters by name. It can stand wherever a
    Python function can, and is saved as its text.

    >>> wind = Formula("-0.4 * norm(b.velocity) * b.velocity").bind(("b", "t"))
    >>> wind.text
    '-0.4 * norm(b.velocity) * b.velocity'
    >>> Formula("lambda s: (cos(s), sin(s), 0.1 * s)").arguments
    ('s',)
    """

    def __init__(self, text, parameters=None):
        """`parameters`: name -> Parameter, of those that it may speak of."""
        self.text = text
        self.arguments = parsed(text)[0]
        self._known = parameters or {}
        self.parameters: dict = {}  # name -> Parameter, of those that it speaks of
        self._own = self.arguments is not None  # it names its arguments itself

    @property
    def __signature__(self):
        if not self._own:
            return inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])
        return inspect.Signature([inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in self.arguments])

    def bind(self, arguments):
        """Settle the names of its arguments, unless it does so itself, and refuse names that nothing has."""
        if not self._own:
            self.arguments = tuple(arguments)
        elif len(self.arguments) != len(arguments):
            raise FormulaError(f"has the arguments ({', '.join(self.arguments)}); give ({', '.join(arguments)})")
        bodies = {name for name, kind in zip(self.arguments, arguments, strict=True) if kind not in ("t", "p", "u", "s")}
        known = {*self.arguments, *CONSTANTS}
        _, parts, result = parsed(self.text)
        for name, node in (*parts, (None, result)):
            self._check_names(node, known, bodies)
            if name is not None:
                if name in self.arguments or name in self._known or name in FUNCTIONS or name in CONSTANTS:
                    raise FormulaError(f'gives the name "{name}" to a part, which is taken; take another')
                known.add(name)
        return self

    def _check_names(self, node, known, bodies):
        names, held = names_in(node)
        for name in sorted(held - bodies):
            raise FormulaError(f'takes "{name}" for a body; its bodies are {", ".join(sorted(bodies)) or "none"}')
        for name in sorted(names - known):
            if name not in self._known:
                hint = suggestion(name, {*known, *self._known}) or f"; there are {', '.join(sorted({*known, *self._known}))}"
                raise FormulaError(f'speaks of "{name}", which is not known{hint}')
            self.parameters[name] = self._known[name]
        for name in sorted(names & bodies):
            raise FormulaError(f'takes the body "{name}" for a number; write {name}.position')

    def __call__(self, *given):
        from linkwork.formats.symbols import SYMBOLIC, column

        names = {**self.parameters, **dict(zip(self.arguments, given, strict=True))}
        _, parts, result = parsed(self.text)
        for name, node in parts:
            names[name] = evaluate(node, names, SYMBOLIC, column)
        return evaluate(result, names, SYMBOLIC, column)

    def __repr__(self):
        return f"<Formula {short(self.text)!r}>"


def evaluate(node: Any, names, functions, vector) -> Any:
    """What an expression gives: `functions` by name, `vector` makes a vector of a list of values."""
    kind = type(node)
    if kind is ast.Constant:
        return node.value if functions is NUMERIC else float(node.value)
    if kind is ast.Name:
        return CONSTANTS[node.id] if node.id in CONSTANTS else names[node.id]
    if kind is ast.BinOp:
        left = evaluate(node.left, names, functions, vector)
        right = evaluate(node.right, names, functions, vector)
        if type(node.op) is ast.Pow:
            return _power(left, right)
        return _bounded(OPERATIONS[type(node.op)](left, right))
    if kind is ast.UnaryOp:
        return OPERATIONS[type(node.op)](evaluate(node.operand, names, functions, vector))
    if kind is ast.Compare:
        return OPERATIONS[type(node.ops[0])](
            evaluate(node.left, names, functions, vector), evaluate(node.comparators[0], names, functions, vector)
        )
    if kind is ast.Tuple or kind is ast.List:
        return vector([evaluate(each, names, functions, vector) for each in node.elts])
    if kind is ast.Subscript:
        return evaluate(node.value, names, functions, vector)[_index(node.slice)]
    if kind is ast.Attribute:
        return getattr(names[node.value.id], node.attr)
    function: Any = node.func
    if isinstance(function, ast.Attribute):
        local = evaluate(node.args[0], {}, NUMERIC, np.array)
        body: Any = function.value
        return getattr(names[body.id], function.attr)(local)
    return functions[function.id](*[evaluate(each, names, functions, vector) for each in node.args])


def _bounded(value):
    return float(value) if type(value) is int and abs(value) > LARGEST_WHOLE else value


def _power(base, exponent):
    """Whole numbers are not raised beyond what is written in a moment."""
    if type(base) is int and type(exponent) is int and not (0 <= exponent <= 50 and abs(base) <= 1_000_000):
        base = float(base)
    if type(base) in (int, float) and type(exponent) in (int, float) and abs(exponent) > LARGEST_EXPONENT:
        raise FormulaError(f"raises to the power {exponent:g}; give exponents of at most {LARGEST_EXPONENT}")
    result = base**exponent
    if isinstance(result, complex):
        raise FormulaError(f"raises {base:g} to the power {exponent:g}, which is no real number; give another")
    return _bounded(result)


def _index(node):
    if isinstance(node, ast.Tuple):
        return tuple(_index(each) for each in node.elts)
    if isinstance(node, ast.Slice):
        return slice(*[None if end is None else whole_index(end) for end in (node.lower, node.upper, node.step)])
    return whole_index(node)


def _where(condition, a, b):
    return a if condition else b


NUMERIC = {
    "dot": lambda a, b: float(np.dot(a, b)),
    "cross": lambda a, b: np.cross(a, b),
    "norm": lambda a: float(np.linalg.norm(a)),
    "minimum": min,
    "maximum": max,
    "where": _where,
    "zero_unless": lambda condition, a: a if condition else 0.0,
    "both": lambda a, b: bool(a and b),
    "either": lambda a, b: bool(a or b),
    "opposite": lambda a: not a,
    "abs": abs,
    "sum": lambda a: float(np.sum(a)),
    "sign": lambda a: float(np.sign(a)),
    "floor": math.floor,
    "ceil": math.ceil,
    **{name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name) and name not in ("floor", "ceil", "sum")},
}


def number(text, names):
    """What a text gives when a file is loaded: a number, or a list of them; `names`: name -> number.

    >>> number("0.1 * i", {"i": 3}), number("[0, 0, i + 1]", {"i": 3}), number("2 * i + 1", {"i": 3})
    (0.30000000000000004, [0.0, 0.0, 4.0], 7)
    """
    node, mentioned = _numeric(text)
    for name in mentioned:
        if name not in names:
            hint = suggestion(name, names) or f"; there are {', '.join(sorted({*names, *CONSTANTS}))}"
            raise FormulaError(f'speaks of "{name}", which is not known{hint}')
    try:
        result = evaluate(node, names, NUMERIC, np.array)
    except FormulaError:
        raise
    except (ArithmeticError, ValueError, TypeError, IndexError) as error:
        raise FormulaError(f'has "{short(text)}", which gives no number ({error}); give one that does') from None
    if type(result) is int:
        return result
    result = result.astype(float).tolist() if isinstance(result, np.ndarray) else float(result)
    if not (math.isfinite(result) if type(result) is float else np.isfinite(result).all()):
        raise FormulaError(f'has "{short(text)}", which gives {checks.show(result)}; give one that is finite')
    return result


@lru_cache(maxsize=1000)
def _numeric(text):
    if len(text) > SHORT:
        raise FormulaError(f"has {len(text)} characters in braces; give at most {SHORT}")
    arguments, parts, node = parsed(text)
    names, bodies = names_in(node)
    if arguments is not None or parts or bodies:
        raise FormulaError(f'has "{short(text)}", which is no number; write one such as {{0.1 * i}}')
    return node, sorted(names - CONSTANTS.keys())
