# SPDX-License-Identifier: Apache-2.0
"""What ranks of one run say of the same thing, and not all alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def ranks_by_word(ranks: Iterable[int], words: Iterable[str | None]) -> Mapping[str, list[int]]:
    """Which ranks say each word, in the order in which words come first; empty where all who say any say the same.

    `words` has one for each rank, empty or None of those that say nothing.
    """
    found: dict[str, list[int]] = {}
    for rank, word in zip(ranks, words, strict=True):
        if word:
            found.setdefault(word, []).append(rank)
    return found if len(found) > 1 else {}
