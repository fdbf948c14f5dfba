# SPDX-License-Identifier: Apache-2.0
"""Setting: what a snapshot of the environment beside a trace says; the trace itself holds no variables."""

from __future__ import annotations

from advisor.facts.observed import Setting
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.kineto.reading import EXPORT, Trace
from advisor.sources.reading import Reading
from advisor.sources.shared.environment import setting_table, snapshot_settings


def _settings_of_trace(trace: Trace) -> Table[Setting]:
    words = snapshot_settings((trace.path.parent,))
    if not words:
        raise FactMissing([Setting.table])
    return setting_table(trace.rank, words)


SETTINGS = Reading(Setting, {EXPORT: _settings_of_trace})
