# SPDX-License-Identifier: Apache-2.0
"""The work over ranks on a Dask cluster: a rank is a task, or small ones are together; a worker has one at a time.

Ranks are handed out from here, to one worker each, and not by the scheduler: it counts every task that waited at a
worker that died as one that may have killed it, and does not know when a rank was begun. So a rank is blamed for what
happened while it was read and for nothing else, its time is measured from its begin, and a worker holds one at a time.
Small ranks that a worker was lost over together are then read one by one. Tables go from the worker to here; the
scheduler passes them on and keeps none.
"""

from __future__ import annotations

import logging
import os
import pkgutil
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from advisor.facts.rank_facts import RankFacts, Source, ranks_in
from advisor.machine.freed_memory import give_back_memory
from advisor.machine.own_process import is_own_process
from advisor.messages.errors import ClusterLost, UsageError, reason_of_error
from advisor.messages.message import Message
from advisor.model.progress import Progress, WorkerState, WorkersTold, silent_about_workers
from advisor.rank_work.arrivals import Arrival, arrivals_of_batch, in_order
from advisor.rank_work.batches import SourceWork, batches_of_ranks
from advisor.rank_work.lost_rank import LOST_WORKERS, LostRanks, unless_all_lost
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks
from advisor.release import VERSION
from advisor.sources.family import paths_of_source, place_of_source

if TYPE_CHECKING:
    from distributed import Client, Future

RANK_LIMIT_S = 600.0
"""A rank that takes longer is held to hang; larger ones get more time (`LEAST_BYTES_PER_S`)."""
LEAST_BYTES_PER_S = 2e6
"""A fiftieth of what is read on one machine, 100 MB/s (docs/speed.md): room for slow shared folders and slow cores."""
CONNECT_S = 10.0
"""A scheduler that is there is reached within this."""
ANSWER_S = 30.0
"""A scheduler answers within this, and so does a worker that has nothing to do: Dask gives up a connection after as
much."""
PATIENCE_S = 60.0
"""Without any worker the work waits so long: one that died is started again within seconds."""
LOOK_AGAIN_S = 2.0
"""Without any worker the scheduler is asked so often who is there."""
_TICK_S = 0.5
_SENTINELS = 4
"""So many files of the capture a worker has to see before it is given a rank."""
_KEPT_RUNS = 4
"""A worker remembers so many packed runs, for whoever shares it."""

_BATCHES_OF_WORKER = 2
"""A worker gets small ranks at least so many times: workers are not equally fast, and some come later."""

_VERSION_AT = "advisor.release:VERSION"


