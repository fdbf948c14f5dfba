# SPDX-License-Identifier: Apache-2.0
"""The events of a trace file, decoded piece by piece: what is damaged is left out, counted and placed."""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Iterator
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from advisor.machine.freed_memory import keep_memory
from advisor.machine.regular_files import open_regular
from advisor.messages.message import Message
from advisor.sources.files import chunks
from advisor.sources.files.chunks import ArrayLayout, Salvage, Span
from advisor.sources.files.damage_notes import TRUNCATED, Notes, Odd
from advisor.sources.files.events import EventBatch, EventFormat
from advisor.sources.files.packed import TraceFile
from advisor.sources.files.worker import end_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

PARALLEL_FROM = 64 << 20
"""Files below this many bytes are read by one process: a second one costs more than it saves."""
_IN_FLIGHT = 3
"""Pieces each process may be ahead of the one that collects them; bounds memory."""
_LONG = 8
"""How many times as long as the mean a single event may be; what is longer were several."""
_KEPT = 8 << 20
"""Bytes each process keeps for its next piece, which needs as much: to be given emptied pages for each takes a fifth of
the time."""


class _Quick:
    """Decodes whole chunks; remembers which of its types the events of the file are."""

    def __init__(self, events: EventFormat) -> None:
        self._columns = events.columns
        self._decoders: list[msgspec.json.Decoder[Any]] = [
            msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
            for kind in events.types
        ]

    def __call__(self, text: bytearray) -> EventBatch | None:
        """The columns of a chunk, None when something in it is wrong."""
        for decoder in tuple(self._decoders):
            try:
                piece = self._columns(decoder.decode(text))
            except msgspec.ValidationError:
                continue
            except (msgspec.DecodeError, Odd, RecursionError, UnicodeError):
                return None
            self._decoders.sort(key=lambda known: known is not decoder)
            return piece
        return None


class _Careful:
    """Decodes single events of a chunk that has damage in it."""

    def __init__(self, events: EventFormat) -> None:
        self._events = events
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(events.types[0])

    def __call__(self, text: bytes) -> Any:
        """One event; None when its kind is not kept.

        Raises:
            Odd: It is damaged.
        """
        try:
            return self._events.check(self._decoder.decode(text))
        except (msgspec.DecodeError, Odd, RecursionError, UnicodeError):
            return self._events.from_json(_decode_leniently(text))


def _decode_leniently(text: bytes) -> object:
    try:
        return json.loads(text.decode("utf-8", "replace"), parse_float=str, strict=False)
    except (ValueError, RecursionError):
        raise Odd(Message("event_no_json")) from None


