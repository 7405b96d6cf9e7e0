"""What the surfaces of two geoms resist: condim, and friction against spinning and rolling, pair by pair as MuJoCo has them."""

from itertools import combinations, product

import numpy as np

from linkwork.elements import Contact
from linkwork.elements.core.element import Body

MOST_RULES = 500  # pairs of bodies that get a rule of their own
PLAIN = (None, 0.0, 0.0)  # friction of the colliders, and nothing against spinning and rolling


def _own(model, g):
    """What a geom says: priority, condim, friction against spinning and rolling."""
    return int(model.geom_priority[g]), int(model.geom_condim[g]), *(float(f) for f in model.geom_friction[g][1:])


def _mixed(one, other):
    """(friction, torsion, rolling) of a pair of geoms: what the one with the higher priority says, of equal ones the larger."""
    if one[0] != other[0]:
        one = other = max(one, other)
    _, condim, torsion, rolling = (max(pair) for pair in zip(one, other, strict=True))
    return None if condim > 1 else 0.0, torsion if condim > 3 else 0.0, rolling if condim > 4 else 0.0


def of_all(model, touching):
    """What all pairs have in common, for the Contact of all: colliders have no friction where none shall have any."""
    said = {_own(model, g) for g in touching}
    friction, torsion, rolling = _mixed(*said, *said) if len(said) == 1 else PLAIN
    return {word: value for word, value in (("torsion", torsion), ("rolling", rolling)) if value > 0.0}, len(said) > 1


def add_rules(draft, touching, meets, apart):
    """A Contact for each pair of bodies whose geoms resist something else than colliders say; these bodies have one with the
    ground, too, since a Contact speaks of its bodies and the ground. meets(g, h): whether two geoms touch."""
    world, of_body = draft.world, dict[Body, dict]()
    for g, body in touching.items():
        of_body.setdefault(body, {}).setdefault(_own(draft.model, g), []).append(g)
    moving = [body for body in world.bodies if body in of_body]
    found, blurred = {}, set[int]()
    for a, b in [*combinations(moving, 2), *((world.ground, body) for body in moving if world.ground in of_body)]:
        grounded = a is world.ground  # asked for anyway: rules of a body with others would speak of the ground
        if frozenset((a, b)) in apart or not (grounded or _speaks(of_body[a]) or _speaks(of_body[b])):
            continue
        values = {_mixed(one, other) for (one, its), (other, others) in product(of_body[a].items(), of_body[b].items())
                  if any(meets(g, h) for g, h in product(its, others))}  # fmt: skip
        if len(values) > 1:
            blurred.update(g for body in (a, b) for its in of_body[body].values() for g in its)
        if values:
            found[a, b] = max(values, key=lambda value: (value[0] is None, *value[1:]))
    told = [pair for pair, values in found.items() if pair[0] is not world.ground and values != PLAIN]
    if len(told) > MOST_RULES:
        spoken = [g for g, body in touching.items() if body is not world.ground and _speaks([_own(draft.model, g)])]
        draft.remark_all(
            "geom", spoken, f"their condim is left out between moving bodies: over {MOST_RULES} pairs of these have rules"
        )
        told = []
    named = {body for pair in told for body in pair}
    told += [pair for pair, values in found.items() if pair[0] is world.ground and (values != PLAIN or pair[1] in named)]
    for a, b in told:
        friction, torsion, rolling = found[a, b]
        bodies = (b,) if a is world.ground else (a, b)
        world.add(Contact(*bodies, friction=friction, torsion=torsion, rolling=rolling,
                          name=draft.free_name(f"{a.name} on {b.name}", "surface")))  # fmt: skip
    if blurred:
        draft.remark_all("geom", sorted(blurred), "geoms of one body differ in condim, or in friction against spinning and "
                         "rolling: its pairs have the largest")  # fmt: skip


def _speaks(said):
    """Whether any of these is not plain."""
    return any(_mixed(one, one) != PLAIN for one in said)


def of_pair(model, p):
    """What a pair of the file has: condim and five coefficients, two of a kind twice."""
    condim, mu = int(model.pair_dim[p]), np.array(model.pair_friction[p], dtype=float)
    return {"friction": float(mu[0]) if condim > 1 else 0.0, "torsion": float(mu[2]) if condim > 3 else 0.0,
            "rolling": float(mu[3]) if condim > 4 else 0.0}  # fmt: skip
