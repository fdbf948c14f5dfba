# SPDX-License-Identifier: Apache-2.0
"""The rank that people write into the names of files and folders, where the files themselves do not tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_RANK = re.compile(r"(?<![a-z])rank[-_]?(\d{1,7})", re.IGNORECASE)
_DIGITS = re.compile(r"(\d+)")


def rank_in_name(name: str) -> int | None:
    """The rank that is a part of a name, as in `job_rank_3.json`."""
    found = _RANK.search(name)
    return int(found[1]) if found else None


def rank_of_folders(names: Iterable[str]) -> int | None:
    """The rank that the first of these names is, and nothing else, as in `rank_3`."""
    found = next(filter(None, map(_RANK.fullmatch, names)), None)
    return int(found[1]) if found else None


def order_by_numbers(name: str) -> tuple[str | int, ...]:
    """What sorts names as people count, so that `worker10` stands behind `worker9`."""
    return tuple(int(part) if part.isdecimal() else part for part in _DIGITS.split(name))
