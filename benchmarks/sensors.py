"""Sensors of MJCF models beside MuJoCo's own: dm_control's and gymnasium's, at random states.

    python -m benchmarks.sensors --out benchmarks/results/sensors.json

Every model gets a site at a random place of each of its bodies, and sensors of all kinds there, on its joints and actuators,
beside those that it has. Contacts, limits, dry friction and equalities are left out on both sides, as in `benchmarks.mjcf`.
Forces and torques are not compared in a medium, whose forces MuJoCo takes for those of joints. Rangefinders see no geom that is
only seen, and are told apart. Writes JSON and, beside it, a Markdown page.
"""

import argparse
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from benchmarks.mjcf import Pair

STATES = 5
GOAL = 1e-9  # of the largest number of a sensor, or of 1
ELSEWHERE = {"dm_control": ("suite", "locomotion/walkers/assets", "locomotion/soccer/assets/boxhead", "third_party/ant",
                            "entities/props/duplo", "mjcf/test_assets"), "gymnasium": ("envs/mujoco/assets",)}  # fmt: skip
ON_SITES = ("accelerometer", "gyro", "velocimeter", "magnetometer")
OF_FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
OF_SUBTREES = ("subtreecom", "subtreelinvel", "subtreeangmom")


def models():
    """{name: (folder to copy, path in it)} of all models that are installed and compile."""
    found = {}
    for package, folders in ELSEWHERE.items():
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for folder in folders:
            root = Path(spec.origin).parent / folder
            for path in sorted(root.rglob("*.xml")):
                name = f"{package}/{path.relative_to(Path(spec.origin).parent)}"
                if "common" not in path.parts and "<worldbody" in path.read_text(errors="ignore"):
                    found[name] = root, path.relative_to(root)
    return found


def probed(path, rng):
    """Add sites and sensors to a file."""
    tree = ET.parse(path)
    root = tree.getroot()
    sensors = ET.SubElement(root, "sensor")
    sites, bodies = [], list(root.iter("body"))
    for k, body in enumerate(bodies):
        if "name" not in body.attrib:
            body.set("name", f"probed body {k}")
        place, turn = 0.1 * rng.normal(size=3), rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        ET.SubElement(
            body,
            "site",
            name=f"probe {k}",
            pos=" ".join(map(repr, map(float, place))),
            quat=" ".join(map(repr, map(float, turn))),
        )
        sites.append(f"probe {k}")
        own = {child.tag for child in body}
        for tag in ON_SITES:
            ET.SubElement(sensors, tag, name=f"{tag} {k}", site=sites[-1])
        for tag in OF_FRAMES:
            reference = {"reftype": "site", "refname": sites[rng.integers(len(sites))]} if rng.random() < 0.5 else {}
            kind = ("site", "xbody", "body")[rng.integers(3)]
            name = sites[-1] if kind == "site" else body.get("name")
            ET.SubElement(sensors, tag, name=f"{tag} {k}", objtype=kind, objname=name, **reference)
        for tag in ("framelinacc", "frameangacc"):
            ET.SubElement(sensors, tag, name=f"{tag} {k}", objtype="site", objname=sites[-1])
        if "joint" in own:
            for tag in OF_SUBTREES:
                ET.SubElement(sensors, tag, name=f"{tag} {k}", body=body.get("name"))
            for tag in ("force", "torque"):
                ET.SubElement(sensors, tag, name=f"{tag} {k}", site=sites[-1])
    for k, joint in enumerate(root.iter("joint")):
        if "name" in joint.attrib and joint.get("type") not in ("ball", "free"):
            for tag in ("jointpos", "jointvel", "jointactuatorfrc"):
                ET.SubElement(sensors, tag, name=f"{tag} {k}", joint=joint.get("name"))
    for k, actuator in enumerate(each for group in root.findall("actuator") for each in group if "name" in each.attrib):
        for tag in ("actuatorpos", "actuatorvel", "actuatorfrc"):
            ET.SubElement(sensors, tag, name=f"{tag} {k}", actuator=actuator.get("name"))
    ET.SubElement(sensors, "clock", name="probed clock")
    tree.write(path)


def types(model):
    """The type of each sensor, in the words of MJCF."""
    known = {
        int(getattr(mujoco.mjtSensor, name)): name[7:].lower() for name in vars(mujoco.mjtSensor) if name.startswith("mjSENS_")
    }
    return [known[int(kind)] for kind in model.sensor_type]


