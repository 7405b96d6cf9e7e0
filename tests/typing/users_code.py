"""What a user writes, of every part of the package: type checkers have nothing to say of it. It is checked and never run."""

from pathlib import Path

import numpy as np

import linkwork as lw

# -- the first lines of the README ---------------------------------------------------------------------------------------
world = lw.World(gravity=(0, 0, -9.81))
crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
bead = world.add(lw.Particle(0.5, position=(0.4, 0, 0), name="bead"))
world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
world.add(lw.Ball(crank, bead, at=(0.4, 0, 0), name="pin"))
world.add(lw.Force(bead, lambda b, t: -0.4 * lw.norm(b.velocity) * b.velocity, name="wind"))

sim = lw.Simulation(world, dt=1e-3)
rec = sim.run(2.0, record_every=0.01)
print(sim.angle("axle"), sim.reaction("pin").force, sim.drift())

# -- bodies: what is given is converted, what is read is an array --------------------------------------------------------
arm = lw.RigidBody(2, [0.1, 0.1, 0.1], position=np.array([0.0, 0.0, 1.0]), orientation=(1, 0, 0, 0), name="arm")
arm.position = [0, 0, 2]
height: float = arm.position[2] + arm.inertia[0, 0] + arm.mass
plate = lw.RigidBody(shape=lw.Cylinder(0.1, 0.02), density=7800.0, velocity=np.zeros(3))
ball = lw.ScalableBody(1.0, shape=lw.Sphere(0.2), stretch=(1, 1, 2), stiffness=100)
sheet = lw.AffineBody(1.0, (0.1, 0.1, 0.1), deformation=np.eye(3))
disc = lw.PlanarBody(1.0, 0.2, position=(0, 1), angle=0.3, plane="xz")
arms = lw.LagrangianBody(lambda u: ((lw.sin(u[0]), 0, -lw.cos(u[0])),), (1.0,), coordinates=(0.5,), name="arms")
pair = lw.double_pendulum((1.0, 0.7), angles=[0.3, 0.4], name="pair")
hull = lw.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
floor = lw.Mesh(np.zeros((3, 3)), [(0, 1, 2)])
ground = lw.HeightField([[0, 0], [0, 0.1]], size=(2, 2))
volume: float = hull.volume + hull.points[0, 0] + lw.Capsule(0.1, 1).inertia(2.0)[0, 0]

# -- joints, constraints and forces --------------------------------------------------------------------------------------
k = lw.Parameter(20.0, name="k")
slide = world.add(lw.Slider("ground", arm, at=(0, 0, 0), axis=(0, 0, 1)))
assert slide.axis is not None and slide.axis.shape == (3,)
crosses = world.add([lw.Universal(arm, "crank", on_b=(0, 0, 0), first=(1, 0, 0), second=[0, 1, 0])])
world.add(lw.Weld(arm, plate, at=(0, 0, 0)))
world.add(lw.Screw(arm, plate, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.01))
rod = world.add(lw.Distance(arm, bead, 0.5, on_a=(0.1, 0, 0), name="rod"))
world.add(lw.Gear("axle", slide, 2.0 * crosses[0].first[0]))
world.add(lw.Drive("axle", rate=lambda t: 2 * t))
world.add(lw.Motion(bead, lambda t: (0.1 * t, 0, 1), within=0.1))
world.add(lw.Spring(arm, bead, k, rest=0.1, damping=1))
world.add(lw.Damper("arm", "bead", 2.0, on_b=(0, 0, 0)))
world.add(lw.JointSpring("axle", 3.0, damping=0.1, rest=0.2))
world.add(lw.JointLimit("axle", -1.0, 1.0, stiffness=1e3))
world.add(lw.Wrench(arm, force=(0, 0, k), torque=lambda t: (0, 0, t), frame="body"))
world.add(lw.Motor("axle", "velocity", kd=5.0, limit=20, range=(-1, 1), name="drive"))
world.add(lw.Cable([("ground", (0, 0, 1)), (arm, [0.1, 0, 0])], 200.0, rest=(0, 0.8)))
world.add(lw.Follow(arm, lw.Trajectory([0, 1], [(0, 0, 0), (0, 0, 1)]), stiffness=100))
world.add(lw.Collider(world.ground, lw.Plane(), friction=0.5, name="floor"))
world.add(lw.Contact(arm, "floor", friction=0.8))
world.add(lw.Rope(arm, bead, 1.0))
world.add(lw.HardLimit("axle", lower=-1, upper=[1.0]))
world.add(lw.Inequality(arm, lambda b, t: b.position[2] + t, restitution=0.5))
world.add(lw.Inequality(arm, bead, lambda a, b, t: lw.norm(a.position - b.position) - 1, slip=lambda a, b, t: a.velocity[0],
                        friction=0.3, name="apart"))  # fmt: skip
world.add(lw.Visual(arm, lw.Ellipsoid(0.1, 0.2, 0.3), color=(1, 0, 0, 1)))
tool = world.add(lw.Frame("arm", position=(0, 0, 0.3), orientation=[1, 0, 0, 0], name="tool"))
eye = world.add(lw.Frame(world.ground, np.ones(3)))
reach: float = tool.position[2] + world.frames[0].orientation[0]

