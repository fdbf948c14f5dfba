# SPDX-License-Identifier: Apache-2.0
"""Small ranks are derived from together, and nobody can tell: each has the facts it has alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
import corpus
from advisor import pipeline
from advisor.analysis import DERIVATIONS
from advisor.facts.derivation import Makers
from advisor.facts.derived import Overlap, StepSpan
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import (
    FactsWanted,
    RankFacts,
    ReadTable,
    Source,
    _in_order_of_ranks,
    fact_of_wanted,
    rank_by_rank,
    ranks_in,
)
from advisor.facts.selection import Selected
from advisor.facts.table import Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.model.progress import silent
from advisor.pipeline import open_profile, prepare_exhibits
from advisor.rank_work.batches import MOST_TOGETHER, TOGETHER_BYTES, batches_of_ranks
from advisor.rank_work.local import LocalProcesses
from advisor.sources import open_input
from advisor.sources.files import csvfile
from corpus.cases import setup_of, small_setup
from tests.every_export import CAPTURES, REAL
from tests.rank_work.ill_ranks import BareRank, InPlaceOf
from tests.shared_captures import SharedCaptures


def plain_of(table: ReadTable) -> object:
    """What there is to see of a table, to the last bit, and why it is missing."""
    if isinstance(table, FactMissing):
        return table.say("en"), table.say("zh")
    if isinstance(table, Selected):
        return plain_of(table.rows), table.stands_for.tolist()
    return {name: [*found.values()] if isinstance(found, Texts) else found.tobytes() for name, found in table.columns()}


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ranks were derived from together, time by time."""
    seen: list[int] = []
    derive = FactsWanted._derive_together

    def counted(work: FactsWanted, ranks: Sequence[int], read: Sequence[RankFacts]) -> list[RankFacts]:
        seen.append(len(ranks))
        return derive(work, ranks, read)

    monkeypatch.setattr(FactsWanted, "_derive_together", counted)
    return seen


def facts_that_differ(folder: Path) -> set[str]:
    """The facts that reports want which a rank has otherwise in a batch than alone."""
    different: set[str] = set()

    def both_ways(work: FactsWanted, sources: Sequence[Source]) -> Iterator[RankFacts]:
        for source, part in zip(sources, rank_by_rank(work.of_several(sources)), strict=True):
            alone = work(source)
            assert [*part] == [*alone]
            differs = [asked for asked in alone if plain_of(part[asked]) != plain_of(alone[asked])]
            different.update(fact_of_wanted(asked).table for asked in differs)
            yield part

    profile = open_profile(folder, jobs=1)
    profile._gather = both_ways  # type: ignore[assignment]
    prepare_exhibits(profile, advisor.load_rules())
    return different


@pytest.mark.parametrize(("case", "how"), CAPTURES)
def test_a_rank_has_the_facts_in_a_batch_that_it_has_alone(
    case: str, how: dict[str, Any], shared: SharedCaptures
) -> None:
    assert facts_that_differ(shared.written(case, small=True, **how)) == set()


@pytest.mark.parametrize("capture", REAL)
def test_a_recorded_rank_too(capture: str, real_data: Path) -> None:
    assert facts_that_differ(real_data / capture) == set()


def test_recorded_ranks_that_are_alike_are_derived_from_together(real_data: Path, sizes: list[int]) -> None:
    facts_that_differ(real_data / "msinsight_pytorch_matrix/text/level1")
    assert sizes == [2]


def test_a_rank_that_tells_which_ranks_each_group_has_is_derived_from_with_the_others(
    shared: SharedCaptures, sizes: list[int]
) -> None:
    """Nothing is made of that rank by rank."""
    folder = shared.written("expert-imbalance", small=True)
    assert facts_that_differ(folder) == set()
    assert sizes == [len(open_profile(folder).run.ranks)]


def test_a_rank_that_tells_more_is_derived_from_by_itself(
    shared: SharedCaptures, tmp_path: Path, sizes: list[int]
) -> None:
    folder = shutil.copytree(
        shared.written("expert-imbalance", small=True), tmp_path / "job", copy_function=shutil.copyfile
    )
    next(folder.rglob("operator_memory.csv")).unlink()
    assert facts_that_differ(folder) == set()
    assert sizes == [len(open_profile(folder).run.ranks) - 1]


def test_facts_of_ranks_that_were_derived_from_together_come_as_one(shared: SharedCaptures) -> None:
    """And are sent so to the process that puts ranks together: a table for several of them, and not one for each."""
    profile = open_profile(shared.written("expert-imbalance", small=True), jobs=1)
    parts: list[RankFacts] = []

    def kept(work: Any, sources: Sequence[Source]) -> Iterator[RankFacts]:
        for part in LocalProcesses(1, silent)(work, sources):
            parts.append(part)
            yield part

    profile._gather = kept
    profile.prepare([Overlap])
    assert sum(map(ranks_in, parts)) == len(profile.run.ranks)
    assert max(map(ranks_in, parts)) > 1