def compared(pair, rng, blind=True):
    """{type: (largest difference, how many sensors)} and the types that linkwork has not, counted; of rangefinders alone, or
    (`blind`) of all others."""
    model, data, world = pair.model, pair.data, pair.world
    here = {s: str(sensor.name) for s, sensor in pair.draft.sensors.items()}
    sim, kinds = lw.Simulation(world, dt=1e-2, solver="aba", integrator="joint-euler"), types(model)
    medium = model.opt.density > 0 or model.opt.viscosity > 0
    off, count, lacking = defaultdict(float), defaultdict(int), defaultdict(int)
    for state in range(STATES):
        key = pair.draw(rng)
        mujoco.mj_forward(model, data)
        sim.reset(key)
        for s, kind in enumerate(kinds):
            there = data.sensordata[model.sensor_adr[s] : model.sensor_adr[s] + model.sensor_dim[s]]
            if (kind == "rangefinder") == blind:
                continue
            if s not in here:
                lacking[kind] += state == 0
            elif not (medium and kind in ("force", "torque")):
                found = sim.sensors[here[s]]
                found = -found if kind == "framequat" and found @ there < 0 else found
                off[kind] = max(off[kind], float(np.abs(found - there).max() / max(1.0, np.abs(there).max())))
                count[kind] += state == 0
    return {kind: (off[kind], count[kind]) for kind in off}, dict(lacking)


def row_of(name, root, path, folder):
    """A row of the table."""
    row = {"model": name}
    home = Path(folder) / "models"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(root, home)
    try:
        mujoco.MjModel.from_xml_path(str(home / path))
    except ValueError:
        return {**row, "refused": "MuJoCo refuses it as it stands"}
    rng = np.random.default_rng(0)
    probed(home / path, rng)
    try:
        pair = Pair(home / path, limits="none")
        if not pair.world.bodies:
            return {**row, "refused": "it has no body: a program adds them"}
        found, lacking = compared(pair, rng)
        seeing = "rangefinder" in types(pair.model)
        seen = compared(Pair(home / path, limits="none", contact="hard"), rng, blind=False)[0] if seeing else {}
    except (lw.LinkworkError, ValueError) as error:
        return {**row, "refused": str(error).replace(str(home), "").strip()[:200]}
    worst = max(found.values(), default=(0.0, 0))[0]
    return {**row, "sensors": sum(n for _, n in found.values()), "worst": worst, "rangefinder": seen.get("rangefinder"),
            "lacking": lacking, "types": {kind: off for kind, (off, _) in sorted(found.items())}}  # fmt: skip


def page(result):
    """The result for people."""
    rows = []
    for row in result["rows"]:
        lacks = ", ".join(f"{count} x {what}" for what, count in row.get("lacking", {}).items())
        seen = row.get("rangefinder")
        rows.append([row["model"], row.get("sensors"), None if "worst" not in row else f"{row['worst']:.1e}",
                     None if not seen else f"{seen[0]:.1e}", row.get("refused") or lacks or "nothing"])  # fmt: skip
    tried = [row for row in result["rows"] if "worst" in row]
    good = [row for row in tried if row["worst"] <= GOAL]
    return "\n".join([
        "# Sensors beside MuJoCo", "",
        f"{len(tried)} models with {sum(row['sensors'] for row in tried)} sensors, of which many are added to each body, joint "
        f"and actuator; those of {len(good)} agree with MuJoCo's to {GOAL:g} of their largest number (or of 1) at {STATES} "
        "random states each.", "",
        "Without contacts, limits, dry friction and equalities, on both sides. Rangefinders see here what can be touched, and "
        "in MuJoCo what is only seen, too.", "",
        tables.markdown(["model", "sensors", "worst", "rangefinders", "left out"], rows), "",
        machine.sentence(result["machine"]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/sensors.json")
    parser.add_argument("--only", default="", help="models whose name has this in it")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (root, path) in models().items():
            if given.only in name:
                rows.append(row_of(name, root, path, folder))
                print({key: value for key, value in rows[-1].items() if key != "types"}, flush=True)
    result = {"machine": machine.describe(), "rows": rows}
    if not given.only:
        tables.write(given.out, result, page(result))


if __name__ == "__main__":
    main()
