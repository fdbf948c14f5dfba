# SPDX-License-Identifier: Apache-2.0
"""Jobs with a known fault are diagnosed for it; healthy ones are left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
import corpus
from advisor.findings import Diagnosis, Severity

LEADS = {
    "host-bound": {"host/python-bound"},
    "python-busy": {"host/python-bound"},
    "data-loader": {"io/data-loader"},
    "data-loader-one-rank": {"io/data-loader"},
    "synchronise-per-layer": {"host/device-to-host-reads", "host/synchronising-calls"},
    "blocking-copies": {"host/blocking-copies"},
    "garbage-collection": {"host/garbage-collection"},
    "garbage-collection-apart": {"host/garbage-collection"},
    "online-compilation": {"host/online-compilation"},
    "exposed-communication": {"comm/late-gradient-reduction", "comm/exposed-communication"},
    "slow-rank-compute": {"ranks/slow-compute-rank"},
    "slow-rank-host": {"ranks/slow-host-rank"},
    "slow-link": {"ranks/slow-link"},
    "low-bandwidth": {"comm/exposed-communication", "comm/slow-transfer"},
    "uneven-stages": {"pipeline/stage-imbalance"},
    "few-micro-batches": {"pipeline/bubble"},
    "cast-excess": {"compute/cast-excess"},
    "transdata-excess": {"compute/transdata-excess"},
    "aicpu-exposed": {"compute/exposed-aicpu"},
    "small-packets": {"comm/small-packets", "comm/late-gradient-reduction"},
    "dynamic-shapes": {"host/online-compilation", "compute/dynamic-shapes"},
    "memory-churn": {"memory/allocator-churn"},
    "low-frequency": {"ranks/low-frequency-rank"},
    "launch-blocking": {"env/launch-blocking"},
    "damaged-trace": {"capture/damaged-input"},
    "killed-capture": {"capture/profiler-not-stopped"},
}
"""Which finding may lead, per fault at the strength that an expert would call a problem."""

PLACED = {"data-loader-one-rank", "slow-rank-compute", "slow-rank-host"}
"""Faults of one rank that a finding must name."""


def diagnosed(name: str, folder: Path, export: str = "text", level: int = 1) -> tuple[corpus.Job, Diagnosis]:
    job = corpus.job(name)
    return job, advisor.diagnose(corpus.write(job, folder, export, level))


def test_every_fault_has_an_answer() -> None:
    healthy = {name for name in corpus.names() if name.startswith("healthy")}
    assert set(corpus.names()) == LEADS.keys() | healthy | {"host-bound-2-ranks"}


@pytest.mark.parametrize("name", LEADS)
def test_the_fault_leads(name: str, tmp_path: Path) -> None:
    job, diagnosis = diagnosed(name, tmp_path)
    lead = diagnosis.findings[0]
    assert lead.rule in LEADS[name], [finding.rule for finding in diagnosis.findings]
    if name in PLACED:
        assert {place.rank for place in lead.seen} == {cause.place["rank"] for cause in job.causes}
    assert lead.saving.us <= diagnosis.run.step_us
    assert not [outcome for outcome in diagnosis.outcomes if outcome.outcome == "failed"]


@pytest.mark.parametrize("name", ["healthy", "healthy-light", "healthy-pipeline"])
@pytest.mark.parametrize(("export", "level"), [("text", 0), ("text", 1), ("text", 2), ("database", 0), ("database", 1)])
def test_a_healthy_job_is_left_in_peace(name: str, export: str, level: int, tmp_path: Path) -> None:
    _, diagnosis = diagnosed(name, tmp_path, export, level)
    loud = [f.rule for f in diagnosis.findings if f.severity >= Severity.medium and not f.rule.startswith("capture/")]
    assert loud == []


@pytest.mark.parametrize("name", ["python-busy", "slow-rank-compute", "uneven-stages", "cast-excess", "slow-link"])
def test_text_and_database_of_one_job_give_the_same_findings(name: str, tmp_path: Path) -> None:
    job = corpus.job(name)
    text = advisor.diagnose(corpus.write(job, tmp_path / "text", "text"))
    database = advisor.diagnose(corpus.write(job, tmp_path / "database", "database"))
    assert [(f.rule, f.subject, f.severity) for f in text.findings] == [
        (f.rule, f.subject, f.severity) for f in database.findings
    ]
    for one, other in zip(text.findings, database.findings, strict=True):
        assert one.saving.us == pytest.approx(other.saving.us, rel=0.02, abs=50)
