# SPDX-License-Identifier: Apache-2.0
"""A comparison as a document: the verdict, the step and its parts, what moved it, what became of the findings.

`comparison_document` says all of it, `comparison_summary` what fits on a terminal, `comparison_overview` what stands
in the cell of a notebook. Its page is made of the same parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Shift
from advisor.report.blocks import (
    Block,
    Blocks,
    Document,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Section,
    grid_of,
    led_by,
    paragraph_of,
)
from advisor.report.comparison.account import AccountEntry, account_entries
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.answer import ComparisonVerdict
from advisor.report.comparison.items import FindingGroup, Item, WatchedValue, change_groups, values_line
from advisor.report.comparison.sides import compared_sides, shift_status, side_paragraphs, sides_chosen, summed_times
from advisor.report.comparison.tables import difference_fold
from advisor.report.comparison.words import JUDGEMENTS, say, say_column
from advisor.report.diagnosis.finding import ARROW
from advisor.report.phrases import Phrases
from advisor.report.prose import (
    Prose,
    Said,
    TextPiece,
    Tone,
    clean_line,
    code_prose,
    join_prose,
    parse_long_prose,
    plain_prose,
    quiet,
    strong,
    toned,
)
from advisor.report.run_summary import run_facts
from advisor.report.time_split import COLOURS
from advisor.report.words import say_aside
from advisor.units import show_value

ROWS = 15
"""Rows of each table: enough for a comment; spreadsheets hold the others."""
TONES: dict[str, Tone] = {"worse": "bad", "new": "bad", "better": "good", "gone": "good"}
"""How what became of a time or a finding is meant."""
_ASIDE = ("rest", "step")
"""Entries of the account that stand for others."""


def comparison_document(comparison: Comparison, language: Language) -> Document:
    """Everything that a report says."""
    return Document(language, tuple(ComparisonBlocks(comparison, language, ROWS).whole()), comparison.after.version)


def comparison_summary(comparison: Comparison, language: Language, top: int = 5) -> Document:
    """The answer, with at most `top` entries of the account and `top` findings of each kind."""
    blocks = ComparisonBlocks(comparison, language, 0).short(max(top, 1))
    return Document(language, tuple(blocks), comparison.after.version)


def comparison_overview(comparison: Comparison, language: Language, most: int) -> Document:
    """The answer, and at most so many findings that changed as a table."""
    return Document(language, tuple(ComparisonBlocks(comparison, language, 0).overview(most)), comparison.after.version)


class ComparisonBlocks(Phrases):
    """Makes the blocks of one comparison; `rows` of each table."""

    wording = say

    def __init__(self, comparison: Comparison, language: Language, rows: int) -> None:
        super().__init__(language, summed_times(comparison))
        self.comparison, self.rows = comparison, rows
        self.verdict = ComparisonVerdict(comparison, language)
        self.entries = account_entries(comparison, language)
        self.groups = change_groups(comparison, language)
        self.notes = [parse_long_prose(note.say(language), 2000) for note in comparison.notes]

    def whole(self) -> Iterator[Block]:
        """Everything."""
        yield self.heading("report", 1)
        yield from side_paragraphs(self.comparison, self.language)
        yield from sides_chosen(self.comparison, self.language)
        yield from self.answer()
        yield from self.times()
        yield from self.account()
        yield from self.changes()
        yield from self.tables()
        yield from self.listed("notes", self.notes)
        yield Fold(self.prose_of("runs"), (self.runs(),))
        yield self.sentence("made_by", version=clean_line(self.comparison.after.version, 40))

    def short(self, top: int) -> Iterator[Block]:
        """What fits on a terminal."""
        sides = compared_sides(self.comparison, self.language)
        yield self.grid(("", "", ""), ((quiet(word), name, quiet(line)) for word, name, line in sides))
        yield from sides_chosen(self.comparison, self.language)
        yield from self.answer()
        yield from self.times()
        if any(one.us for one in self.entries):
            yield self.heading("moved")
            yield self.grid(("", "", ""), self.account_rows(top), (True,))
        for group in self.groups:
            yield from self.group_briefly(group, top)
        yield from self.listed("notes", self.notes)

    def overview(self, most: int) -> Iterator[Block]:
        """What stands in the cell of a notebook."""
        yield from self.answer()
        yield from sides_chosen(self.comparison, self.language)
        yield from self.times()
        changed = [(group.word, item) for group in self.groups if not group.folded for item in group.items]
        if changed:
            heads = (plain_prose(say_column("status", self.language)), *self.heads("finding", "saving", "severity"))
            rows = (
                (word, (*item.title, TextPiece(" — "), *code_prose(item.rule)), item.saving, item.severity_words)
                for word, item in changed[:most]
            )
            yield grid_of(heads, rows)
        yield from self.left_over("more_short", len(changed) - most)
        yield from map(Paragraph, self.notes)

    def summary(self) -> Iterator[Block]:
        """The first sheet of a spreadsheet."""
        yield Heading(plain_prose(self.verdict.says), 1)
        yield from self.lead
        yield Paragraph(plain_prose(self.verdict.sure))
        yield self.grid(("", "", ""), compared_sides(self.comparison, self.language))
        yield from sides_chosen(self.comparison, self.language)
        yield from self.times()
        yield from map(Paragraph, self.notes)

    def aside(self, words: str) -> str:
        """Words in brackets."""
        return say_aside(words, self.language)

    def answer(self) -> Iterator[Block]:
        """Whether it got slower, through what, and how sure that is."""
        yield Paragraph(self.in_a_row((TextPiece(self.verdict.says, strong=True),), self.verdict.mainly))
        yield from map(Paragraph, filter(None, (self.fix_first, plain_prose(self.verdict.findings))))
        yield Paragraph(quiet(self.verdict.sure))

    @property
    def lead(self) -> Blocks:
        """Through what it got slower, what to fix first, and what became of the findings."""
        said = (self.verdict.mainly, self.fix_first, plain_prose(self.verdict.findings))
        return tuple(map(Paragraph, filter(None, said)))

    @property
    def fix_first(self) -> Prose:
        """`Fix first: …`, the cause that leads what came or got worse; nothing where the step got no longer."""
        step = self.comparison.step
        if self.comparison.apart or step is None or step.status != "worse":
            return ()
        items = (item for group in self.groups for item in group.items)
        came = [card for item in items if (card := item.card_to_act_on) and card.actions and card.severity != "info"]
        first = min(came, key=lambda card: int(card.number), default=None)
        return (TextPiece(f"{self.say('lead_fix')}{self.colon}"), *strong(first.title)) if first else ()

    def times(self) -> Iterator[Grid]:
        """The step and its parts on both sides, where they are known."""
        if self.comparison.shifts:
            part = "where" if "times" in self.comparison.barriers else "part"
            heads = (part, "Before", "After", "Delta", "Noise", "judged")
            yield self.grid(heads, map(self.time_row, self.comparison.shifts), (False, *[True] * 4))

    @property
    def whole_name(self) -> str:
        """What the time is called whose parts stand below it; that of a step beside something else by neither."""
        return "step_or_window" if "times" in self.comparison.barriers else self.times_of

    def time_row(self, shift: Shift) -> tuple[Said, ...]:
        """One time: before, after, by how much it differs, by how much it may, and what that means."""
        status = shift_status(shift, self.comparison)
        name = self.whole_name if shift.name == "step" else COLOURS[shift.name]
        percent = percent_change(shift.before_us, shift.after_us) if shift.delta_us else ""
        delta, tone = signed_amount(shift.delta_us), TONES.get(status, "")
        by = TextPiece(f"{delta} ({percent})" if percent else delta, tone=tone)
        noise = quiet(f"±{show_value(shift.noise_us, 'us')}")
        if self.comparison.unrelated:
            by, noise = TextPiece("–"), plain_prose("–")
        return (
            (TextPiece(self.say(name), strong=shift.name == "step", tone=COLOURS.get(shift.name, "")),),
            show_value(shift.before_us, "us"),
            show_value(shift.after_us, "us"),
            (by,),
            noise,
            (TextPiece(JUDGEMENTS[status].say(self.language), tone=tone),),
        )

    def account(self) -> Iterator[Block]:
        """Why the step moved: each entry, and their sum."""
        yield self.heading("moved")
        if not self.entries:
            name = "no_account_apart" if self.comparison.unrelated else "no_account"
            yield self.sentence(name)
            return
        heads = ("Delta", "where", "what", "Before", "After", "count_column")
        yield self.grid(heads, map(self.account_row, self.entries), (True, False, False, True, True, True))
        yield self.sentence("moved_note")

    def account_row(self, one: AccountEntry) -> tuple[Prose, ...]:
        """One entry; what lies within noise is pale."""
        before, after, count = map(plain_prose, (one.before, one.after, one.count))
        if one.key == "step":
            total = plain_prose(one.delta) if one.noisy else self.moved_by(one)
            return strong(total), (), strong(one.name), strong(before), strong(after), ()
        noisy = plain_prose(self.aside(self.say("within_noise"))) if one.noisy and one.part else ()
        part = (TextPiece(one.part, tone=COLOURS.get(one.key, "")),)
        row = (self.moved_by(one), part, (*one.name, *noisy), before, after, count)
        return (row[0], part, *(toned(cell, "quiet") for cell in row[2:])) if one.noisy else row

    def moved_by(self, one: AccountEntry) -> Prose:
        """By how much it moved the step, and which way."""
        meant: Tone = "" if self.comparison.apart else "bad" if one.us > 0 else "good"
        return (TextPiece(one.delta, tone="quiet" if one.noisy else meant),)

    def account_rows(self, top: int) -> Iterator[tuple[Said, ...]]:
        """The largest entries; the others and the sum as one line each, so that they add up."""
        own = [one for one in self.entries if one.key not in _ASIDE]
        for one in own[:top]:
            said = [self.say("count_change", change=one.count)] if "→" in one.count else []
            said += [self.say("within_noise")] if one.noisy else []
            aside = self.aside(self.say("between").join(said)) if said else ""
            yield self.moved_by(one), one.part, (*one.name, *quiet(aside))
        total = self.entries[-1]
        if len(own) > top or any(one.key == "rest" for one in self.entries):
            rest = signed_amount(round(total.us - sum(one.us for one in own[:top]), 6))
            yield quiet(rest), (), quiet(self.say("others"))
        yield strong(plain_prose(total.delta)), (), strong(total.name)

    def changes(self) -> Iterator[Block]:
        """What became of the findings."""
        if self.groups:
            yield self.heading("changes")
            for group in self.groups:
                yield self.group(group)

    def group(self, group: FindingGroup) -> Block:
        """The findings of one kind of change."""
        name = (TextPiece(group.word, tone=TONES.get(group.status, "quiet")), TextPiece(self.aside(str(group.count))))
        items = [tuple(self.item(item, folded=group.folded)) for item in group.items]
        left = [paragraph_of(*self.more(group.left_out))] if group.left_out else []
        listed = ListBlock((*items, *left))
        blocks: Blocks = (Fold(name, (listed,)),) if group.folded else (Heading(name, 3), listed)
        return Section(blocks, f"group {group.status}")

    def more(self, count: int) -> Prose:
        """How many are left out."""
        return self.prose_of("more_of_them", count=count)

    def item(self, item: Item, *, folded: bool) -> Iterator[Block]:
        """What became of one finding, its values, and what to do about it."""
        said = (plain_prose(item.severity_words), code_prose(item.rule), plain_prose(item.saving))
        about = join_prose(" · ", (part for part in said if part[0].text))
        yield Paragraph((*strong(item.title), TextPiece(" — "), *about))
        below: list[Blocks] = [paragraph_of(*said) for said in (item.reason, self.cause(item)) if said]
        below += [paragraph_of(*self.value(one)) for one in (() if folded else item.values)]
        if actions := item.actions:
            below.append(led_by(plain_prose(self.say("fix") + self.colon), actions[0].do))
        if below:
            yield ListBlock(tuple(below))

    def cause(self, item: Item) -> Prose:
        """`Caused by: …`, where that is known."""
        card = item.card
        return (TextPiece(f"{self.say(card.caused)}{self.colon}"), *item.cause) if card and item.cause else ()

    def value(self, one: WatchedValue) -> Prose:
        """`share: 4 % → 12 % (+200 %); threshold: 10 %`."""
        after = self.aside(one.change) if one.change else ""
        if one.threshold:
            after += f"{self.semicolon}{self.say('threshold')}{self.colon}{one.threshold}"
        label = toned((*one.label, TextPiece(self.colon)), "quiet")
        return (*label, *one.before, TextPiece(" → "), *one.after, *quiet(after))

    def group_briefly(self, group: FindingGroup, top: int) -> Iterator[Block]:
        """The first findings of one kind of change."""
        name = (
            TextPiece(group.word, strong=True, tone=TONES.get(group.status, "")),
            TextPiece(self.aside(str(group.count))),
        )
        if group.folded:
            names = self.say("comma").join(dict.fromkeys(item.rule for item in group.items[:top]))
            yield Paragraph((*name, *quiet(f"  {names}{' …' if group.count > top else ''}")), begins=True)
            if group.status == "not-comparable" and group.items[0].reason:
                yield Quote(paragraph_of(*toned(group.items[0].reason, "quiet")))
            return
        yield Paragraph(name, begins=True)
        for item in group.items[:top]:
            yield Quote(tuple(self.item_briefly(item)))
        if group.count > top:
            yield Quote(paragraph_of(*quiet(self.say("more_short", count=group.count - top))))

    def item_briefly(self, item: Item) -> Iterator[Block]:
        """What became of one finding, its first value, and the first step of its remedy."""
        yield Paragraph(strong(item.title))
        parts = (item.severity_words, item.saving, values_line(item.values[:1], self.language))
        below: list[Block] = [Paragraph((TextPiece("  ".join(filter(None, parts))), *quiet(f"  {item.rule}")))]
        if cause := self.cause(item):
            below.append(Paragraph(cause))
        if actions := item.actions:
            below.append(ListBlock((actions[0].do,), mark=ARROW))
        yield Quote(tuple(below))

    def tables(self) -> Iterator[Block]:
        """Every table of differences with its first rows."""
        if self.comparison.tables:
            yield self.heading("tables")
            yield self.sentence("tables_note")
            for table in self.comparison.tables:
                yield Section((difference_fold(table, self.language, self.rows, self.times_of),), "sheet")

    def runs(self) -> Grid:
        """Both runs beside each other."""
        sides = [
            run_facts(diagnosis.run, self.language) for diagnosis in (self.comparison.before, self.comparison.after)
        ]
        labels = dict.fromkeys([*sides[0], *sides[1]])
        rows = (self.run_row(label, *(side.get(label, ()) for side in sides)) for label in labels)
        return self.grid(("", "Before", "After"), rows)

    def run_row(self, label: str, before: Prose, after: Prose) -> tuple[Prose, ...]:
        """One fact about both runs."""
        return plain_prose(label), before or plain_prose("–"), after or plain_prose("–")
