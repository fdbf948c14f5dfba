# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from rule_texts import CASES, IDLE, made

from advisor.engine.case_runs import prove_all, prove_rule
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap
from advisor.facts.table import read_table
from advisor.rules.cases import run_of
from advisor.rules.catalog import Catalog


def proved(folder: Path, old: str, new: str) -> list[str]:
    assert old in CASES
    return [str(one) for one in prove_rule(made(folder, tests=CASES.replace(old, new)))]


def test_a_rule_that_keeps_its_promises_is_silent(tmp_path: Path) -> None:
    rule = made(tmp_path)
    assert prove_rule(rule) == []
    assert prove_all(Catalog((rule,))) == {}


HELD = "what the time of steps was spent on; record with ProfilerActivity.NPU among the activities"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("idle_share: 0.2,", "idle_share: 0.3,", "finding 1: idle_share: expected 0.3, got 0.2"),
        ("idle_share: 0.2,", "idle_share: 20%,", "expected 20%, got 0.2; a share is written as 0.2"),
        ("severity: medium", "severity: high", "finding 1: severity: expected high, got medium"),
        ("places: 1", "places: 2", "finding 1: places: expected 2, got 1"),
        ("places: 1", "place: 1", "finding 1: nothing is called `place`; did you mean `places`?"),
        ("saving_us: 200", "idle_us: 201", "finding 1: idle_us: expected 201, got 200.0"),
        ("rank: 0,", "rank: -,", "finding 1: rank: expected -, got 0"),
        (
            "expect: skipped",
            "expect: quiet",
            f"expected quiet, got skipped (not recorded: {HELD}) [overlaps.free_us]",
        ),
        ("1000    100", "1000    101", "expected quiet, got 1 finding"),
        ("        0    1000    200", "        99999999999999999999 1 1", "a whole number is larger than 64 bits"),
        ("1000    200", "1000    '200", "given: a quote is not closed"),
        (
            "1000    200",
            "1000    20",
            "expected findings, got quiet: `idle_share > tolerated` does not hold of idle_share 0.02, tolerated 0.1",
        ),
        ("      overlaps", "      overlap", "given: unknown table `overlap`; did you mean `overlaps`?"),
        ("rank span_us", "rank span", "given: `overlaps` has no column `span`"),
        ("    given:\n", "    given:\n      run: rank_cont=3\n", "given: run: unknown name `rank_cont`"),
        ("    given:\n", "    given:\n      run: rank_count\n", "given: run: `rank_count` is not name=value"),
        ("    given:\n", "    given:\n      run: rank_count=1e30\n", "given: run: rank_count cannot be 1e30"),
        ("    given:\n", "    given:\n      run: step_us=nan\n", "given: run: step_us cannot be nan"),
    ],
)
def test_a_broken_promise_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert told in "\n".join(proved(tmp_path, old, new))


def test_a_finding_too_many_is_told(tmp_path: Path) -> None:
    body = IDLE.replace("[rank]", "[stage]")
    told = prove_rule(
        made(tmp_path, body=body, tests=CASES.replace("0    1000    200\n", "0 1000 200\n        0 1000 200\n"))
    )
    assert [str(one) for one in told] == ["fires above a tenth: finding 1: rank: expected 0, got None"]


def test_the_captured_ranks_of_a_case_are_those_in_its_tables() -> None:
    assert run_of("rank_count=8", [0, 3, MISSING]).ranks == (0, 3)
    assert run_of("rank_count=8", [0, 3]).rank_count == 8
    assert run_of("rank_count=8 captured_ranks=4", [0, 3]).ranks == (0, 1, 2, 3)
    assert run_of("rank_count=2").ranks == (0, 1)


def test_a_dash_is_unknown() -> None:
    run = run_of("world_size=- step_us=- level=- chip=- tp=-")
    assert (run.world_size, run.step_us, run.level, run.chip, run.parallel.tp) == (0, 0.0, "", "", 0)
    assert run_of("level=-1").level == "Level_none"


def test_rows_are_repeated(tmp_path: Path) -> None:
    assert len(read_table(Overlap, "rank free_us\n0 5 x3")) == 3
    assert prove_rule(made(tmp_path, tests=CASES.replace("200\n", "200 x100\n", 1))) == []
