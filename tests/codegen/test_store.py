"""The folder of compiled code: what is damaged, or somebody else's, is compiled anew; a folder that takes nothing is no reason
to stop."""

import errno
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from linkwork.codegen import jit, store
from linkwork.codegen.jit import OPERANDS
from linkwork.codegen.loader import LOADER, KernelLoader, place_of, symbol_names
from linkwork.codegen.trace import Kernel

compiled_alone = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
NAME = "kernels/a.o"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for compiled code, and nothing told yet."""
    use(monkeypatch, tmp_path / "cache")
    yield tmp_path / "cache"
    monkeypatch.undo()
    store.cache_folder.cache_clear()


def use(monkeypatch, place):
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    monkeypatch.setattr(store, "_TOLD", set())
    store.cache_folder.cache_clear()


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def damaged(content):
    """A file cut short, with flipped bits and with more at its end, at several places."""
    n = len(content)
    for end in (0, 1, store.DIGEST - 1, store.DIGEST, store.DIGEST + 1, n // 3, n // 2, n - 1):
        yield content[:end]
    for at in (0, store.DIGEST - 1, store.DIGEST, n // 3, n // 2, n - 1):
        for bit in (0, 7):
            yield content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
    yield content + b"\0"
    yield content[: n // 2] + bytes(n - n // 2)  # the end was never written to the disk
    yield bytes(n)


# -- one file ----------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_read(folder):
    for content in (b"", b"x", os.urandom(10000)):
        store.keep(NAME, content)
        assert store.read(NAME) == content
    assert files(folder) == [NAME] and (folder / NAME).stat().st_mode & 0o777 == 0o600
    assert store.read("kernels/b.o") is None


def test_a_damaged_file_is_as_good_as_none(folder):
    store.keep(NAME, os.urandom(300))
    whole = (folder / NAME).read_bytes()
    for content in damaged(whole):
        (folder / NAME).write_bytes(content)
        assert store.read(NAME) is None
    (folder / NAME).write_bytes(whole)
    assert store.read(NAME) is not None


def test_one_file_does_not_pass_for_another(folder):
    store.keep(NAME, b"code")
    (folder / NAME).rename(folder / "kernels/b.o")
    assert store.read("kernels/b.o") is None


def test_what_is_no_file_is_not_read(folder, tmp_path):
    store.keep(NAME, b"code")
    (folder / NAME).rename(tmp_path / "elsewhere")
    (folder / NAME).symlink_to(tmp_path / "elsewhere")
    assert store.read(NAME) is None
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)  # opening it would wait for a writer
    assert store.read(NAME) is None
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    assert store.read(NAME) is None


# -- of another user ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o755])
def test_a_file_of_another_user_is_not_read(folder, monkeypatch, capsys, mode):
    store.keep(NAME, b"code")
    (folder / "kernels").chmod(mode)
    owner = (folder / NAME).stat().st_uid
    assert store.read(NAME) == b"code"  # one's own, in whatever folder
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    closed_by_the_administrator = owner == 0 and mode == 0o755
    for _ in range(2):
        assert (store.read(NAME) == b"code") == closed_by_the_administrator
    said = capsys.readouterr().err
    assert said.count("\n") == (0 if closed_by_the_administrator else 1)
    assert closed_by_the_administrator or f'"{folder / NAME}" belongs to another user' in said


def test_what_the_administrator_installed_is_read_where_nobody_else_can_write(folder, monkeypatch):
    store.keep(NAME, b"code")
    found = (folder / NAME).stat()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    for file_owner, folder_owner, mode, read in (
        (0, 0, 0o755, True),
        (0, 0, 0o777, False),
        (0, 7, 0o755, False),
        (7, 7, 0o755, False),
    ):
        around = os.stat_result((0o40000 | mode, 0, 0, 1, folder_owner, 0, 0, 0, 0, 0))
        monkeypatch.setattr(os, "stat", lambda *a, around=around, **k: around)
        one = os.stat_result((found.st_mode, 0, 0, 1, file_owner, 0, 0, 0, 0, 0))
        assert store._trusted(one, folder / "kernels") == read


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_not_read(folder, mode):
    store.keep(NAME, b"code")
    (folder / NAME).chmod(mode)
    assert store.read(NAME) is None
    store.keep(NAME, b"code")
    assert store.read(NAME) == b"code"


# -- folders that take nothing -----------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    use(monkeypatch, tmp_path / "file" / "cache")
    for _ in range(2):
        store.keep(NAME, b"code")
        assert store.read(NAME) is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "(Not a directory), so each run compiles it anew; set LINKWORK_CACHE to a folder" in said
    store.cache_folder.cache_clear()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_to_is_still_read(folder, monkeypatch, capsys, number):
    store.keep(NAME, b"code")

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    store.keep("kernels/b.o", b"other")
    assert store.read(NAME) == b"code" and files(folder) == [NAME]
    assert f"({os.strerror(number)})" in capsys.readouterr().err


@pytest.mark.parametrize("failing", ["write", "replace"])
def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch, capsys, failing):
    store.keep(NAME, b"code")

    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        write = refuse

    if failing == "replace":
        monkeypatch.setattr(os, "replace", refuse)
    else:
        monkeypatch.setattr(store, "open", lambda *a, **k: Full(open(*a, **k)), raising=False)
    store.keep(NAME, b"newer")
    monkeypatch.undo()
    use(monkeypatch, folder)
    assert files(folder) == [NAME] and store.read(NAME) == b"code"
    assert "(No space left on device)" in capsys.readouterr().err


def test_a_user_without_a_home_has_no_folder(monkeypatch, capsys):
    monkeypatch.setattr(store, "_TOLD", set())
    monkeypatch.delenv("LINKWORK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")  # a relative one counts as none
    monkeypatch.delenv("HOME", raising=False)

    def unknown(cls):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    store.cache_folder.cache_clear()
    assert store.cache_folder() is None
    store.keep(NAME, b"code")
    assert store.read(NAME) is None
    assert "there is no home folder to keep compiled code in" in capsys.readouterr().err
    monkeypatch.undo()
    store.cache_folder.cache_clear()


# -- kernels and drivers -----------------------------------------------------------------------------------------------


def doubling(name):
    return Kernel(f"test|store|{name}", lambda trace: trace.store(2, 0, 2 * trace.load(1, 0, 3)))


def run(loader, kernel):
    """Two times three numbers, by a kernel that this loader finds or compiles."""
    (address,) = loader.addresses_of([kernel])
    work, operation = np.arange(16.0), np.zeros((1, 1 + OPERANDS), dtype=np.int32)
    operation[0, 1:3] = 1, 8
    jit.sweep(work, np.array([address]), operation)
    return work[8:11].tolist()


@compiled_alone
def test_a_damaged_kernel_is_compiled_anew(folder):
    """Each under a name of its own: a process keeps what it has loaded."""
    for number in range(len(list(damaged(bytes(100))))):
        kernel = doubling(number)
        (name,) = symbol_names(kernel, 1)[:1]
        first = KernelLoader()
        first._codes({name: kernel}, 1)
        path = folder / place_of(name)
        whole = path.read_bytes()
        path.write_bytes(list(damaged(whole))[number])
        before = LOADER.compiled
        assert run(LOADER, kernel) == [2.0, 4.0, 6.0]
        assert LOADER.compiled == before + 1 and path.read_bytes() == whole


SCRIPT = """
import numpy as np
import linkwork.codegen.jit as jit
from numba.core import event

