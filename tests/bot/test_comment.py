# SPDX-License-Identifier: Apache-2.0
"""The comment: verdict first, short, in one language; and nothing in a profile can act in it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_samples import CONVERSION, DISPATCH, EXPOSED, FREE, HOSTILE, RUN, SHAPES, finding, rich

from advisor.bot.comment import headline, render_comment
from advisor.bot.sticky import comment_mark
from advisor.comparison import compare
from advisor.messages.text import LANGUAGES, Language, Text
from advisor.model.comparison import Comparison, Metric, Moved, Shift
from advisor.model.findings import Confidence, Diagnosis, Evidence, Saving, Severity, fingerprint
from advisor.model.unread import Unread
from advisor.model.verdict import Budget, BudgetName, Ruling, Suppression, Verdict
from advisor.report.diagnosis.document import DiagnosisBlocks
from tests.shared_captures import SharedCaptures

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
LINKING = MarkdownIt("gfm-like", {"html": True, "linkify": False})
OURS = re.compile(
    r"<!-- advisor:diagnosis(?: [\w.-]+)? -->|<!-- advisor:findings\n(?:[0-9A-Za-z_]+ [0-9a-z_/-]+\n)*-->"
    r"|<details><summary>[^<>]*</summary>|</details>"
)
FOUND = (Phase.explicit, Phase.reuse, Phase.generate)
"""Making a failing name shorter takes minutes here, and names are short already."""
URL = "https://ci.example.org/runs/17?tab=report"
ACTING = (
    *HOSTILE[:8],
    "@team/devs", "a@b.example", "#12", "!34", "$56", "%7", "~bug", "&8", "^alert#9", "GH-12", "org/repo#1", "o/r!2",
    "http://evil.example", "www.evil.example", "mailto:x@y.example", "ftp://x",
    "/close", "\n/close", "x\n/merge\n", "\r\n/approve", "\u2028/assign @me", "- [x] done", "\n\n# heading\n\n",
    "![](x)", "[a](b)", "[a]: b", "<a href=x>", "<!-- advisor:diagnosis -->", "-->", "<!--", "\n-->\n<b>",
    "</details>", "```\n/close", "&lt;b&gt;", "&#64;all", "\\", "`", "``", "|", "{color:red}", "$$x$$", "$`x`$",
    ":rocket:", "\x1b[31m", "\u202e", "1. x",
    "> x", "---", "===", "***", "__x__", "~~x~~", "[[page]]", "{+ x +}", "\t/close", "\u200b/close",
)  # fmt: skip
names = st.one_of(
    st.sampled_from(ACTING),
    st.text(max_size=30),
    st.lists(st.sampled_from(ACTING), min_size=2, max_size=3).map("".join),
    st.text(st.sampled_from("`|\\<>[]()!*_~#@:/.-=+ 1ax&;\n$%^{}\"'"), max_size=20),
)


def tokens(text: str, parser: MarkdownIt = PARSER) -> list[Token]:
    flat = []
    for token in parser.parse(text):
        flat += [token, *(token.children or [])]
    return flat


def hostile_diagnosis(given_names: tuple[str, ...]) -> Diagnosis:
    """Findings whose every text from a profile is one of these names."""
    base = rich(given_names)
    odd = finding(
        CONVERSION,
        500,
        Severity.medium,
        subject={"op_type": given_names[0], "rank": given_names[-1]},
        evidence=(Evidence(name=given_names[0], value=given_names[-1], unit=""),),
    )
    run = RUN.model_copy(update={"name": given_names[0], "chip": given_names[0], "notes": given_names})
    return base.model_copy(update={"findings": (odd, *base.findings), "run": run, "version": given_names[-1]})


def moved_by(given_names: tuple[str, ...], comparison: Comparison) -> Comparison:
    """The same with every name in the account and the metrics as hostile."""
    moved = tuple(
        Moved(part="compute", name=name, before_us=1.0, after_us=900.0, beyond_noise=True) for name in given_names
    )
    changes = tuple(
        change.model_copy(
            update={
                "saving_before": None,
                "saving_after": None,
                "metrics": (Metric(name=given_names[0], before=given_names[-1], after=given_names[0]),),
            }
        )
        for change in comparison.changes
    )
    return comparison.model_copy(update={"moved": moved, "changes": changes})


def visible(text: str) -> str:
    """The text that a reader sees outside code, as a forge would search it for references."""
    return "\n".join(token.content for token in tokens(text) if token.type in ("text", "text_special"))


def assert_harmless(text: str, begins: str = comment_mark()) -> None:
    parsed = tokens(text)
    html = "".join(token.content for token in parsed if token.type in ("html_inline", "html_block"))
    assert OURS.sub("", html).strip() == ""
    links = {token.attrs["href"] for token in parsed if token.type == "link_open"}
    assert links <= {URL}
    assert not [token for token in parsed if token.type in ("image", "em_open", "s_open", "code_block", "fence", "hr")]
    assert {token.tag for token in parsed if token.type == "heading_open"} == {"h3"}
    assert not [token for token in tokens(text, LINKING) if token.type == "table_open"]
    seen = visible(text)
    assert not re.search(r"(?<![\w\u200b])@\w|[#!$%~&^]\w|://|(?<!\w)www\.\w|(?<!\w)mailto:\w|GH-\d", seen), seen
    for line in text.splitlines():
        assert not re.match(r"[\s\u200b]*/\w", line)  # a quick action of GitLab
    assert text.startswith(begins + "\n")
    assert text.count(begins) == 1 or begins in "".join(c.content for c in parsed if c.type == "code_inline")
    text.encode()  # half of a character pair does not travel


@given(st.tuples(names | st.just("\ud800"), names, names))
@settings(max_examples=40, phases=FOUND)
def test_nothing_from_a_profile_acts(given_names: tuple[str, ...]) -> None:
    for language in LANGUAGES:
        assert_harmless(render_comment(hostile_diagnosis(given_names), language=language, report_url=URL))


@given(st.tuples(names, names))
@settings(max_examples=25, phases=FOUND)
def test_nothing_from_two_profiles_acts(given_names: tuple[str, ...]) -> None:
    after = hostile_diagnosis(given_names)
    before = hostile_diagnosis(tuple(reversed(given_names))).model_copy(update={"findings": after.findings[3:5]})
    for one, other in ((before, after), (after, before)):
        comparison = compare(one, other)
        assert_harmless(render_comment(other, comparison, verdict=failing(other), report_url=URL))
        assert_harmless(render_comment(other, moved_by(given_names, comparison), language="zh", report_url=URL))


@given(st.tuples(names, names))
@settings(max_examples=25, phases=FOUND)
def test_nothing_in_a_saved_diagnosis_acts(given_names: tuple[str, ...]) -> None:
    """A .json can be written by anybody: ids and texts of rules may hold anything too."""
    text = Text(en=given_names[0] or "x", zh=given_names[-1] or "x")
    rule = CONVERSION.model_copy(
        update={"id": given_names[0], "title": text, "why": text, "fix": (CONVERSION.fix[0].model_copy(update={
            "do": text, "run": given_names[-1], "code": given_names[0]}),)}
    )  # fmt: skip
    odd = finding(rule, 500, Severity.low).model_copy(update={"fingerprint": given_names[-1]})
    diagnosis = rich().model_copy(update={"rules": (rule,), "findings": (odd, *rich().findings)})
    comparison = compare(rich().model_copy(update={"findings": ()}), diagnosis)
    for language in LANGUAGES:
        assert_harmless(render_comment(diagnosis, language=language))
        assert_harmless(render_comment(diagnosis, comparison, language=language))


def test_a_name_that_is_the_mark_cannot_begin_a_comment() -> None:
    text = render_comment(hostile_diagnosis((comment_mark("other"), comment_mark(), comment_mark())), name="mine")
    assert text.startswith("<!-- advisor:diagnosis mine -->\n")
    assert_harmless(text, comment_mark("mine"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_diagnosis_has_a_comment(shape: str, language: Language) -> None:
    diagnosis = SHAPES[shape]
    for text in (
        render_comment(diagnosis, language=language),
        render_comment(diagnosis, compare(SHAPES["rich"], diagnosis), language=language),
        render_comment(diagnosis, compare(SHAPES["empty"], diagnosis), failing(diagnosis), language=language),
    ):
        assert_harmless(text)
        assert len(text.splitlines()) < 80


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_comment_speaks_one_language(language: Language) -> None:
    diagnosis = rich(("a", "b"))
    comparison = compare(diagnosis.model_copy(update={"findings": diagnosis.findings[2:]}), diagnosis)
    text = render_comment(diagnosis, comparison, failing(diagnosis), language, URL)
    if language == "en":
        assert not re.search(r"[\u4e00-\u9fff]", text)
    else:
        words = re.sub(r"<!--.*?-->|`[^`]*`|\(<[^>]*>\)|</?[a-z]+>", "", text, flags=re.DOTALL)
        left = set(re.findall(r"[A-Za-z]{2,}", words)) - {"ms", "advisor", "rank", "step", "stage"}
        assert left == set()


def failing(diagnosis: Diagnosis) -> Verdict:
    return Verdict(
        passed=False,
        rulings=tuple(
            Ruling(rule=one.rule, fingerprint=one.fingerprint, severity=one.severity, action="error")
            for one in diagnosis.findings[:2]
        ),
        budgets=(Budget(name="free_share", unit="share", limit=0.2, measured=0.34),),
    )


def with_findings(*findings: Any) -> Diagnosis:
    rules = tuple(sorted((EXPOSED, DISPATCH, FREE, CONVERSION), key=lambda info: info.id))
    return rich(("a",)).model_copy(update={"findings": findings, "rules": rules})


SLOW = finding(
    EXPOSED,
    57_000,
    Severity.critical,
    evidence=(Evidence(name="exposed_share", value=0.7, unit="share", threshold=0.1),),
)
IDLE = finding(FREE, 14_000, Severity.medium, evidence=(Evidence(name="free_share", value=0.22, unit="share"),))
LAUNCH = finding(DISPATCH, 21_000, Severity.high, evidence=(Evidence(name="vertical_share", value=0.83, unit="share"),))


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def changed(before: Diagnosis, after: Diagnosis, **more: object) -> Comparison:
    return compare(before, after).model_copy(update=more)


def test_without_a_baseline_the_verdict_comes_first_and_then_what_to_fix_first() -> None:
    said = lines(render_comment(with_findings(SLOW, LAUNCH, IDLE, *rich(("x",)).findings[3:]), report_url=URL))
    assert said[0] == "<!-- advisor:diagnosis -->"
    assert said[1].startswith("### A step takes 117 ms")
    assert said[2] == "**Fix first**"
    assert said[3].startswith(
        "- **critical** · Communication is exposed for 70 % of each step — saving about 57.0 ms per step (49 %)"
    )
    assert said[4] == "  - First step: Let gradient buckets be sent while the backward pass still runs."
    assert said[9] == "Savings overlap and do not add up."
    assert said[10] == "<details><summary>Other findings: 1</summary>"
    assert said[13].startswith(f"[Report](<{URL}>) · made by advisor")


def test_what_is_the_same_time_as_a_cause_names_that_instead_of_a_step_of_its_own() -> None:
    idle = IDLE.model_copy(update={"causes": (LAUNCH.fingerprint,), "restated": IDLE.saving})
    after = with_findings(LAUNCH, idle)
    said = lines(render_comment(after, changed(with_findings(), after)))
    (at,) = (place for place, line in enumerate(said) if line.startswith("- **medium** · The device is idle"))
    cause = said[at - 2].removeprefix("- **high** · ").partition(" — ")[0]
    assert said[at + 1] == f"  - Caused by: {cause}"
    assert sum("First step" in line for line in said) == 1
    chinese = lines(render_comment(after, changed(with_findings(), after), language="zh"))
    assert sum(line.startswith("  - 根因：") for line in chinese) == 1


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "Savings overlap and do not add up."), ("zh", "各项收益有重叠，不可相加。")]
)
def test_that_savings_do_not_add_up_is_said_where_there_are_several(language: Language, sentence: str) -> None:
    one, two = with_findings(LAUNCH), with_findings(SLOW, LAUNCH)
    assert sentence in lines(render_comment(two, language=language))
    assert sentence in lines(render_comment(two, changed(with_findings(), two), language=language))
    assert sentence not in render_comment(one, language=language)
    assert sentence not in render_comment(two, changed(one, two), language=language)


def test_what_the_gate_could_not_judge_without_a_baseline_is_said() -> None:
    verdict = Verdict(passed=True, unjudged=("new:high",))
    (said,) = (line for line in lines(render_comment(with_findings(SLOW), verdict=verdict)) if "Gate" in line)
    assert said == "**Gate: passed** · not judged because there is no baseline: new:high"


def test_against_a_baseline_new_and_worse_come_first_then_better_and_gone_then_the_rest_folded() -> None:
    idle_before = IDLE.model_copy(update={"saving": Saving(us=3_000, share=3 / 117)})
    before, after = with_findings(LAUNCH, idle_before), with_findings(SLOW, IDLE)
    comparison = changed(
        before,
        after,
        shifts=(Shift(name="step", before_us=98_000, after_us=117_000, noise_us=2_000, status="worse"),),
        moved=(
            Moved(part="communication", name="allReduce", before_us=1, after_us=18_001, beyond_noise=True),
            Moved(part="free", name="host_late", before_us=9_000, after_us=8_000, beyond_noise=True),
            Moved(part="compute", name="MatMul", before_us=5_000, after_us=4_990, beyond_noise=False),
        ),
        confidence=Confidence.high,
    )
    said = lines(render_comment(after, comparison))
    assert said[1] == "### Mean step 98.0 ms → 117 ms (+19 %): slower"
    assert said[2] == "What changed most: exposed communication `allReduce` (+18.0 ms) · idle: late launch (−1.00 ms)"
    assert said[3] == "**New or worse**"
    assert [" — new · saving about 57.0 ms" in said[4], " — worse · about 3.00 ms → 14.0 ms per step" in said[6]] == [
        True,
        True,
    ]
    assert said[8] == "Savings overlap and do not add up."
    assert said[9] == "**Better or gone**"
    assert (
        said[10]
        == "- **high** · 83 % of launches reach a device that has run dry — gone · before: about 21.0 ms per step"
    )
    assert headline(after, comparison, "zh") == "平均单步 98.0 ms → 117 ms（+19 %）：变慢"


def test_an_upper_bound_is_no_estimate_where_it_moved_or_is_gone_either() -> None:
    bounded, launch = (one.model_copy(update={"at_most": True}) for one in (IDLE, LAUNCH))
    before = bounded.model_copy(update={"saving": Saving(us=3_000, share=3 / 117)})
    after = with_findings(SLOW, bounded)
    said = "\n".join(lines(render_comment(after, changed(with_findings(launch, before), after))))
    assert "worse · at most 3.00 ms → 14.0 ms per step" in said
    assert "gone · before: at most 21.0 ms per step" in said
    assert "new · saving about 57.0 ms" in said


def test_a_difference_is_written_as_in_reports() -> None:
    after = with_findings(SLOW)
    shift = Shift(name="step", before_us=4_000, after_us=100_000, noise_us=2_000, status="worse")
    said = headline(after, changed(after, after, shifts=(shift,)), "en")
    assert said == "Mean step 4.00 ms → 100 ms (×25): slower"


def test_a_step_of_which_one_side_knows_no_time_is_said_so() -> None:
    after = with_findings(SLOW)
    said = render_comment(after, changed(after, after, shifts=()))
    assert "The step time cannot be compared with the baseline." in said
    assert "Nothing new and nothing worse than in the baseline." in said
    assert " — the same" in said


def test_a_single_step_is_said_to_be_little() -> None:
    after = with_findings(SLOW)
    assert "Low confidence" in render_comment(after, changed(after, after, confidence=Confidence.low))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_comment_puts_first_what_the_report_puts_first(language: Language) -> None:
    for diagnosis in SHAPES.values():
        answer = DiagnosisBlocks(diagnosis, language).headline
        text = render_comment(diagnosis, language=language)
        headings = [line for line in text.splitlines() if re.fullmatch(r"\*\*[^*]+\*\*", line)]
        assert headings[:1] == ([f"**{answer.label}**"] if answer.first else [])
        assert answer.first is None or f"<!-- advisor:findings\n{answer.first.finding.fingerprint} " in text


def test_a_symptom_without_a_cause_is_not_called_what_to_fix() -> None:
    idle = FREE.id
    only = finding(FREE, 20_000, Severity.high, restated=Saving(us=30_000, share=0.3))
    text = render_comment(with_findings(only))
    assert "**Known so far**" in text and "Fix first" not in text and idle in text


def test_a_healthy_job_is_told_so_and_its_trifles_are_folded() -> None:
    text = render_comment(with_findings(finding(CONVERSION, 900, Severity.low)))
    assert "Nothing needs fixing" in text and "The next gain would be: " in text
    assert "Fix first" not in text and "First step" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_that_could_not_be_read_is_named(language: Language) -> None:
    lost = Unread(file="job.tar.gz", what="is damaged; what comes after is lost")
    found = with_findings(SLOW).model_copy(update={"unread": (lost,)})
    assert "job.tar.gz" in render_comment(found, language=language)


def test_the_gate_says_whether_and_why() -> None:
    diagnosis = with_findings(SLOW, LAUNCH, IDLE)
    said = render_comment(diagnosis, verdict=failing(diagnosis))
    assert "**Gate: failed** · findings that fail the run: 2 · idle share 34 % over the limit 20 %" in said
    assert "**Gate: passed**" in render_comment(diagnosis, verdict=Verdict(passed=True))


def test_what_the_gate_could_not_see_is_said() -> None:
    note = Text(en="No rule could look at this run: nothing is known of it.", zh="没有规则能检查。")
    said = render_comment(SHAPES["blind"], verdict=Verdict(passed=False, blind=True, notes=(note,)))
    assert "**Gate: not judged**" in said and note.en in said


@pytest.mark.parametrize("name", get_args(BudgetName))
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_budget_there_may_be_has_a_word(name: Any, language: Language) -> None:
    budget = Budget(name=name, unit="share", limit=0.1, measured=0.2)
    assert "20 %" in render_comment(SHAPES["fine"], verdict=Verdict(passed=False, budgets=(budget,)), language=language)


def test_what_stands_between_two_captures_is_folded() -> None:
    diagnosis = with_findings(SLOW)
    other = diagnosis.model_copy(update={"run": RUN.model_copy(update={"chip": "Ascend310P @all"})})
    _, folded = render_comment(diagnosis, compare(other, diagnosis)).split("<summary>How the two captures differ")
    assert "Ascend910B" in folded
    assert "@all" not in folded


def test_a_capture_without_steps_is_compared_as_a_window() -> None:
    diagnosis = with_findings(SLOW).model_copy(update={"run": RUN.model_copy(update={"steps": ()})})
    shift = Shift(name="step", before_us=98_000, after_us=117_000, noise_us=2_000, status="worse")
    assert headline(diagnosis, changed(diagnosis, diagnosis, shifts=(shift,)), "en").startswith(
        "Captured window 98.0 ms"
    )


def test_what_a_project_lives_with_is_folded_and_said_to_be() -> None:
    diagnosis = with_findings(SLOW, IDLE)
    lived = Ruling(
        rule=SLOW.rule,
        fingerprint=SLOW.fingerprint,
        severity=SLOW.severity,
        action="error",
        suppressed=Suppression(rule=SLOW.rule, reason="known"),
    )
    for comparison in (None, compare(with_findings(), diagnosis)):
        text = render_comment(diagnosis, comparison, Verdict(passed=True, rulings=(lived,)))
        open_part, folded = text.split("<details>", 1)
        assert "Communication is exposed" not in open_part
        assert re.search(r"Communication is exposed.* — .*suppressed", folded)


def test_what_a_project_does_not_want_to_hear_of_leads_neither_comment_nor_comparison() -> None:
    diagnosis = with_findings(SLOW, IDLE)
    unwanted = Ruling(rule=SLOW.rule, fingerprint=SLOW.fingerprint, severity=SLOW.severity, action="off")
    for comparison in (None, compare(with_findings(), diagnosis)):
        text = render_comment(diagnosis, comparison, Verdict(passed=True, rulings=(unwanted,)))
        open_part, folded = text.split("<details>", 1)
        assert "Communication is exposed" not in open_part
        assert "Communication is exposed" in folded
        assert "suppressed" not in text


def test_every_shown_finding_is_named_where_people_do_not_see_it() -> None:
    diagnosis = with_findings(SLOW, IDLE)
    hidden = render_comment(diagnosis).split("<!-- advisor:findings\n")[1]
    assert hidden == f"{SLOW.fingerprint} {SLOW.rule}\n{IDLE.fingerprint} {IDLE.rule}\n-->\n"


def many(count: int) -> Diagnosis:
    made = [
        finding(
            CONVERSION,
            900,
            Severity.low,
            subject={"op_type": f"算子{number}" + "x" * 140},
            evidence=(Evidence(name="share", value=0.01, unit="share"),),
        )
        for number in range(count)
    ]
    return with_findings(*made)


@pytest.mark.parametrize("limit", (1_500, 2_000, 4_000, 10_000, 65_536))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_comment_fits_and_says_what_gave_way(limit: int, language: Language) -> None:
    diagnosis = many(400)
    for comparison in (None, compare(with_findings(), diagnosis), compare(diagnosis, with_findings())):
        text = render_comment(comparison.after if comparison else diagnosis, comparison, None, language, URL, limit)
        assert len(text.encode()) <= limit
        assert_harmless(text)
        assert URL in text
        if limit < 10_000 and comparison is None:
            assert ("did not fit" if language == "en" else "超出此处评论的长度") in text


def test_a_short_comment_is_the_same_under_any_limit() -> None:
    diagnosis = with_findings(SLOW, IDLE)
    assert render_comment(diagnosis, limit=4_000) == render_comment(diagnosis)


def test_without_folds_nothing_is_html_but_the_marks() -> None:
    text = render_comment(many(20), folds=False)
    assert "<details>" not in text
    assert "**Other findings: 20**" in text


def test_a_comment_is_the_same_each_time() -> None:
    diagnosis = rich(("b", "a"))
    assert render_comment(diagnosis) == render_comment(Diagnosis.model_validate_json(diagnosis.to_json()))


@pytest.mark.parametrize("url", ("javascript:alert(1)", "https://x/>)[a](b", "x", "https://a b", "https://x/`", ""))
def test_what_is_no_web_address_is_no_link(url: str) -> None:
    assert not [
        token for token in tokens(render_comment(with_findings(SLOW), report_url=url)) if token.type == "link_open"
    ]


def test_a_fingerprint_of_this_program_is_one_that_is_written() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", fingerprint("host/free-time", {"a": "b"}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_real_capture_has_a_comment(real_data: Path, shared: SharedCaptures, language: Language) -> None:
    captures = sorted((real_data / "msinsight_pytorch_matrix").glob("*/level*"))
    assert captures
    for before, after in pairwise(map(shared.diagnosis, captures)):
        for text in (
            render_comment(after, language=language),
            render_comment(after, compare(before, after), language=language),
        ):
            assert_harmless(text)
            assert len(text) < 8_000
