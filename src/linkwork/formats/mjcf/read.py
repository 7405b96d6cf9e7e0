"""MJCF by MuJoCo's own compiler: defaults, includes, composites and inertias from geoms are its business; what it compiled
becomes a World here. docs/files-mjcf.md says what each element becomes."""

import os
import re
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.errors import ElementError, FileError

try:
    import mujoco
except ImportError:
    raise FileError('MJCF: MuJoCo\'s own compiler reads it and is not installed; pip install "linkwork[robots]"') from None

from linkwork.elements.core.keyframe import Keyframe
from linkwork.formats.mjcf import actuators as mjcf_actuators
from linkwork.formats.mjcf import bodies as mjcf_bodies
from linkwork.formats.mjcf import equalities as mjcf_equalities
from linkwork.formats.mjcf import frames as mjcf_frames
from linkwork.formats.mjcf import geoms as mjcf_shapes
from linkwork.formats.mjcf import medium as mjcf_medium
from linkwork.formats.mjcf import sensors as mjcf_sensors
from linkwork.formats.mjcf import tendons as mjcf_tendons
from linkwork.formats.mjcf.source import Place, Source, source
from linkwork.world import World

NAMED = 3  # of several, in one remark
CHOICES = {"limits": ("hard", "soft", "none"), "friction": ("hard", "none"), "contact": ("hard", "none")}
OWN_OPTIONS = {
    "gravity",
    "density",
    "viscosity",
    "wind",
    "magnetic",
    "actuatorgroupdisable",
}  # of <option>: the others are of MuJoCo's own steps


FINITE = ("body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat", "qpos0", "jnt_axis", "jnt_pos",
          "dof_M0", "geom_pos", "geom_quat", "geom_size", "mesh_vert", "dof_invweight0", "tendon_length0",
          "eq_data")  # fmt: skip


@dataclass
class Draft:
    """A World in the making, and the compiled model that it is made of."""

    reading: Any
    source: Source
    spec: Any  # mujoco.MjSpec
    model: Any  # mujoco.MjModel
    data: Any  # mujoco.MjData, as built (qpos0)
    choices: dict  # of CHOICES
    world: World = field(default_factory=World)
    bodies: dict = field(default_factory=dict)  # MuJoCo's number -> the body that it belongs to, or the ground
    colliders: dict = field(default_factory=dict)  # MuJoCo's number of a geom -> its Collider
    joints: dict = field(default_factory=dict)  # MuJoCo's number -> the joint; a free one has none
    coupled: dict = field(
        default_factory=dict
    )  # joint -> (joint, ratio, offset): by a gear it is ratio times that one + offset
    frames: dict = field(default_factory=dict)  # (kind, MuJoCo's number) -> the Frame that stands for it
    welds: dict = field(default_factory=dict)  # MuJoCo's number of a body that a sensor keeps apart -> the Weld that holds it
    sensors: dict = field(default_factory=dict)  # MuJoCo's number -> the Sensor
    springs: dict = field(default_factory=dict)  # MuJoCo's number of an equality -> the spring that stands for it
    motors: dict = field(default_factory=dict)  # MuJoCo's number -> its motors: one or none
    tendons: dict = field(default_factory=dict)  # MuJoCo's number -> (FixedTendon or Cable, offset of its length), or None

    def add(self, kind, number, make, *arguments, **fields):
        """Make an element that stands for one of the file, and add it; what is wrong with it is told with the file and line."""
        try:
            return self.world.add(make(*arguments, **fields))
        except ElementError as error:
            place = self.place(kind, number)
            raise FileError(f"{self.reading.place(place.line, place.file)}: {error}") from None

    def remark(self, kind, number, why):
        """Something of the file that is not taken as written."""
        place = self.place(kind, number)
        self.reading.remark(place.line, f'{kind} "{self.label(kind, number)}"', why, file=place.file)

    def remark_all(self, kind, numbers, why):
        """The same of several: told once, with the first names and how many there are."""
        numbers = list(numbers)
        names = ", ".join(f'"{self.label(kind, number)}"' for number in numbers[:NAMED])
        more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
        place = self.place(kind, numbers[0])
        self.reading.remark(place.line, f"{kind}{'s' * (len(numbers) > 1)} {names}{more}", why, file=place.file)

    def label(self, kind, number):
        """The name of something in the file, or its number."""
        name = mujoco.mj_id2name(self.model, OBJECTS[kind], number)
        return name or f"{kind}{number}"

    def name(self, kind, number, suffix):
        """A name for it in the World: its own, or with the suffix where another element has that."""
        own = self.label(kind, number)
        return self.free_name(own if own.strip() else f"{kind}{number}", suffix)

    def free_name(self, name, suffix):
        """The name, with the suffix if it is taken, and a number if that is taken, too."""
        tried, count = name, 1
        while tried in self.world:
            tried, count = f"{name} {suffix}" if count == 1 else f"{name} {suffix} {count}", count + 1
        return tried

    def place(self, kind, number):
        """Where it stands in the file."""
        return self._lines.get((kind, number)) or Place(self.reading.path, None)

    @cached_property
    def _lines(self):
        found = {}
        for kind, group in GROUPS.items():
            for element in getattr(self.spec, group):
                line = re.search(r"line (\d+)", element.info)
                if line:
                    found[kind, element.id] = self.source.place(int(line[1]))
        return found

    def disabled(self, flag):
        """Whether the file switches something off, by its name in MuJoCo's mjtDisableBit."""
        return bool(self.model.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))


