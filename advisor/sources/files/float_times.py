# SPDX-License-Identifier: Apache-2.0
"""Times that went through a floating-point number: known by what is left of their digits, and restored by exact ones.

A float64 holds 53 bits. Of the µs since 1970, from 2005 until 2041, all but those behind a quarter of a µs; of the ns
all but those behind 256 ns. No event is lost by that, only the last digits of its times. Profilers of 2023 wrote starts
of kernels so by themselves; later programs that edit what a profiler wrote do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Array

ROUNDED = "rounded"
"""Kind of damage of a file of which all is there, and whose times lost their last digits."""

_QUARTERS_NS = (0, 200, 250, 500, 750, 800)
"""What stands behind the point of quarters of a µs, in full and in the fewest digits that a float is written with."""
_FROM_US, _UNTIL_US = 1 << 50, 1 << 51
_FROM_NS, _UNTIL_NS, _STEP_NS = 1 << 60, 1 << 61, 1 << 8
_AT_FIRST = 1024
_FEW = 12
"""With so many times, chance explains such digits once in 10^14 where times have two behind the point."""


def are_quarters(moment_ns: Array) -> bool:
    """Whether moments were written as floats of µs. Those of whole µs are none: old profilers write no more digits."""
    return _are_all(moment_ns, _quarters) and bool((moment_ns[moment_ns != MISSING] % 1000).any())


def are_float_ns(moment_ns: Array) -> bool:
    """Whether moments were written as floats of ns."""
    return _are_all(moment_ns, _float_ns)


def _are_all(moment_ns: Array, are: Callable[[Array], Array]) -> bool:
    """Whether that is so of all moments, and there are enough different ones. Those that begin mostly tell it."""
    known = moment_ns[moment_ns != MISSING]
    return (
        bool(are(known[:_AT_FIRST]).all())
        and bool(are(known).all())
        and (len(np.unique(known[:_AT_FIRST])) >= _FEW or len(np.unique(known)) >= _FEW)
    )


def _quarters(moment_ns: Array) -> Array:
    us = moment_ns // 1000
    found: Array = (us >= _FROM_US) & (us < _UNTIL_US) & np.isin(moment_ns - us * 1000, _QUARTERS_NS)
    return found


def _float_ns(moment_ns: Array) -> Array:
    found: Array = (moment_ns >= _FROM_NS) & (moment_ns < _UNTIL_NS) & (moment_ns % _STEP_NS == 0)
    return found


def restore_moments(rounded_ns: Array, exact_ns: Array) -> Array:
    """Each moment as the exact one that becomes it as a float of µs; as it is where there is none."""
    exact = np.unique(exact_ns[exact_ns != MISSING])
    if not len(exact):
        return rounded_ns
    known, wanted = _as_floats(exact), _as_floats(rounded_ns)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where((known[place] == wanted) & (rounded_ns != MISSING), exact[place], rounded_ns)


def _as_floats(moment_ns: Array) -> Array:
    """The floats of µs that are nearest to whole ns: the sum alone is rounded."""
    whole = moment_ns // 1000
    us: Array = whole + (moment_ns - whole * 1000) / 1000
    return us
