"""What the tangent must be: right-hand sides, angular momentum, definiteness, and how soon Newton's method ends."""

import numpy as np

import linkwork as lw
from linkwork.engines.scalars import ITERATIONS
from papers.hernandez11.chain import consistent, crooked, linear_step
from papers.hernandez11.rotations import exact, exponential, printed

STEPS = (1e-2, 5e-3, 2.5e-3)  # s
TURN = np.array([1.2, -0.6, 0.8])  # rad
WAYS = {  # name -> form of the springs' tangent, symmetric part of the whole matrix
    "exact": ("exact", False),
    "symmetric, S on all four blocks": ("symmetric", False),
    "(A + Aᵀ)/2": ("exact", True),
    "printed": ("printed", False),
}


def right_hand_side(steps=STEPS):
    """Rows: what one linear step leaves of backward Euler's equation, along free motions; also with parts of b missing."""
    chain, q = crooked(3)
    v0 = consistent(chain, q, np.random.default_rng(2).normal(size=18))
    J = chain.constraints(q)[1]
    free = np.linalg.svd(J)[2][len(J) :].T
    rows = []
    for label, without in (("as printed", None), ("no -dt dF_a/dv_b v_b0", "others"), ("no -dt dF/dv v0", "all")):
        left = []
        for dt in steps:
            v1 = linear_step(chain, q, v0, dt, without=without)
            residual = chain.mass(q) @ (v1 - v0) - dt * chain.force(chain.moved(q, dt * v1), v1)
            left.append(float(np.abs(free.T @ residual).max()))
        rows.append({"b": label, "left": left, "order": float(np.log2(left[-2] / left[-1]))})
    return rows


def momentum(dt=0.01):
    """Rows: the angular impulse that a free pair of boxes gains in one step, beyond that of -w x I w as it was."""
    chain, _ = crooked(2, seed=4, stiffness=50.0, damping=0.5, gravity=0.0, anchored=False)
    chain.inertias = np.array([0.03 * np.eye(3), 0.05 * np.eye(3)])
    R = exponential(TURN)
    q = np.array([np.zeros(3), -chain.above(np.eye(3)) - chain.above(R)]), np.array([np.eye(3), R])
    v0 = 2 * consistent(chain, q, np.random.default_rng(5).normal(size=12))
    rows = []
    for name, (form, whole) in WAYS.items():
        v1 = linear_step(chain, q, v0, dt, form, whole=whole)
        gained = chain.angular_impulse(q, chain.mass(q) @ (v1 - v0))
        rows.append({"tangent": name, "gained": float(np.linalg.norm(gained)), "lowest": lowest(name)})
    return rows


def lowest(name, angles=(0.5, 1.5, 2.5, 3.1)):
    """The lowest eigenvalue, over the stiffness, of the symmetric part of a spring's tangent on its two bodies."""
    found = []
    for phi in angles:
        w = phi * TURN / np.linalg.norm(TURN)
        E = printed(w) if name == "printed" else exact(w)
        E = (E + E.T) / 2 if name.startswith("symmetric") else E
        K = np.block([[E, -E.T], [-E, E.T]])
        found.append(np.linalg.eigvalsh((K + K.T) / 2)[0])
    return float(min(found))


def floating(n=6, stiffness=5.0, bend=1.0, spin=(0.4, 0.3, 3.0)):
    """A free bent rod that turns, without gravity; of thick links: slender ones hardly feel a turn about themselves."""
    world = lw.scenes.get("bent-rod", n=n, radius=0.05, stiffness=stiffness, damping=0.0, bend=bend)
    world.gravity = (0, 0, 0)
    world.remove("spring1")
    world.remove("joint1")
    for body in world.bodies:
        body.velocity, body.angular_velocity = np.cross(spin, body.position), np.array(spin)
    return world


def angular_momentum(sim):
    """(3,), kg m^2/s, about the origin."""
    total = np.zeros(3)
    for body in sim.world.bodies:
        R = sim.frame(body.name)
        total += body.mass * np.cross(sim.position(body.name), sim.velocity(body.name))
        total += R @ body.inertia @ R.T @ sim.angular_velocity(body.name)
    return total


def kept(steps=400, dt=0.005):
    """Rows: how much of linkwork's angular momentum changes in the first step and in all steps, and the drift by then."""
    rows = []
    for tangent in ("symmetric", "exact"):
        for number in (1, None):
            sim = lw.Simulation(floating(), dt=dt, solver="implicit", tangent=tangent, iterations=number)
            before, changes, drift = angular_momentum(sim), [], 0.0
            for _ in range(steps):
                sim.step()
                changes.append(float(np.abs(angular_momentum(sim) - before).max() / np.abs(before).max()))
                drift = max(drift, sim.drift())
            row = {"tangent": tangent, "iterations": number or "until done", "first step": changes[0], "all": max(changes)}
            rows.append(row | {"drift": drift})
    return rows


def iterations(stiffnesses=(1.0, 1e2, 1e4, 1e6), steps=100, dt=0.01):
    """Rows: iterations a step of Newton's method on a hanging chain of 20, by stiffness and tangent."""
    rows = []
    for stiffness in stiffnesses:
        row = {"stiffness": stiffness}
        for tangent in ("symmetric", "exact"):
            sim = lw.Simulation(
                lw.scenes.get("hanging-chain", n=20, stiffness=stiffness), dt=dt, solver="implicit", tangent=tangent
            )
            total = 0.0
            for _ in range(steps):
                sim.step()
                total += sim.work[ITERATIONS]
            row[tangent] = float(total / steps)
        rows.append(row)
    return rows


def measure(report=lambda text: None):
    report("right-hand sides, momentum, iterations")
    return {"right_hand_side": right_hand_side(), "momentum": momentum(), "kept": kept(), "iterations": iterations()}
