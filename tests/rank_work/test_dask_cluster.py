# SPDX-License-Identifier: Apache-2.0
"""The work over ranks on a real Dask cluster on this machine: what it gives, and what becomes of it when parts die."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import numpy as np
import pytest

import advisor
from advisor import pipeline
from advisor.analysis import DERIVATIONS
from advisor.cli.main import main
from advisor.fact_store.writing import StoredEvents
from advisor.facts.derivation import Makers
from advisor.facts.derived import Overlap
from advisor.facts.observed import Damage, Kernel
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import FactsWanted, RankFacts
from advisor.facts.table import Table
from advisor.messages.errors import ClusterLost, FactMissing, UsageError, WorkerLost
from advisor.model.progress import WorkerState, silent
from advisor.rank_work import cluster as cluster_work
from advisor.rank_work.cluster import DaskCluster
from advisor.rank_work.lost_rank import FactsOfLostRank
from advisor.release import VERSION
from advisor.sources import open_input
from benchmarks.loopback import ROOT, Loopback, end_session
from tests.rank_work.ill_ranks import BareRank, InPlaceOf, Killer, NumberOf, Sleeper
from tests.shared_captures import SharedCaptures

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    """A scheduler and two workers, which are started again when they die."""
    found = Loopback(tmp_path_factory.mktemp("loopback"))
    try:
        found.start_scheduler()
        found.start_workers("--nworkers", "2")
        yield found
    finally:
        found.end()


def facts_of(cluster: DaskCluster, work: NumberOf, ranks: Sequence[Any]) -> list[RankFacts]:
    return list(cluster(work, ranks))


def numbers(parts: Sequence[RankFacts]) -> list[int]:
    """The ranks that gave what was wanted, in order."""
    return [rank for part in parts if isinstance(found := part[Overlap], Table) for rank in found["rank"].tolist()]


def said_of(part: RankFacts) -> str:
    damage = part[Damage]
    assert isinstance(damage, Table)
    return f"{damage.texts('file').values()[0]} {damage.texts('what').values()[0]}"


def test_a_diagnosis_on_a_cluster_is_that_of_one_machine_to_the_byte(
    loopback: Loopback, shared: SharedCaptures, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = shared.written("slow-link", export="text")
    monkeypatch.chdir(capture.parent)
    here = advisor.diagnose(capture.name)
    there = advisor.diagnose(capture.name, on=loopback.address.replace("tcp://", "dask://"))
    assert there.to_json() == here.to_json()


def test_facts_that_a_cluster_writes_are_those_of_one_machine_to_the_byte(
    loopback: Loopback, shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written("slow-link", export="text")
    for name, ways in (("here", []), ("there", ["--on", loopback.address.replace("tcp://", "dask://")])):
        assert main(["facts", str(capture), "-o", str(tmp_path / name), "-q", *ways]) == 0
    here, there = (
        {path.relative_to(store): path.read_bytes() for path in store.rglob("*") if path.is_file()}
        for store in (tmp_path / "here", tmp_path / "there")
    )
    assert there == here
    assert any(path.parent.name == "kernels" for path in here)


def test_a_worker_that_does_not_see_where_facts_are_written_says_so(tmp_path: Path) -> None:
    rows = Table.build(Kernel, rank=np.zeros(1), start_ns=np.zeros(1), duration_us=np.ones(1))
    with pytest.raises(UsageError) as refused:
        StoredEvents(Kernel, str(tmp_path / "elsewhere")).select(rows)
    assert f"does not see {tmp_path / 'elsewhere'}" in str(pickle.loads(pickle.dumps(refused.value)))  # noqa: S301
    assert not (tmp_path / "elsewhere").exists()


def test_the_rank_of_a_worker_that_died_is_done_elsewhere_and_nothing_is_done_twice(
    loopback: Loopback, tmp_path: Path
) -> None:
    ranks = [Killer(number, tmp_path) if number == 2 else BareRank(number) for number in range(12)]
    told: list[int] = []
    cluster = DaskCluster(loopback.address, lambda what, done, total: told.append(done))
    assert numbers(facts_of(cluster, NumberOf(tmp_path / "log"), ranks)) == list(range(12))
    assert sorted(map(int, (tmp_path / "log").read_text().split())) == list(range(12))
    assert told == list(range(13))


def test_a_rank_that_kills_two_workers_is_set_aside_and_the_others_are_diagnosed(
    loopback: Loopback, shared: SharedCaptures
) -> None:
    capture = shared.written("slow-link", export="text")
    run, sources = open_input(capture)
    ill: list[Any] = [InPlaceOf(source) if place == 1 else source for place, source in enumerate(sources)]
    cluster = DaskCluster(loopback.address, silent)
    profile = Profile(run, ill, DERIVATIONS, gather=cluster)
    found = pipeline.diagnose(profile, advisor.load_rules())
    assert sorted({*profile.table(Overlap)["rank"].tolist()}) == [rank for rank in run.ranks if rank != ill[1].rank]
    [damage] = [one for one in found.unread if one.file == ill[1].name]
    assert damage.what_message is not None
    assert "two workers were lost" in (damage.what_message.say("en") or "")
    assert "两个 worker" in (damage.what_message.say("zh") or "")
    rules = {finding.rule: finding for finding in found.findings}
    assert "capture/damaged-input" not in rules
    assert ("these", str(ill[1].rank)) in [(one.name, one.value) for one in rules["capture/rank-set-aside"].evidence]


def test_a_rank_that_hangs_is_set_aside_after_its_time_on_two_workers(loopback: Loopback, tmp_path: Path) -> None:
    ranks = [Sleeper(number) if number == 0 else BareRank(number) for number in range(4)]
    cluster = DaskCluster(loopback.address, silent, rank_limit_s=1.0)
    parts = facts_of(cluster, NumberOf(tmp_path / "log"), ranks)
    assert numbers(parts) == [1, 2, 3]
    assert isinstance(parts[0], FactsOfLostRank)
    assert said_of(parts[0]).startswith("rank_0 was set aside")
    assert "was not done after 1 s" in said_of(parts[0])
    # what else is wanted of it costs no further worker
    again = facts_of(cluster, NumberOf(tmp_path / "log"), ranks)
    assert isinstance(again[0], FactsOfLostRank)


def test_a_worker_that_does_not_see_the_capture_is_named_with_the_path(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here.csv").write_text("1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        facts_of(DaskCluster(loopback.address, silent), NumberOf(tmp_path / "log"), [BareRank(0, Path("here.csv"))])
    assert "does not see here.csv" in str(refused.value)
    assert "tcp://" in str(refused.value)


def test_a_worker_with_another_version_is_refused_in_a_sentence(loopback: Loopback, tmp_path: Path) -> None:
    package = tmp_path / "old" / "advisor"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "release.py").write_text('VERSION = "0.0.9"')
    process = loopback.start_workers("--no-nanny", "--name", "old", path=str(package.parent))
    try:
        _wait_for_workers(loopback.address, 3)
        with pytest.raises(UsageError) as refused:
            facts_of(DaskCluster(loopback.address, silent), NumberOf(tmp_path / "log"), [BareRank(0)])
    finally:
        end_session(process)
    assert f"has advisor 0.0.9, and here it is {VERSION}" in str(refused.value)


def _wait_for_workers(address: str, count: int) -> list[int]:
    """Waits until so many workers are there; gives the numbers of their processes."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
        return list(client.run(os.getpid).values())


