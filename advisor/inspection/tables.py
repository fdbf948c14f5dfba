# SPDX-License-Identifier: Apache-2.0
"""Which tables are there: how many rows, on which ranks, and which columns hold nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

import numpy as np
from msgspec import Struct

from advisor.engine import reason
from advisor.engine.vocabulary import words_for_names
from advisor.facts.base import Fact
from advisor.facts.observed import OBSERVED, Damage, RankCapture
from advisor.facts.profile import Profile
from advisor.facts.selection import Selected
from advisor.facts.table import Array, Table, Values
from advisor.messages.errors import FactMissing
from advisor.messages.text import Text
from advisor.model.inspection import InspectedFact
from advisor.model.run import Run
from advisor.rules.bind import Rule

_OF_THE_CAPTURE = (Damage, RankCapture)
"""Made of the reading itself, whatever was recorded."""
_INSPECTED = tuple(fact for fact in OBSERVED if fact not in _OF_THE_CAPTURE)


class TableOutline(Struct, frozen=True):
    """How many rows a rank has of a table, and of each column one value, where it has any."""

    fact: type[Fact]

    def select(self, table: Table[Fact]) -> Selected:
        """One row, made of the first value of each column; it stands for all rows."""
        outline = Table.build(self.fact, **_first_values(table)) if len(table) else Table.empty(self.fact)
        return Selected(outline, np.full(len(outline), len(table), np.int64))


def _first_values(table: Table[Fact]) -> dict[str, Values]:
    """Of each column the first value; missing where it has none."""
    found: dict[str, Values] = {}
    for name, column in table.fact.columns().items():
        where = np.array([np.argmax(_has_value(table, name))])
        found[name] = table.texts(name).take(where).in_use() if column.store == "text" else table[name][where]
    return found


def _has_value(table: Table[Fact], name: str) -> Array:
    """Per row: whether it has a value in this column."""
    column = table.fact.columns()[name]
    if column.store == "text":
        return table.texts(name).codes >= 0
    return ~np.isnan(table[name]) if column.store == "float" else table[name] != column.missing


def inspected_facts(
    profile: Profile, run: Run, rules: Iterable[Rule], blind: Container[str]
) -> tuple[InspectedFact, ...]:
    """The tables that there are, and those that a rule rests on which cannot look (`blind`, by id); those first that
    most rest on."""
    roots = {rule.id: {root for fact in rule.facts for root in profile.observed_behind(fact)} for rule in rules}
    resting = Counter(root for every in roots.values() for root in every)
    missed = {root for rule, every in roots.items() if rule in blind for root in every}
    facts = {fact: _inspect_fact(profile, run, fact, resting) for fact in _INSPECTED}
    told = [one for fact, one in facts.items() if fact in missed or one.rows is not None]
    return tuple(sorted(told, key=lambda one: (-one.rules, one.table)))


def _inspect_fact(profile: Profile, run: Run, fact: type[Fact], resting: Mapping[type[Fact], int]) -> InspectedFact:
    words = words_for_names([fact.table])
    try:
        found = profile.selected(TableOutline(fact))
    except FactMissing as missing:
        why: Text = reason.of_missing(missing, run).text
        return InspectedFact(table=fact.table, words=words, rules=resting[fact], reason=why)
    rows, columns = found.rows, fact.columns()
    ranks = sorted({*rows["rank"].tolist()}) if "rank" in columns and fact.table != "groups" else []
    empty = [name for name in columns if len(rows) and not _has_value(rows, name).any()]
    return InspectedFact(
        table=fact.table,
        words=words,
        rows=int(found.stands_for.sum()),
        ranks=tuple(rank for rank in ranks if rank in run.captured),
        empty_columns=tuple(empty),
        rules=resting[fact],
    )
