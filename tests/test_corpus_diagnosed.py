# SPDX-License-Identifier: Apache-2.0
"""Jobs with a known fault are diagnosed for it; healthy ones are left in peace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.model.findings import Diagnosis, Finding, Severity
from advisor.report.diagnosis.document import diagnosis_overview
from advisor.report.renderers.markdown import document_text
from corpus.answers import ANSWERS, HARMLESS
from corpus.cases import FAULTS, MIXTURES, Setup
from corpus.events import Layout
from corpus.recordings import RECORDINGS
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS
from tests.conftest import TIER
from tests.shared_captures import AMONG_FOUR, SharedCaptures, small_setup

PLACED = {"data-loader-one-rank", "slow-rank-compute", "slow-rank-host"}
"""Faults of one rank that a finding must name."""


LARGE = {"interleaved", "large", "pipeline"}
"""Workloads that are diagnosed as a whole at night; `cluster` has ranks on two nodes too."""
MIXED = (
    "cast-excess-and-slow-link",
    "data-loader-and-uneven-stages",
    "blocking-copies-and-garbage-collection",
    "expert-imbalance-and-data-loader",
    "data-loader-and-aicpu-exposed-and-transdata-excess",
)
"""Mixtures whose causes must all be named; `benchmarks.accuracy` marks the rest."""


def loud(diagnosis: Diagnosis) -> list[str]:
    """The rules that would disturb an expert, beside what they say of the capture itself."""
    found = (f for f in diagnosis.findings if f.severity >= Severity.medium)
    return [finding.rule for finding in found if not finding.rule.startswith("capture/")]


def test_every_fault_has_an_answer() -> None:
    assert set(FAULTS) == ANSWERS.keys() | HARMLESS
    assert set(MIXED) <= set(MIXTURES)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_fault_leads(name: str, shared: SharedCaptures) -> None:
    diagnosis = shared.diagnosed(name, small=name not in AMONG_FOUR)
    lead = diagnosis.findings[0]
    assert lead.rule in ANSWERS[name], [finding.rule for finding in diagnosis.findings]
    if name in PLACED:
        assert {place.rank for place in lead.seen} == {cause.place["rank"] for cause in shared.causes(name)}
    assert lead.saving.us <= diagnosis.run.step_us
    assert not [outcome for outcome in diagnosis.outcomes if outcome.outcome == "failed"]


@pytest.mark.parametrize("name", MIXED)
def test_every_fault_of_a_mixture_is_called_a_cause(name: str, shared: SharedCaptures) -> None:
    small = name == "data-loader-and-uneven-stages"
    causes = {finding.rule for finding in shared.diagnosed(name, small=small).findings if not finding.causes}
    assert all(causes & ANSWERS[cause.name] for cause in shared.causes(name, small=small)), causes


RECORDED = [
    (name, export, fault, min(workloads, key=lambda one: WORKLOADS[one].layout.world))
    for name, recording in RECORDINGS.items()
    for export in recording.exports
    for fault, workloads in recording.faults.items()
]


@pytest.mark.parametrize(("recording", "export", "fault", "workload"), RECORDED)
def test_the_fault_leads_however_it_was_recorded(
    recording: str, export: str, fault: str, workload: str, shared: SharedCaptures
) -> None:
    way, small = RECORDINGS[recording].variants, fault not in AMONG_FOUR
    findings = shared.diagnosed(fault, 3, workload=workload, small=small, export=export, **way).findings
    assert findings[0].rule in ANSWERS[fault], [finding.rule for finding in findings]


@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_healthy_job_is_left_in_peace_however_it_was_recorded(recording: str, shared: SharedCaptures) -> None:
    way = RECORDINGS[recording]
    found = shared.diagnosed("healthy", 5, workload=way.healthy[0], small=True, export=way.exports[-1], **way.variants)
    assert loud(found) == []


@pytest.mark.parametrize(
    ("case", "leads"),
    [
        ("few-micro-batches", "pipeline/bubble"),
        ("exposed-communication", "comm/late-gradient-reduction"),
        ("host-bound", "host/python-bound"),
    ],
)
def test_a_fault_leads_where_no_step_was_marked(case: str, leads: str, tmp_path: Path) -> None:
    path = corpus.write(corpus.job(case, 1), tmp_path / case, "text", steps=False)
    diagnosis = advisor.diagnose(path)
    assert diagnosis.findings[0].rule == leads


def test_of_evenly_slow_hosts_none_is_blamed_and_of_uneven_ones_the_slowest(shared: SharedCaptures) -> None:
    even, uneven = shared.diagnosed("evenly-slow-hosts"), shared.diagnosed("slowest-of-slow-hosts")
    assert "ranks/slow-host-rank" not in {finding.rule for finding in even.findings}
    (blamed,) = (finding for finding in uneven.findings if finding.rule == "ranks/slow-host-rank")
    places = [cause.place for cause in shared.causes("slowest-of-slow-hosts") if cause.place]
    assert {place.rank for place in blamed.seen} == {place["rank"] for place in places}


_WAITING = Setup(Transformer(layers=1, steps=2, vocabulary=4096), Layout(tp=8, dp=2, ranks_per_node=8))
"""Two nodes whose hosts are all somewhat late in what lies between tensor-parallel collectives."""


@pytest.mark.parametrize(
    ("slow", "where"), [((5,), "Rank 5 "), (tuple(range(8, 16)), "(worst of 8 ranks, all of host node1)")]
)
def test_a_host_much_slower_than_others_that_are_late_too_leads(
    slow: tuple[int, ...], where: str, tmp_path: Path
) -> None:
    machine = replace(_WAITING.machine, host_scale=dict.fromkeys(slow, 2.0))
    corpus.write(corpus.job("healthy", setup=replace(_WAITING, machine=machine)), tmp_path)
    diagnosis = advisor.diagnose(tmp_path)
    lead = diagnosis.findings[0]
    assert lead.rule == "ranks/slow-host-rank"
    assert {place.rank for place in lead.seen} == set(slow)
    told = {finding.rule: finding for finding in diagnosis.findings}
    assert {place.rank for place in told["host/python-bound"].seen} > set(slow)
    for symptom in ("host/python-bound", "comm/waiting-collectives"):
        assert lead.fingerprint in told[symptom].causes
    assert where in document_text(diagnosis_overview(diagnosis, "en", 1))


_STAGES = replace(WORKLOADS["pipeline"], workload=Transformer(layers=4, batch=2, micro_batches=6, steps=2), name="")
_GBPS = _STAGES.machine.link_gbps
_SLOW_STAGES = {
    "comm/slow-transfer": replace(_STAGES.machine, link_gbps=_GBPS / 4),
    "ranks/slow-link": replace(_STAGES.machine, slow_links={(0, 2): _GBPS / 6, (2, 0): _GBPS / 6}),
}


@pytest.mark.parametrize("rule", _SLOW_STAGES)
def test_of_transfers_between_stages_over_slow_links_the_links_lead(rule: str, tmp_path: Path) -> None:
    """What the links cost and what hiding the transfers would win is the same time."""
    corpus.write(corpus.job("healthy", setup=replace(_STAGES, machine=_SLOW_STAGES[rule])), tmp_path)
    lead, *others = advisor.diagnose(tmp_path).findings
    assert lead.rule == rule
    (exposed,) = (finding for finding in others if finding.rule == "pipeline/exposed-transfers")
    assert lead.fingerprint in exposed.causes


def test_transfers_between_stages_over_usual_links_lead_where_there_is_little_to_compute(tmp_path: Path) -> None:
    thin = Transformer(layers=2, hidden=1024, batch=2, micro_batches=12, steps=2, vocabulary=1024, trimmings=True)
    corpus.write(corpus.job("healthy", setup=replace(_STAGES, workload=thin)), tmp_path)
    lead = advisor.diagnose(tmp_path).findings[0]
    assert (lead.rule, lead.causes) == ("pipeline/exposed-transfers", ())


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_healthy_job_of_any_workload_is_left_in_peace(workload: str, shared: SharedCaptures) -> None:
    small = workload in LARGE and TIER == "landing"
    assert loud(shared.diagnosed("healthy", 5, workload=workload, small=small)) == []


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_what_is_harmless_is_left_in_peace(name: str, shared: SharedCaptures) -> None:
    assert loud(shared.diagnosed(name, small=True)) == []


@pytest.mark.parametrize("name", ["healthy-light", "healthy-pipeline"])
@pytest.mark.parametrize(("export", "level"), [("text", 0), ("text", 1), ("text", 2), ("database", 0), ("database", 1)])
def test_a_healthy_job_is_left_in_peace(name: str, export: str, level: int, shared: SharedCaptures) -> None:
    assert loud(shared.diagnosed(name, small=True, export=export, level=level)) == []


@pytest.mark.parametrize("name", ["python-busy", "slow-rank-compute", "uneven-stages", "cast-excess", "slow-link"])
def test_text_and_database_of_one_job_give_the_same_findings(name: str, shared: SharedCaptures) -> None:
    small = name not in AMONG_FOUR
    text, database = (shared.diagnosed(name, small=small, export=export) for export in ("text", "database"))
    assert [(f.rule, f.subject, f.severity) for f in text.findings] == [
        (f.rule, f.subject, f.severity) for f in database.findings
    ]
    for one, other in zip(text.findings, database.findings, strict=True):
        assert one.saving.us == pytest.approx(other.saving.us, rel=0.02, abs=50)


_PACES = {
    "faster": [1.3, 1.2, 1.12, 1.07, 1.04, 1.02, 1.01, 1.0],
    "to and fro": [1.0, 1.06, 0.95, 1.04, 0.96, 1.07, 0.98, 1.03],
    "one slow": [1.0, 1.0, 1.0, 1.0, 1.5, 1.0, 1.0, 1.0],
    "the last slow": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5],
    "slow from the middle on": [1.0, 1.0, 1.0, 1.0, 1.3, 1.3, 1.3, 1.3],
    "only the first fast": [0.7, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
}
"""How many times as long all kernels take, from step to step."""


def creeps(setup: Setup, folder: Path, fault: str = "healthy", strength: float = 1.0) -> list[Finding]:
    """What is said of kernels that take longer from step to step."""
    corpus.write(corpus.job(fault, 3, setup=setup, strength=strength), folder)
    return [one for one in advisor.diagnose(folder).findings if one.rule == "compute/creeping-slowdown"]


@pytest.mark.parametrize("pace", _PACES.values(), ids=_PACES)
def test_kernels_that_do_not_take_longer_from_step_to_step_are_not_said_to(pace: list[float], tmp_path: Path) -> None:
    single = WORKLOADS["single"]
    workload = replace(single.workload, steps=len(pace))  # type: ignore[call-arg]
    paces = dict(enumerate(pace, workload.first_step))
    assert not creeps(replace(single, workload=workload, machine=replace(single.machine, paces=paces)), tmp_path)


@pytest.mark.parametrize("workload", ["light", "single"])
def test_a_host_that_has_more_to_do_in_every_step_makes_no_kernel_slower(workload: str, tmp_path: Path) -> None:
    assert not creeps(small_setup(WORKLOADS[workload]), tmp_path, "growing-python", 3.0)


def test_kernels_that_take_longer_from_step_to_step_on_one_device_are_told_of_it(tmp_path: Path) -> None:
    """What costs 3 % of the step or more is worth acting on."""
    (found,) = creeps(replace(WORKLOADS["single"], name=""), tmp_path, "creeping-kernels", 0.5)
    assert found.severity == Severity.medium
    assert 0.03 < found.saving.us / 82_000 < 0.075
