"""A world without what is switched off, and with what a simulation has of its own."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.elements.core.element import Body, ConstraintElement, ContactElement, Element, ForceElement
from linkwork.elements.core.frame import Frame
from linkwork.world import World


class ActiveWorld:
    """What a compiler sees of a world: its bodies, those of the other elements that are switched on, and a simulation's own.
    What refers to an element that is off, as a motor does to its hinge, is off with it.

    >>> from linkwork.elements import Ball, Particle
    >>> world = World()
    >>> bob = world.add(Particle(1.0, position=(1, 0, 0)))
    >>> nail = world.add(Ball(world.ground, bob, at=(1, 0, 0), name="nail"))
    >>> len(ActiveWorld(world, ["nail"]).constraints), len(world.constraints)
    (0, 1)
    """

    def __init__(self, world: World, off: Iterable[str] = (), own: Iterable[Element] = ()):
        self.whole, self.off, self.own = world, frozenset(off), tuple(own)
        resting: set[int] = set()
        on: list[Element] = []
        for element in world.elements:
            if element.name in self.off or any(id(other) in resting for _, _, other in element.references()):
                resting.add(id(element))
            else:
                on.append(element)
        on += self.own
        self.bodies = world.bodies
        self.constraints = tuple(e for e in on if isinstance(e, ConstraintElement))
        self.forces = tuple(e for e in on if isinstance(e, ForceElement))
        self.contacts = tuple(e for e in on if isinstance(e, ContactElement))

    def __reduce__(self):
        return ActiveWorld, (self.whole, sorted(self.off), self.own)

    @property
    def version(self) -> int:
        return self.whole.version

    @property
    def gravity(self):
        return self.whole.gravity

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.whole.frames

    @property
    def ground(self) -> Body:
        return self.whole.ground

    def find(self, element):
        """The element of that name, on or off."""
        return self.whole.find(element)


def whole_of(world: World | ActiveWorld) -> World:
    """The world with all that it has, switched on or off."""
    return world.whole if isinstance(world, ActiveWorld) else world
