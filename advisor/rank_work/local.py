# SPDX-License-Identifier: Apache-2.0
"""The work over ranks on this machine: one after another, or in worker processes where that pays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from advisor.facts.profile import RankFacts, Source
from advisor.messages.errors import WorkerLost
from advisor.progress import Progress
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks

POOL_WORTH_BYTES = 24 << 20
"""Below this much input, starting worker processes costs more than it gains (measured in benchmarks/speed.py)."""


def worker_count(jobs: int | None, sources: Sequence[Source]) -> int:
    """How many worker processes the ranks are worth; 1 means none."""
    if jobs is None and sum(source.size_bytes for source in sources) < POOL_WORTH_BYTES:
        return 1
    return max(1, min(jobs or os.cpu_count() or 1, len(sources)))


class LocalProcesses(Struct, frozen=True):
    """Like `map` over the ranks, in order; in worker processes where that pays."""

    workers: int
    progress: Progress

    def __call__(self, work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> Iterator[RankFacts]:
        workers = min(self.workers, len(sources))
        if workers <= 1:
            yield from self._report_ranks(map(work, sources), len(sources))
            return
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
        # every process gets the run and all ranks once: what ranks share would else be sent with each of them
        packed = pack_ranks(work, sources)
        with ProcessPoolExecutor(
            workers, multiprocessing.get_context(method), initializer=_begin_work, initargs=(packed,)
        ) as pool:
            try:
                yield from self._report_ranks(pool.map(_facts_of_rank, range(len(sources))), len(sources))
            except BrokenProcessPool as lost:
                raise WorkerLost from lost

    def _report_ranks(self, parts: Iterator[RankFacts], total: int) -> Iterator[RankFacts]:
        self.progress("ranks", 0, total)
        for done, part in enumerate(parts, 1):
            self.progress("ranks", done, total)
            yield part


_sent: SentRanks
"""In a worker process: the work, and the ranks it may be asked for."""


def _begin_work(packed: bytes) -> None:
    global _sent  # noqa: PLW0603 - a process pool has no other place for what its processes share
    from advisor.sources.files.worker import end_with_parent

    end_with_parent()
    _sent = SentRanks(packed)


def _facts_of_rank(number: int) -> RankFacts:
    return _sent.facts_of(number)
