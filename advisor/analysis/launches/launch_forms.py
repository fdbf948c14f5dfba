# SPDX-License-Identifier: Apache-2.0
"""Whether kernels were launched one by one or as graphs: rank by rank, or by phases of an engine that has several."""

from __future__ import annotations

import numpy as np

from advisor.facts.derived import LaunchForm, PhaseLaunch
from advisor.facts.table import Table

_KNOWN = ("prefill", "decode", "mixed")
_OTHER = "other"


def launch_forms(parts: Table[PhaseLaunch]) -> Table[LaunchForm]:
    """One row per rank, or one per rank and phase where the ranks have several phases together or do more beside them.

    Only where each rank tells them: else the ranks that do would be judged without those that do not.
    """
    phase = parts.texts("engine_phase")
    of_phases = phase.isin(_KNOWN)
    whole = phase.codes < 0
    several = len(np.unique(phase.codes[of_phases])) > 1 or phase.isin([_OTHER]).any()
    apart = several and np.isin(parts["rank"][whole], parts["rank"][of_phases]).all()
    rows = parts.take(of_phases if apart else whole)
    names = LaunchForm.columns()
    return Table.build(LaunchForm, **{n: rows.texts(n) if names[n].store == "text" else rows[n] for n in names})
