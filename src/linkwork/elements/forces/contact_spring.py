"""ContactSpring: soft contact of a point or sphere with a plane or a sphere. The element and its law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.core import checks
from linkwork.elements.core.element import BodyLike, ForceElement
from linkwork.elements.core.element_kind import apart as apart_of
from linkwork.elements.core.field_types import VectorField, default
from linkwork.elements.core.force_kind import Coordinate, ForceKind, Term, travelling
from linkwork.elements.core.functions import norm
from linkwork.elements.core.included import is_ground
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.registry import kind_of
from linkwork.elements.forces.coefficients import is_zero, wide
from linkwork.elements.forces.eased import eased, eased_shares
from linkwork.elements.forces.spring import Spring
from linkwork.symbolic.blocks import skew

if TYPE_CHECKING:
    from linkwork.elements.core.element_kind import Params
    from linkwork.elements.core.force_kind import Load
    from linkwork.elements.core.included import Move
    from linkwork.elements.core.placement import Placement
    from linkwork.symbolic.autodiff import Handle
    from linkwork.util.array_types import AnyArray


@dataclass(eq=False, repr=False)
class ContactSpring(ForceElement):
    """Soft contact of a point of b, or of a sphere around it, with a plane or a sphere of a.

    `plane=(point, normal)`, the normal towards b, or `sphere=(centre, radius)`, in a's frame; `at` and `radius` of b. While
    they overlap, the force along the normal is stiffness * depth + damping * its rate, where the damper has at most the force
    of the spring: it begins without a jump and never pulls. Friction is `friction` times that force, against the slip; it is
    softened below the speed `slip`.

    >>> ContactSpring("ground", "finger", 1e4, damping=10.0, plane=((0, 0, 0), (0, 0, 1)), at=(0, 0, 0.1), radius=0.01)
    <ContactSpring>
    >>> ContactSpring("ball", "bead", 1e4, sphere=((0, 0, 0), 0.05), friction=0.3).sphere[1]
    0.05
    """

    REFERENCES: ClassVar[dict[str, str]] = {"a": "body", "b": "body"}

    a: BodyLike
    b: BodyLike
    stiffness: float | Parameter  # N/m
    damping: float | Parameter = 0.0  # N s/m
    plane: tuple[Any, ...] | None = field(default=None, kw_only=True)  # ((3,), m; (3,), unit), in a's frame
    sphere: tuple[Any, ...] | None = field(default=None, kw_only=True)  # ((3,), m; m), in a's frame
    at: VectorField = field(default=default(checks.ZERO), kw_only=True)  # (3,), m, in b's frame
    radius: float | Parameter = field(default=0.0, kw_only=True)  # m, around `at`
    friction: float | Parameter = field(default=0.0, kw_only=True)  # of the normal force
    slip: float | Parameter = field(default=1e-3, kw_only=True)  # m/s

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stiffness", "damping", "radius", "friction"):
            setattr(self, name, checks.non_negative(self, name, getattr(self, name), parameter=True))
        self.slip = checks.positive(self, "slip", self.slip, parameter=True)
        self.at = checks.vector(self, "at", self.at)
        if (self.plane is None) == (self.sphere is None):
            problem = "it has neither a plane nor a sphere" if self.plane is None else "it has both a plane and a sphere"
            checks.fail(self, problem, "give plane=(point, normal) or sphere=(centre, radius)")
        if self.plane is not None:
            point, normal = self._two("plane", self.plane, "(point, normal)")
            self.plane = checks.vector(self, "plane[0]", point), checks.direction(self, "plane[1]", normal)
        else:
            centre, radius = self._two("sphere", self.sphere, "(centre, radius)")
            self.sphere = checks.vector(self, "sphere[0]", centre), checks.non_negative(self, "sphere[1]", radius)
            if self.sphere[1] == 0.0 and is_zero(self.radius):
                checks.fail(self, "two points never touch", "give radius= or a sphere with a radius")

    def include_at(self, move: Move) -> str | None:
        if is_ground(self.a):
            if self.plane is not None:
                vars(self)["plane"] = move.point(self.plane[0]), move.direction(self.plane[1])
            elif self.sphere is not None:
                vars(self)["sphere"] = move.point(self.sphere[0]), self.sphere[1]
        if is_ground(self.b):
            vars(self)["at"] = move.point(self.at)
        return None

    def _two(self, name: str, value: Any, shape: str) -> list[Any]:
        given = checks.entries(value)
        if given is None or len(given) != 2:
            checks.fail(self, f"{name} is {checks.show(value)}", f"give {name}={shape}")
        return given


@kind_of(ContactSpring)
class ContactSpringKind(ForceKind):
    """A sphere (or point) of b on a plane or sphere of a: k depth + c depth', eased, while they overlap; friction against
    the slip s of the touching points, mu N s / sqrt(s^2 + slip^2)."""

    relative = True

    def __init__(self, element: Any) -> None:
        self.flat, self.rubs = element.plane is not None, not is_zero(element.friction)
        self.velocity_dependent = self.rubs or not is_zero(element.damping)
        self.ball = not is_zero(element.radius)
        self.needs_directions = (self.flat or self.rubs, self.rubs and self.ball)
        self.rigid_only = (self.flat, False)  # a plane that stretches
        self.key = f"Contact-{self.flat}-{self.rubs}-{self.ball}-{self.velocity_dependent}"
        figure = {"normal": 3} if self.flat else {"around": 1}
        self.fields = {
            "on_a": 3,
            "on_b": 3,
            **figure,
            **dict.fromkeys(("stiffness", "damping", "radius", "friction", "slip"), 1),
        }

    def parameters(self, elements: Sequence[Any], A: Placement, B: Placement) -> dict[str, AnyArray]:
        figures = [e.plane if self.flat else e.sphere for e in elements]
        on_a = A.user_point(np.array([point for point, _ in figures], dtype=float))
        found = {name: wide(elements, name, 1) for name in ("stiffness", "damping", "radius", "friction", "slip")}
        if self.flat:
            found["normal"] = A.user_axis(np.array([normal for _, normal in figures], dtype=float))
        else:
            found["around"] = np.array([[radius] for _, radius in figures], dtype=float)
        return {"on_a": on_a, "on_b": B.user_point(np.array([e.at for e in elements], dtype=float)), **found}

    def always_on(self, element: Any) -> Sequence[Any]:
        on_a, _ = element.plane or element.sphere
        return [Spring(element.a, element.b, element.stiffness, damping=element.damping, on_a=on_a, on_b=element.at)]

    def _gap(self, handles: Sequence[Handle], p: Params) -> tuple[Coordinate, SX]:
        """How far apart they are, and the normal (3,), towards b."""
        if self.flat:
            normal = handles[0].axis(p["normal"])
            gap = travelling(handles, p, [normal])
            return Coordinate(gap.value - p["radius"], gap.motion), normal
        apart = apart_of(handles, p)
        length = norm(apart)
        normal = apart / ca.if_else(length > 0, length, 1)
        motion: list[Load] = [(1, "point", p["on_b"], normal.T), (0, "point", p["on_a"], -normal.T)]
        return Coordinate(length - p["radius"] - p["around"], motion), normal

    def _efforts(self, handles: Sequence[Handle], p: Params, gap: Coordinate) -> tuple[SX, SX]:
        """What spring and damper push, before the damper is eased."""
        push = p["stiffness"] * ca.fmax(-gap.value, 0)
        return push, -p["damping"] * gap.rate(handles) if self.velocity_dependent else SX(0)

    def _press(self, handles: Sequence[Handle], p: Params, gap: Coordinate) -> SX:
        """The force between them."""
        push, drag = self._efforts(handles, p, gap)
        return eased(push, drag) if self.velocity_dependent else push

    def _slip(self, handles: Sequence[Handle], p: Params, normal: SX) -> Coordinate:
        """The motion of b's touching point across a's: the rate alone is of use."""
        across = SX.eye(3) - normal @ normal.T
        touch = handles[1].point(p["on_b"]) - p["radius"] * normal
        motion: list[Load] = [(1, "point", p["on_b"], across), (0, "point", p["on_a"], -across),
                        (0, "spin", None, across @ skew(touch - handles[0].point(p["on_a"])))]  # fmt: skip
        if self.ball:
            motion.append((1, "spin", None, across @ skew(p["radius"] * normal)))
        return Coordinate(SX(3, 1), motion)

    def law(self, handles: Sequence[Handle], p: Params, t: SX) -> tuple[Sequence[Load], SX]:
        gap, normal = self._gap(handles, p)
        press = self._press(handles, p, gap)
        loads = gap.loads(press)
        if self.rubs:
            slip = self._slip(handles, p, normal)
            rate = slip.rate(handles)
            loads += slip.loads(-p["friction"] * press * rate / ca.sqrt(ca.sumsqr(rate) + p["slip"] ** 2))
        return loads, 0.5 * p["stiffness"] * ca.fmin(gap.value, 0) ** 2

    def terms(self, handles: Sequence[Handle], p: Params, t: SX) -> list[Term]:
        gap, normal = self._gap(handles, p)
        press = self._press(handles, p, gap)
        shares = eased_shares(*self._efforts(handles, p, gap))
        found = [gap.term(shares[0] * p["stiffness"], shares[1] * p["damping"])]
        if self.rubs:
            slip = self._slip(handles, p, normal)
            rate = slip.rate(handles)
            speed = ca.sqrt(ca.sumsqr(rate) + p["slip"] ** 2)
            # the secant, not the derivative: a single linearised step then stops what slips, and does not throw it back
            found.append(Term(slip.motion, SX(3, 3), p["friction"] * press / speed * SX.eye(3)))
        return found
