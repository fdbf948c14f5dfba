# SPDX-License-Identifier: Apache-2.0
"""The comment itself: verdict first, then what is new or worse, what got better, the rest folded. A pure function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.bot.entries import Entries, ListEntry, safe_markdown, safe_sentence
from advisor.bot.sticky import comment_mark
from advisor.bot.words import say
from advisor.messages.markup import web_address
from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Moved, Shift, Status
from advisor.model.findings import Confidence, Diagnosis
from advisor.model.leading_findings import first_findings
from advisor.model.verdict import Verdict
from advisor.report.column_values import CAUSES
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.answer import say_doubt
from advisor.report.comparison.apart import say_barriers, with_both_times
from advisor.report.diagnosis.headline import make_headline as answer_of
from advisor.report.diagnosis.headline import say_doubts, time_sentence
from advisor.report.diagnosis.outcomes import first_unread
from advisor.report.prose import TextPiece, clean_line, code_prose, parse_prose, plain_prose
from advisor.report.time_split import PARTS, time_parts
from advisor.report.verdict.words import BUDGETS
from advisor.report.words import say as report_word
from advisor.report.words import word_for
from advisor.units import show_value

LIMIT = 65_536
MOST_FIRST = 3
"""Findings in full where there is no baseline to tell which are new."""
MOST_FULL = 5
MOST_SHORT = 10
MOST_FOLDED = 50
MOST_NOTES = 8
_MOST_MOVED = 3


class _Section(Struct, frozen=True):
    """A list under a heading. The later a section, the sooner its entries give way."""

    title: str
    entries: tuple[ListEntry, ...]
    folded: bool = False
    more: int = 0
    """Entries beyond those."""


def render_comment(  # noqa: PLR0917 - what is said, and how: each stands for itself
    diagnosis: Diagnosis,
    comparison: Comparison | None = None,
    verdict: Verdict | None = None,
    language: Language = "en",
    report_url: str = "",
    limit: int = LIMIT,
    *,
    name: str = "",
    folds: bool = True,
) -> str:
    """One Markdown comment of at most `limit` bytes, whatever a profile holds; `name` tells it from others beside it.

    Bytes, so that it fits however a forge counts. What does not fit gives way from the end, and a sentence says so.
    """
    head = [comment_mark(name), *_verdict_lines(diagnosis, comparison, verdict, language)]
    sections = tuple(_comment_sections(diagnosis, comparison, verdict, language))
    unread = ["", safe_markdown(first_unread(diagnosis.unread, language))] if diagnosis.unread else []
    foot = [_foot_line(diagnosis, language, report_url), *unread]
    text = ""
    for counts in _shrinking_counts([len(section.entries) for section in sections]):
        text = _assemble_comment(head, sections, counts, foot, language=language, folds=folds)
        if len(text.encode(errors="replace")) <= limit:
            break
    return text


def headline(diagnosis: Diagnosis, comparison: Comparison | None, language: Language) -> str:
    """The verdict in one plain line: the time of a step, before and after where a baseline is known."""
    if comparison is not None and comparison.apart:
        why = say("apart", language, why=say_barriers(comparison, comparison.apart, language))
        return with_both_times(why, comparison, language)
    step = comparison.step if comparison else None
    if step:
        return _say_step_shift(step, diagnosis.run.times_of, language)
    parts = time_parts(diagnosis.split, language)
    return time_sentence(diagnosis, parts, language) or say("diagnosis", language)


def _verdict_lines(
    diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict | None, language: Language
) -> Iterator[str]:
    yield f"### {safe_sentence(headline(diagnosis, comparison, language))}"
    yield ""
    lines = [
        *([_gate_line(verdict, language)] if verdict else []),
        *([safe_sentence(note.say(language)) for note in verdict.notes[:_MOST_MOVED]] if verdict else []),
        *(_step_move_lines(comparison, language) if comparison else ()),
    ]
    for line in lines:
        yield line
        yield ""
    for sentence in _nothing_first_lines(diagnosis, comparison, language):
        yield sentence
        yield ""
    doubts = say_doubts(diagnosis, next(iter(first_findings(diagnosis)[1]), None), language)
    if doubts:
        yield safe_markdown(doubts)
        yield ""


def _nothing_first_lines(diagnosis: Diagnosis, comparison: Comparison | None, language: Language) -> Iterator[str]:
    """What to say where there is nothing to put first: that nothing needs fixing, and where the next gain would be."""
    if comparison is not None and not comparison.unrelated and diagnosis.findings:
        if not comparison.having("new", "worse"):
            yield safe_sentence(say("nothing_new", language))
    elif not first_findings(diagnosis)[1]:
        answer = answer_of(diagnosis, (), (), language)
        yield safe_sentence(answer.says)
        yield from map(safe_markdown, filter(None, (answer.beyond, answer.held)))


def _say_step_shift(step: Shift, called: str, language: Language) -> str:
    return say(
        called,
        language,
        before=show_value(step.before_us, "us"),
        after=show_value(step.after_us, "us"),
        percent=percent_change(step.before_us, step.after_us),
        became=say(step.status, language),
    )


def _step_move_lines(comparison: Comparison, language: Language) -> Iterator[str]:
    """What moved the step, and how sure that is."""
    if not (comparison.shifts or comparison.apart):
        yield safe_sentence(say("no_step", language))
    moved = [entry for entry in comparison.moved if entry.beyond_noise][:_MOST_MOVED]
    if moved:
        entries = " · ".join(_say_moved_part(entry, language) for entry in moved)
        yield safe_sentence(say("moved", language)) + report_word("colon", language) + entries
    if comparison.confidence == Confidence.low and not comparison.apart:
        yield safe_sentence(_say_unsure(comparison, language))


def _say_unsure(comparison: Comparison, language: Language) -> str:
    """That the comparison is not sure, and why."""
    why = say_doubt(comparison, language)
    return say("unsure because", language, why=why) if why else say("unsure", language)


def _say_moved_part(entry: Moved, language: Language) -> str:
    part = PARTS[entry.part].say(language)
    cause = word_for(CAUSES, entry.name, language)
    name = (TextPiece(f" {cause}"),) if cause else (TextPiece(" "), *code_prose(entry.name, 60)) if entry.name else ()
    return safe_markdown((TextPiece(part), *name, TextPiece(f" ({signed_amount(entry.delta_us, 'us')})")))


def _gate_line(verdict: Verdict, language: Language) -> str:
    errors = sum(ruling.fails for ruling in verdict.rulings)
    over = [
        say(
            "budget",
            language,
            name=BUDGETS[budget.name].say(language),
            measured=show_value(budget.measured, budget.unit),
            limit=show_value(budget.limit, budget.unit),
        )
        for budget in verdict.budgets
        if budget.kept is False
    ]
    reasons = [
        *([say("errors", language, count=errors)] if errors and not verdict.passed else []),
        *over,
        *([say("expired", language, count=len(verdict.expired))] if verdict.expired else []),
        *([say("unjudged", language, bars=", ".join(verdict.unjudged))] if verdict.unjudged else []),
    ]
    word = "passed" if verdict.passed else "blind" if verdict.blind else "failed"
    return " · ".join([f"**{safe_sentence(say(word, language))}**", *map(safe_sentence, reasons)])


def _comment_sections(
    diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict | None, language: Language
) -> Iterator[_Section]:
    related = None if comparison is not None and comparison.unrelated else comparison
    entries = Entries(diagnosis, related, language)
    aside = _findings_set_aside(verdict)
    there = [finding.fingerprint for finding in diagnosis.findings]
    if related is None:
        kind, leading = first_findings(diagnosis, aside)
        first = [finding.fingerprint for finding in leading[:MOST_FIRST]]
        if first:
            yield _Section(report_word(f"lead_{kind}", language), tuple(map(entries.full, first)))
        done: list[str] = []
    else:
        first = [each for each in _fingerprints_by_status(related, "new", "worse") if each not in aside][
            : MOST_FULL + MOST_SHORT
        ]
        full, short = first[:MOST_FULL], first[MOST_FULL:]
        yield _Section(say("new_or_worse", language), (*map(entries.full, full), *map(entries.short, short)))
        done = _fingerprints_by_status(related, "better", "gone")
        yield _make_section(
            say("better_or_gone", language), [entries.short(each) for each in done[:MOST_SHORT]], len(done)
        )
        there += _fingerprints_by_status(related, "not comparable")
    rest = [each for each in dict.fromkeys(there) if each not in {*first, *done}]
    lines = [entries.short(each, suppressed=aside.get(each, False)) for each in rest[:MOST_FOLDED]]
    yield _make_section(say("others", language, count=len(rest)), lines, len(rest), folded=True)
    if comparison is not None:
        notes = [ListEntry((f"- {safe_sentence(note.say(language))}",)) for note in comparison.notes[:MOST_NOTES]]
        yield _make_section(say("conditions", language), notes, len(comparison.notes), folded=True)


def _fingerprints_by_status(comparison: Comparison, *statuses: Status) -> list[str]:
    return [change.fingerprint for change in comparison.having(*statuses)]


def _make_section(title: str, entries: Sequence[ListEntry], total: int, *, folded: bool = False) -> _Section:
    return _Section(title, tuple(entries), folded, total - len(entries))


def _findings_set_aside(verdict: Verdict | None) -> dict[str, bool]:
    """Findings the policy takes out of view, and whether that is by a suppression."""
    rulings = verdict.rulings if verdict else ()
    return {
        ruling.fingerprint: ruling.suppressed is not None
        for ruling in rulings
        if ruling.suppressed is not None or ruling.action == "off"
    }


def _shrinking_counts(counts: list[int]) -> Iterator[list[int]]:
    """These counts, and then ever fewer, the last section first."""
    yield counts
    left = list(counts)
    for index in reversed(range(len(left))):
        while left[index]:
            left[index] //= 2
            yield list(left)


def _assemble_comment(
    head: Sequence[str],
    sections: Sequence[_Section],
    counts: Sequence[int],
    foot: Sequence[str],
    *,
    language: Language,
    folds: bool,
) -> str:
    lines = list(head)
    shown: list[ListEntry] = []
    for section, count in zip(sections, counts, strict=True):
        shown += section.entries[:count]
        lines += _section_lines(section, count, language, folds=folds)
    left_out = sum(len(section.entries) for section in sections) - len(shown)
    if left_out:
        lines += [safe_sentence(say("left_out", language, count=left_out)), ""]
    return "\n".join([*lines, *foot, *_hidden_keys(shown)]).encode(errors="replace").decode() + "\n"


def _section_lines(section: _Section, count: int, language: Language, *, folds: bool) -> Iterator[str]:
    if not count:
        return
    folded = section.folded and folds
    yield f"<details><summary>{section.title}</summary>" if folded else f"**{safe_sentence(section.title)}**"
    yield ""
    for entry in section.entries[:count]:
        yield from entry.lines
    if section.more:
        yield f"- {safe_sentence(say('more', language, count=section.more))}"
    yield ""
    if folded:
        yield "</details>"
        yield ""


def _foot_line(diagnosis: Diagnosis, language: Language, report_url: str) -> str:
    url = web_address(report_url)
    link = [f"[{say('report', language)}](<{url}>)"] if url else []
    version = clean_line(diagnosis.version, 40)
    made = (
        parse_prose(say("made_by", language), {"version": TextPiece(version, code=True)})
        if version
        else plain_prose(say("made", language))
    )
    return " · ".join([*link, safe_markdown(made)])


def _hidden_keys(shown: Sequence[ListEntry]) -> list[str]:
    """Each finding's name where people do not see it, for what reads the comment later."""
    keys = [entry.key for entry in shown if entry.key]
    return ["", "<!-- advisor:findings", *keys, "-->"] if keys else []
