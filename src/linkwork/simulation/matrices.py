"""Matrices: the equations of motion of a simulation at one moment, as scipy.sparse arrays with names.

    M v' = F + P^T lambda        J v' + E lambda + c = 0

Everything is in the frames of the bodies as they were added (docs/conventions.md): a rigid body's velocity is that of its
`position`, then its angular velocity, both in the world frame. The compiler may have chosen another origin of a rigid body,
with the velocity T v there. With v the user's velocity and the compiler's matrices marked by a bar,

    M = T^T M_ T        J = J_ T        J' = J_' T + J_ T'        F = T^T (F_ - M_ T' v)        c = c_ + J_ T' v
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError, UnknownNameError, suggestion
from linkwork.kernels.vocabulary import NodeBlocks
from linkwork.model import readout
from linkwork.schedules.solver_report import IterativeReport, NewtonReport, report_of
from linkwork.simulation.body_points import local_point, point_jacobian
from linkwork.simulation.coordinates import Coordinate, declared
from linkwork.simulation.elimination import Elimination, eliminated
from linkwork.simulation.equations import Equations, Places, Vector, span
from linkwork.simulation.lookup import name_of
from linkwork.simulation.stages import Stages
from linkwork.simulation.system import System
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from scipy.sparse import csr_array

REFINEMENTS = 1  # of a solve: elimination does not pivot, and one brings it to the accuracy of one that does ...
PROXIMAL = 5  # ... but where pivots were made regular: each takes away a part of what that left


@dataclass(frozen=True)
class Row:
    """One row of a constraint: which one, counted as the constraint has them (rows that planar bodies cannot feel are left
    out), and its level: "position", "velocity", or "rotor" of an Armature."""

    constraint: str
    row: int
    level: str

    def __str__(self) -> str:
        return f"{self.constraint}[{self.row}]"


@dataclass(frozen=True)
class Solution:
    """Accelerations v' and multipliers lambda: M v' = forces + P^T lambda, J v' + E lambda = rows."""

    acceleration: Vector  # (columns,)
    multipliers: Vector  # (rows,)


