# SPDX-License-Identifier: Apache-2.0
"""Signs: what the files of a capture look like when one cause is there, and when it only nearly is.

The faults of the corpus and those injected into recorded captures make a step longer, and so say what a finding wins.
Many causes need no such run: a switch beside the capture, counters of a kernel, the packets of a link. A sign writes
them into the files of a small capture as a profiler writes them, and the nearest harmless thing into a twin: from the
file to the finding nothing is given by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

Write = Callable[[Path], None]
"""Writes a capture into a folder that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A capture in which one rule has something to name, and its twin in which it has not."""

    spoiled: Write
    twin: Write
    """Differs by that alone. The rule looks at it, and is quiet: it must not be skipped there."""
    shows: Mapping[str, object] = field(default_factory=dict)
    """Evidence of the finding, by the name of its parameter."""
    workload: str = ""
    """What whoever ran it says that it is, where that cannot be told from the capture."""
    twin_may: frozenset[str] = frozenset({"quiet"})
    """What may become of the rule in the twin: `not applicable` too, where a harmless one is told by what applies."""


def all_signs() -> Mapping[str, Sign]:
    """The sign of each rule that has one, by the rule.

    Raises:
        ValueError: Two modules have one of the same rule.
    """
    found: dict[str, Sign] = {}
    for module in iter_modules(__path__):
        own: Mapping[str, Sign] = getattr(import_module(f"{__name__}.{module.name}"), "SIGNS", {})
        if twice := found.keys() & own.keys():
            raise ValueError(f"{module.name} has further signs of {', '.join(sorted(twice))}")
        found |= own
    return found
