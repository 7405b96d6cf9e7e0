"""Drivers: functions that are lowered, linked and made machine code once."""

import numpy as np
import pytest
from numba import njit

from linkwork.codegen import jit, store

if jit.INTERPRETED:
    pytest.skip("nothing is compiled", allow_module_level=True)

from linkwork.codegen import dispatch, drivers, lowering


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    store.cache_folder.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    store.cache_folder.cache_clear()


def functions(shift):
    """A driver, and what it calls: with arrays, references, an error and numba's own functions in it."""

    @jit.jit_inner
    def scaled(x, factor):
        if factor < 0:
            raise ValueError("negative")
        return factor * x + shift

    @jit.jit
    def total(x):
        return np.sum(scaled(x, 2.0)) + np.max(np.abs(x))

    @jit.jit
    def both(x, factor):
        return scaled(x, factor), total(x) + np.zeros(3).sum()

    return scaled, total, both


X = np.array([1.0, -4.0, 0.5])


def works(total, both):
    moved, sum_ = both(X, 3.0)
    shift = moved[0] - 3.0
    assert np.array_equal(moved, 3.0 * X + shift)
    assert sum_ == total(X) == np.sum(2.0 * X + shift) + 4.0
    with pytest.raises(ValueError, match="negative"):
        both(X, -1.0)


def kept(folder):
    return sorted(path.name.split(".")[-3] for path in folder.rglob("drivers/*/*") if path.is_file())


def test_what_python_calls_is_kept_and_nothing_else(folder):
    scaled, total, both = functions(0.25)
    works(total, both)
    assert kept(folder) == ["both", "total"]
    assert len(scaled.overloads) == 1 and len(both.drivers) == 1
    with pytest.raises(TypeError, match="for compiled code alone"):
        scaled(X, 1.0)


def test_a_function_may_be_called_by_compiled_code_first_and_by_python_after(folder):
    _, total, both = functions(0.5)
    both(X, 1.0)
    assert total.overloads and not total.drivers
    assert total(X) == np.sum(2.0 * X + 0.5) + 4.0
    _, total, both = functions(0.75)
    total(X)
    works(total, both)


def loads_alone(monkeypatch):
    """As a new process does that finds all machine code on disk: what must be made is an error."""
    monkeypatch.setattr(drivers, "_LOADED", {})
    monkeypatch.setattr(drivers, "made", None)
    engine = drivers.native._engine.__wrapped__()  # one refuses to load the same symbols twice
    ENGINES.append(engine)
    monkeypatch.setattr(drivers.native, "_engine", lambda: engine)


ENGINES: list[object] = []  # live as long as what is loaded into them


def test_what_is_kept_is_loaded_and_compiles_nothing(folder, monkeypatch):
    _, total, both = functions(1.25)
    works(total, both)
    loads_alone(monkeypatch)
    _, total, both = functions(1.25)
    works(total, both)
    assert not total.overloads and not both.overloads


def test_a_closure_that_is_made_twice_is_one_driver(folder):
    first, again = functions(1.5)[1], functions(1.5)[1]
    assert first(X) == again(X)
    assert list(first.drivers.values()) == list(again.drivers.values())


def test_users_of_numba_may_call_the_same_functions_of_numba(folder):
    """numba keeps what it compiled of its own functions: code that is compiled in its own way finds them lowered."""

    @jit.jit
    def corner(x):
        return np.triu(x, 1)[0, 1]

    @njit
    def own(x):
        return np.triu(x, 1), np.tri(2, 3)

    grid = np.arange(9.0).reshape(3, 3)
    assert corner(grid) == 1.0
    upper, ones = own(grid)
    assert np.array_equal(upper, np.triu(grid, 1)) and np.array_equal(ones, np.tri(2, 3))


def test_what_numba_compiled_before_is_taken_as_it_is(folder, monkeypatch):
    """Code that is compiled in numba's own way first: its functions define the environments with which they raise errors."""

    @njit
    def own(x, columns):
        return np.vander(x, columns)

    def corner():
        @jit.jit
        def corner(x, columns):
            return np.vander(x, columns)[1, 0]

        return corner

    def raises(function):
        with pytest.raises(ValueError, match="Negative dimensions"):
            function(X, -1)

    raises(own)
    assert own(X, 3)[1, 0] == corner()(X, 3) == 16.0
    raises(corner())
    loads_alone(monkeypatch)
    raises(corner())


def test_another_numba_compiles_in_its_own_way(folder, monkeypatch):
    monkeypatch.setattr(dispatch, "supported", lambda: False)
    _, total, both = functions(2.5)
    works(total, both)
    assert len(list(folder.rglob("*-by-numba"))) == 2
    _, total, both = functions(2.5)
    works(total, both)
    assert total._cache_hits and both._cache_hits


def test_this_numba_is_known():
    assert lowering.supported()
