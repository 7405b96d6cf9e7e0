"""Reports: what can be asked of a simulation at any moment. Bodies first, then constraints, then how it is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import HardLimit, JointFriction, Rope
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.engines.integrators import Integrator
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.model.least_norm import Sharing
from linkwork.model.model import Model
from linkwork.model.nodes import blocks_of
from linkwork.schedules.schedules import IterativeReport, NewtonReport, Programs
from linkwork.symbolic.bodies import GLOBALS
from linkwork.symbolic.lagrangian import Lagrangian

if TYPE_CHECKING:
    from linkwork.contact.contact_system import Touching
    from linkwork.simulation import contact_query
    from linkwork.simulation.matrices import Matrices

EXCESSIVE = 1e3  # times the shortest multipliers: longer ones come from rows that contradict each other
PROXIMAL = 5  # refinements where pivots were made regular: each takes away the part of the error that this left


@dataclass(frozen=True)
class Energy:
    """Joules. `potential` is that of weight, springs and the elasticity of bodies.

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


@dataclass(frozen=True)
class Reaction:
    """What a constraint puts on a body: force (3, N) and torque (3, N m) about `at`, in the world; `generalised` are the
    multipliers of its rows. `determined`: not so where other constraints hold the same, as in most closed linkages of
    hinges; then this is its part when all of them together pull as little as they can (least norm, N and N m alike)."""

    force: np.ndarray
    torque: np.ndarray
    at: np.ndarray
    generalised: np.ndarray
    determined: bool = True


