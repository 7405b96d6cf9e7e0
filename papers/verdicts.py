"""Words that depend on numbers: a page says what its results say, or says something else."""

import math


def said(holds, text, otherwise=""):
    """The sentence if its condition holds on the results, else the other one."""
    return text if holds else otherwise


def verdict(holds):
    """Of a claim of the paper."""
    return "true" if holds else "**not so here**"


def linear(slope):
    """Whether an exponent fitted to measured times is that of linear time, within what a shared machine adds."""
    return slope is not None and 0.8 < slope < 1.2


def digits(worse, better):
    """How many decimal digits lie between two errors."""
    return math.log10(worse / better)


def span(values, form=".1f"):
    """The least and the greatest, once if they are written alike."""
    low, high = (format(f(values), form) for f in (min, max))
    return low if low == high else f"{low} to {high}"