class Matrices:
    """The equations of motion at the moment at which `sim.matrices` was asked for, as

        M v' = F + P^T lambda        J v' + E lambda = -c

    with sparse arrays (CSR; blocks of bodies and constraints are stored whole) and vectors in one order: `columns` names the
    components of velocity, body after body in order of addition, and `rows` the rows, constraint after constraint. `bodies` and
    `constraints` give the slice of each by name. All is in SI units, in the world frame and for the bodies as they were added.
    Steps made afterwards do not change it.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> rod = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="rod"))
    >>> nail = world.add(lw.Ball(world.ground, rod, at=(0, 0, 0), name="nail"))
    >>> m = lw.Simulation(world).matrices
    >>> m.M.shape, m.J.shape, str(m.columns[5]), str(m.rows[2])
    ((6, 6), (3, 6), 'rod: angular velocity z, rad/s', 'nail[2]')
    >>> m.J[m.constraints["nail"], m.bodies["rod"]].toarray()[2].tolist()
    [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    >>> found = m.solve()
    >>> bool(abs(m.M @ found.acceleration - m.forces - m.J.T @ found.multipliers).max() < 1e-12)
    True
    """

    def __init__(self, system: System) -> None:
        self._equations = Equations(system)
        model = self._model = self._equations.model
        names = [str(body.name) for body in model.bodies.elements]
        starts = np.cumsum([0, *(kind.nv for kind in model.bodies.kinds)]).tolist()
        self._spans = [slice(*pair) for pair in pairwise(starts)]
        self.bodies: Mapping[str, slice] = dict(zip(names, self._spans, strict=True))
        self.columns = tuple(
            Coordinate(name, *each) for name, kind in zip(names, model.bodies.kinds, strict=True) for each in kind.read_rates
        )
        self._name_rows()

    def _name_rows(self) -> None:
        """Rows in the order in which constraints stand in the world."""
        model, first = self._model, self._equations.first_row
        place = {id(element): k for k, element in enumerate(model.world.constraints)}
        every = [(place.get(id(element), len(place)), number, part)
                 for number, node in enumerate(model.nodes) for part, element in enumerate(node.elements)]  # fmt: skip
        constraints: dict[str, slice] = {}
        rows: list[Row] = []
        internal: list[int] = []
        for _, number, part in sorted(every):
            node = model.nodes[number]
            element, name = node.elements[part], str(node.elements[part].name)
            own = node.rows_of(element)
            constraints[name] = slice(len(rows), len(rows) + own.stop - own.start)
            rows += [Row(name, k, node.kind.levels[i]) for i, k in enumerate(node.kind.parts[part].kept, start=own.start)]
            internal += range(first[number] + own.start, first[number] + own.stop)
        self.rows, self.constraints = tuple(rows), constraints
        self._internal = np.array(internal, dtype=np.int64)  # of each row: which one it is to the compiler
        self._row_of = np.argsort(self._internal)  # the other way round

    def __repr__(self) -> str:
        return f"<Matrices: {len(self.columns)} velocities, {len(self.rows)} rows>"

    # -- matrices ----------------------------------------------------------------------------------------------
    @cached_property
    def M(self) -> csr_array:
        """The mass matrix (columns, columns): one block a body."""
        blocks = []
        for at, (M, _), (T, _) in zip(self._spans, self._equations.bodies, self._moved, strict=True):
            moved = T.T @ M @ T
            blocks.append((span(at), at, (moved + moved.T) / 2))  # symmetric to the last bit
        return self._csr(blocks, len(self.columns))

    @cached_property
    def J(self) -> csr_array:
        """The Jacobian of the constraints (rows, columns): the derivative of their rates `Cdot` by the velocities."""
        return self._csr(((r, at, J @ T) for r, at, J, T, _ in self._blocks(NodeBlocks.JACOBIAN)), len(self.rows))

    @cached_property
    def Jdot(self) -> csr_array:
        """dJ/dt along the motion of this moment (rows, columns). Where time is not spoken of, the bias of position rows is
        Jdot v. Of rows that are not linear in velocities it is what J changes by while velocities stay."""
        both = zip(self._blocks(NodeBlocks.RATE), self._blocks(NodeBlocks.JACOBIAN), strict=True)
        blocks = ((r, at, rate @ T + J @ Tdot) for (r, at, rate, T, Tdot), (_, _, J, _, _) in both)
        return self._csr(blocks, len(self.rows))

    @cached_property
    def P(self) -> csr_array:
        """How multipliers pull (rows, columns): the constraint forces are P^T lambda. It is J, but for constraints that name
        other forces (`Constraint(force=...)`)."""
        if not any(node.kind.force_directed for node in self._model.nodes):
            return self.J
        named = {int(row) for r, *_ in self._blocks(NodeBlocks.PULLS) for row in r}
        blocks = [(r, at, J @ T) for r, at, J, T, _ in self._blocks(NodeBlocks.JACOBIAN) if int(r[0]) not in named]
        blocks += [(r, at, pull @ T) for r, at, pull, T, _ in self._blocks(NodeBlocks.PULLS)]
        return self._csr(blocks, len(self.rows))

    @property
    def E(self) -> Vector:
        """(rows,) The diagonal that rotors add: 1/inertia of an Armature's row (the rotor itself is eliminated), else 0."""
        return self._equations.compliance[self._internal]

    @cached_property
    def KKT(self) -> csr_array:
        """[[M, P^T], [J, -E]]: times (v', -lambda) it is (F, -c). Symmetric unless a constraint names its forces."""
        from scipy.sparse import block_array, csr_array, diags_array

        if not self.rows:
            return self.M
        return csr_array(block_array([[self.M, self.P.T], [self.J, diags_array(-self.E) if self.E.any() else None]]))

    @cached_property
    def H(self) -> csr_array:
        """The joint-space inertia matrix (featherstone05) of a world that is a tree of joints, with the entries that can differ
        from zero. `freedoms` names its rows; `tree` is the `lw.reduced.Tree` that it is of."""
        from scipy.sparse import coo_array

        from linkwork import reduced

        poses = readout.poses(self._model, self._equations.work, np.arange(len(self.bodies)))
        q = reduced.from_bodies(self.tree, poses.position, poses.orientation).q
        (i, j), values = self.tree.pattern, reduced.crba(self.tree, q, packed=True)
        below = i != j
        places = np.concatenate([i, j[below]]), np.concatenate([j, i[below]])
        return coo_array((np.concatenate([values, values[below]]), places), shape=(self.tree.nv, self.tree.nv)).tocsr()

    @cached_property
    def tree(self) -> Any:
        """The `lw.reduced.Tree` of the world; where it is no tree of joints, an error says so."""
        from linkwork import reduced

        return reduced.compile(self._model.world)

    @property
    def freedoms(self) -> tuple[Coordinate, ...]:
        """The names of the rows of H: the velocities of joints, in the order of `tree`."""
        model = self._model
        return tuple(Coordinate(str(e.name), *rate) for e in (link.element for link in self.tree.links)
                     for rate in declared(model, e).read_rates)  # fmt: skip

    # -- vectors -------------------------------------------------------------------------------------------------
    @cached_property
    def v(self) -> Vector:
        """(columns,) The velocities."""
        return self._at_users(np.concatenate([np.zeros(0), *(self._equations.field(k, "v") for k in range(len(self.bodies)))]))

    @cached_property
    def C(self) -> Vector:
        """(rows,) The values of position rows (m; angles in rad); 0 for rows that have none: of velocities, of rotors."""
        return np.where([row.level == POSITION for row in self.rows], self._equations.residuals[0, self._internal], 0.0)

    @property
    def Cdot(self) -> Vector:
        """(rows,) Their rates J v + C_t; of velocity rows what they ask to vanish. 0 for rotors."""
        found: Vector = self._equations.residuals[1, self._internal]
        return found

    @cached_property
    def bias(self) -> Vector:
        """(rows,) c of J v' + E lambda + c = 0: what rows accelerate by while velocities stay."""
        found = self._equations.bias[self._internal]
        for r, at, J, _, Tdot in self._blocks(NodeBlocks.JACOBIAN):
            found[r] += J @ (Tdot @ self.v[at])
        return found

    @cached_property
    def forces(self) -> Vector:
        """(columns,) F: weight, forces of the world, and the inertial forces of the bodies' own motion. Contact counts with its
        mean of the last step, as in `sim.acceleration`."""
        found = np.zeros(len(self.columns))
        for at, (M, F), (T, Tdot) in zip(self._spans, self._equations.bodies, self._moved, strict=True):
            found[at] = T.T @ (F - M @ (Tdot @ self.v[at]))
        return found

    # -- solving ---------------------------------------------------------------------------------------------------
    def solve(self, forces: Any = None, rows: Any = None, *, refined: bool = True) -> Solution:
        """Solve M v' = forces + P^T lambda, J v' + E lambda = rows with the solver's own factors, which are made once, and
        refined: in linear time with "tree" where there are no loops. Without arguments the right-hand sides are those of this
        moment, `forces` and `-bias`: accelerations and multipliers as `sim.acceleration` and `sim.reaction` have them. With
        refined=False it is one solve and no more, as `solver_report` counts it.

        Where constraints are redundant, rows that contradict each other are met as well as can be, and multipliers are of least
        norm."""
        forces = self.forces if forces is None else _numbers("forces", forces, len(self.columns))
        rows = self._met(-self.bias if rows is None else _numbers("rows", rows, len(self.rows)))
        wanted, n = np.concatenate([forces, rows]), len(forces)
        found = np.zeros(len(wanted))
        soft = self._model.soft and not self._equations.schedules.iterates
        for _ in range(1 + refined * (PROXIMAL if soft else REFINEMENTS)):
            left = wanted - self.KKT @ found
            x, y = self._equations.solve(self._at_compilers(left[:n]), left[n:][self._row_of])
            found[:n] += self._at_users(x)
            found[n:] += y[self._internal]
        return Solution(found[:n], self._met(-found[n:]))

    def solver_report(self) -> IterativeReport | NewtonReport:
        """The report of `sim.solver_report()`, with the solves that were made here."""
        return report_of(self._equations.schedules, self._equations.work)

    def force(self, body: Any, force: Any = None, torque: Any = None, at: Any = (0.0, 0.0, 0.0)) -> Vector:
        """(columns,) What a force (3, N) at the local point `at` and a torque (3, N m) on a body, in the world frame, are as
        generalised forces; of a planar body the parts in its plane.

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> rod = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), name="rod"))
        >>> lw.Simulation(world).matrices.force("rod", (0, 0, 3), at=(1, 0, 0)).tolist()
        [0.0, 0.0, 3.0, 0.0, -3.0, 0.0]
        """
        number = self._number(body)
        found, own = np.zeros(len(self.columns)), self._spans[number]
        if force is not None:
            found[own] += self._point_jacobian(number, at).T @ checks.vector("Matrices", "force", force)
        if torque is not None:
            kind = self._model.bodies.kinds[number]
            if not kind.directions:
                label = checks.label(self._model.bodies.elements[number])
                raise LinkworkError(f"Matrices: {label} has no angular velocity, so that a torque has no place; give forces")
            S = kind.spin_jacobian(*readout.of_body(self._model, self._equations.work, number, "q"))
            found[own] += (S @ self._moved[number][0]).T @ checks.vector("Matrices", "torque", torque)
        return found

    def response(self, body: Any, force: Any = None, torque: Any = None, at: Any = (0.0, 0.0, 0.0)) -> Solution:
        """What a force or torque on a body would change: accelerations of all bodies and multipliers of all rows, beside those
        that there are (baraff96 section 8).

        >>> import linkwork as lw
        >>> world = lw.World()
        >>> bodies = [world.add(lw.Particle(m, position=(x, 0, 0), name=f"bead{x}")) for x, m in enumerate((1.0, 3.0))]
        >>> rod = world.add(lw.Distance(*bodies, name="rod"))
        >>> felt = lw.Simulation(world).matrices.response("bead0", (4, 0, 8))
        >>> felt.acceleration.tolist(), felt.multipliers.tolist()
        ([1.0, 0.0, 8.0, 1.0, 0.0, 0.0], [3.0])
        """
        return self.solve(self.force(body, force, torque, at), np.zeros(len(self.rows)))

    @cached_property
    def elimination(self) -> Elimination:
        """In which order the solver eliminates bodies and constraints, and what hangs on what: a tree of supernodes."""
        rows = [len(self.columns) + self._rows_of(k) for k in range(len(self._model.nodes))]
        return eliminated(self._model, [*map(span, self._spans), *rows])

    @property
    def stages(self) -> Stages:
        """The solver's sweeps one by one, for measuring: assembly of M and J, elimination, forward, backward."""
        e = self._equations.entries
        entries = {name: np.concatenate([e[f"body {name}"], e[f"row {name}"][self._internal]]) for name in ("b", "x")}
        work = self._equations.work[: self._model.size].copy()
        return Stages(self._equations.schedules, work, entries, len(self.columns))

    # -- how it is found -------------------------------------------------------------------------------------------
    def _rows_of(self, node: int) -> Places:
        first = self._equations.first_row
        return self._row_of[first[node] : first[node + 1]]

    def _blocks(self, what: NodeBlocks) -> Iterator[tuple[Places, slice, Vector, Vector, Vector]]:
        """(rows, columns, block as the compiler has it, T and dT/dt of its body)."""
        for node, body, block in self._equations.blocks(what):
            yield self._rows_of(node), self._spans[body], block, *self._moved[body]

    def _csr(self, blocks: Iterable[tuple[Places, slice, Vector]], rows: int) -> csr_array:
        """A block keeps its zeros."""
        from scipy.sparse import coo_array

        i, j, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for down, at, block in blocks:
            i.append(np.repeat(down, at.stop - at.start))
            j.append(np.tile(span(at), len(down)))
            values.append(np.ascontiguousarray(block).ravel())
        entries = np.concatenate(values), (np.concatenate(i), np.concatenate(j))
        return coo_array(entries, shape=(rows, len(self.columns))).tocsr()

    @cached_property
    def _moved(self) -> list[tuple[Vector, Vector]]:
        """(T, dT/dt) of every body: its velocity at the compiler's origin is T v."""
        work = self._equations.work
        return [kind.from_users_velocity(*readout.of_body(self._model, work, number, "q", "v"))
                for number, kind in enumerate(self._model.bodies.kinds)]  # fmt: skip

    def _at_users(self, x: Vector) -> Vector:
        """T^-1 x = (2 - T) x of velocities."""
        return np.concatenate(
            [np.zeros(0), *(2 * x[at] - T @ x[at] for at, (T, _) in zip(self._spans, self._moved, strict=True))]
        )

    def _at_compilers(self, f: Vector) -> Vector:
        """T^-T f of forces."""
        moved = zip(self._spans, self._moved, strict=True)
        return np.concatenate([np.zeros(0), *(2 * f[at] - T.T @ f[at] for at, (T, _) in moved)])

    def _met(self, rows: Vector) -> Vector:
        """Where rows depend on each other: of their numbers the part that motion can give."""
        least_norm = self._equations.least_norm
        if least_norm is None:
            return rows
        held, found = self._row_of[self._equations.dependent_rows], rows.copy()
        found[held] = least_norm.shortest(rows[held])
        return found

    def _number(self, body: Any) -> int:
        name = name_of(body)
        if name not in self.bodies:
            raise UnknownNameError(f'Matrices: no body is called "{name}"{suggestion(name, self.bodies)}')
        return list(self.bodies).index(name)

    def _point_jacobian(self, body: int, local: Any) -> Vector:
        """(3, nv): the velocity of a local point by the user's velocity."""
        at = self._equations
        return point_jacobian(at, body, local_point(at, body, local)) @ self._moved[body][0]


def _numbers(name: str, values: Any, size: int) -> Vector:
    found = np.asarray(values, dtype=float)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise LinkworkError(f"Matrices: {name} is {checks.show(values)}; give {size} finite numbers, in the order of its names")
    return found
