# SPDX-License-Identifier: Apache-2.0
"""msprof-analyze is marked by what it prints, in its favour where that leaves a choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy import incumbent
from benchmarks.accuracy.mark import Cause
from benchmarks.accuracy.plan import ABOVE, Case
from corpus.answers import HARMLESS
from corpus.faults import FAULTS


def cause(name: str, **place: Any) -> Cause:
    return Cause(name, place, 100, 0.1)


PRINTED = """
+-----+---------------------------+----------------------------------------------------+------------+
| No. | Category                  | Description                                        | Suggestion |
+-----+---------------------------+----------------------------------------------------+------------+
| 1   | slow rank                 | Computing                                          |            |
|     |                           |     has some issues in the cluster,                |            |
|     |                           |     because the max difference of Computing time   |            |
|     |                           |     has reached 19.2ms.                            |            |
| 2   | slow link                 | SDMA bandwidth(GB/s):                              |            |
|     |                           |     The average is 16.0,                           |            |
|     |                           |     while the maximum  is 16.1GB/s                 |            |
|     |                           |     and the minimum is {minimum}GB/s.              |            |
|     |                           |     the difference is {difference}GB/s.            |            |
| 3   | RANK 3 aicpu issues       | Some operators exceed 20 us                        | 1. Modify  |
| 4   | Api compare of Rank3 Step12 and Rank0 Step13 | Api compare                     |            |
| 5   | GC Analysis               | Abnormal garbage collection                        |            |
+-----+---------------------------+----------------------------------------------------+------------+
"""
PAGE = """
<h2 class="c" style="background-color: #65c294;">AICPU Issues</h2>
<h2 class="c" style="background-color: #fcaf17;">GC Analysis</h2>
"""


def printed(difference: float = 0.1) -> str:
    return PRINTED.format(minimum=16.1 - difference, difference=difference)


def names(found: list[incumbent.Problem]) -> list[str]:
    return [problem.names[0] for problem in found]


def test_their_problems_are_read_in_their_order() -> None:
    found = incumbent.problems(printed(), PAGE)
    assert names(found) == ["slow rank: Computing", "AICPU Issues", "Api compare", "GC Analysis"]
    assert found[2].ranks == {3}


def test_their_link_table_is_a_problem_from_their_own_threshold_on() -> None:
    assert "slow link" in names(incumbent.problems(printed(4.0), PAGE))


def test_their_low_priorities_and_bare_tables_are_not_held_against_them() -> None:
    wrong = [one.rule for one in incumbent.claimed(incumbent.problems(printed(4.0), PAGE), [])]
    assert wrong == ["slow rank: Computing", "GC Analysis"]


def test_their_low_priority_counts_where_it_names_the_fault() -> None:
    claims = incumbent.claimed(incumbent.problems(printed(), PAGE), [cause("aicpu-exposed")])
    assert "AICPU Issues" in [one.rule for one in claims]


@pytest.mark.parametrize(("rank", "right"), [(3, True), (1, False)])
def test_their_comparison_of_ranks_counts_where_it_names_the_struck_one(rank: int, right: bool) -> None:
    claims = incumbent.claimed(incumbent.problems(printed(), PAGE), [cause("slow-rank-host", rank=rank)])
    assert ("Api compare" in [one.rule for one in claims]) is right


def test_their_variables_are_read_from_their_page() -> None:
    row = "| 1 | Environment Variable Issues | Describe | Set |"
    found = incumbent.problems(row, "<td>ASCEND_LAUNCH_BLOCKING</td>")
    claims = incumbent.claimed(found, [cause("launch-blocking")])
    assert [one.rule for one in claims] == ["Environment Variable Issues: ASCEND_LAUNCH_BLOCKING"]


def test_a_lone_healthy_sentence_is_no_claim() -> None:
    assert not incumbent.problems("| 1 | slow rank | There is no slow rank issues | |", "")


def test_a_run_without_a_report_claims_nothing_and_is_known(tmp_path: Path) -> None:
    command = tmp_path / "msprof-analyze"
    command.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    command.chmod(0o755)
    done = incumbent.diagnosed(Case("scoring", "data-loader", "single", ABOVE, 1, "text", 1), str(command))
    assert not done.reported
    assert not done.claims
    assert [found.rule for found in done.found] == [""]


def test_the_mapping_has_a_line_for_every_fault() -> None:
    assert set(incumbent.MAPPING) >= set(FAULTS) - HARMLESS
