"""What stops of tendons bound or rub: the length of what they run along, which a kernel measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.joint import Joint
from linkwork.symbolic.autodiff import POSITION

if TYPE_CHECKING:
    from casadi import SX

    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


def on_a_tendon(who: Any, item: Any) -> bool:
    """Whether a stop is of a tendon and not of a joint; what is neither is refused."""
    if isinstance(item, Joint):
        return False
    if not hasattr(item, "transmission"):
        checks.fail(who, f"{checks.label(item)} has no length", "give a joint, a FixedTendon or a Cable")
    return True


class TendonRows(ConstraintKind):
    """The length of the element's tendon, its `joint`."""

    levels = [POSITION]
    bounded = ("bounds",)  # of what a hard limit gives

    def __init__(self, element: Any) -> None:
        self.transmission = t = element.joint.transmission()
        self.key, self.fields, self.counters = f"length of {t.key}", t.fields, t.counters
        self.needs_directions, self.rigid_only = t.needs_directions, (False,) * len(t.bodies)

    @staticmethod
    def bodies(element: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = element.joint.transmission().bodies
        return found

    def parameters(self, elements: Sequence[Any], *frames: Placement) -> dict[str, AnyArray]:
        found: dict[str, AnyArray] = self.transmission.parameters([e.joint for e in elements], frames)
        return found

    def angles(self, handles: Sequence[Handle], p: Params) -> list[tuple[SX, SX]]:
        found: list[tuple[SX, SX]] = self.transmission.angles(handles, p)
        return found

    def rows(self, handles: Sequence[Handle], p: Params, t: SX) -> list[tuple[str, SX]]:
        return [(POSITION, self.transmission.coordinate(handles, p, self.counted(handles, p)).value)]
