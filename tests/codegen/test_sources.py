"""Drivers are kept under what they depend on: a change there is another place, a change elsewhere is not."""

import shutil

import pytest

from linkwork.codegen import cache_key


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the sources that can be changed."""
    copy = shutil.copytree(cache_key.PACKAGE, tmp_path / "linkwork", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache_key, "PACKAGE", copy)
    forget()
    yield copy
    forget()


def forget():
    for known in (cache_key.kernel_sources, cache_key.driver_sources, cache_key._file_of, cache_key._imports):
        known.cache_clear()


@pytest.mark.parametrize(
    ("module", "changed", "other"),
    [
        ("linkwork.contact.proximal", "contact/law.py", True),  # imported by name
        ("linkwork.contact.proximal", "codegen/trace.py", True),  # by one that is imported
        ("linkwork.contact.proximal", "contact/stage_kernels.py", False),
        ("linkwork.contact.contact_system", "contact/stage_kernels.py", True),  # from a package
        ("linkwork.engines.joint_coordinates.steps", "reduced/workspace.py", True),  # inside a function
        ("somewhere.else", "contact/stage_kernels.py", True),  # not of this package: all of it counts
    ],
)
def test_a_driver_is_kept_with_the_sources_that_it_depends_on(package, module, changed, other):
    before = cache_key.driver_sources(module)
    with (package / changed).open("a") as file:
        file.write("# changed\n")
    forget()
    assert (cache_key.driver_sources(module) != before) == other


def test_kernels_do_not_depend_on_contact(package):
    before = cache_key.kernel_sources()
    (package / "contact" / "stage_kernels.py").write_text("")
    forget()
    assert cache_key.kernel_sources() == before
    (package / "kernels" / "fronts.py").write_text("")
    forget()
    assert cache_key.kernel_sources() != before
