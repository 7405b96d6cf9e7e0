"""Every public function of joint coordinates has an example."""

import linkwork as lw

TUPLES = ("Bodies", "Factors", "NestedForm", "Numbering", "Poses", "State")


def test_every_public_function_has_an_example():
    functions = [name for name in lw.reduced.__all__ if callable(getattr(lw.reduced, name)) and name not in TUPLES]
    assert not [name for name in functions if ">>>" not in (getattr(lw.reduced, name).__doc__ or "")]