def test_ranks_between_which_another_kind_lies_keep_their_places(
    shared: SharedCaptures, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = FactsWanted._what_is_there

    def as_if_every_third_had_more(work: FactsWanted, source: Any, found: RankFacts) -> tuple[object, ...] | None:
        there = look(work, source, found)
        return None if there is None else (*there, source.sole_rank % 3 == 0)

    monkeypatch.setattr(FactsWanted, "_what_is_there", as_if_every_third_had_more)
    assert facts_that_differ(shared.written("expert-imbalance", small=True)) == set()


@given(st.lists(st.integers(0, 3), max_size=30), st.permutations(range(3)))
def test_rows_are_put_in_the_order_of_ranks_and_keep_it_within_each(of: list[int], ranks: list[int]) -> None:
    """Rows of other ranks are left out."""
    table = Table.build(Overlap, rank=of, step=[*range(len(of))])
    found, lengths = _in_order_of_ranks(table, ranks)
    expected = [(rank, step) for rank in ranks for step, one in enumerate(of) if one == rank]
    assert [*zip(found["rank"].tolist(), found["step"].tolist(), strict=True)] == expected
    assert lengths == [of.count(rank) for rank in ranks]


class Sized(BareRank):
    """A rank of so many bytes."""

    def __init__(self, number: int, size_bytes: int) -> None:
        super().__init__(number)
        self.size_bytes = size_bytes


@given(st.lists(st.integers(0, TOGETHER_BYTES // 4), max_size=60), st.integers(1, 8), st.data())
def test_every_rank_is_in_one_batch_and_none_is_longer_or_larger_than_is_said_or_has_a_gap(
    sizes_bytes: list[int], workers: int, data: st.DataObject
) -> None:
    sources = [Sized(number, size) for number, size in enumerate(sizes_bytes)]
    numbers = [number for number in range(len(sources)) if data.draw(st.booleans())]
    found = batches_of_ranks(FactsWanted({}, Makers({}), (), {}, 1), sources, numbers, workers)
    assert [number for batch in found for number in batch] == numbers
    assert all(1 <= len(batch) <= MOST_TOGETHER for batch in found)
    assert all(batch == [*range(batch[0], batch[0] + len(batch))] for batch in found)
    assert all(len(batch) == 1 or sum(sizes_bytes[one] for one in batch) <= TOGETHER_BYTES for batch in found)
    assert all(len(batch) <= -(-len(numbers) // workers) for batch in found)


def test_other_work_is_done_rank_by_rank() -> None:
    sources = [BareRank(number) for number in range(5)]
    assert batches_of_ranks(lambda _: {}, sources, range(5), 1) == [[0], [1], [2], [3], [4]]


def test_of_a_batch_only_the_rank_that_workers_die_over_is_lost(shared: SharedCaptures) -> None:
    run, sources = open_input(shared.written("expert-imbalance", small=True))
    ill: list[Any] = [InPlaceOf(source) if place == 2 else source for place, source in enumerate(sources)]
    profile = Profile(run, ill, DERIVATIONS, gather=LocalProcesses(2, silent))
    found = pipeline.diagnose(profile, advisor.load_rules())
    others = sorted(source.rank for source in ill if not isinstance(source, InPlaceOf))
    assert sorted({*profile.table(Overlap)["rank"].tolist()}) == others
    assert [one.file for one in found.unread] == [ill[2].name]
    further = profile.table(StepSpan)  # and what is asked for later is of the same ranks
    assert sorted({*further["rank"].tolist()}) == others


def test_small_text_tables_of_ranks_are_parsed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank takes more calls of the parser than cells; what is damaged is still parsed by itself, and told."""
    alone: list[str] = []
    read_columns = csvfile.read_columns

    def counted(path: Path, *words: Any) -> dict[str, Values]:
        alone.append(path.name)
        return read_columns(path, *words)

    setup = small_setup(setup_of("slow-link"))
    setup = replace(setup, workload=replace(setup.workload, layers=1, steps=2))  # type: ignore[call-arg]
    profile = open_profile(corpus.write(corpus.job("slow-link", setup=setup), tmp_path), jobs=1)
    monkeypatch.setattr(csvfile, "read_columns", counted)
    prepare_exhibits(profile, advisor.load_rules())
    assert len(profile.run.ranks) > 1
    assert not alone
