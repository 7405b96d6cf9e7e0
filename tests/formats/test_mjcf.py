"""MJCF files: what is refused and where, what is remarked, which shapes become what, and which of them touch."""

import struct
import warnings
from itertools import combinations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.combining import combined
from linkwork.formats.mjcf import source as mjcf_source
from linkwork.formats.source import Reading

BALL = '<geom size="0.1"/>'
TETRAHEDRON = [[(0, 0, 0), (0, 1, 0), (1, 0, 0)], [(0, 0, 0), (1, 0, 0), (0, 0, 1)], [(0, 0, 0), (0, 0, 1), (0, 1, 0)],
               [(1, 0, 0), (0, 1, 0), (0, 0, 1)]]  # fmt: skip


def stl(triangles, count=None):
    """A binary STL; `count` is what its header says."""
    parts = [struct.pack("<12fH", 0, 0, 0, *(x for corner in triangle for x in corner), 0) for triangle in triangles]
    return bytes(80) + struct.pack("<I", len(parts) if count is None else count) + b"".join(parts)


def written(folder, text, name="model.xml"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder, text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(written(folder, f"<mujoco>{text}</mujoco>"), **options)


REFUSED = {
    "no number": ('<worldbody>\n<geom size="one"/>\n</worldbody>', 2, "bad format in attribute 'size'"),
    "NaN": ('<worldbody>\n\n<geom size="nan"/>\n</worldbody>', 3, "size is nan"),
    "infinite": ('<option gravity="0 0 -inf"/>', 1, "gravity is -inf"),
    "overflow": ('<worldbody>\n<geom size="1e999"/>\n</worldbody>', 2, "size is inf"),
    "huge": ('<worldbody>\n<geom size="1e200"/>\n</worldbody>', 2, "size is 1e+200"),
    "no such element": ("<worldbody>\n<egg/>\n</worldbody>", 2, "<egg>: MuJoCo's compiler refuses it"),
    "no such attribute": ('<worldbody>\n<geom color="red"/></worldbody>', 2, "unrecognized attribute: 'color'"),
    "unknown joint": ('<worldbody/><actuator>\n<motor joint="knee"/></actuator>', 2, "unknown transmission target 'knee'"),
    "no mass": ('<worldbody>\n<body>\n<joint/></body></worldbody>', 2, "mass and inertia of moving bodies must be larger"),
    "two of a name": ('<worldbody>\n<body name="a"/>\n<body name="a"/></worldbody>', 3, "repeated name 'a' in body"),
    "not XML": ("<worldbody>\n<geom>\n</worldbody>", 3, "it is no XML (mismatched tag)"),
    "plugin": ('<extension><plugin plugin="mujoco.pid"/></extension><actuator>\n<plugin joint="j"/></actuator>', 2, "plugins are programs"),
    "soft body": ('<worldbody>\n<flexcomp name="f" type="grid"/></worldbody>', 2, "deformable bodies are not simulated"),
    "a million": ('<worldbody><replicate count="1000">\n<replicate count="1000">\n<geom size="1"/></replicate></replicate></worldbody>',
                  2, "there are more than 20000 elements, with all replicas"),
    "odd count": ('<worldbody>\n<replicate count="1e9"><geom size="1"/></replicate></worldbody>', 2, 'count is "1e9"'),
    "heights": ('<asset>\n<hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>', 2, "30000 by 30000 heights"),
    "keys": ('<size nkey="1000000000"/>', 1, "nkey is 1000000000"),
    "user": ('<size nuser_body="100000000"/>', 1, "nuser_body is 100000000"),
    "fine mesh": ('<asset>\n<mesh name="m" builtin="supersphere" params="30000 1 1"/></asset>', 2, 'params is "30000 1 1"'),
    "file of a plane": ('<worldbody>\n<geom type="plane" size="1 1 1" file="/etc/passwd"/></worldbody>', 2, 'the attribute "file"'),
    "missing mesh": ('<asset>\n<mesh file="missing.stl"/></asset>', 2, 'there is no file "missing.stl"'),
    "mesh outside": ('<asset>\n<mesh file="../../etc/passwd"/></asset>', 2, "lies outside of the folder"),
    "absolute": ('<asset>\n<mesh file="/etc/passwd"/></asset>', 2, "lies outside of the folder"),
    "by meshdir": ('<compiler meshdir="/etc"/><asset>\n<mesh file="passwd"/></asset>', 2, "lies outside of the folder"),
    "include outside": ('\n<include file="../other.xml"/>', 2, "lies outside of the folder"),
    "no include": ("\n<include/>", 2, "it names no file"),
    "missing include": ('\n<include file="none.xml"/>', 2, 'there is no file "none.xml"'),
    "includes itself": ('\n<include file="model.xml"/>', 2, '"model.xml" includes itself'),
    "NUL in a name": ('\n<include file="a&#1;.xml"/>', 2, "it is no XML"),
    "negative spring": ('<worldbody>\n<body><joint stiffness="-1"/><geom size="1"/></body></worldbody>', 2, "stiffness is -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_one_sentence_with_file_and_line(case, tmp_path, monkeypatch):
    text, line, says = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, f"<mujoco>{text}</mujoco>")
    with pytest.raises(lw.FileError) as caught:
        lw.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}:{line}: "), sentence
    assert says in sentence
    assert "\n" not in sentence
    assert [found.name for found in tmp_path.iterdir()] == ["model.xml"], "nothing is written"


def test_document_types_are_refused(tmp_path):
    path = written(tmp_path, '<!DOCTYPE m [<!ENTITY x SYSTEM "/etc/passwd">]>\n<mujoco>&x;</mujoco>')
    with pytest.raises(lw.FileError, match="model.xml:1: it declares a document type"):
        lw.load(path)


def test_links_do_not_lead_out(tmp_path):
    outside = written(tmp_path, stl(TETRAHEDRON).decode("latin-1"), "secret.stl")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "own.stl").symlink_to(outside)
    path = written(tmp_path / "robot", '<mujoco><asset>\n<mesh file="own.stl"/></asset></mujoco>')
    with pytest.raises(lw.FileError, match='model.xml:2: <mesh>: "own.stl" lies outside of the folder'):
        lw.load(path)


