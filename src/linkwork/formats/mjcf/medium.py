"""The medium around the bodies of MJCF: viscous drag, and drag by its density, on boxes of the bodies' own inertia."""

import math

import numpy as np

from linkwork.elements import Force

SMALLEST = 1e-15  # kg, and kg m^2: below it MuJoCo has no drag on a body


def add(draft):
    """Forces on each body of the file that moves: with its own box, where it is fixed to others, too."""
    model = draft.model
    density, viscosity, wind = float(model.opt.density), float(model.opt.viscosity), np.array(model.opt.wind)
    if not density and not viscosity:
        return
    for b in range(1, model.nbody):
        if draft.bodies[b] is not draft.world.ground and model.body_mass[b] >= SMALLEST:
            geoms = range(model.body_geomadr[b], model.body_geomadr[b] + model.body_geomnum[b])
            if any(model.geom_fluid[g][0] for g in geoms):
                draft.remark("body", b, "the medium puts no forces on it: drag of ellipsoids (fluidshape) is left out")
            else:
                _drag(draft, b, density, viscosity, wind)


def _drag(draft, b, density, viscosity, wind):
    from linkwork.elements.core.functions import dot, where  # CasADi: not to be waited for where there is no medium

    model, data, body = draft.model, draft.data, draft.bodies[b]
    root = int(model.body_weldid[b])
    R = data.xmat[root].reshape(3, 3)
    at = R.T @ (data.xipos[b] - data.xpos[root])
    axes = (R.T @ data.ximat[b].reshape(3, 3)).T  # rows: of the box, in the body's frame
    box = _box(float(model.body_mass[b]), model.body_inertia[b])
    mean, name = sum(box) / 3, draft.label("body", b)

    def against(speed, viscous, dense):
        """A force along each axis of the box, by the speed along it."""
        return [-(viscous + dense_one * where(s > 0, s, -s)) * s for s, dense_one in zip(speed, dense, strict=True)]

    def sum_along(b, parts):
        return sum(b.direction(axis) * part for axis, part in zip(axes, parts, strict=True))

    def force(b, t):
        speed = [dot(b.direction(axis), b.point_velocity(at) - wind) for axis in axes]
        sides = [box[1] * box[2], box[2] * box[0], box[0] * box[1]]
        return sum_along(b, against(speed, 3 * math.pi * mean * viscosity, [density * side / 2 for side in sides]))

    def torque(b, t):
        fourth = [x**4 for x in box]
        turning = [box[i] * (sum(fourth) - fourth[i]) / 64 for i in range(3)]
        return sum_along(
            b, against([b.spin(axis) for axis in axes], math.pi * mean**3 * viscosity, [density * x for x in turning])
        )

    draft.add("body", b, Force, body, force, at=at, name=draft.free_name(f"{name} drag", "of the medium"))
    draft.add("body", b, Force, body, torque, torque=True, name=draft.free_name(f"{name} spin drag", "of the medium"))


def _box(mass, inertia):
    """Edges of the box that has these principal moments."""
    total = sum(float(x) for x in inertia)
    return [math.sqrt(max(SMALLEST, total - 2 * float(x)) / mass * 6) for x in inertia]
