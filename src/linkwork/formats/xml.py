"""XML with line numbers, and without what makes it dangerous: no document type, no entities, bounded depth and size."""

from dataclasses import dataclass, field
from xml.parsers import expat

from linkwork.errors import FileError
from linkwork.formats.source import MOST_ELEMENTS

MOST_DEPTH = 200
PIECE = 4096  # characters in which the root element is looked for


@dataclass
class Node:
    """An element: its name, attributes, children in order, text, and where it stands."""

    tag: str
    attributes: dict
    line: int
    children: list = field(default_factory=list)
    text: str = ""

    def all(self, *tags):
        """Its children with one of these names, in order."""
        return [child for child in self.children if child.tag in tags]

    def first(self, tag):
        """Its first child of that name, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self):
        """Itself and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def parse(text, path):
    """The root Node of a document; what is wrong with it is a FileError with its line."""
    parser, count = expat.ParserCreate(), 0
    open_nodes: list[Node] = []
    texts: list[list[str]] = []  # what stands in the open nodes so far
    roots: list[Node] = []

    def fail(problem, remedy):
        raise FileError(f"{path}:{parser.CurrentLineNumber}: {problem}; {remedy}")

    def start(tag, attributes):
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            fail(f"more than {MOST_ELEMENTS} elements", "split the file")
        if len(open_nodes) >= MOST_DEPTH:
            fail(f"elements nest more than {MOST_DEPTH} deep", "flatten the file")
        node = Node(tag, attributes, parser.CurrentLineNumber)
        (open_nodes[-1].children if open_nodes else roots).append(node)
        open_nodes.append(node)
        texts.append([])

    def end(tag):
        open_nodes.pop().text = "".join(texts.pop())

    def characters(data):
        texts[-1].append(data)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = lambda *_: fail(
        "it declares a document type", "remove <!DOCTYPE ...>: entities are not read"
    )
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FileError(f"{path}:{error.lineno}: it is no XML ({reason}); mend that line") from None
    return roots[0]


def root_name(text, path):
    """The name of the root element; what comes after it is not looked at."""
    parser = expat.ParserCreate()

    def start(tag, _):
        raise _Found(tag)

    def doctype(*_):
        raise _Found(None)

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, doctype
    try:
        for begin in range(0, len(text), PIECE):
            parser.Parse(text[begin : begin + PIECE].encode())
    except _Found as found:
        (name,) = found.args
        if name is not None:
            return name
    except expat.ExpatError:
        pass
    return parse(text, path).tag  # which says what is wrong


class _Found(Exception):
    """The root element, or a document type."""
