"""Geoms of MJCF: what is seen, what touches, and which of them touch each other."""

from collections import Counter
from itertools import combinations, combinations_with_replacement, islice, product

import mujoco
import numpy as np

from linkwork.elements import (
    Box,
    Capsule,
    Collider,
    Contact,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    NoContact,
    Plane,
    Sphere,
)
from linkwork.elements.core.element import Body
from linkwork.elements.core.visual import Visual
from linkwork.errors import ElementError
from linkwork.formats.mjcf import softness

HIDDEN = 3  # groups of geoms from here on are not shown, as in MuJoCo's viewer
MOST_APART = 10_000  # pairs of bodies of two kinds of masks that are kept apart one by one
THIN = 1e-10  # relative: triangles of meshes that are left out of pictures
KIND = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")): name
        for name in ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")}  # fmt: skip


def add(draft):
    """Visuals and colliders of all geoms, and the contacts between them."""
    model = draft.model
    touching = _touching(draft) if draft.choices["contact"] != "none" else {}
    classes = _classes(model, touching)
    for g in range(model.ngeom):
        if model.geom_group[g] < HIDDEN and _colour(model, g)[3] > 0.0:
            _visual(draft, g)
        if g in touching:
            _collider(draft, g, touching, classes)
    if touching:
        _contacts(draft, touching, classes)
    softness.tell(draft, touching)


def _mask(model, g):
    return int(model.geom_contype[g]), int(model.geom_conaffinity[g])


def _meets(one, other):
    """Whether geoms of these masks touch in MuJoCo."""
    return bool(one[0] & other[1] or other[0] & one[1])


def _touching(draft):
    """Geoms that can touch another one, of another body that is not its neighbour: number -> body."""
    model = draft.model
    if draft.disabled("CONTACT") or draft.disabled("CONSTRAINT"):
        return {}
    listed = _in_pairs(model)
    by_mask: dict[tuple, set] = {}
    for g in range(model.ngeom):
        by_mask.setdefault(_mask(model, g), set()).add(int(model.body_weldid[model.geom_bodyid[g]]))
    found = {}
    for g in range(model.ngeom):
        own, mask = int(model.body_weldid[model.geom_bodyid[g]]), _mask(model, g)
        others = {b for other, bodies in by_mask.items() if _meets(mask, other) for b in bodies} - {own}
        if others or g in listed:
            found[g] = draft.bodies[own]
    return found


def _in_pairs(model):
    return {int(g) for ends in (model.pair_geom1, model.pair_geom2) for g in ends}


def _classes(model, touching):
    """Geom -> its mask, and the group in which none touches another: masks that meet neither themselves nor each other share
    one. Geoms of the file's own pairs have none."""
    groups: dict[tuple, str | None] = {}
    listed = _in_pairs(model)
    for mask in sorted({_mask(model, g) for g in touching}):
        if _meets(mask, mask):
            groups[mask] = None
            continue
        fitting = (name for name in dict.fromkeys(groups.values()) if name is not None
                   and not any(_meets(mask, other) for other, its in groups.items() if its == name))  # fmt: skip
        groups[mask] = next(fitting, f"contype {mask[0]} conaffinity {mask[1]}")
    return {g: (_mask(model, g), None if g in listed else groups[_mask(model, g)]) for g in touching}


def _frame(draft, g):
    """Position and orientation of a geom in the frame of its body here."""
    model, data = draft.model, draft.data
    root = int(model.body_weldid[model.geom_bodyid[g]])
    R = data.xmat[root].reshape(3, 3)
    mujoco.mju_mat2Quat(turn := np.empty(4), np.ascontiguousarray(R.T @ data.geom_xmat[g].reshape(3, 3)).ravel())
    return R.T @ (data.geom_xpos[g] - data.xpos[root]), turn


