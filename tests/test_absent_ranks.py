# SPDX-License-Identifier: Apache-2.0
"""Of a job in which one rank is late few ranks are recorded, and not that one: they name it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
from advisor.model.findings import Finding
from tests.shared_captures import SharedCaptures

CASES = ("slow-rank-host", "slow-rank-compute")
RULE = "comm/unseen-late-rank"


def findings_of(whole: Path, kept: int, folder: Path) -> dict[str, Finding]:
    """What is found in the first captures of a job."""
    for capture in sorted(path for path in whole.iterdir() if path.is_dir())[:kept]:
        shutil.copytree(capture, folder / capture.name)
    return {finding.rule: finding for finding in advisor.diagnose(folder).findings}


def value_of(finding: Finding, name: str) -> object:
    return next(item.value for item in finding.evidence if item.name == name)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("export", ["text", "database"])
@pytest.mark.parametrize("kept", [1, 2])
def test_the_late_rank_is_named_by_ranks_that_wait_for_it(
    case: str, export: str, kept: int, shared: SharedCaptures, tmp_path: Path
) -> None:
    [cause] = shared.causes(case)
    found = findings_of(shared.written(case, export=export), kept, tmp_path / "few")
    assert value_of(found[RULE], "absent_rank") == cause.place["rank"]
    assert {place.rank for place in found[RULE].seen} == set(range(kept))


def test_with_all_ranks_recorded_nobody_is_absent(shared: SharedCaptures) -> None:
    assert RULE not in {finding.rule for finding in shared.diagnosed(CASES[0]).findings}


def test_ranks_of_a_healthy_job_blame_no_rank_that_was_not_recorded(shared: SharedCaptures, tmp_path: Path) -> None:
    for kept in (1, 2):
        assert RULE not in findings_of(shared.written("healthy", export="text"), kept, tmp_path / str(kept))