def test_meshes_that_lie_about_their_size(tmp_path):
    for content in (stl(TETRAHEDRON, 10**9), stl(TETRAHEDRON)[:100], b"", bytes(84), stl(TETRAHEDRON, 3)):
        (tmp_path / "m.stl").write_bytes(content)
        path = written(tmp_path, '<mujoco><asset>\n<mesh file="m.stl"/></asset></mujoco>')
        with pytest.raises(lw.FileError, match=r"model.xml:2: .*MuJoCo's compiler refuses it") as caught:
            lw.load(path)
        assert "'0.stl'" not in str(caught.value), "files are told by their own names"


def test_flat_meshes_are_told_in_one_sentence(tmp_path, capfd):
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 1e11 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = written(tmp_path, '<mujoco><asset>\n<mesh file="m.obj"/></asset><worldbody><geom type="mesh" mesh="m"/><body><freejoint/>'
                   '<geom size="1"/></body></worldbody></mujoco>')  # fmt: skip
    with pytest.raises(lw.FileError, match=r"model.xml:2: MuJoCo's compiler refuses it \("):
        lw.load(path)
    assert capfd.readouterr() == ("", ""), "its library for hulls writes pages otherwise"


def test_pictures_of_heights_that_would_fill_the_memory(tmp_path):
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 10**5, 10**5, 8, 0, 0, 0, 0)
    (tmp_path / "h.png").write_bytes(header)
    path = written(tmp_path, '<mujoco><asset>\n<hfield file="h.png" size="1 1 1 1"/></asset></mujoco>')
    with pytest.raises(lw.FileError, match=r"model.xml:2: <hfield>: \"h.png\" has 100000 by 100000 pixels"):
        lw.load(path)


def test_included_files_are_told_with_their_own_lines(tmp_path):
    written(tmp_path, '<mujocoinclude>\n\n<body name="a"><joint name="j"/>\n<light name="c"/>\n<geom size="x"/></body></mujocoinclude>',
            "parts/arm.xml")  # fmt: skip
    path = written(tmp_path, '<mujoco><worldbody>\n<include file="parts/arm.xml"/></worldbody></mujoco>')
    with pytest.raises(lw.FileError, match=r"parts/arm.xml:5: <geom>: MuJoCo's compiler refuses it"):
        lw.load(path)
    arm = tmp_path / "parts" / "arm.xml"
    arm.write_text(arm.read_text().replace('size="x"', 'size="1"'))
    with pytest.warns(lw.Note):
        world = lw.load(path)
    assert [(remark.file, remark.line, remark.what) for remark in world.remarks] == [(str(arm), 4, "<light>")]
    with pytest.raises(lw.FileError, match=r"arm.xml:4: <light>: lights are not used; strict=True refuses it"):
        lw.load(path, strict=True)
    twice = path.read_text().replace("</worldbody>", '\n<include file="parts/arm.xml"/></worldbody>')
    with pytest.raises(lw.FileError, match=r'model.xml:3: <include>: "parts/arm.xml" is included twice'):
        lw.load(written(tmp_path, twice))