class EventBatches:
    """The pieces of one file in order, damage left out; remembers what was left out and whether the end was there."""

    def __init__(self, trace: TraceFile, events: EventFormat, layout: ArrayLayout, chunk: int) -> None:
        self.trace, self.events, self.layout, self.chunk = trace, events, layout, chunk
        self.bad: dict[Message, tuple[int, int]] = {}
        """Per kind of damage: where it was met first, and how often."""
        self.lost_bytes = 0
        """Of what is no event at all."""
        self.cut_at: int | None = None
        self.another_at: int | None = None
        """Where another array begins behind the end of this one; nothing is read from there on."""
        self._quick, self._careful = _Quick(events), _Careful(events)

    def __call__(self, jobs: int) -> Iterator[tuple[Span, EventBatch]]:
        pending: int | None = None
        with self.trace.open() as file:
            spans = list(chunks.cut_spans(file, self.layout, self.chunk))
            many = jobs > 1 and self.layout.end >= PARALLEL_FROM and not self.trace.packed and _can_fork()
            decoded = self._decode_in_parallel(spans, jobs) if many else ((span, None) for span in spans)
            for span, piece in decoded:
                if piece is not None and pending is None:
                    yield span, piece
                    continue
                whole = span if pending is None else replace(span, start=pending)
                found, pending = self._read_piece(file, whole)
                yield span, found
                if self.another_at is not None:
                    return

    def _decode_in_parallel(self, spans: list[Span], jobs: int) -> Iterator[tuple[Span, EventBatch | None]]:
        """Each span with its columns, None where it needs care; decoding is spread over processes."""
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        waiting: deque[tuple[Span, Future[EventBatch | None]]] = deque()
        with ProcessPoolExecutor(jobs, get_context("fork"), initializer=_begin_decoding) as pool:
            for span in spans:
                waiting.append((span, self._submit_span(pool, span)))
                if len(waiting) > jobs * _IN_FLIGHT:
                    yield _take_result(waiting)
            while waiting:
                yield _take_result(waiting)

    def _submit_span(self, pool: ProcessPoolExecutor, span: Span) -> Future[EventBatch | None]:
        from concurrent.futures import Future, process

        try:
            return pool.submit(_decode_span, self.trace.path, self.events, span)
        except process.BrokenProcessPool:  # a process was killed: whoever collects reads the rest alone
            done: Future[EventBatch | None] = Future()
            done.set_result(None)
            return done

    def _read_piece(self, file: BufferedReader, span: Span) -> tuple[EventBatch, int | None]:
        """The columns of a span, and where its unfinished end begins."""
        if span.end - span.start > chunks.LONGEST_SPAN:
            return self._read_beginning(file, span), None
        piece = self._quick(chunks.read_bracketed(file, span))
        if piece is not None:
            return piece, None
        saved = chunks.salvage_objects(chunks.read_span(file, span), span, self.layout, self._careful)
        self._count_lost(span, saved)
        unfinished = span.start + saved.used
        if saved.another_at is not None:
            self.another_at = span.start + saved.another_at
            return self.events.columns(saved.found), None
        if span.last and not saved.ended:
            self.cut_at = unfinished
        return self.events.columns(saved.found), None if span.last else unfinished

    def _read_beginning(self, file: BufferedReader, span: Span) -> EventBatch:
        """The events before the damage of a span that is too long: what follows is never held in memory."""
        head = Span(span.start, span.start + self.chunk + chunks.PATIENCE, last=False)
        saved = chunks.salvage_objects(chunks.read_span(file, head), head, self.layout, self._careful)
        self._count_lost(span, saved)
        damaged = span.start + saved.used
        self._count_bad(damaged, chunks.NO_JSON)
        self.lost_bytes += span.end - damaged
        if span.last:
            self.cut_at = damaged
        return self.events.columns(saved.found)

    def _count_lost(self, span: Span, saved: Salvage[Any]) -> None:
        for at, what in saved.bad:
            self._count_bad(span.start + at, what)
        self.lost_bytes += saved.lost

    def _count_bad(self, at: int, what: Message) -> None:
        first, times = self.bad.get(what, (at, 0))
        self.bad[what] = first, times + 1

    def tell(self, notes: Notes, kept: int) -> None:
        """Note what was left out, as a share of all events that were met, or that damage has room for."""
        counts = {what: times for what, (_, times) in self.bad.items()}
        if chunks.NO_JSON in counts:
            counts[chunks.NO_JSON] = self._events_lost(kept, counts[chunks.NO_JSON])
        total = kept + sum(counts.values())
        for what, (first, _) in self.bad.items():
            place, times = Message("at_byte", n=first), counts[what]
            notes.add(self.trace.path.name, place, what, rows=times, share=times / total)
        if self.another_at is not None:
            place, behind = Message("at_byte", n=self.another_at), self.layout.end - self.another_at
            notes.add(self.trace.path.name, place, Message("begins_again"), rows=0, share=behind / self.layout.end)
        if self.cut_at is not None and not (self.trace.packed and notes.any_of(TRUNCATED)):  # said when unpacking
            place = Message("at_byte", n=self.cut_at)
            notes.add(self.trace.path.name, place, Message("ends_early"), kind=TRUNCATED, rows=1)

    def _events_lost(self, kept: int, places: int) -> int:
        """How many events were where there is none, by how long the others are: one at each place, or many more."""
        whole = self.layout.end - self.layout.start - self.lost_bytes
        room = round(self.lost_bytes * kept / whole) if whole > 0 else 0
        return room if room > places * _LONG else places


def _take_result(waiting: deque[tuple[Span, Future[EventBatch | None]]]) -> tuple[Span, EventBatch | None]:
    from concurrent.futures import process

    span, future = waiting.popleft()
    try:
        return span, future.result()
    except process.BrokenProcessPool:
        return span, None


def _can_fork() -> bool:
    from multiprocessing import current_process, get_all_start_methods

    # a worker of a cluster may be a process that is not allowed any of its own
    return "fork" in get_all_start_methods() and not current_process().daemon


def _begin_decoding() -> None:
    end_with_parent()
    keep_memory(_KEPT)


_quick_of_format = cache(_Quick)


def _decode_span(path: Path, events: EventFormat, span: Span) -> EventBatch | None:
    gc.disable()
    if span.end - span.start > chunks.LONGEST_SPAN:
        return None
    with open_regular(path) as file:
        return _quick_of_format(events)(chunks.read_bracketed(file, span))
