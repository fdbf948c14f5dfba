# SPDX-License-Identifier: Apache-2.0
"""msprof-analyze on the same captures, by a mapping of what it says to faults that is generous to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.accuracy.mark import Mark
from benchmarks.accuracy.plan import Case

MAPPING: Mapping[str, Sequence[str]] = {}
"""Per fault the names of its problems of which any counts as naming the fault."""


def diagnosed(case: Case, command: str) -> Mark:
    """One case as msprof-analyze sees it, marked by MAPPING."""
    raise NotImplementedError
