# SPDX-License-Identifier: Apache-2.0
"""What the shares of a whole that a file states tell of rows that are gone from it."""

from __future__ import annotations

import numpy as np

from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes

_TOLERATED = 0.05
"""Shares are rounded; of other tables as much may be gone. So little in all is no share of a hundred."""


def note_shares_gone(file: str, shares: Array, notes: Notes) -> None:
    """Note that the shares of all operator types, in parts of a hundred, do not add up to the whole."""
    whole = float(np.nansum(shares)) / 100
    if _TOLERATED < whole < 1 - _TOLERATED:
        what = Message("shares_do_not_add_up", share=round(whole * 100))
        notes.add(file, "", what, kind="truncated", share=1 - whole)
