"""Made-up recordings: no simulation is needed to test what happens to its result."""

import inspect

import numpy as np

from linkwork.elements import Box, Capsule, Cylinder, Disc, Ellipsoid, HeightField, Mesh, Plane, Sphere
from linkwork.recording.recording import Recording

EVERY_SHAPE = (Box(0.4, 0.1, 0.1), Sphere(0.1), Ellipsoid(0.4, 0.2, 0.1), Cylinder(0.1, 0.4), Disc(0.2, 0.02))

HILLS = HeightField(0.05 * np.sin(np.arange(20.0)).reshape(4, 5), size=(3, 3))
COLLIDERS = [  # name, body, shape, position, orientation
    ("floor", None, Plane(), (0, 0, -1), (1, 0, 0, 0)),
    ("slope", None, Plane(), (0, 0, -1), (0.96, 0.28, 0, 0)),
    ("hills", None, HILLS, (0, 0, -0.8), (1, 0, 0, 0)),
    ("leaf", None, Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), (1, 1, 0), (1, 0, 0, 0)),
    ("post", None, Cylinder(0.1, 1.0), (1, -1, 0), (1, 0, 0, 0)),
    ("fence", None, Box(0.1, 2, 1), (-1, 0, 0), (1, 0, 0, 0)),
    ("knob/1", "body0", Sphere(0.05), (0.1, 0, 0), (1, 0, 0, 0)),
]
LEAF = COLLIDERS[3][2]
VISUALS = [  # name, body, shape, position, orientation, color
    ("skin", "body0", LEAF, (0, 0, 0.1), (1, 0, 0, 0), (0.9, 0.1, 0.2, 1)),
    ("wing", "body1", LEAF, (0, 0.1, 0.1), (1, 0, 0, 0), None),
    ("glass", "body1", Sphere(0.2), (0, 0, 0), (0.96, 0.28, 0, 0), (0.2, 0.4, 1, 0.3)),
    ("sky", None, HILLS, (0, 0, 1), (1, 0, 0, 0), (0.5, 0.5, 0.5, 1)),
]
FRAMES = [  # name, body, position, orientation
    ("tool/1", "body0", (0.1, 0.2, 0.3), (0.96, 0.28, 0, 0)),
    ("Blick ü", None, (0, 0, 1), (1, 0, 0, 0)),
]


def turning(axis, angle):
    """Quaternions (..., 4) of rotations about a unit axis."""
    return np.concatenate([np.cos(angle / 2)[..., None], np.sin(angle / 2)[..., None] * np.array(axis)], axis=-1)


def make(frames=6, shapes=(EVERY_SHAPE[0], None), axis=(0.0, 1, 0), **changes):
    """Bodies body0, body1, ... that swing on the ground about an axis through the origin."""
    time = np.linspace(0, 1, frames)
    count = len(shapes)
    angle = np.sin(3 * time)[:, None] * np.linspace(0.5, 1, count)
    arm = np.array([0.5, 0, 0]) * np.arange(1, count + 1)[:, None]
    orientation = turning(axis, angle)
    w, u = orientation[..., :1], orientation[..., 1:]
    position = arm + 2 * np.cross(u, np.cross(u, arm) + w * arm)
    names = [f"body{i}" for i in range(count)]
    values = {
        "time": time,
        "bodies": names,
        "position": position,
        "orientation": orientation,
        "velocity": np.gradient(position, time, axis=0) if frames > 1 else np.zeros_like(position),
        "angular_velocity": np.ones_like(position),
        "kinetic": np.cos(time) ** 2,
        "potential": np.sin(time) ** 2,
        "drift": 1e-15 * np.arange(frames),
        "joints": [f"hinge{i}" for i in range(count)],
        "angle": angle,
        "shapes": dict(zip(names, shapes, strict=True)),
        "links": [(f"hinge{i}", None, (0, 0, 0), name, -arm[i]) for i, name in enumerate(names)],
        "attributes": {"scene": "swing", "dt": 1e-3, "steps": 7, "closed": True, "note": None, "record": ["a", "b"]},
    }
    return Recording(**(values | changes))


def replace(rec, **changes):
    """The same recording with other arguments."""
    arguments = [name for name in inspect.signature(Recording.__init__).parameters if name != "self"]
    return Recording(**({name: getattr(rec, name) for name in arguments} | changes))


def everything():
    """All shapes, extras of several kinds, a stretching frame, names that files find hard."""
    shapes = (*EVERY_SHAPE, Capsule(0.05, 0.3), None)
    names = ["arm/upper", "Bein ü", *(f"body{i}" for i in range(5))]
    base = make(shapes=shapes)
    frame = np.einsum("tn,ij->tnij", 1 + base.time[:, None] * np.ones(7), np.eye(3))
    extra = {
        "reaction arm/pin": np.random.default_rng(0).normal(size=(6, 3)),
        "reaction arm.pin": np.ones((6, 3)),
        "hits": np.arange(6),
        "jacobian": np.ones((6, 6, 6)),
        "position": (np.zeros(6), "V"),
        "solid0_vertices": np.ones(6),
    }
    links = [("spring", None, (0, 0, 1), "Bein ü", (0, 0, 0)), ("pin/1", "body0", (0, 0, 0), "body1", (0.5, 0, 0))]
    named = dict(zip(names, shapes, strict=True))
    seen = {"colliders": COLLIDERS, "visuals": VISUALS, "frames": FRAMES}
    return replace(base, bodies=names, shapes=named, frame=frame, extra=extra, links=links, **seen)
