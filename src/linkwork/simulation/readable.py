"""What can be read of a Simulation: each method asks Query, which finds it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.schedules.solver_report import IterativeReport, NewtonReport
from linkwork.simulation.coordinates import Coordinate
from linkwork.simulation.pose_readout import Pose, Poses
from linkwork.simulation.query import Energy, Query
from linkwork.simulation.reactions import Reaction
from linkwork.simulation.reads import Load, Loads
from linkwork.simulation.sensors import Sensors

if TYPE_CHECKING:
    from linkwork.contact.points import TouchingPoints
    from linkwork.elements.core.element import BodyLike, ElementLike
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.joint import JointLike
    from linkwork.simulation import contact_query
    from linkwork.simulation.matrices import Matrices
    from linkwork.util.array_types import FloatArray, Vector


class Readable:
    """The reading half of a Simulation's public face; it has no state of its own. All vectors are in the world frame."""

    _query: Query

    # -- bodies and frames ------------------------------------------------------------------------------------------------
    def position(self, frame: FrameLike) -> FloatArray:
        """Where a body's `position`, or the origin of a frame, is now (3, m)."""
        return self._query.position(frame)

    def orientation(self, frame: FrameLike) -> FloatArray:
        """Unit quaternion w x y z."""
        return self._query.orientation(frame)

    def velocity(self, frame: FrameLike) -> FloatArray:
        """The velocity of the body's `position`, or of the point of a body where a frame has its origin (3, m/s)."""
        return self._query.velocity(frame)

    def angular_velocity(self, frame: FrameLike) -> FloatArray:
        """(3, rad/s)."""
        return self._query.angular_velocity(frame)

    def frame(self, frame: FrameLike) -> FloatArray:
        """(3, 3): a vector of the body or frame, in the world. A rotation for bodies that do not stretch."""
        return self._query.frame(frame)

    def pose(self, frame: FrameLike) -> Pose:
        """All of these at once, of a body or frame.

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 2), name="arm"))
        >>> tool = world.add(lw.Frame(arm, position=(0.5, 0, 0), name="tool"))
        >>> sim = lw.Simulation(world)
        >>> sim.pose("tool").position.tolist(), sim.pose("tool").velocity.tolist()
        ([0.5, 0.0, 0.0], [0.0, 1.0, 0.0])
        """
        return self._query.pose(frame)

    def twist(self, frame: FrameLike, axes: str = "aligned") -> FloatArray:
        """(6,): the velocity (m/s) and angular velocity (rad/s) of a body or frame: of its origin in the world's axes
        ("aligned"), in its own axes ("local"), or in the world's axes of the point that it would carry along at the world's
        origin ("world")."""
        return self._query.twist(frame, axes)

    def frame_jacobian(self, frame: FrameLike, axes: str = "aligned") -> FloatArray:
        """(6, nv): `twist` by the velocities `qd`, so that frame_jacobian @ qd is the twist.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("double-pendulum")
        >>> tip = world.add(lw.Frame(world.bodies[-1], position=(0.5, 0, 0), name="tip"))
        >>> sim = lw.Simulation(world)
        >>> sim.step(100)
        >>> J = sim.frame_jacobian("tip", axes="local")
        >>> J.shape, bool(abs(J @ sim.qd - sim.twist("tip", axes="local")).max() < 1e-9)
        ((6, 2), True)
        """
        return self._query.frame_jacobian(frame, axes)

    @property
    def frames(self) -> Poses:
        """`pose` of all of `world.frames`, in their order, as arrays with a row each, and their names.

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> places = [world.add(lw.Frame(world.ground, position=(0, 0, k), name=f"shelf{k}")) for k in (1, 2)]
        >>> stone = world.add(lw.Particle(1.0))
        >>> sim = lw.Simulation(world)
        >>> sim.frames.names, sim.frames.position[:, 2].tolist()
        (('shelf1', 'shelf2'), [1.0, 2.0])
        """
        return self._query.frames

    @property
    def sensors(self) -> Sensors:
        """What all sensors of the world tell now, as one array and by name: docs/sensors.md.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> clock = world.add(lw.ClockSensor(delay_steps=10, name="clock"))
        >>> sim = lw.Simulation(world, dt=0.001)
        >>> sim.step(30)
        >>> sim.sensors["clock"].round(6).tolist()
        [0.02]
        """
        return Sensors(self._query.sensors)

    @property
    def positions(self) -> FloatArray:
        """(bodies, 3), m: `position` of all bodies, in the order of `world.bodies`. This array, as the others that hold
        everything at once, cannot be written, and stays as it is when the simulation goes on.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> sim.positions.shape, sim.orientations.shape, sim.velocities.shape
        ((2, 3), (2, 4), (2, 6))
        """
        return self._query.positions

    @property
    def orientations(self) -> FloatArray:
        """(bodies, 4): `orientation` of all bodies, unit quaternions w x y z."""
        return self._query.orientations

    @property
    def velocities(self) -> FloatArray:
        """(bodies, 6): `velocity` (m/s) and `angular_velocity` (rad/s) of all bodies, in the world's axes."""
        return self._query.velocities

    @property
    def q(self) -> FloatArray:
        """All coordinates: of the joints of a spanning tree, of bodies that float, of bodies of other kinds. `q_names` says
        what each is.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> sim.q.shape, sim.qd.shape
        ((2,), (2,))
        """
        return self._query.q

    @property
    def qd(self) -> FloatArray:
        """All velocities, as `qd_names` says: the rates of the coordinates, but angular velocities for quaternions."""
        return self._query.qd

    @property
    def q_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `q` are: of which joint or body, what, and in which unit. The order stays while the world does,
        and is the same for every solver.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("pendulum"))
        >>> [str(name) for name in sim.q_names], [str(name) for name in sim.qd_names]
        (['pivot: angle, rad'], ['pivot: angle, rad/s'])
        """
        return self._query.q_names

    @property
    def qd_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `qd` are."""
        return self._query.qd_names

    def point(self, frame: FrameLike, local: Vector) -> FloatArray:
        """Where a local point of a body or frame is now (3, m)."""
        return self._query.point(frame, local)

    def jacobian(self, body: BodyLike, local: Vector = (0.0, 0.0, 0.0)) -> FloatArray:
        """(3, dim): the velocity of a local point by the body's own velocity components. A rigid body's are the velocity
        of its `position` and its angular velocity."""
        return self._query.jacobian(body, local)

    def coordinates(self, body: BodyLike) -> FloatArray:
        """The coordinates u of a Lagrangian body now (n,).

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, -10))
        >>> arms = world.add(lw.double_pendulum(angles=(0.5, 0.5)))
        >>> sim = lw.Simulation(world)
        >>> sim.coordinates(arms).tolist(), sim.rates(arms).tolist()
        ([0.5, 0.5], [0.0, 0.0])
        """
        return self._query.coordinates(body)

    def rates(self, body: BodyLike) -> FloatArray:
        """The rates u' of the coordinates of a Lagrangian body now (n,)."""
        return self._query.rates(body)

    def acceleration(self, frame: FrameLike) -> FloatArray:
        """The acceleration of the body's `position`, or of the point of a body where a frame is (3, m/s^2), from the forces and
        constraints of this moment."""
        return self._query.acceleration(frame)

    def angular_acceleration(self, frame: FrameLike) -> FloatArray:
        """(3, rad/s^2), of bodies with an angular velocity among their components, and of frames on them."""
        return self._query.angular_acceleration(frame)

    # -- constraints and the whole -----------------------------------------------------------------------------
    def angle(self, joint: JointLike) -> float:
        """The joint's coordinate: the angle of a hinge, cylinder or screw (turns counted, rad), the travel of a slider
        (m); zero as built."""
        return self._query.angle(joint)

    def rate(self, joint: JointLike) -> float:
        """The rate of the joint's coordinate."""
        return self._query.rate(joint)

    def travel(self, joint: JointLike) -> float:
        """How far the second body of a slider or cylinder has travelled along the axis (m), zero as built."""
        return self._query.travel(joint)

    def length(self, tendon: ElementLike) -> float:
        """The length of a FixedTendon or a Cable now: of joints their weighted sum, zero as built (m, rad), else in metres."""
        return self._query.length(tendon)

    def activation(self, motor: ElementLike) -> float:
        """What the filter of a Motor has made of its command, at the end of the last step.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("double-pendulum")
        >>> drive = world.add(lw.Motor(world.constraints[0], filter=0.1, name="drive"))
        >>> sim = lw.Simulation(world, dt=0.001)
        >>> sim.control["drive"] = 2.0
        >>> sim.step(100)
        >>> round(sim.activation("drive"), 6)  # 2 (1 - 1/e)
        1.264241
        """
        return self._query.activation(motor)

    def unknowns(self, constraint: ElementLike) -> FloatArray:
        """The coordinates that a constraint finds for itself, now: those of a point on a curve or surface that has coordinates
        of its own; or where a Tangent touches: coordinates of the surface that has them, of both if both have, or else the
        point in the frame of a."""
        return self._query.unknowns(constraint)

    def reaction(self, constraint: ElementLike, body: BodyLike | None = None) -> Reaction:
        """The force and torque that a constraint puts on its second body (on its only body), at the anchor, from the
        accelerations of this moment. `body`: on another of its bodies. On a Lagrangian body it is the least force on the point
        that is held that does the same. Of a rope or a hard limit it is the mean of the last
        step, and so are contact forces that accelerations of this moment count with."""
        return self._query.reaction(constraint, body)

    def force(self, force: ElementLike, body: BodyLike | None = None) -> Load:
        """What a spring, damper, motor, cable or any other force puts on its second body (on its only body) now, as force,
        torque, and the point about which the torque is told: where the force acts on the body; where several forces do, or a
        torque alone, the anchor of its joint or the body's position. `body`: on another of its bodies. Of a rope, a hard limit
        or dry friction it is the mean of the last step.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> bead = world.add(lw.Particle(1.0, position=(0, 0, 2), name="bead"))
        >>> spring = world.add(lw.Spring(world.ground, bead, 10.0, rest=1.5, name="spring"))
        >>> sim = lw.Simulation(world)
        >>> float(sim.force("spring").force[2]), sim.force("spring").at.tolist()
        (-5.0, [0.0, 0.0, 2.0])
        """
        return self._query.force(force, body)

    @property
    def forces(self) -> Loads:
        """What all forces put on their second (only) bodies now, in the order of `world.forces`, as arrays with a row each.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> bead = world.add(lw.Particle(1.0, position=(0, 0, 2), name="bead"))
        >>> springs = [world.add(lw.Spring(world.ground, bead, k, rest=1.0, name=f"spring{k}")) for k in (10, 20)]
        >>> sim = lw.Simulation(world)
        >>> sim.forces.names, sim.forces.force[:, 2].tolist()
        (('spring10', 'spring20'), [-10.0, -20.0])
        """
        return self._query.forces

    def impulse(self, constraint: ElementLike) -> FloatArray:
        """What a constraint gave in the last step or impact: its multipliers times the time, a number a row (N s, N m s).

        All solves of the step are added up: the kicks of rattle with their corrections, the stages of rk4 and dopri5 with
        their projection, in all parts of a step that was cut. The rows of a Ball, and the first three of a Hinge, are
        the axes of the world, and the impulse is on the second body. A rope gives one number, its pull; so does a hard limit,
        negative where it pushes its coordinate up.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, -10))
        >>> lamp = world.add(lw.Particle(2.0, position=(0, 0, 1)))
        >>> hook = world.add(lw.Ball(world.ground, lamp, at=(0, 0, 1), name="hook"))
        >>> sim = lw.Simulation(world, dt=0.01)
        >>> sim.step()
        >>> float(sim.impulse("hook")[2].round(12))
        0.2
        """
        return self._query.impulse(constraint)

    def contacts(self) -> TouchingPoints:
        """Where bodies touch, and the forces there: a list of points, in a fixed order, with arrays of all of them behind it.
        They are those of the last step (`euler`: of its beginning), with what it gave; before the first one there are no
        forces.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, -10))
        >>> floor = world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        >>> box = world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05), name="box"))
        >>> rule = world.add(lw.Contact())
        >>> sim = lw.Simulation(world)
        >>> sim.step(10)
        >>> len(sim.contacts()), float(sim.contacts().forces[:, 2].sum().round(4))
        (4, 20.0)
        >>> sim.contacts()[0].bodies
        (<Ground "ground">, <RigidBody "box">)
        """
        return self._query.contacts()

    def contact_report(self) -> contact_query.ContactReport:
        """How the contact problems of the last steps were solved: iterations, residual, the deepest overlap."""
        return self._query.contact_report()

    def solver_report(self) -> IterativeReport | NewtonReport:
        """How a solver that iterates has solved: `cg` since this simulation was made (iterations, residuals), `implicit` in the
        last step (iterations of Newton's method, parts).

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("chain"), solver="cg")
        >>> sim.step(100)
        >>> report = sim.solver_report()
        >>> report.residual < 1e-10, report.at is None
        (True, True)
        >>> sim = lw.Simulation(lw.scenes.get("chain"), solver="implicit", iterations=1)
        >>> sim.step()
        >>> sim.solver_report()
        NewtonReport(iterations=1, parts=1)
        """
        return self._query.solver_report()

    @property
    def matrices(self) -> Matrices:
        """The equations of motion of this moment as sparse matrices with names: M, J, dJ/dt, C, the KKT matrix, H, right-hand
        sides; solutions with the solver's factors, responses to forces, the order of elimination. It stays as it is when the
        simulation goes on: docs/matrices.md.

        >>> import linkwork as lw
        >>> sim = lw.Simulation(lw.scenes.get("double-pendulum"))
        >>> m = sim.matrices
        >>> m, m.H.shape
        (<Matrices: 12 velocities, 10 rows>, (2, 2))
        """
        return self._query.matrices

    def drift(self, velocity: bool = False) -> float:
        """The largest |C| over all position rows (m; radians count as metres); with velocity=True the largest
        |J v + C_t| and |g| over all rows."""
        return self._query.drift(velocity)

    def energy(self) -> Energy:
        """Kinetic and potential energy now, and the work of prescribed motion so far (what that counts: `Energy`).

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, -10))
        >>> lift = world.add(lw.Particle(2.0, velocity=(0, 0, 1), name="lift"))
        >>> told = world.add(lw.Motion(lift, lambda t: (0, 0, t)))
        >>> sim = lw.Simulation(world)
        >>> sim.step(500)
        >>> energy = sim.energy()
        >>> round(energy.total - energy.work, 6), round(energy.work, 6)
        (1.0, 10.0)
        """
        return self._query.energy()
