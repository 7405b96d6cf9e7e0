"""Wrench: a given force at a point and a given torque. The element and its law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import user_points
from linkwork.elements.core.field_types import OpenVectorOrFunctionField, VectorField, default
from linkwork.elements.core.force_kind import ForceKind
from linkwork.elements.core.functions import on_tape
from linkwork.elements.core.registry import kind_of

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class Wrench(ForceElement):
    """A force at the point `at` and a torque, each of three numbers or Parameters, or a function of t that gives them.

    Their components are along the axes of the world, or of the body with frame="body".

    >>> Wrench("rocket", force=lambda t: (0, 0, 10 - t), frame="body").torque.tolist()
    [0.0, 0.0, 0.0]
    """

    REFERENCES: ClassVar[dict[str, str]] = {"body": "body"}
    FUNCTIONS: ClassVar[dict[str, tuple[str, ...]]] = {"force": ("t",), "torque": ("t",)}

    body: BodyLike
    force: OpenVectorOrFunctionField = default(checks.ZERO)  # (3,), N
    torque: OpenVectorOrFunctionField = default(checks.ZERO)  # (3,), N m
    at: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in the body's frame
    frame: str = field(default="world", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("force", "torque"):
            value = getattr(self, name)
            if callable(value):
                checks.function(self, name, value, ("t",))
            else:
                setattr(self, name, checks.vector(self, name, value, parameter=True))
        self.at = checks.vector(self, "at", self.at)
        self.frame = checks.choice(self, "frame", self.frame, ("world", "body"))

    def include_at(self, move: Move) -> str | None:
        if self.frame == "world" and move.turns:
            for name in ("force", "torque"):
                value = getattr(self, name)
                if callable(value) or value.dtype == object:
                    return f"its {name} is along the axes of the world"
                vars(self)[name] = move.direction(value)
        return None


@kind_of(Wrench)
class WrenchKind(ForceKind):
    """A given force at a point and a given torque, in the world's or the body's axes."""

    velocity_dependent = yields = False

    def __init__(self, element: Any) -> None:
        self.traced = {name: element.traced(name, 3) for name in ("force", "torque") if callable(getattr(element, name))}
        self.turning = "torque" in self.traced or any(not isinstance(x, float) or x != 0.0 for x in np.ravel(element.torque))
        self.in_body = element.frame == "body"
        digests = {name: traced.digest for name, traced in self.traced.items()}
        self.key = f"Wrench-{self.turning}-{self.in_body}-{digests}"
        self.user_parameters = tuple(p for traced in self.traced.values() for p in traced.parameters)
        self.fields = {"on_b": 3, "axes": 9 if self.in_body else 0, "user": len(self.user_parameters)}
        self.fields |= {name: 3 for name in ("force", "torque") if name not in self.traced}
        self.needs_directions = (False, self.turning or self.in_body)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        return None, element.body

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        found = {"on_b": user_points(elements, B, "at")}
        if self.in_body:
            found["axes"] = np.hstack([B.user_axis(np.tile(e, (len(elements), 1))) for e in np.eye(3)])
        for name in ("force", "torque"):
            if name not in self.traced:
                found[name] = np.array([list(getattr(e, name)) for e in elements], dtype=object)
        return found

    def _vector(self, name: str, handle: Handle, p: Params, t: SX) -> SX:
        if name in self.traced:
            start = 0 if name == "force" or "force" not in self.traced else len(self.traced["force"].parameters)
            used = p["user"][start : start + len(self.traced[name].parameters)]
            vector = on_tape(self.traced[name], [], [t], used)
        else:
            vector = p[name]
        if not self.in_body:
            return vector
        return cast(SX, sum(vector[k] * handle.axis(p["axes"][3 * k : 3 * k + 3]) for k in range(3)))

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        b = handles[1]
        loads: list[Load] = [(1, "force", p["on_b"], self._vector("force", b, p, t))]
        if self.turning:
            loads.append((1, "torque", None, self._vector("torque", b, p, t)))
        return loads, SX(0)
