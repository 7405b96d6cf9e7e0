"""What of a batch can be read: arrays with a row for each world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.batches import readouts
from linkwork.batches.stepping import STEPS
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from linkwork.batches.arrays import Arrays
    from linkwork.batches.threads import Threads
    from linkwork.simulation.coordinates import Coordinate
    from linkwork.simulation.notes import Notes
    from linkwork.util.array_types import FloatArray, IntArray


class ReadableBatch(Sealed):
    """Arrays of motion cannot be written (`set_state` does); those that were handed out never change."""

    _threads: Threads
    _arrays: Arrays

    def _compose(self, threads: Threads, arrays: Arrays) -> None:
        """The parts that are read."""
        self._threads, self._arrays = threads, arrays
        self._coordinates = readouts.BatchReadout(threads, arrays, readouts.coordinates)
        self._bodies = readouts.BatchReadout(threads, arrays, readouts.bodies)

    def _moved(self, chosen: IntArray) -> None:
        """Worlds are in other states."""
        self._coordinates.changed(chosen)
        self._bodies.changed(chosen)

    @property
    def dt(self) -> float:
        """The step, in seconds."""
        return self._threads.first.sim.dt

    @property
    def solver(self) -> str:
        """The name of the solver."""
        return self._threads.first.sim.solver

    @property
    def integrator_name(self) -> str:
        """The name of the integrator."""
        return self._threads.first.sim.integrator_name

    @property
    def notes(self) -> Notes:
        """The notes that were given when the batch was made."""
        return self._threads.first.sim.notes

    @property
    def nbytes(self) -> int:
        """Bytes of all worlds, and of what the threads step them with."""
        return self._arrays.nbytes + sum(lender.sim.nbytes for lender in self._threads.lenders)

    # -- how they move ---------------------------------------------------------------------------------------------------
    @property
    def q(self) -> FloatArray:
        """(n, nq): coordinates, as `Simulation.q` has them; `q_names` says what each is."""
        own = self._threads.first.reads.coordinates
        return _read_only(self._coordinates.now()[:, : own.nq])

    @property
    def qd(self) -> FloatArray:
        """(n, nv): velocities, as `Simulation.qd` has them; `qd_names` says what each is."""
        own = self._threads.first.reads.coordinates
        return _read_only(self._coordinates.now()[:, own.nq : own.nq + own.nv])

    @property
    def q_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `q` are."""
        return self._threads.first.reads.coordinates.q_names

    @property
    def qd_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `qd` are."""
        return self._threads.first.reads.coordinates.qd_names

    @property
    def positions(self) -> FloatArray:
        """(n, bodies, 3) m; the bodies are in the order of `body_names`.

        >>> import linkwork as lw
        >>> batch = lw.Batch(lw.scenes.get("pendulum"), 5)
        >>> batch.positions.shape
        (5, 1, 3)
        """
        return self._of_bodies("positions", 3)

    @property
    def orientations(self) -> FloatArray:
        """(n, bodies, 4): unit quaternions (w, x, y, z)."""
        return self._of_bodies("orientations", 4)

    @property
    def velocities(self) -> FloatArray:
        """(n, bodies, 6): velocities (m/s), then angular velocities (rad/s)."""
        return self._of_bodies("velocities", 6)

    def _of_bodies(self, name: str, width: int) -> FloatArray:
        where, n = self._threads.first.reads.bodies.span[name], self._arrays.n
        return _read_only(self._bodies.now()[:, where].reshape(n, (where.stop - where.start) // width, width))

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies of `positions`, `orientations` and `velocities`."""
        return tuple(str(body.name) for body in self._threads.first.system.model.bodies.elements)

    @property
    def time(self) -> FloatArray:
        """(n,) s."""
        return self._arrays.rows[:, 0].copy()

    @property
    def steps(self) -> IntArray:
        """(n,): the steps that were made."""
        return self._arrays.worlds.numbers[:, STEPS].copy()

    @property
    def controls(self) -> FloatArray:
        """(n, commands): commands of motors, and of each Follow without a motion, as `control_names` says. It is written in
        place, and counts from the next step on.

        >>> import linkwork as lw
        >>> world = lw.scenes.get("pendulum")
        >>> motor = world.add(lw.Motor(world.constraints[0], name="motor"))
        >>> batch = lw.Batch(world, 3)
        >>> batch.controls[:, 0] = [0.0, 1.0, 2.0]
        >>> [str(name) for name in batch.control_names]
        ['motor: torque, N m']
        """
        return self._arrays.worlds.controls

    @property
    def control_names(self) -> tuple[Coordinate, ...]:
        """What the entries of `controls` are."""
        return self._threads.first.system.commands.names


def _read_only(array: FloatArray) -> FloatArray:
    view = array.view()
    view.flags.writeable = False
    return view