def _colour(model, g):
    """Red, green, blue, opacity: of its material, unless the geom has its own."""
    own, material = np.clip(model.geom_rgba[g], 0.0, 1.0), int(model.geom_matid[g])
    plain = np.allclose(own, (0.5, 0.5, 0.5, 1.0))
    return np.clip(model.mat_rgba[material], 0.0, 1.0) if material >= 0 and plain else own


def _visual(draft, g):
    position, orientation = _frame(draft, g)
    try:
        shape = _shape(draft, g, hull=False)
    except ElementError as error:
        draft.remark("geom", g, f"it is not shown ({error})")
        return
    if shape is not None:
        body = draft.bodies[int(draft.model.geom_bodyid[g])]
        name = draft.free_name(f"{draft.label('geom', g)} visual", "visual")
        colour = tuple(map(float, _colour(draft.model, g)))
        draft.add("geom", g, Visual, body, shape, position, orientation, colour, name=name)


def _collider(draft, g, touching, classes):
    model = draft.model
    position, orientation = _frame(draft, g)
    try:
        shape = _shape(draft, g, hull=True)
    except ElementError as error:
        draft.remark("geom", g, f"it touches nothing ({error})")
        del touching[g]
        return
    if isinstance(shape, ConvexHull):
        mujoco.mju_rotVecQuat(centre := np.empty(3), np.ascontiguousarray(shape.centre), orientation)
        position = position + centre
    if shape is None:
        draft.remark("geom", g, "it touches nothing: there is no such shape here")
        del touching[g]
        return
    most = max(int(model.geom_condim[other]) for other in touching)
    friction, torsion, rolling = map(float, model.geom_friction[g])
    own = {"friction": friction, "torsion": torsion * (most >= 4), "rolling": rolling * (most >= 6),
           "priority": int(model.geom_priority[g]), "dimensions": int(model.geom_condim[g]),
           "group": classes[g][1], "name": draft.name("geom", g, "collider")}  # fmt: skip
    draft.colliders[g] = draft.add("geom", g, Collider, touching[g], shape, position, orientation, **own)


def _shape(draft, g, hull):
    """The shape of a geom; meshes as their hulls, or as they are. None where there is none."""
    model, kind = draft.model, KIND.get(int(draft.model.geom_type[g]))
    x, y, z = (float(s) for s in model.geom_size[g])
    if kind == "mesh":
        return _mesh(model, int(model.geom_dataid[g]), hull)
    if kind == "hfield":
        return _heights(model, int(model.geom_dataid[g]))
    make = {"plane": lambda: Plane(), "sphere": lambda: Sphere(x), "capsule": lambda: Capsule(x, 2 * y),
            "ellipsoid": lambda: Ellipsoid(2 * x, 2 * y, 2 * z), "cylinder": lambda: Cylinder(x, 2 * y),
            "box": lambda: Box(2 * x, 2 * y, 2 * z)}  # fmt: skip
    return make[kind]() if kind in make else None


def _mesh(model, number, hull):
    first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
    vertices = np.array(model.mesh_vert[first : first + count], dtype=float)
    if hull:
        return ConvexHull(vertices)
    start, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
    triangles = np.array(model.mesh_face[start : start + faces], dtype=np.int64)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum(np.linalg.norm(b - a, axis=1), np.linalg.norm(c - a, axis=1))
    return Mesh(vertices, triangles[area > THIN * longest**2])


