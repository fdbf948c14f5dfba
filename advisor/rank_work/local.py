# SPDX-License-Identifier: Apache-2.0
"""The work over ranks on this machine: one after another, or in worker processes where that pays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from advisor.facts.rank_facts import RankFacts, Source, ranks_in
from advisor.messages.errors import WorkerLost
from advisor.messages.message import Message
from advisor.model.progress import Progress
from advisor.rank_work.batches import SourceWork, batches_of_ranks, facts_of_batch
from advisor.rank_work.lost_rank import LOST_WORKERS, LostRanks
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks

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
        workers = min(self.workers, len(sources))
        parts = _parts_here(work, sources) if workers <= 1 else self._read_in_processes(work, sources, workers)
        yield from self._report_ranks(parts, len(sources))

    def _read_in_processes(self, work: SourceWork, sources: Sequence[Source], workers: int) -> Iterator[RankFacts]:
        # every process gets the run and all ranks once: what ranks share would else be sent with each of them
        packed = pack_ranks(work, sources)

        def parts_from(first: int, workers: int) -> Iterator[RankFacts]:
            left = [number for number in range(first, len(sources)) if sources[number] not in self.lost]
            # alone, a rank is known to be what its worker died over
            together = [[number] for number in left] if workers == 1 else batches_of_ranks(work, sources, left, workers)
            return _parts_until_a_death(packed, together, workers)

        parts, alone, died = parts_from(0, workers), False, Message("worker_died")
        number = 0
        while number < len(sources):
            source, part, deaths = sources[number], None, 0
            while source not in self.lost and (part := next(parts, None)) is None:
                deaths += alone
                if deaths == LOST_WORKERS:
                    self.lost.add(source, died, died)
                parts, alone = parts_from(number, 1), True
            if all(one in self.lost for one in sources):
                raise WorkerLost
            given = self.lost.facts_of(source, work) if part is None else part
            number += ranks_in(given)
            yield given

    def _report_ranks(self, parts: Iterator[RankFacts], total: int) -> Iterator[RankFacts]:
        self.progress("ranks", 0, total)
        done = 0
        for part in parts:
            done += ranks_in(part)
            self.progress("ranks", done, total)
            yield part


def _parts_here(work: SourceWork, sources: Sequence[Source]) -> Iterator[RankFacts]:
    for numbers in batches_of_ranks(work, sources, range(len(sources)), 1):
        yield from facts_of_batch(work, [sources[number] for number in numbers])


def _parts_until_a_death(packed: bytes, batches: Sequence[Sequence[int]], workers: int) -> Iterator[RankFacts]:
    """What is wanted of these ranks, in order; ends before its time where a worker dies."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(workers, context, initializer=_begin_work, initargs=(packed,)) as pool:
        try:
            for parts in pool.map(_facts_of_ranks, batches):
                yield from parts
        except BrokenProcessPool:
            return


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
