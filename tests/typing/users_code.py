"""What a user writes, of every part of the package: type checkers have nothing to say of it. It is never run."""

import linkwork as lw

world = lw.World(gravity=(0, 0, -9.81))
crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
bead = world.add(lw.Particle(0.5, position=(0.4, 0, 0), name="bead"))
world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
world.add(lw.Ball(crank, bead, at=(0.4, 0, 0), name="pin"))
world.add(lw.Force(bead, lambda b, t: -0.4 * lw.norm(b.velocity) * b.velocity, name="wind"))

sim = lw.Simulation(world, dt=1e-3)
rec = sim.run(2.0, record_every=0.01)
print(sim.angle("axle"), sim.reaction("pin").force, sim.drift())
sim.stepp()
lw.Hinje()
