# SPDX-License-Identifier: Apache-2.0
"""How much a forge may cost a run: seconds of all requests, seconds of one, and bytes of an answer once unpacked."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

RUN_S = 600.0
REQUEST_S = 60.0
BODY_BYTES = 64 << 20
_PACKED = ("gzip", "x-gzip")
_EITHER_HEADER = 32 + zlib.MAX_WBITS
"""For zlib: the header tells whether it is gzip."""


class TookTooLong(Exception):
    """A request is not done in its time, however busy its server seems."""


class AnswerTooLarge(Exception):
    """An answer goes on beyond the most bytes that are taken."""


class Limits:
    """The limits of one run, and what it has used up of its time."""

    def __init__(
        self,
        run_s: float = RUN_S,
        request_s: float = REQUEST_S,
        body_bytes: int = BODY_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run_s, self.request_s, self.body_bytes = run_s, request_s, body_bytes
        self._clock, self._spent_s = clock, 0.0

    def left_s(self) -> float:
        """Seconds that are left for the requests of this run."""
        return self.run_s - self._spent_s

    def spend(self, seconds: float) -> None:
        """Count time of the run as used up."""
        self._spent_s += seconds

    def timed(self, work: Callable[[], T]) -> T:
        """What a request gives, within the time of one and of the run.

        Raises:
            TookTooLong: It is not done by then; it is left to itself.
        """
        began = self._clock()
        try:
            return _run_within(min(self.request_s, self.left_s()), work)
        finally:
            self.spend(self._clock() - began)


def _run_within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives, made by a thread of its own: a server that sends a byte a second holds up nobody else."""
    made: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(work())
        except BaseException as wrong:  # noqa: BLE001 - raised again where it is waited for
            failed.append(wrong)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(seconds, 0.0))
    if failed:
        raise failed[0]
    if not made:
        raise TookTooLong
    return made[0]


def read_body(chunks: Iterable[bytes], packing: str, most: int) -> bytes:
    """The body of an answer, unpacked where it is packed with gzip, as far as it has no more than so many bytes.

    Raises:
        AnswerTooLarge: It has more.
        ValueError: It is packed otherwise, or badly.
    """
    if packing not in ("", "identity", *_PACKED):
        raise ValueError(packing)
    unpack = zlib.decompressobj(_EITHER_HEADER) if packing in _PACKED else None
    parts: list[bytes] = []
    room = most
    for chunk in chunks:
        try:
            part = chunk if unpack is None else unpack.decompress(chunk, room + 1)
        except zlib.error as error:
            raise ValueError(packing) from error
        room -= len(part)
        if room < 0:
            raise AnswerTooLarge
        parts.append(part)
    return b"".join(parts)