def test_included_files_name_what_lies_beside_them(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "m.stl").write_bytes(stl(TETRAHEDRON))
    written(tmp_path, '<mujocoinclude>\n<mesh file="../meshes/m.stl"/></mujocoinclude>', "parts/assets.xml")
    path = written(tmp_path, '<mujoco><asset><include file="parts/assets.xml"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>'
                   "</mujoco>")  # fmt: skip
    assert isinstance(lw.load(path).visuals[0].shape, lw.Mesh)


def test_circles_of_includes(tmp_path):
    written(tmp_path, '<mujocoinclude>\n<include file="b.xml"/></mujocoinclude>', "a.xml")
    written(tmp_path, '<mujocoinclude>\n\n<include file="a.xml"/></mujocoinclude>', "b.xml")
    path = written(tmp_path, '<mujoco><include file="a.xml"/></mujoco>')
    with pytest.raises(lw.FileError, match=r'b.xml:3: <include>: "a.xml" includes itself'):
        lw.load(path)


def test_mujoco_sees_no_path(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "body.stl").write_bytes(stl(TETRAHEDRON))
    path = written(tmp_path, '<mujoco><compiler meshdir="m"/><asset><mesh file="body.stl"/><texture name="t" file="/etc/passwd"/>'
                   '<material name="x" texture="t" rgba="1 0 0 1"/></asset><worldbody><body><joint/><geom type="mesh" mesh="body" '
                   'material="x"/></body></worldbody></mujoco>')  # fmt: skip
    given = mjcf_source.source(Reading(path))
    assert list(given.assets) == ["0.stl"]
    assert "passwd" not in given.text
    assert str(tmp_path) not in given.text
    with pytest.warns(lw.Note, match="textures are not shown"):
        world = lw.load(path)
    assert np.allclose(world.visuals[0].color, (1, 0, 0, 1))


def test_names_of_bodies_come_first(tmp_path):
    world = loaded(tmp_path, f"""<worldbody><body name="arm"><joint name="arm"/>{BALL}<body name="ground"><joint name="x"/>{BALL}
        </body></body></worldbody><actuator><motor name="x" joint="x"/><motor joint="arm"/></actuator>""", contact="none")  # fmt: skip
    assert [type(world.find(name)) for name in ("arm", "arm joint", "ground body", "x", "x motor", "actuator1")] == [
        lw.RigidBody, lw.Hinge, lw.RigidBody, lw.Hinge, lw.Motor, lw.Motor]  # fmt: skip


