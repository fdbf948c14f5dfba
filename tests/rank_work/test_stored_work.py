# SPDX-License-Identifier: Apache-2.0
"""A cache changes how long a diagnosis takes and nothing else: the same bytes, from whatever lies in its folder."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import advisor
import corpus
from advisor.fact_store.cache_folder import CacheFolder
from advisor.facts.derived import CollectiveCall, OperatorShare
from advisor.facts.observed import Damage, Kernel
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import RankFacts, Source
from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.model.findings import Diagnosis
from advisor.model.progress import silent
from advisor.pipeline import diagnose, open_profile, write_facts
from advisor.rank_work.arrivals import Arrival
from advisor.rank_work.batches import SourceWork
from advisor.rank_work.lost_rank import FactsOfLostRank, LostRank
from advisor.rank_work.stored_work import StoredWork
from advisor.rules.catalog import Catalog
from corpus.cases import Setup, with_few_layers
from corpus.workloads import WORKLOADS
from tests.every_export import CAPTURES, REAL
from tests.shared_captures import SharedCaptures

OLD_S = 1_700_000_000
CATALOG = advisor.load_rules()
AMONG_RANKS = CATALOG.select(["ranks/*", "comm/*", "pipeline/*", "capture/*"])
"""What depends on which ranks there are and what their files hold: enough for tests of when a rank is read again. That
all that any rule says is the same from a cache is held by tests of every export and of real captures."""


@pytest.fixture
def capture(shared: SharedCaptures, tmp_path: Path) -> Path:
    """A capture of several ranks of one's own, recorded some time ago."""
    return old_copy(shared.written("slow-rank-compute", small=True), tmp_path)


@pytest.fixture(scope="module")
def plain(shared: SharedCaptures) -> str:
    """What is said of it without a cache."""
    return diagnosed(shared.written("slow-rank-compute", small=True), None)


class Kept(NamedTuple):
    """A capture that was diagnosed with a cache; tests change a copy of the cache alone."""

    capture: Path
    cache: Path

    def cache_in(self, folder: Path) -> Path:
        """A copy of the cache."""
        return shutil.copytree(self.cache, folder / "cache")


