# SPDX-License-Identifier: Apache-2.0
"""Where the events behind a finding are found: `occurrences:` of a rule, with every name resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from advisor.expr.compile import Compiled, Scope
from advisor.expr.frame import column_scope
from advisor.facts.base import Fact
from advisor.messages.message import Message
from advisor.rules.schema import OccurrencesFile
from advisor.units import Type, ValueKind
from advisor.yaml_files.document import Path_
from advisor.yaml_files.suggestions import suggest_known

Facts = Mapping[str, type[Fact]]


class Occurrences(Struct, frozen=True):
    """Which events stand behind a finding, and which of them are the worst."""

    fact: type[Fact]
    by: tuple[tuple[str, str], ...] = ()
    """Pairs of a column of the rule's table and one of the events that must be equal; none for the rule's own rows."""
    where: Compiled | None = None
    order: Compiled | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every name its expressions use."""
        return frozenset[str]().union(*(part.names for part in (self.where, self.order) if part is not None))

    @property
    def selectable(self) -> bool:
        """Whether the worst events can be chosen rank by rank: those of a heavy table, told by its columns alone."""
        return bool(self.by) and self.fact.heavy and self.names <= self.fact.columns().keys()


class Binding(Protocol):
    """What collects the mistakes of a rule and compiles its expressions."""

    def wrong(self, path: Path_, what: Message, hint: Message | None = None, *, key: bool = False) -> None: ...
    def compiled(
        self, path: Path_, text: str, scope: Scope, kind: ValueKind | None = None, *, group: bool = False
    ) -> Compiled: ...


def bound_occurrences(
    said: OccurrencesFile | None,
    fact: type[Fact],
    facts: Facts,
    binding: Binding,
    *,
    scope: Scope,
    fixed: Mapping[str, Type],
    shown: Compiled | None,
) -> Occurrences | None:
    """What the rule says; where it says nothing and reads a table of events, its own rows, those that are `shown`."""
    if said is None:
        return Occurrences(fact, where=shown) if fact.moment is not None else None
    events = facts.get(said.in_) if said.in_ else fact
    if events is None or events.moment is None:
        _refuse_table(said.in_, events, facts, binding)
        return None
    by = _shared_columns(said, fact, events, binding) if said.in_ else ()
    inside = Scope({**fixed, **column_scope(events)}) if said.in_ else Scope(scope.names)
    parts: tuple[tuple[str, str | None, ValueKind], ...] = (
        ("where", said.where, "bool"),
        ("order", said.order, "number"),
    )
    where, order = (
        None if text is None else binding.compiled(("occurrences", key), text, inside, kind)
        for key, text, kind in parts
    )
    return Occurrences(events, by, shown if where is None and not said.in_ else where, order)


def _refuse_table(name: str, events: type[Fact] | None, facts: Facts, binding: Binding) -> None:
    timed = [table for table, fact in facts.items() if fact.moment is not None]
    path: Path_ = ("occurrences", "in") if name else ("occurrences",)
    if events is None:
        binding.wrong(path, Message("unknown_table", name=name), suggest_known(name, timed))
    else:
        what = Message("rows_are_untimed", name=events.table)
        binding.wrong(path, what, Message("timed_tables", names=", ".join(timed)), key=not name)


def _shared_columns(
    said: OccurrencesFile, fact: type[Fact], events: type[Fact], binding: Binding
) -> tuple[tuple[str, str], ...]:
    """The pairs of columns on which an event and a row of the rule must agree."""
    own, other = _key_columns(fact), _key_columns(events)
    if said.by is None:
        pairs = tuple((name, name) for name in own if name in other)
    else:
        pairs = tuple(said.by.items()) if isinstance(said.by, dict) else tuple((name, name) for name in said.by)
    path: Path_ = ("occurrences", "in" if said.by is None else "by")
    if not pairs:
        what = Message("share_no_key", one=fact.table, other=events.table)
        binding.wrong(path, what, Message("name_a_pair"))
    return tuple(pair for pair in pairs if _columns_agree(pair, (own, other), (fact, events), path, binding))


def _columns_agree(
    pair: tuple[str, str],
    keys: tuple[Mapping[str, str], Mapping[str, str]],
    facts: tuple[type[Fact], type[Fact]],
    path: Path_,
    binding: Binding,
) -> bool:
    """Whether both tables have these columns, and they can be equal; a mistake where not."""
    for name, known, fact in zip(pair, keys, facts, strict=True):
        if name not in known:
            binding.wrong(path, Message("has_no_key", table=fact.table, name=name), suggest_known(name, known))
            return False
    if keys[0][pair[0]] != keys[1][pair[1]]:
        binding.wrong(path, Message("not_of_one_kind", one=pair[0], other=pair[1]))
        return False
    return True


def _key_columns(fact: type[Fact]) -> dict[str, str]:
    """The columns by which rows of two tables can be joined, and how they are stored."""
    found = fact.columns().items()
    return {name: one.store for name, one in found if one.store == "text" or (one.store == "int" and not one.unit)}
