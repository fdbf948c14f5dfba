# SPDX-License-Identifier: Apache-2.0
"""The work over ranks on this machine: one after another, or in worker processes where that pays."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field

from advisor.facts.rank_facts import RankFacts, Source, ranks_in
from advisor.messages.message import Message
from advisor.model.progress import Progress
from advisor.rank_work.arrivals import Arrival, arrivals_of_batch, in_order
from advisor.rank_work.batches import SourceWork, batches_of_ranks, facts_of_batch
from advisor.rank_work.lost_rank import LOST_WORKERS, LostRanks, unless_all_lost
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks

if TYPE_CHECKING:
    from concurrent.futures import Future

POOL_WORTH_BYTES = 24 << 20
"""Below this much input, starting worker processes costs more than it gains (measured in benchmarks/speed.py)."""


def worker_count(jobs: int | None, sources: Sequence[Source]) -> int:
    """How many worker processes the ranks are worth; 1 means none."""
    if jobs is None and sum(source.size_bytes for source in sources) < POOL_WORTH_BYTES:
        return 1
    return max(1, min(jobs or os.cpu_count() or 1, len(sources)))


class LocalProcesses(Struct, frozen=True):
    """Like `map` over the ranks, in order; in worker processes where that pays.

    Where one is killed, mostly for lack of memory, those that are left are read one after another. A rank that two
    workers die over that had the machine for themselves is set aside, and says so as damage.
    """

    workers: int
    progress: Progress
    lost: LostRanks = field(default_factory=LostRanks)

    def __call__(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[RankFacts]:
        """What is wanted of each rank; of small ones that follow each other as one.

        Raises:
            WorkerLost: Workers died over all of them.
        """
        yield from in_order(unless_all_lost(self.as_they_come(work, sources), len(sources)))

    def as_they_come(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]:
        """The same as soon as it is there, also where workers died over every one of these ranks."""
        workers = min(self.workers, len(sources))
        arrivals = _work_here(work, sources) if workers <= 1 else self._work_in_processes(work, sources, workers)
        self.progress("ranks", 0, len(sources))
        done = 0
        for arrival in arrivals:
            done += ranks_in(arrival.facts)
            self.progress("ranks", done, len(sources))
            yield arrival

    def _work_in_processes(self, work: SourceWork, sources: Sequence[Source], workers: int) -> Iterator[Arrival]:
        # every process gets the run and all ranks once: what ranks share would else be sent with each of them
        packed = pack_ranks(work, sources)
        left = dict.fromkeys(range(len(sources)))
        yield from self._facts_of_lost(work, sources, left)
        for arrival in _until_a_death(packed, batches_of_ranks(work, sources, [*left], workers), workers):
            _take_out(left, arrival)
            yield arrival
        deaths: Counter[int] = Counter()
        while left:
            # alone, a rank is known to be what its worker died over
            for arrival in _until_a_death(packed, [[number] for number in left], 1):
                _take_out(left, arrival)
                yield arrival
            if left:
                first = next(iter(left))
                deaths[first] += 1
                if deaths[first] == LOST_WORKERS:
                    self.lost.add(sources[first], Message("worker_died"), Message("worker_died"))
                    yield from self._facts_of_lost(work, sources, left)

    def _facts_of_lost(self, work: SourceWork, sources: Sequence[Source], left: dict[int, None]) -> Iterator[Arrival]:
        """What is wanted of those that are left and were set aside, which then are left no more."""
        for number in [number for number in left if sources[number] in self.lost]:
            del left[number]
            yield Arrival(number, self.lost.facts_of(sources[number], work))


def _take_out(left: dict[int, None], arrival: Arrival) -> None:
    for number in range(arrival.first, arrival.first + ranks_in(arrival.facts)):
        del left[number]


def _work_here(work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]:
    for numbers in batches_of_ranks(work, sources, range(len(sources)), 1):
        yield from arrivals_of_batch(numbers, facts_of_batch(work, [sources[number] for number in numbers]))


def _until_a_death(packed: bytes, batches: Sequence[Sequence[int]], workers: int) -> Iterator[Arrival]:
    """What is wanted of these ranks, as it comes; ends before its time where a worker dies."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(workers, context, initializer=_begin_work, initargs=(packed,)) as pool:
        running: dict[Future[list[RankFacts]], Sequence[int]] = {}
        try:
            with suppress(BrokenProcessPool):
                for numbers in batches:
                    running[pool.submit(_facts_of_ranks, numbers)] = numbers
            for done in as_completed(running):
                numbers = running.pop(done)
                if isinstance(done.exception(), BrokenProcessPool):
                    continue  # others were done before
                yield from arrivals_of_batch(numbers, done.result())
        finally:
            for future in running:
                future.cancel()


_sent: SentRanks
"""In a worker process: the work, and the ranks it may be asked for."""


def _begin_work(packed: bytes) -> None:
    global _sent  # noqa: PLW0603 - a process pool has no other place for what its processes share
    from advisor.machine.freed_memory import collect_seldom
    from advisor.sources.files.worker import end_with_parent

    end_with_parent()
    collect_seldom()
    _sent = SentRanks(packed)


def _facts_of_ranks(numbers: Sequence[int]) -> list[RankFacts]:
    return _sent.facts_of(*numbers)