GROUPS = {"body": "bodies", "joint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras",
          "actuator": "actuators", "tendon": "tendons", "equality": "equalities", "pair": "pairs", "exclude": "excludes",
          "sensor": "sensors",
          "key": "keys"}  # fmt: skip
OBJECTS = {kind: getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}") for kind in GROUPS}


def load(reading, *, limits="hard", friction="hard", contact="hard"):
    """The World of an MJCF file. MuJoCo's limits, dry friction and contact are soft; here they are hard, or left out ("none");
    limits may be springs, as stiff as MuJoCo's as built ("soft")."""
    return drafted(reading, limits=limits, friction=friction, contact=contact).world


def drafted(reading, **choices):
    """The World of an MJCF file, still with the model that it comes from."""
    for name, value in choices.items():
        if value not in CHOICES[name]:
            raise FileError(f"{reading.path}: {name} is {value!r}; give {' or '.join(map(repr, CHOICES[name]))}")
    draft = compiled(reading, choices)
    _options(draft)
    with mjcf_sensors.kept_apart(draft):
        mjcf_bodies.add(draft)
        mjcf_frames.add_bodies(draft)
        mjcf_equalities.add(draft)
        mjcf_actuators.add(draft)
        mjcf_tendons.add(draft)
        mjcf_medium.add(draft)
        mjcf_shapes.add(draft)
        mjcf_frames.add_places(draft)
        mjcf_sensors.add(draft)
    draft.world.simulate = {"solver": "auto"}
    for k in range(draft.model.nkey):
        state = draft.model.key_qpos[k], draft.model.key_qvel[k], draft.model.key_ctrl[k], draft.model.key_act[k]
        made = draft.world.keyframes[draft.label("key", k)] = keyframe(draft, *state)
        for b in np.flatnonzero(draft.model.body_mocapid >= 0):
            m = int(draft.model.body_mocapid[b])
            place, turn = draft.model.key_mpos[k].reshape(-1, 3)[m], draft.model.key_mquat[k].reshape(-1, 4)[m]
            made.positions[draft.bodies[int(b)].name] = np.concatenate([place, turn / np.linalg.norm(turn)])
    return draft


def compiled(reading, choices):
    """MuJoCo's model of a file, as a Draft."""
    given = source(reading)
    with _warnings() as said, _hushed():
        try:
            spec = mujoco.MjSpec.from_string(given.text, include=given.models, assets=given.assets)
            model = spec.compile()
        except (ValueError, RuntimeError, MemoryError, mujoco.FatalError, mujoco.UnexpectedError) as error:
            _refused(reading, given, str(error))
        _check_finite(reading, model)
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
    for text in said:
        if "deprecated" not in text:
            reading.remark(None, "MuJoCo's compiler", " ".join(text.split()))
    return Draft(reading, given, spec, model, data, choices, World(np.array(model.opt.gravity)))


@contextmanager
def _warnings():
    """What MuJoCo says meanwhile; it would write that to a log beside the user's files."""
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
    finally:
        mujoco.set_mju_user_warning(before)
        said += [str(one.message) for one in caught if str(one.message) not in said]


@contextmanager
def _hushed():
    """No pages about flat meshes on the terminal: the compiler's own library for hulls writes them there itself, beside the
    error."""
    sys.stderr.flush()
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is no terminal
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _refused(reading, given, text):
    """A FileError of what the compiler says, with the line of the file that it speaks of."""
    lines = re.findall(r"line (\d+)", text)
    place = given.place(int(lines[-1])) if lines else None
    said = re.sub(r"^(XML )?Error:\s*", "", text.strip())
    element = re.search(r"Element '([^']*)', line \d+", said)
    said = re.sub(r"\s*(Element|Object)( name)? '.*line \d+.*", "", said, flags=re.S) or text
    about = f"<{element[1]}>: " if element else ""
    said = re.sub(r"'(\d+\.\w+)'", lambda match: f"'{given.names.get(match[1], match[1])}'", said)
    said = " ".join(said.split())[:300]
    reading.fail(place and place.line, f"{about}MuJoCo's compiler refuses it ({said})", "mend that", file=place and place.file)


def _check_finite(reading, model):
    for name in FINITE:
        if not np.isfinite(getattr(model, name)).all():
            reading.fail(None, f"some {name} is not finite once MuJoCo has compiled it", "give smaller numbers")


def _options(draft):
    """Gravity is taken; what is of MuJoCo's own steps is remarked."""
    model, options = draft.model, draft.source.options
    if draft.disabled("GRAVITY"):
        draft.world.gravity = np.zeros(3)
    unused = [name for name in options if name not in OWN_OPTIONS]
    if unused:
        place = options[unused[0]]
        draft.reading.remark(place.line, f"<option {', '.join(unused)}>",
                             f"of MuJoCo's own steps; Simulation has dt=, solver= and integrator= (the file's step is "
                             f"{model.opt.timestep:g} s)", file=place.file)  # fmt: skip


def keyframe(draft, qpos, qvel, ctrl, act=()):
    """MuJoCo's state in the joints' own coordinates, which are zero as built."""
    found = Keyframe()
    for j in range(draft.model.njnt):
        who, q, v = mjcf_bodies.coordinates(draft, j, qpos, qvel)
        found.positions[who.name], found.velocities[who.name] = q, v
    for a, motors in draft.motors.items():
        for motor in motors:
            found.controls[motor.name] = float(ctrl[draft.model.actuator_ctrladr[a]])
            if motor.filter is not None and len(act):
                found.activations[motor.name] = float(act[draft.model.actuator_actadr[a]])
    return found
