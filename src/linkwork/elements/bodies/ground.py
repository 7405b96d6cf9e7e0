"""The ground: a body that never moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import NameField, default


@dataclass(eq=False, repr=False)
class Ground(Body):
    """The world itself: it never moves. Each World has one, `world.ground`; its local frame is the world's.

    >>> Ground()
    <Ground "ground">
    """

    kind: ClassVar[str] = "ground"
    dim: ClassVar[int] = 0

    name: NameField = field(default=default("ground"), kw_only=True)
