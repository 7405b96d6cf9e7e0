"""An edit that fails, at whatever stage, leaves the simulation as it was: it goes on as if nobody had asked for it.

A state with the same parts in force is checked and then written, and so is the start where there is nothing to settle: nothing
can fail there, and nothing is made to."""

import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

ROOMS = [str(Path(lw.__file__).parent / room) for room in ("simulation", "model")]  # where edits are made
MOST = 40  # stages at which one edit is made to fail


class InjectedError(Exception):
    """What an edit fails with."""


def at_call(number, edit):
    """Make an edit that fails when it calls its function of this number; None: it does not. Returns the calls made."""
    made = 0

    def trace(frame, event, argument):
        nonlocal made
        if event == "call" and frame.f_code.co_filename.startswith(tuple(ROOMS)) and "<" not in frame.f_code.co_name:
            made += 1
            if made == number:
                raise InjectedError(frame.f_code.co_name)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        edit()
    finally:
        sys.settrace(before)
    return made


def everything(sim):
    """All that a step depends on, and all that can be read without a solve."""
    system = sim._system
    watch, contact = system.watch, system.contact
    found = [system, system.work.tobytes(), system.steps, system.age, system.dt, system.starting, system.validity.facts[:2]]
    found += [
        system.arrangement,
        system.integrator.stop_before_cut,
        system.integrator.dt,
        [hand.held for hand in sim._hands.held],
    ]
    found += [[s.values.tobytes() for s in watch.past], watch.remember_at, watch.pause, watch.compare_at, watch.compares]
    if contact is not None:
        rows = [part for rows, m in contact.steps() for part in (rows.total[:m].tobytes(), rows.labels[:m].tobytes())]
        found += [contact.flags.tolist(), contact.counts.tolist(), contact.memory.impulses.tobytes(), rows]
    return found


def arm():
    world = lw.World()
    for name, x in (("upper", 0.25), ("lower", 0.75)):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.5, 0.05, 0.05), position=(x, 0, 0), name=name))
    world.add(lw.Hinge(world.ground, "upper", at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge("upper", "lower", at=(0.5, 0, 0), axis=(0, 1, 0), name="elbow"))
    world.add(lw.Motor("elbow", name="drive"))
    world.keyframes["bent"] = lw.Keyframe(positions={"elbow": 0.5}, controls={"drive": 1.0})
    return world


def pile():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.049), name="box"))
    world.add(lw.Contact(name="rule"))
    world.add(lw.Spring(world.ground, "box", stiffness=10.0, name="spring"))
    world.keyframes["beside"] = lw.Keyframe()
    return world


def grown(sim):
    """A rod that comes into a world which runs, and is violated there."""
    if "rod" not in sim.world:
        sim.world.add(lw.Distance(sim.world.ground, "lower", on_a=(0, 0, 1), on_b=(0, 0, 0), length=0.7, name="rod"))
    sim._editor.follow()


def hooked(sim):
    if "hook" not in sim.world:
        sim.add(lw.Distance(sim.world.ground, "box", on_a=(0, 0, 1), name="hook"))
    sim._editor.follow()


def back_to_whole(sim):
    sim.state = sim.whole


class Kept(lw.Simulation):
    """With a state from before something was switched off."""


def switched(make, name, **options):
    def made():
        sim = Kept(make(), dt=2e-3, **options)
        sim.step(20)
        sim.whole = sim.state
        sim.switch(name, on=False)
        sim.step(20)
        return sim

    return made


def running(make, **options):
    def made():
        sim = lw.Simulation(make(), dt=2e-3, **options)
        sim.step(20)
        return sim

    return made


def added(make, edit):
    """With something that came when it ran, and is settled when it is reset."""

    def made():
        sim = running(make)()
        edit(sim)
        sim.step(10)
        return sim

    return made


def grabbed(by):
    def made():
        sim = running(arm)()
        hand = sim.grab("lower", by=by)
        hand.to((0.6, 0.0, 0.4))
        sim.step(10)
        return sim

    return made


EDITS = {
    "switch off": (running(arm), lambda sim: sim.switch("elbow", on=False)),
    "switch on": (switched(arm, "elbow"), lambda sim: sim.switch("elbow", on=True)),
    "follow what is drawn in": (running(arm), grown),
    "restore": (switched(arm, "shoulder"), back_to_whole),
    "reset what was added": (added(arm, grown), lambda sim: sim.reset()),
    "reset what was switched": (switched(arm, "elbow"), lambda sim: sim.reset()),
    "reset to a keyframe": (running(arm), lambda sim: sim.reset("bent")),
    "grab": (running(arm), lambda sim: sim.grab("upper")),
    "grab by a constraint": (running(arm), lambda sim: sim.grab("upper", by="constraint")),
    "release": (grabbed("spring"), lambda sim: sim._hands.held[0].release()),
    "joint coordinates": (running(arm, solver="aba"), lambda sim: sim.switch("drive", on=False)),
    "add in contact": (running(pile), hooked),
    "switch in contact": (running(pile), lambda sim: sim.switch("spring", on=False)),
    "switch contact off": (running(pile), lambda sim: sim.switch("rule", on=False)),
    "reset in contact": (added(pile, hooked), lambda sim: sim.reset()),
    "reset in contact to a keyframe": (running(pile), lambda sim: sim.reset("beside")),
}


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("name", EDITS)
def test_a_failed_edit_changes_nothing(name):
    make, edit = EDITS[name]
    sim, other = make(), make()
    calls = at_call(None, lambda: edit(other))
    other.step(20)
    assert calls > 5
    failed, whole = [], False
    for number in range(1, 10 * calls, max(1, calls // MOST)):
        before, builds = everything(sim), dict(sim._system.builds)
        try:
            at_call(number, lambda: edit(sim))
            whole = True
            break  # it has made fewer calls than this
        except InjectedError as error:
            failed.append(str(error))
        sim._system.builds.clear()  # what was compiled before it failed: the next one fails on its way there, too
        sim._system.builds.update(builds)
        after = everything(sim)
        assert all(a is b if k == 0 else a == b for k, (a, b) in enumerate(zip(before, after, strict=True))), failed[-1]
    sim.step(20)
    assert whole and len(set(failed)) > 2
    assert np.array_equal(sim.state.values, other.state.values) and sim.time == other.time
