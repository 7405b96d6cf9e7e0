"""Numbers in the attributes of elements: finite, as many as there should be, and none that would overflow."""

import math

import numpy as np

LARGEST = 1e30  # of any number in a model: squares and products of them stay far from overflow


def vector(reading, node, name, count, default=None):
    """So many numbers in an attribute, as a tuple; without a default it must be there. Of more than so many vectors take the
    first, which is told: so do other readers of URDF.

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
    if len(words) < count:
        reading.fail(node.line, f'<{node.tag}> has {name}="{shown(text)}"', f"give {name}={_example(count)}")
    if len(words) > count:
        if count == 1:
            reading.fail(node.line, f'<{node.tag}> has {name}="{shown(text)}"', f"give {name}={_example(count)}")
        reading.remark(node.line, f'{name}="{shown(text)}" in <{node.tag}>', f"the first {count} of its numbers are taken")
    return tuple(_number(reading, node, name, word) for word in words[:count])


def number(reading, node, name, default=None):
    """The number in an attribute; without a default it must be there."""
    return vector(reading, node, name, 1, None if default is None else (default,))[0]


def aside(reading, node, name, default, why, infinite=False):
    """The number in an attribute that nothing depends on but what `why` says; where it is none, that is told and it is
    `default`. `infinite`: whether it may be so."""
    text = node.attributes.get(name)
    if text is None and default is not None:
        return default
    found = _tried(text or "")
    if found is None or not (abs(found) <= LARGEST or (infinite and math.isinf(found))):
        reading.remark(node.line, f'{name}="{shown(text or "")}" in <{node.tag}>', f"it is no finite number: {why}")
        return default
    return found


def text_number(reading, node, default, why):
    """The number between the tags of an element; where there is none, that is told and it is `default`."""
    found = _tried(node.text.strip())
    if found is None or not abs(found) <= LARGEST:
        reading.remark(node.line, f"<{node.tag}> {shown(node.text)}", f"it is no finite number: {why}")
        return default
    return found


def _tried(word):
    """A number, which may be infinite or NaN; None where it is none."""
    try:
        return float(word) if "_" not in word else math.nan
    except ValueError:
        return None


def shown(text):
    """A text as it stands in a sentence: on one line, not too long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= 60 else plain[:57] + "..."


def _number(reading, node, name, word):
    place = f'<{node.tag}> has {name}="{shown(word)}"' if name else f'<{node.tag}> has "{shown(word)}"'
    found = _tried(word)
    if found is None:
        reading.fail(node.line, place, "give a number")
    if not abs(found) <= LARGEST:  # also where it is NaN
        reading.fail(node.line, place, f"give a finite number of at most {LARGEST:g}")
    return found


def _example(count):
    return '"' + " ".join(["0"] * (count - 1) + ["1"]) + '"'


def rotation_of(rpy):
    """Roll, pitch and yaw about the fixed axes x, y, z (rad)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
