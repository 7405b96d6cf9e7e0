"""Section 5: a double pendulum as one body in two angles (equation 13), and as two particles on rods (equation 11)."""

import numpy as np

import linkwork as lw

LENGTHS, MASSES, ANGLES = (1.0, 0.7), (1.0, 0.5), (1.0, 1.4)  # m, kg, rad from below
SECONDS, DT = 5.0, 1e-3
WAYS = {"rattle": {"integrator": "rattle"}, "rk4": {"integrator": "rk4"},
        "dopri5, to 1e-11": {"integrator": "dopri5", "tolerance": 1e-11}}  # fmt: skip


def one_body():
    world = lw.World()
    world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, name="arms"))
    return world


def two_particles():
    world, at, before = lw.World(), np.zeros(3), "ground"
    for k, (length, mass, angle) in enumerate(zip(LENGTHS, MASSES, ANGLES, strict=True)):
        bob, nail = f"bob{k}", at
        at = at + length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        world.add(lw.Particle(mass, position=at, name=bob))
        world.add(lw.Distance(before, bob, name=f"rod{k}", **({"on_a": nail} if before == "ground" else {})))
        before = bob
    return world


def measure(say, seconds=SECONDS):
    """How far both are apart on the way, how much energy each has gained or lost, and the drift of the rods."""
    found = []
    for name, options in WAYS.items():
        say(name)
        body, rods = lw.Simulation(one_body(), dt=DT, **options), lw.Simulation(two_particles(), dt=DT, **options)
        starts, apart, lost, drift = [sim.energy().total for sim in (body, rods)], 0.0, [0.0, 0.0], 0.0
        arms = body.world.find("arms")
        for _ in range(round(seconds / DT / 10)):
            body.step(10)
            rods.step(10)
            for k in range(2):
                apart = max(apart, float(np.linalg.norm(body.point(arms, arms.point(k)) - rods.position(f"bob{k}"))))
            lost = [max(most, abs(sim.energy().total - at)) for most, sim, at in zip(lost, (body, rods), starts, strict=True)]
            drift = max(drift, rods.drift())
        found.append({"integrator": name, "apart": apart, "energy": lost, "drift": drift})
    return {"rows": found, "seconds": seconds, "dt": DT}
