# SPDX-License-Identifier: Apache-2.0
"""A small rule to vary in tests."""

from __future__ import annotations

from pathlib import Path

from advisor.rules.bind import Rule
from advisor.rules.catalog import read_rule

HEAD = """\
id: {id}
since: 0.1.0
title: {{en: "Something of {{rank}}", zh: "{{rank}} 有情况"}}
why: {{en: It matters., zh: 很重要。}}
"""
FIX = """\
fix:
  - do: {en: Do it., zh: 处理。}
"""
IDLE = """\
params:
  tolerated: {value: 0.1, unit: share, basis: {en: A guess., zh: 猜测。}}
for_each: [rank]
in: overlaps
let:
  idle_us: mean(free_us)
  idle_share: idle_us / mean(span_us)
when: idle_share > tolerated
severity: {high: idle_share > 3 * tolerated, medium: otherwise}
evidence:
  - {show: idle_share, en: Idle share, zh: 空闲占比, threshold: tolerated}
saving:
  us: idle_us
  assumes: {en: All of it., zh: 全部。}
"""
CASES = """\
tests:
  - name: fires above a tenth
    given:
      overlaps: |
        rank span_us free_us
        0    1000    200
    expect:
      - {rank: 0, severity: medium, idle_share: 0.2, saving_us: 200, places: 1}
  - name: is quiet at a tenth
    given:
      overlaps: |
        rank span_us free_us
        0    1000    100
    expect: quiet
  - name: needs the idle time
    given:
      overlaps: |
        rank span_us free_us
        0    1000    -
    expect: skipped
"""


def write(folder: Path, rule_id: str = "host/idle", body: str = IDLE, tests: str = CASES) -> Path:
    """A rule file in a folder of rules."""
    path = folder / f"{rule_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = HEAD.format(id=rule_id)
    if "rank" not in body.split("for_each:", 1)[1].split("\n", 1)[0]:
        head = head.replace("{rank}", "it")
    path.write_text(head + body + FIX + tests, encoding="utf-8")
    return path


def made(folder: Path, rule_id: str = "host/idle", body: str = IDLE, tests: str = CASES) -> Rule:
    """A rule that must be right."""
    found = read_rule(write(folder, rule_id, body, tests))
    assert isinstance(found, Rule), "\n".join(map(str, found))
    return found