def _wait_for_client(address: str) -> None:
    """Waits until somebody else than who asks is connected: a command takes seconds to begin on a busy machine."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if len(client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.clients])) > _OWN_CLIENTS:
                return
            time.sleep(0.1)
    raise TimeoutError(f"nobody connected to {address}")


_OWN_CLIENTS = 2
"""The one that asks, and one that Dask counts for what it was sent to forget."""


_INTERRUPTIBLE = (
    "import runpy, signal\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs tests in the background ignores it\n"
    "runpy.run_module('advisor', run_name='__main__')\n"
)


def test_ctrl_c_ends_the_command_and_leaves_no_process(loopback: Loopback, shared: SharedCaptures) -> None:
    workers = _wait_for_workers(loopback.address, 2)
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        words = ["diagnose", str(shared.written("slow-link", export="text")), "-q", "--on", loopback.address]
        command = subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, *words],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _wait_for_client(loopback.address)
        time.sleep(1)  # it asks the workers, which do not answer
        assert command.poll() is None
        os.killpg(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=30)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
    assert command.returncode == 128 + signal.SIGINT
    assert b"Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.killpg(command.pid, 0)


def test_it_is_told_which_worker_reads_which_rank(loopback: Loopback, tmp_path: Path) -> None:
    told: list[Sequence[WorkerState]] = []
    cluster = DaskCluster(loopback.address, silent, workers_told=told.append)
    facts_of(cluster, NumberOf(tmp_path / "log"), [BareRank(number) for number in range(20, 26)])
    seen = [state for states in told for state in states]
    assert {state.rank for state in seen if state.rank is not None} == set(range(20, 26))
    assert sum(state.done for state in told[-1]) == 6
    assert {len(states) for states in told} <= {0, 1, 2}
    assert all(state.seconds >= 0 for state in seen)


def test_a_lost_scheduler_is_told_with_how_much_was_done(tmp_path: Path) -> None:
    own = Loopback(tmp_path)
    try:
        scheduler = own.start_scheduler()
        own.start_workers("--no-nanny")
        parts = DaskCluster(own.address, silent)(NumberOf(tmp_path / "log"), [BareRank(0), Sleeper(1)])
        next(iter(parts))
        end_session(scheduler)
        with pytest.raises(ClusterLost) as lost:
            list(parts)
    finally:
        own.end()
    assert str(lost.value).startswith(f"the scheduler {own.address} is gone")
    assert "1 of 2 ranks were done" in str(lost.value)
    assert "2 个 rank 中已完成 1 个" in lost.value.say("zh")


def test_a_worker_whose_coming_was_not_heard_of_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it comes between the question who is there and the wish to hear who comes."""
    monkeypatch.setattr("distributed.Client.subscribe_topic", lambda *_: None)
    own = Loopback(tmp_path)
    try:
        own.start_scheduler()
        cluster = DaskCluster(own.address, silent, patience_s=40)
        starts = Timer(2, own.start_workers, ["--no-nanny"])
        starts.start()
        assert numbers(facts_of(cluster, NumberOf(tmp_path / "log"), [BareRank(0), BareRank(1)])) == [0, 1]
        starts.join()
    finally:
        own.end()


