"""Texts with "{...}" in them, computed when a file is loaded: "link{i + 1}", "{0.1 * i}", "{2 * n} cm". "{{" stands for "{"."""

import re
from functools import lru_cache

from linkwork.formats.formula_check import SHORT, FormulaError, short
from linkwork.formats.formulas import number

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def _split(text):
    """[(literal, expression or None), ...]"""
    found, at, literal = [], 0, ""
    for match in _PIECE.finditer(text):
        literal += text[at : match.start()]
        at = match.end()
        if match[0] in ("{{", "}}"):
            literal += match[0][0]
        elif match[1] is None:
            raise FormulaError(
                f'has a "{match[0]}" without its other half in "{short(text)}"; write {match[0] * 2} for the sign itself'
            )
        else:
            found.append((literal, match[1]))
            literal = ""
    return [*found, (literal + text[at:], None)]


_remembered = lru_cache(maxsize=1000)(_split)


def filled(text, names, *, formula=False):
    """What a text is with these names -> numbers: a number (or a list) where it is one "{...}" alone, else a text. In a formula
    negative numbers get parentheses.

    >>> filled("link{i + 1}", {"i": 2}), filled("{0.5 * i}", {"i": 3}), filled("{i} cm", {"i": 3}), filled("{{i}}", {})
    ('link3', 1.5, '3 cm', '{i}')
    """
    if "{" not in text and "}" not in text:
        return text
    pieces = _remembered(text) if len(text) <= SHORT else _split(text)
    if len(pieces) == 2 and pieces[0][0] == pieces[1][0] == "" and not formula:
        return number(pieces[0][1], names)
    written = []
    for literal, expression in pieces:
        written.append(literal)
        if expression is not None:
            value = number(expression, names)
            negative = formula and not isinstance(value, list) and value < 0
            written.append(f"({value!r})" if negative else repr(value))
    return "".join(written)
