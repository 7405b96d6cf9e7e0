"""MJCF before MuJoCo's compiler sees it: includes put in, files read and kept inside the model's folder, what is not used left
out, sizes bounded. What comes out is one document with one tag on a line, so that each line knows where it comes from."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from linkwork.errors import FileError
from linkwork.formats import xml
from linkwork.formats.paths import remedy
from linkwork.formats.source import MOST_ELEMENTS, decode, read

MOST_MADE = 20_000  # elements, replicas counted: the compiler takes the square of their number, some 10 s for so many
MOST_ASSET_BYTES = 256 * 2**20  # of all meshes and height fields together
MOST_CELLS = 4_000_000  # of a height field
MOST_KEYS, MOST_USER = 10_000, 1_000  # keyframes, and numbers of a user on an element
MOST_PARAMETER = 64  # of meshes that MuJoCo makes itself: how fine they are
LARGEST = 1e20  # numbers beyond it leave the finite ones when they are multiplied

UNUSED = {
    "light": "lights are not used",
    "texture": "textures are not shown; what they lie on has its material's colour",
    "skin": "skins are not shown; the bodies' own shapes are",
    "custom": "numbers, texts and tuples of the user are not used",
    "visual": "settings of MuJoCo's viewer are not used",
    "statistic": "settings of MuJoCo's viewer are not used",
    "extension": "plugins are programs, and none is run",
    "plugin": "a sensor that is a plugin is a program, and none is run",
}
REFUSED = {
    "plugin": "plugins are programs",
    "flexcomp": "deformable bodies are not simulated",
    "flex": "deformable bodies are not simulated",
}
PNG = b"\x89PNG"
FOLDERS = ("meshdir", "assetdir", "texturedir", "strippath")  # of <compiler>: files are found before it
OWN_SIZES = ("memory", "njmax", "nconmax", "nstack", "nuserdata")  # of <size>: of MuJoCo's simulation alone
WORDS = {"name", "class", "childclass", "prefix", "file", "model", "comment"}  # attributes that are never numbers


class Place(NamedTuple):
    """Where something stands."""

    file: Path
    line: int | None  # None: nowhere in particular


@dataclass
class Source:
    """A document for the compiler."""

    lines: list = field(default_factory=list)
    places: list = field(default_factory=list)  # of Place: where each line comes from
    assets: dict = field(default_factory=dict)  # name -> bytes, of meshes and height fields
    models: dict = field(default_factory=dict)  # name -> bytes, of models that are attached
    names: dict = field(default_factory=dict)  # name -> what the file calls it
    options: dict = field(default_factory=dict)  # what <option> says: attribute -> Place

    @property
    def text(self):
        """The whole document."""
        return "\n".join(self.lines)

    def place(self, line):
        """Where a line of the document comes from; None if there is no such line."""
        return self.places[line - 1] if 1 <= line <= len(self.places) else None


def source(reading):
    """The Source of an MJCF file."""
    return _Reader(reading, Path(reading.path)).whole()


class _Reader:
    """Of one model; `within`: that of the model which it is attached to, of whose bounds it takes a part."""

    def __init__(self, reading, top, within=None):
        self.reading, self.top, self.within = reading, top, within
        self.folder = within.folder if within else reading.root or self.top.resolve().parent
        self.met, self.count, self.made, self.bytes = set(), 0, 0, 0
        self.files = {}  # path -> name of the asset
        self.models = {}  # path of a model that is attached -> (name of the asset, elements that each attachment makes)
        self.called = {}  # name of such a model -> its path
        self.found = Source()
        self.unused = {}  # tag -> [Place of the first, how many]
        if within:
            self.count, self.bytes, self.files, self.models = within.count, within.bytes, within.files, within.models
            self.unused = within.unused

    def whole(self):
        root = self._parsed(self.top)
        children = self._included(root, self.top, (self.top.resolve(),), 1)
        self._take_models(children)
        self.folders = _folders(children)
        self._make(children, 1)
        self._write("mujoco", self._plain(root, self.top), children, self.top, root.line)
        if self.within:
            return self.found
        for tag, (place, count) in sorted(self.unused.items(), key=lambda item: (str(item[1][0].file), item[1][0].line)):
            times = f" ({count} of them)" if count > 1 else ""
            self.reading.remark(place.line, f"<{tag}>{times}", UNUSED[tag], file=place.file)
        return self.found

    def fail(self, node, file, problem, remedy):
        self.reading.fail(node.line, f"<{node.tag}>: {problem}", remedy, file=file)

    # -- includes ------------------------------------------------------------------------------------------------------
    def _parsed(self, path):
        root = xml.parse(decode(path, read(path)), path)
        self.met.add(path.resolve())
        return root

    def _included(self, node, file, chain, depth):
        """The children of an element with includes replaced by what they hold: (node, file, children) each."""
        found = []
        for child in node.children:
            self.count += 1
            if self.count > MOST_ELEMENTS:
                self.fail(child, file, f"there are more than {MOST_ELEMENTS} elements", "split the model")
            if depth >= xml.MOST_DEPTH:
                self.fail(child, file, f"elements nest more than {xml.MOST_DEPTH} deep", "flatten the model")
            if child.tag.lower() == "include":
                path = self._include(child, file, chain)
                found += self._included(self._parsed(path), path, (*chain, path.resolve()), depth)
            else:
                found.append((child, file, self._included(child, file, chain, depth + 1)))
        return found

    def _include(self, node, file, chain):
        name = node.attributes.get("file")
        if not name or node.children:
            self.fail(node, file, "it names no file" if not name else "it has children", 'write <include file="..."/>')
        path = self._found(node, file, name)
        if path.resolve() in chain:
            self.fail(node, file, f'"{name}" includes itself', "take one include of the circle out")
        if path.resolve() in self.met:
            self.fail(node, file, f'"{name}" is included twice', "include each file once")
        return path

    def _found(self, node, file, name, folder=""):
        """The file of that name, beside the model or beside the file that names it: in the folder that may be read, wherever
        links in the path lead. Others are never opened."""
        outside = None
        for start in (self.top.parent, file.parent):
            path = start / folder / name
            try:
                real = path.resolve()
                inside = real.is_relative_to(self.folder)
                if inside and path.is_file():
                    return path
            except (OSError, ValueError, RuntimeError):  # too long a name, a circle of links
                self.fail(node, file, f'"{name[:80]}" is no path', "give the path of a file")
            outside = outside or (None if inside else real)
        if outside:
            self.fail(node, file, f'"{name}" lies outside of the folder {self.folder}', remedy(self.folder, outside))
        self.fail(node, file, f'there is no file "{name}"', "put it there, or mend the name")

    # -- models within models ------------------------------------------------------------------------------------------
    def _take_models(self, children):
        """Read the models that others are attached from. Each becomes a document of its own, whose lines have numbers of their
        own: they stand before those of this one."""
        for node, _, below in children:
            if node.tag.lower() == "asset":
                for asset, its_file, _ in below:
                    if asset.tag.lower() == "model":
                        self._take_model(asset, its_file)

    def _take_model(self, node, file):
        given = node.attributes.get("file")
        if not given:
            self.fail(node, file, "it names no file", 'write <model name="..." file="..."/>')
        path = self._found(node, file, given)
        whole = path.resolve()
        above, reader = {self.top.resolve()}, self
        while reader.within:
            reader = reader.within
            above.add(reader.top.resolve())
        if whole in above:
            self.fail(node, file, f'"{given}" is attached to itself', "take one model of the circle out")
        root = self._parsed(path) if whole not in self.models else None
        self.called[node.attributes.get("name", root.attributes.get("model", "") if root else "")] = whole
        if root is None:
            return
        within = _Reader(self.reading, path, self)
        for name in ("assets", "names", "models"):
            setattr(within.found, name, getattr(self.found, name))
        before = len(self.found.lines)
        document = within.whole()
        self.count, self.bytes = within.count, within.bytes
        asset = f"model{len(self.models)}.xml"
        self.models[whole] = asset, within.made
        self.found.models[asset] = ("\n" * before + document.text).encode()
        self.found.names[asset] = given
        self.found.lines += [""] * len(document.lines)
        self.found.places += document.places

    # -- bounds --------------------------------------------------------------------------------------------------------
    def _make(self, children, times):
        """Count the elements that there will be once replicate and composite have made theirs."""
        for node, file, below in children:
            counts = node.attributes.get("count", "1").split() if node.tag in ("replicate", "composite") else []
            again = times * math.prod(max(1, self._whole_number(node, file, "count", word)) for word in counts)
            self.made += again * (1 + self._attached(node, file))
            if self.made > MOST_MADE:
                self.fail(node, file, f"there are more than {MOST_MADE} elements, with all replicas", "make a smaller model")
            if node.tag.lower() not in UNUSED:
                self._make(below, again)

    def _attached(self, node, file):
        """How many elements an attachment makes."""
        if node.tag.lower() != "attach":
            return 0
        name = node.attributes.get("model", "")
        if name not in self.called:
            self.fail(node, file, f'no model is called "{name}"', 'name one of <asset>: <model name="..." file="..."/>')
        return self.models[self.called[name]][1]

    def _whole_number(self, node, file, name, value):
        if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value):
            self.fail(node, file, f'{name} is "{value[:40]}"', "give a whole number")
        return int(value)

    # -- the document --------------------------------------------------------------------------------------------------
    def _write(self, tag, attributes, children, file, line):
        text = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
        self._line(f"<{tag}{text}>", file, line)
        for node, its_file, below in children:
            low = node.tag.lower()
            if low in REFUSED and not (tag.lower() == "sensor" and low == "plugin"):
                self.fail(node, its_file, REFUSED[low], "take it out")
            if low in UNUSED:
                place, count = self.unused.get(low, (Place(its_file, node.line), 0))
                self.unused[low] = place, count + (len(below) if low == "custom" else 1)
            elif low != "lengthrange":
                self._write(node.tag, self._attributes(node, its_file), below, its_file, node.line)
        if tag == "mujoco":  # ranges of lengths are for muscles; finding them is a simulation, for which memory is kept
            self._line('<compiler><lengthrange mode="none"/></compiler><size memory="256M"/>', file, line)
        self._line(f"</{tag}>", file, line)

    def _line(self, text, file, line):
        self.found.lines.append(text)
        self.found.places.append(Place(file, line))

    def _attributes(self, node, file):
        """What the compiler is to see of an element's attributes."""
        found = self._plain(node, file)
        tag = node.tag.lower()
        if tag == "compiler":
            found = {name: value for name, value in found.items() if name.lower() not in FOLDERS}
        if tag == "size":
            found = self._sizes(node, file, found)
        if tag == "option":
            self.found.options.update((name, Place(file, node.line)) for name in found)
        if tag in ("material", "layer"):
            found.pop("texture", None)
        if tag == "hfield":
            cells = [self._whole_number(node, file, name, found.get(name, "0")) for name in ("nrow", "ncol")]
            if not 0 <= math.prod(cells) <= MOST_CELLS or min(cells) < 0:
                self.fail(node, file, f"it has {cells[0]} by {cells[1]} heights", f"give at most {MOST_CELLS}")
        if tag == "mesh" and any(abs(x) > MOST_PARAMETER for x in _numbers(found.get("params", ""))):
            self.fail(node, file, f'params is "{found["params"][:40]}"', f"give numbers of at most {MOST_PARAMETER}")
        if tag == "model":
            found["file"] = self.models[self._found(node, file, found["file"]).resolve()][0]
        elif any(name.lower().startswith("file") for name in found):
            self._asset(node, file, found)
        return found

    def _plain(self, node, file):
        """Attributes, of which numbers are finite."""
        for name, value in node.attributes.items():
            if name.lower() in WORDS:
                continue
            for number in _numbers(value):
                if not abs(number) <= LARGEST:
                    self.fail(node, file, f"{name} is {number:g}", f"give finite numbers, of at most {LARGEST:g}")
        return {name: value for name, value in node.attributes.items() if name.lower() != "content_type"}

    def _sizes(self, node, file, attributes):
        found = {}
        for name, value in attributes.items():
            if name.startswith(("nuser_", "nkey")):
                most = MOST_KEYS if name == "nkey" else MOST_USER
                if self._whole_number(node, file, name, value) > most:
                    self.fail(node, file, f"{name} is {value}", f"give at most {most}")
            if name not in OWN_SIZES:
                found[name] = value
        return found

    def _asset(self, node, file, attributes):
        """Read the file that a mesh or a height field names, and name it by a number."""
        names = [name for name in attributes if name.lower().startswith("file")]
        if node.tag not in ("mesh", "hfield") or names != ["file"]:
            self.fail(node, file, f'it has the attribute "{names[0]}"', "take it out: it names a file that nothing would use")
        name = attributes["file"]
        if not name:
            self.fail(node, file, "its file has no name", "give one")
        if self.folders["strippath"]:
            name = re.split(r"[/\\]", name)[-1]
        path = self._found(node, file, name, self.folders["meshdir"])
        attributes.setdefault("name", Path(name).stem)
        attributes["file"] = self._kept(node, file, path, name)
        data = self.found.assets[attributes["file"]]
        if data.startswith(PNG):
            rows, columns = (int.from_bytes(data[k : k + 4]) for k in (20, 16))
            if rows * columns > MOST_CELLS:
                self.fail(node, file, f'"{name}" has {rows} by {columns} pixels', f"give at most {MOST_CELLS}")

    def _kept(self, node, file, path, name):
        whole = path.resolve()
        if whole not in self.files:
            try:
                data = read(path, MOST_ASSET_BYTES - self.bytes)
            except FileError as error:
                self.fail(node, file, f'"{name}" cannot be taken ({error})', "give another file")
            self.bytes += len(data)
            self.files[whole] = f"{len(self.files)}{path.suffix.lower()}"
            self.found.assets[self.files[whole]] = data
            self.found.names[self.files[whole]] = name
        return self.files[whole]


def _folders(children):
    """Where assets are, by all <compiler> elements: the last one that says so."""
    found = {"meshdir": None, "assetdir": "", "strippath": False}
    for node, _, _ in children:
        if node.tag.lower() == "compiler":
            for name in ("meshdir", "assetdir"):
                found[name] = node.attributes.get(name, found[name])
            found["strippath"] = node.attributes.get("strippath", str(found["strippath"])).lower() == "true"
    return {"meshdir": found["assetdir"] if found["meshdir"] is None else found["meshdir"], "strippath": found["strippath"]}


def _numbers(value):
    """The numbers of an attribute; none if it holds anything else."""
    try:
        return [float(word) for word in value.split()]
    except ValueError:
        return []
