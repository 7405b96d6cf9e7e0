"""Drivers are kept under what they depend on: a change there is another place, a change elsewhere is not."""

import shutil

import pytest

from linkwork.codegen import sources


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the sources that can be changed."""
    copy = shutil.copytree(sources.PACKAGE, tmp_path / "linkwork", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", copy)
    forget()
    yield copy
    forget()


def forget():
    for known in (sources.kernel_sources, sources.driver_sources, sources._file_of, sources._imports):
        known.cache_clear()


@pytest.mark.parametrize(
    ("module", "changed", "other"),
    [
        ("linkwork.contact.newton", "contact/cholesky.py", True),  # imported by name
        ("linkwork.contact.newton", "codegen/trace.py", True),  # by one that is imported
        ("linkwork.contact.newton", "contact/stages.py", False),
        ("linkwork.contact.touching", "contact/stages.py", True),  # from a package
        ("linkwork.integrators.joint", "reduced/stepping.py", True),  # inside a function
        ("somewhere.else", "contact/stages.py", True),  # not of this package: all of it counts
    ],
)
def test_a_driver_is_kept_with_the_sources_that_it_depends_on(package, module, changed, other):
    before = sources.driver_sources(module)
    with (package / changed).open("a") as file:
        file.write("# changed\n")
    forget()
    assert (sources.driver_sources(module) != before) == other


def test_kernels_do_not_depend_on_contact(package):
    before = sources.kernel_sources()
    (package / "contact" / "stages.py").write_text("")
    forget()
    assert sources.kernel_sources() == before
    (package / "symbolic" / "fronts.py").write_text("")
    forget()
    assert sources.kernel_sources() != before
