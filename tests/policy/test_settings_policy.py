# SPDX-License-Identifier: Apache-2.0
"""What a project demands in advisor.yaml: read as meant, and every slip told at its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import rule_texts
from hypothesis import given
from hypothesis import strategies as st

from advisor.messages.errors import RuleError
from advisor.model.comparison import Tolerance
from advisor.model.findings import Severity
from advisor.policy.policy import FailCondition, parse_bars
from advisor.policy.settings import Settings
from advisor.rules.catalog import Catalog
from advisor.yaml_files.amounts import MEMORY, SHARE, TIME, Unclear, parse_amount


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for name in ("host/idle", "host/busy", "comm/slow"):
        rule_texts.write(tmp_path / "rules", name)
    return tmp_path / "rules"


def read(folder: Path, text: str) -> Settings:
    path = folder / "advisor.yaml"
    path.write_text(text, encoding="utf-8")
    return Settings.read(path)


def told(folder: Path, text: str) -> list[str]:
    """The mistakes without the file name: place, words, and the hint where there is one."""
    with pytest.raises(RuleError) as caught:
        read(folder, text)
    return [said(str(mistake)) for mistake in caught.value.mistakes]


def said(mistake: str) -> str:
    lines = mistake.split("advisor.yaml:", 1)[1].splitlines()
    hints = [line.strip() for line in lines if line.startswith("    hint: ")]
    return " | ".join([lines[0], *hints])


# read as meant


def test_a_policy_is_read_by_rule_category_and_severity(tmp_path: Path) -> None:
    text = "policy:\n  rules: {host/idle: error, comm/*: off}\n  categories: {host: warn}\n  severities: {low: false}"
    policy = read(tmp_path, text).policy
    assert policy.rules == {"host/idle": "error", "comm/*": "off"}
    assert policy.categories == {"host": "warn"}
    assert policy.severities == {Severity.low: "off"}


def test_budgets_are_read_with_their_units(tmp_path: Path) -> None:
    text = """
budgets:
  free_share: 25%
  step_time: {limit: 0.25s, action: warn}
  memory: 60GiB
  saving_left: 10 ms
  slowdown: 0.02
"""
    budgets = read(tmp_path, text).policy.budgets
    assert [(one.name, one.limit, one.unit, one.action, one.measured) for one in budgets] == [
        ("free_share", 0.25, "share", "error", None),
        ("step_time", 250_000.0, "us", "warn", None),
        ("memory", 60 * 1024.0**3, "B", "error", None),
        ("saving_left", 10_000.0, "us", "error", None),
        ("slowdown", 0.02, "share", "error", None),
    ]


def test_suppressions_are_read_with_their_lines(tmp_path: Path) -> None:
    text = """
