# SPDX-License-Identifier: Apache-2.0
"""Transfers between pipeline stages that stand bare are told, and are not taken for too few micro-batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.model.findings import Diagnosis
from corpus.workloads import WORKLOADS

RULE = "pipeline/exposed-transfers"


def diagnosed(folder: Path, *, layers: int) -> Diagnosis:
    """A pipeline of two ranks with six micro-batches per stage; the fewer layers, the more of the step data move."""
    healthy = WORKLOADS["pipeline"]
    workload = replace(healthy.workload, layers=layers)  # type: ignore[call-arg]
    setup = replace(healthy, workload=workload, layout=replace(healthy.layout, dp=1))
    corpus.write(corpus.job("healthy", setup=setup), folder)
    return advisor.diagnose(folder)


def test_data_that_move_for_a_tenth_of_the_step_are_told_and_enough_micro_batches_are_left_alone(tmp_path: Path):
    diagnosis = diagnosed(tmp_path / "bare", layers=2)
    lead = diagnosis.findings[0]
    assert lead.rule == RULE
    assert 0 < lead.saving.us < 0.25 * diagnosis.run.step_us
    assert "pipeline/bubble" not in [finding.rule for finding in diagnosis.findings]


def test_the_same_data_beside_more_computation_are_left_in_peace(tmp_path: Path):
    assert RULE not in [finding.rule for finding in diagnosed(tmp_path / "hidden", layers=8).findings]


@pytest.mark.parametrize("name", ["pipeline", "interleaved"])
def test_healthy_pipelines_stay_below_what_is_tolerated(name: str, shared):
    quiet = {outcome.rule: outcome for outcome in shared.diagnosed("healthy", 5, workload=name, small=True).outcomes}
    assert quiet[RULE].outcome == "quiet"