@pytest.fixture(scope="module")
def kept(shared: SharedCaptures, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """What was kept of the same capture, made once."""
    folder = tmp_path_factory.mktemp("kept")
    capture = old_copy(shared.written("slow-rank-compute", small=True), folder)
    diagnosed(capture, CacheFolder(folder / "cache"))
    return Kept(capture, folder / "cache")


def old_copy(source: Path, folder: Path) -> Path:
    """A copy of the same name, as the diagnosis says it, whose files are old."""
    target = shutil.copytree(source, folder / source.name)
    for path in target.rglob("*"):
        os.utime(path, (OLD_S, OLD_S))
    return target


def files_of(capture: Path, name: str) -> list[Path]:
    return sorted(capture.rglob(name))


class CountedCache(CacheFolder):
    """Counts what was asked for and was there, and what was not."""

    hits = misses = 0

    def read_entry(self, key: str) -> bytes | None:
        found = super().read_entry(key)
        self.hits += found is not None
        self.misses += found is None
        return found


def diagnosed(capture: Path, cache: CacheFolder | None, jobs: int = 1, rules: Catalog = AMONG_RANKS) -> str:
    return diagnose(open_profile(capture, jobs=jobs, cache=cache), rules).to_json()


def counted(capture: Path, folder: Path, jobs: int = 1, rules: Catalog = AMONG_RANKS) -> tuple[str, int, int]:
    """The diagnosis, and how many ranks were taken from the cache and how many were read."""
    cache = CountedCache(folder)
    said = diagnosed(capture, cache, jobs, rules)
    return said, cache.hits, cache.misses


def check_same_from_cache(capture: Path, folder: Path, plain: str) -> None:
    """All that any rule says."""
    first, hits, misses = counted(capture, folder, rules=CATALOG)
    again, hits_again, misses_again = counted(capture, folder, rules=CATALOG)
    assert (hits, misses_again) == (0, 0)
    assert misses > 0 and hits_again == misses
    assert first == plain and again == plain


@pytest.mark.parametrize(("case", "options"), CAPTURES)
def test_a_diagnosis_from_the_cache_is_the_first_one_to_the_byte(
    shared: SharedCaptures, tmp_path: Path, case: str, options: dict[str, object]
) -> None:
    written = shared.written(case, small=True, **options)  # type: ignore[arg-type]
    check_same_from_cache(old_copy(written, tmp_path), tmp_path / "cache", shared.diagnosis(written).to_json())


@pytest.mark.parametrize("name", REAL)
def test_of_real_captures_too(real_data: Path, shared: SharedCaptures, tmp_path: Path, name: str) -> None:
    check_same_from_cache(real_data / name, tmp_path / "cache", shared.diagnosis(real_data / name).to_json())


def test_of_facts_that_were_written_too(capture: Path, shared: SharedCaptures, tmp_path: Path) -> None:
    whole = shared.diagnosed("slow-rank-compute", small=True).to_json()
    write_facts(open_profile(capture), tmp_path / "facts")
    check_same_from_cache(old_copy(tmp_path / "facts", tmp_path / "old"), tmp_path / "cache", whole)


def of_few_micro_batches(workload: str) -> Setup:
    """The same ranks, stages and groups, with less in a step."""
    setup = with_few_layers(WORKLOADS[workload])
    return replace(setup, workload=replace(setup.workload, micro_batches=2))  # type: ignore[call-arg]


OF_MANY: list[tuple[str, Setup | None, dict[str, Any]]] = [
    ("slow-link", None, {}),
    ("slow-link", None, {"export": "database"}),
    ("expert-imbalance", None, {"level": 2}),
    ("uneven-stages", of_few_micro_batches("pipeline"), {"export": "database", "level": 0}),
    ("slow-rank-compute", of_few_micro_batches("tensor"), {}),
]
"""Jobs of four ranks."""


@pytest.mark.parametrize(("case", "setup", "options"), OF_MANY)
def test_when_a_rank_comes_goes_or_changes_the_others_are_taken_from_the_cache(
    shared: SharedCaptures, tmp_path: Path, case: str, setup: Setup | None, options: dict[str, Any]
) -> None:
    if setup is None:
        written = shared.written(case, **options)
    else:
        written = corpus.write(corpus.job(case, setup=setup), tmp_path / "job" / case, **options)
    capture, folder = old_copy(written, tmp_path), tmp_path / "cache"
    places = sorted(capture.glob("*_ascend_pt"))

    def check_read_anew(count: int, plain: str | None = None) -> str:
        said, hits, misses = counted(capture, folder)
        assert said == (plain or diagnosed(capture, None))
        assert misses == count
        assert hits == sum(place.exists() for place in places) - misses
        return said

    aside = places[1].rename(tmp_path / places[1].name)
    without_one = check_read_anew(3)
    aside.rename(places[1])
    check_read_anew(1)
    places[1].rename(aside)
    check_read_anew(0, plain=without_one)
    (grown,) = places[2].glob("profiler_info_*.json")
    grown.write_bytes(grown.read_bytes() + b" ")
    os.utime(grown, (OLD_S, OLD_S))
    check_read_anew(1, plain=without_one)  # a space at its end says nothing


def test_of_ranks_that_wait_for_another_one_it_is_told_whether_that_was_captured(
    shared: SharedCaptures, tmp_path: Path
) -> None:
    """What is read of them is the same with and without it, and what that means is not."""
    capture, folder = old_copy(shared.written("slow-rank-data"), tmp_path), tmp_path / "cache"
    slow = sorted(capture.glob("*_ascend_pt"))[-1]

    def waits_for_absent(cache: CacheFolder | None) -> list[float]:
        profile = open_profile(capture, jobs=1, cache=cache)
        calls = profile.table(CollectiveCall)
        return calls["absent_us"][calls["rank"] < 3].tolist()

    assert sum(waits_for_absent(CacheFolder(folder))) == 0
    slow.rename(tmp_path / slow.name)
    cache = CountedCache(folder)
    found = waits_for_absent(cache)
    assert (cache.hits, cache.misses) == (3, 0)
    assert found == waits_for_absent(None)
    assert sum(found) > 0


def test_several_processes_do_what_is_not_there(capture: Path, plain: str, tmp_path: Path) -> None:
    for jobs, hits in ((2, 0), (1, 2), (2, 2)):
        assert counted(capture, tmp_path / "cache", jobs)[:2] == (plain, hits)


def changed_name(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"MatMul", b"MatMux"))
    os.utime(file, (OLD_S, OLD_S))


