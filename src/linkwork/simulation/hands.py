"""Grabbing: a hand takes hold of a body in a simulation, pulls at it and lets go. The world knows nothing of it.

By a spring it pulls with a force. By a constraint it leads the point that it holds, without a jerk, and gives way for a while
where that would take more than its limit: then it pulls with the limit instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_for
from linkwork.elements.handles import Hold, Pull
from linkwork.engines.engine import CUT, OK
from linkwork.errors import LinkworkError, printable
from linkwork.kernels.node import parameter_record
from linkwork.model.poses import poses_of
from linkwork.simulation.editor import Following

PACE = 10.0  # 1/s: of a spring's answer on the body alone, and at which a led point comes to its goal
SPEED = 5.0  # m/s: at which points are led at most ...
PEAK = np.e  # ... which a critically damped motion over the distance d reaches at pace d / PEAK
GENTLE = 0.5  # of its limit: what a hand uses to set the body alone in motion
WEIGHTS = 3.0  # times the weight of all bodies, on earth: what a hand can pull where nobody says anything else
GRAVITY = 9.81  # m/s^2
SLIPS = 0.1  # s, from giving way to trying again


class Handle:
    """A hand on a body; `Simulation.grab` makes it. It can stand in a `with` statement, which releases it at the end."""

    def __init__(self, sim: Grabbing, name: str, body, at: np.ndarray, mass: float, stiffness: float, damping: float,
                 limit: float, leads: bool):  # fmt: skip
        self.name, self.body, self.at, self.limit, self.leads = name, body, at, limit, leads
        self._sim = sim
        point = sim.point(body, at)
        self._pull = Pull(body, at, point, stiffness, damping, limit, name=name)
        self._hold = Hold(body, at, point, name=name)
        self.goal = point  # (3,), m, world
        self._mass = mass
        self._slipped = -np.inf  # when it last gave way
        self._gave = np.zeros(3)  # N: in the last step, where it leads

    @property
    def held(self) -> bool:
        """Whether it has not been released."""
        return self._sim._has(self._pull) or self._sim._has(self._hold)

    @property
    def slipping(self) -> bool:
        """Whether a hand that leads has given way, and pulls with its limit."""
        return self.leads and self._sim._has(self._pull)

    @property
    def point(self) -> np.ndarray:
        """Where the point that it holds is now (3, m)."""
        return self._sim.point(self.body, self.at)

    @property
    def force(self) -> np.ndarray:
        """What it puts on the body (3, N, world): by a spring now, by a constraint in the last step."""
        self._refuse_released()
        return self._gave if self.leads else self._pulls()

    def to(self, point) -> None:
        """Pull towards this point of the world (3, m)."""
        self._refuse_released()
        self.goal = self._in_plane(checks.vector(self._sim, "point", point))
        self._aim()

    def release(self) -> None:
        """Let go: nothing of it is left, and the body moves on with the velocity that it has."""
        self._refuse_released()
        self._sim._let_go(self)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_) -> None:
        if self.held:
            self.release()

    def __repr__(self) -> str:
        return f'<Handle "{printable(self.name)}" on {checks.label(self.body)}{"" if self.held else ", released"}>'

    def _refuse_released(self) -> None:
        if not self.held:
            raise LinkworkError(f'Handle "{self.name}": it has been released; grab the body again')

    def _in_plane(self, point: np.ndarray) -> np.ndarray:
        """The goal as far as the body can follow it."""
        return kind_for(self.body).followed(point)

    def _velocity(self) -> np.ndarray:
        number = self._sim._body(self.body)
        return self._sim._point_jacobian(number, self.at) @ self._sim.work[self._sim.model.field_of_body(number, "v")]

    def _pulls(self) -> np.ndarray:
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
        self._hold.since, self._hold.pace = self._sim.time, min(PACE, PEAK * SPEED / far, gentle)
        self._sim._write(self)

    def _now(self) -> Element:
        """The element that should be in force."""
        return self._hold if self.leads and self._sim.time - self._slipped >= SLIPS else self._pull


class Grabbing(Following):
    """What hands do in a Simulation."""

    def grab(self, body, point=None, *, by: str = "spring", stiffness: float | None = None, damping: float | None = None,
             limit: float | None = None) -> Handle:  # fmt: skip
        """Take hold of a body at a point of the world (3, m; default: its position), and return a Handle to pull with.

        `by`: "spring" (`stiffness` N/m and `damping` N s/m; unless told, the body alone would come to the goal in about 0.3 s)
        or "constraint", which leads the point. `limit` (N) bounds the force; unless told it is three times the weight of all
        bodies. First-order motion, in which a force is mass times velocity, knows no damping.

        >>> import linkwork as lw
        >>> world = lw.World(gravity=(0, 0, 0))
        >>> lamp = world.add(lw.Particle(2.0, name="lamp"))
        >>> sim = lw.Simulation(world)
        >>> with sim.grab("lamp") as hand:
        ...     hand.to((0, 0, 1))
        ...     sim.step(2000)
        >>> sim.position("lamp").round(3).tolist(), hand.held
        ([0.0, 0.0, 1.0], False)
        """
        number = self._body(body)
        element = self.model.bodies.elements[number]
        checks.choice(self, "by", by, ("spring", "constraint"))
        first_order = self.integrator_name == "first-order"
        if first_order and damping:
            raise LinkworkError(f"Simulation: damping is {damping:g}, which first-order motion does not have; leave it out")
        pose = self._pose(element)
        where = pose.position[0] if point is None else checks.vector(self, "point", point)
        local = np.linalg.solve(pose.frame[0], where - pose.position[0])
        if not self.model.bodies.kinds[number].framed:
            local = np.zeros(3) if point is None else self._place_on(number, where)
        if self.model.bodies.kinds[number].is_a_point and np.abs(local).max() > 1e-9:
            raise LinkworkError(f"{checks.label(element)}: it is a point; leave `point` out")
        masses = [float(getattr(other, "mass", 1.0)) for other in self.model.bodies.elements]
        mass = masses[number] or sum(masses) / len(masses)  # a massless link is held as others are
        usual = (SPEED if first_order else WEIGHTS * GRAVITY) * sum(masses)
        rate = PACE if first_order else PACE**2
        k = mass * rate if stiffness is None else checks.positive(self, "stiffness", stiffness)
        c = 2 * mass * PACE if damping is None else checks.non_negative(self, "damping", damping)
        most = usual if limit is None else checks.positive(self, "limit", limit)
        handle = Handle(self, self._hand_name(), element, local, mass, k, 0.0 if first_order else c, most, by == "constraint")
        self._hands = (*self._hands, handle)
        try:
            handle._aim()
            self._take_hold()
        except BaseException:
            self._hands = tuple(other for other in self._hands if other is not handle)
            raise
        return handle

    def _place_on(self, number: int, where: np.ndarray) -> np.ndarray:
        """The particle or place of a Lagrangian body that is at a point of the world."""
        element = self.model.bodies.elements[number]
        frames = self.model.bodies.batch(self.model.bodies.kinds[number], [number])
        local = frames.put([poses_of(self.model, self.work)[str(element.name)]]).point(where[None])[0]
        if not np.isfinite(local).all():
            raise LinkworkError(f"{checks.label(element)}: nothing of it is at {checks.show(where)}; grab it where it is")
        return local

    _hands: tuple[Handle, ...] = ()

    def _hand_name(self) -> str:
        taken = {handle.name for handle in self._hands}
        return next(name for k in range(1, len(taken) + 2) if (name := f"hand{k}") not in taken and name not in self.world)

    def _has(self, element: Element) -> bool:
        return any(other is element for other in self._arrangement.own)

    def _let_go(self, handle: Handle) -> None:
        self._hands = tuple(other for other in self._hands if other is not handle)
        self._take_hold()

    def _take_hold(self) -> None:
        """Bring into force what the hands should do now."""
        own = tuple(handle._now() for handle in self._hands)
        if own != self._arrangement.own:
            self._arrange(replace(self._arrangement, own=own))

    def _rebuild(self, arrangement) -> None:
        super()._rebuild(arrangement)
        self._hands = tuple(handle for handle in self._hands if handle.body in self.world)
        for handle in self._hands:
            self._write(handle)

    def _write(self, handle: Handle) -> None:
        """The numbers of a hand into the workspace."""
        for element, names in ((handle._pull, ("goal",)), (handle._hold, ("start", "velocity", "goal", "since", "pace"))):
            if self._has(element):
                fields = self._fields_of(element)
                for name in names:
                    fields[name][:] = getattr(element, name)
                self._touched()

    def _fields_of(self, element: Element) -> dict[str, np.ndarray]:
        sort, number, part = self.model.names[str(element.name)]
        if sort == "constraint":
            return self._numbers(number, part)
        layout, at = parameter_record(self.model.forces[number].kind.law), int(self.model.force_at[number])
        return {name: self.work[at + where : at + where + size] for name, (where, size) in layout.fields.items()}

    def _advance_by_hand(self, n: int) -> tuple[int, int]:
        """n steps, or one where a hand leads: if it takes more than the hand can give, or cannot be made, the hand slips."""
        if not self._hands or not (leading := [handle for handle in self._hands if handle.leads]):
            return self._advance(n)
        before, watched = self._state(), self.integrator.watched
        made, status, gave = self._measured_step(leading)
        over = [h for h, force in zip(leading, gave, strict=True) if not h.slipping and not np.linalg.norm(force) <= h.limit]
        if status != OK:  # where no step can be made, hands are the first to give way
            over = [h for h in leading if not h.slipping]
            if not over:
                return made, status
            self.integrator.watched = watched
        if over:
            self._take(before)
            for handle in over:
                handle._slipped = self.time
            self._take_hold()
            return 0, OK
        for handle, force in zip(leading, gave, strict=True):
            handle._gave = force
            if handle.slipping and self.time - handle._slipped >= SLIPS:
                handle._aim()
        self._take_hold()
        return made, status

    def _measured_step(self, leading: list[Handle]) -> tuple[int, int, list[np.ndarray]]:
        """One step, its status, what hands gave in it: the mean where impulses are kept, else the force at its beginning."""
        if not self.integrator.keeps_impulses:
            gave = [h._pulls() if h.slipping else self.reaction(h.name).force for h in leading]
            self._solved = False
            self._prepare()
            return *self._advance(1), gave
        pulled = {h.name: h._pulls() for h in leading if h.slipping}
        made, status = self._advance(1)
        if status == CUT and any(not h.slipping for h in leading):
            made, status = 1, self._make_in_parts()
        return made, status, [pulled[h.name] if h.slipping else self._mean_force(h.name) for h in leading]

    def _mean_force(self, name: str) -> np.ndarray:
        """Of a hand that leads, over the last step."""
        _, number, part = self.model.names[name]
        found = np.zeros(3)
        found[list(self.model.nodes[number].kind.parts[part].kept)] = self.impulse(name) / self.dt
        return found

    def _advance(self, n: int) -> tuple[int, int]:
        raise NotImplementedError

    def _make_in_parts(self) -> int:
        raise NotImplementedError
