"""Hands: a hand strikes a body in a simulation, or takes hold of it, pulls at it and lets go. The world knows nothing of it.

By a spring it pulls with a force. By a constraint it leads the point that it holds, without a jerk, and gives way for a while
where that would take more than its limit: then it pulls with the limit instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from linkwork.elements.constraints.mouse_hold import Hold
from linkwork.elements.core import checks
from linkwork.elements.core.registry import kind_for
from linkwork.elements.forces.mouse_spring import Pull
from linkwork.engines.step_driver import CUT, OK
from linkwork.errors import LinkworkError, printable
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.poses import poses_of
from linkwork.simulation.body_points import local_point, point_jacobian
from linkwork.simulation.editor import Editor
from linkwork.simulation.lookup import body_number
from linkwork.simulation.query import Query
from linkwork.simulation.system import System
from linkwork.simulation.watch import make_in_parts
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike
    from linkwork.util.array_types import FloatArray, Vector


PACE = 10.0  # 1/s: of a spring's answer on the body alone, and at which a led point comes to its goal
SPEED = 5.0  # m/s: at which points are led at most ...
PEAK = np.e  # ... which a critically damped motion over the distance d reaches at pace d / PEAK
GENTLE = 0.5  # of its limit: what a hand uses to set the body alone in motion
WEIGHTS = 3.0  # times the weight of all bodies, on earth: what a hand can pull where nobody says anything else
GRAVITY = 9.81  # m/s^2
SLIPS = 0.1  # s, from giving way to trying again


class Handle:
    """A hand on a body; `Simulation.grab` makes it. It can stand in a `with` statement, which releases it at the end."""

    def __init__(self, hands: Hands, name: str, body: BodyLike, at: FloatArray, mass: float, stiffness: float, damping: float,
                 limit: float, leads: bool) -> None:  # fmt: skip
        self.name, self.body, self.at, self.limit, self.leads = name, body, at, limit, leads
        self._hands = hands
        point = hands.query.point(body, at)
        self._pull = Pull(body, at, point, stiffness, damping, limit, name=name)
        self._hold = Hold(body, at, point, name=name)
        self.goal = point  # (3,), m, world
        self._mass = mass
        self._slipped = -np.inf  # when it last gave way
        self._gave = np.zeros(3)  # N: in the last step, where it leads

    @property
    def held(self) -> bool:
        """Whether it has not been released."""
        system = self._hands.editor.system
        return system.has(self._pull) or system.has(self._hold)

    @property
    def slipping(self) -> bool:
        """Whether a hand that leads has given way, and pulls with its limit."""
        return self.leads and self._hands.editor.system.has(self._pull)

    @property
    def point(self) -> FloatArray:
        """The place of the held point now (3, m)."""
        return self._hands.query.point(self.body, self.at)

    @property
    def force(self) -> FloatArray:
        """What it puts on the body (3, N, world): by a spring now, by a constraint in the last step."""
        self._refuse_released()
        return self._gave if self.leads else self._pulls()

    def to(self, point: Vector) -> None:
        """Pull towards this point of the world (3, m)."""
        self._refuse_released()
        self.goal = self._in_plane(checks.vector("Simulation", "point", point))
        self._aim()

    def release(self) -> None:
        """Let go: nothing of it is left, and the body moves on with the velocity that it has."""
        self._refuse_released()
        self._hands.let_go(self)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: None) -> None:
        if self.held:
            self.release()

    def __repr__(self) -> str:
        return f'<Handle "{printable(self.name)}" on {checks.label(self.body)}{"" if self.held else ", released"}>'

    def _refuse_released(self) -> None:
        if not self.held:
            raise LinkworkError(f'Handle "{self.name}": it has been released; grab the body again')

    def _in_plane(self, point: FloatArray) -> FloatArray:
        """The goal as far as the body can follow it."""
        found: FloatArray = kind_for(self.body).followed(point)
        return found

    def _velocity(self) -> FloatArray:
        return self._hands.query.point_velocity(self.body, self.at)

    def _pulls(self) -> FloatArray:
        """The force of the spring now."""
        wanted = self._pull.stiffness * (self.goal - self.point) - self._pull.damping * self._velocity()
        return wanted * (self.limit / max(float(np.linalg.norm(wanted)), self.limit))

    def _aim(self) -> None:
        """From where the held point is, and as it moves, to the goal."""
        start, velocity = self.point, self._velocity()
        far = max(float(np.linalg.norm(start - self.goal)), 1e-9)
        self._pull.goal = self.goal
        self._hold.start, self._hold.velocity, self._hold.goal = start, velocity, self.goal
        gentle = np.sqrt(GENTLE * self.limit / (self._mass * far))
        system = self._hands.editor.system
        self._hold.since, self._hold.pace = system.time, min(PACE, PEAK * SPEED / far, gentle)
        system.write_own(self._pull)
        system.write_own(self._hold)

    def _now(self) -> Pull | Hold:
        """The element that should be in force."""
        return self._hold if self.leads and self._hands.editor.system.time - self._slipped >= SLIPS else self._pull


class Hands:
    """What is done to the bodies of a simulation by hand: they are struck and grabbed."""

    def __init__(self, editor: Editor, query: Query) -> None:
        self.editor, self.query = editor, query
        self.handles: tuple[Handle, ...] = ()

    @property
    def held(self) -> tuple[Handle, ...]:
        """The hands that hold on to something: one whose body was removed does not."""
        return tuple(handle for handle in self.handles if handle.held)

    def grab(
        self, body: BodyLike, point: Vector | None, by: str, stiffness: float | None, damping: float | None, limit: float | None
    ) -> Handle:
        """Take hold of a body at a point of the world."""
        system = self.editor.follow()
        number = body_number(system, body)
        model = system.model
        element = model.bodies.elements[number]
        checks.choice("Simulation", "by", by, ("spring", "constraint"))
        first_order = system.options.first_order
        if first_order and damping:
            raise LinkworkError(f"Simulation: damping is {damping:g}, which first-order motion does not have; leave it out")
        pose = self.query.reads().bodies.pose(number)
        where = pose.position if point is None else checks.vector("Simulation", "point", point)
        local = cast("FloatArray", np.linalg.solve(pose.frame, where - pose.position))
        if not model.bodies.kinds[number].framed:
            local = np.zeros(3) if point is None else _place_on(system, number, where)
        if model.bodies.kinds[number].is_a_point and np.abs(local).max() > 1e-9:
            raise LinkworkError(f"{checks.label(element)}: it is a point; leave `point` out")
        masses = [float(getattr(other, "mass", 1.0)) for other in model.bodies.elements]
        mass = masses[number] or sum(masses) / len(masses)  # a massless link is held as others are
        usual = (SPEED if first_order else WEIGHTS * GRAVITY) * sum(masses)
        rate = PACE if first_order else PACE**2
        k = mass * rate if stiffness is None else checks.positive("Simulation", "stiffness", stiffness)
        c = 2 * mass * PACE if damping is None else checks.non_negative("Simulation", "damping", damping)
        most = usual if limit is None else checks.positive("Simulation", "limit", limit)
        handle = Handle(self, self._name(), element, local, mass, k, 0.0 if first_order else c, most, by == "constraint")
        handle._aim()
        self._take_hold((*self.held, handle))
        return handle

    def strike(self, body: BodyLike, impulse: Vector, at: Vector | None) -> None:
        """An impulse (N s, world) on a body at a local point, felt through all joints and contacts at once."""
        system = self.editor.follow()
        number = body_number(system, body)
        impulse = checks.vector("Simulation", "impulse", impulse)
        local = local_point(system, number, np.zeros(3) if at is None else checks.vector("Simulation", "at", at))
        model, work, p = system.model, system.work, system.schedules
        if model.bodies.kinds[number].is_a_point and np.any(local):
            raise LinkworkError(f'Simulation: "{model.bodies.elements[number].name}" is a point; leave `at` out')
        system.factor()
        work[GLOBALS.offset("kick")] = 0.0
        system.run(p.body(BodyKernel.CLEAR))
        work[model.field_of_body(number, "b")] += point_jacobian(system, number, local).T @ impulse
        for k in range(len(model.nodes)):
            work[model.field_of_node(k, "b")] = 0.0
        system.run(p.forward(), p.backward())
        if system.contact is not None and not model.auxiliary:
            from linkwork.contact.impacts import respond_to_impulse

            respond_to_impulse(system.contact, work)
        system.run(p.body(BodyKernel.APPLY_IMPULSE))
        system.integrator.complete_impulses(work, impact=True)
        system.changed()
        system.validity.struck()

    def _name(self) -> str:
        taken, world = {handle.name for handle in self.held}, self.editor.system.world
        return next(name for k in range(1, len(taken) + 2) if (name := f"hand{k}") not in taken and name not in world)

    def let_go(self, handle: Handle) -> None:
        """One hand fewer."""
        self.editor.follow()
        self._take_hold(tuple(other for other in self.held if other is not handle))

    def _take_hold(self, handles: tuple[Handle, ...]) -> None:
        """Bring into force what these hands should do now."""
        own, arrangement = tuple(handle._now() for handle in handles), self.editor.system.arrangement
        if own != arrangement.own:
            self.editor.arrange(replace(arrangement, own=own))
        self.handles = handles

    # -- steps -----------------------------------------------------------------------------------------------------------
    def advance(self, n: int, interrupted: Callable[[], bool] | None) -> tuple[int, int]:
        """n steps, or one where a hand leads: if it takes more than the hand can give, or cannot be made, the hand slips."""
        system = self.editor.system
        if not (leading := [handle for handle in self.held if handle.leads]):
            return system.advance(n, interrupted)
        before, watched = system.state(), system.integrator.stop_before_cut
        made, status, gave = self._measured_step(system, leading)
        over = [h for h, force in zip(leading, gave, strict=True) if not h.slipping and not np.linalg.norm(force) <= h.limit]
        if status != OK:  # where no step can be made, hands are the first to give way
            over = [h for h in leading if not h.slipping]
            if not over:
                return made, status
            system.integrator.stop_before_cut = watched
        if over:
            system.take(before)
            for handle in over:
                handle._slipped = system.time
            self._take_hold(self.held)
            return 0, OK
        for handle, force in zip(leading, gave, strict=True):
            handle._gave = force
            if handle.slipping and system.time - handle._slipped >= SLIPS:
                handle._aim()
        self._take_hold(self.held)
        return made, status

    def _measured_step(self, system: System, leading: list[Handle]) -> tuple[int, int, list[FloatArray]]:
        """One step, its status, what hands gave in it: the mean where impulses are kept, else the force at its beginning."""
        if not system.integrator.traits.keeps_impulses:
            gave = [h._pulls() if h.slipping else self.query.reaction(h.name, None).force for h in leading]
            system.prepare()
            return *system.advance(1), gave
        pulled = {h.name: h._pulls() for h in leading if h.slipping}
        made, status = system.advance(1)
        if status == CUT and any(not h.slipping for h in leading):
            made, status = 1, make_in_parts(system)
        return made, status, [pulled[h.name] if h.slipping else self._mean_force(system, h.name) for h in leading]

    def _mean_force(self, system: System, name: str) -> FloatArray:
        """The mean force of a hand that leads, over the last step."""
        _, number, part = system.model.names[name]
        found = np.zeros(3)
        found[list(system.model.nodes[number].kind.parts[part].kept)] = self.query.impulse(name) / system.dt
        return found


def _place_on(system: System, number: int, where: FloatArray) -> FloatArray:
    """The particle or place of a Lagrangian body that is at a point of the world."""
    bodies = system.model.bodies
    element = bodies.elements[number]
    frames = bodies.batch(bodies.kinds[number], [number])
    local = frames.put([poses_of(system.model, system.work)[str(element.name)]]).point(where[None])[0]
    if not np.isfinite(local).all():
        raise LinkworkError(f"{checks.label(element)}: nothing of it is at {checks.show(where)}; grab it where it is")
    found: FloatArray = local
    return found
