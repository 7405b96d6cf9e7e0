"""Rotors at joints that are part of loops, beside a dense system of equations made of MuJoCo's matrices."""

import mujoco
import numpy as np
import pytest

import linkwork as lw

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.Note")
MAXIMAL = [("tree", "rattle"), ("tree", "euler"), ("tree", "rk4"), ("fronts", "rattle"), ("dense", "rattle"),
           ("anticipation", "rattle"), ("anticipation", "euler")]  # fmt: skip
JOINTS = [("ltdl", "joint-euler"), ("ltdl", "joint-implicit"), ("ltdl", "joint-rk4"), ("anticipation", "joint-rk4")]
EVERY = [*MAXIMAL, ("implicit", "backward-euler"), *JOINTS]


def chain(seed, n):
    """The MJCF of a chain of n hinges about random axes, all but one with rotors, one of them with a geared motor."""
    rng = np.random.default_rng(seed)
    text, close = "", ""
    for k in range(n):
        axis, at, com = (" ".join(f"{x:.3f}" for x in rng.normal(size=3) * s) for s in (1.0, 0.4, 0.1))
        rotor = f'armature="{rng.uniform(0.05, 1):.3f}"' if k != 2 else ""
        inertia = " ".join(f"{x:.3f}" for x in rng.uniform(0.10, 0.15, 3))
        text += f"""<body name="b{k}" pos="{at}"><joint name="j{k}" axis="{axis}" {rotor}/>
            <inertial pos="{com}" mass="{rng.uniform(0.5, 2):.3f}" diaginertia="{inertia}"/>"""
        close += "</body>"
    return f"""<mujoco><option gravity="1 -2 -9"/><worldbody>{text}{close}</worldbody>
        <actuator><motor name="motor" joint="j1" gear="3"/></actuator></mujoco>"""


class Oracle:
    """M + a j j^T over all rotors beside the tree, the rows of what closes the loop, and J' qd by differences in time."""

    def __init__(self, text, at, axis, rotor):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.at, self.axis, self.rotor = at, axis, rotor  # axis None: a ball

    def placed(self, q):
        data = mujoco.MjData(self.model)
        data.qpos[:] = q
        mujoco.mj_forward(self.model, data)
        return data

    def rows(self, q):
        """Rows that hold the last body to the ground, then the rate of the angle between both."""
        start, data, last = self.placed(np.zeros(self.model.nq)), self.placed(q), self.model.nbody - 1
        R0, R = (d.xmat[last].reshape(3, 3) for d in (start, data))
        place, turn = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, data, place, turn, data.xpos[last] + R @ R0.T @ (self.at - start.xpos[last]), last)
        if self.axis is None:
            return place, np.zeros((0, self.model.nv))
        across = np.linalg.svd(self.axis[None])[2][1:]
        carried = R @ R0.T @ self.axis
        held = np.array([np.cross(carried, side) @ turn for side in across])  # of side . carried
        return np.vstack([place, held]), self.axis[None] @ turn

    def rate(self, which, q, qd, h=1e-6):
        """J' qd, by differences."""
        moved = [self.rows(q + s * h * qd)[which] for s in (1, -1)]
        return (moved[0] - moved[1]) @ qd / (2 * h)

    def accelerations(self, q, qd, force):
        """Of the bodies' origins, and angular ones."""
        m, data = self.model, self.placed(q)
        data.qvel[:] = qd
        data.ctrl[:] = force
        mujoco.mj_forward(m, data)
        M, (J, turn) = np.zeros((m.nv, m.nv)), self.rows(q)
        mujoco.mj_fullM(m, data, M)
        M += self.rotor * turn.T @ turn
        right = data.qfrc_actuator - data.qfrc_bias - (self.rotor * turn.T @ self.rate(1, q, qd) if len(turn) else 0.0)
        K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        qdd = np.linalg.solve(K, np.r_[right, -self.rate(0, q, qd)])[: m.nv]
        found = []
        for b in range(1, m.nbody):
            columns = [np.zeros((3, m.nv)) for _ in range(4)]
            mujoco.mj_jacBody(m, data, *columns[:2], b)
            mujoco.mj_jacDot(m, data, *columns[2:], data.xpos[b].copy(), b)
            found.append(np.r_[columns[0] @ qdd + columns[2] @ qd, columns[1] @ qdd + columns[3] @ qd])
        return np.array(found)


def looped(tmp_path, seed, closing):
    """A chain of which the last body is held to the ground, by a ball or by a hinge with a rotor, and moves."""
    rng = np.random.default_rng([seed, 1])
    n = 5 if closing == "ball" else 7
    text, at = chain(seed, n), rng.normal(size=3)
    axis, rotor = (None, 0.0) if closing == "ball" else ((a := rng.normal(size=3)) / np.linalg.norm(a), 0.6)
    path = tmp_path / "chain.xml"
    path.write_text(text)
    world = lw.load(path)
    if closing == "ball":
        world.add(lw.Ball(world.ground, f"b{n - 1}", at=at, name="pin"))
    else:
        world.add(lw.Hinge(world.ground, f"b{n - 1}", at=at, axis=axis, name="pin"))
        world.add(lw.Armature("pin", rotor, name="pin rotor"))
    oracle = Oracle(text, at, axis, rotor)
    J = oracle.rows(np.zeros(n))[0]
    free = np.linalg.svd(J)[2][len(J) :]
    qd = free.T @ rng.normal(size=len(free))
    joints = [f"j{k}" for k in range(n)]
    world.keyframes["moving"] = lw.Keyframe(dict.fromkeys(joints, 0.0), dict(zip(joints, qd, strict=True)), {"motor": 0.7})
    return world, oracle, qd


@pytest.mark.parametrize("closing", ["ball", "hinge"])
@pytest.mark.parametrize(("solver", "integrator"), EVERY)
def test_accelerations_are_those_of_a_dense_system(tmp_path, solver, integrator, closing):
    for seed in range(4):
        world, oracle, qd = looped(tmp_path, seed, closing)
        sim = lw.Simulation(world, solver=solver, integrator=integrator)
        sim.reset("moving")
        expected = oracle.accelerations(np.zeros(len(qd)), qd, 0.7)
        found = np.array([np.r_[sim.acceleration(b), sim.angular_acceleration(b)] for b in world.bodies])
        assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max(), seed


@pytest.mark.parametrize("closing", ["ball", "hinge"])
def test_all_move_alike_and_keep_energy(tmp_path, closing):
    """Energy has the rotors' part, of those that close the loop, too."""
    world, _, _ = looped(tmp_path, 1, closing)
    ends = {}
    for solver, integrator in EVERY:
        dt = 1e-3 if integrator in ("rattle", "rk4", "joint-rk4") else 1e-4
        sim = lw.Simulation(world, dt=dt, solver=solver, integrator=integrator)
        sim.reset("moving")
        sim.control["motor"] = 0.0
        start = sim.energy()
        assert start.kinetic > 0.1
        sim.step(round(0.1 / dt))
        ends[solver, integrator] = np.array([sim.position(b) for b in world.bodies])
        assert abs(sim.energy().total - start.total) < 2e-2 * start.kinetic, (solver, integrator)
        if integrator in ("rk4", "joint-rk4"):
            assert abs(sim.energy().total - start.total) < 1e-7 * start.kinetic, (solver, integrator)
    for pair, end in ends.items():
        assert np.abs(end - ends["tree", "rk4"]).max() < 1e-3, pair