def touched(file: Path) -> None:
    os.utime(file, (OLD_S + 9, OLD_S + 9))


def replaced(file: Path) -> None:
    shutil.copy2(file, file.with_suffix(".new"))
    os.replace(file.with_suffix(".new"), file)


@pytest.mark.parametrize("change", [changed_name, touched, replaced])
def test_a_file_that_changed_is_read_again(capture: Path, tmp_path: Path, change: Callable[[Path], None]) -> None:
    before = diagnosed(capture, CacheFolder(tmp_path / "cache"))
    change(files_of(capture, "kernel_details.csv")[0])
    said, hits, misses = counted(capture, tmp_path / "cache")
    assert (hits, misses) == (1, 1)
    assert said == diagnosed(capture, None)
    assert (said == before) == (change is not changed_name)


def test_a_file_that_is_new_is_read(capture: Path, tmp_path: Path) -> None:
    diagnosed(capture, CacheFolder(tmp_path / "cache"))
    (capture / "advisor_env.json").write_text('{"advisor_env": 1, "env": {"TASK_QUEUE_ENABLE": "0"}}', "utf-8")
    os.utime(capture / "advisor_env.json", (OLD_S, OLD_S))
    assert counted(capture, tmp_path / "cache")[0] == diagnosed(capture, None)


def test_files_that_were_written_just_now_are_not_kept(capture: Path, tmp_path: Path) -> None:
    for file in files_of(capture, "kernel_details.csv"):
        os.utime(file)
    diagnosed(capture, CacheFolder(tmp_path / "cache"))
    assert not list(CacheFolder(tmp_path / "cache").entries())


