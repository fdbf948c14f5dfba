# SPDX-License-Identifier: Apache-2.0
"""Why a step moved: the entries of both accounts that differ, in words, and their sum."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Moved
from advisor.report.column_values import CAUSES
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.sides import compared_times
from advisor.report.comparison.words import say
from advisor.report.prose import Prose, code_prose, plain_prose
from advisor.report.time_split import PARTS
from advisor.report.words import word_for
from advisor.units import show_value

MOST_MOVED = 12
_LEAST = 1e-4
"""Below this part of the larger sum an entry is one of the others: no time above it shows that many digits."""


class AccountEntry(Struct, frozen=True):
    """One entry of both accounts."""

    key: str
    """The part of the step; `rest` or `step` for what is not an entry itself."""
    part: str
    name: Prose
    before: str
    after: str
    delta: str
    count: str
    noisy: bool
    us: float


def account_entries(comparison: Comparison, language: Language) -> tuple[AccountEntry, ...]:
    """The entries that explain the difference, largest first, all others as one, and their sum.

    None where the accounts cannot be subtracted, such as that of a window from that of a step.
    """
    if not comparison.moved:
        return ()
    least = _LEAST * max(sum(one.before_us for one in comparison.moved), sum(one.after_us for one in comparison.moved))
    shown = [one for one in comparison.moved[:MOST_MOVED] if abs(one.delta_us) > least]
    rest = comparison.moved[len(shown) :]
    total = _sum_entry("step", plain_prose(say(f"total_{compared_times(comparison)}", language)), comparison.moved)
    entries = (
        _sum_entry(one.part, entry_name(one, language), [one], PARTS[one.part].say(language), _count_change(one))
        for one in shown
    )
    others = [_sum_entry("rest", plain_prose(say("all_others", language, count=len(rest))), rest)] if rest else []
    return (*entries, *others, total)


def entry_name(one: Moved, language: Language) -> Prose:
    """What the time went into, in words where the name is none of the profile's own."""
    if not one.name:
        return plain_prose(say(f"unnamed_{one.part}", language))
    word = word_for(CAUSES, one.name, language) if one.part == "free" else None
    return plain_prose(word) if word else code_prose(one.name, 60)


def _count_change(one: Moved) -> str:
    if one.count_before is None or one.count_after is None:
        return ""
    before, after = (show_value(round(count, 1), "count") for count in (one.count_before, one.count_after))
    return before if before == after else f"{before} → {after}"


def _sum_entry(key: str, name: Prose, of: Sequence[Moved], part: str = "", count: str = "") -> AccountEntry:
    before, after = sum(one.before_us for one in of), sum(one.after_us for one in of)
    delta = sum(one.delta_us for one in of)
    shown = (show_value(before, "us"), show_value(after, "us"), signed_amount(round(delta, 6)))
    return AccountEntry(key, part, name, *shown, count, not any(one.beyond_noise for one in of), delta)
