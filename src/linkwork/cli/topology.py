"""Which body hangs on which: the forest of a world as a picture of text; what closes loops stands beside the bodies."""

from collections import deque
from dataclasses import dataclass, field
from itertools import permutations

from linkwork.cli.options import escape
from linkwork.elements import Ground
from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core.element import Body
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.registry import kind_type

SHOWN = 3  # of a row of more links of one kind than this, only the ends are drawn


@dataclass
class Branch:
    """A body, the constraints to its parent, to the ground and to bodies elsewhere, and the bodies that hang on it."""

    body: Body
    joints: list = field(default_factory=list)  # constraints to the parent body
    grounded: list = field(default_factory=list)  # constraints to the ground
    closing: list = field(default_factory=list)  # (constraint, the other body), which close loops, and gears
    children: list = field(default_factory=list)  # of Branch

    @property
    def kind(self):
        """Branches of one kind look alike."""
        return type(self.body), tuple(type(j) for j in self.joints), bool(self.grounded or self.closing)


def forest(world, bare=False):
    """A Branch for each tree of bodies: from its first body on the ground, else from its first body. If `bare`, rotors and
    gears, which act on joints, are not looked at. Nothing hangs on a gear."""
    on_ground: dict = {}  # body -> constraints
    between: dict = {}  # body -> {other body: constraints}
    for constraint in _looked_at(world, bare):
        bodies = moving(constraint)
        if len(bodies) > 1:
            for body, other in permutations(bodies, 2):
                between.setdefault(body, {}).setdefault(other, []).append(constraint)
        elif bodies:
            on_ground.setdefault(bodies[0], []).append(constraint)
    found, seen = [], set()
    for body in sorted(world.bodies, key=lambda b: b not in on_ground):  # stable: those on the ground come first
        if body not in seen:
            seen.add(body)
            found.append(_grow(Branch(body, [], on_ground.get(body, [])), on_ground, between, seen))
    if not bare:
        _add_gears(world, found)
    return found


def _add_gears(world, found):
    """Each stands beside the body that its first joint carries, and names the other's."""
    gears: dict = {}  # body -> [(gear, the other body)]
    for gear in world.constraints:
        if kind_type(gear).couples_joints:
            joints = [joint for _, _, joint in gear.references()]
            first, second = (joint.a if isinstance(joint.b, Ground) else joint.b for joint in joints)
            gears.setdefault(first, []).append((gear, second))
    todo = list(found) if gears else []
    while todo:
        branch = todo.pop()
        branch.closing += gears.get(branch.body, [])
        todo += branch.children


def joint_tree(world):
    """(parents, freedoms) in joint coordinates, parents first, rotors and gears left aside; None where a body is not rigid,
    or hangs on more than one joint or on something else, or a loop is closed."""
    parents: list[int] = []
    freedoms: list[int] = []
    todo = [(branch, -1) for branch in reversed(forest(world, bare=True))]
    while todo:
        branch, parent = todo.pop()
        held = branch.joints + branch.grounded
        if not is_rigid(branch.body) or len(held) > 1 or not all(isinstance(j, Joint) for j in held):
            return None
        parents.append(parent)
        freedoms.append(6 - held[0].rows if held else 6)
        todo += [(child, len(parents) - 1) for child in reversed(branch.children)]
    within = sum(len(moving(c)) > 1 for c in _looked_at(world, True))
    return (parents, freedoms) if within == sum(p >= 0 for p in parents) else None


def _looked_at(world, bare):
    kinds = [(constraint, kind_type(constraint)) for constraint in world.constraints]
    return [constraint for constraint, kind in kinds if not (kind.couples_joints or (bare and kind.is_rotor))]


def _grow(root, on_ground, between, seen):
    todo, drawn = [root], set()
    while todo:  # no recursion: chains are long
        branch = todo.pop()
        for other, joints in between.get(branch.body, {}).items():
            if other not in seen:
                seen.add(other)
                branch.children.append(Branch(other, joints, on_ground.get(other, [])))
                drawn.update(joints)
            elif drawn.isdisjoint(joints):
                branch.closing += [(joint, other) for joint in joints]
                drawn.update(joints)
        todo.extend(branch.children)
    return root


def moving(constraint):
    """The bodies, other than the ground, that a constraint speaks of."""
    items = [item for _, _, item in constraint.references()]
    ends = [body for item in items for body in ((item.a, item.b) if isinstance(item, Joint) else (item,))]
    return [body for body in dict.fromkeys(ends) if isinstance(body, Body) and not isinstance(body, Ground)]


def draw(world, lines=60):
    """The forest as a rich Tree of about so many lines: the bodies nearest to the ground."""
    from rich.tree import Tree

    picture, left = Tree("[bold]ground[/]"), lines
    todo = deque((picture, branch) for branch in forest(world))
    while todo and left > 0:
        parent, branch = todo.popleft()
        parent = parent.add(_label(branch))
        left -= 1
        row = _row(branch)
        if len(row) > SHOWN:
            parent = parent.add(f"[dim]… {len(row) - 1} more in a row, each on the one before[/]")
            parent = parent.add(_label(row[-1]))
            branch, left = row[-1], left - 2
        todo.extend((parent, child) for child in branch.children)
    if todo:
        picture.add(f"[dim]… and {sum(_size(branch) for _, branch in todo)} more further out[/]")
    return picture


def _row(branch):
    """The single children that follow, each the only one of the one before and of one kind."""
    row: list[Branch] = []
    while len(branch.children) == 1 and (not row or branch.children[0].kind == row[0].kind):
        branch = branch.children[0]
        row.append(branch)
    return row


def _size(branch):
    count, todo = 0, [branch]
    while todo:
        branch = todo.pop()
        count += 1
        todo.extend(branch.children)
    return count


def _said(constraint):
    """Its kind and name; of one on a joint, which stands beside it, the kind alone."""
    kind = type(constraint).__name__
    return kind if kind_type(constraint).is_rotor else f"{kind} {escape(constraint.name)}"


def _label(branch):
    body = branch.body
    text = f"[bold]{escape(body.name)}[/] [dim]{body.kind}, {body.mass:.3g} kg[/]"
    for joints, where in ((branch.joints, ""), (branch.grounded, " to the ground")):
        if joints:
            text += "  " + ", ".join(_said(j) for j in joints) + where
    if branch.closing:
        text += "  and " + ", ".join(f"{_said(j)} to {escape(other.name)}" for j, other in branch.closing)
    return text if branch.joints or branch.grounded or branch.closing else text + "  free"
