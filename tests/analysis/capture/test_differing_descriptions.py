# SPDX-License-Identifier: Apache-2.0
"""Ranks of several jobs, or with several versions, are told apart: in the findings, and in what is said of the run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import advisor
from advisor.analysis.capture.differing_descriptions import differing_descriptions
from advisor.facts.observed import RankCapture
from advisor.facts.table import Table
from advisor.model.findings import Diagnosis
from advisor.model.run import InputNote
from tests.shared_captures import SharedCaptures


def captures(**columns: object) -> Table[RankCapture]:
    return Table.build(RankCapture, rank=[0, 1, 2, 3, 5], **columns)


def test_what_most_ranks_say_stands_first_with_who_they_are() -> None:
    said = captures(told_ranks=[16, 16, 64, 64, 64], cann_version=["8.0"] * 5)
    found = [(row["about"], row["value"], row["which"]) for row in differing_descriptions(said).rows()]
    assert found == [("ranks", "64", "2-3, 5"), ("ranks", "16", "0-1")]


def test_who_says_nothing_contradicts_nobody() -> None:
    said = captures(told_ranks=[None, 4, 4, None, 4], cann_version=[None, "8.0", None, None, "8.0"])
    assert not len(differing_descriptions(said))


def changed(capture: Path, folder: Path, name: str, change: Callable[[int, dict[str, Any]], None]) -> Path:
    """A copy of a capture, with the files of this name changed rank by rank."""
    target = shutil.copytree(capture, folder / capture.name)
    for rank, file in enumerate(sorted(target.rglob(name))):
        said = json.loads(file.read_text())
        change(rank, said)
        file.write_text(json.dumps(said))
    return target


def evidence_of(found: Diagnosis) -> Mapping[str, Mapping[str, object]]:
    """By rule: the values behind its finding."""
    return {finding.rule: {one.name: one.value for one in finding.evidence} for finding in found.findings}


def test_two_jobs_in_one_folder_are_said_to_be_two(shared: SharedCaptures, tmp_path: Path) -> None:
    def of_two_ranks(rank: int, said: dict[str, Any]) -> None:
        if rank == 0:
            said["distributed_args"]["world_size"] = 2

    capture = changed(shared.written("slow-link"), tmp_path, "profiler_metadata.json", of_two_ranks)
    found = advisor.diagnose(capture)
    said = evidence_of(found)["capture/jobs-apart"]
    assert (said["other_size"], said["fewer"], said["size"], said["most"]) == ("2", 1, "4", 3)
    assert InputNote(about="job_sizes", names=("2 (rank 0)", "4 (rank 1-3)")) in found.run.notes
    assert "capture/jobs-apart" not in evidence_of(shared.diagnosed("slow-link"))


def test_ranks_with_other_versions_are_named_and_no_version_is_that_of_the_run(
    shared: SharedCaptures, tmp_path: Path
) -> None:
    def two_versions(rank: int, said: dict[str, Any]) -> None:
        said["cann_version"] = "8.0.RC3" if rank in (1, 2) else "8.3.RC1"
        said["torch_npu_version"] = "2.7.1"

    capture = changed(shared.written("slow-link"), tmp_path, "profiler_info_*.json", two_versions)
    found = advisor.diagnose(capture)
    assert (found.run.cann_version, found.run.torch_npu_version) == ("", "2.7.1")
    versions = ("8.3.RC1 (rank 0, 3)", "8.0.RC3 (rank 1-2)")
    assert InputNote(about="cann_versions", names=versions) in found.run.notes
    said = evidence_of(found)["capture/versions-apart"]
    assert {said["usual_ranks"]: said["usual"], said["other_ranks"]: said["other"]} == {
        "0, 3": "8.3.RC1",
        "1-2": "8.0.RC3",
    }