def test_loops_of_turned_bodies_are_closed_as_built(tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, c = (f'pos="{x[0]} {x[1]} {x[2]}" euler="{x[3]} {x[4]} {x[5]}"' for x in (rng.normal(size=(3, 6)) * 50).round(3))
        world = loaded(tmp_path, f"""<worldbody><body name="a" {a}><freejoint/>{BALL}<body name="b" {b}>{BALL}</body></body><body name="c"
            {c}><freejoint/>{BALL}</body></worldbody><equality><connect name="pin" body1="b" body2="c" anchor="0.1 0.2 0.3"/><weld
            body1="c" body2="b" anchor="1 2 3"/></equality>""", contact="none")  # fmt: skip
        pin = world.find("pin")
        ends = [(body.position, Rotation.from_quat(body.orientation, scalar_first=True), at)
                for body, at in ((pin.a, pin.on_a), (pin.b, pin.on_b))]  # fmt: skip
        at = [x + turn.apply(local) for x, turn, local in ends]
        assert np.allclose(*at, atol=1e-9)
        assert not world.remarks


LEFT_OUT = {
    "ball armature": (f'<worldbody><body>\n<joint name="j" type="ball" armature="1"/>{BALL}</body></worldbody>', 2, 'joint "j"'),
    "free friction": (f'<worldbody><body>\n<joint name="j" type="free" frictionloss="1"/>{BALL}</body></worldbody>', 2, 'joint "j"'),
    "fluidshape": ('<option density="1.2"/><worldbody>\n<body name="b"><joint/><geom size="1" fluidshape="ellipsoid"/></body></worldbody>',
                   2, 'body "b"'),
    "extension": ('\n<extension><plugin plugin="mujoco.sensor.touch_grid"/></extension><worldbody/>', 2, "<extension>"),
    "step": ('\n<option timestep="0.01"/>', 2, "<option timestep>"),
    "muscle": (f'<worldbody><body><joint name="j"/>{BALL}</body></worldbody><actuator>\n<muscle name="m" joint="j"/></actuator>',
               2, 'actuator "m"'),
    "integrator": (f'<worldbody><body><joint name="j"/>{BALL}</body></worldbody><actuator>\n<general name="m" joint="j" '
                   'dyntype="integrator"/></actuator>', 2, 'actuator "m"'),
    "same body": (f'<worldbody><body><joint/><site name="s"/><site name="r"/>{BALL}</body></worldbody><actuator>\n<motor name="m" '
                  'site="s" refsite="r"/></actuator>', 2, 'actuator "m"'),
    "adhesion": (f'<worldbody><body name="b"><joint/>{BALL}</body></worldbody><actuator>\n<adhesion name="m" body="b" '
                 'ctrlrange="0 1"/></actuator>', 2, 'actuator "m"'),
    "branches": (f'<worldbody><body><joint/><site name="s"/>{BALL}</body><body><joint/><site name="r"/>{BALL}</body></worldbody>'
                 '<actuator>\n<motor name="m" site="s" refsite="r" gear="1 0 0 0 0 0"/></actuator>', 2, 'actuator "m"'),
    "compensated": (f'<worldbody><body gravcomp="1"><joint name="j" actuatorgravcomp="true" actuatorfrcrange="-1 1"/>{BALL}</body>'
                    '</worldbody><actuator>\n<motor name="m" joint="j"/></actuator>', 2, 'actuator "m"'),
    "group": (f'<option actuatorgroupdisable="3"/><worldbody><body><joint name="j"/>{BALL}</body></worldbody><actuator>\n<motor '
              'name="m" group="3" joint="j"/></actuator>', 2, 'actuator "m"'),
    "polynomial of tendons": (f'<worldbody><body><joint name="j"/>{BALL}<body><joint name="k"/>{BALL}</body></body></worldbody><tendon>'
                              '<fixed name="t"><joint joint="j" coef="1"/></fixed><fixed name="u"><joint joint="k" coef="1"/></fixed>'
                              '</tendon><equality>\n<tendon name="e" tendon1="t" tendon2="u" polycoef="0 1 1 0 0"/></equality>',
                              2, 'equality "e"'),
    "wrapped": ('<worldbody><site name="a"/><body><joint name="j"/><geom name="g" size="0.1"/><site name="b" pos="1 0 0"/></body>'
                '</worldbody><tendon>\n<spatial name="t" stiffness="1"><site site="a"/><geom geom="g"/><site site="b"/></spatial></tendon>',
                2, 'tendon "t"'),
    "crooked weld": (f'<worldbody><body name="a"><freejoint/>{BALL}</body><body name="b" pos="1 0 0"><freejoint/>{BALL}</body>'
                     '</worldbody><equality>\n<weld name="w" body1="a" body2="b" relpose="3 0 0 1 0 0 0"/></equality>', 2,
                     'equality "w"'),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_not_taken_as_written_is_named_with_its_line(case, tmp_path):
    text, line, what = LEFT_OUT[case]
    world = loaded(tmp_path, text, contact="none")
    assert [(remark.line, remark.what) for remark in world.remarks] == [(line, what)], world.remarks


def test_a_limit_of_a_ball_bounds_its_whole_turn(tmp_path):
    world = loaded(
        tmp_path, f'<worldbody><body><joint name="j" type="ball" range="0 30" limited="true"/>{BALL}</body></worldbody>'
    )
    assert not world.remarks
    (limit,) = (one for one in world.contacts if isinstance(one, lw.HardLimit))
    assert np.isclose(limit.upper, np.pi / 6) and limit.joint is world.find("j")


def test_dry_friction_ropes_and_cables(tmp_path):
    world = loaded(tmp_path, f"""<worldbody><site name="s"/><body name="b" pos="0 0 1"><joint name="j" type="slide"
        frictionloss="3"/>{BALL}<site name="t" pos="0.1 0 0"/></body></worldbody><tendon><spatial name="line" range="0 2"><site
        site="s"/><site site="t"/></spatial></tendon>""")  # fmt: skip
    assert world.find("j frictionloss").friction == 3.0
    rope = world.find("line rope")
    assert (rope.length, rope.on_b.tolist()) == (2.0, [0.1, 0.0, 0.0])
    plain = loaded(tmp_path, (tmp_path / "model.xml").read_text()[8:-9], friction="none", limits="none")
    assert len(plain.contacts) == 0


def test_shapes(tmp_path):
    (tmp_path / "m.stl").write_bytes(stl(TETRAHEDRON))
    world = loaded(tmp_path, """<asset><mesh file="m.stl" scale="2 2 2"/></asset><worldbody><geom type="plane" size="1 1 1" pos="0 0 -5"/>
        <body pos="0 0 5"><freejoint/><geom type="sphere" size="0.1"/><geom type="capsule" size="0.1 0.2" rgba="1 0 0 0.5"/><geom
        type="ellipsoid" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.1 0.2"/><geom type="box" size="0.1 0.2 0.3" group="3"/>
        <geom type="mesh" mesh="m" pos="1 0 0"/></body></worldbody>""")  # fmt: skip
    shapes = {type(collider.shape): collider for collider in world.contacts if isinstance(collider, lw.Collider)}
    assert shapes[lw.Sphere].shape == lw.Sphere(0.1)
    assert shapes[lw.Capsule].shape == lw.Capsule(0.1, 0.4)
    assert shapes[lw.Ellipsoid].shape == lw.Ellipsoid(0.2, 0.4, 0.6)
    assert shapes[lw.Cylinder].shape == lw.Cylinder(0.1, 0.4)
    assert shapes[lw.Box].shape == lw.Box(0.2, 0.4, 0.6)
    assert np.isclose(shapes[lw.ConvexHull].shape.volume, 8 / 6)
    assert np.allclose(shapes[lw.ConvexHull].position, (1.5, 0.5, 0.5), atol=1e-6), "a hull is placed by its centre"
    seen = [type(visual.shape) for visual in world.visuals]
    assert seen.count(lw.Mesh) == 1
    assert lw.Box not in seen, "group 3 is not shown"
    assert [visual.color.tolist() for visual in world.visuals if isinstance(visual.shape, lw.Capsule)] == [[1, 0, 0, 0.5]]


def test_heights_are_where_rays_meet_them(tmp_path):
    text = """<asset><hfield name="h" nrow="4" ncol="5" size="1 2 3 4" elevation="0 1 2 3 4 6 3 1 5 2 8 9 2 1 4 3 2 1 0 2"/></asset>
        <worldbody><geom type="hfield" hfield="h"/><body pos="0 0 9"><freejoint/><geom size="1"/></body></worldbody>"""
    world = loaded(tmp_path, text)
    (field,) = [element.shape for element in world.contacts if isinstance(getattr(element, "shape", None), lw.HeightField)]
    assert field.size.tolist() == [2.0, 4.0]
    assert field.heights.shape == (5, 4)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for i in (1, 2, 3):
        for k in (1, 2):
            above = np.array([-1 + 2 * i / 4, -2 + 4 * k / 3, 7.5])
            down = mujoco.mj_rayHfield(model, data, 0, above, np.array([0.0, 0.0, -1.0]), None)
            assert np.isclose(field.heights[i, k], 7.5 - down, atol=1e-6)


def touching_in_mujoco(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    names = [[model.body(int(model.body_weldid[model.geom_bodyid[g]])).name for g in contact.geom] for contact in data.contact]
    return {frozenset("ground" if name == "world" else name for name in pair) for pair in names}


def touching_here(world):
    """The pairs of bodies that Contacts and NoContacts leave, by the rules that elements/contacts.py states."""
    colliders = [element for element in world.contacts if isinstance(element, lw.Collider)]
    contacts = [element for element in world.contacts if isinstance(element, lw.Contact)]
    apart = [set(element.bodies) for element in world.contacts if isinstance(element, lw.NoContact)]
    joined = [{element.a, element.b} for element in world.constraints if isinstance(element, lw.Joint)]
    found = set()
    for one, other in combinations(colliders, 2):
        pair = {one.body, other.body}
        spoken = any(not contact.bodies or pair <= set(contact.bodies) for contact in contacts)
        kept_apart = (
            pair in joined or any(pair <= group for group in apart) or (one.group is not None and one.group == other.group)
        )
        if len(pair) == 2 and spoken and not kept_apart:
            found.add(frozenset(body.name for body in pair))
    return found


def test_the_same_pairs_touch_as_in_mujoco(tmp_path):
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        masks = [(int(a), int(b)) for a, b in rng.integers(0, 4, size=(int(rng.integers(2, 8)), 2))]
        joint = '<joint/><joint axis="0 1 0"/>' if seed % 3 else "<freejoint/>"
        geoms = [f'<geom name="g{k}" size="1" contype="{a}" conaffinity="{b}"/>' for k, (a, b) in enumerate(masks)]
        bodies = "".join(f'<body name="b{k}">{joint}{geom}</body>' for k, geom in enumerate(geoms[1:]))
        rules = '<exclude body1="b0" body2="world"/>' if seed % 4 == 0 else ""
        rules += '<pair geom1="g0" geom2="g1"/>' if seed % 5 == 0 else ""
        path = written(tmp_path, f"<mujoco><worldbody>{geoms[0]}{bodies}</worldbody><contact>{rules}</contact></mujoco>")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            world = lw.load(path)
        assert touching_here(world) == touching_in_mujoco(path), path.read_text()
        told += len(touching_in_mujoco(path))
    assert told > 100


def test_neighbours_do_not_touch(tmp_path):
    text = f"""<worldbody><body name="a"><freejoint/>{BALL}<body name="b"><joint/><joint axis="0 1 0"/>{BALL}<body name="c"><joint
        axis="1 0 0"/>{BALL}<body>{BALL}</body></body></body></body></worldbody>"""
    world = loaded(tmp_path, text)
    assert touching_here(world) == touching_in_mujoco(tmp_path / "model.xml") == {frozenset("ac")}


def test_a_leg_keeps_off_the_fixed_pelvis_and_not_off_the_floor(tmp_path):
    """A pelvis that is fixed to the world, and a leg on three hinges that is built inside it, as in robots that are attached to
    something else later."""
    text = """<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
      <body name="pelvis" pos="0 0 .6"><geom name="bowl" size=".2"/><body name="hip" pos="0 .1 0"><geom name="socket" size=".05"/>
      <body name="leg"><joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0"/><joint name="z" axis="0 0 1"/>
      <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.4"/></body></body></body>
      <body name="cart" pos="2 0 .11"><joint name="slide" type="slide" axis="1 0 0"/><joint name="lift" type="slide" axis="0 0 1"/>
      <geom size=".1"/></body></worldbody>"""
    sim = lw.Simulation(loaded(tmp_path, text), dt=2e-3)
    sim.step(300)
    touched = {frozenset(c.name for c in point.colliders) for point in sim.contacts()}
    assert not sim.notes and not any({"bowl", "socket"} & names for names in touched)
    assert any("floor" in names for names in touched) and np.isclose(sim.position("cart")[2], 0.1, atol=1e-6)


def test_keyframes_that_do_not_fit():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"))
    name = sim.world.constraints[0].name
    sim.world.keyframes["home"] = lw.Keyframe(positions={name: (1.0, 2.0)})
    with pytest.raises(lw.UnknownNameError, match='no keyframe is called "hone"; did you mean "home"?'):
        sim.reset("hone")
    with pytest.raises(lw.ElementError, match=rf'Keyframe "home": "{name}" is \(1, 2\); give 1 finite number'):
        sim.reset("home")
    with pytest.raises(lw.UnknownNameError, match='no element named "knee"'):
        sim.reset(lw.Keyframe(positions={"knee": 1.0}))


def test_a_keyframe_that_opens_a_loop_is_drawn_in():
    world = lw.scenes.get("four-bars")
    sim = lw.Simulation(world)
    first = next(joint.name for joint in world.constraints if isinstance(joint, lw.Hinge))
    with pytest.warns(lw.Note, match="it is drawn in until"):
        sim.reset(lw.Keyframe(positions={first: 0.01}))
    sim.run(0.5)
    assert sim.drift() < 1e-9


def test_choices(tmp_path):
    path = written(tmp_path, "<mujoco/>")
    with pytest.raises(lw.FileError, match="limits is 'firm'; give 'hard' or 'soft' or 'none'"):
        lw.load(path, limits="firm")


FIXED_BASE = """<worldbody><geom name="floor" type="plane" size="5 5 1"/><body name="base" pos="0 0 1"><geom name="hull" size="0.2"/>
  <body name="bracket" pos="0.1 0 0"><geom name="plate" size="0.1"/><body name="leg" pos="0.1 0 0">
  <joint name="hip" axis="0 1 0"/><joint name="reach" type="slide" axis="0 0 -1"/><geom name="thigh" size="0.15"/></body></body></body>
  <body name="other" pos="0.15 0 1"><freejoint/><geom name="stone" size="0.02"/></body></worldbody>"""


def test_a_body_does_not_touch_the_fixed_part_of_its_robot_but_the_floor(tmp_path):
    """Of several joints, as of one; what is not its robot's still touches that."""
    world = loaded(tmp_path, FIXED_BASE)
    apart = {frozenset(item.name for item in element.bodies) for element in world.contacts if isinstance(element, lw.NoContact)}
    assert apart == {frozenset(("hull", "thigh")), frozenset(("plate", "thigh"))}
    assert [remark.what for remark in world.remarks] == ['geom "thigh"']
    for name in ("stone", "stone visual", "other"):
        world.remove(name)
    sim = lw.Simulation(world)
    sim.step(600)
    assert sim.position("leg")[2] == pytest.approx(0.15, abs=1e-4), "it hangs from the base and stands on the floor"
    again = lw.load(lw.save(world, tmp_path / "again.yaml"))
    assert len([element for element in again.contacts if isinstance(element, lw.NoContact)]) == 2
    free = loaded(tmp_path, FIXED_BASE.replace('<body name="base" pos="0 0 1">', '<body name="base" pos="0 0 1"><freejoint/>'))
    kept = {frozenset(item.name for item in element.bodies) for element in free.contacts if isinstance(element, lw.NoContact)}
    assert kept == {frozenset(("base", "leg"))} and not free.remarks


def remarks_of(tmp_path, geoms, head="", body='<body pos="0 0 9"><freejoint/>{0}</body>'):
    text = f'{head}<worldbody><geom type="plane" size="1 1 1"/>{body.format(geoms)}</worldbody>'
    return {remark.why: remark.what for remark in loaded(tmp_path, text).remarks}


def test_how_mujocos_constraints_yield_is_told_once_with_a_count(tmp_path):
    many = "".join(f'<geom name="g{k}" pos="{k} 0 0" size="0.1" {{0}}/>' for k in range(5))
    for word in ('solref="0.01 1"', 'solmix="2"', 'solimp="0.8 0.9 0.01"'):
        told = remarks_of(tmp_path, many.format(word))
        assert told == {"how MuJoCo's constraints yield is left out: these are hard here": "solref, solimp, solmix (5 of them)"}
    assert not remarks_of(tmp_path, many.format('priority="1" friction="0.3" condim="1"'))


@pytest.mark.parametrize("seed", range(6))
def test_pairs_have_the_coefficients_that_mujoco_gives_them(seed, tmp_path):
    rng = np.random.default_rng(seed)

    def said():
        return (f'friction="{rng.uniform(0.2, 0.9):.3f} {rng.uniform(0, 0.01):.4f} {rng.uniform(0, 0.01):.4f}" '
                f'condim="{rng.choice([1, 3, 4, 6])}" priority="{rng.integers(2)}"')  # fmt: skip

    world = loaded(tmp_path, f"""<worldbody><geom type="plane" size="9 9 1" {said()}/><body name="a" pos="0 0 0.1"><freejoint/><geom
        size="0.1" {said()}/></body><body name="b" pos="1 0 0.1"><freejoint/><geom size="0.1" {said()}/></body></worldbody>""")  # fmt: skip
    assert not world.remarks
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    sim = lw.Simulation(world, dt=1e-3)
    sim.set_state(velocities=[[3.0, 0, 0, 0, 0, 0]] * 2)
    sim.step(20)
    slowed = [(3.0 - sim.velocity(name)[0]) / 0.02 / 9.81 for name in ("a", "b")]
    for contact, found in zip(data.contact[:2], slowed, strict=True):
        assert np.isclose(found, contact.friction[0] if contact.dim > 1 else 0.0, rtol=1e-3)
    materials = sim._editor.follow().contact.materials
    rule = materials.of_rule[0]
    for contact in data.contact[:2]:
        a, b = contact.geom
        for column, needed, wanted in ((2, 4, contact.friction[2]), (3, 6, contact.friction[3])):
            has = combined.py_func(materials.own, rule, a, b, column, needed)
            assert np.isclose(has, wanted if contact.dim >= needed else 0.0)


def test_switching_filterparent_off_is_told(tmp_path):
    pair = '<body pos="0 0 9"><freejoint/><geom size="0.1"/><body pos="0 0 1"><joint name="j"/><geom size="0.1"/></body></body>'
    flag = '<option><flag filterparent="disable"/></option>'
    assert not remarks_of(tmp_path, "", body=pair)
    told = remarks_of(tmp_path, "", flag, pair)
    assert told == {"bodies that a joint connects never touch here; the file switches filterparent off": 'joint "j"'}


MOCAP = """<worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="target" mocap="true" pos="0 0 1"><geom name="bulb" size="0.1"/></body>
  <body name="other" mocap="true" pos="0 0 0.05" quat="0 1 0 0"><geom name="in floor" size="0.1"/></body>
  <body name="arm" pos="0 0 2"><freejoint name="free"/><geom name="grip" size="0.1"/>
    <body name="finger" pos="0.3 0 0"><joint name="bend" axis="0 1 0"/><geom name="tip" size="0.02"/></body></body></worldbody>
  <equality><weld body1="target" body2="arm"/></equality>
  <keyframe><key name="up" qpos="0 0.5 3 1 0 0 0 0.4" mpos="0 0.5 2 0 0 0.5" mquat="1 0 0 0 1 0 0 0"/></keyframe>"""


@pytest.mark.parametrize("solver", [("tree", "rattle"), ("ltdl", "joint-euler"), ("implicit", "backward-euler")])
def test_a_mocap_body_never_falls_and_commands_move_what_is_welded_to_it(tmp_path, solver):
    world = loaded(tmp_path, MOCAP)
    assert not world.remarks
    sim = lw.Simulation(world, solver=solver[0], integrator=solver[1])
    assert list(sim.control) == ["target mocap", "other mocap"]
    sim.step(200)
    assert np.allclose(sim.position("arm"), (0, 0, 2), atol=1e-9) and np.allclose(
        sim.position("other"), (0, 0, 0.05), atol=1e-9
    )
    sim.control["target mocap"] = (0.3, 0, 1.2), Rotation.from_rotvec((0, 0, 1.0)).as_quat(scalar_first=True)
    sim.step(100)
    assert np.allclose(sim.position("target"), (0.3, 0, 1.2), atol=1e-9)
    assert np.allclose(sim.position("arm"), (0.3, 0, 2.2), atol=1e-9)
    sim.reset("up")
    sim.step(100)
    assert np.allclose(sim.position("arm"), (0, 0.5, 3), atol=1e-8)
    assert np.allclose(sim.position("other"), (0, 0, 0.5), atol=1e-9)


def test_a_mocap_body_without_geoms_is_a_frame_that_commands_move(tmp_path):
    """As gymnasium's robots have it: no mass, and an arm of joints that is welded to it."""
    world = loaded(tmp_path, """<worldbody><body name="frame" mocap="true" pos="0.5 0 1"/>
        <body name="upper" pos="0 0 1"><joint name="a" axis="0 0 1" armature="0.1"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
        <body name="lower" pos="0.3 0 0"><joint name="b" axis="0 0 1" armature="0.1"/><geom type="capsule" size="0.03"
        fromto="0 0 0 0.2 0 0"/></body></body></worldbody>
        <equality><connect body1="lower" body2="frame" anchor="0.2 0 0"/></equality>""", contact="none")  # fmt: skip
    world.find("frame mocap").within = 0.5
    for solver in ("tree", "ltdl"):
        sim = lw.Simulation(world, solver=solver)
        sim.control["frame mocap"] = (0.3, 0.2, 1)
        sim.step(510)
        assert np.allclose(sim.point("lower", (0.2, 0, 0)), (0.3, 0.2, 1), atol=1e-7)
        assert abs(sim.angle("b")) > 0.5


def test_damping_that_explicit_steps_cannot_take_is_taken_implicitly(tmp_path):
    finger = """<worldbody><body><joint name="a" axis="0 1 0" damping="{0}"/><geom type="capsule" size="0.01" fromto="0 0 0 0.05 0 0"/>
        </body></worldbody>"""
    assert lw.Simulation(loaded(tmp_path, finger.format(1e-5))).choice[:2] == ("aba", "joint-rk4")
    world = loaded(tmp_path, finger.format(0.5))
    sim = lw.Simulation(world)
    assert sim.choice[:2] == ("aba", "joint-implicit")
    sim.step(1000)
    assert 0.0 < sim.angle("a") < 0.1 and sim.drift() < 1e-12
    with pytest.raises(lw.DivergenceError, match="take a smaller dt"):
        lw.Simulation(world, solver="tree").step(1000)
