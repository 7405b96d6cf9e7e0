"""What compiling gives: Model (frozen), State (small), and where everything lies in a workspace.

A workspace is one float64 array: the globals, then a record for each vertex in the order of elimination, each with its
blocks to later neighbours behind it (cold fields apart: see `Space`), then forces, then the areas of reports and of
impulses. A Model makes workspaces, a simulation works in one. Offsets are in entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from hashlib import blake2s
from typing import Any

import numpy as np

from linkwork.elements.constraints.ramped import Ramp
from linkwork.elements.core.element import Element
from linkwork.elements.core.parameter import Parameter
from linkwork.errors import FileError, ModelError
from linkwork.kernels.joint_elimination import JointPivot
from linkwork.kernels.node import SOFT
from linkwork.model.active_world import ActiveWorld
from linkwork.model.cg_layout import CGArea
from linkwork.model.graph import Forest, Order
from linkwork.model.held_samples import Held
from linkwork.model.material_points import MaterialPoint, StretchedBody
from linkwork.model.measures import Measure
from linkwork.model.nodes import Bodies, ForceNode, Node
from linkwork.model.states import FORMAT, Layout
from linkwork.symbolic.views import GLOBALS
from linkwork.world import World

LINE = 8  # entries of a cache line


@dataclass(frozen=True)
class Item:
    """One step of the elimination: a vertex, or a body and its joint together."""

    body: int = -1
    node: int = -1
    pivot: JointPivot | None = None


@dataclass(frozen=True)
class Model:
    """A compiled world. Bodies and nodes are numbered; vertex = body, or bodies + node. It is pickled and copied as its
    world and options, and compiled anew from these."""

    world: World | ActiveWorld
    version: int  # of the world when it was compiled
    options: dict[str, Any]  # of `compile`
    bodies: Bodies
    nodes: list[Node]
    forces: list[ForceNode]
    forest: Forest
    redundant: dict[int, int]  # node -> how many of its rows depend on others as built
    ranked: bool  # such rows were looked for
    soft: set[int]  # nodes whose pivots are made regular: of components with loops or redundant rows
    items: list[Item]  # in the order of elimination
    later: dict[int, list[int]]  # vertex -> later neighbours (fronts only); auxiliary vertex -> its bodies
    auxiliary: list[int]  # nodes that are not eliminated with the others; behind their blocks: those of forces they name
    joint_pivot_of: dict[int, JointPivot]  # node -> the joint pivot that it is a part of
    body_at: np.ndarray  # (bodies,), offset of each body's record
    node_at: np.ndarray  # (nodes,), offset of each node's record
    force_at: np.ndarray  # (forces,)
    slot_at: np.ndarray  # (bodies + nodes,), offset of the blocks of each vertex of a front
    report_at: np.ndarray  # (nodes,), offset of residual, rate and forcing of each node
    impulse_at: np.ndarray  # (nodes,), offset of the impulses of each node's rows; all of them lie side by side
    multipliers: np.ndarray  # (rows,), entries that hold the multipliers of the last solve, in the order of the impulses
    packed_at: np.ndarray  # (bodies,), offset of each body's part of the packed vector
    packed: tuple[int, int]  # offset and size of the packed vector (q, v of all bodies)
    rates: tuple[int, int]  # the same for its derivative
    scratch: int  # offset of entries for single reports
    gathering: int  # offset of entries where operations on many records copy them together
    response_at: int  # offset of responses to auxiliary rows: of every vertex, and of all these rows
    gradients: CGArea | None  # where conjugate gradients have their numbers, behind everything else
    size: int  # entries of a workspace
    gravity: np.ndarray  # (3,) m/s^2
    state_index: np.ndarray  # entries that make up the state ...
    state_parts: tuple[tuple[str, int], ...]  # ... and what they are, as `states.Layout` has it
    commands: list[tuple[Element, np.ndarray]]  # what takes commands, and the entries that hold them
    parameters: dict[str, tuple[Parameter, np.ndarray]]  # name -> parameter, entries that hold it
    names: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # element -> (sort, number, part)
    velocity_forces: bool = False  # some force depends on velocity
    material_points: list[MaterialPoint] = field(default_factory=list)  # points of Lagrangian bodies that contact can touch
    measures: list[Measure] = field(default_factory=list)  # numbers that inequalities bound
    stretched: list[StretchedBody] = field(default_factory=list)  # bodies whose shapes stretch, and can be touched
    beyond: np.ndarray = field(default_factory=lambda: np.zeros(0))  # what stands at the end of a workspace at first

    def __reduce__(self):
        from linkwork.model.compile_model import compile

        if self.world.version != self.version:
            raise ModelError("Model: its world has changed since it was compiled; compile the world again and keep that model")
        return partial(compile, **self.options), (self.world,)

    @property
    def order(self) -> Order:
        """How bodies and nodes are eliminated."""
        n = len(self.bodies.elements)
        vertices = [v for item in self.items for v in (item.body, n + item.node if item.node >= 0 else -1) if v >= 0]
        return Order(vertices, self.redundant, self.soft, self.ranked)

    @property
    def pairs(self) -> bool:
        """Whether each block between two vertices is followed by the transposed one of its mirror image."""
        return self.options["pairs"]

    @property
    def nbytes(self) -> int:
        """Bytes of the model's arrays."""
        arrays = [self.body_at, self.node_at, self.force_at, self.report_at, self.impulse_at, self.multipliers,
                  self.packed_at, self.state_index]  # fmt: skip
        arrays += [a for frames in self.bodies.frames.values() for a in vars(frames).values() if isinstance(a, np.ndarray)]
        arrays += [node.values for node in self.nodes]
        return sum({id(a): a.nbytes for a in arrays}.values())

    def extended(self, beyond: np.ndarray, name: str, state: np.ndarray) -> Model:
        """The same model with more numbers at the end of its workspaces, for an integrator; of these the entries `state` belong
        to its states, as `name`."""
        size = -(-self.size // LINE) * LINE + len(beyond)
        return replace(self, size=size, beyond=beyond, state_index=np.concatenate([self.state_index, state]),
                       state_parts=(*self.state_parts, (name, len(state))))  # fmt: skip

    def workspace(self) -> np.ndarray:
        """A workspace with the bodies as built."""
        work = np.empty(self.size)  # of huge pages where it is large, which zeros() does not ask for
        work.fill(0.0)
        work[GLOBALS.slice("gravity")] = self.gravity
        work[GLOBALS.offset("softness")] = SOFT
        for name, frames in self.bodies.frames.items():
            members = self.bodies.members[name]
            record, offsets = self.bodies.kinds[members[0]].record, self.body_at[np.array(members)]
            for field_name, values in frames.start().items():
                where = record.slice(field_name)
                work[offsets[:, None] + np.arange(where.start, where.stop)] = values
        for k, node in enumerate(self.nodes):
            start = self.parameters_at(k)
            work[start : start + len(node.values)] = node.values
        for k, force in enumerate(self.forces):
            work[self.force_at[k] : self.force_at[k] + len(force.values)] = force.values
        for point in (one for one in self.material_points if not one.chosen):
            work[point.at : point.at + 3] = point.internal
        for measure in self.measures:
            work[measure.field("parameters") :][: len(measure.node.values)] = measure.node.values
        work[self.size - len(self.beyond) :] = self.beyond
        return work

    @cached_property
    def signature(self) -> str:
        """What the numbers of a state mean: bodies, constraints, what counts turns. The same for like worlds."""
        counting = [force for force in self.forces if force.kind.counters]
        keys: dict[str, int] = {}
        measured = [measure.node for measure in self.measures if measure.kind.counters]
        items: list[Node | ForceNode] = [*self.nodes, *counting, *measured]
        ends = [(keys.setdefault(item.kind.key, len(keys)), item.ends) for item in items]
        kinds = [keys.setdefault(kind.name, len(keys)) for kind in self.bodies.kinds]
        return blake2s(repr((list(keys), kinds, ends)).encode(), digest_size=8).hexdigest()

    @property
    def rows(self) -> int:
        return sum(node.kind.size for node in self.nodes)

    @property
    def rotors(self) -> int:
        """Rows that hold nothing: each turns a rotor."""
        return sum(len(node.kind.rotors) for node in self.nodes)

    @property
    def velocities(self) -> int:
        return sum(kind.nv for kind in self.bodies.kinds)

    def parameters_at(self, node: int) -> int:
        """Offset of the parameters of a node."""
        kind = self.joint_pivot_of.get(node) or self.nodes[node].kind
        return int(self.node_at[node]) + kind.record.offset("parameters")

    def field_of_node(self, node: int, name: str) -> slice:
        kind = self.joint_pivot_of.get(node) or self.nodes[node].kind
        where = kind.record.slice(name)
        base = int(self.node_at[node])
        return slice(base + where.start, base + where.stop)

    def field_of_body(self, body: int, name: str) -> slice:
        where = self.bodies.kinds[body].record.slice(name)
        base = int(self.body_at[body])
        return slice(base + where.start, base + where.stop)

    def summary(self) -> dict[str, int]:
        """Counts that describe the model. Redundant rows are those as built; where many loops close and nothing is eliminated
        they were not looked for (`ranked`), and freedoms are at least as many as this.

        >>> import linkwork as lw
        >>> lw.Simulation(lw.scenes.get("pendulum")).model.summary()["freedoms"]
        1
        """
        return {
            "bodies": len(self.bodies.elements),
            "constraints": sum(len(node.elements) for node in self.nodes),
            "forces": len(self.forces),
            "velocities": self.velocities,
            "rows": self.rows,
            "freedoms": self.velocities - self.rows + self.rotors + sum(self.redundant.values()),
            "trees": self.forest.trees,
            "loops": self.forest.loops,
            "redundant": sum(self.redundant.values()),
            "nodes": len(self.bodies.elements) + len(self.nodes),
            "limbs": len(self.joint_pivot_of),
            "auxiliary": sum(self.nodes[k].kind.size for k in self.auxiliary),
            "neighbours": max((len(x) for x in self.later.values()), default=0),
            "bytes": self.nbytes,
        }


@dataclass(frozen=True)
class Arrangement:
    """What of a world is in force, and how."""

    off: frozenset[str] = frozenset()  # elements that are switched off
    drawn: tuple[tuple[str, Ramp], ...] = ()  # constraints that are drawn in
    own: tuple[Element, ...] = ()  # elements that a simulation has beside those of the world: its hands


@dataclass
class State:
    """Everything that a run changes: coordinates, velocities, turns counted, commands, warm starts, time. Copies are
    independent. It goes to any simulation of the same world: with the same solver, integrator and dt the next steps have the
    same bits, with others it is the same to rounding."""

    values: np.ndarray  # entries of the workspace named by Model.state_index
    time: float  # s
    steps: int
    age: int  # steps since the position stage was last started afresh
    layout: Layout | None = None  # what the values are; without one, those of any model that has as many
    contact: Any = None  # what contact remembers, if there is any; never changed once it is made
    arrangement: Arrangement = Arrangement()
    held: Held | None = None  # what slow and late sensors have sampled, if there are any; never changed once it is made

    def copy(self) -> State:
        return replace(self, values=self.values.copy())

    @property
    def signature(self) -> str:
        """Of the bodies, constraints and forces that count turns: the same for like worlds."""
        return "" if self.layout is None else self.layout.signature

    def __reduce__(self):
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return _restored, (FORMAT, {name: value for name, value in kept.items() if name != "held" or value is not None})


def _restored(format: int, kept: dict[str, Any]) -> State:
    """A state from a pickle or copy."""
    if format != FORMAT:
        raise FileError(f"State: it was pickled in format {format}, and this linkwork reads {FORMAT}; save it anew")
    return State(**kept)
