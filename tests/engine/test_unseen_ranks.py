# SPDX-License-Identifier: Apache-2.0
"""A rule that could look at some ranks only says so, with the file that the others lack."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import advisor
import corpus
from advisor.engine.unseen_ranks import with_ranks_left_out, with_unseen_last, with_upper_bounds
from advisor.facts.base import Fact
from advisor.facts.derived import Coverage, OperatorShape, OperatorShare, Overlap
from advisor.facts.observed import Kernel, Launch
from advisor.facts.table import Table, read_table
from advisor.model.findings import Confidence, Diagnosis, Finding, Outcome, Place, Saving, Severity
from advisor.model.run import Run
from advisor.pipeline import open_profile
from advisor.rules.catalog import LOST_ROWS, Catalog


def files_of_second_rank(job: Path) -> Path:
    """Where the files of the second of two ranks lie, which are copied to this folder."""
    shutil.copytree(Path(corpus.__file__).parent / "host-bound-2-ranks", job)
    return sorted(job.glob("*_ascend_pt"))[1] / "ASCEND_PROFILER_OUTPUT"


@pytest.fixture(scope="module")
def half_given(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """Two ranks, of which the second lacks its trace."""
    folder = tmp_path_factory.mktemp("captures") / "job"
    (files_of_second_rank(folder) / "trace_view.json").unlink()
    return advisor.diagnose(folder)


def outcome(diagnosis: Diagnosis, rule: str) -> Outcome:
    return next(one for one in diagnosis.outcomes if one.rule == rule)


def test_a_rule_that_lacks_the_file_of_one_rank_says_which_rank_and_which_file(half_given: Diagnosis) -> None:
    bound = outcome(half_given, "host/python-bound")
    assert (bound.outcome, bound.without_ranks) == ("fired", (1,))
    assert bound.reason is not None
    assert bound.reason.en == (
        "judged without rank 1, of which `trace_view.json` is absent: give the whole folder, or parse it again"
    )
    assert "缺少 `trace_view.json`" in bound.reason.zh


@pytest.mark.parametrize("absent", [(), ("step_trace_time.csv",)])
def test_a_rule_names_the_file_that_cannot_be_read_and_none_that_it_could_do_without(
    absent: Collection[str], tmp_path: Path
) -> None:
    files = files_of_second_rank(tmp_path / "job")
    (files / "trace_view.json").write_text("no trace", "utf-8")
    for name in absent:
        (files / name).unlink()
    diagnosis = advisor.diagnose(tmp_path / "job")
    bound = outcome(diagnosis, "host/python-bound")
    assert (bound.outcome, bound.without_ranks) == ("fired", (1,))
    assert bound.reason is not None
    assert bound.reason.en == (
        "judged without rank 1, of which `trace_view.json` cannot be read: give it as the profiler wrote it, or parse "
        "it again"
    )
    assert "`trace_view.json` 无法读取" in bound.reason.zh
    assert outcome(diagnosis, "compute/cast-excess").without_ranks == ()


def test_of_a_single_rank_a_rule_says_what_it_judged_without_and_no_rank(tmp_path: Path) -> None:
    files = files_of_second_rank(tmp_path / "job")
    (files / "trace_view.json").write_text("no trace", "utf-8")
    reasons = [one.reason for one in advisor.diagnose(files.parent).outcomes if one.outcome in ("fired", "quiet")]
    said = {reason.en for reason in reasons if reason is not None}
    assert said == {
        "judged without what `trace_view.json` would tell, which cannot be read: give it as the profiler wrote it, "
        "or parse it again"
    }


def test_a_rule_that_needs_other_files_says_nothing(half_given: Diagnosis) -> None:
    for rule in ("host/free-time", "compute/cast-excess"):
        assert (outcome(half_given, rule).without_ranks, outcome(half_given, rule).reason) == ((), None)


def test_it_is_said_once_among_what_was_not_checked(half_given: Diagnosis) -> None:
    from advisor.report.diagnosis.outcomes import not_checked

    said = [group for group in not_checked(half_given.outcomes, "en") if "python-bound" in " ".join(group.rules)]
    assert len(said) == 1
    assert len(said[0].rules) > 3


def test_a_whole_run_has_no_such_ranks() -> None:
    whole = advisor.diagnose(Path(corpus.__file__).parent / "host-bound-2-ranks")
    assert not [one.rule for one in whole.outcomes if one.without_ranks]


class ProfileOf(Struct):
    """A profile that lost these tables on rank 1, of rules that read what rests on all of them."""

    lost: dict[str, float]
    split: Table[Overlap] = Table.empty(Overlap)

    def table(self, fact: type[Any]) -> Table[Any]:
        if fact is Overlap:
            return self.split
        assert fact is Coverage
        found = list(self.lost.values())
        return Table.build(Coverage, rank=[1] * len(found), of=list(self.lost), needed=100.0, matched=found)

    def observed_behind(self, fact: type[Fact]) -> Collection[type[Fact]]:
        return (Kernel, Launch)


class RuleOf(Struct):
    coverage: dict[str, float]
    facts: tuple[type[Fact], ...] = (OperatorShape,)


RUN = Run(ranks=(0, 1))
QUIET = Outcome(rule="acme/slow", outcome="quiet")
NEED = 0.05


@pytest.mark.parametrize(
    ("coverage", "lost", "unseen"),
    [
        ({}, {"launches": 94}, (1,)),
        ({}, {"launches": 95}, ()),
        ({}, {"host_calls": 0}, ()),
        ({"launches": 0}, {"launches": 0}, ()),
        ({"launches": 0}, {"launches": 0, "kernels": 94}, (1,)),
        ({"launches": 0.5}, {"launches": 49}, (1,)),
        ({"launches": 0.5}, {"launches": 50}, ()),
        ({"kernels": 1}, {"kernels": 99}, (1,)),
    ],
)
def test_a_rule_says_how_much_of_a_table_it_needs(
    coverage: dict[str, float], lost: dict[str, float], unseen: tuple[int, ...]
) -> None:
    said = with_ranks_left_out(QUIET, RuleOf(coverage), ProfileOf(lost), RUN, NEED)
    assert (said.outcome, said.without_ranks) == ("quiet", unseen)


SPLITS = """
rank step source     compute_us listed_us unlisted_us
0    1    recorded   100        99        1
1    1    recorded   100        90        10
1    2    recorded   100        90        10
2    1    incomplete -          80        20
3    1    intervals  100        -         -
"""


@pytest.mark.parametrize(("coverage", "unseen"), [({}, (1, 2)), ({"kernels": 0.85}, (2,)), ({"kernels": 0}, ())])
def test_a_rule_that_found_nothing_in_a_list_of_kernels_with_holes_says_on_which_ranks(
    coverage: dict[str, float], unseen: tuple[int, ...]
) -> None:
    profile = ProfileOf({}, read_table(Overlap, SPLITS))
    said = with_ranks_left_out(QUIET, RuleOf(coverage), profile, Run(ranks=(0, 1, 2, 3)), NEED)
    assert said.without_ranks == unseen


def test_a_rule_that_lacks_its_rows_on_every_rank_was_not_checked() -> None:
    said = with_ranks_left_out(QUIET, RuleOf({}), ProfileOf({"kernels": 10}), Run(ranks=(1,)), NEED)
    assert said.outcome == "skipped"
    assert said.reason is not None
    assert "incomplete: kernels" in said.reason.en


def test_a_saving_is_an_upper_bound_where_rows_are_lost_that_would_bound_it() -> None:
    findings = [
        Finding(
            rule="acme/slow",
            fingerprint=str(rank),
            severity=Severity.low,
            confidence=Confidence.low,
            seen=(Place(rank=rank),),
        )
        for rank in (0, 1)
    ]

    def bounded(coverage: dict[str, float], lost: float) -> list[bool]:
        profile = ProfileOf({"launches": lost})
        return [one.at_most for one in with_upper_bounds(findings, RuleOf(coverage), profile, NEED)]

    assert bounded({"launches": 0}, 10) == [False, True]
    assert bounded({"launches": 0}, 96) == [False, False]
    assert bounded({}, 10) == [False, False]


@pytest.mark.parametrize(
    ("waited", "unseen", "at_most"),
    [
        ({0: 0.0, 1: 50.0}, {1}, True),  # after what rank 0 wins, rank 1 may be the last
        ({0: 0.0, 1: 150.0}, {1}, False),
        ({0: 0.0, 1: 50.0}, set(), False),
        ({0: 0.0}, {1}, False),  # nobody knows how long it waits
        ({1: 50.0}, {1}, True),
    ],
)
def test_a_saving_is_an_upper_bound_where_a_rank_that_nobody_looked_at_may_be_the_last(waited, unseen, at_most) -> None:
    saving = Saving(us=100, share=0.1)
    one = Finding(
        rule="acme/slow",
        fingerprint="a",
        severity=Severity.low,
        confidence=Confidence.low,
        saving=saving,
        seen=(Place(rank=0),),
    )
    (found,) = with_unseen_last([one], waited, unseen)
    assert found.at_most == at_most
    (nothing,) = with_unseen_last([one.model_copy(update={"saving": Saving(us=0)})], waited, unseen)
    assert not nothing.at_most


def test_a_chain_on_the_one_rank_of_a_stage_whose_kernels_were_given_is_no_chain_of_that_rank_alone(
    tmp_path: Path,
) -> None:
    """The kernels of its twin were not given, and the steps of both are equally long."""
    folder = tmp_path / "job"
    files = files_of_second_rank(folder)
    chain = ["Pow", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul"] * 40
    for one in folder.glob("*_ascend_pt"):
        output = one / "ASCEND_PROFILER_OUTPUT"
        for name in [path.name for path in output.iterdir()]:
            (output / name).unlink()
        rows = "".join(f"{kind},{kind},AI_VECTOR_CORE,{1000 + 10 * at}.000\t,9\n" for at, kind in enumerate(chain))
        (output / "kernel_details.csv").write_text(f"Name,Type,Accelerator Core,Start Time(us),Duration(us)\n{rows}")
        (output / "step_trace_time.csv").write_text(
            "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n0,,2160,0,0,0,240\n"
        )
    (files / "kernel_details.csv").unlink()
    found = {one.rule: one for one in advisor.diagnose(folder).findings}
    assert found["compute/unfused-norm"].saving.us > 0 and found["compute/unfused-norm"].at_most


def test_what_may_be_lost_is_said_by_the_rule_that_tells_of_it_and_holds_for_all() -> None:
    shipped = advisor.load_rules()
    assert shipped.tolerated_loss == shipped.named(LOST_ROWS).params["tolerated"].value
    assert shipped.select(["host/*"]).tolerated_loss == shipped.tolerated_loss
    assert Catalog(shipped.rules).tolerated_loss == 0


def test_settings_move_what_may_be_lost(tmp_path: Path) -> None:
    settings = tmp_path / "advisor.yaml"
    settings.write_text("rules: {capture/lost-rows: {params: {tolerated: 0.2}}}", "utf-8")
    assert advisor.load_rules(settings=settings).tolerated_loss == 0.2
    settings.write_text("rules: {capture/lost-rows: off}", "utf-8")
    assert advisor.load_rules(settings=settings).tolerated_loss == advisor.load_rules().tolerated_loss


JUDGED_BY_REPLAY = {"instant_us", "removed_us", "without_us", "steady_us"}


def test_a_rule_that_can_do_without_launches_judges_by_no_column_that_a_replay_gives() -> None:
    every = advisor.load_rules().rules
    spared = [rule for rule in every if rule.coverage.get("launches") == 0]
    assert spared
    for rule in spared:
        names, todo = set[str](), [name for test in (rule.where, rule.when) if test for name in test.names]
        while todo:
            name = todo.pop()
            if name not in names:
                names.add(name)
                todo += rule.let[name].names if name in rule.let else ()
        assert not names & JUDGED_BY_REPLAY, rule.id


def test_without_launches_nothing_changes_but_what_a_replay_gives(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    shutil.copytree(Path(corpus.__file__).parent / "host-bound-2-ranks", folder)
    for trace in folder.rglob("trace_view.json"):
        events = json.loads(trace.read_text("utf-8"))
        trace.write_text(json.dumps([one for one in events if one.get("ph") not in ("s", "f")]), "utf-8")
    before, after = (open_profile(path) for path in (Path(corpus.__file__).parent / "host-bound-2-ranks", folder))
    for fact in (OperatorShape, OperatorShare):
        kept = [name for name in fact.columns() if name not in JUDGED_BY_REPLAY]
        assert list(before.table(fact).cells(kept)) == list(after.table(fact).cells(kept))
