"""Pictures of an environment: frames of an episode, before a camera that steps back when something leaves the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.batches.batch import Batch
    from linkwork.util.array_types import AnyArray

RENDER_MODES = ("rgb_array",)
FPS = 50  # of videos, unless the task says how long an action is
SIZE = (480, 360)  # pixels


def checked_mode(mode: str | None) -> str | None:
    """A render mode, or none."""
    if mode is not None and mode not in RENDER_MODES:
        raise LinkworkError(f"Env: render_mode is {checks.show(mode)}; give one of {', '.join(RENDER_MODES)}, or leave it out")
    return mode


class Camera:
    """Pictures of one world of a batch."""

    def __init__(self, batch: Batch, number: int = 0) -> None:
        self._batch, self._number = batch, number
        self._sim: Any = None
        self._recorder: Any = None
        self._picture: Any = None

    def begin(self) -> None:
        """An episode begins: frames of the last one are forgotten, the camera stays where it is."""
        self._recorder = None

    def shot(self) -> AnyArray:
        """(height, width, 3) uint8: the world as it is now."""
        from linkwork.simulation.recorder import Recorder
        from linkwork.viz.offscreen import Picture

        if self._sim is None:
            self._sim = self._batch.simulation(self._number)
        self._sim.state = self._batch.state(self._number)
        if self._recorder is None or self._sim.steps == 0:
            self._recorder = Recorder(self._sim, [])
        self._recorder.take()
        rec = self._recorder.recording()
        if self._picture is None or not self._picture.sees(rec):
            self.close()
            self._picture = Picture(rec, SIZE)
        return self._picture.last(rec)

    def close(self) -> None:
        """Close the window that nobody sees."""
        if self._picture is not None:
            self._picture.close()
        self._picture = None
