"""Recorder: samples a running simulation, shows progress, and makes a Recording of what it has."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

import numpy as np

from linkwork.elements.joints import Joint
from linkwork.model import readout
from linkwork.model.graph import GROUND

PATIENCE = 2.0  # seconds after which progress is shown


class Recorder:
    def __init__(self, sim, reactions: list[str]):
        self.sim = sim
        self.bodies = np.arange(len(sim.model.bodies.elements))
        self.names = [body.name for body in sim.model.bodies.elements]
        self.joints = [e.name for node in sim.model.nodes for e in node.elements
                       if isinstance(e, Joint) and (e.has_coordinate or type(e).__name__ == "Cylindrical")]  # fmt: skip
        if len(self.joints) > 1000:  # reading a coordinate is Python's work: long chains are plotted by position
            self.joints = []
        self.reactions = reactions
        for name in reactions:
            sim.reaction(name)
        self.samples: list[tuple] = []
        self.note: str | None = None
        self.interrupted = False

    def take(self) -> None:
        """One sample, now."""
        sim = self.sim
        pose = readout.poses(sim.model, sim.work, self.bodies)
        energy = sim.energy()
        angles = [sim.angle(name) for name in self.joints]
        drift = sim.drift()
        pulls = [sim.reaction(name) for name in self.reactions]
        self.samples.append((sim.time, pose, energy.kinetic, energy.potential, drift, angles, pulls))

    @contextmanager
    def watch(self, total: int, progress: bool | None):
        """A function of the steps done that shows a bar when the run takes long."""
        began = time.perf_counter()
        bar = None
        wanted = sys.stderr.isatty() if progress is None else progress

        def watched(done: int) -> None:
            nonlocal bar
            if bar is None and wanted and time.perf_counter() - began > PATIENCE and done < total:
                bar = _bar(total, done)
            if bar is not None:
                bar[0].update(bar[1], completed=done)

        try:
            yield watched
        finally:
            if bar is not None:
                bar[0].stop()

    def recording(self):
        from linkwork.recording import Recording

        sim = self.sim
        times, poses, kinetic, potential, drift, angles, pulls = zip(*self.samples, strict=True)
        stretching = any(kind.name in ("ScalableBody", "AffineBody") for kind in sim.model.bodies.kinds)
        extra = {}
        for k, name in enumerate(self.reactions):
            extra[f"reaction {name}"] = np.array([p[k].force for p in pulls])
            extra[f"torque {name}"] = np.array([p[k].torque for p in pulls])
        attributes = {"dt": sim.dt, "solver": sim.solver, "integrator": sim.integrator_name, "steps": sim.steps}
        if self.note:
            attributes["note"] = self.note
        return Recording(
            time=np.array(times), bodies=self.names, position=np.array([p.position for p in poses]),
            orientation=np.array([p.orientation for p in poses]), velocity=np.array([p.velocity for p in poses]),
            angular_velocity=np.array([p.angular_velocity for p in poses]), kinetic=np.array(kinetic),
            potential=np.array(potential), drift=np.array(drift), joints=self.joints,
            angle=np.array(angles).reshape(len(times), len(self.joints)),
            frame=np.array([p.frame for p in poses]) if stretching else None, extra=extra,
            shapes={b.name: getattr(b, "shape", None) for b in sim.model.bodies.elements}, links=self._links(),
            attributes=attributes,
        )  # fmt: skip

    def _links(self) -> list[tuple]:
        """Anchors of the constraints between bodies, as they were at the start, in the users' frames."""
        sim, found = self.sim, []
        pose = readout.poses(sim.model, sim.work, self.bodies)
        for k, node in enumerate(sim.model.nodes):
            for part, element in enumerate(node.elements):
                second = sim._second_body(node.kind.parts[part].relation, element)
                at = sim._anchor(k, part, second)
                local = [at if b == GROUND else np.linalg.solve(pose.frame[b], at - pose.position[b]) for b in node.ends]
                names = [None if b == GROUND else self.names[b] for b in node.ends]
                found.append((element.name, names[0], local[0], names[1], local[1]))
        return found


def _bar(total: int, done: int):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(TextColumn("{task.completed:,.0f} of {task.total:,.0f} steps"), BarColumn(),
                        TextColumn("{task.speed:,.0f} steps/s"), TimeRemainingColumn(),
                        console=Console(stderr=True))  # fmt: skip
    progress.start()
    return progress, progress.add_task("", total=total, completed=done)
