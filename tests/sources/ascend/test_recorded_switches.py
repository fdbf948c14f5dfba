# SPDX-License-Identifier: Apache-2.0
"""How a rank was recorded is also told by what was recorded, where the profiler's own words were not kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
from advisor.facts.observed import RankCapture
from tests.shared_captures import SharedCaptures


def without_words(capture: Path, folder: Path) -> Path:
    """The same capture without profiler_info, as when only ASCEND_PROFILER_OUTPUT was passed on."""
    copied = shutil.copytree(capture, folder / "copied", copy_function=shutil.copyfile)
    for path in copied.rglob("profiler_info*.json"):
        path.unlink()
    return copied


@pytest.mark.parametrize("export", ["text", "database"])
@pytest.mark.parametrize("on", [True, False])
def test_stacks_and_memory_that_are_there_were_recorded_and_of_others_nothing_is_known(
    export: str, on: bool, shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written("python-busy", small=True, export=export, stacks=on, memory=on)
    told = advisor.load_profile(capture)
    assert {(one.with_stack, one.profile_memory) for one in told.run.captures} == {(on, on)}
    shown = advisor.load_profile(without_words(capture, tmp_path))
    expected = True if on else None
    assert {(one.with_stack, one.profile_memory) for one in shown.run.captures} == {(expected, expected)}
    rows = shown.table(RankCapture).rows()
    assert {(row["with_stack"], row["profile_memory"]) for row in rows} == {(expected, expected)}


def test_times_of_the_host_are_doubted_without_the_words_of_the_profiler(
    shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written("python-busy", small=True)
    whole, shown = shared.diagnosis(capture), advisor.diagnose(without_words(capture, tmp_path))
    doubted = "capture/inflated-host-times"
    assert doubted in {one.rule for one in whole.findings}
    confidences = [{one.rule: one.confidence for one in found.findings} for found in (whole, shown)]
    assert confidences[1] == confidences[0]
