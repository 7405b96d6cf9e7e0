"""Two source trees in one sitting: a Python process for each, which answers requests, one line of JSON each way.

A process that dies or takes too long is reported and started anew at the next request. A module that serves such requests ends
with `children.serve(handlers)`.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
PIECE = 1 << 20  # bytes read at once
BROKEN = "broken: "  # before what is no refusal in plain words
TAIL = 1500  # characters of what a process said before it died


class Lost(Exception):
    """The process died or took too long: why."""


def copied(trees: dict[str, str], folder: str) -> dict[str, Path]:
    """The trees as they are now, copied into a folder: one that is edited meanwhile does not change what is run."""
    found = {}
    for side, tree in trees.items():
        if not (Path(tree) / "linkwork" / "__init__.py").is_file():
            raise SystemExit(f"{tree}: there is no linkwork in it; give the folder that holds the package, such as .../src")
        found[side] = Path(folder).resolve() / side / "src"
        shutil.copytree(Path(tree) / "linkwork", found[side] / "linkwork", ignore=shutil.ignore_patterns("__pycache__"))
    return found


class Child:
    """A process with one tree on its path. `ask` begins a request, `answer` waits for what comes of it."""

    def __init__(self, module: str, tree: Path, cache: Path | None = None):
        self.module, self.tree, self.cache = module, tree, cache
        self._process: subprocess.Popen | None = None
        self._kept = b""

    def ask(self, **request) -> None:
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # `answer` says why

    def answer(self, limit: float):
        """What came of the request within `limit` seconds of now; an exception in the process is one here, too."""
        until = time.monotonic() + limit
        assert self._process is not None and self._process.stdout is not None
        while b"\n" not in self._kept:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.close()
                raise Lost(f"no answer in {limit:g} s")
            piece = os.read(self._process.stdout.fileno(), PIECE)
            if not piece:
                raise Lost(self._died())
            self._kept += piece
        line, self._kept = self._kept.split(b"\n", 1)
        found = json.loads(line)
        if "error" in found:
            raise RuntimeError(f"{self.tree}: {found['error']}")
        return found["answer"]

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process, self._kept = None, b""

    def _started(self) -> subprocess.Popen:
        if self._process is None:
            self._said = tempfile.TemporaryFile()
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", self.module], cwd=HERE, env=environment(self.tree, self.cache),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
            )  # fmt: skip
        return self._process

    def _died(self) -> str:
        assert self._process is not None
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")[-TAIL:]
        self.close()
        return f"the process died of {signal.Signals(-code).name}" if code < 0 else f"the process ended with {code}: {said}"


def environment(tree: Path, cache: Path | None = None) -> dict[str, str]:
    """In which Python finds this linkwork before an installed one. LAPACK has one thread: its sums depend on their number."""
    found = os.environ | ONE_THREAD | {"PYTHONPATH": f"{tree}{os.pathsep}{HERE}"}
    return found if cache is None else found | {"LINKWORK_CACHE": str(cache)}


def pair(module: str, base: str, new: str, folder: str, fresh: bool = False) -> dict[str, Child]:
    """The two processes, of copies of the trees in a folder; `fresh`: each with an empty cache of compiled code there."""
    trees = copied({"base": base, "new": new}, folder)
    return {side: Child(module, tree, tree.parent / "cache" if fresh else None) for side, tree in trees.items()}


def serve(handlers) -> None:
    """Answer requests ({"do": name, ...}) until there are no more. What is printed meanwhile goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import linkwork

    here = Path(linkwork.__file__).resolve().parents[1]
    wanted = Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]).resolve()
    if here != wanted:
        raise SystemExit(f"linkwork comes from {here} and not from {wanted}")
    for line in sys.stdin:
        request = json.loads(line)
        try:
            found = {"answer": handlers[request.pop("do")](**request)}
        except Exception:  # of the handler: told to the other process, which goes on or not
            found = {"error": traceback.format_exc()}
        answers.write(json.dumps(found) + "\n")
        answers.flush()
