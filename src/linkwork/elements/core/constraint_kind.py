"""What a constraint kind offers: rows, written with points and directions of its bodies; J and its bias are derived.

A kind is declared with `kind_of`, in the file of its element; what it lacks is an error there. Joints have kinds with more
(joint_kind.py). Helpers that place anchors, axes and rows stand here too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core.element import Element
from linkwork.elements.core.element_kind import ElementKind
from linkwork.elements.core.placement import Poses
from linkwork.elements.core.units import Quantity
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import FloatArray


def perpendicular(d: FloatArray) -> FloatArray:
    """A unit vector perpendicular to each row of d, (k, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(d), axis=1)]
    t = np.cross(d, helper)
    found: FloatArray = t / np.linalg.norm(t, axis=1, keepdims=True)
    return found


def _either(
    elements: Sequence[Any],
    world: str,
    on_a: str,
    on_b: str,
    to_a: Callable[..., Any],
    to_b: Callable[..., Any],
    user_a: Callable[..., Any],
    user_b: Callable[..., Any],
    from_a: Callable[..., Any],
    from_b: Callable[..., Any],
) -> tuple[FloatArray, FloatArray]:
    """A vector given in the world or in one or both bodies, in both bodies: (k, 3), (k, 3). Without any it is the
    origin of b's own frame."""
    given = [(getattr(e, world), getattr(e, on_a, None), getattr(e, on_b, None)) for e in elements]
    if all(w is not None and pb is None for w, _, pb in given):
        at = np.array([w for w, _, _ in given])
        return to_a(at), to_b(at)
    a, b = np.zeros((len(given), 3)), np.zeros((len(given), 3))
    for k, (w, pa, pb) in enumerate(given):
        pick = np.array([k])
        if w is None:
            pb = np.zeros(3) if pa is None and pb is None else pb
            w = from_a(user_a(pa, pick), pick)[0] if pa is not None else from_b(user_b(pb, pick), pick)[0]
        a[k] = user_a(pa, pick)[0] if pa is not None else to_a(w[None], pick)[0]
        b[k] = user_b(pb, pick)[0] if pb is not None else to_b(w[None], pick)[0]
    return a, b


def anchors(elements: Sequence[Any], A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
    return _either(elements, "at", "on_a", "on_b", A.point, B.point, A.user_point, B.user_point,
                   A.world_point, B.world_point)  # fmt: skip


def axes(elements: Sequence[Any], A: Placement, B: Placement) -> tuple[FloatArray, FloatArray]:
    return _either(elements, "axis", "axis_a", "axis_b", A.axis, B.axis, A.user_axis, B.user_axis,
                   A.world_axis, B.world_axis)  # fmt: skip


def position_rows(*expressions: SX) -> list[tuple[str, SX]]:
    whole = ca.vertcat(*expressions)
    return [(POSITION, whole[i]) for i in range(whole.shape[0])]


class ConstraintKind(ElementKind):
    """The base of constraint kinds."""

    levels: list[str]  # of its rows: POSITION, VELOCITY or ROTOR
    stationary = False  # none of its rows changes with its unknowns, to first order, where they are right
    forced = False  # asks for motion of its own, and so does work
    meets = False  # its first three rows are the way from a's anchor to b's, in the world
    nonlinear = False  # its rows are not linear in velocities
    force_directed = False  # names the forces that hold its rows
    anchored = False  # pictures show it from `on_a` to `on_b`
    leads = False  # prescribes where something is: a step must not ask for a way too long
    slower = "let its function change more slowly"  # what to do where it asks for one
    is_rotor = False  # turns a rotor with the coordinate of its element's `joint`, and holds nothing
    couples_joints = False  # acts on the coordinates of joints: no body hangs on it
    gives_way = False  # contradicts nothing: it is given up where others hold
    read_names: tuple[Quantity, ...] = ()  # of a joint: its coordinates, those of its second body relative to its first ...
    read_rates: tuple[Quantity, ...] = ()  # ... and its velocities
    read_fields: dict[str, int] = {}  # constants that these need beside its parameters

    PROMISES: ClassVar = {"force_directed": ("rates",), "commanded": ("sent", "stayed")}

    @classmethod
    def check_declared(cls, element: type[Element]) -> None:
        """Refuse a kind that lacks something."""
        if cls.__init__ is ElementKind.__init__ and not hasattr(cls, "levels"):
            raise TypeError(f"{cls.__name__}: it lacks levels; say of what level its rows are")
        super().check_declared(element)

    @abstractmethod
    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        """What its bodies keep: (level, expression) each, zero where it holds."""

    def rates(self, handles: Sequence[Handle], p: Params, t: SX) -> list[SX]:
        """Of a kind that is force-directed: for each row the rate on which its multiplier works."""
        raise NotImplementedError

    def equations(self, handles: Sequence[Handle], p: Params) -> SX:
        """Of a kind with unknowns (p["unknowns"]): what vanishes where they are right, as many."""
        raise NotImplementedError

    def read_coordinates(self, handles: Sequence[Handle], p: Params) -> tuple[SX, SX]:
        """The coordinates and velocities that `read_names` and `read_rates` name."""
        raise NotImplementedError

    def read_numbers(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, FloatArray]:
        """The constants that `read_fields` names, (k, size) each."""
        return {}

    def touching_point(self, p: dict[str, FloatArray]) -> tuple[int, FloatArray] | None:
        """Which of its bodies it touches where (3,), in the user's frame, if that is no anchor."""
        return None

    def sent(self, element: Any, pose: Poses, goal: FloatArray, time: float, dt: float, first_order: bool) -> dict[str, Any]:
        """Of a kind that is `commanded`: its state fields when a command (`goal`) comes, with its body in this pose."""
        raise NotImplementedError

    def stayed(self, pose: Poses, time: float) -> dict[str, Any]:
        """Of a kind that is `commanded`: its state fields where its body is to stay in this pose."""
        raise NotImplementedError

    def remedy(self, element: Any) -> str:
        """What to do where its rows vanish while a run goes on."""
        return "keep its bodies away from there, or remove it before that"
