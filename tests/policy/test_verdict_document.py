# SPDX-License-Identifier: Apache-2.0
"""What a verdict says on the terminal, and that nothing in a profile speaks there for itself."""

from __future__ import annotations

import io
import re
from datetime import date
from pathlib import Path

import pytest
from gate_samples import RULES, comparison, diagnosis, finding
from rich.console import Console

from advisor.messages.errors import RuleError
from advisor.messages.text import LANGUAGES, Language, Text
from advisor.model.comparison import Comparison, Status
from advisor.model.findings import Diagnosis, Severity
from advisor.model.unread import Unread
from advisor.model.verdict import Budget, Suppression
from advisor.policy.gate import ALONE, judge_by_policy
from advisor.policy.policy import FailCondition, Policy
from advisor.policy.settings import Settings
from advisor.report.pages import document_page
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.verdict.document import Judged, verdict_document

TODAY = date(2026, 11, 20)
FREE = finding("host/free-time", Severity.high, 200)
LATE = finding("host/late-launches", Severity.medium, 100)
CAST = finding("compute/cast-excess", Severity.medium, 50, "Cast")


def printed(
    found: Diagnosis,
    policy: Policy | None = None,
    language: Language = "en",
    against: Comparison | None = None,
    fail_on: tuple[FailCondition, ...] = ALONE,
) -> str:
    said = judge_by_policy(found, against, policy or Policy(), fail_on, TODAY)
    out = io.StringIO()
    judged = Judged(found, against, said, "advisor.yaml", TODAY)
    print_document(verdict_document(judged, language), Console(file=out, width=100, force_terminal=False))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_a_pass_without_anything_to_say_is_one_line() -> None:
    assert printed(diagnosis()) == "Passed: no objections."
    assert printed(diagnosis(), language="zh") == "通过：没有需要处理的问题。"


def test_a_pass_that_rests_on_nothing_does_not_say_that_all_is_well() -> None:
    blind = diagnosis(outcomes=dict.fromkeys(RULES, "skipped"))
    assert printed(blind) == "Not judged.\n\n– No rule could look at this run: nothing is known of it."
    suppressed = Policy(suppressions=(Suppression(rule="*", reason="a fire drill"),))
    assert printed(diagnosis(FREE), suppressed).startswith("Passed.\n\nSuppressed: 1\n")


def test_what_failed_is_told_with_its_rule_place_saving_status_and_reason() -> None:
    found = diagnosis(FREE, LATE)
    against = comparison(found, {FREE.fingerprint: "new", LATE.fingerprint: "same"}, step=(940.0, 1000.0))
    said = printed(found, against=against, fail_on=(FailCondition(Severity.high, "new"),))
    assert said.startswith(
        "Failed: 1 finding.\n"
        "Against the baseline: 1 new, 1 the same; mean step 940 µs → 1.00 ms (longer).\n"
        "\n"
        "✗ State of host/free-time\n"
        "  high  new  saving about 200 µs per step (20 %)\n"
        f"  rank 0  host/free-time {FREE.fingerprint}  set by fail_on new:high\n"
        "\n"
        "Known from the baseline, not worse: 1\n"
    )


@pytest.mark.parametrize(
    ("status", "listed"), [("new", 1), ("worse", 1), ("not comparable", 1), ("same", 0), ("better", 0)]
)
def test_warnings_known_from_the_baseline_are_only_counted(status: Status, listed: int) -> None:
    found = diagnosis(FREE)
    said = printed(found, against=comparison(found, {FREE.fingerprint: status}), fail_on=())
    assert said.count("\n! ") == listed
    assert ("Known from the baseline, not worse: 1" in said) == (not listed)


def test_what_stands_between_the_two_captures_is_said() -> None:
    found = diagnosis()
    against = comparison(found, {}, step=(1000.0, 1000.0)).model_copy(
        update={"notes": (Text(en="Other\x1b[2J chip.", zh="芯片不同。"),)}
    )
    lines = printed(found, against=against).splitlines()
    step = "mean step 1.00 ms → 1.00 ms (within noise)"
    assert lines[1:] == [f"Against the baseline: no findings on either side; {step}.", "– Other\\u001b[2J chip."]


def test_a_window_is_named_in_the_middle_of_a_sentence() -> None:
    found = diagnosis()
    unmarked = found.model_copy(update={"run": found.run.model_copy(update={"times_of": "window", "steps": ()})})
    against = comparison(unmarked, {}, step=(1000.0, 1000.0))
    against = against.model_copy(update={"before": unmarked})
    assert "; the captured window 1.00 ms" in printed(unmarked, against=against)


def test_a_verdict_is_a_document_that_every_format_writes() -> None:
    found = diagnosis(FREE)
    made = verdict_document(
        Judged(found, None, judge_by_policy(found, None, Policy(), ALONE, TODAY), "advisor.yaml", TODAY), "en"
    )
    text, html = document_text(made), document_page(made)
    assert text.startswith("# Failed: 1 finding.\n\n- **State of")
    assert "```yaml\n- rule: host/free-time\n" in text
    assert '<h1><span class="tone-bad">Failed</span>: 1 finding.</h1>' in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_that_could_not_be_read_is_named_whatever_else_there_is_to_warn_of(language: Language) -> None:
    lost = Unread(file="step_trace_raw_1_detail_time.csv", what="has headings and no row")
    found = diagnosis(*(finding(f"host/rule-{n}", Severity.medium, n) for n in range(9)))
    said = printed(found.model_copy(update={"unread": (lost,)}), language=language)
    assert "step_trace_raw_1_detail_time.csv" in said


