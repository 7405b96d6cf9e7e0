"""Constraint nodes: constraints between the same bodies, stacked; their records, parameters and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Record, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element_kind import ElementKind, crossing
from linkwork.symbolic import blocks
from linkwork.symbolic.autodiff import ROTOR, VELOCITY, Rotor, Rows, Tape, derive
from linkwork.symbolic.views import View, load_global
from linkwork.symbolic.vocabulary import Moment

SOFT = 1e-12  # of what rows would give to unit multipliers: the part by which a pivot is made regular


@dataclass(frozen=True)
class Part:
    """One constraint of a node: its kind, which of the node's bodies are its own in turn, and the rows kept."""

    kind: ConstraintKind
    order: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def key(self) -> str:
        turned = "".join(map(str, self.order)) if self.order != tuple(sorted(self.order)) else ""
        return f"{self.kind.key}{turned and '~' + turned}{list(self.kept)}"

    @property
    def flipped(self) -> bool:
        """Whether its two bodies are the node's in reverse."""
        return self.order == (1, 0)

    def arranged(self, items) -> list:
        """What the node has for each of its bodies, in the order of this constraint's bodies."""
        return [items[k] for k in self.order]


def parameter_record(element_kind: ElementKind) -> Record:
    return Record(**element_kind.fields, turns=2 * element_kind.counters, **element_kind.state_fields)


def load_parameters(trace: Trace, pointer: int, offset: int, element_kind: ElementKind) -> dict[str, SX]:
    layout = parameter_record(element_kind)
    return {name: trace.load(pointer, offset + o, size) for name, (o, size) in layout.fields.items()}


def views_of(trace: Trace, kinds, moment: Moment):
    """Views of the bodies at pointers 2, 3, ...; None for the ground."""
    return [None if kind is None else View(kind, trace, 2 + k, moment) for k, kind in enumerate(kinds)]


def count(trace: Trace, element_kind: ElementKind, handles, pointer: int, offset: int, p, tape: Tape) -> None:
    """Turn counters after a step: turns += crossings, and the sine for next time; and what else the kind keeps."""
    if element_kind.state_fields:
        for name, value in element_kind.updated_state(handles, tape.introduce(element_kind, handles, p)).items():
            trace.store(pointer, offset + parameter_record(element_kind).offset(name), tape.resolve([value])[0])
    angles = element_kind.angles(handles, p)
    if not angles:
        return
    where = offset + parameter_record(element_kind).offset("turns")
    resolved = tape.resolve([x for pair in angles for x in pair])
    for k in range(len(angles)):
        s, c = resolved[2 * k], resolved[2 * k + 1]
        turns, side = p["turns"][2 * k], p["turns"][2 * k + 1]
        trace.store(pointer, where + 2 * k, ca.vertcat(turns + crossing(side, s, c), s))


