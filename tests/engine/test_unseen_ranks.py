# SPDX-License-Identifier: Apache-2.0
"""A rule that could look at some ranks only says so, with the file that the others lack."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.model.findings import Diagnosis, Outcome


@pytest.fixture(scope="module")
def half_given(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """Two ranks, of which the second lacks its trace."""
    folder = tmp_path_factory.mktemp("captures") / "job"
    shutil.copytree(Path(corpus.__file__).parent / "host-bound-2-ranks", folder)
    captures = sorted(folder.glob("*_ascend_pt"))
    (captures[1] / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
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


def test_a_rule_that_needs_other_files_says_nothing(half_given: Diagnosis) -> None:
    for rule in ("host/free-time", "compute/cast-excess"):
        assert (outcome(half_given, rule).without_ranks, outcome(half_given, rule).reason) == ((), None)


def test_it_is_said_once_among_what_was_not_checked(half_given: Diagnosis) -> None:
    from advisor.report.diagnosis.view import not_checked

    said = [group for group in not_checked(half_given, "en") if "python-bound" in " ".join(group.rules)]
    assert len(said) == 1
    assert len(said[0].rules) > 3


def test_a_whole_run_has_no_such_ranks() -> None:
    whole = advisor.diagnose(Path(corpus.__file__).parent / "host-bound-2-ranks")
    assert not [one.rule for one in whole.outcomes if one.without_ranks]
