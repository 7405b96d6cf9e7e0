"""Users' functions as texts: "dot(b.position, b.position) - 1". A small language, read by Python's own parser and checked
node by node: arithmetic, comparisons, entries, vectors, linkwork's functions, what bodies offer, and names given to parts
("x = b.position; x[0] ** 2 - x[2]"). Nothing else can be said, so that a file from anywhere can be loaded.
"""

import ast
import inspect
import keyword
import math
import operator
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError, suggestion

MOST_CHARACTERS = 250_000  # of a function
LONGEST_LINE = 5_000
SHORT = 1_000  # characters of what stands in braces, at most, and of formulas that are remembered
MOST_DEPTH = 100
LARGEST_WHOLE = 2**53
LARGEST_EXPONENT = 1000

FUNCTIONS = {
    **dict.fromkeys(("dot", "cross", "minimum", "maximum", "atan2", "hypot", "copysign", "fmod", "remainder"), 2),
    **dict.fromkeys(("norm", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "abs", "sign", "floor", "ceil"), 1),
    **dict.fromkeys(("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "log1p", "expm1", "erf"), 1),
    **dict.fromkeys(("both", "either"), 2),
    "opposite": 1,
    "where": 3,
    "zero_unless": 2,
    "sum": 1,
}  # name -> how many arguments
CONSTANTS = {"pi": math.pi}
BODY = re.compile(r"b\d+")  # the arguments of functions of more than two bodies
VECTORS = ("position", "velocity", "angular_velocity", "orientation")  # what a body offers without arguments
METHODS = ("point", "point_velocity", "direction", "spin")  # and with three numbers
OPERATIONS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


TAKEN = frozenset(("t", "p", "u", "s", "a", "b", *keyword.kwlist))


def taken_name(name):
    """Whether a name means something else in formulas."""
    return name in FUNCTIONS or name in CONSTANTS or name in TAKEN or BODY.fullmatch(name) is not None


class FormulaError(LinkworkError, ValueError):
    """A text that is no formula; the message goes on after the name of the field."""


def _parsed(text):
    """(names of arguments or None, [(name, node), ...], node of the result), checked but for names. Short ones are remembered;
    nodes take a hundred times the memory of a text."""
    return _remembered(text) if len(text) <= SHORT else _parse(text)


def _parse(text):
    _check_size(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of code that Python reads all the same: it is checked below
            body = ast.parse(text.strip(), mode="exec").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "it nests too deep"
        raise FormulaError(f'is "{short(text)}", which is no formula ({reason}); write one such as "2 * sin(t)"') from None
    if not body or not isinstance(body[-1], ast.Expr):
        raise FormulaError(f'is "{short(text)}", which gives nothing; end it with what the function gives')
    result, arguments = body[-1].value, None
    if isinstance(result, ast.Lambda) and len(body) == 1:
        arguments, result = _arguments(result), result.body
    parts = [_part(statement) for statement in body[:-1]]
    for node in (*[node for _, node in parts], result):
        _check(node, MOST_DEPTH)
    return arguments, parts, result


_remembered = lru_cache(maxsize=1000)(_parse)


def _check_size(text):
    if len(text) > MOST_CHARACTERS or any(len(line) > LONGEST_LINE for line in text.splitlines()):
        raise FormulaError(f"has {len(text)} characters; give a formula of at most {MOST_CHARACTERS}, {LONGEST_LINE} a line")
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > MOST_DEPTH:
        raise FormulaError(f"nests more than {MOST_DEPTH} deep; give names to its parts: x = ...; y = ...")


def _arguments(node):
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
        raise FormulaError('has arguments that are not plain names; write it as "lambda b, t: ..."')
    return tuple(argument.arg for argument in given.args)


def _part(statement):
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        raise FormulaError(f'has "{short(ast.unparse(statement))}", which is no formula; write names as x = ...')
    return statement.targets[0].id, statement.value


def short(text):
    text = "; ".join(text.splitlines())
    return text if len(text) <= 60 else text[:57] + "..."


def _check(node: Any, depth: int) -> None:
    """Refuse whatever the language does not have."""
    if depth == 0:
        raise FormulaError(f"nests more than {MOST_DEPTH} deep; give names to its parts: x = ...; y = ...")
    if isinstance(node, ast.Constant):
        value: Any = node.value
        if type(value) not in (int, float) or not abs(value) <= checks.LARGEST:
            raise FormulaError(f"has {short(repr(value))}; give finite numbers")
        return
    if isinstance(node, ast.Name):
        return
    if isinstance(node, (ast.Tuple, ast.List)):
        below = node.elts
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        below = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        below = [node.operand]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATIONS:
        below = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript):
        _check_index(node.slice)
        below = [node.value]
    elif isinstance(node, ast.Call):
        below = _check_call(node)
    elif isinstance(node, ast.Attribute):
        _check_offer(node, VECTORS)
        return
    else:
        raise FormulaError(f'has "{short(_unparsed(node))}", which formulas do not have; use where(condition, a, b), '
                           "functions such as sin, + - * / **, comparisons and entries")  # fmt: skip
    for each in below:
        _check(each, depth - 1)


def _unparsed(node):
    try:
        return ast.unparse(node)
    except RecursionError:
        return type(node).__name__


def _check_index(node):
    for each in node.elts if isinstance(node, ast.Tuple) else [node]:
        ends = [each.lower, each.upper, each.step] if isinstance(each, ast.Slice) else [each]
        for end in ends:
            if end is not None and _whole(end) is None:
                raise FormulaError(f'asks for the entry "{short(_unparsed(node))}"; give whole numbers such as [0] or [:2]')


def _whole(node):
    """The whole number that a node is, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        below = _whole(node.operand)
        return None if below is None else -below
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _check_call(node):
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise FormulaError(f'has "{short(_unparsed(node))}"; give arguments one by one, without names')
    if isinstance(node.func, ast.Attribute):
        _check_offer(node.func, METHODS)
        wanted, name = 1, node.func.attr
        for each in node.args:
            _check_fixed(name, each)
    else:
        name = node.func.id if isinstance(node.func, ast.Name) else short(_unparsed(node.func))
        if name not in FUNCTIONS:
            hint = suggestion(name, FUNCTIONS) or f"; there are {', '.join(FUNCTIONS)}"
            raise FormulaError(f'calls "{name}", which is no function here{hint}')
        wanted = FUNCTIONS[name]
    if len(node.args) != wanted:
        raise FormulaError(f"gives {name} {len(node.args)} arguments; it takes {wanted}")
    return node.args


def _check_fixed(name, node):
    """What is fixed in a body is given by numbers."""
    names, bodies = _names(node)
    if not names <= CONSTANTS.keys() or bodies:
        raise FormulaError(f'asks for "{name}({short(_unparsed(node))})"; give three numbers such as (0, 0, 1)')


def _check_offer(node, offers):
    if not isinstance(node.value, ast.Name):
        raise FormulaError(f'has "{short(_unparsed(node))}"; only bodies have attributes: {", ".join((*VECTORS, *METHODS))}')
    if node.attr not in offers:
        hint = suggestion(node.attr, (*VECTORS, *METHODS)) or f"; there are {', '.join((*VECTORS, *METHODS))}"
        kind = (
            "needs three numbers in parentheses" if node.attr in METHODS else "is none" if node.attr in VECTORS else "none has"
        )
        problem = f", which {kind}{'' if node.attr in (*METHODS, *VECTORS) else hint}"
        raise FormulaError(f'asks a body for "{short(node.attr)}"{problem}')


def _names(node: Any):
    """(the names in an expression, those of them that stand for bodies), functions left out."""
    names: set[str] = set()
    bodies: set[str] = set()
    waiting: list[Any] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            bodies.add(each.value.id)  # type: ignore[attr-defined]
        elif isinstance(each, ast.Call):
            waiting += each.args
            if isinstance(each.func, ast.Attribute):
                waiting.append(each.func)
        else:
            waiting += ast.iter_child_nodes(each)
    return names, bodies


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
        self.arguments = _parsed(text)[0]
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
        _, parts, result = _parsed(self.text)
        for name, node in (*parts, (None, result)):
            self._check_names(node, known, bodies)
            if name is not None:
                if name in self.arguments or name in self._known or name in FUNCTIONS or name in CONSTANTS:
                    raise FormulaError(f'gives the name "{name}" to a part, which is taken; take another')
                known.add(name)
        return self

    def _check_names(self, node, known, bodies):
        names, held = _names(node)
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
        _, parts, result = _parsed(self.text)
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
        return slice(*[None if end is None else _whole(end) for end in (node.lower, node.upper, node.step)])
    return _whole(node)


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
    arguments, parts, node = _parsed(text)
    names, bodies = _names(node)
    if arguments is not None or parts or bodies:
        raise FormulaError(f'has "{short(text)}", which is no number; write one such as {{0.1 * i}}')
    return node, sorted(names - CONSTANTS.keys())
