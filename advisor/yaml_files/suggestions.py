# SPDX-License-Identifier: Apache-2.0
"""What may be meant by a name that is unknown: the nearest of the known ones, or all of them where they are few."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from advisor.messages.message import Message, did_you_mean

MANY = 30
"""How many known names a hint lists at most."""


def suggest_close(word: str, known: Iterable[str]) -> Message | None:
    """`did you mean …?` when something known is close."""
    return did_you_mean(close_words(word, known))


def close_words(word: str, known: Iterable[str]) -> list[str]:
    """The known word that is closest, if any is close."""
    return difflib.get_close_matches(word, sorted(map(str, known)), 1, 0.55)


def suggest_known(word: str, known: Iterable[str]) -> Message | None:
    """`did you mean …?` when something known is close, else what is known, as long as that is not much."""
    names = sorted(map(str, known))
    listed = Message("known_here", names=", ".join(names)) if 0 < len(names) <= MANY else None
    return suggest_close(word, names) or listed


def suggest_rules(word: str, ids: Iterable[str]) -> Message:
    """What may be meant by the id of a rule, or by a pattern, that is unknown here.

    Where its category is like none of these it is no slip, but one of somebody's own rules that were not given.
    """
    names = sorted(ids)
    categories = {name.split("/", 1)[0] for name in names}
    category, slash, _ = word.partition("/")
    known = sorted(f"{name}/*" for name in categories)
    if slash and not difflib.get_close_matches(category, sorted(categories), 1):
        return Message("own_rules")
    meant = suggest_known(word, known) if "*" in word else did_you_mean(close_rules(word, names)[:1])
    return meant or Message("own_rules")


def close_rules(rule_id: str, ids: Iterable[str]) -> list[str]:
    """The rules that may be meant, nearest first, by what stands behind the category: that alone makes none alike."""
    named: dict[str, list[str]] = {}
    for one in sorted(ids):
        named.setdefault(one.rpartition("/")[2], []).append(one)
    asked = rule_id.rpartition("/")[2]
    near = difflib.get_close_matches(asked, named, 3, 0.85) or difflib.get_close_matches(asked, named, 1)
    return [one for name in near for one in sorted(named[name], key=lambda one: _unlike(one, rule_id))]


def _unlike(one: str, other: str) -> float:
    return -difflib.SequenceMatcher(None, one, other).ratio()
