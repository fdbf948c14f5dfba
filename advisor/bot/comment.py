# SPDX-License-Identifier: Apache-2.0
"""The comment itself: verdict first, then what is new or worse, what got better, the rest folded. A pure function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from advisor.bot.entries import Entries, ListEntry, sentence_prose, without_references
from advisor.bot.sticky import comment_mark
from advisor.bot.words import say
from advisor.messages.markup import web_address
from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Moved, Status
from advisor.model.findings import Confidence, Diagnosis
from advisor.model.leading_findings import first_findings
from advisor.model.verdict import Budget, Verdict
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
from advisor.report.comparison.sides import say_barriers, with_both_times
from advisor.report.diagnosis.cards import make_cards
from advisor.report.diagnosis.headline import make_headline, time_sentence
from advisor.report.diagnosis.outcomes import first_unread
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, parse_prose, plain_prose, strong
from advisor.report.renderers.markdown import document_text
from advisor.report.time_split import PARTS, time_parts
from advisor.report.verdict.words import BUDGETS
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
    note: str = ""
    """What holds of all of them."""


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
    made = _CommentBlocks(diagnosis, comparison, verdict, language)
    head, sections, foot = tuple(made.answer()), tuple(made.sections()), tuple(made.foot(report_url))
    text = ""
    for counts in _shrinking_counts([len(section.entries) for section in sections]):
        shown = [entry for section, count in zip(sections, counts, strict=True) for entry in section.entries[:count]]
        blocks = (*head, *made.shown_sections(sections, counts, folds=folds))
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
    if step is None:
        return time_sentence(diagnosis, time_parts(diagnosis.split, language), language) or say("diagnosis", language)
    before, after = show_value(step.before_us, "us"), show_value(step.after_us, "us")
    percent, became = percent_change(step.before_us, step.after_us), say(step.status, language)
    return say(diagnosis.run.times_of, language, before=before, after=after, percent=percent, became=became)


class _CommentBlocks(Phrases):
    """Makes the blocks of one comment."""

    wording = say

    def __init__(
        self, diagnosis: Diagnosis, comparison: Comparison | None, verdict: Verdict | None, language: Language
    ) -> None:
        super().__init__(language, diagnosis.run.times_of)
        self.diagnosis, self.comparison, self.verdict = diagnosis, comparison, verdict
        self.related = None if comparison is not None and comparison.unrelated else comparison
        self.cards = make_cards(diagnosis, language)
        self.entries = Entries(diagnosis, self.related, language, self.cards)

    def told(self, name: str, /, **values: object) -> Paragraph:
        """A sentence, of which a part may be what a profile says of itself."""
        return Paragraph(sentence_prose(self.say(name, **values)))

    def answer(self) -> Iterator[Block]:
        """The verdict, what moved the step, and what to say where there is nothing to put first."""
        yield Heading(sentence_prose(headline(self.diagnosis, self.comparison, self.language)), 3)
        if self.verdict is not None:
            yield self.gate(self.verdict)
            yield from (Paragraph(sentence_prose(one.say(self.language))) for one in self.verdict.notes[:_MOST_MOVED])
        if self.comparison is not None:
            yield from self.moved(self.comparison)
        said = make_headline(self.diagnosis, self.cards, (), self.language)
        if self.related is not None and self.diagnosis.findings:
            if not self.related.having("new", "worse"):
                yield self.told("nothing_new")
        elif said.first is None:
            yield Paragraph(sentence_prose(said.says))
            yield from map(Paragraph, filter(None, (said.beyond, said.held)))
        yield from paragraph_of(*said.doubts)

    def moved(self, comparison: Comparison) -> Iterator[Paragraph]:
        """What moved the step, and how sure that is."""
        if not (comparison.shifts or comparison.apart):
            yield self.told("no_step")
        moved = [entry for entry in comparison.moved if entry.beyond_noise][:_MOST_MOVED]
        if moved:
            label = sentence_prose(self.say("moved") + self.colon)
            yield Paragraph((*label, *join_prose(" · ", map(self.moved_part, moved))))
        if comparison.confidence == Confidence.low and not comparison.apart:
            why = say_doubt(comparison, self.language)
            yield self.told("unsure because", why=why) if why else self.told("unsure")

    def moved_part(self, entry: Moved) -> Prose:
        """What the time went into, and by how much it differs."""
        cause = word_for(CAUSES, entry.name, self.language)
        name = plain_prose(cause) if cause else code_prose(entry.name, 60) if entry.name else ()
        part = plain_prose(PARTS[entry.part].say(self.language))
        parted = self.colon if cause else " "  # two words of ours would read as one
        return (*join_prose(parted, filter(None, (part, name))), TextPiece(f" ({signed_amount(entry.delta_us, 'us')})"))

    def gate(self, verdict: Verdict) -> FactLine:
        """Whether the run passes, and why not."""
        errors = sum(ruling.fails for ruling in verdict.rulings)
        over = [self.exceeded(budget) for budget in verdict.budgets if budget.kept is False]
        reasons = [
            *([self.say("errors", count=errors)] if errors and not verdict.passed else []),
            *over,
            *([self.say("expired", count=len(verdict.expired))] if verdict.expired else []),
            *([self.say("unjudged", bars=", ".join(verdict.unjudged))] if verdict.unjudged else []),
        ]
        word = "passed" if verdict.passed else "blind" if verdict.blind else "failed"
        return FactLine((strong(sentence_prose(self.say(word))), *map(sentence_prose, reasons)))

    def exceeded(self, budget: Budget) -> str:
        """A budget that was not kept, and by how much."""
        measured, limit = show_value(budget.measured, budget.unit), show_value(budget.limit, budget.unit)
        return self.say("budget", name=BUDGETS[budget.name].say(self.language), measured=measured, limit=limit)

    def sections(self) -> Iterator[_Section]:
        """What to fix first, or what came, grew, shrank or went; then all others, and how the captures differ."""
        aside = _findings_set_aside(self.verdict)
        there = [finding.fingerprint for finding in self.diagnosis.findings]
        done: list[str] = []
        if self.related is None:
            kind, leading = first_findings(self.diagnosis, aside)
            first = [finding.fingerprint for finding in leading[:MOST_FIRST]]
            if first:
                listed = tuple(map(self.entries.full, first))
                yield _Section(self.say(f"lead_{kind}"), listed, note=self.no_sum(first))
        else:
            came = [each for each in _fingerprints_by_status(self.related, "new", "worse") if each not in aside]
            first = came[: MOST_FULL + MOST_SHORT]
            full, short = map(self.entries.full, first[:MOST_FULL]), map(self.entries.short, first[MOST_FULL:])
            yield _Section(self.say("new_or_worse"), (*full, *short), note=self.no_sum(first))
            done = _fingerprints_by_status(self.related, "better", "gone")
            yield _make_section(self.say("better_or_gone"), map(self.entries.short, done[:MOST_SHORT]), len(done))
            there += _fingerprints_by_status(self.related, "not comparable")
        rest = [each for each in dict.fromkeys(there) if each not in {*first, *done}]
        lines = (self.entries.short(each, suppressed=aside.get(each, False)) for each in rest[:MOST_FOLDED])
        yield _make_section(self.say("others", count=len(rest)), lines, len(rest), folded=True)
        if self.comparison is not None:
            said = (sentence_prose(note.say(self.language)) for note in self.comparison.notes[:MOST_NOTES])
            notes = (ListEntry(paragraph_of(*note)) for note in said)
            yield _make_section(self.say("conditions"), notes, len(self.comparison.notes), folded=True)

    def no_sum(self, listed: Iterable[str]) -> str:
        """That savings are not to be added, where several of these have one."""
        return self.say("no_sum") if sum(map(self.entries.has_saving, listed)) > 1 else ""

    def shown_sections(self, sections: Sequence[_Section], counts: Sequence[int], *, folds: bool) -> Iterator[Block]:
        """So many entries of each section, and how many had no room."""
        for section, count in zip(sections, counts, strict=True):
            if not count:
                continue
            more = [(self.told("more", count=section.more),)] if section.more else []
            listed = ListBlock((*(entry.item for entry in section.entries[:count]), *more))
            title = sentence_prose(section.title)
            yield from (Fold(title, (listed,)),) if section.folded and folds else (Paragraph(strong(title)), listed)
            if section.note:
                yield Paragraph(sentence_prose(section.note))
        left_out = sum(len(section.entries) for section in sections) - sum(counts)
        if left_out:
            yield self.told("left_out", count=left_out)

    def foot(self, report_url: str) -> Iterator[Block]:
        """Where the report is, what made it, and what could not be read; the only link of a comment is here."""
        url, version = web_address(report_url), clean_line(self.diagnosis.version, 40)
        link = [(TextPiece(self.say("report"), url=url),)] if url else []
        by = {"version": TextPiece(version, code=True)}
        made = parse_prose(self.say("made_by"), by) if version else self.prose_of("made")
        yield FactLine((*link, without_references(made)))
        if self.diagnosis.unread:
            yield Paragraph(without_references(first_unread(self.diagnosis.unread, self.language)))


def _fingerprints_by_status(comparison: Comparison, *statuses: Status) -> list[str]:
    return [change.fingerprint for change in comparison.having(*statuses)]


def _make_section(title: str, entries: Iterable[ListEntry], total: int, *, folded: bool = False) -> _Section:
    shown = tuple(entries)
    return _Section(title, shown, folded, total - len(shown))


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


def _hidden_keys(shown: Sequence[ListEntry]) -> str:
    """Each finding's name where people do not see it, for what reads the comment later."""
    keys = [entry.key for entry in shown if entry.key]
    return "\n".join(["", "<!-- advisor:findings", *keys, "-->", ""]) if keys else ""
