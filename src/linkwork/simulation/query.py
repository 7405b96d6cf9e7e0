"""Query: what can be asked of a simulation at any moment. Each method begins with the System of now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.soft import elastic_energy
from linkwork.elements.core import checks
from linkwork.elements.core.element import ContactElement, Element
from linkwork.errors import LinkworkError
from linkwork.model import readout
from linkwork.schedules.solver_report import IterativeReport, NewtonReport, report_of
from linkwork.simulation.body_points import local_point, point_jacobian
from linkwork.simulation.coordinates import Coordinate
from linkwork.simulation.editor import Editor
from linkwork.simulation.frame_motion import frame_jacobian, frame_number, in_axes
from linkwork.simulation.lengths import activation_of, length_of
from linkwork.simulation.lookup import body_number, lookup, name_of
from linkwork.simulation.pose_readout import Pose, PoseReadout, Poses
from linkwork.simulation.reactions import Reaction, complete_impulses, in_contact, mean_reaction, no_impulses, refused_body
from linkwork.simulation.reads import Load, Loads, Reads
from linkwork.simulation.residuals import residuals
from linkwork.simulation.sensors import SensorReadout
from linkwork.simulation.system import System
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.contact.points import TouchingPoints
    from linkwork.elements.core.element import BodyLike, ElementLike
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.joint import JointLike
    from linkwork.simulation import contact_query
    from linkwork.simulation.matrices import Matrices
    from linkwork.util.array_types import FloatArray, Vector

ENERGIES = [GLOBALS.offset(name) for name in ("kinetic", "potential", "work")]


@dataclass(frozen=True)
class Energy:
    """Joules. `potential` is that of weight, springs, soft contact and the elasticity of bodies.

    `work` is what prescribed motion has put in since the start: `Motion`, `Drive`, a `Constraint` that depends on time, a
    `VelocityConstraint` that asks for a speed. Nothing else is counted in it: no motors, wrenches, dampers, drag, forces of
    users or damping of bodies, no impacts, no changes of parameters. Without these total - work is constant, to the order of
    the integrator; with them its change is what they do.
    """

    kinetic: float
    potential: float
    work: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


class Query:
    """What can be asked of a simulation; `readable.py` says of each what it is. All vectors are in the world frame."""

    __slots__ = ("_editor", "_reads", "_sensors")

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._reads = Reads(editor.system)
        self._sensors: SensorReadout | None = None

    def reads(self) -> Reads:
        """The readouts of the System of now."""
        system, reads = self._editor.follow(), self._reads
        if reads.system is not system:
            reads = self._reads = Reads(system)
        return reads

    def sensors(self) -> SensorReadout:
        """The readout of the sensors of the System of now."""
        system, sensors = self._editor.follow(), self._sensors
        if sensors is None or sensors.system is not system:
            sensors = self._sensors = SensorReadout(system, self)
        return sensors

    # -- bodies ----------------------------------------------------------------------------------------------------------
    def _placed(self, frame: FrameLike) -> tuple[PoseReadout, int]:
        """Where a body or frame is read, and which one it is there: bodies come first."""
        reads = self.reads()
        found = reads.system.model.names.get(frame if isinstance(frame, str) else name_of(frame))
        if found is not None and found[0] == "body":
            return reads.bodies, found[1]
        return reads.frames, frame_number(reads, frame)

    def position(self, frame: FrameLike) -> FloatArray:
        poses, number = self._placed(frame)
        return poses.position(number)

    def orientation(self, frame: FrameLike) -> FloatArray:
        poses, number = self._placed(frame)
        return poses.orientation(number)

    def velocity(self, frame: FrameLike) -> FloatArray:
        poses, number = self._placed(frame)
        return poses.velocity(number)

    def angular_velocity(self, frame: FrameLike) -> FloatArray:
        poses, number = self._placed(frame)
        return poses.angular_velocity(number)

    def frame(self, frame: FrameLike) -> FloatArray:
        poses, number = self._placed(frame)
        return poses.frame(number)

    def rotation(self, frame: FrameLike) -> FloatArray:
        """(3, 3): the axes of a body or frame in the world, without what they are stretched by."""
        poses, number = self._placed(frame)
        return poses.rotation(number)

    def pose(self, frame: FrameLike) -> Pose:
        poses, number = self._placed(frame)
        return poses.pose(number)

    def twist(self, frame: FrameLike, axes: str) -> FloatArray:
        poses, number = self._placed(frame)
        return in_axes(poses.twist(number), axes, poses, number)

    def frame_jacobian(self, frame: FrameLike, axes: str) -> FloatArray:
        poses, number = self._placed(frame)
        reads = self.reads()
        return in_axes(frame_jacobian(reads, reads.system.world.find(name_of(frame))), axes, poses, number)

    @property
    def positions(self) -> FloatArray:
        return self.reads().bodies.array("positions", 3)

    @property
    def orientations(self) -> FloatArray:
        return self.reads().bodies.array("orientations", 4)

    @property
    def velocities(self) -> FloatArray:
        return self.reads().bodies.array("velocities", 6)

    @property
    def frames(self) -> Poses:
        reads = self.reads()
        return reads.frames.all_poses(tuple(reads.frame_number))

    @property
    def q(self) -> FloatArray:
        return self.reads().q()

    @property
    def qd(self) -> FloatArray:
        return self.reads().qd()

    @property
    def q_names(self) -> tuple[Coordinate, ...]:
        return self.reads().coordinates.q_names

    @property
    def qd_names(self) -> tuple[Coordinate, ...]:
        return self.reads().coordinates.qd_names

    def point(self, frame: FrameLike, local: Vector) -> FloatArray:
        poses, number = self._placed(frame)
        reads = self.reads()
        if poses is reads.bodies:
            system, found = reads.system, local_point(reads.system, number, local)
            if not system.model.bodies.kinds[number].framed:
                return readout.point(system.model, system.work, number, found)
        else:
            found = checks.vector("Simulation", "local", local)
        return poses.position(number) + poses.frame(number) @ found

    def jacobian(self, body: BodyLike, local: Vector) -> FloatArray:
        system = self._editor.follow()
        number = body_number(system, body)
        local = local_point(system, number, local)
        J, pose = point_jacobian(system, number, local), readout.poses(system.model, system.work, number)
        return system.model.bodies.kinds[number].users_jacobian(J, pose, local)

    def point_velocity(self, body: BodyLike, local: FloatArray) -> FloatArray:
        """The velocity of a point, given in the user's frame of its body (3, m/s)."""
        system = self._editor.follow()
        number = body_number(system, body)
        return point_jacobian(system, number, local) @ system.work[system.model.field_of_body(number, "v")]

    def coordinates(self, body: BodyLike) -> FloatArray:
        system = self._editor.follow()
        return system.work[system.model.field_of_body(_lagrangian(system, body), "q")].copy()

    def rates(self, body: BodyLike) -> FloatArray:
        system = self._editor.follow()
        return system.work[system.model.field_of_body(_lagrangian(system, body), "v")].copy()

    def acceleration(self, frame: FrameLike) -> FloatArray:
        return self._acceleration(frame, 0)

    def angular_acceleration(self, frame: FrameLike) -> FloatArray:
        return self._acceleration(frame, 3)

    def _acceleration(self, frame: FrameLike, first: int) -> FloatArray:
        poses, number = self._placed(frame)
        reads = self.reads()
        return (reads.acceleration if poses is reads.bodies else reads.frame_acceleration)(number, first)

    # -- constraints and forces ------------------------------------------------------------------------------------------
    def angle(self, joint: JointLike) -> float:
        return self.reads().joint(joint, rate=False)

    def rate(self, joint: JointLike) -> float:
        return self.reads().joint(joint, rate=True)

    def travel(self, joint: JointLike) -> float:
        return self.reads().travel(joint)

    def length(self, tendon: ElementLike) -> float:
        return float(length_of(self._editor.follow(), tendon)[0])

    def activation(self, motor: ElementLike) -> float:
        return activation_of(self._editor.follow(), motor)

    def unknowns(self, constraint: ElementLike) -> FloatArray:
        system = self._editor.follow()
        node_number, part = lookup(system, constraint, "constraint")
        node = system.model.nodes[node_number]
        if "unknowns" not in node.kind.parts[part].kind.state_fields:
            raise LinkworkError(f"{checks.label(node.elements[part])}: it finds no coordinates; ask a Tangent, or a point on a "
                                "curve or surface with a start")  # fmt: skip
        return readout.numbers(system.model, system.work, node_number, part)["unknowns"].copy()

    def reaction(self, constraint: ElementLike, body: BodyLike | None) -> Reaction:
        reads = self.reads()
        system = reads.system
        found = system.model.names.get(name_of(constraint))
        if found is None or found[0] != "constraint":
            if (stop := _stop(system, constraint)) is not None:
                return mean_reaction(system, stop, None if body is None else body_number(system, body))
            found = ("", *lookup(system, constraint, "constraint"))
        _, node, part = found
        item = system.model.nodes[node]
        end = None if body is None else _end(system, item.ends, item.elements[part], body)
        return Reaction(*reads.reaction(node, part, end))

    def force(self, force: ElementLike, body: BodyLike | None) -> Load:
        reads = self.reads()
        system = reads.system
        found = system.model.names.get(name_of(force))
        if found is None or found[0] != "force":
            if (stop := _stop(system, force)) is not None:
                told = mean_reaction(system, stop, None if body is None else body_number(system, body))
                return Load(told.force, told.torque, told.at)
            found = ("", *lookup(system, force, "force"))
        _, number, _ = found
        item = system.model.forces[number]
        return reads.force(number, None if body is None else _end(system, item.ends, item.element, body))

    @property
    def forces(self) -> Loads:
        return self.reads().loads()

    def impulse(self, constraint: ElementLike) -> FloatArray:
        system = self._editor.follow()
        if (element := _stop(system, constraint)) is not None:
            contact = in_contact(system)
            given = np.zeros(contact.coordinates_of(element))
            for stop, rows, k in contact.of_element(element):
                given[stop.coordinate] += stop.told * rows.total[k, 0] * system.dt / contact.duration(system.dt)
            return given
        node_number, part = lookup(system, constraint, "constraint")
        if not system.validity.impulses:
            raise LinkworkError(no_impulses(system))
        complete_impulses(system)
        node, start = system.model.nodes[node_number], int(system.model.impulse_at[node_number])
        return -system.work[start : start + node.kind.size][node.rows_of(node.elements[part])]

    # -- contact and the whole -------------------------------------------------------------------------------------------
    def contacts(self) -> TouchingPoints:
        from linkwork.simulation import contact_query

        system = self._editor.follow()
        contact = in_contact(system)
        if not contact.before_count:
            system.place()
            contact.look(system.work, system.dt)
        return contact_query.touching_points(contact, system.model.bodies.elements, system.world.ground, system.dt)

    def contact_report(self) -> contact_query.ContactReport:
        from linkwork.simulation import contact_query

        return contact_query.report(in_contact(self._editor.follow()))

    def solver_report(self) -> IterativeReport | NewtonReport:
        system = self._editor.follow()
        return report_of(system.schedules, system.work)

    @property
    def matrices(self) -> Matrices:
        from linkwork.simulation.matrices import Matrices

        system = self._editor.follow()
        system.place()
        return Matrices(system)

    def drift(self, velocity: bool) -> float:
        system = self._editor.follow()
        return float(np.abs(residuals(system, checks.flag("Simulation", "velocity", velocity))[0]).max(initial=0.0))

    def energy(self) -> Energy:
        system = self._editor.follow()
        system.place()
        work = system.work
        work[ENERGIES[0]] = work[ENERGIES[1]] = 0.0
        system.run(system.schedules.energy())
        kinetic, potential, done = (work.item(entry) for entry in ENERGIES)
        if system.contact is not None:
            potential += elastic_energy(system.contact, work)
        return Energy(kinetic, potential, done)


def _lagrangian(system: System, body: BodyLike) -> int:
    number = body_number(system, body)
    if not system.model.bodies.kinds[number].generalised:
        label = checks.label(system.model.bodies.elements[number])
        raise LinkworkError(f"{label}: it has no coordinates of its own; ask for its position and orientation")
    return number


def _stop(system: System, element: ElementLike) -> ContactElement | None:
    """The rope, hard limit or dry friction that is meant, if it is one and in force."""
    world, contact = system.world, system.contact
    found = element if isinstance(element, Element) else world.find(element) if element in world else None
    if contact is None or not isinstance(found, ContactElement):
        return None
    return found if any(stop.element is found for stop in contact.stops) else None


def _end(system: System, ends: tuple[int, ...], element: Element, body: BodyLike) -> int:
    """Which of its bodies an element is asked about."""
    target = body_number(system, body)
    if target not in ends:
        raise LinkworkError(refused_body(element, system.model.bodies.elements[target]))
    return ends.index(target)