def test_files_that_change_while_they_are_read_are_not_kept(capture: Path, tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path / "cache")
    profile = open_profile(capture, jobs=1)

    def read_and_change(work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> Iterator[RankFacts]:
        for source in sources:
            yield work(source)
        touched(files_of(capture, "kernel_details.csv")[0])

    def all_at_once(work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> list[RankFacts]:
        return list(read_and_change(work, sources))

    profile._gather = StoredWork(cache, all_at_once, silent)
    profile.prepare([OperatorShare])
    assert len(list(cache.entries())) == 1


def test_a_rank_that_was_set_aside_is_not_kept(capture: Path, tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path / "cache")
    profile = open_profile(capture, jobs=1)

    def lose_first(work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> Iterator[RankFacts]:
        yield FactsOfLostRank(work(LostRank(sources[0], Message("quoted", words="gone"))))
        yield from map(work, sources[1:])

    profile._gather = StoredWork(cache, lose_first, silent)
    profile.prepare([OperatorShare, Damage])
    assert "gone" in str(profile.table(Damage).rows())
    assert len(list(cache.entries())) == 1


def refuse_once(monkeypatch: pytest.MonkeyPatch, file: Path, number: int) -> None:
    """Has the system refuse to open a file, as it does for another user, on another machine or for a while."""
    opened = os.open

    def open_or_refuse(path: Any, *how: Any, **more: Any) -> int:
        if os.fspath(path) == str(file):
            raise OSError(number, os.strerror(number))
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", open_or_refuse)


@pytest.mark.parametrize("name", ["trace_view.json", "kernel_details.csv"])
@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOENT, errno.EIO, errno.ESTALE, errno.EMFILE])
def test_what_one_reader_cannot_see_is_not_kept_for_the_next(
    capture: Path, plain: str, tmp_path: Path, name: str, number: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        refuse_once(patch, files_of(capture, name)[0], number)
        refused = diagnosed(capture, CacheFolder(tmp_path / "cache"))
    assert "capture/damaged-input" in refused
    assert counted(capture, tmp_path / "cache") == (plain, 1, 1)


def test_nor_is_it_where_damage_was_not_asked_for(capture: Path, tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path / "cache")
    with pytest.MonkeyPatch.context() as patch:
        refuse_once(patch, files_of(capture, "kernel_details.csv")[0], errno.EIO)
        open_profile(capture, jobs=1, cache=cache).prepare([OperatorShare])
    assert len(list(cache.entries())) == 1


def test_damage_in_the_content_is_kept(capture: Path, tmp_path: Path) -> None:
    file = files_of(capture, "kernel_details.csv")[0]
    file.write_bytes(b"")
    os.utime(file, (OLD_S, OLD_S))
    first = diagnosed(capture, CacheFolder(tmp_path / "cache"))
    assert counted(capture, tmp_path / "cache") == (first, 2, 0)


def test_ranks_that_are_done_are_kept_before_one_that_takes_long(capture: Path, tmp_path: Path) -> None:
    """Whatever ends the run meanwhile: it goes on from them."""
    cache = CacheFolder(tmp_path / "cache")
    profile = open_profile(capture, jobs=1)

    class LastFirst:
        def __call__(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[RankFacts]:
            raise AssertionError("in order")

        def as_they_come(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]:
            yield Arrival(1, work(sources[1]))
            raise KeyboardInterrupt

    profile._gather = StoredWork(cache, LastFirst(), silent)
    with pytest.raises(KeyboardInterrupt):
        profile.prepare([OperatorShare])
    assert len(list(cache.entries())) == 1


def damage_entry(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "flipped":
        path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    elif how == "foreign":
        path.write_bytes(b"PK\x03\x04" + bytes(5000))
    elif how == "of another":
        shutil.copy(next(other for other in sorted(path.parent.glob("*.advisor-facts")) if other != path), path)
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("how", ["empty", "cut", "flipped", "foreign", "of another", "pipe", "folder"])
def test_an_entry_that_is_none_is_read_from_the_capture(kept: Kept, plain: str, tmp_path: Path, how: str) -> None:
    folder = kept.cache_in(tmp_path)
    damage_entry(sorted(folder.glob("*.advisor-facts"))[0], how)
    assert counted(kept.capture, folder) == (plain, 1, 1)


@pytest.mark.parametrize("content", [b"", b"\x93\x01\x02\x03", b"\xc1", b"\x90", b"\x91\x81\xa4type\xa5table"])
def test_an_entry_whose_content_is_something_else_is_read_from_the_capture(
    kept: Kept, plain: str, tmp_path: Path, content: bytes
) -> None:
    """Its sum is right, as somebody who may write there could make it."""
    cache = CacheFolder(kept.cache_in(tmp_path))
    for entry, head in list(cache.heads()):
        assert cache.write_entry(head.key, content, capture=head.capture, version=head.version)
        assert entry.path.stat().st_size < 1000
    assert diagnosed(kept.capture, cache) == plain


def test_a_cache_that_cannot_be_written_is_told_once_and_the_diagnosis_goes_on(capture: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[Message] = []
    cache = CacheFolder(tmp_path / "file" / "cache", tell=told.append)
    assert diagnosed(capture, cache) == diagnosed(capture, None)
    assert [said.code for said in told] == ["cache_not_written"]


@pytest.mark.parametrize("inside", ["", "cache", "deep/cache"])
def test_a_cache_in_the_input_is_refused(capture: Path, inside: str) -> None:
    before = sorted(capture.rglob("*"))
    with pytest.raises(UsageError, match=rf"(?s)inside the input.*such as {re.escape(str(capture.parent))}"):
        diagnosed(capture, CacheFolder(capture / inside))
    assert sorted(capture.rglob("*")) == before


def test_the_folder_that_is_suggested_in_its_place_is_not_the_input(
    capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(capture.parent)
    with pytest.raises(UsageError) as refused:
        diagnosed(Path(capture.name), CacheFolder(Path(capture.name)))
    assert str(refused.value.hint).endswith(f"{capture.name}-beside")


def test_what_is_unpacked_is_not_kept(capture: Path, tmp_path: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "prof"), "zip", capture))
    os.utime(packed, (OLD_S, OLD_S))
    assert diagnosed(packed, CacheFolder(tmp_path / "cache")) == diagnosed(packed, None)
    assert not (tmp_path / "cache").exists()


def damage_after(profile: Profile) -> list[dict[str, object]]:
    """What is known of damage once kernels were read."""
    profile.table(Kernel)
    return profile.table(Damage).rows()


def test_damage_that_came_to_light_before_is_told_by_a_later_question(capture: Path, tmp_path: Path) -> None:
    """Kernels come from the cache, and what was wrong with their file is asked for later."""
    one = files_of(capture, "kernel_details.csv")[0]
    lines = one.read_text().splitlines()
    one.write_text("\n".join([lines[0], "half a row", *lines[1:]]))
    os.utime(one, (OLD_S, OLD_S))
    rank = one.parents[1]
    plain = damage_after(open_profile(rank))
    assert any("kernel_details.csv" in str(row["file"]) for row in plain)
    open_profile(rank, cache=CacheFolder(tmp_path / "cache")).table(Kernel)
    assert damage_after(open_profile(rank, cache=CacheFolder(tmp_path / "cache"))) == plain
    cache = CountedCache(tmp_path / "cache")
    assert damage_after(open_profile(rank, cache=cache)) == plain
    assert cache.misses == 0


def test_other_rules_thresholds_and_chips_are_not_mixed_up(capture: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    some = CATALOG.select(["host/*"])
    plain = {chip: advisor.diagnose(capture, chip=chip).to_json() for chip in ("910B3", "310P3")}
    plain_of_some = diagnose(open_profile(capture), some).to_json()
    assert len({*plain.values(), plain_of_some}) == 3
    for _ in range(2):
        for chip, said in plain.items():
            assert advisor.diagnose(capture, chip=chip, cache=cache).to_json() == said
        assert diagnose(open_profile(capture, cache=CacheFolder(cache)), some).to_json() == plain_of_some


def _diagnose_often(capture: str, folder: str, expected: str) -> None:
    for _ in range(3):
        assert diagnosed(Path(capture), CacheFolder(Path(folder), 1 << 20)) == expected


def test_runs_at_the_same_time_do_not_disturb_each_other(capture: Path, plain: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")  # they have loaded all that this one has
    given = (str(capture), str(tmp_path / "cache"), plain)
    runs = [context.Process(target=_diagnose_often, args=given) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0, 0]
    assert not list((tmp_path / "cache").glob(".*"))
    assert counted(capture, tmp_path / "cache") == (plain, 2, 0)


def test_a_run_that_was_stopped_is_continued(capture: Path, tmp_path: Path) -> None:
    profile = open_profile(capture, jobs=1, cache=CacheFolder(tmp_path / "cache"))
    wanted = [OperatorShare, Damage]
    parts = profile.read_ranks(wanted)
    next(parts)
    del parts
    cache = CountedCache(tmp_path / "cache")
    open_profile(capture, jobs=1, cache=cache).prepare(wanted)
    assert (cache.hits, cache.misses) == (1, 1)


def test_ranks_that_come_from_the_cache_are_told_as_done(capture: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []

    def listen(what: str, done: int, total: int) -> None:
        told.append((what, done, total))

    for _ in range(2):
        told.clear()
        diagnose(open_profile(capture, jobs=1, progress=listen, cache=CacheFolder(tmp_path / "cache")), AMONG_RANKS)
    assert ("ranks", 2, 2) in told


def test_python_takes_a_cache_and_warns_where_it_cannot_be_written(capture: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="nothing is kept"):
        said: Diagnosis = advisor.diagnose(capture, cache=tmp_path / "file" / "cache")
    assert said.to_json() == advisor.diagnose(capture, cache=tmp_path / "cache").to_json()
    assert len(list(CacheFolder(tmp_path / "cache").entries())) == 2
