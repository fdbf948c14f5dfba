# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a document: the answer first, then each finding with its evidence and remedy, then the run.

`diagnosis_document` says all of it, `diagnosis_summary` what fits on a terminal, `diagnosis_overview` what stands in
the cell of a notebook. Its page is made of the same parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.model.run import Run
from advisor.report.blocks import (
    Block,
    Document,
    FactLine,
    Fold,
    ListBlock,
    Paragraph,
    Quote,
    SplitBlock,
    bullet_list,
    first_paragraph,
    grid_of,
    paragraph_of,
    quiet_line,
)
from advisor.report.diagnosis.cards import Card, Maker, by_number, make_cards, order_of
from advisor.report.diagnosis.finding import FindingBlocks, severity_piece
from advisor.report.diagnosis.headline import make_headline
from advisor.report.diagnosis.held_time import say_held
from advisor.report.diagnosis.outcomes import (
    Unchecked,
    checked_rows,
    not_checked,
    say_outcome_counts,
    unread_in_full,
    unread_in_short,
)
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, Said, TextPiece, Tone, clean_line, code_prose, plain_prose, strong, toned
from advisor.report.run_summary import captures_chosen, engine_grid, is_untried, run_list, run_title, to_read_first
from advisor.report.time_split import time_parts
from advisor.report.verdict_line import verdict_line
from advisor.report.words import say, say_rule_count

if TYPE_CHECKING:
    from advisor.model.verdict import Verdict

FULL_CARDS = 60
SHORT_CARDS = 300
MOST_REASONS = 4
MOST_RULES = 3


def diagnosis_document(diagnosis: Diagnosis, language: Language, judged: Verdict | None = None) -> Document:
    """Everything that a report says; of a run that was `judged` its verdict stands before the answer."""
    return Document(language, tuple(DiagnosisBlocks(diagnosis, language).whole(judged)), diagnosis.version)


def diagnosis_summary(
    diagnosis: Diagnosis, language: Language, top: int = 5, *, reasons: int = MOST_REASONS, is_written: bool = False
) -> Document:
    """The answer with at most `top` findings, each with its saving and its first step, and what was not checked, with
    at most so many `reasons`.

    `is_written` says whether a report holds the rest.
    """
    blocks = DiagnosisBlocks(diagnosis, language).short(top, is_written, reasons)
    return Document(language, tuple(blocks), diagnosis.version)


def diagnosis_overview(diagnosis: Diagnosis, language: Language, most: int) -> Document:
    """The answer, and at most so many findings as a table."""
    return Document(language, tuple(DiagnosisBlocks(diagnosis, language, most).overview()), diagnosis.version)


def finding_document(finding: Finding, language: Language, info: RuleInfo | None = None) -> Document:
    """One finding with all that is known of it, its fingerprint last; `info` is what is known of its rule."""
    alone = Diagnosis(run=Run(steps=(1,)), findings=(finding,), rules=() if info is None else (info,))
    (card,) = make_cards(alone, language)
    name = quiet_line(code_prose(finding.fingerprint))
    return Document(language, (*FindingBlocks(language).whole(card, numbered=False), name))