suppressions:
  - rule: host/*
    reason: Known.
  - fingerprint: 12345678901234e1
    reason: >-
      The switch is
      replaced in May.
    owner: 007
    expires: 2027-05-31
"""
    one, other = read(tmp_path, text).policy.suppressions
    assert (one.rule, one.fingerprint, one.reason, one.line) == ("host/*", "", "Known.", 3)
    assert (other.fingerprint, other.owner, other.expires, other.line) == ("12345678901234e1", "007", "2027-05-31", 5)
    assert other.reason == "The switch is replaced in May."


@pytest.mark.parametrize(
    "fingerprint", ["1234567890123456", "0123456789012345", "12345678901234e1", "1234567890123e99"]
)
def test_a_fingerprint_that_looks_like_a_number_stays_as_written(fingerprint: str, tmp_path: Path) -> None:
    for quoted in (fingerprint, f'"{fingerprint}"'):
        (one,) = read(tmp_path, f"suppressions: [{{fingerprint: {quoted}, reason: known}}]").policy.suppressions
        assert one.fingerprint == fingerprint


@pytest.mark.parametrize("day", ["2027-05-31", "'2027-05-31'", '"2027-05-31"'])
def test_a_day_is_the_same_with_and_without_quotes(day: str, tmp_path: Path) -> None:
    (one,) = read(tmp_path, f"suppressions: [{{rule: a/b, reason: known, expires: {day}}}]").policy.suppressions
    assert one.expires == "2027-05-31"


def test_what_counts_as_a_change_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, "compare: {floor: 2%, relative: 0.3, spread: 2, one_step: 50%}").tolerance
    assert found == Tolerance(floor=0.02, relative=0.3, spread=2.0, one_step=0.5)
    assert read(tmp_path, "language: zh").tolerance == Tolerance()


@pytest.mark.parametrize(
    "text", ["fail_on: new:high,critical", "fail_on: [new:high, critical]", "fail_on: 'new:high, critical'"]
)
def test_fail_on_takes_several(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, text)
    assert found.fail_on == (FailCondition(Severity.high, "new"), FailCondition(Severity.critical))
    assert found.level is Severity.critical


def test_fail_on_none_is_none_at_all(tmp_path: Path) -> None:
    found = read(tmp_path, "fail_on: none")
    assert (found.fail_on, found.level) == ((), None)
    assert read(tmp_path, "").fail_on is None


@pytest.mark.parametrize(
    "words", ["high,x", "new:", ":high", "new:hihg", "old:high", "high,none", "NEW:high", "new: high"]
)
def test_what_is_no_bar_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words.rpartition(",")[2].strip())):
        parse_bars(words.split(","))


def test_an_empty_file_and_empty_sections_demand_nothing(tmp_path: Path) -> None:
    for text in ("", "policy:\nbudgets:\nsuppressions:\ncompare:\n", "suppressions: []\npolicy: {}\n"):
        assert read(tmp_path, text).policy == Settings().policy


# every slip at its place


@pytest.mark.parametrize(
    ("text", "what"),
    [
        # policy
        ("policy: {rule: {}}", "1:10: unknown key `rule` | hint: did you mean `rules`?"),
        ("policy: [a]", "1:9: `policy` has to be a mapping of rules, categories and severities"),
        ("policy: {rules: off}", "1:17: `rules` has to be a mapping of rule ids to off, warn, error"),
        (
            "policy: {rules: {a/b: eror}}",
            "1:23: `a/b` is one of off, warn, error, not `eror` | hint: did you mean `error`?",
        ),
        ("policy: {rules: {a/b: true}}", "1:23: `a/b` is one of off, warn, error, not `true`"),
        ("policy: {rules: {a/b: }}", "1:18: `a/b` is one of off, warn, error"),
        ("policy: {rules: {a/b: [off]}}", "1:23: `a/b` is one of off, warn, error, not `a list or a mapping`"),
        ("policy: {severities: {hihg: warn}}", "1:23: unknown key `hihg` | hint: did you mean `high`?"),
        # budgets
        ("budgets: {idle: 1%}", "1:11: unknown key `idle`"),
        ("budgets: {free_share: 25}", "1:23: free_share: `25` is more than the whole | hint: did you mean `25%`?"),
        ("budgets: {free_share: 250%}", "1:23: free_share: `250%` is more than the whole"),
        ("budgets: {free_share: -1%}", "1:23: free_share: `-1%` is not a share | hint: for example `0.25` or `25%`"),
        ("budgets: {free_share: .nan}", "1:23: free_share: `.nan` is not a share | hint: for example `0.25` or `25%`"),
        ("budgets: {free_share: yes}", "1:23: free_share: `yes` is not a share | hint: for example `0.25` or `25%`"),
        ("budgets: {free_share: true}", "1:23: `free_share` is a share such as `0.25` or `25%`"),
        ("budgets: {free_share: }", "1:11: `free_share` is a share such as `0.25` or `25%`"),
        ("budgets: {free_share: [1%]}", "1:23: `free_share` is a share such as `0.25` or `25%`"),
        ("budgets: {step_time: 250}", "1:22: step_time: `250` has no unit | hint: a time is written like `250ms`"),
        ("budgets: {step_time: 250MS}", "1:22: step_time: unknown unit `MS` | hint: did you mean `ms`?"),
        ("budgets: {step_time: 1:30}", "1:22: step_time: `1:30` is not a time | hint: for example `250ms`"),
        ("budgets: {step_time: 1e999ms}", "1:22: step_time: `1e999ms` is not a time | hint: for example `250ms`"),
        (
            "budgets: {step_time: 1_000ms}",
            "1:22: step_time: `1_000ms` is not a time | hint: write `1000ms`, without `_` or `,`",
        ),
        ("budgets: {memory: 60}", "1:19: memory: `60` has no unit | hint: an amount of memory is written like `60GiB`"),
        ("budgets: {memory: 60G}", "1:19: memory: unknown unit `G` | hint: did you mean `GiB`?"),
        ("budgets: {memory: 60gb}", "1:19: memory: unknown unit `gb` | hint: did you mean `GB`?"),
        (
            "budgets: {saving_left: 20}",
            "1:24: saving_left: `20` is more than the whole | hint: did you mean `20%` or `20ms`?",
        ),
        ("budgets: {saving_left: 20GiB}", "1:24: saving_left: unknown unit `GiB`"),
        ("budgets: {memory: {limit: 60GiB, do: warn}}", "1:34: unknown key `do` | hint: known here: action, limit"),
        ("budgets: {memory: {action: warn}}", "1:19: `memory` is an amount of memory such as `60GiB`"),
        (
            "budgets: {memory: {limit: 60GiB, action: wran}}",
            "1:42: `action` is one of off, warn, error, not `wran` | hint: did you mean `warn`?",
        ),
        # suppressions
        ("suppressions: {rule: a/b}", "1:15: `suppressions` has to be a list | hint: begin each entry with `- `"),
        ("suppressions: [a/b]", "1:16: a suppression is a mapping with rule, fingerprint and reason"),
        ("suppressions: [{rule: a/b}]", "1:16: a suppression needs a reason in words"),
        ("suppressions: [{rule: a/b, reason: }]", "1:28: a suppression needs a reason in words"),
        ("suppressions: [{rule: a/b, reason: ''}]", "1:28: a suppression needs a reason in words"),
        ("suppressions: [{rule: a/b, reason: [x]}]", "1:28: a suppression needs a reason in words"),
        ("suppressions: [{reason: x}]", "1:16: a suppression names a rule, a fingerprint or both"),
        ("suppressions: [{rule: a/b, reason: x, until: 1}]", "1:39: unknown key `until`"),
        (
            "suppressions: [{fingerprint: ABCDEF0123456789, reason: x}]",
            "1:30: `ABCDEF0123456789` is no fingerprint: 16 of 0-9 and a-f | hint: did you mean `abcdef0123456789`?",
        ),
        (
            "suppressions: [{fingerprint: abc, reason: x}]",
            "1:30: `abc` is no fingerprint: 16 of 0-9 and a-f | hint: `advisor check` shows it with each finding",
        ),
        (
            "suppressions: [{rule: a/b, reason: x, expires: 2026-1-5}]",
            "1:48: `2026-1-5` is no day of the calendar | hint: did you mean `2026-01-05`?",
        ),
        (
            "suppressions: [{rule: a/b, reason: x, expires: 20260105}]",
            "1:48: `20260105` is no day of the calendar | hint: did you mean `2026-01-05`?",
        ),
        (
            "suppressions: [{rule: a/b, reason: x, expires: 2026-02-30}]",
            "1:48: `2026-02-30` is no day of the calendar | hint: days are written as YYYY-MM-DD",
        ),
        (
            "suppressions: [{rule: a/b, reason: x, expires: 05/01/2026}]",
            "1:48: `05/01/2026` is no day of the calendar | hint: days are written as YYYY-MM-DD",
        ),
        (
            "suppressions: [{rule: a/b, reason: x, owner: @perf}]",
            '1:46: not YAML: "found character that cannot start any token while scanning for the next token" | '
            'hint: a value that begins with one of @ ` % * & stands in quotes: "@team"',
        ),
        (
            "suppressions:\n  - rule: *\n    reason: x",
            '2:12: not YAML: "did not find expected alphabetic or numeric character" | '
            'hint: a value that begins with one of @ ` % * & stands in quotes: "@team"',
        ),
        (
            "suppressions:\n  - rule: a/b\n    reason: see: issue 12",
            '3:16: not YAML: "mapping values are not allowed in this context" | hint: a text with ": " in it stands in '
            "quotes",
        ),
        # compare
        ("compare: {floor: 2}", "1:18: floor: `2` is more than the whole | hint: did you mean `2%`?"),
        ("compare: {spread: 10%}", "1:19: `spread` is a number such as 2, not `10%`"),
        ("compare: {spread: -1}", "1:19: `spread` is a number such as 2, not `-1`"),
        ("compare: {spread: 1e999}", "1:19: `spread` is a number such as 2, not `1e999`"),
        ("compare: {spread: true}", "1:19: `spread` is a number such as 2, not `true`"),
        ("compare: {noise: 1}", "1:11: unknown key `noise`"),
        # fail_on
        (
            "fail_on: new: high",
            '1:13: not YAML: "mapping values are not allowed in this context" | hint: a text with ": " in it stands in '
            "quotes",
        ),
        (
            "fail_on: [new:hihg]",
            "1:10: `fail_on` is none, or any of info, low, medium, high, critical, not `new:hihg` | hint: did you mean "
            "`new:high`?",
        ),
        (
            "fail_on: often",
            "1:10: `fail_on` is none, or any of info, low, medium, high, critical, not `often` | hint: against a "
            "baseline also `new:high` or `worse:high`, without a blank",
        ),
        (
            "fail_on: [new:high, none]",
            "1:10: `fail_on` is none, or any of info, low, medium, high, critical, not `none` | hint: `none` stands "
            "alone",
        ),
        # signs of a Chinese keyboard
        ("budgets：{free_share: 1%}", "1:1: unknown key `budgets：{free_share` | hint: write `:` instead of `：`"),
        ("budgets：\n  free_share: 1%", '1:8: not YAML: "mapping values are not allowed'),
        ("budgets: {free_share: 25％}", "1:23: free_share: `25％` is not a share | hint: write `%` instead of `％`"),
        (
            "fail_on: new：high",
            "1:10: `fail_on` is none, or any of info, low, medium, high, critical, not `new：high` | hint: write `:` "
            "instead of `：`",
        ),
        # YAML that is not read
        ("rules: &all {a/b: off}\npolicy: *all", "1:8: anchors with aliases are not read here"),
        ("budget: {}", "1:1: unknown key `budget` | hint: did you mean `budgets`?"),
    ],
)
def test_a_slip_is_told_at_its_place_with_what_would_be_right(text: str, what: str, tmp_path: Path) -> None:
    (only,) = told(tmp_path, text)
    assert only.startswith(what)


def test_all_slips_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """
fail_on: often
compare: {floor: 3}
suppressions:
  - reason: x
budgets: {memory: 1}
policy: {rules: {a/b: no}}
rules: {c/d: 5}
"""
    assert [one.split(":")[0] for one in told(tmp_path, text)] == ["2", "3", "5", "6", "7", "8"]


def test_a_rule_of_a_category_that_is_not_here_is_taken_for_one_of_the_project(rules: Path) -> None:
    text = """
rules: {acme/idle: {severity: high}, "acme/*": off}
policy: {rules: {acme/idle: off, "acme/*": warn}}
suppressions: [{rule: acme/slow, reason: x}]
"""
    with pytest.raises(RuleError) as caught:
        Catalog.load([rules], read(rules.parent, text))
    hints = [str(mistake).rsplit("hint: ", 1)[1] for mistake in caught.value.mistakes]
    assert hints == ["`advisor rules list` shows them all; rules of your own need `--rules DIR`"] * 5


def test_names_that_do_not_exist_come_with_a_suggestion(rules: Path) -> None:
    text = """
policy:
  rules: {host/idel: off, hots/*: warn, host/*: warn}
  categories: {hots: off, comm: off}
suppressions:
  - {rule: host/bussy, reason: x}
  - {rule: comm/*, reason: x}
"""
    with pytest.raises(RuleError) as caught:
        Catalog.load([rules], read(rules.parent, text))
    assert [said(str(mistake)) for mistake in caught.value.mistakes] == [
        "3:11: unknown rule `host/idel` | hint: did you mean `host/idle`?",
        "3:27: no rule matches `hots/*` | hint: did you mean `host/*`?",
        "4:16: no rule is of category `hots` | hint: did you mean `host`?",
        "6:12: unknown rule `host/bussy` | hint: did you mean `host/busy`?",
    ]


def test_a_demand_on_a_rule_that_is_turned_off_is_a_mistake(rules: Path) -> None:
    text = "rules: {host/*: off, host/busy: on}\npolicy:\n  rules: {host/busy: error, host/idle: error, host/*: error}"
    with pytest.raises(RuleError) as caught:
        Catalog.load([rules], read(rules.parent, text))
    assert [said(str(mistake)) for mistake in caught.value.mistakes] == [
        "3:29: `host/idle` is turned off under `rules`, so it never finds anything | "
        "hint: turn it on there, or leave it out here",
    ]
    Catalog.load([rules], read(rules.parent, text.replace("host/idle: error", "host/idle: off")))


# amounts


@given(st.floats(0, 1), st.sampled_from(["", "%"]))
def test_a_share_is_read_as_it_is_written(value: float, unit: str) -> None:
    written = value * 100 if unit else value
    if written * (0.01 if unit else 1.0) <= 1:
        assert parse_amount(f"{written!r}{unit}", SHARE)[0] == pytest.approx(value)


@given(st.floats(0, 1e6), st.sampled_from(sorted(TIME.units)), st.sampled_from(["", " "]))
def test_a_time_is_read_in_any_unit(value: float, unit: str, blank: str) -> None:
    assert parse_amount(f"{value!r}{blank}{unit}", TIME) == (value * TIME.units[unit], "us")


@pytest.mark.parametrize(
    ("words", "microseconds"),
    [("7us", 7.0), ("7µs", 7.0), ("7μs", 7.0), ("2.5 ms", 2500.0), ("3s", 3_000_000.0), (".5ms", 500.0)],
)
def test_a_time_is_worth_so_many_microseconds(words: str, microseconds: float) -> None:
    assert parse_amount(words, TIME) == (microseconds, "us")


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("5B", 5),
        ("5KiB", 5_120),
        ("5MiB", 5_242_880),
        ("64GiB", 68_719_476_736),
        ("2TiB", 2_199_023_255_552),
        ("5KB", 5_000),
        ("5MB", 5_000_000),
        ("64GB", 64_000_000_000),
        ("64 GB", 64_000_000_000),
        ("2TB", 2_000_000_000_000),
    ],
)
def test_an_amount_of_memory_is_worth_so_many_bytes(words: str, size: int) -> None:
    assert parse_amount(words, MEMORY) == (size, "B")


def test_every_unit_that_may_be_written_has_its_value_above() -> None:
    assert set(TIME.units) == {"us", "µs", "μs", "ms", "s"}
    assert set(MEMORY.units) == {"B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB"}


@given(st.text(max_size=12))
def test_any_words_give_an_amount_or_say_why_not(words: str) -> None:
    for measures in ((SHARE,), (TIME,), (MEMORY,), (SHARE, TIME)):
        try:
            value, unit = parse_amount(words, *measures)
        except Unclear as unclear:
            assert str(unclear)
        else:
            assert value >= 0
            assert unit in {measure.unit for measure in measures}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "policy": st.fixed_dictionaries({}, optional=dict.fromkeys(("rules", "categories", "severities"), _JSON)),
            "budgets": st.fixed_dictionaries({}, optional=dict.fromkeys(("free_share", "memory"), _JSON)),
            "suppressions": st.lists(
                st.fixed_dictionaries({}, optional=dict.fromkeys(("rule", "reason", "expires", "owner"), _JSON))
            ),
            "compare": st.fixed_dictionaries({}, optional=dict.fromkeys(("floor", "spread"), _JSON)),
            "fail_on": _JSON,
        },
    )
)
def test_anything_is_read_or_refused_with_its_places(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    folder = tmp_path_factory.mktemp("any")
    try:
        read(folder, json.dumps(data))
    except RuleError as error:
        assert all(mistake.place.line for mistake in error.mistakes if "larger" not in str(mistake.what))
