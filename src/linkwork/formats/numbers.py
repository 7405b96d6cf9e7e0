"""Numbers in the attributes of elements: finite, as many as there should be, and none that would overflow."""

import math

LARGEST = 1e30  # of any number in a model: squares and products of them stay far from overflow


def vector(reading, node, name, count, default=None):
    """So many numbers in an attribute, as a tuple; without a default it must be there.

    >>> from linkwork.formats.xml import Node
    >>> vector(None, Node("origin", {"xyz": "0 0 1.5"}, 1), "xyz", 3)
    (0.0, 0.0, 1.5)
    """
    text = node.attributes.get(name)
    if text is None:
        if default is not None:
            return default
        reading.fail(node.line, f'<{node.tag}> has no "{name}"', f"give {name}={_example(count)}")
    words = text.split()
    if len(words) != count:
        reading.fail(node.line, f'<{node.tag}> has {name}="{shown(text)}"', f"give {name}={_example(count)}")
    return tuple(_number(reading, node, name, word) for word in words)


def number(reading, node, name, default=None):
    """The number in an attribute; without a default it must be there."""
    return vector(reading, node, name, 1, None if default is None else (default,))[0]


def text_number(reading, node):
    """The number between the tags of an element."""
    return _number(reading, node, None, node.text.strip())


def shown(text):
    """A text as it stands in a sentence: on one line, not too long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= 60 else plain[:57] + "..."


def _number(reading, node, name, word):
    place = f'<{node.tag}> has {name}="{shown(word)}"' if name else f'<{node.tag}> has "{shown(word)}"'
    try:
        found = float(word) if "_" not in word else math.nan
    except ValueError:
        reading.fail(node.line, place, "give a number")
    if not abs(found) <= LARGEST:  # also where it is NaN
        reading.fail(node.line, place, f"give a finite number of at most {LARGEST:g}")
    return found


def _example(count):
    return '"' + " ".join(["0"] * (count - 1) + ["1"]) + '"'
