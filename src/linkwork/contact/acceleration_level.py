"""Contact on the level of accelerations, for few rows: forces by pivoting, impacts by impulses (baraff96 section 8, baraff94).

`anticipation` asks how touched bodies answer unit wrenches, by whole solves with the factors that are there, loops and all:
R. With the rows J of contacts, ropes and limits, W = J R J^T, and

    c = W f + q,   q = J a + J'v + (J v - target) / h,   f in the cone, c_n >= 0, and none of both

for what must hold of accelerations, with feedback that takes back what is left of velocities in a step of h. J'v is found by
moving all bodies a little way along their velocities, and looking once more where they touch: so it knows that contact points
roll over curved solids. Friction of a contact that slides is against its slip as it is; of one that friction could stop within
few steps, against the slip at the end of the step, or it is held.

What approaches fast meets in an impact first, which changes velocities by impulses. Where no forces meet the law (Painleve's
paradox), impulses do: then friction is against the slip at the end of the step, whatever it was.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.callbacks import PythonCallback
from linkwork.codegen.jit import compiled_address, sweep
from linkwork.collision.collider_table import contacts_for
from linkwork.collision.detect import detect
from linkwork.contact.contact_system import ROOM, ContactSystem
from linkwork.contact.delassus import BIAS, FORCING, PART, POSE, SPOT, V, X, component, push
from linkwork.contact.hook import FULL, SINGLE, PythonStage, python_stage
from linkwork.contact.inverse_mass import InverseMass
from linkwork.contact.pivoting import pivot_dense, pivot_workspace
from linkwork.contact.problem import INCONSISTENT
from linkwork.contact.rows import (
    ABOVE_SPEED,
    BODY_A,
    BODY_B,
    FEATURE,
    GAP,
    RECOVERY,
    RESTITUTION,
    rows_for,
    write_contacts,
    write_stops,
)
from linkwork.contact.stage_kernels import QUIET, RECOVERED, remember
from linkwork.contact.stage_solve import ITERATIONS, PASSES, RESIDUAL, RESTING, UNSOLVED
from linkwork.contact.stretched import frame_rates, leave_room, spots_kept, take_spots
from linkwork.contact.unit_mass import UNANSWERED
from linkwork.elements.core.checks import label
from linkwork.errors import ModelError
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.schedules.schedules import Schedules

AHEAD = 1e-5  # s: how far bodies are moved to see how rows change
STILL = 1e-10  # m/s: slower than this nothing slides
FAST = 2.0  # times what friction changes in a step: slower slips are those at the end of the step, or they would swing
TURNS = 20  # times that contacts are found to stop sliding in a step
TOLERANCE, ENOUGH = 1e-9, 1e-6  # m/s over a step: how far accelerations may be from the law, and what is told


class ContactByForces(ContactSystem):
    """Contact of one simulation, on the level of accelerations."""

    def __init__(self, schedules: Schedules, inverse_mass: InverseMass, phases: int = 1, again: InverseMass | None = None):
        super().__init__(schedules, inverse_mass, phases, again)
        p, model = schedules, schedules.model
        for stop in self.stops:
            if stop.element.rubs:
                raise ModelError(f"{label(stop.element)}: contact on the level of accelerations takes no dry friction; use "
                                 'solver="tree", or integrator="joint-euler"')  # fmt: skip
        for rule in self.contacts:
            if rule.stiffness is not None:
                raise ModelError(f"{label(rule)}: contact on the level of accelerations is hard; leave stiffness out, or use "
                                 'solver="tree"')  # fmt: skip
        for element in [*self.contacts, *self.names]:
            for word in ("torsion", "rolling"):
                if (value := getattr(element, word, None) or 0.0) > 0.0:
                    raise ModelError(f"{label(element)}: {word} is {value:g}, and contact on the level of accelerations takes "
                                     f'none; leave it out, or use solver="tree"')  # fmt: skip
        # forces that are not along gradients answer what others do to them one way and not the other
        self.symmetric = not any(node.kind.force_directed for node in model.nodes)
        self.forces_again = (p.up(RowMode.ACCELERATION, first=(BodyKernel.ACCELERATE,)), p.backward())
        self.solve_again = (p.forward(), p.backward())
        bodies, nodes = range(len(model.bodies.kinds)), range(len(model.nodes))
        self.b_at = _indices([*(model.field_of_body(k, "b") for k in bodies), *(model.field_of_node(k, "b") for k in nodes)])
        self.x_at = _indices([*(model.field_of_body(k, "x") for k in bodies), *(model.field_of_node(k, "x") for k in nodes)])
        self.moved = (
            _indices([model.field_of_body(k, "x") for k in bodies]),
            _indices([model.field_of_body(k, "v") for k in bodies]),
        )
        self.paradoxes = 0  # steps without forces that meet the law

        self.asked, self.step = PythonCallback(self._act, self.flags[FULL:]), np.zeros(1)

    @cached_property
    def hook(self):
        stage = PythonStage(self.asked.routine, self.asked.request, self.step, self.flags)
        given = np.zeros(0), np.zeros(0, dtype=np.int64), stage, 0.0, SINGLE
        self._stage = stage  # which the hook names by its address
        return self._hook(compiled_address(python_stage, *given), stage)

    def _act(self) -> None:
        """The one phase of a step: accelerations x of the solve before get what contact forces add to them; velocities, what
        impacts do."""
        work, h = self.work, float(self.step[0])
        assert work is not None
        self._find(work, h, self.inverse_mass.carried, self.inverse_mass.scale)
        rows, m = self.rows, self.count
        rows.total[:m] = rows.given[:m] = 0.0
        if m:
            self._add_forces(work, h)
        self.turn, self.before_count, self.ended, self.cached = 1 - self.turn, m, False, m
        remember(rows, m, self.cache_labels, self.cache, rows, m, False)
        self.fresh, self.margins[0] = False, 0.0

    # -- the step ---------------------------------------------------------------------------------------------------
    def _add_forces(self, work: np.ndarray, h: float) -> None:
        rows, m = self.rows, self.count
        self._take_slots()
        J = self._jacobian(rows, m, rows.slot_a[:m], rows.slot_b[:m])
        R = self._responses(work)
        W = J @ R @ J.T
        struck = self._impacts(work, h, J, R, W)
        if np.any(struck):
            keep = work[self.x_at].copy()
            self._solve_for(work, J.T @ struck)
            change = work[self.moved[0]].copy()
            work[self.x_at] = keep
            work[self.moved[1]] += change
            for operations in self.forces_again:
                sweep(work, self.schedules.table, operations)
        force = self._forces(work, h, J, W)
        keep = work[self.x_at].copy()
        self._solve_for(work, J.T @ force)
        work[self.x_at] += keep
        rows.total[:m] = (h * force + struck).reshape(m, 3)
        rows.impulse[:m] = h * force.reshape(m, 3)
        on_b = np.where((rows.slot_b[:m] >= 0)[:, None, None], rows.Jb[:m, :, :3], -rows.Ja[:m, :, :3])
        rows.given[:m] = np.einsum("kji,kj->ki", on_b, rows.total[:m])

    def _impacts(self, work, h, J, R, W):
        """(3 m,) N s: impulses of what approaches fast and would meet within the step; bounces first."""
        rows, m = self.rows, self.count
        gap, restitution = rows.numbers[:m, GAP], rows.numbers[:m, RESTITUTION]
        slow = np.maximum(rows.numbers[:m, ABOVE_SPEED], RESTING * self.gravity * h)
        u, total = self._slot_values(work, V), np.zeros(3 * m)
        for turn in range(PASSES + 1):
            c = (J @ u).reshape(m, 3)
            meets = (gap + h * c[:, 0] < 0.0) & (c[:, 0] < -slow)
            bouncing = meets & (restitution > 0.0)
            if turn < PASSES and bouncing.any():
                target, chosen = -restitution * c[:, 0], bouncing
            elif meets.any():
                target, chosen = np.zeros(m), meets | (gap <= self.near)
            else:
                break
            c[:, 0] -= target
            impulse = self._pivot(W, c, np.zeros((m, 2)), chosen, 1.0)
            self._tell()
            u = u + R @ (J.T @ impulse)
            total += impulse
            if chosen is not bouncing:
                break
        return total

    def _forces(self, work, h, J, W):
        """(3 m,) N: forces with which accelerations obey the law."""
        rows, m = self.rows, self.count
        gap, near = rows.numbers[:m, GAP], self.near
        u = self._slot_values(work, V)
        v = (J @ u).reshape(m, 3)
        target = np.where(gap > 0.0, -gap / h, np.minimum(rows.numbers[:m, RECOVERY], -RECOVERED * gap / h))
        target[np.abs(gap) <= QUIET * near] = 0.0
        q = (J @ (self._slot_values(work, X) + self._bias(work))).reshape(m, 3) + self._changes(work, J, u)
        q += v / h
        q[:, 0] -= target / h
        everything = np.ones(m, bool)
        slow = np.maximum(STILL, FAST * h * rows.mu[:m] * self.gravity)
        slip = np.where((np.linalg.norm(v[:, 1:], axis=1) > slow)[:, None], v[:, 1:], 0.0)
        slip[rows.mu[:m] <= 0.0] = 0.0
        force = np.zeros(3 * m)
        for _ in range(TURNS):
            force = self._pivot(W, q, slip, everything, h)
            if self.status == INCONSISTENT and slip.any():
                self.paradoxes += 1
                force = self._pivot(W, q, np.zeros((m, 2)), everything, h)
                break
            push, ends = force.reshape(m, 3)[:, 0], (W @ force).reshape(m, 3)[:, 1:] + q[:, 1:]  # over h: slips at the end
            slow = np.linalg.norm(slip, axis=1) < FAST * h * rows.mu[:m] * push * np.diag(W).reshape(m, 3)[:, 1:].max(axis=1)
            held = ((np.einsum("ki,ki->k", ends, slip) < 0.0) & (push > 0.0)) | (slow & slip.any(axis=1))
            if not held.any():
                break
            slip[held] = 0.0
        self._tell()
        return force

    def _pivot(self, W, q, slip, chosen, h):
        """(3 m,) N: forces of the chosen contacts by pivoting, zero for the others. q (m/s^2) times h (s) is a velocity."""
        own = np.diag(W).reshape(-1, 3)
        at = np.flatnonzero(chosen & (own[:, 0] > UNANSWERED * own.mean(axis=1)))  # others are held by joints
        rows, f = (3 * at[:, None] + np.arange(3)).ravel(), np.zeros(3 * len(chosen))
        found = np.zeros(len(rows))
        scratch = pivot_workspace(1, 1, len(at), 36)
        within, mu = np.ascontiguousarray(W[np.ix_(rows, rows)]), self.rows.mu[: len(chosen)][at]
        solved = pivot_dense(within, q[at].ravel(), mu, slip[at], found, scratch, TOLERANCE / h)
        self.status, pivots, residual = solved
        f[rows] = found
        self.left = float(residual * h)
        self.told[ITERATIONS] = max(self.told[ITERATIONS], pivots)
        return f

    def _tell(self) -> None:
        """Keep the residual of the solve whose forces are used, for `contact_report`."""
        self.told[RESIDUAL] = max(self.told[RESIDUAL], self.left)
        if self.left > ENOUGH:
            self.told[UNSOLVED] = max(self.told[UNSOLVED], self.left)

    # -- rows and responses -----------------------------------------------------------------------------------------
    def _take_slots(self) -> None:
        """The touched bodies, and which of their six velocities they have."""
        self.touched = self.inverse_mass.bodies[self.slots.body_of[: self.used]]
        self.has_velocity = self.touched[:, PART : PART + 6] >= 0

    def _slot_values(self, work, field):
        """(6 used,): velocities (V) or accelerations (X) of the touched bodies."""
        return _motions(work, self.touched, field).ravel()

    def _bias(self, work):
        """(6 used,): what accelerations have beside X: those of points as their bodies move on."""
        found = np.zeros((self.used, 6))
        for slot in np.flatnonzero(self.touched[:, POSE] == SPOT):
            parts, on = _parts(self.touched[slot])
            found[slot, on] = work[self.touched[slot, BIAS] + parts]
        return found.ravel()

    def _jacobian(self, rows, m, slot_a, slot_b):
        """(3 m, 6 used)."""
        J = np.zeros((m, 3, self.used, 6))
        for slots, of in ((slot_a, rows.Ja), (slot_b, rows.Jb)):
            on = np.flatnonzero(slots >= 0)
            J[on, :, slots[on]] += of[on]
        return J.reshape(3 * m, 6 * self.used)

    def _solve_for(self, work, wrench):
        """x of wrenches (6 used,) on the touched bodies, and of nothing else."""
        work[self.b_at] = 0.0
        for slot, i in np.argwhere(self.has_velocity & (wrench.reshape(-1, 6) != 0.0)):
            push(work, self.touched[slot], self.touched[slot, PART + i], wrench[6 * slot + i])
        for operations in self.solve_again:
            sweep(work, self.schedules.table, operations)

    def _responses(self, work):
        """R (6 used, 6 used): what touched bodies do when others of them get unit wrenches."""
        keep, n = work[self.x_at].copy(), 6 * self.used
        R = np.zeros((n, n))
        for j in np.flatnonzero(self.has_velocity.ravel()):
            unit = np.zeros(n)
            unit[j] = 1.0
            self._solve_for(work, unit)
            R[:, j] = self._slot_values(work, X)
        work[self.x_at] = keep
        return 0.5 * (R + R.T) if self.symmetric else R

    def _changes(self, work, J, u):
        """(m, 3): J'v, by the rows a little way ahead."""
        m = self.count
        with spots_kept(work, self.inverse_mass.bodies, self.stretching):
            rows, later = self._rates_ahead(work, u)
        there = {tuple(label): k for k, label in enumerate(rows.labels[: len(later), : FEATURE + 1].tolist())}
        same = [(k, there[tuple(label)]) for k, label in enumerate(self.rows.labels[:m, : FEATURE + 1].tolist())
                if tuple(label) in there]  # fmt: skip
        change = np.zeros((m, 3))
        if same:
            here, ahead = np.array(same).T
            change[here] = (later[ahead] - (J @ u).reshape(m, 3)[here]) / AHEAD
        return change

    def _rates_ahead(self, work, u):
        """The rows a little way ahead, and their rates (k, 3) at the velocities u (6 used,) of now."""
        bodies, stretching, v = self.inverse_mass.bodies, self.stretching, _motions(work, self.inverse_mass.bodies, V)
        origins, axes = self.origins + AHEAD * v[:, :3], _turned(self.axes, AHEAD * v[:, 3:])
        for body in stretching.owners[:, 0]:
            rates = frame_rates(work, bodies[body])
            origins[body] = self.origins[body] + AHEAD * rates[0]
            axes[body] = self.axes[body] + AHEAD * (rates[1:] - rates[0]).T
        found = contacts_for(len(self.found.gap))
        count = 0
        if len(self.names):
            while (count := detect(self.geometry, axes, origins, self.least, self.scratch, found)) > len(found.gap):
                found = contacts_for(ROOM * count)
        rows = rows_for(count + len(self.stops))
        write_contacts(rows, found, count, self.materials, origins)
        if len(stretching.owners):
            count = leave_room(found, count, self.materials.body, stretching)
            labels = rows.labels[:, BODY_A : BODY_B + 1]
            take_spots(work, bodies, stretching, labels, found, count, 0, axes, origins, rows.Ja, rows.Jb)
        total = write_stops(work, rows, count, self.hard_stops, len(self.names), axes, origins, self.least, self.margins,
                            self.speeds)  # fmt: skip
        if len(stretching.owners):  # their spots are others than those that have slots
            rates, v = np.zeros((total, 3)), _motions(work, bodies, V)
            for end, of in ((BODY_A, rows.Ja), (BODY_B, rows.Jb)):
                on = np.flatnonzero(rows.labels[:total, end] >= 0)
                rates[on] += np.einsum("kji,ki->kj", of[on], v[rows.labels[on, end]])
            return rows, rates
        slot = np.append(self.slots.slot_of, -1)  # the ground's
        ends = [slot[rows.labels[:total, end]] for end in (BODY_A, BODY_B)]
        return rows, (self._jacobian(rows, total, *ends) @ u).reshape(total, 3)


def _motions(work, bodies, field):
    """(n, 6): velocities (V) or accelerations (X) of bodies, and of points of them."""
    parts = bodies[:, PART : PART + 6]
    found = np.where(parts >= 0, work[np.where(parts >= 0, bodies[:, field, None] + parts, 0)], 0.0)
    for k in np.flatnonzero(bodies[:, POSE] == SPOT):
        parts, on = _parts(bodies[k])
        found[k, on] = [component(work, bodies[k], part, field) for part in parts]
        if field == V:
            found[k, on] += work[bodies[k, FORCING] + parts]
    return found


def _parts(spot):
    """The spot's velocity components in the workspace, and which of the six each of them is."""
    parts = spot[PART : PART + 6]
    return parts[parts >= 0], np.flatnonzero(parts >= 0)


def _turned(axes, turns):
    """(n, 3, 3) axes turned by rotation vectors (n, 3)."""
    from scipy.spatial.transform import Rotation

    return np.ascontiguousarray(Rotation.from_rotvec(turns).as_matrix() @ axes)


def _indices(fields):
    return np.concatenate([np.arange(field.start, field.stop) for field in fields] or [np.zeros(0, dtype=np.int64)])