def test_nobody_who_answers_is_told_with_what_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_work, "CONNECT_S", 0.5)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at dask://127\.0\.0\.1:1"):
        list(DaskCluster("dask://127.0.0.1:1", silent)(NumberOf(Path("log")), [BareRank(0)]))


@pytest.mark.parametrize("address", ["", "host:8786", "dask://", "dask://host", "dask:// :1"])
def test_what_is_no_address_is_refused_before_anything_is_read(address: str) -> None:
    from advisor.rank_work.cluster_asked import ClusterAsked

    with pytest.raises(UsageError, match="is no address of a Dask scheduler"):
        ClusterAsked(address)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.rank_work.cluster_asked import ClusterAsked

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'ascend-advisor\[cluster\]'"):
        ClusterAsked("dask://host:8786")


def test_nothing_of_a_lost_rank_is_there_but_why() -> None:
    from advisor.messages.message import Message
    from advisor.rank_work.lost_rank import LostRank

    lost = LostRank(BareRank(7), Message("worker_died"))
    with pytest.raises(FactMissing) as missing:
        lost.read(Overlap)
    assert missing.value.unreadable == ("rank_7",)
    assert lost.read(Damage)["rank"].tolist() == [7]


def test_what_is_done_is_given_before_a_rank_that_takes_long(loopback: Loopback, tmp_path: Path) -> None:
    ranks = [Sleeper(0, 3), *(BareRank(number) for number in range(1, 6))]
    arrivals = [
        one.first for one in DaskCluster(loopback.address, silent).as_they_come(NumberOf(tmp_path / "log"), ranks)
    ]
    assert sorted(arrivals) == [0, 1, 2, 3, 4, 5]
    assert arrivals[-1] == 0


