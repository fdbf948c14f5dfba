# SPDX-License-Identifier: Apache-2.0
"""The ways through a diagnosis that save time say the same as the plain one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.analysis import DERIVATIONS
from advisor.engine.needed_tables import wanted_by
from advisor.facts.base import Fact
from advisor.facts.derivation import fact_of_derivation, needs_of_derivation
from advisor.facts.derived import HostCost, LaunchDelay
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import fact_of_wanted
from advisor.pipeline import ALWAYS, diagnose, judge_profile, measured_run, open_profile, prepare_exhibits
from advisor.report.places import number_ranges
from advisor.report.prose import flat_text
from advisor.report.run_summary import run_facts
from advisor.summary.chart_data import CHARTED

MAKERS = {fact_of_derivation(derivation): derivation for derivation in DERIVATIONS}


def behind(fact: type[Fact]) -> set[type[Fact]]:
    """A fact and everything it rests on."""
    if fact.observed:
        return {fact}
    return {fact}.union(
        *(behind(need) for need, _ in needs_of_derivation(MAKERS[fact]).values() if issubclass(need, Fact))
    )


def of_events(fact: type[Fact]) -> bool:
    return fact.heavy or fact.among_events


def spy(profile: Profile) -> list[type[Fact]]:
    """The facts that are read from now on."""
    read: list[type[Fact]] = []
    (source,) = profile._sources
    plain = source.read

    def told(fact: type[Fact]) -> object:
        read.append(fact)
        return plain(fact)

    object.__setattr__(source, "read", told)
    return read


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One rank of a generated job, small enough for every way of reading it."""
    folder = corpus.write(corpus.job("python-busy"), tmp_path_factory.mktemp("job"))
    return next(folder.glob("*_ascend_pt"))


def test_a_diagnosis_wants_everything_that_rests_on_events() -> None:
    """So reading it before the rules are known reads no more than they want; it wants nothing made on request."""
    catalog = advisor.load_rules()
    resting = {fact for fact in MAKERS if any(map(of_events, behind(fact)))}
    asked = {fact_of_wanted(one) for one in (*wanted_by(catalog.rules), *CHARTED, *ALWAYS)}
    wanted = {need for fact in asked for need in behind(fact)}
    assert {fact for fact in resting if not fact.on_request} <= wanted
    assert not [fact.table for fact in wanted if fact.on_request]


@pytest.mark.parametrize("ahead", [True, False])
def test_what_is_made_on_request_is_not_made_in_a_diagnosis(one_rank: Path, ahead: bool) -> None:
    catalog = advisor.load_rules()
    profile = open_profile(one_rank)
    judge_profile(profile, catalog, prepare_exhibits(profile)) if ahead else diagnose(profile, catalog)
    made = {fact for fact in profile._found if isinstance(fact, type) and not fact.observed}
    assert LaunchDelay in made and HostCost not in made
    assert len(profile.table(HostCost))


def test_what_is_read_before_the_rules_are_known_changes_nothing(one_rank: Path) -> None:
    catalog = advisor.load_rules()
    profile = open_profile(one_rank)
    ahead = judge_profile(profile, catalog, prepare_exhibits(profile))
    assert ahead.model_dump_json() == diagnose(open_profile(one_rank), catalog).model_dump_json()


def test_events_are_read_once(one_rank: Path) -> None:
    profile = open_profile(one_rank)
    prepare_exhibits(profile)
    read = spy(profile)
    judge_profile(profile, advisor.load_rules(), ())
    assert not [fact.table for fact in read if of_events(fact)]


@pytest.mark.parametrize("large", [False, True])
def test_events_are_read_once_where_the_rules_are_known_before(
    one_rank: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """What a large capture lets go of while it is read is not wanted again."""
    monkeypatch.setattr("advisor.facts.profile.BESIDE_WORTH_BYTES", 0 if large else 1 << 40)
    catalog = advisor.load_rules()
    profile = open_profile(one_rank)
    read = spy(profile)
    judge_profile(profile, catalog, prepare_exhibits(profile, catalog))
    events = [fact.table for fact in read if of_events(fact)]
    assert len(events) == len(set(events))


def test_deriving_in_threads_changes_nothing(one_rank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = diagnose(open_profile(one_rank), advisor.load_rules()).model_dump_json()
    monkeypatch.setattr("advisor.facts.profile.BESIDE_WORTH_BYTES", 0)
    assert diagnose(open_profile(one_rank), advisor.load_rules()).model_dump_json() == alone


def test_a_recording_that_is_long_enough_to_let_go_of_more_is_told_the_same(
    one_rank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = diagnose(open_profile(one_rank), advisor.load_rules()).model_dump_json()
    monkeypatch.setattr("advisor.facts.profile.BESIDE_WORTH_BYTES", 0)
    for module in ("facts.rank_facts", "analysis.replay.replay"):
        monkeypatch.setattr(f"advisor.{module}.LONG", 1)
    monkeypatch.setattr("advisor.facts.table._KEYS_AT_ONCE", 7)
    monkeypatch.setattr("advisor.sources.files.database._AT_ONCE", 7)
    monkeypatch.setattr("advisor.facts.table._WORTH_CODING", 1)
    monkeypatch.setattr("advisor.facts.rank_facts.LARGE_BYTES", 0)
    assert diagnose(open_profile(one_rank), advisor.load_rules()).model_dump_json() == whole


def test_a_diagnosis_changes_nothing_of_the_profile_it_is_made_from(one_rank: Path) -> None:
    profile = open_profile(one_rank)
    run = profile.run
    diagnosed = diagnose(profile, advisor.load_rules()).run
    assert profile.run is run
    assert measured_run(profile) == diagnosed
    assert diagnosed.step_us > 0 and diagnosed.sides == "both"


def test_steps_whose_beginnings_were_not_given_are_counted_and_not_called_unmarked(
    one_rank: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(one_rank, tmp_path / one_rank.name)
    (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    details = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    rows = [line.split(",", 1) for line in details.read_text("utf-8").splitlines(keepends=True)]
    assert rows[0][0] == "Step Id"
    details.write_text("".join(rest for _, rest in rows), "utf-8")
    run = diagnose(open_profile(folder), advisor.load_rules()).run
    assert run.steps == () and run.unplaced_steps == open_profile(one_rank).run.steps
    numbers = number_ranges(run.unplaced_steps, "en")
    assert f"{len(run.unplaced_steps)} ({numbers})" in flat_text(run_facts(run, "en")["Steps recorded"])
