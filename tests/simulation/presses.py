"""SIGINT at chosen calls of the first step of a simulation, each in a process of its own; what became of it.

A simulation is made, with no kernel in the process or on disk. Then children are forked off. In each the k-th call of a Python
function sends SIGINT: inside of numba's and llvmlite's functions, their locks and finalisers, too. A child tells whether that
came out as KeyboardInterrupt, and what the simulation is after three more steps.

    python presses.py SCENE COUNT
"""

import collections
import os
import signal
import sys

import linkwork as lw
from linkwork.codegen import store

STUCK = 100  # s after which a child counts as stuck


def without_kernels():
    """What was compiled by earlier runs is not found: drivers are, kernels are not."""
    read = store.read
    store.read = lambda name: None if name.startswith("kernels/") else read(name)


class Press:
    """A profiler that sends SIGINT at one of the calls that it sees."""

    def __init__(self, at):
        self.at, self.calls, self.place = at, 0, ""

    def __call__(self, frame, event, _argument):
        if event == "call":
            self.calls += 1
            if self.calls == self.at:
                self.place = f"{frame.f_code.co_filename}: {frame.f_code.co_qualname}"
                signal.raise_signal(signal.SIGINT)


def first_step(sim, at):
    """What became of SIGINT at this call of the first step, and the state three steps later."""
    press = Press(at)
    outcome = "lost"
    sys.setprofile(press)
    try:
        sim.step()
    except KeyboardInterrupt:
        outcome = "raised"
    except BaseException as failure:
        outcome = f"{failure!r} in {press.place}"
    finally:
        sys.setprofile(None)
    if at == 0:
        outcome = str(press.calls)
    sim.step(3 - sim.steps)
    return outcome, sim.state.values.tobytes().hex()


def in_a_child(sim, at):
    """The same, in a forked process: (outcome, state)."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        signal.alarm(STUCK if at else 0)  # the first one may compile drivers
        with os.fdopen(writing, "w") as pipe:
            pipe.write(" ".join(reversed(first_step(sim, at))))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        state, _, outcome = pipe.read().partition(" ")
    os.wait()
    return outcome or "stuck", state


def main(scene, count):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    without_kernels()
    sim = lw.Simulation(lw.scenes.get(scene))
    in_a_child(sim, 0)  # compiles drivers that no cache has: whoever waits for them calls functions, too
    calls, state = in_a_child(sim, 0)
    found = collections.Counter()
    for k in range(count):
        outcome, after = in_a_child(sim, 1 + k * int(calls) // count)
        found[outcome if after == state else f"{outcome}, and the simulation is another one"] += 1
    print(*(f"{number} {outcome}" for outcome, number in found.items()), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