def _heights(model, number):
    """MuJoCo's rows are along y and its columns along x; heights are shares of the largest."""
    rows, columns, first = (int(x[number]) for x in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
    data = np.array(model.hfield_data[first : first + rows * columns], dtype=float).reshape(rows, columns)
    half_x, half_y, top, _ = (float(s) for s in model.hfield_size[number])
    return HeightField(top * data.T, np.array((2 * half_x, 2 * half_y)))


# -- which pairs -------------------------------------------------------------------------------------------------------


def _contacts(draft, touching, classes):
    """One Contact for all, what MuJoCo leaves out as NoContacts, and the pairs of the file."""
    model, world = draft.model, draft.world
    of_body: dict[Body, set] = {}
    for g, body in touching.items():
        of_body.setdefault(body, set()).add(classes[g])
    pairs = [(p, int(model.pair_geom1[p]), int(model.pair_geom2[p])) for p in range(model.npair)]
    pairs = [(p, g, h) for p, g, h in pairs if g in touching and h in touching and touching[g] is not touching[h]]
    listed = {frozenset((touching[g], touching[h])) for _, g, h in pairs}
    if _anything_meets(of_body):
        world.add(Contact(combine="larger", name=draft.free_name("contact", "of all")))
        apart = {*_neighbours(draft, of_body), *_excluded(draft), *_masked(draft, of_body, touching)} - listed
        _moved_by_hand(draft, of_body)
        number = {body: k for k, body in enumerate((world.ground, *world.bodies))}
        for first, second in sorted(sorted(number[body] for body in pair) for pair in apart if len(pair) == 2):
            a, b = (world.ground, *world.bodies)[first], world.bodies[second - 1]
            world.add(NoContact(a, b, name=draft.free_name(f"{a.name} and {b.name} apart", "contact")))
        _fixed_parts(draft, touching)
    for p, g, h in pairs:
        friction, _, torsion, rolling, _ = (float(mu) for mu in model.pair_friction[p])
        least = {"friction": (friction, 3), "torsion": (torsion, 4), "rolling": (rolling, 6)}
        given = {word: mu if model.pair_dim[p] >= needed else 0.0 for word, (mu, needed) in least.items()}
        name = draft.free_name(f"{touching[g].name} on {touching[h].name}", "pair")
        draft.add("pair", p, Contact, touching[g], touching[h], name=name, **given)
        if any(sum(body is touching[x] for body in touching.values()) > 1 for x in (g, h)):
            draft.remark("pair", p, "all geoms of its two bodies touch each other")
    _differences(draft, touching)


def _anything_meets(of_body):
    count = Counter(frozenset(classes) for classes in of_body.values())
    return any(any(_ways(one, other, _meets)) for one, other in combinations_with_replacement(count, 2)
               if one != other or count[one] > 1)  # fmt: skip


def _ways(of_a, of_b, question):
    """Answers for each pair of classes of two bodies."""
    return [question(one[0], other[0]) for one in of_a for other in of_b]


def _neighbours(draft, of_body):
    """Bodies and their parents, which never touch in MuJoCo; those that one joint connects do not here, either."""
    model, found = draft.model, set()
    for b in range(1, model.nbody) if not draft.disabled("FILTERPARENT") else ():
        pair = draft.bodies[int(model.body_parentid[b])], draft.bodies[b]
        if model.body_jntnum[b] > 1 and pair[0] is not draft.world.ground and all(body in of_body for body in pair):
            found.add(frozenset(pair))
    return found


def _moved_by_hand(draft, of_body):
    """Nothing that touches could move mocap bodies, nor the ground: these do not touch each other."""
    moved = [draft.bodies[b] for b in range(1, draft.model.nbody) if draft.model.body_mocapid[b] >= 0]
    still = [body for body in (draft.world.ground, *moved) if body in of_body]
    if moved and len(still) > 1:
        draft.world.add(NoContact(*still, name=draft.free_name("mocap bodies and ground apart", "contact")))


def _fixed_parts(draft, touching):
    """Bodies on several joints, and the fixed part of the robot that these are on: neighbours, as where one joint connects
    them. The ground is all that is fixed here, floors too, so that the geoms are kept apart one by one."""
    model, world = draft.model, draft.world
    if draft.disabled("FILTERPARENT"):
        return
    top = list(range(model.nbody))  # the body on the world that each one belongs to
    for b in range(1, model.nbody):
        top[b] = top[int(model.body_parentid[b])] if model.body_parentid[b] else b
    moving: dict[Body, list[int]] = {}
    fixed: dict[int, list[int]] = {}  # geoms of what is fixed, by its top
    for g, body in touching.items():
        if body is not world.ground:
            moving.setdefault(body, []).append(g)
        elif model.geom_bodyid[g]:
            fixed.setdefault(top[int(model.geom_bodyid[g])], []).append(g)
    parents = [int(parent) for parent in model.body_parentid]
    near = [b for b in range(1, model.nbody) if model.body_jntnum[b] > 1 and parents[b] and not model.body_weldid[parents[b]]]
    pairs = (pair for b in near for pair in product(fixed.get(top[b], ()), moving.get(draft.bodies[b], ()))
             if _meets(*(_mask(model, g) for g in pair)))  # fmt: skip
    found = list(islice(pairs, MOST_APART + 1))
    if len(found) > MOST_APART:
        draft.remark_all("geom", [h for _, h in found[:1]], f"it touches what is fixed and carries it, as over {MOST_APART} "
                         "pairs of geoms do: too many to be kept apart")  # fmt: skip
        return
    for g, h in found:
        one, other = draft.colliders[g], draft.colliders[h]
        world.add(NoContact(one, other, name=draft.free_name(f"{one.name} and {other.name} apart", "contact")))
    if found:
        ones = dict.fromkeys(h for _, h in found)
        draft.remark_all("geom", ones, "in MuJoCo a body touches what is fixed to the world and carries it; here it does not")


def _excluded(draft):
    """The file's own exclusions."""
    pairs = [(int(signature) >> 16, int(signature) & 0xFFFF) for signature in draft.model.exclude_signature]
    return {frozenset((draft.bodies[a], draft.bodies[b])) for a, b in pairs}


def _masked(draft, of_body, touching):
    """Bodies of which no geoms meet, and that their groups do not keep apart: few bodies differ in their classes."""
    alike: dict[frozenset, list] = {}
    for body, classes in of_body.items():
        alike.setdefault(frozenset(classes), []).append(body)
    found: set[frozenset] = set()
    mixed = None
    for (of_a, first), (of_b, second) in combinations_with_replacement(alike.items(), 2):
        meet = _ways(of_a, of_b, _meets)
        apart = [one[1] is not None and one[1] == other[1] for one in of_a for other in of_b]
        wrong = any(not meets and not kept for meets, kept in zip(meet, apart, strict=True))
        pairs = combinations(first, 2) if of_a == of_b else product(first, second)
        if wrong and not any(meet) and len(first) * len(second) <= MOST_APART:
            found.update(map(frozenset, pairs))
        elif wrong:
            mixed = mixed or next(pairs, None)
    if mixed is not None:
        g = next(g for g, body in touching.items() if body is mixed[0])
        draft.remark("geom", g, f'its contype and conaffinity keep geoms of "{mixed[0].name}" and "{mixed[1].name}" apart '
                     "that touch here")  # fmt: skip
    return found


def _differences(draft, touching):
    """What MuJoCo does in another way, told once each."""
    model, geoms = draft.model, sorted(touching)
    for name, flag in (("adhesion", model.flg_adhesion), ("surface velocity", model.flg_surfacevel)):
        if flag:
            draft.reading.remark(None, f"<geom> with {name}", "it is left out of contacts")
    wide = [g for g in geoms if model.geom_margin[g] or model.geom_gap[g]]
    if wide:
        draft.remark_all("geom", wide, "margin and gap are left out: they touch where they are")
    joined = [j for j, joint in draft.joints.items() if {joint.a, joint.b} <= set(touching.values())]
    if draft.disabled("FILTERPARENT") and joined:
        draft.remark_all("joint", joined, "bodies that a joint connects never touch here; the file switches filterparent off")
    held = {joint.b for joint in draft.joints.values() if joint.a is draft.world.ground}
    if any(body is draft.world.ground for body in touching.values()):
        never = [g for g, body in touching.items() if body in held]
        if never:
            draft.remark_all("geom", never, "joined to the ground by a single joint, they never touch it")
