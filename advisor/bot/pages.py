# SPDX-License-Identifier: Apache-2.0
"""Lists that come in pages: all of them, each entry once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from advisor.bot import forge_errors as trouble
from advisor.bot.rest import Rest

_NEXT = re.compile(r'\brel\s*=\s*"?next\b', re.IGNORECASE)
_MOST_PAGES = 1000


class NumberedEntry(Protocol):
    """An entry with an id."""

    @property
    def id(self) -> int:
        """What tells it from the others."""


L = TypeVar("L", bound=NumberedEntry)


def paged_entries(rest: Rest, kind: type[list[L]], path: str, size: int, **params: object) -> Iterator[L]:
    """Every entry of a list. Pages are counted here: an address in an answer is not followed.

    Raises:
        ForgeError: A page cannot be had, or there is no end of them.
    """
    seen: set[int] = set()
    for page in range(1, _MOST_PAGES + 1):
        answer = rest.ask("GET", path, **params, page=page, per_page=size)
        entries = rest.decoded(kind, answer)
        fresh = [entry for entry in entries if entry.id not in seen]
        seen.update(entry.id for entry in fresh)
        yield from fresh
        if not fresh or _is_last(answer.headers, page, len(entries) < size):
            return
    raise trouble.too_many_entries(rest.access.forge, _MOST_PAGES)


def _is_last(headers: Mapping[str, str], page: int, is_short: bool) -> bool:
    """GitHub sends `Link`, GitLab `X-Next-Page`, Gitee and GitCode `total_page`; without these a short page is last."""
    if "x-next-page" in headers:
        return not headers["x-next-page"].strip()
    total = headers.get("total_page", headers.get("total-page", ""))
    if total.isascii() and total.isdigit():
        return page >= int(total[:9])
    if "link" in headers:
        return not _NEXT.search(headers["link"])
    return is_short
