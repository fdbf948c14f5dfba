# SPDX-License-Identifier: Apache-2.0
"""Who recorded a run, and so in whose words it is said how to have what was not recorded."""

from __future__ import annotations

from advisor.model.run import Run
from advisor.sources.families import FAMILIES
from advisor.sources.recorder_hints import UNTOLD, RecorderHints

_FAMILY_OF_EXPORT = {export: family for family in FAMILIES for export in family.exports}


def hints_of(run: Run | None) -> RecorderHints | None:
    """The hints of who recorded a run; None where the facts themselves say how to record them."""
    if run is None or not run.captures:
        return None
    family = _FAMILY_OF_EXPORT.get(run.captures[0].source)
    return UNTOLD if family is None else family.hints(run)
