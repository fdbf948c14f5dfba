# SPDX-License-Identifier: Apache-2.0
"""Real folders of the old profiler of MindSpore: what experts say of each comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.facts.observed import Damage
from advisor.model.findings import Diagnosis
from advisor.pipeline import open_profile
from tests.input_notes import note
from tests.shared_captures import SharedCaptures

LEGACY = "mindinsight_legacy"


def shown(found: Diagnosis, rule: str) -> dict[str, object]:
    finding = next(one for one in found.findings if one.rule == rule)
    return {item.name: item.value for item in finding.evidence}


def test_a_job_short_of_data_is_told_by_its_queues(real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / LEGACY / "profiler")
    first = found.findings[0]
    assert first.rule == "io/dataset-pipeline"
    assert first.saving.us / found.run.step_us == pytest.approx(0.68, abs=0.01)
    assert shown(found, "io/dataset-pipeline")["host_empty"] == 1
    assert shown(found, "io/iteration-interval")["interval_share"] == pytest.approx(0.69, abs=0.01)
    # the queues behind its readers are short of rows and yet never empty: nothing waited for them
    assert "io/slow-dataset-operation" not in {one.rule for one in found.findings}


def test_the_raw_data_beside_it_is_said_to_be_left_aside(real_data: Path) -> None:
    assert note("raw_beside=2") in open_profile(real_data / LEGACY / "profiler").run.notes


def test_a_pipeline_with_a_heavy_stage_is_told_so_without_its_first_step(
    real_data: Path, shared: SharedCaptures
) -> None:
    found = shared.diagnosis(real_data / LEGACY / "cluster_propose")
    first = found.findings[0]
    assert (first.rule, first.subject) == ("pipeline/stage-imbalance", {"stage": 1})
    assert shown(found, "pipeline/stage-imbalance")["slowest_us"] == pytest.approx(123_000, rel=0.01)
    # stage 0 waits for the other one: with as many micro-batches as one likes that one sets the pace
    assert "pipeline/bubble" not in {finding.rule for finding in found.findings}
    assert found.run.step_us == pytest.approx(179_400, rel=0.01)  # the first one took two seconds
    apart = shown(found, "pipeline/first-receive")
    assert apart["received_us"] == pytest.approx(2_201_914, rel=0.01)
    assert "ranks/slow-compute-rank" not in {finding.rule for finding in found.findings}


@pytest.mark.parametrize("name", ["run_2", "run_3", "run_4"])
def test_folders_that_were_edited_are_judged_by_what_does_not_contradict_itself(
    real_data: Path, shared: SharedCaptures, name: str
) -> None:
    found = shared.diagnosis(real_data / LEGACY / name)
    assert found.run.step_us == pytest.approx(23_709, rel=0.01)
    assert not [outcome.rule for outcome in found.outcomes if outcome.outcome == "failed"]
    assert all(finding.saving.us <= found.run.step_us for finding in found.findings)
    told = {row["what"] for row in open_profile(real_data / LEGACY / name).table(Damage).rows()}
    assert told == (
        set() if name == "run_2" else {"computation and communication last longer than the steps they are of"}
    )


def test_a_queue_on_the_device_that_never_runs_dry_clears_the_data(real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / LEGACY / "run_2")
    assert not [finding.rule for finding in found.findings if finding.rule.startswith("io/")]
