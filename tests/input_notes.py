# SPDX-License-Identifier: Apache-2.0
"""Notes on how an input was chosen, as tests write them in short."""

from __future__ import annotations

from advisor.model.run import InputNote


def note(words: str) -> InputNote:
    """The note of `about=value`: a number is a count, all else are names with `, ` between."""
    about, _, value = words.partition("=")
    if value.isdecimal():
        return InputNote(about=about, count=int(value))
    return InputNote(about=about, names=tuple(filter(None, value.split(", "))))
