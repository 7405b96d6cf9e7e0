"""linkwork: a full step with `euler` (what the peers do) or `rattle` (its default: constraints exact to rounding)."""

import time

import linkwork as lw
from benchmarks.peers.interface import GRAVITY, LENGTH, MASS, WIDTH
from benchmarks.timing import Run

name = "linkwork"
version = getattr(lw, "__version__", "unknown")
work = "step"


class _Chain(Run):
    def __init__(self, joint, n, dt, integrator):
        begin = time.perf_counter()
        self.world = _world(joint, n)
        built = time.perf_counter()
        super().__init__(lw.Simulation(self.world, dt=dt, integrator=integrator))
        self.build_seconds = built - begin
        self.compile_seconds = time.perf_counter() - built
        self.last = f"link{n - 1}"

    advance = Run.step

    def tip(self):
        return tuple(float(x) for x in self.sim.point(self.last, (LENGTH / 2, 0, 0)))


def _world(joint, n):
    world = lw.World(gravity=(0, 0, GRAVITY))
    previous = world.ground
    for i in range(n):
        link = lw.RigidBody(
            mass=MASS,
            shape=lw.Box(LENGTH, WIDTH, WIDTH),
            position=(LENGTH * (i + 0.5), 0, 0),
            name=f"link{i}",
        )
        link = world.add(link)
        world.add(joint(previous, link, (LENGTH * i, 0, 0)))
        previous = link
    return world


def _ball(a, b, at):
    return lw.Ball(a, b, at=at)


def _hinge(a, b, at):
    return lw.Hinge(a, b, at=at, axis=(0, 1, 0))


def ball_chain(n, dt, integrator="euler"):
    """n links on ball joints."""
    return _Chain(_ball, n, dt, integrator)


def hinge_chain(n, dt, integrator="euler"):
    """n links on hinges about y."""
    return _Chain(_hinge, n, dt, integrator)
