# SPDX-License-Identifier: Apache-2.0
"""The comment itself: verdict first, then what is new or worse, what got better, the rest folded. A pure function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.bot.entries import Entries, ListEntry, sentence_prose, without_references
from advisor.bot.sticky import comment_mark
from advisor.bot.words import say
from advisor.messages.markup import web_address
from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Moved, Shift, Status
from advisor.model.findings import Confidence, Diagnosis
from advisor.model.leading_findings import first_findings
from advisor.model.verdict import Verdict
from advisor.report.blocks import (
    Block,
    Document,
    FactLine,
    Fold,
    Heading,
    ListBlock,
    Paragraph,
    paragraph_of,
    with_prose,
)
from advisor.report.column_values import CAUSES
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.answer import say_doubt
from advisor.report.comparison.apart import say_barriers, with_both_times
from advisor.report.diagnosis.cards import Card, make_cards
from advisor.report.diagnosis.headline import make_headline, time_sentence
from advisor.report.diagnosis.outcomes import first_unread
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, parse_prose, plain_prose, strong
from advisor.report.renderers.markdown import document_text
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
    cards = make_cards(diagnosis, language)
    head = tuple(_answer_blocks(diagnosis, comparison, verdict, cards, language))
    sections = tuple(_comment_sections(diagnosis, comparison, verdict, cards, language))
    foot = tuple(_foot_blocks(diagnosis, language, report_url))
    text = ""
    for counts in _shrinking_counts([len(section.entries) for section in sections]):
        shown = [entry for section, count in zip(sections, counts, strict=True) for entry in section.entries[:count]]
        blocks = (*head, *_section_blocks(sections, counts, language, folds=folds))
        said = document_text(Document(language, (*with_prose(blocks, without_references), *foot)))
        text = f"{comment_mark(name)}\n{said}{_hidden_keys(shown)}".encode(errors="replace").decode()
        if len(text.encode()) <= limit:
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


def _answer_blocks(
    diagnosis: Diagnosis,
    comparison: Comparison | None,
    verdict: Verdict | None,
    cards: Sequence[Card],
    language: Language,
) -> Iterator[Block]:
    """The verdict, what moved the step, and what to say where there is nothing to put first."""
    yield Heading(sentence_prose(headline(diagnosis, comparison, language)), 3)
    if verdict is not None:
        yield _gate_line(verdict, language)
        yield from (Paragraph(sentence_prose(note.say(language))) for note in verdict.notes[:_MOST_MOVED])
    if comparison is not None:
        yield from map(Paragraph, _step_move_lines(comparison, language))
    said = make_headline(diagnosis, cards, (), language)
    if comparison is not None and not comparison.unrelated and diagnosis.findings:
        if not comparison.having("new", "worse"):
            yield Paragraph(sentence_prose(say("nothing_new", language)))
    elif said.first is None:
        yield Paragraph(sentence_prose(said.says))
        yield from map(Paragraph, filter(None, (said.beyond, said.held)))
    yield from paragraph_of(*said.doubts)


def _say_step_shift(step: Shift, called: str, language: Language) -> str:
    return say(
        called,
        language,
        before=show_value(step.before_us, "us"),
        after=show_value(step.after_us, "us"),
        percent=percent_change(step.before_us, step.after_us),
        became=say(step.status, language),
    )


def _step_move_lines(comparison: Comparison, language: Language) -> Iterator[Prose]:
    """What moved the step, and how sure that is."""
    if not (comparison.shifts or comparison.apart):
        yield sentence_prose(say("no_step", language))
    moved = [entry for entry in comparison.moved if entry.beyond_noise][:_MOST_MOVED]
    if moved:
        entries = join_prose(" · ", (_say_moved_part(entry, language) for entry in moved))
        yield (*sentence_prose(say("moved", language) + report_word("colon", language)), *entries)
    if comparison.confidence == Confidence.low and not comparison.apart:
        yield sentence_prose(_say_unsure(comparison, language))


def _say_unsure(comparison: Comparison, language: Language) -> str:
    """That the comparison is not sure, and why."""
    why = say_doubt(comparison, language)
    return say("unsure because", language, why=why) if why else say("unsure", language)


def _say_moved_part(entry: Moved, language: Language) -> Prose:
    part = PARTS[entry.part].say(language)
    cause = word_for(CAUSES, entry.name, language)
    name = (TextPiece(f" {cause}"),) if cause else (TextPiece(" "), *code_prose(entry.name, 60)) if entry.name else ()
    return (TextPiece(part), *name, TextPiece(f" ({signed_amount(entry.delta_us, 'us')})"))


def _gate_line(verdict: Verdict, language: Language) -> FactLine:
    """Whether the run passes, and why not."""
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
    return FactLine((strong(sentence_prose(say(word, language))), *map(sentence_prose, reasons)))


def _comment_sections(
    diagnosis: Diagnosis,
    comparison: Comparison | None,
    verdict: Verdict | None,
    cards: Sequence[Card],
    language: Language,
) -> Iterator[_Section]:
    related = None if comparison is not None and comparison.unrelated else comparison
    entries = Entries(diagnosis, related, language, cards)
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
        said = [sentence_prose(note.say(language)) for note in comparison.notes[:MOST_NOTES]]
        notes = [ListEntry(paragraph_of(*note)) for note in said]
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


def _section_blocks(
    sections: Sequence[_Section], counts: Sequence[int], language: Language, *, folds: bool
) -> Iterator[Block]:
    """So many entries of each section, and how many had no room."""
    for section, count in zip(sections, counts, strict=True):
        if not count:
            continue
        more = [paragraph_of(*sentence_prose(say("more", language, count=section.more)))] if section.more else []
        listed = ListBlock((*(entry.item for entry in section.entries[:count]), *more))
        title = sentence_prose(section.title)
        yield from (Fold(title, (listed,)),) if section.folded and folds else (Paragraph(strong(title)), listed)
    left_out = sum(len(section.entries) for section in sections) - sum(counts)
    if left_out:
        yield Paragraph(sentence_prose(say("left_out", language, count=left_out)))


def _foot_blocks(diagnosis: Diagnosis, language: Language, report_url: str) -> Iterator[Block]:
    """Where the report is, what made it, and what could not be read; the only link of a comment is here."""
    url = web_address(report_url)
    link = [(TextPiece(say("report", language), url=url),)] if url else []
    version = clean_line(diagnosis.version, 40)
    made = (
        parse_prose(say("made_by", language), {"version": TextPiece(version, code=True)})
        if version
        else plain_prose(say("made", language))
    )
    yield FactLine((*link, without_references(made)))
    if diagnosis.unread:
        yield Paragraph(without_references(first_unread(diagnosis.unread, language)))


def _hidden_keys(shown: Sequence[ListEntry]) -> str:
    """Each finding's name where people do not see it, for what reads the comment later."""
    keys = [entry.key for entry in shown if entry.key]
    return "\n".join(["", "<!-- advisor:findings", *keys, "-->", ""]) if keys else ""
