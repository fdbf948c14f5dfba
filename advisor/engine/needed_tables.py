# SPDX-License-Identifier: Apache-2.0
"""What rules want to be read: tables as a whole, and of those that have a row for each event, the worst rows."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.engine.excerpt import top_rows
from advisor.engine.worst_events import worst_events
from advisor.facts.rank_facts import WantedFact
from advisor.rules.bind import Rule


def wanted_by(rules: Iterable[Rule]) -> tuple[WantedFact, ...]:
    """Everything these rules want, each once."""
    return tuple(dict.fromkeys(asked for rule in rules for asked in _wanted_by_rule(rule)))


def _wanted_by_rule(rule: Rule) -> tuple[WantedFact, ...]:
    selections = (top_rows(rule), worst_events(rule))
    return (*rule.wanted, *(one for one in selections if one is not None))
