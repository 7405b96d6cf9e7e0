"""What implicit steps keep: constraints, linear momentum, and how much of angular momentum."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from tests.implicit import worlds
from tests.integrators.problems import PROBLEMS
from tests.solvers.forests import unit

TANGENTS = ("symmetric", "exact")
DT = 1 / 60


def simulation(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, dt=options.pop("dt", DT), solver="implicit", **options)


def off(sim, level):
    """The largest residual of all rows of a level: |C| or |g|."""
    sim.drift()  # fills the area of reports
    rows = [sim.work[sim.model.report_at[k] + row] for k, node in enumerate(sim.model.nodes)
            for row, each in enumerate(node.kind.levels) if each == level]  # fmt: skip
    return np.abs(rows).max(initial=0.0)


CONSTRAINED = {**{name: p.world for name, p in PROBLEMS.items()}, "geared": worlds.geared, "sprung": worlds.sprung,
               "sliding": worlds.sliding}  # fmt: skip


@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("name", CONSTRAINED)
def test_rows_hold_at_the_end_of_every_step(name, tangent):
    sim = simulation(CONSTRAINED[name](), tangent=tangent)
    for _ in range(40):
        sim.step()
        assert off(sim, "position") < 1e-8 and off(sim, "velocity") < 1e-9


# -- momentum of free systems ----------------------------------------------------------------------------------------------


def momentum(sim):
    """Linear and angular, about the origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in sim.world.bodies:
        R, w = sim.frame(body), sim.angular_velocity(body)
        arm = R @ body.com
        p = body.mass * (sim.velocity(body) + np.cross(w, arm))
        linear += p
        angular += R @ body.inertia @ R.T @ w + np.cross(sim.position(body) + arm, p)
    return linear, angular


JOINTS = {
    "ball": lambda a, b, at: lw.Ball(a, b, at),
    "hinge": lambda a, b, at: lw.Hinge(a, b, at, axis=(0, 0.6, 0.8)),
    "slider": lambda a, b, at: lw.Slider(a, b, at, axis=(0, 0.6, 0.8)),
    "universal": lambda a, b, at: lw.Universal(a, b, at, first=(0, 0.6, 0.8), second=(1, 0, 0)),
    "weld": lambda a, b, at: lw.Weld(a, b, at),
}
FORCES = {
    "nothing": lambda a, b, j: None,
    "joint spring": lambda a, b, j: lw.JointSpring(j, 20.0, damping=0.3),
    "torsion spring": lambda a, b, j: lw.TorsionSpring(a, b, 20.0, damping=0.3),
    "pressed spring": lambda a, b, j: lw.Spring(a, b, 2.0, rest=5.0, on_a=(0.1, 0.2, 0.3)),
    "stretched spring": lambda a, b, j: lw.Spring(a, b, 100.0, rest=0.3, damping=0.3, on_a=(0.1, 0.2, 0.3)),
    "damper": lambda a, b, j: lw.Damper(a, b, 1.0, on_a=(0.1, 0.2, 0.3)),
    "force": lambda a, b, j: lw.Force(a, b, lambda x, y, t: -30 * (y.position - x.position)),
}


def free(joint, force, reverse=False):
    """Four rigid bodies that nothing holds; `reverse`: joints and forces have the later body first."""
    rng, world, before = np.random.default_rng(0), lw.World(gravity=(0, 0, 0)), None
    for k in range(4):
        body = world.add(lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), position=(k, *(0.2 * rng.normal(size=2))),
                                      orientation=unit(rng, 4), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
                                      com=0.1 * rng.normal(size=3)))  # fmt: skip
        if before is not None:
            ends = (body, before) if reverse else (before, body)
            made = world.add(JOINTS[joint](*ends, (k - 0.5, 0.1, 0.2))) if joint else None
            element = FORCES[force](*ends, made)
            if element is not None:
                world.add(element)
        before = body
    return world


def changes(sim, steps):
    """Largest changes of linear and angular momentum in a step."""
    before, found = momentum(sim), []
    for _ in range(steps):
        sim.step()
        after = momentum(sim)
        found.append([np.abs(y - x).max() for x, y in zip(before, after, strict=True)])
        before = after
    return np.max(found, axis=0)


@pytest.mark.parametrize("iterations", [1, None])
@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("force", FORCES)
def test_linear_momentum_is_kept_to_rounding(force, tangent, iterations):
    joint = "ball" if iterations == 1 else "slider"
    assert changes(simulation(free(joint, force), tangent=tangent, iterations=iterations), 10)[0] < 1e-12


KEEPING = [(None, force) for force in ("nothing", "torsion spring", "pressed spring", "damper")]
KEEPING += [
    (joint, force) for joint in ("ball", "hinge", "slider") for force in ("nothing", "joint spring", "torsion spring", "damper")
]
KEEPING += [("universal", "nothing"), ("weld", "nothing")]


@pytest.mark.parametrize(("joint", "force"), KEEPING)
def test_one_iteration_keeps_angular_momentum(joint, force):
    """With the symmetric tangent, where nothing pulls beside the line of its partner (a spring that is stretched answers
    across its line too)."""
    for reverse in (False, True):
        assert changes(simulation(free(joint, force, reverse), iterations=1), 20)[1] < 1e-12


@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("joint", ["ball", "slider", None])
def test_converged_steps_lose_angular_momentum_of_order_dt_squared(joint, tangent):
    lost = [changes(simulation(free(joint, "damper"), tangent=tangent, dt=dt), 10)[1] for dt in (1 / 60, 1 / 240)]
    assert 10 < lost[0] / lost[1] < 25, lost
    assert lost[0] < 1e-2


@pytest.mark.parametrize("tangent", TANGENTS)
def test_converged_free_bodies_keep_angular_momentum_to_the_tolerance(tangent):
    for force in ("nothing", "torsion spring"):
        assert changes(simulation(free(None, force), tangent=tangent), 20)[1] < 1e-9
