# SPDX-License-Identifier: Apache-2.0
"""The comment itself: verdict first, then what is new or worse, what got better, the rest folded. A pure function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.bot.entries import Entries, Entry, safe, said
from advisor.bot.sticky import mark
from advisor.bot.words import say
from advisor.messages.markup import web_address
from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Moved, Shift, Status
from advisor.model.findings import Confidence, Diagnosis
from advisor.model.verdict import Verdict
from advisor.report.headline import first_findings, time_sentence
from advisor.report.headline import headline as answer_of
from advisor.report.prose import Piece, clean, code, prose, words
from advisor.report.time_split import time_parts
from advisor.report.words import CAUSES, known
from advisor.report.words import say as report_word
from advisor.units import show

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
    entries: tuple[Entry, ...]
    folded: bool = False
    more: int = 0
    """Entries beyond those."""


def render(  # noqa: PLR0917 - what is said, and how: each stands for itself
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
    head = [mark(name), *_verdict(diagnosis, comparison, verdict, language)]
    sections = tuple(_sections(diagnosis, comparison, verdict, language))
    foot = [_foot(diagnosis, language, report_url)]
    text = ""
    for counts in _fewer([len(section.entries) for section in sections]):
        text = _joined(head, sections, counts, foot, language=language, folds=folds)
        if len(text.encode(errors="replace")) <= limit:
            break
    return text


def headline(diagnosis: Diagnosis, comparison: Comparison | None, language: Language) -> str:
    """The verdict in one plain line: the time of a step, before and after where a baseline is known."""
    step = next((shift for shift in comparison.shifts if shift.name == "step"), None) if comparison else None
    if step:
        return _shifted(step, "step" if diagnosis.run.steps else "window", language)
    parts = time_parts(diagnosis.split, language)
    return time_sentence(diagnosis, parts, language) or say("diagnosis", language)


def _verdict(
    diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict | None, language: Language
) -> Iterator[str]:
    yield f"### {said(headline(diagnosis, comparison, language))}"
    yield ""
    lines = [
        *([_gate(verdict, language)] if verdict else []),
        *([said(note.say(language)) for note in verdict.notes[:_MOST_MOVED]] if verdict else []),
        *(_beside(comparison, language) if comparison else ()),
    ]
    for line in lines:
        yield line
        yield ""
    for sentence in _nothing(diagnosis, comparison, language):
        yield sentence
        yield ""


def _nothing(diagnosis: Diagnosis, comparison: Comparison | None, language: Language) -> Iterator[str]:
    """What to say where there is nothing to put first: that nothing needs fixing, and where the next gain would be."""
    if comparison is not None and diagnosis.findings:
        if not comparison.having("new", "worse"):
            yield said(say("nothing_new", language))
    elif not first_findings(diagnosis)[1]:
        answer = answer_of(diagnosis, (), (), language)
        yield said(answer.says)
        if answer.beyond:
            yield safe(answer.beyond)


def _shifted(step: Shift, called: str, language: Language) -> str:
    change = step.delta_us / step.before_us if step.before_us > 0 else 0.0
    return say(
        called,
        language,
        before=show(step.before_us, "us"),
        after=show(step.after_us, "us"),
        percent=_signed(change, "share"),
        became=say(step.status, language),
    )


def _beside(comparison: Comparison, language: Language) -> Iterator[str]:
    """What moved the step, and how sure that is."""
    if not comparison.shifts:
        yield said(say("no_step", language))
    moved = [entry for entry in comparison.moved if entry.beyond_noise][:_MOST_MOVED]
    if moved:
        entries = " · ".join(_moved(entry, language) for entry in moved)
        yield said(say("moved", language)) + report_word("colon", language) + entries
    if comparison.confidence == Confidence.low:
        yield said(say("unsure", language))


def _moved(entry: Moved, language: Language) -> str:
    part = say(entry.part, language)
    cause = known(CAUSES, entry.name, language)
    name = (Piece(f" {cause}"),) if cause else (Piece(" "), *code(entry.name, 60)) if entry.name else ()
    return safe((Piece(part), *name, Piece(f" ({_signed(entry.delta_us, 'us')})")))


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{show(abs(value), unit)}"


def _gate(verdict: Verdict, language: Language) -> str:
    errors = sum(ruling.action == "error" and ruling.suppressed is None for ruling in verdict.rulings)
    over = [
        say(
            "budget",
            language,
            name=say(budget.name, language),
            measured=show(budget.measured, budget.unit),
            limit=show(budget.limit, budget.unit),
        )
        for budget in verdict.budgets
        if budget.kept is False
    ]
    reasons = [
        *([say("errors", language, count=errors)] if errors and not verdict.passed else []),
        *over,
        *([say("expired", language, count=len(verdict.expired))] if verdict.expired else []),
    ]
    passed = f"**{said(say('passed' if verdict.passed else 'failed', language))}**"
    return " · ".join([passed, *map(said, reasons)])


def _sections(
    diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict | None, language: Language
) -> Iterator[_Section]:
    entries = Entries(diagnosis, comparison, language)
    aside = _aside(verdict)
    there = [finding.fingerprint for finding in diagnosis.findings]
    if comparison is None:
        kind, leading = first_findings(diagnosis, aside)
        first = [finding.fingerprint for finding in leading[:MOST_FIRST]]
        if first:
            yield _Section(report_word(f"lead_{kind}", language), tuple(map(entries.full, first)))
        done: list[str] = []
    else:
        first = [each for each in _of(comparison, "new", "worse") if each not in aside][: MOST_FULL + MOST_SHORT]
        full, short = first[:MOST_FULL], first[MOST_FULL:]
        yield _Section(say("new_or_worse", language), (*map(entries.full, full), *map(entries.short, short)))
        done = _of(comparison, "better", "gone")
        yield _section(say("better_or_gone", language), [entries.short(each) for each in done[:MOST_SHORT]], len(done))
        there += _of(comparison, "not comparable")
    rest = [each for each in dict.fromkeys(there) if each not in {*first, *done}]
    lines = [entries.short(each, suppressed=aside.get(each, False)) for each in rest[:MOST_FOLDED]]
    yield _section(say("others", language, count=len(rest)), lines, len(rest), folded=True)
    if comparison is not None:
        notes = [Entry((f"- {said(note.say(language))}",)) for note in comparison.notes[:MOST_NOTES]]
        yield _section(say("conditions", language), notes, len(comparison.notes), folded=True)


def _of(comparison: Comparison, *statuses: Status) -> list[str]:
    return [change.fingerprint for change in comparison.having(*statuses)]


def _section(title: str, entries: Sequence[Entry], total: int, *, folded: bool = False) -> _Section:
    return _Section(title, tuple(entries), folded, total - len(entries))


def _aside(verdict: Verdict | None) -> dict[str, bool]:
    """Findings the policy takes out of view, and whether that is by a suppression."""
    rulings = verdict.rulings if verdict else ()
    return {
        ruling.fingerprint: ruling.suppressed is not None
        for ruling in rulings
        if ruling.suppressed is not None or ruling.action == "off"
    }


def _fewer(counts: list[int]) -> Iterator[list[int]]:
    """These counts, and then ever fewer, the last section first."""
    yield counts
    left = list(counts)
    for index in reversed(range(len(left))):
        while left[index]:
            left[index] //= 2
            yield list(left)


def _joined(
    head: Sequence[str],
    sections: Sequence[_Section],
    counts: Sequence[int],
    foot: Sequence[str],
    *,
    language: Language,
    folds: bool,
) -> str:
    lines = list(head)
    shown: list[Entry] = []
    for section, count in zip(sections, counts, strict=True):
        shown += section.entries[:count]
        lines += _listed(section, count, language, folds=folds)
    left_out = sum(len(section.entries) for section in sections) - len(shown)
    if left_out:
        lines += [said(say("left_out", language, count=left_out)), ""]
    return "\n".join([*lines, *foot, *_keys(shown)]).encode(errors="replace").decode() + "\n"


def _listed(section: _Section, count: int, language: Language, *, folds: bool) -> Iterator[str]:
    if not count:
        return
    folded = section.folded and folds
    yield f"<details><summary>{section.title}</summary>" if folded else f"**{said(section.title)}**"
    yield ""
    for entry in section.entries[:count]:
        yield from entry.lines
    if section.more:
        yield f"- {said(say('more', language, count=section.more))}"
    yield ""
    if folded:
        yield "</details>"
        yield ""


def _foot(diagnosis: Diagnosis, language: Language, report_url: str) -> str:
    url = web_address(report_url)
    link = [f"[{say('report', language)}](<{url}>)"] if url else []
    version = clean(diagnosis.version, 40)
    made = (
        prose(say("made_by", language), {"version": Piece(version, code=True)})
        if version
        else words(say("made", language))
    )
    return " · ".join([*link, safe(made)])


def _keys(shown: Sequence[Entry]) -> list[str]:
    """Each finding's name where people do not see it, for what reads the comment later."""
    keys = [entry.key for entry in shown if entry.key]
    return ["", "<!-- advisor:findings", *keys, "-->"] if keys else []
