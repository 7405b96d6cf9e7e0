"""A process that answers, dies or never answers, as it is asked."""

import os
import signal

from benchmarks import children


def refuse():
    raise ValueError("it is not done")


if __name__ == "__main__":
    children.serve({
        "echo": lambda text: print("not an answer") or text,
        "die": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "wait": signal.pause,
        "refuse": refuse,
    })  # fmt: skip