class Count(event.Listener):
    started = 0
    def on_start(self, _):
        self.started += 1
    def on_end(self, _):
        pass

count = Count()
event.register("numba:compile", count)
from linkwork.engines.step_driver import finite
work = np.zeros(64)
work[40] = np.nan
print(finite(work, np.array([3, 4])), finite(work, np.array([3, 40])), count.started)
"""


def in_a_process(folder, script=SCRIPT, **environment):
    environment = {**os.environ, "LINKWORK_CACHE": str(folder), **environment}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@compiled_alone
@pytest.mark.slow
def test_a_damaged_driver_is_compiled_anew(folder):
    *numbers, compiled = in_a_process(folder).stdout.split()
    assert int(compiled) > 0
    assert in_a_process(folder).stdout.split() == [*numbers, "0"]
    kept = {path: path.read_bytes() for path in folder.rglob("*.driver")}
    assert kept
    for damage in (lambda b: b[: len(b) // 2], lambda b: b[: len(b) // 3] + bytes([b[len(b) // 3] ^ 1]) + b[len(b) // 3 + 1 :]):
        for path, content in kept.items():
            path.write_bytes(damage(content))
        assert in_a_process(folder).stdout.split() == [*numbers, compiled]
        assert in_a_process(folder).stdout.split() == [*numbers, "0"]


@compiled_alone
def test_a_pickle_in_the_folder_is_not_unpickled(folder, tmp_path):
    """numba's own cache runs whatever stands there."""

    def seven_times(factor):
        @jit.jit
        def seven():
            return 7 * factor

        return seven

    assert seven_times(1)() == 7
    (path,) = folder.rglob("*seven*.driver")

    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    path.write_bytes(pickle.dumps(Trap()))
    assert seven_times(1)() == 7 and seven_times(2)() == 14 and not (tmp_path / "sprung").exists()


@compiled_alone
def test_a_function_of_no_file_is_compiled_and_not_kept(folder):
    space: dict = {}
    exec(compile("def five():\n    return 5\n", "<nowhere>", "exec"), {"__name__": "__main__"}, space)
    assert jit.jit(space["five"])() == 5
    assert files(folder) == []


@compiled_alone
@pytest.mark.slow
def test_without_a_folder_a_run_is_made_and_nothing_is_left(tmp_path):
    """HOME is a file: nothing can be kept below it."""
    (tmp_path / "home").write_text("")
    (tmp_path / "tmp").mkdir()
    done = in_a_process("", HOME=str(tmp_path / "home"), TMPDIR=str(tmp_path / "tmp"), XDG_CACHE_HOME="")
    assert done.stdout.startswith("True False") and list((tmp_path / "tmp").iterdir()) == []
    assert done.stderr.count("(Not a directory), so each run compiles it anew") == 1