class DiagnosisBlocks(Phrases):
    """Makes the blocks of one diagnosis; `full` findings with all they hold, the others in short."""

    wording = say

    def __init__(self, diagnosis: Diagnosis, language: Language, full: int = FULL_CARDS) -> None:
        super().__init__(language)
        self.diagnosis = diagnosis
        self.made = make_cards(diagnosis, language)
        self.parts = time_parts(diagnosis.split, language)
        self.headline = make_headline(diagnosis, self.made, self.parts, language)
        self.unchecked = not_checked(diagnosis.outcomes, language)
        self.blind = sum(len(group.rules) for group in self.unchecked)
        self.findings = FindingBlocks(language, diagnosis.run.times_of, self.made)
        self.full = full

    @property
    def cards(self) -> list[Card]:
        """The findings shown with all they hold: the first, what is folded behind what it is folded under."""
        return by_number(self.made[: self.full])

    @property
    def in_short(self) -> tuple[Card, ...]:
        """Findings beyond these, a line each."""
        return self.made[self.full : self.full + SHORT_CARDS]

    @property
    def left_out(self) -> int:
        """How many findings are not shown at all."""
        return max(len(self.made) - self.full - SHORT_CARDS, 0)

    @property
    def blind_note(self) -> Prose:
        """What to do before anything is recorded again; empty for ordinary captures."""
        return to_read_first(self.diagnosis.run, self.language) if self.unchecked else ()

    @property
    def blind_words(self) -> str:
        """How many rules could not look, or not at all ranks."""
        partly = any(outcome.without_ranks for outcome in self.diagnosis.outcomes)
        name = "look_everywhere" if partly else "record_more"
        return self.say(name, rules=say_rule_count(self.blind, self.language))

    def whole(self, judged: Verdict | None) -> Iterator[Block]:
        """Everything."""
        yield self.heading("report", 1)
        yield from run_title(self.diagnosis.run, self.language)
        if judged is not None:
            yield Paragraph(strong(verdict_line(judged, self.language)))
        yield from self.answer()
        yield from self.split()
        yield from self.ranking()
        yield from self.notice()
        for card in self.cards:
            yield from self.findings.whole(card)
        yield from self.others()
        yield from self.run()
        yield from self.not_checked()
        yield from self.checked()
        yield from unread_in_full(self.diagnosis.unread, self.language)
        yield self.sentence("made_by", version=clean_line(self.diagnosis.version, 40))

    def overview(self) -> Iterator[Block]:
        """The answer and the first findings as a table."""
        yield from self.answer(with_step=False)
        yield from self.split()
        yield from self.ranking(titled=False)
        left = len(self.in_short) + self.left_out
        notes = [self.say("more_of_all", count=left)] if left else []
        notes += [self.blind_words] if self.blind else []
        if notes:
            yield quiet_line(plain_prose(" · ".join(notes)))

    def short(self, top: int, is_written: bool, reasons: int) -> Iterator[Block]:
        """What fits on a terminal."""
        yield from self.answer_in_a_line()
        yield from self.split()
        listed = [card for card in self.made[: max(top, 1) + SHORT_CARDS] if not card.is_folded]
        findings = FindingBlocks(self.language, self.diagnosis.run.times_of, listed[:top])
        yield from map(findings.short, listed[:top])
        yield from self.doubts(listed[:top], findings.shared)
        if sum(bool(card.saving_time) for card in listed[:top]) > 1:
            yield quiet_line(self.prose_of("no_sum"), begins=True)
        more = len(listed) + max(len(self.made) - max(top, 1) - SHORT_CARDS, 0) - min(len(listed), top)
        if more:
            name = "more_in_report" if is_written else "more_findings_short"
            yield quiet_line(self.prose_of(name, count=more), begins=True)
        yield from self.unchecked_briefly(reasons)
        yield from unread_in_short(self.diagnosis.unread, self.language)
        if is_untried(self.diagnosis.run):
            yield quiet_line((*self.label("notes"), *self.prose_of("untried")), begins=True)

    def doubts(self, shown: Sequence[Card], shared: Collection[str]) -> Iterator[Block]:
        """What makes several of the findings that are shown less certain, where that is none of them: once for all."""
        untold = {*shared}.difference(card.number for card in shown)
        links = {link.number: link.title for card in shown for link in card.doubts if link.number in untold}
        if links:
            yield quiet_line(self.label("doubts"), begins=True)
            yield from bullet_list(
                toned((*self.prose_of("finding_says", number=name), *links[name]), "quiet")
                for name in sorted(links, key=order_of)
            )

    def split(self) -> Iterator[SplitBlock]:
        """The time split, where it is known."""
        if self.parts:
            yield SplitBlock(self.say("time_split"), self.parts)

    def answer(self, *, with_step: bool = True) -> Iterator[Block]:
        """Where the time goes, what to fix first, and its first step: a paragraph each."""
        said = self.headline
        if said.time:
            yield Paragraph(strong(plain_prose(said.time)))
        if said.first is None:
            yield Paragraph(plain_prose(said.says))
        else:
            yield Paragraph(self.lead(said.first, self.before_colon(strong(plain_prose(said.label)))))
            label = self.before_colon(strong(self.prose_of("next_step")))
            yield from paragraph_of(*(self.next_step(said.first, label) if with_step else ()))
        yield from self.remarks()

    def answer_in_a_line(self) -> Iterator[Block]:
        """The same in one line; of a symptom or a doubt it says what to do next."""
        said = self.headline
        sentences = [strong(plain_prose(said.time)) if said.time else (), plain_prose(said.says) if said.says else ()]
        if said.first is not None:
            lead = self.lead(said.first, self.before_colon(plain_prose(said.label)))
            label = self.before_colon(self.prose_of("next_step"))
            sentences += [(*lead, TextPiece(self.say("full_stop")))]
            sentences += [self.next_step(said.first, label)] if said.kind != "fix" else []
        yield Paragraph(self.in_a_row(*sentences))
        yield from self.remarks("quiet")

    def lead(self, first: Card, label: Prose) -> Prose:
        """The finding that leads behind its label, what fixing it wins, and where in the model it is."""
        place = (TextPiece(self.semicolon), *self.headline.place) if self.headline.place else ()
        return (*label, *first.title, *(self.won(self.headline.won) if self.headline.won else ()), *place)

    def won(self, said: str) -> Prose:
        """What fixing the finding that leads wins, behind its title."""
        return plain_prose(f"{' — ' if self.language == 'en' else '——'}{said}")

    def next_step(self, first: Card, label: Prose) -> Prose:
        """What to do first, behind its label; nothing where nothing is known."""
        return (*label, *first_paragraph(first.actions[0].do)) if first.actions else ()

    def before_colon(self, said: Prose) -> Prose:
        """A word before what it names."""
        return (*said, TextPiece(self.colon))

    def remarks(self, tone: Tone = "") -> Iterator[Paragraph]:
        """What stands under the answer, a sentence each, and which captures it is about."""
        for said in (*self.headline.remarks, captures_chosen(self.diagnosis.run.notes, self.language)):
            yield from map(Paragraph, filter(None, [toned(said, tone) if tone else said]))

    def ranking(self, *, titled: bool = True) -> Iterator[Block]:
        """The findings as a list of what to do."""
        if not self.cards:
            return
        if titled:
            yield self.heading("findings")
        heads = self.heads("finding", "severity", "confidence", "saving", "seen_at")
        yield grid_of(("#", *heads), map(_ranking_row, self.cards))
        yield self.sentence("rank_by")

    def notice(self) -> Iterator[Block]:
        """What to record before the rest can be judged: what no capture holds is no news at the top."""
        recordable = [group for group in self.unchecked if not group.unheld]
        if recordable:
            more = plain_prose(" …") if len(self.unchecked) > 1 else ()
            said = (*self.linked_notice(), TextPiece(self.colon), *recordable[0].reason, *more)
            yield Quote((*paragraph_of(*self.blind_note), Paragraph(said)))

    def linked_notice(self) -> Prose:
        """How many rules could not look; where it can lead anywhere, it leads to them."""
        return plain_prose(self.blind_words)

    def others(self) -> Iterator[Block]:
        """Findings beyond the first, a line each."""
        if not self.in_short:
            return
        yield self.heading("more_findings", count=len(self.in_short))
        items = [(self.finding_line(card),) for card in self.in_short]
        items += [(self.sentence("left_out", count=self.left_out),)] if self.left_out else []
        yield ListBlock(tuple(items))

    def finding_line(self, card: Card) -> Block:
        """One finding in a line."""
        return FactLine(
            (plain_prose(card.number), (severity_piece(card),), card.title, (TextPiece(card.gain, tone="quiet"),))
        )

    def run(self) -> Iterator[Block]:
        """What was captured, how, and with what."""
        held = say_held(self.diagnosis.account, self.language, "held_in_run")
        if facts := run_list(self.diagnosis.run, self.language, held_against_chip=held):
            yield self.heading("run")
            yield from facts
        grid = engine_grid(self.diagnosis.run, self.language)
        if grid is not None:
            yield self.heading("engine", 3)
            yield grid

    def not_checked(self) -> Iterator[Block]:
        """The rules that could not look, by their reason."""
        if not self.unchecked:
            return
        yield self.heading("unchecked")
        yield from paragraph_of(*self.blind_note)
        yield from bullet_list((*group.reason, *toned(group.names(self.language), "note")) for group in self.unchecked)

    def unchecked_briefly(self, most: int) -> Iterator[Block]:
        """The first reasons, each with its first rules."""
        if not self.unchecked:
            return
        said = f"{self.say('unchecked')}{self.colon}{say_rule_count(self.blind, self.language)}"
        yield Paragraph((TextPiece(said, strong=True),), begins=True)
        yield from paragraph_of(*self.blind_note)
        groups = self.unchecked[:most]
        lines = [(*group.reason, *toned(self.names_briefly(group), "quiet")) for group in groups]
        yield from bullet_list(lines, TextPiece("  ·"))
        if len(self.unchecked) > most:
            yield quiet_line(plain_prose("  " + self.say("and_more", count=len(self.unchecked))))

    def names_briefly(self, group: Unchecked) -> Prose:
        """How many rules, and the first of them."""
        names = self.comma.join(group.rules[:MOST_RULES])
        return plain_prose(f"  {group.count}{self.colon}{names}{'…' if len(group.rules) > MOST_RULES else ''}")

    def checked(self, *, titled: bool = False) -> Iterator[Block]:
        """Every rule and what became of it."""
        if not self.diagnosis.outcomes:
            return
        yield self.heading("checked")
        yield Paragraph(plain_prose(say_outcome_counts(self.diagnosis, self.language)))
        rows = checked_rows(self.diagnosis, Maker(self.diagnosis, self.language), titled=titled)
        yield Fold(self.prose_of("all_rules"), (self.grid(("rule", "result", "reason"), rows),))


def _ranking_row(card: Card) -> tuple[Said, ...]:
    """A row of the ranking; what only shows the time of a finding above once more is set back."""
    time = f"{card.bound} {card.saving_time}" if card.saving_time else "–"
    amount = f"{time} ({card.share})" if card.share else time
    title = (TextPiece("↳ "), *card.title) if card.is_folded else card.title
    return card.number, title, (severity_piece(card),), card.confidence_word, amount, card.place_in_short or "–"
