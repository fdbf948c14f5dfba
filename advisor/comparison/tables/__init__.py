# SPDX-License-Identifier: Apache-2.0
"""The tables of two captures side by side: kernels, operators, calls, collectives, memory, allocations.

Everything is per step and averaged over ranks, so that captures of different length and size compare; only memory
peaks stand rank by rank. What one side did not record is missing there, never zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from advisor.comparison.tables.join import TableLayout, TablePart, join_sides
from advisor.comparison.tables.parts import COMPARED, WANTED, DifferenceTable, Offer
from advisor.comparison.tables.sums import operator_sums
from advisor.facts.profile import Profile
from advisor.messages.errors import FactMissing
from advisor.messages.text import Text
from advisor.model.comparison import Difference

__all__ = ["ALSO", "CAPTURES_NEEDED", "WANTED", "Differences", "table_differences"]

ALSO = (operator_sums,)
"""Derivations that only comparisons want: a profile to be compared is opened with them."""
CAPTURES_NEEDED = Text(
    en="Tables of kernels, operators, calls, collectives and memory need both captures: a saved .json does not hold "
    "them.",
    zh="算子、host 调用、通信与内存的逐项对比表需要两份采集目录；保存的 .json 中不含这些明细。",
)
"""The note of a comparison that has no tables."""


class Differences(Struct, frozen=True):
    """The tables that both captures can fill, and why others are missing."""

    tables: tuple[Difference, ...]
    notes: tuple[Text, ...]


def table_differences(before: Profile, after: Profile) -> Differences:
    """Every table that both captures recorded; a table that only one of them can fill is named in a note."""
    tables: list[Difference] = []
    notes: list[Text] = []
    for one in COMPARED:
        found = next(_offered_parts(one, before, after), None)
        if found is None:
            notes += _absent_table_notes(one, before, after)
            continue
        rows, dropped = join_sides(one.layout, *found)
        if len(rows.rows) >= one.layout.least:
            tables.append(Difference(name=one.layout.name, rows=rows))
        if dropped:
            notes.append(_dropped_keys_note(one.layout, dropped))
    return Differences(tuple(tables), tuple(notes))


def _offered_parts(one: DifferenceTable, before: Profile, after: Profile) -> Iterator[tuple[TablePart, TablePart]]:
    for offer in one.sources:
        left, right = _part_if_recorded(offer, before), _part_if_recorded(offer, after)
        if left is not None and right is not None:
            yield left, right


def _part_if_recorded(offer: Offer, profile: Profile) -> TablePart | None:
    """What the capture has of it; None where it was not recorded."""
    try:
        return offer(profile)
    except FactMissing:
        return None


_TABLES: Mapping[str, Text] = {
    "ranks": Text(en="Times rank by rank", zh="各卡的时间"),
    "kernels": Text(en="Kernels", zh="算子（kernel）"),
    "operators": Text(en="Framework operators", zh="框架算子"),
    "calls": Text(en="Host calls", zh="host 调用"),
    "collectives": Text(en="Collectives", zh="通信算子"),
    "memory": Text(en="Memory peaks", zh="内存峰值"),
    "allocations": Text(en="Allocations of operators", zh="算子内存申请"),
}
_KEYS: Mapping[str, Text] = {
    "core": Text(en="kind of core", zh="核类型"),
    "group_kind": Text(en="kind of group", zh="通信域类型"),
    "input_shapes": Text(en="input shapes", zh="输入形状"),
    "size_bytes": Text(en="size", zh="大小"),
}


def _absent_table_notes(one: DifferenceTable, before: Profile, after: Profile) -> Iterable[Text]:
    """Why there is no such table; nothing where neither capture recorded any of it."""
    has = [any(_part_if_recorded(offer, profile) is not None for offer in one.sources) for profile in (before, after)]
    if not any(has):
        return
    name = _TABLES[one.layout.name]
    if all(has):
        yield Text(
            en=f"{name.en} are not set side by side: the two captures recorded them in ways that do not compare.",
            zh=f"{name.zh}未作对比：两次采集的记录方式不同，无法逐项比较。",
        )
        return
    en, zh = ("after", "之后") if has[0] else ("before", "之前")
    yield Text(
        en=f"{name.en} are not set side by side: they were recorded on one side only, not {en}.",
        zh=f"{name.zh}未作对比：只有一侧有记录（缺少“{zh}”一侧）。",
    )


def _dropped_keys_note(layout: TableLayout, dropped: Iterable[str]) -> Text:
    keys = [_KEYS.get(name, Text(en=name, zh=name)) for name in dropped]
    name = _TABLES[layout.name]
    return Text(
        en=f"{name.en} are compared without their {' and '.join(key.en for key in keys)}: recorded on one side only.",
        zh=f"{name.zh}对比时未区分{'和'.join(key.zh for key in keys)}：只有一侧有记录。",
    )
