"""Validity: what of a workspace can be used as it lies there. One object, the only owner of these facts.

Facts: *poses* are derived from the coordinates of now; *ready*: a step can begin, with what the last one left; *kept*: a state
has been kept since the last change, from which a run that stops is looked into; *accelerations* and multipliers are those of
now; *impulses* of the last step or impact are there, and *complete*: with its last solve. *count* grows with every change:
what was read at the count of now is of now.

Events: what makes facts true or false.

    event       poses  ready  kept  accelerations  impulses   complete  count
    changed     no     no     no    no             -          -         grows   coordinates, parameters, time were written
    commanded   -      -      no    no             -          -         grows   commands of forces alone were written
    placed      yes    -      -     -              -          -         -       poses were derived
    prepared    yes    yes    -     no             -          -         -       a step can begin
    remembered  -      -      yes   -              -          -         -       a state was kept
    solved      yes    no     -     yes            -          -         -       accelerations; factors of steps are gone
    stepped     yes    yes    -     no             as kept    no        grows   steps are made
    failed      no     no     no    no             no         no        grows   a step could not be made
    struck      no     no     no    no             yes        yes       grows   an impulse was given
    forgotten   -      -      -     -              no         no        -       the state is another one
    completed   -      -      -     -              -          yes       -       the last solve was added

What a step leaves for the next one depends on coordinates and velocities alone (`Integrator.prepare` makes the same from
these), so that a command leaves the simulation ready.
"""

from __future__ import annotations

Facts = tuple[bool, bool, bool, bool, bool, bool]


class Validity:
    """The table above.

    >>> valid = Validity()
    >>> valid.prepared()
    >>> valid.stepped(keeps_impulses=True)
    >>> valid.ready, valid.impulses, valid.complete
    (True, True, False)
    >>> valid.changed()
    >>> valid.ready, valid.impulses
    (False, True)
    """

    __slots__ = ("accelerations", "complete", "count", "impulses", "kept", "poses", "ready")

    def __init__(self) -> None:
        self.count = 0
        self.facts = (False, False, False, False, False, False)

    @property
    def facts(self) -> Facts:
        """All of them: assigned where a workspace is put back to what it was."""
        return self.poses, self.ready, self.kept, self.accelerations, self.impulses, self.complete

    @facts.setter
    def facts(self, facts: Facts) -> None:
        self.poses, self.ready, self.kept, self.accelerations, self.impulses, self.complete = facts
        self.count += 1

    def changed(self) -> None:
        """Coordinates, velocities, parameters or the time were written."""
        self.poses = self.ready = self.kept = self.accelerations = False
        self.count += 1

    def commanded(self) -> None:
        """Commands of forces were written, and nothing else."""
        self.kept = self.accelerations = False
        self.count += 1

    def remembered(self) -> None:
        """A state was kept."""
        self.kept = True

    def placed(self) -> None:
        """Poses were derived from the coordinates."""
        self.poses = True

    def prepared(self) -> None:
        """A step can begin."""
        self.poses = self.ready = True
        self.accelerations = False

    def solved(self) -> None:
        """Accelerations and multipliers of now were found, over the factors that the next step would have begun with."""
        self.poses = self.accelerations = True
        self.ready = False

    def stepped(self, keeps_impulses: bool) -> None:
        """Steps are made."""
        self.poses = self.ready = True
        self.accelerations = self.complete = False
        self.impulses = keeps_impulses
        self.count += 1

    def failed(self) -> None:
        """A step could not be made."""
        self.changed()
        self.forgotten()

    def struck(self) -> None:
        """An impulse was given, and its multipliers are there."""
        self.changed()
        self.impulses = self.complete = True

    def forgotten(self) -> None:
        """The state is not the one that the last step led to."""
        self.impulses = self.complete = False

    def completed(self) -> None:
        """The last solve of the step was added to its impulses."""
        self.complete = True
