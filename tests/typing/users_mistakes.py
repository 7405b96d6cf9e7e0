"""Mistakes of a user: type checkers refuse every line that ends in `# refused`, and no other. It is checked and never run."""

import linkwork as lw

world = lw.World()
arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="arm"))
bead = world.add(lw.Particle(0.5, name="bead"))
axle = world.add(lw.Hinge("ground", arm, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
k = lw.Parameter(20.0)
sim = lw.Simulation(world)
rec = sim.run(1.0)

lw.Hinje("ground", arm)  # refused
lw.World(gravity=9.81)  # refused
lw.World(gravity="down")  # refused
lw.RigidBody("heavy", (1, 1, 1))  # refused
lw.RigidBody(1.0, shape="box")  # refused
lw.RigidBody(1.0, (1, 1, 1), position="here")  # refused
lw.RigidBody(1.0, (1, 1, 1), pos=(0, 0, 1))  # refused
lw.RigidBody(1.0, (1, 1, 1), name=7)  # refused
lw.Box(0.1, 0.2)  # refused
lw.Sphere("large")  # refused
lw.ConvexHull("points")  # refused
lw.Hinge("ground")  # refused
lw.Hinge("ground", 3)  # refused
lw.Hinge("ground", arm, at=(0, 0, 0), axes=(0, 1, 0))  # refused
lw.Ball("ground", arm, at=1.0)  # refused
lw.Spring(arm, bead)  # refused
lw.Spring(arm, bead, "stiff")  # refused
lw.Distance(arm, bead, length="short")  # refused
lw.Motor(axle, "velocity", kd=(1, 2))  # refused
lw.Gear(axle, bead, 2.0)  # refused
lw.Collider(arm, "floor")  # refused
lw.Force(bead, lambda b, t: b.velocty)  # refused
lw.Force(arm, bead, lambda a, b, t: a.positon - b.position)  # refused
lw.Constraint(arm, lambda b, t: b.point()[2])  # refused
lw.Wrench(arm, force="up")  # refused
lw.Parameter("k")  # refused
lw.Keyframe(position={"axle": 0.3})  # refused

arm.positon = (0, 0, 1)  # refused
arm.position = "there"  # refused
arm.position.lenght  # refused
arm.mass = "light"  # refused
axle.axle  # refused
world.bodys  # refused
world.add("arm")  # refused
world.remove(3)  # refused
world.add(bead).orientation  # refused

lw.Simulation()  # refused
lw.Simulation("world")  # refused
lw.Simulation(world, dt="fast")  # refused
lw.Simulation(world, tolerence=1e-9)  # refused
lw.Simulation(world, off=3)  # refused
sim.stepp()  # refused
sim.step("twice")  # refused
sim.run()  # refused
sim.run("long")  # refused
sim.run(1.0, control=3)  # refused
sim.run(1.0, until=lambda now: now.tyme > 1)  # refused
sim.position()  # refused
sim.position(3)  # refused
sim.pose(3)  # refused
sim.twist("tool", axes=3)  # refused
sim.frames.names = ()  # refused
lw.Frame(position="up")  # refused
sim.point(arm)  # refused
sim.angle(arm)  # refused
sim.angle("axle").degrees  # refused
sim.reaction("axle").forces  # refused
sim.energy().totals  # refused
sim.time = "now"  # refused
sim.dt = 1e-4  # refused
sim.state = 3  # refused
sim.set(k)  # refused
sim.set(3, 1.0)  # refused
sim.set_state(position=[(0, 0, 0)])  # refused
sim.grab("arm").pull((0, 0, 1))  # refused
sim.strike(arm)  # refused
sim.switch("axle")  # refused
sim.reset(3)  # refused

rec["bead"].position  # any record may be behind a name
rec[arm].angle  # refused
rec.plot(3)  # refused
rec.save()  # refused
rec.energies  # refused
lw.load(3)  # refused
lw.save("world.yaml")  # refused
lw.scenes.get(3)  # refused
lw.scenes.find("pendulum").names  # refused
lw.reduced.rnea(world)  # refused
lw.reduced.compile("chain")  # refused
lw.check()  # refused