def test_where_workers_are_lost_over_every_rank_nothing_is_diagnosed(loopback: Loopback, tmp_path: Path) -> None:
    cluster = DaskCluster(loopback.address, silent, rank_limit_s=1.0)
    with pytest.raises(WorkerLost, match=r"over every rank \(was not done after 1 s\)") as lost:
        facts_of(cluster, NumberOf(tmp_path / "log"), [Sleeper(0)])
    assert "--rank-limit" in str(lost.value.hint)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Of something that takes connections, reads what is sent and says nothing, as servers of pages do."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_what_is_no_scheduler_is_told_within_its_time(silent_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_work, "CONNECT_S", 1.0)
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"what answers at dask://\S+ is no Dask scheduler") as refused:
        list(DaskCluster(f"dask://127.0.0.1:{silent_port}", silent)(NumberOf(Path("log")), [BareRank(0)]))
    assert time.monotonic() - began < 10
    assert "prints as tcp://" in str(refused.value)


def test_a_server_of_pages_is_told_apart_from_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(cluster_work, "CONNECT_S", 1.0)
        with pytest.raises(UsageError, match="is no Dask scheduler"):
            list(DaskCluster(f"tcp://127.0.0.1:{server.server_port}", silent)(NumberOf(Path("log")), [BareRank(0)]))
        server.shutdown()


def test_nothing_but_our_sentence_is_said_when_the_scheduler_dies(shared: SharedCaptures, tmp_path: Path) -> None:
    capture = shared.written("slow-link", export="text")
    own = Loopback(tmp_path)
    try:
        scheduler = own.start_scheduler()
        own.start_workers("--no-nanny")
        for worker in _wait_for_workers(own.address, 1):
            os.kill(worker, signal.SIGSTOP)
        words = [sys.executable, "-m", "advisor", "diagnose", str(capture), "-q", "--lang", "en", "--on", own.address]
        command = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _wait_for_client(own.address)
        time.sleep(1)
        scheduler.kill()
        _, said = command.communicate(timeout=60)
    finally:
        own.end()
    assert command.returncode == 4
    assert len(said.splitlines()) <= 2 and "is gone" in said, said


def few_ranks(
    shared: SharedCaptures, batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[Any]]:
    """A small job of several ranks, which are given out in these batches."""
    monkeypatch.setattr(DaskCluster, "batches", lambda *_: batches)
    run, sources = open_input(shared.written("slow-link", export="text"))
    return run, list(sources)


def test_small_ranks_are_worked_on_together_and_give_the_same(
    loopback: Loopback, shared: SharedCaptures, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, sources = few_ranks(shared, [[0, 1, 2, 3]], monkeypatch)
    told: list[Sequence[WorkerState]] = []
    cluster = DaskCluster(loopback.address, silent, workers_told=told.append)
    profile = Profile(run, sources, DERIVATIONS, gather=cluster)
    found = pipeline.diagnose(profile, advisor.load_rules())
    assert found.to_json() == shared.diagnosed("slow-link", export="text").to_json()
    assert {state.rank for states in told for state in states if state.rank is not None} == {run.ranks[0]}


def test_of_small_ranks_that_kill_their_worker_together_each_is_read_alone(
    loopback: Loopback, shared: SharedCaptures, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, sources = few_ranks(shared, [[0, 1, 2, 3]], monkeypatch)
    ill = [InPlaceOf(source) if place == 1 else source for place, source in enumerate(sources)]
    profile = Profile(run, ill, DERIVATIONS, gather=DaskCluster(loopback.address, silent))
    assert sorted({*profile.table(Overlap)["rank"].tolist()}) == [rank for rank in run.ranks if rank != ill[1].rank]


@pytest.mark.parametrize(("limit", "together"), [(None, True), (600.0, True), (5.0, False)])
def test_ranks_that_may_take_little_time_are_read_one_by_one(
    shared: SharedCaptures, limit: float | None, together: bool
) -> None:
    _, sources = open_input(shared.written("slow-link", export="text"))
    work = FactsWanted({}, Makers({}), (), {}, 1)
    batches = DaskCluster("dask://host:1", silent, limit).batches(work, sources, 1)
    assert [number for batch in batches for number in batch] == [0, 1, 2, 3]
    assert (max(map(len, batches)) > 1) == together