@dataclass(frozen=True)
class NodeKind:
    """Constraints between the same two bodies or more, stacked. `kinds` are the bodies' kinds, None for the ground (which is
    always first); `bodies_first[k]`: body k is eliminated before the node, so that its block is J_k^T."""

    parts: tuple[Part, ...]
    kinds: tuple[BodyKind | None, ...]

    @cached_property
    def key(self) -> str:
        ends = [kind.key if kind else "ground" for kind in self.kinds]
        return f"{'+'.join(part.key for part in self.parts)}|{ends}"

    @property
    def behind(self) -> int:
        """The first pointer behind those of the bodies."""
        return 2 + len(self.kinds)

    @cached_property
    def size(self) -> int:
        return sum(len(part.kept) for part in self.parts)

    @cached_property
    def levels(self) -> list[str]:
        return [part.kind.levels[k] for part in self.parts for k in part.kept]

    @cached_property
    def moving_rows(self) -> bool:
        """Whether some rows are at velocity level."""
        return VELOCITY in self.levels

    @cached_property
    def rotors(self) -> list[int]:
        """Its rows that turn rotors."""
        return [k for k, level in enumerate(self.levels) if level == ROTOR]

    @cached_property
    def forced(self) -> bool:
        """Whether some row asks for motion of its own: prescribed motion and drives."""
        return any(part.kind.forced for part in self.parts)

    @cached_property
    def force_directed(self) -> bool:
        """Whether some rows name the forces that hold them."""
        return any(part.kind.force_directed for part in self.parts)

    @cached_property
    def nonlinear(self) -> bool:
        """Whether some row is not linear in velocities."""
        return any(part.kind.nonlinear for part in self.parts)

    @cached_property
    def counters(self) -> int:
        """How much there is to bring up to date after a step."""
        return sum(part.kind.counters + len(part.kind.state_fields) * (not part.kind.commanded) for part in self.parts)

    @cached_property
    def parameters(self) -> int:
        return sum(parameter_record(part.kind).size for part in self.parts)

    @cached_property
    def record(self) -> Record:
        m = self.size
        cold = {"history": 3 * m, "upper": blocks.triangle_size(m - 1)}
        return Record(cold, D=blocks.triangle_size(m), b=m, x=m, parameters=self.parameters)

    def parameters_of(self, trace: Trace, start: int | None = None) -> list[dict[str, SX]]:
        """The parameters of each part; they begin at `start` (None: where this kind's record has them)."""
        offset, found = self.record.offset("parameters") if start is None else start, []
        for part in self.parts:
            found.append(load_parameters(trace, 1, offset, part.kind))
            offset += parameter_record(part.kind).size
        return found

    def tape_of_rows(self, trace: Trace, views, time: SX, start: int | None = None, known=None):
        """All rows of the node, written on one tape. `known` gives expressions for some parameters."""
        tape, rows = Tape(views, time), []
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            handles = part.arranged(tape.handles)
            written = part.kind.rows(handles, tape.introduce(part.kind, handles, p | (known or {})), time)
            rows += [written[k] for k in part.kept]
        return tape, rows

    def rows_between(self, trace: Trace, views, time: SX, start: int | None = None, known=None) -> Rows:
        """All rows of the node, derived."""
        rows = derive(*self.tape_of_rows(trace, views, time, start, known))
        rows.rotors = self._rotors(trace, start) if self.rotors else {}
        return rows

    def _rotors(self, trace: Trace, start: int | None) -> dict[int, Rotor]:
        found, row, offset = {}, 0, self.record.offset("parameters") if start is None else start
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            layout = parameter_record(part.kind)
            if part.kind.levels == [ROTOR]:
                at = [offset + layout.offset(name) for name in ("speed", "angle")]
                found[row] = Rotor(p["inertia"], p["speed"], p["angle"], *at)
            row, offset = row + len(part.kept), offset + layout.size
        return found

    def pulls_between(self, trace: Trace, views, time: SX, start: int | None = None) -> list[SX]:
        """For each body how multipliers pull at it, transposed (m, nv): J, or what aimed constraints have in its place."""
        tape, rates = Tape(views, time), []
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            handles, element_kind = part.arranged(tape.handles), part.kind
            if element_kind.force_directed:
                written: list[tuple[str, SX]] = [(VELOCITY, rate) for rate in element_kind.rates(handles, p, time)]
            else:
                written = element_kind.rows(handles, tape.introduce(element_kind, handles, p), time)
            rates += [written[k] for k in part.kept]
        return derive(tape, rates).jacobians

    def views(self, trace: Trace, moment: Moment):
        return views_of(trace, self.kinds, moment)

    def write_rows(self, trace: Trace, moment: Moment, time: SX, start: int | None = None) -> Rows:
        return self.rows_between(trace, self.views(trace, moment), time, start)

    def count(self, trace: Trace, start: int | None = None) -> None:
        """Bring all turn counters up to where the bodies are."""
        tape = Tape(self.views(trace, Moment.NOW), load_global(trace, "time"))
        offset = self.record.offset("parameters") if start is None else start
        for part, p in zip(self.parts, self.parameters_of(trace, start), strict=True):
            count(trace, part.kind, part.arranged(tape.handles), 1, offset, p, tape)
            offset += parameter_record(part.kind).size