class Reports:
    """What Simulation can tell. All vectors are in the world frame."""

    name: str | None = None
    model: Model
    programs: Programs
    integrator: Integrator
    work: np.ndarray
    _stale: bool  # derived values are behind the coordinates
    _impulses: bool  # those of the last step or impact are there
    _unbooked: bool  # but for the last solve of the step, whose multipliers lie where it left them
    _solved: bool  # accelerations and multipliers are those of this moment
    _sharing: Sharing | None = None  # of redundant constraints then
    _touching: Touching | None = None  # what touches, if anything can
    world: Any

    def _follow_world(self) -> None:
        raise NotImplementedError

    @property
    def dt(self) -> float:
        raise NotImplementedError

    # -- bodies ------------------------------------------------------------------------------------------------
    def position(self, body) -> np.ndarray:
        """Where the body's `position` is now (3, m)."""
        return self._pose(body).position[0]

    def orientation(self, body) -> np.ndarray:
        """Unit quaternion w x y z."""
        return self._pose(body).orientation[0]

    def velocity(self, body) -> np.ndarray:
        """Of the body's `position` (3, m/s)."""
        return self._pose(body).velocity[0]

    def angular_velocity(self, body) -> np.ndarray:
        """(3, rad/s)."""
        return self._pose(body).angular_velocity[0]

    def frame(self, body) -> np.ndarray:
        """(3, 3): a vector of the body, in the world. A rotation for bodies that do not stretch."""
        return self._pose(body).frame[0]

    def point(self, body, local) -> np.ndarray:
        """Where a local point of the body is now (3, m)."""
        number = self._body(body)
        return readout.point(self.model, self.work, number, self._local(number, local))

    def jacobian(self, body, local=(0.0, 0.0, 0.0)) -> np.ndarray:
        """(3, dim): the velocity of a local point by the body's own velocity components. A rigid body's are the velocity
        of its `position` and its angular velocity."""
        number = self._body(body)
        J = self._point_jacobian(number, self._local(number, local))
        if self.model.bodies.kinds[number].name == "RigidBody":
            pose = readout.poses(self.model, self.work, number)
            arm = pose.frame[0] @ np.asarray(local, dtype=float)
            J = np.hstack([np.eye(3), -_skew(arm)])
        return J

    def coordinates(self, body) -> np.ndarray:
        """The coordinates u of a Lagrangian body now (n,).

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, -10))
        >>> arms = world.add(lw.double_pendulum(angles=(0.5, 0.5)))
        >>> sim = lw.Simulation(world)
        >>> sim.coordinates(arms).tolist(), sim.rates(arms).tolist()
        ([0.5, 0.5], [0.0, 0.0])
        """
        return self.work[self.model.field_of_body(self._lagrangian(body), "q")].copy()

    def rates(self, body) -> np.ndarray:
        """The rates u' of the coordinates of a Lagrangian body now (n,)."""
        return self.work[self.model.field_of_body(self._lagrangian(body), "v")].copy()

    def _lagrangian(self, body) -> int:
        number = self._body(body)
        if not isinstance(self.model.bodies.kinds[number], Lagrangian):
            label = checks.label(self.model.bodies.elements[number])
            raise LinkworkError(f"{label}: it has no coordinates of its own; ask for its position and orientation")
        return number

    def acceleration(self, body) -> np.ndarray:
        """Of the body's `position` (3, m/s^2), from the forces and constraints of this moment."""
        return self._accelerations(self._body(body))[0]

    def angular_acceleration(self, body) -> np.ndarray:
        """(3, rad/s^2), of bodies with an angular velocity among their components."""
        return self._accelerations(self._body(body))[1]

    # -- constraints and the whole -----------------------------------------------------------------------------
    def angle(self, joint) -> float:
        """The joint's coordinate: the angle of a hinge, cylinder or screw (turns counted, rad), the travel of a slider
        (m); zero as built."""
        return self._coordinate(joint)[0]

    def rate(self, joint) -> float:
        """The rate of the joint's coordinate."""
        return self._coordinate(joint)[1]

    def unknowns(self, constraint) -> np.ndarray:
        """The coordinates that a constraint finds for itself, now: those of a point on a curve or surface that has coordinates
        of its own; or where a Tangent touches: coordinates of the surface that has them, of both if both have, or else the
        point in the frame of a."""
        node_number, part = self._constraint(constraint)
        node = self.model.nodes[node_number]
        if "unknowns" not in node.kind.parts[part].relation.kept:
            raise LinkworkError(f"{checks.label(node.elements[part])}: it finds no coordinates; ask a Tangent, or a point on a "
                                "curve or surface with a start")  # fmt: skip
        return self._numbers(node_number, part)["unknowns"].copy()

    def reaction(self, constraint, body=None) -> Reaction:
        """The force and torque that a constraint puts on its second body (on its only body), at the anchor, from the
        accelerations of this moment. `body`: on another of its bodies. On a Lagrangian body it is the least force on the point
        that is held that does the same. Of a rope or a hard limit it is the mean of the last
        step, and so are contact forces that accelerations of this moment count with."""
        if (stop := self._stop(constraint)) is not None:
            return self._stop_reaction(stop, body)
        node_number, part = self._constraint(constraint)
        self._solve_accelerations()
        node = self.model.nodes[node_number]
        element = node.elements[part]
        rows = node.rows_of(element)
        multipliers = -self.work[self.model.field_of_node(node_number, "x")]
        pulls = self._node_blocks(node_number, self.programs.pulls if node.kind.aimed else self.programs.jacobian)
        target = self._second_body(node.kind.parts[part].relation, element) if body is None else self._body(body)
        if target not in node.ends:
            raise LinkworkError(f'{checks.label(element)}: it does not act on "{self._name(body)}"; name one of its bodies')
        generalised = pulls[node.ends.index(target)][rows].T @ multipliers[rows]
        at = self._anchor(node_number, part, target)
        if isinstance(self.model.bodies.kinds[target], Lagrangian):
            at, force, torque = self._least_pull(node_number, part, target, generalised)
        else:
            force, torque = readout.wrench(self.model, self.work, target, generalised, at)
        determined = self._sharing is None or self._sharing.determined(node_number, rows)
        return Reaction(force, torque, at, multipliers[rows], determined)

    def impulse(self, constraint) -> np.ndarray:
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
        if (element := self._stop(constraint)) is not None:
            given = np.zeros(self._in_contact().coordinates_of(element))
            for stop, rows, k in self._in_contact().of_element(element):
                given[stop.coordinate] += stop.sign * rows.total[k, 0]
            return given
        node_number, part = self._constraint(constraint)
        if not self._impulses:
            raise LinkworkError(self._no_impulses())
        self._book()
        node, start = self.model.nodes[node_number], int(self.model.impulse_at[node_number])
        return -self.work[start : start + node.kind.size][node.rows_of(node.elements[part])]

    def contacts(self) -> contact_query.TouchingPoints:
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
        from linkwork.simulation import contact_query

        contact = self._in_contact()
        if not contact.before_count:
            self._derive()
            contact.look(self.work, self.dt)
        return contact_query.touching_points(contact, self.model.bodies.elements, self.world.ground, self.dt)

    def contact_report(self) -> contact_query.ContactReport:
        """How the contact problems of the last steps were solved: iterations, residual, the deepest overlap."""
        from linkwork.simulation import contact_query

        return contact_query.report(self._in_contact())

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
        self._follow_world()
        return self._report_of(self.work)

    def _report_of(self, work: np.ndarray) -> IterativeReport | NewtonReport:
        report = self.programs.report(work)
        if report is None:
            raise LinkworkError(f'Simulation: the solver "{self.programs.name}" does not iterate; ask one that uses "cg" or '
                                '"implicit"')  # fmt: skip
        return report

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
        from linkwork.simulation.matrices import Matrices

        return Matrices(self)

    def _in_contact(self) -> Touching:
        self._follow_world()
        if self._touching is None:
            raise LinkworkError("Simulation: nothing touches anything in this world; add a Contact")
        return self._touching

    def _stop(self, element) -> Rope | HardLimit | JointFriction | None:
        """The rope, hard limit or dry friction that is meant, if it is one."""
        found = element if isinstance(element, Element) else self.world.find(element) if element in self.world else None
        return found if isinstance(found, (Rope, HardLimit, JointFriction)) and self._touching is not None else None

    def _stop_reaction(self, element, body) -> Reaction:
        from linkwork.contact.rows import BODY_B

        contact = self._in_contact()
        ends = contact.ends_of(element)
        target = (ends[1] if ends[1] != GROUND else ends[0]) if body is None else self._body(body)
        if target not in ends:
            raise LinkworkError(f'{checks.label(element)}: it does not act on "{self._name(body)}"; name one of its bodies')
        force, torque, value = np.zeros(3), np.zeros(3), np.zeros(contact.coordinates_of(element))
        at = readout.poses(self.model, self.work, target).position[0]
        for stop, rows, k in contact.of_element(element):
            J = (rows.Jb if contact.body_of(rows.labels[k, BODY_B]) == target else rows.Ja)[k, 0]
            pull = float(rows.total[k, 0]) / self.dt
            force = force + J[:3] * pull
            value[stop.coordinate] += stop.sign * pull
            torque = torque + (J[3:] * pull if not np.any(J[:3]) else 0.0)
            at = self._carried(target, contact.anchor_of(element, target))[0]
        return Reaction(force, torque, at, value)

    def _book(self) -> None:
        """Make the impulses complete: when they are asked for, and before another solve."""
        if self._unbooked:
            self.integrator.book(self.work)
            self._unbooked = False

    def _no_impulses(self) -> str:
        if not self.integrator.keeps_impulses:
            return f"Simulation: {self.integrator.name} keeps no impulses of its steps; use rattle, rk4, dopri5 or first-order"
        return "Simulation: there are no impulses, since no step or impact was made yet or the state was set; make a step first"

    def drift(self, velocity: bool = False) -> float:
        """The largest |C| over all position rows (m; radians count as metres); with velocity=True the largest
        |J v + C_t| and |g| over all rows."""
        self._follow_world()
        return float(np.abs(self._residuals(checks.flag(self, "velocity", velocity))[0]).max(initial=0.0))

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
        self._follow_world()
        self._derive()
        for name in ("kinetic", "potential"):
            self.work[GLOBALS.offset(name)] = 0.0
        self.integrator.run(self.work, self.programs.energy())
        return Energy(*(float(self.work[GLOBALS.offset(name)]) for name in ("kinetic", "potential", "work")))

    def _local(self, body: int, local) -> np.ndarray:
        """A point of a body as a user names it."""
        found, kind = checks.vector(self, "local", local), self.model.bodies.kinds[body]
        if isinstance(kind, Lagrangian) and not kind.is_point(found):
            label = checks.label(self.model.bodies.elements[body])
            raise LinkworkError(f"{label}: it has no point {checks.show(found)}; name one by its point(k), k from 0 to "
                                f"{kind.particles - 1}")  # fmt: skip
        return found

    # -- how it is found out -------------------------------------------------------------------------------------
    def _derive(self) -> None:
        """Poses up to date with the coordinates (they are after every step)."""
        if self._stale:
            self.integrator.run(self.work, self.programs.body("place"))

    def _solve_accelerations(self) -> None:
        """Accelerations and multipliers of this moment, without feedback; the next step starts from fresh factors."""
        if self._solved:
            return
        self._book()
        feedback = [GLOBALS.offset("stiffness"), GLOBALS.offset("damping")]
        kept = self.work[feedback]
        self.work[feedback] = 0.0
        self.work[GLOBALS.offset("kick")] = 1.0
        p = self.programs
        refinements = PROXIMAL if self.model.soft and not p.iterates else 1
        self.integrator.run(self.work, p.body("place", "accelerate"))
        self._add_contact_forces()
        self.integrator.run(self.work, p.up("acceleration"), p.backward())
        for _ in range(refinements):
            defect, *rest = p.refine()
            self.integrator.run(self.work, defect)
            self._add_contact_forces()
            self.integrator.run(self.work, *rest)
        self._stale = False
        shared = self.model.redundant or (self.model.soft and not self.model.ranked)
        self._sharing = Sharing(self.model, self._node_jacobians) if shared else None
        if self._sharing is not None:
            found = self.work[self._sharing.entries]
            self.work[self._sharing.entries] = shortest = self._sharing.shortest(found)
            if np.abs(found).max() > EXCESSIVE * (1.0 + np.abs(shortest).max()):
                self._solve_what_can_be_met(self._sharing)
        self.work[feedback] = kept
        self._stale = self._solved = True

    def _solve_what_can_be_met(self, sharing: Sharing) -> None:
        """Refine once more where rows contradict each other: what no acceleration meets asks for multipliers without end, whose
        rounding errors are forces. It is left out, and reactions add up to mass times acceleration."""
        for _ in range(PROXIMAL):
            defect, defects, *rest = self.programs.refine()
            self.integrator.run(self.work, defect, defects)
            self._add_contact_forces()
            self.work[sharing.rights] = sharing.shortest(self.work[sharing.rights])
            self.integrator.run(self.work, *rest)
            self.work[sharing.entries] = sharing.shortest(self.work[sharing.entries])

    def _fastest_turn(self) -> tuple[float, float, Element] | None:
        """Of the rigid body whose axes of different inertia the spin of a step mixes the most: how much (`Rigid.unresolved`),
        its rate (rad/s), and the body."""
        m = self.model
        if "RigidBody" not in m.bodies.members:
            return None
        held = self.programs.constrained if self.integrator.cuts_turns else ()
        numbers = np.array([b for b in m.bodies.members["RigidBody"] if b not in held])
        if not len(numbers):
            return None
        kind = m.bodies.kinds[numbers[0]]
        q, v, inertia = readout.fields(m, self.work, kind, numbers, "q", "v", "inertia")
        inertia = np.where(inertia > 0.0, inertia, 1.0)
        l = inertia * np.einsum("kji,kj->ki", readout.matrices(q[:, 3:7]), v[:, 3:6])
        s, one = l * l, 1.0 / inertia
        bent = np.abs((one[:, 0] - one[:, 1]) * (one[:, 1] - one[:, 2]))
        between = s[:, 0] * s[:, 1] + s[:, 1] * s[:, 2] + s[:, 2] * s[:, 0]
        mixed = self.dt**2 * bent * between / np.maximum(s.sum(axis=1), 1e-300)
        k = int(np.argmax(mixed))
        return float(mixed[k]), float(np.linalg.norm(v[k, 3:6])), m.bodies.elements[numbers[k]]

    def _add_contact_forces(self) -> None:
        """The mean contact forces of the last step, beside the other forces on each body."""
        if self._touching is not None and self._touching.before_count:
            self._touching.add_forces(self.work, self.dt)

    def _accelerations(self, body: int):
        self._solve_accelerations()
        m = self.model
        x = self.work[m.field_of_body(body, "x")]
        name = m.bodies.kinds[body].name
        if isinstance(m.bodies.kinds[body], Lagrangian):
            _, J, _, bias = readout.located(m, self.work, body, np.zeros(3))
            return J @ x + bias, np.zeros(3)
        pose = readout.poses(m, self.work, body)
        if name == "RigidBody":
            arm = pose.position[0] - self.work[m.field_of_body(body, "q")][:3]
            w = pose.angular_velocity[0]
            return x[:3] + np.cross(x[3:], arm) + np.cross(w, np.cross(w, arm)), x[3:].copy()
        if name.startswith("Planar"):
            first, second, normal = readout.PLANES[name.split("-")[1]]
            linear, angular = np.zeros(3), np.zeros(3)
            linear[[first, second]] = x[:2]
            angular[normal] = x[2] if len(x) == 3 else 0.0
            return linear, angular
        return x[:3].copy(), x[3:6].copy() if name == "ScalableBody" else np.zeros(3)

    def _point_jacobian(self, body: int, local: np.ndarray) -> np.ndarray:
        """(3, nv) in the body's internal velocity components; `local` in the user's frame."""
        m = self.model
        kind = m.bodies.kinds[body]
        if isinstance(kind, Lagrangian):
            return readout.located(m, self.work, body, local)[1]
        pose = readout.poses(m, self.work, body)
        world = pose.position[0] + pose.frame[0] @ local
        q = self.work[m.field_of_body(body, "q")]
        if kind.name == "RigidBody":
            return np.hstack([np.eye(3), -_skew(world - q[:3])])
        if kind.name == "Particle":
            return np.eye(3)
        if kind.name == "ScalableBody":
            R = readout.matrices(q[None, 3:7])[0]
            return np.hstack([np.eye(3), -_skew(world - q[:3]), R * local])
        if kind.name == "AffineBody":
            return np.hstack([np.eye(3), np.kron(np.eye(3), local)])
        first, second, normal = readout.PLANES[kind.name.split("-")[1]]
        J = np.zeros((3, kind.nv))
        J[first, 0] = J[second, 1] = 1.0
        if kind.nv == 3:
            J[:, 2] = np.cross(np.eye(3)[normal], world - pose.position[0])
        return J

    def _node_jacobians(self, node: int) -> list[np.ndarray]:
        return self._node_blocks(node, self.programs.jacobian)

    def _node_blocks(self, node: int, sweep: Callable[[int], np.ndarray]) -> list[np.ndarray]:
        self._derive()
        self.integrator.run(self.work, sweep(node))
        kind = self.model.nodes[node].kind
        return blocks_of(self.work[self.model.scratch :], kind.size, [body.nv if body else 0 for body in kind.kinds])

    def _residuals(self, velocity: bool) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of all position rows, or rates of all rows; and the node of each."""
        self._derive()
        self.integrator.run(self.work, self.programs.check())
        entries, nodes = self._rows_of_reports[velocity]
        return self.work[entries], nodes

    @cached_property
    def _rows_of_reports(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Entries of the report area and the nodes they belong to: residuals of position rows, rates of all rows."""
        nodes, at = self.model.nodes, self.model.report_at
        sizes = np.array([node.kind.size for node in nodes], dtype=np.int64)
        owner = np.repeat(np.arange(len(nodes)), sizes)  # the node of each row
        entry = at[owner] + np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]  # where its residual is
        of_kind = {id(node.kind): [level == "position" for level in node.kind.levels] for node in nodes}
        position = np.array([p for node in nodes for p in of_kind[id(node.kind)]], dtype=bool)
        return (entry[position], owner[position]), (entry + sizes[owner], owner)

    def _worst(self, velocity: bool):
        """(largest residual, its element)."""
        residuals, nodes = self._residuals(velocity)
        if not len(residuals):
            return 0.0, None
        wrong = np.flatnonzero(~np.isfinite(residuals))
        k = int(wrong[0]) if len(wrong) else int(np.argmax(np.abs(residuals)))
        row = int(self._rows_of_reports[velocity][0][k]) - int(self.model.report_at[nodes[k]])
        node = self.model.nodes[nodes[k]]
        row -= node.kind.size if velocity else 0
        element = next(e for e in node.elements if node.rows_of(e).start <= row < node.rows_of(e).stop)
        return float(abs(residuals[k])), element

    def _coordinate(self, joint) -> tuple[float, float]:
        node_number, part = self._constraint(joint)
        node = self.model.nodes[node_number]
        element, piece = node.elements[part], node.kind.parts[part]
        relation = piece.relation
        if not hasattr(relation, "travel") or not (relation.counters or hasattr(element, "axis")):
            raise LinkworkError(f"{checks.label(element)}: it has no angle or travel; ask a hinge, slider, cylinder or screw")
        self._derive()
        p = self._numbers(node_number, part)
        a, b = piece.arranged(node.ends)
        (Ra, _, _, wa), (Rb, _, _, wb) = self._pose_of(a), self._pose_of(b)
        if relation.counters:
            value = readout.angle(Ra[None], Rb[None], p, p["turns"].reshape(1, -1))[0]
            axis = np.cross(Ra @ p["ref_a"], Ra @ p["side_a"])
            return float(value), float(axis @ (wb - wa))
        axis = Ra @ p["axis_a"]
        (pa, va), (pb, vb) = self._carried(a, p["on_a"]), self._carried(b, p["on_b"])
        apart, apart_rate = pb - pa, vb - va
        return float(axis @ apart), float(axis @ apart_rate + np.cross(wa, axis) @ apart)

    def _numbers(self, node_number: int, part: int) -> dict[str, np.ndarray]:
        """Views of the parameters of one constraint, by name."""
        return readout.numbers(self.model, self.work, node_number, part)

    def _pose_of(self, body: int):
        """(axes, origin, velocity, spin) of a body's internal frame; the ground's is the world."""
        if body == GROUND:
            return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
        m = self.model
        pose = readout.poses(m, self.work, body)
        if m.bodies.kinds[body].name == "RigidBody":
            q, v = self.work[m.field_of_body(body, "q")], self.work[m.field_of_body(body, "v")]
            return readout.matrices(q[None, 3:7])[0], q[:3], v[:3], v[3:6]
        return readout.matrices(pose.orientation)[0], pose.position[0], pose.velocity[0], pose.angular_velocity[0]

    def _anchor(self, node_number: int, part: int, body: int) -> np.ndarray:
        """The world point at which a reaction is reported: the anchor on the second body, or where surfaces touch, else the
        body's position."""
        node = self.model.nodes[node_number]
        relation = node.kind.parts[part].relation
        second = self._second_body(relation, node.elements[part])
        p = self._numbers(node_number, part)
        if (touched := relation.place(p)) is not None:
            end = self.model.bodies.ends(relation, node.elements[part])[touched[0]]
            return touched[1] if end == GROUND else readout.point(self.model, self.work, end, touched[1])
        first_is_moving = self.model.bodies.ends(relation, node.elements[part])[1] == GROUND
        local = p.get("on_a") if first_is_moving else p.get("on_b", p.get("centre"))
        if local is None:
            return readout.poses(self.model, self.work, body).position[0]
        return self._carried(second, local)[0]

    def _carried(self, body: int, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where a point (internal coordinates) of a body is, and its velocity."""
        R, x, v, w = self._pose_of(body)
        if body == GROUND or self.model.bodies.kinds[body].name == "RigidBody":
            return x + R @ local, v + np.cross(w, R @ local)
        rate = self._point_jacobian(body, local) @ self.work[self.model.field_of_body(body, "v")]
        return readout.point(self.model, self.work, body, local), rate

    def _least_pull(self, node_number: int, part: int, body: int, generalised: np.ndarray):
        """(at, force, torque): the least force on the point by which a Lagrangian body is held that does the same."""
        node = self.model.nodes[node_number]
        ends = node.kind.parts[part].arranged(node.ends)
        local = self._numbers(node_number, part).get("on_a" if ends[0] == body else "on_b", np.zeros(3))
        value, J, _, _ = readout.located(self.model, self.work, body, local)
        return value, np.linalg.lstsq(J.T, generalised, rcond=None)[0], np.zeros(3)

    def _second_body(self, relation, element) -> int:
        a, b, *_ = self.model.bodies.ends(relation, element)
        return b if b != GROUND else a

    def _name(self, element) -> str:
        return str(element.name if isinstance(element, Element) else element)

    def _lookup(self, element, sort: str) -> tuple[int, int]:
        self._follow_world()
        name = self._name(element)
        found = self.model.names.get(name)
        if found is None or found[0] != sort:
            if found is None and name in self.world and sort != "body":
                raise LinkworkError(f"{checks.label(self.world.find(name))}: it is switched off, or what it refers to is; "
                                    "switch it on first")  # fmt: skip
            known = [n for n, (s, _, _) in self.model.names.items() if s == sort]
            raise UnknownNameError(f'Simulation: no {sort} is called "{name}"{suggestion(name, known)}')
        return found[1], found[2]

    def _pose(self, body) -> readout.Poses:
        """That of one body."""
        number = self._body(body)  # which may lead to another model
        return readout.poses(self.model, self.work, number)

    def _body(self, body) -> int:
        return self._lookup(body, "body")[0]

    def _constraint(self, constraint) -> tuple[int, int]:
        return self._lookup(constraint, "constraint")


def _skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
