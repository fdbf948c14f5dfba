# SPDX-License-Identifier: Apache-2.0
"""How long to wait before a forge is asked again, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from msgspec import Struct, field

from advisor.bot.limits import Limits

WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
LIMITED = frozenset({403, 429})
"""GitHub answers both when a limit is reached: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"""
_UNNAMED_LIMIT_S = 60.0
"""GitHub asks for a minute where it names no time."""


class Retries(Struct, frozen=True):
    """Bounds of waiting, and the clock to wait by: tests bring their own."""

    limits: Limits = field(default_factory=Limits)

    tries: int = 6
    total_s: float = 300.0
    first_s: float = 1.0
    longest_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random

    def pause(self, tried: int, asked_s: float | None) -> float:
        """Seconds to wait after so many tries: what the forge asked for, else twice as long each time, with jitter.

        Jitter lowers a pause by up to half, so that two runs that met once do not meet again; it never goes below
        what was asked for.
        """
        if asked_s is not None:
            return asked_s + self.chance()
        return min(self.first_s * 2.0 ** (tried - 1), self.longest_s) * (1.0 - self.chance() / 2)


def is_limit(status: int, headers: Mapping[str, str], said: str) -> bool:
    """Whether an answer means too many requests: some forges say so with 403, as they do of a missing permission."""
    if status not in LIMITED:
        return False
    spent = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == HTTPStatus.TOO_MANY_REQUESTS or spent or "rate limit" in said.lower()


def asked_pause(status: int, headers: Mapping[str, str], said: str, now: float) -> float | None:
    """Seconds the forge asks to be left alone; None when it does not say."""
    after = _retry_after(headers.get("retry-after", ""), now)
    if after is not None:
        return after
    reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
    if (
        headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) == "0"
        and reset.isascii()
        and reset.isdigit()
    ):
        return max(float(reset[:15]) - now, 0.0)
    return _UNNAMED_LIMIT_S if status in LIMITED and "secondary rate limit" in said.lower() else None


def _retry_after(words: str, now: float) -> float | None:
    """Seconds, or an HTTP date (RFC 9110, 10.2.3)."""
    if words.isascii() and words.isdigit():
        return float(words[:9])
    try:
        moment = parsedate_to_datetime(words)
    except ValueError:
        return None
    return max(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now, 0.0)