class DaskCluster(Struct, frozen=True):
    """Like `map` over the ranks, in order; on the workers of a Dask scheduler."""

    address: str
    """Of the scheduler: `tcp://host:8786`, `tls://…` or `dask://…`, which is tcp."""
    progress: Progress
    rank_limit_s: float | None = None
    """Seconds that a rank may take; None for what its size allows."""
    patience_s: float = PATIENCE_S
    workers_told: WorkersTold = silent_about_workers
    lost: LostRanks = field(default_factory=LostRanks)

    def __call__(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[RankFacts]:
        """What is wanted of each rank; a rank that two workers were lost over is set aside, and says so as damage.

        Raises:
            UsageError: There is no scheduler or no worker, or a worker has another version or does not see the capture.
            ClusterLost: The scheduler or all workers are gone.
            WorkerLost: Workers were lost over every rank.
        """
        yield from in_order(unless_all_lost(self.as_they_come(work, sources), len(sources)))

    def as_they_come(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]:
        """The same as soon as it is there, also where workers were lost over every one of these ranks."""
        if not sources:
            return
        with _connected(self.address) as client:
            _check_version(_ask_scheduler(client, self.address), self.address)
            yield from _Spread(client, self, work, sources).as_they_come()

    def limit_of(self, source: Source) -> float:
        """Seconds that a rank may take."""
        return self.rank_limit_s or max(RANK_LIMIT_S, source.size_bytes / LEAST_BYTES_PER_S)

    def batches(self, work: SourceWork, sources: Sequence[Source], workers: int) -> list[list[int]]:
        """The ranks that are left, small ones together; each alone where it may take less time than several do."""
        left = [number for number, source in enumerate(sources) if source not in self.lost]
        if self.rank_limit_s is not None and self.rank_limit_s < RANK_LIMIT_S:
            return [[number] for number in left]
        return batches_of_ranks(work, sources, left, max(workers, 1) * _BATCHES_OF_WORKER)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """A client of the scheduler.

    Raises:
        UsageError: Nobody answers there.
    """
    from distributed import Client

    if is_own_process():
        _silence_dask()
    plain = address.replace("dask://", "tcp://", 1)
    try:
        _check_that_dask_answers(plain, address)
        client = Client(plain, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
        raise UsageError(
            Message("no_scheduler", address=address, why=reason_of_error(error)), Message("give_scheduler")
        ) from None
    try:
        yield client
    finally:
        with suppress(TimeoutError, OSError, RuntimeError):
            client.close(timeout=2)


def _silence_dask() -> None:
    """What Dask would say is said in own words. Loggers below its own have levels of their own."""
    known = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", *known):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _check_that_dask_answers(plain: str, address: str) -> None:
    """Greets the scheduler as a client does, which waits without end for what somebody else never says.

    Raises:
        UsageError: Something is there, and is no scheduler, or does not answer.
        OSError: Nothing is there.
        ValueError: It is no address that Dask knows.
    """
    from distributed import Security
    from distributed.comm import CommClosedError, connect
    from distributed.comm.core import FatalCommClosedError
    from distributed.utils import LoopRunner

    async def greet() -> None:
        greeted = await connect(plain, timeout=CONNECT_S, **Security().get_connection_args("client"))
        await greeted.close()

    runner = LoopRunner(asynchronous=False)
    runner.start()
    try:
        runner.run_sync(greet, callback_timeout=CONNECT_S + _TICK_S)
    except FatalCommClosedError:  # certificates that do not fit
        raise
    except (TimeoutError, CommClosedError, MemoryError):
        raise UsageError(Message("no_dask_there", address=address), Message("give_scheduler_port")) from None
    finally:
        runner.stop()


def _ask_scheduler(client: Client, address: str) -> object:
    try:
        return client.run_on_scheduler(pkgutil.resolve_name, _VERSION_AT)
    except (ImportError, AttributeError):
        return None
    except (OSError, TimeoutError):
        raise ClusterLost(Message("scheduler_lost", address=address)) from None


def _check_version(found: object, who: str) -> None:
    """Refuses who has another advisor, or none.

    Raises:
        UsageError: It has.
    """
    if found is None:
        raise UsageError(Message("worker_without_advisor", who=who), Message("install_everywhere", version=VERSION))
    if found != VERSION:
        what = Message("worker_of_other_version", who=who, found=str(found), here=VERSION)
        raise UsageError(what, Message("install_everywhere", version=VERSION))


class _Attempt(Struct, eq=False):
    """Something a worker was asked for: its version, to take the ranks (`prepare`), or the facts of some."""

    worker: str
    asked: str
    future: Future
    until: float
    numbers: Sequence[int] = ()
    since: float = field(default_factory=time.monotonic)


class _Spread:
    """The ranks of one gathering: which are waiting, which worker has which, and what came back."""

    def __init__(self, client: Client, cluster: DaskCluster, work: SourceWork, sources: Sequence[Source]) -> None:
        self._client, self._cluster, self._work, self._sources = client, cluster, work, sources
        self._packed = zlib.compress(pack_ranks(work, sources), 1)
        self._run = f"{VERSION}-{zlib.crc32(self._packed):x}-{time.time_ns():x}"
        self._seen_by_all = _sentinels(sources)
        self._waiting: deque[list[int]] = deque()
        """Ranks that nobody has: one, or small ones that are worked on together."""
        self._lost: dict[int, list[Message]] = {}
        """By rank: how workers were lost over it."""
        self._arrived: deque[Arrival] = deque()
        self._attempts: dict[str, _Attempt] = {}
        """By worker."""
        self._idle: list[str] = []
        self._news: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._finished = 0
        self._done_by: Counter[str] = Counter()
        self._refused: set[str] = set()
        self._started = self._alone_since = self._looked = time.monotonic()
        self._begun = False

    def as_they_come(self) -> Iterator[Arrival]:
        """What is wanted of each rank, as soon as it is there."""
        try:
            for number, source in enumerate(self._sources):
                if source in self._cluster.lost:
                    self._keep_lost(number)
            there = self._look_for_workers()
            self._waiting += self._cluster.batches(self._work, self._sources, there)
            self._cluster.progress("ranks", self._finished, len(self._sources))
            while self._finished < len(self._sources):
                yield from self._take_arrived()
                self._hand_out()
                self._tell_of_workers()
                self._hear_news()
                yield from self._take_arrived()  # before anything ends the work
                self._check_time()
            yield from self._take_arrived()
            self._tell_of_workers()
        finally:
            for attempt in self._attempts.values():
                attempt.future.release()

    def _take_arrived(self) -> Iterator[Arrival]:
        while self._arrived:
            yield self._arrived.popleft()

    def _tell_of_workers(self) -> None:
        now = time.monotonic()
        reading = {one.worker: one for one in self._attempts.values() if one.asked == "facts"}
        states = [
            WorkerState(
                worker, self._done_by[worker], place_of_source(self._sources[one.numbers[0]])[0], now - one.since
            )
            for worker, one in reading.items()
        ]
        states += [WorkerState(worker, self._done_by[worker]) for worker in self._idle]
        self._cluster.workers_told(states)

    def _look_for_workers(self) -> int:
        """Greets the workers; gives how many there are."""
        self._client.subscribe_topic("all", self._hear_event)
        return self._greet_those_there()

    def _greet_those_there(self) -> int:
        """Greets who is there and not known: one that comes before news is sent is not told of."""
        self._looked = time.monotonic()
        there = self._workers_there()
        for worker in there:
            if worker not in self._refused:
                self._news.put(("joined", worker))
        return len(there)

    def _hear_event(self, event: tuple[float, dict[str, Any]]) -> None:
        """Called by the client, in its thread, of whatever happens at the scheduler."""
        kinds = {"add-worker": "joined", "remove-worker": "left"}
        told = event[1] if isinstance(event[1], dict) else {}
        if told.get("action") in kinds and "worker" in told:
            self._news.put((kinds[told["action"]], told["worker"]))

    def _workers_there(self) -> Sequence[str]:
        try:
            return list(self._client.nthreads(callback_timeout=ANSWER_S))
        except (OSError, TimeoutError, RuntimeError):
            raise self._scheduler_lost() from None

    def _scheduler_lost(self) -> ClusterLost:
        return ClusterLost(Message("scheduler_lost", address=self._cluster.address), self._finished, len(self._sources))

    def _hand_out(self) -> None:
        """Gives each worker that has nothing to do a rank, or small ones; of several none may take all their time."""
        while self._idle and self._waiting and self._all_greeted():
            worker, numbers = self._idle.pop(0), self._waiting.popleft()
            self._begun = True
            self._ask(worker, "facts", self._limit_of(numbers), _facts_of_ranks, self._run, numbers, numbers=numbers)

    def _limit_of(self, numbers: Sequence[int]) -> float:
        return max(self._cluster.limit_of(self._sources[number]) for number in numbers)

    def _all_greeted(self) -> bool:
        """Whether the workers that were there at the start are known: one that is refused is told before any work.

        One that is busy with work of somebody else is not waited for.
        """
        return self._begun or not self._attempts or time.monotonic() - self._started > ANSWER_S

    def _ask(
        self,
        worker: str,
        asked: str,
        limit: float,
        function: Callable[..., object],
        *what: object,
        numbers: Sequence[int] = (),
    ) -> None:
        future = self._client.submit(
            function,
            *what,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            key=f"advisor-{asked}-{_new_key()}",
        )
        attempt = _Attempt(worker, asked, future, time.monotonic() + limit, numbers)
        self._attempts[worker] = attempt
        future.add_done_callback(lambda _: self._news.put(("done", attempt)))

    def _hear_news(self) -> None:
        try:
            what, about = self._news.get(timeout=_TICK_S)
        except Empty:
            return
        if what == "joined":
            self._greet(about)
        elif what == "left":
            self._miss(about)
        elif (attempt := self._attempts.get(about.worker)) is about:  # else it was given up before
            self._take_answer(attempt)

    def _greet(self, worker: str) -> None:
        if worker not in self._attempts and worker not in self._idle:
            self._ask(worker, "version", inf, pkgutil.resolve_name, _VERSION_AT)

    def _miss(self, worker: str) -> None:
        """A worker is gone; its rank is done elsewhere."""
        self._refused.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if worker in self._attempts:
            self._give_up(self._attempts[worker], Message("worker_died"))

    def _give_up(self, attempt: _Attempt, why: Message) -> None:
        """A worker was lost over what it was asked for; over a rank that happens twice and no more.

        Of ranks that were worked on together it is not known which one is to blame: each is done alone.
        """
        del self._attempts[attempt.worker]
        attempt.future.release()
        self._alone_since = time.monotonic()
        if attempt.asked != "facts":
            return
        if len(attempt.numbers) > 1:
            self._waiting += [[number] for number in attempt.numbers]
            return
        [number] = attempt.numbers
        reasons = self._lost.setdefault(number, [])
        reasons.append(why)
        if len(reasons) < LOST_WORKERS:
            self._waiting.append([number])
            return
        self._cluster.lost.add(self._sources[number], *reasons)
        self._keep_lost(number)

    def _keep_lost(self, number: int) -> None:
        self._keep(Arrival(number, self._cluster.lost.facts_of(self._sources[number], self._work)))

    def _keep(self, arrival: Arrival) -> None:
        self._arrived.append(arrival)
        self._finished += ranks_in(arrival.facts)
        self._cluster.progress("ranks", self._finished, len(self._sources))

    def _take_answer(self, attempt: _Attempt) -> None:
        try:
            answer = attempt.future.result(timeout=ANSWER_S)
        except CancelledError:  # so ends what a scheduler takes along
            raise self._scheduler_lost() from None
        except (ImportError, AttributeError) as error:
            if attempt.asked == "facts":
                raise
            answer = reason_of_error(error) if attempt.asked == "prepare" else None
        except MemoryError:
            self._give_up(attempt, Message("worker_out_of_memory"))
            self._idle.append(attempt.worker)
            return
        except Exception as error:
            if not _is_loss_of_worker(error):
                raise
            self._give_up(attempt, Message("worker_died"))
            return
        del self._attempts[attempt.worker]
        attempt.future.release()
        take = {"version": self._take_version, "prepare": self._take_prepare, "facts": self._take_facts}
        take[attempt.asked](attempt, answer)

    def _take_version(self, attempt: _Attempt, found: object) -> None:
        try:
            _check_version(found, attempt.worker)
        except UsageError as refused:
            self._refuse(attempt.worker, refused)
            return
        self._prepare(attempt.worker)

    def _prepare(self, worker: str) -> None:
        self._ask(worker, "prepare", inf, _take_ranks, self._run, self._packed, self._seen_by_all)

    def _take_prepare(self, attempt: _Attempt, unseen: object) -> None:
        if unseen:
            refused = UsageError(
                Message("worker_sees_no_capture", who=attempt.worker, path=str(unseen)), Message("share_the_folder")
            )
            self._refuse(attempt.worker, refused)
            return
        self._idle.append(attempt.worker)

    def _take_facts(self, attempt: _Attempt, facts: object) -> None:
        if facts is None:  # a worker that was started again under its old address
            self._waiting.appendleft([*attempt.numbers])
            self._prepare(attempt.worker)
            return
        self._idle.append(attempt.worker)
        self._done_by[attempt.worker] += len(attempt.numbers)
        assert isinstance(facts, list)  # noqa: S101 - the same version made it
        for arrival in arrivals_of_batch(attempt.numbers, facts):
            self._keep(arrival)

    def _refuse(self, worker: str, refused: UsageError) -> None:
        """Ends the run where no rank was begun; a worker that comes later is left alone.

        Raises:
            UsageError: No rank was begun.
        """
        if not self._begun:
            raise refused
        self._refused.add(worker)
        logging.getLogger("advisor").warning("%s", refused)

    def _check_time(self) -> None:
        if self._client.status != "running":
            raise self._scheduler_lost()
        now = time.monotonic()
        late = [attempt for attempt in self._attempts.values() if now > attempt.until]
        if late:
            self._workers_there()  # a scheduler that hangs is no fault of a rank
        for attempt in late:
            Thread(target=partial(_end_worker, self._client, attempt.worker), daemon=True).start()
            limit = round(self._limit_of(attempt.numbers))
            self._give_up(attempt, Message("worker_too_slow", limit=limit))
        if self._idle or any(one.asked == "facts" for one in self._attempts.values()):
            self._alone_since = now
        elif now - self._alone_since > self._cluster.patience_s:
            raise self._without_workers()
        elif now - self._looked > LOOK_AGAIN_S:
            self._greet_those_there()

    def _without_workers(self) -> ClusterLost | UsageError:
        if self._begun:
            what = Message("no_worker_left", address=self._cluster.address)
            return ClusterLost(what, self._finished, len(self._sources))
        return UsageError(Message("no_worker_there", address=self._cluster.address), Message("start_workers"))


def _is_loss_of_worker(error: Exception) -> bool:
    """Whether this is Dask's word for a worker that was lost, with a task or with what it had made."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    return isinstance(error, KilledWorker | CommClosedError | TimeoutError)


def _end_worker(client: Client, worker: str) -> None:
    """Has a worker that hangs ended, and started again where something watches over it."""
    with suppress(Exception):
        client.restart_workers([worker], timeout=ANSWER_S, raise_for_error=False)


def _new_key() -> str:
    from uuid import uuid4

    return uuid4().hex


def _sentinels(sources: Sequence[Source]) -> list[tuple[str, int]]:
    """A few files of the capture with their sizes, by which a worker knows that it sees the same."""
    ends = [sources[0], sources[-1]]
    paths = dict.fromkeys(path for source in ends for path in paths_of_source(source)[: _SENTINELS // 2])
    return [(str(path), size) for path in paths if (size := _size_of_file(str(path))) is not None]


def _size_of_file(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


_sent: dict[str, SentRanks] = {}
"""In a worker: the work and the ranks by their run, the last few."""


def _take_ranks(run: str, packed: bytes, seen_by_all: Sequence[tuple[str, int]]) -> str:
    """In a worker: keeps what will be asked for; gives the first file that it does not see as it is elsewhere."""
    for path, size in seen_by_all:
        if _size_of_file(path) != size:
            return path
    while len(_sent) >= _KEPT_RUNS:
        _sent.pop(next(iter(_sent)), None)
    give_back_memory()  # once is enough, but the first run of a worker is not known
    _sent[run] = SentRanks(zlib.decompress(packed))
    return ""


def _facts_of_ranks(run: str, numbers: Sequence[int]) -> list[RankFacts] | None:
    """In a worker: what is wanted of ranks that follow each other; nothing where the worker does not know the run."""
    return _sent[run].facts_of(*numbers) if run in _sent else None