# -- any function --------------------------------------------------------------------------------------------------------
world.add(lw.Constraint(arm, lambda b, t: b.point((0, 0, -1))[2], name="foot"))
world.add(lw.Constraint(arm, bead, lambda a, b, t: lw.norm(b.position - a.position) - k, name="string"))
world.add(lw.Constraint(arm, lambda b, t: [b.orientation[1, 0] - lw.sin(t), lw.dot(b.direction((0, 1, 0)), (0, 0, 1))]))
world.add(lw.VelocityConstraint(arm, lambda b, t: b.angular_velocity - (0, 0, t)))
world.add(lw.Force(arm, bead, lambda a, b, t: k * (a.position - b.position), on_a=(0.1, 0, 0)))
world.add(lw.Force(arm, lambda b, t: lw.where(t < 1, 10 * b.direction((1, 0, 0)), (0, 0, 0)), torque=True))
world.add(lw.Constraint(arm, bead, "crank", lambda a, b, c, t: a.position[2] + b.position[2] + 2 * c.position[2]))
world.add(lw.Constraint(*[bead, arm, crank], lambda a, b, c, t: a.position - b.position))
world.add(lw.Constraint(arm, function=lambda b, t: b.position[2], force=lambda b, t: b.spin((0, 0, 1))))
report = lw.check(rod)
assert report.problems == [], report


def wind(body: lw.BodyProxy, t: lw.Expression) -> lw.Expression:
    return -0.3 * (body.velocity - (lw.sin(t), 0, 0))


world.add(lw.Force(arm, wind, name="breeze"))


# -- a simulation: stepped, read, commanded, changed ---------------------------------------------------------------------
def push(now: lw.Simulation) -> None:
    now.control["drive"] = 2.0 if now.time < 1 else 0.0


sim = lw.Simulation(world, 1e-3, "implicit", tolerance=1e-9, off=["rod"])
sim.step()
sim.step(100)
rec = sim.run(1.0, control=push, until=lambda now: now.time > 0.5, record=["pin"])
speed: float = sim.rate("axle") + sim.velocity(arm)[0] + sim.positions[0, 2] + sim.q[0] + sim.energy().total
place = sim.point("arm", (0, 0, 1)) + sim.position(bead) + sim.frame(arm) @ np.ones(3)
place += sim.position(tool) + sim.velocity("tool") + sim.acceleration(eye) + sim.point(tool, (0, 0, 1))
place += sim.pose("tool").position + sim.pose(arm).frame @ np.ones(3)
moving = sim.twist(tool) + sim.frame_jacobian("tool", axes="local") @ sim.qd
framed: tuple[str, ...] = sim.frames.names
pull = sim.force("wind").force @ sim.reaction(rod, arm).torque
depth = min((point.gap for point in sim.contacts()), default=0.0)
names: list[str] = [str(name) for name in sim.q_names]
matrix = sim.matrices.H
sim.control.commands = [0.5]
torque = sim.control["drive"]
kept = sim.state
sim.state = kept.copy()
sim.set(k, 30.0)
sim.set("k", sim.get(k) + 1)
sim.set_state(q=[0.3, 7.0], velocities=np.zeros((2, 6)), project=True)
sim.reset(lw.Keyframe(positions={"axle": 0.3}))
sim.strike(arm, (0, 0, 1), at=(0.1, 0, 0))
with sim.grab("arm", (0, 0, 1), stiffness=100.0) as hand:
    hand.to((0, 0, 2))
sim.switch(rod, on=False)
latch = sim.add(lw.Ball(arm, bead, at=(0.4, 0, 0)))
world.remove("rod")
world.remove(latch, cascade=True)
slope = sim.derivative(0.0, sim.pack())
sim.unpack(slope)
first: str = world.bodies[0].name

# -- a recording ---------------------------------------------------------------------------------------------------------
path: Path = rec.save("run.nc")
again = lw.Recording.load(path).first(10).joined(rec)
heights = again["bead"].position[:, 2] + again[arm].position[:, 2]
angles = again[slide].angle
total: float = again.energy[-1] + again.position[0, 0, 2]
rec.plot("bead", "bead.png").get_axes()
rec.replay("run.html")
rec.animate(Path("run.gif"), trace=[arm, "bead"])
rec.render("run.mp4", size=(640, 480))
units = rec.to_xarray()["position"].attrs["units"]

# -- files, scenes, joint coordinates ------------------------------------------------------------------------------------
robot = lw.load("robot.urdf", floating=True, packages={"robot": "meshes"})
lw.save(robot, Path("robot.yaml"))
remarks: list[str] = [remark.what for remark in robot.remarks]
chain = lw.scenes.get("chain", n=5)
scene = lw.scenes.find("pendulum")
known = [fact.found for fact in scene.check(lw.Simulation(scene(length=2.0), dt=scene.dt, **scene.options))]
tree = lw.reduced.compile(chain)
tau = lw.reduced.rnea(tree, [0.0] * tree.nq, np.zeros(tree.nv), np.zeros(tree.nv))
qdd = lw.reduced.aba(tree, np.zeros(tree.nq), np.zeros(tree.nv), tau)
mass = lw.reduced.crba(tree, np.zeros(tree.nq))

try:
    world.assemble()
except (lw.ModelError, lw.ElementError) as error:
    print(error)