def test_warnings_asked_for_are_listed_and_long_lists_are_cut() -> None:
    many = diagnosis(*(finding("compute/cast-excess", Severity.medium, 50, f"Op{i}") for i in range(8)))
    said = printed(many)
    assert said.startswith("Passed: 8 warnings.")
    assert said.count("\n! ") == 5
    assert "and 3 more" in said
    failing = printed(diagnosis(*(finding("compute/cast-excess", Severity.high, 50, f"Op{i}") for i in range(12))))
    assert failing.count("\n✗ ") == 10
    assert "and 2 more" in failing


def test_budgets_are_a_table_that_shows_which_is_above() -> None:
    limits = [
        {"name": "free_share", "unit": "share", "limit": 0.2999},
        {"name": "step_time", "unit": "us", "limit": 2000, "action": "warn"},
        {"name": "memory", "unit": "B", "limit": 50 * 1024.0**3 - 1, "action": "warn"},
        {"name": "slowdown", "unit": "share", "limit": 0.02},
        {"name": "free_share", "unit": "share", "limit": 0.3001},
    ]
    said = printed(diagnosis(), Policy(budgets=tuple(map(Budget.model_validate, limits))))
    rows = [re.split(r" {2,}", line) for line in said.splitlines()[2:8]]
    assert rows == [
        ["Budget", "Limit", "Measured", "Result"],
        ["idle share", "29.99 %", "30 %", "exceeded"],
        ["step, slowest rank", "2.00 ms", "1.00 ms", "kept"],
        ["peak memory", "53,687,091,199 B", "53,687,091,200 B", "exceeded (warning)"],
        ["slowdown of the mean step", "2.0 %", "–", "not measured"],
        ["idle share", "30 %", "30 %", "kept"],
    ]
    assert said.startswith("Failed: 1 budget exceeded, 1 warning.")
    assert "Budget slowdown: not measured, because there is no baseline" in said


def test_suppressions_are_told_used_expired_and_unused() -> None:
    policy = Policy(
        suppressions=(
            Suppression(rule="host/*", reason="The loader is being rewritten", owner="@data", expires="2027-01-31"),
            Suppression(rule="compute/*", reason="Known", expires="2026-01-31", line=7),
            Suppression(rule="comm/small-packets", reason="Later", line=9),
        )
    )
    said = printed(diagnosis(FREE, CAST), policy)
    assert "Suppressed: 1\n– State of host/free-time  The loader is being rewritten, @data, until 2027-01-31" in said
    assert "no longer in force\n– advisor.yaml:7  compute/*  ended 2026-01-31, Known" in said
    assert "can be removed\n– advisor.yaml:9  comm/small-packets  Later" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_suppression_that_is_offered_is_refused_until_it_has_a_reason(language: Language, tmp_path: Path) -> None:
    said = printed(diagnosis(FREE), language=language)
    offered = "suppressions:\n" + said[said.index("  - rule:") :] + "\n"
    path = tmp_path / "advisor.yaml"
    path.write_text(offered, "utf-8")
    with pytest.raises(RuleError, match="needs a reason"):
        Settings.read(path)
    path.write_text(offered.replace("reason:  #", "reason: known  #"), "utf-8")
    (one,) = Settings.read(path).policy.suppressions
    assert (one.rule, one.fingerprint, one.reason) == (FREE.rule, FREE.fingerprint, "known")
    assert judge_by_policy(diagnosis(FREE), None, Settings.read(path).policy, ALONE, TODAY).passed


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_in_a_profile_or_its_settings_speaks_for_itself(language: Language) -> None:
    bad = "\x1b[31m\u202e[red]x\n::error::y"
    odd = finding(f"host/{bad}", Severity.high).model_copy(update={"fingerprint": bad})
    policy = Policy(
        suppressions=(Suppression(rule="comm/small-packets", reason=bad, owner=bad, line=3),),
        rules={f"host/{bad}": "error"},
    )
    said = printed(diagnosis(odd), policy, language)
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "[red]x" in said
    assert not re.search(r"^::error", said, re.M)
    offered = "suppressions:\n" + said[said.index("  - rule:") :].replace("reason:  #", "reason: a #")
    assert 'rule: "host/' in offered


@pytest.mark.parametrize("status", ["new", "worse", "same", "better", "not comparable"])
def test_chinese_is_chinese(status: str) -> None:
    found = diagnosis(FREE, LATE)
    against = comparison(found, {FREE.fingerprint: status, LATE.fingerprint: "new"}, step=(900.0, 1000.0))  # type: ignore[dict-item]
    said = printed(found, language="zh", against=against, fail_on=(FailCondition(Severity.medium, "new"),))
    ours = re.sub(
        r"host/\S+|[0-9a-f]{16}|fail_on \S+|advisor.yaml|suppressions|rule|reason|expires|fingerprint|rank", "", said
    )
    assert not re.search(r"[a-z]{4,}", ours), ours
