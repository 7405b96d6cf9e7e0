"""The best of several runs, and slopes on doubly logarithmic paper."""

import time

import numpy as np


def best(run, prepare=None, *, seconds=0.2, least=5, most=2000):
    """Seconds of the fastest of several runs: `least`, more until `seconds` are over. `prepare` is not timed."""
    times, until = [], time.perf_counter() + seconds
    while len(times) < least or (time.perf_counter() < until and len(times) < most):
        if prepare is not None:
            prepare()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def slope(sizes, values, *, above=0):
    """The exponent p of values ~ sizes^p, by least squares over the sizes from `above` on; None for fewer than two."""
    chosen = [(n, v) for n, v in zip(sizes, values, strict=True) if n >= above and v]
    if len(chosen) < 2:
        return None
    n, v = np.log(np.array(chosen)).T
    return float(np.polyfit(n, v, 1)[0])
