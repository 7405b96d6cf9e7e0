"""Noise of sensors: a function of seed, name, channel and step alone, so that no reading changes another one."""

from __future__ import annotations

from hashlib import blake2s
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from linkwork.util.array_types import AnyArray, FloatArray

GOLDEN, FIRST, SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def keys_of(name: str, seed: int, channels: int) -> AnyArray:
    """(channels,) uint64: what tells the numbers of each channel from all others."""
    digest = blake2s(f"{seed}|{name}".encode(), digest_size=8).digest()
    return _mixed(np.uint64(int.from_bytes(digest, "little")) + GOLDEN * np.arange(channels, dtype=np.uint64))


def gaussian(keys: AnyArray, step: int) -> FloatArray:
    """One normal deviate for each key: those of a step, whenever they are asked for.

    >>> keys = keys_of("imu", 0, 3)
    >>> bool((gaussian(keys, 7)[1:] == gaussian(keys[1:], 7)).all())
    True
    """
    bits = _mixed(keys ^ _mixed(np.array([step], dtype=np.uint64)))
    found: FloatArray = ndtri(((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53)
    return found


def _mixed(x: AnyArray) -> AnyArray:
    """splitmix64: every bit of what comes out depends on all that go in."""
    x = x + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    found: AnyArray = x ^ (x >> np.uint64(31))
    return found
