# SPDX-License-Identifier: Apache-2.0
"""A verification as a document: of one finding, or of all findings of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from advisor.comparison.verification import PromiseResult, Verification, Verifications
from advisor.messages.text import STEP_WORDS, Language, Text
from advisor.model.comparison import Change, Comparison, Shift, Status
from advisor.report.blocks import Block, Document, Grid, Heading, Paragraph, quiet_line
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.items import Items
from advisor.report.comparison.sides import (
    compared_times,
    say_barriers,
    say_both_times,
    side_paragraphs,
    sides_chosen,
    sides_in_title,
)
from advisor.report.comparison.words import JUDGEMENTS, STATUSES
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, Said, TextPiece, Tone, clean_line, code_prose, plain_prose, quiet
from advisor.report.verification.words import say
from advisor.report.words import say_aside
from advisor.units import show_value

MOST_AGAINST = 10
_ORDER: tuple[Status, ...] = ("gone", "better", "same", "worse", "not comparable")
_RESULTS: dict[str, Tone] = {"kept": "good", "partly": "warn", "not kept": "bad", "worse": "bad"}
_BECAME: dict[str, Tone] = {"gone": "good", "better": "good", "worse": "bad", "not comparable": "warn"}


def verification_document(found: Verification | Verifications, comparison: Comparison, language: Language) -> Document:
    """Whether fixes worked, what was promised and what was won; titles and names come from the comparison.

    Of one finding; of all it says how much of a shorter step each explains at most.
    """
    shown = _VerificationBlocks(comparison, language)
    blocks = tuple(shown.all_blocks(found) if isinstance(found, Verifications) else shown.finding_blocks(found))
    heading, *others = blocks
    brand, sides = sides_in_title(comparison, language)
    told = (heading, *side_paragraphs(comparison, language), *others)
    return Document(language, told, comparison.after.version, brand, f"{sides} · {Document(language, blocks).title}")


class _VerificationBlocks(Phrases):
    """Makes the blocks of what became of findings from one capture to another."""

    wording = say

    def __init__(self, comparison: Comparison, language: Language) -> None:
        super().__init__(language, compared_times(comparison))
        self.comparison, self.items = comparison, Items(comparison, language)

    def finding_blocks(self, verification: Verification) -> Iterator[Block]:
        result = verification.result
        change = self.comparison.change(verification.fingerprint)
        own = self.items.item(change) if change is not None else None
        yield Heading((TextPiece(self.say_result(result), tone=_RESULTS.get(result, "")),), 1)
        yield Paragraph(self.titled(verification))
        yield from sides_chosen(self.comparison, self.language)
        times = plain_prose(STEP_WORDS["per_step"][self.language][self.times_of])
        yield Grid(((), times, ()), tuple(self.amount_rows(verification)))
        values = own.values if own is not None and not self.comparison.unrelated else ()
        rows = ((one.label, one.before, one.after, one.threshold or "–") for one in values)
        yield from self.tabled("watched", ("value", "before", "after", "threshold"), rows)
        yield from self.caveat_blocks(verification.against, verification.reasons)

    def all_blocks(self, found: Verifications) -> Iterator[Block]:
        yield Heading(self.answer_to_all(found), 1)
        yield Paragraph(plain_prose(self.of_step(found.step)))
        yield from sides_chosen(self.comparison, self.language)
        if found.findings:
            heads = ("became", "finding", "promised_short", "freed_short", "explained_short")
            yield self.grid(heads, map(self.finding_row, found.findings), subject=1)
            if not found.barriers:
                yield quiet_line(self.prose_of("no_sum"))
        yield from self.caveat_blocks([one for one in found.against if one.status == "new"], found.reasons)

    def finding_row(self, one: Verification) -> tuple[Said, ...]:
        change = self.comparison.change(one.fingerprint)
        reason = change.reason if change is not None and not one.barriers else None
        why = "" if reason is None else say_aside(clean_line(reason.say(self.language), 500), self.language)
        return (
            (TextPiece(self.became_word(one), tone=_BECAME.get(one.status, "")),),
            (*self.titled(one), *(plain_prose(why) if why else ())),
            *(_time_or_dash(us, one.promised_us) for us in (one.promised_us, one.freed_us, one.explained_us)),
        )

    def titled(self, one: Verification) -> Prose:
        """What the finding was called before, with its rule."""
        change = self.comparison.change(one.fingerprint)
        title = self.items.title_before(change) if change is not None else ()
        return (*title, TextPiece(" — "), *code_prose(one.rule), TextPiece(" "), *code_prose(one.fingerprint))

    def say_result(self, result: PromiseResult) -> str:
        """Whether it was fixed, or why that cannot be told."""
        if result == "not known" and self.comparison.apart:
            why = say_barriers(self.comparison, self.comparison.apart, self.language)
            return self.say("not known because", why=why)
        said = self.say("got_worse" if result == "worse" else result)
        return said + self.say_condition()

    def say_condition(self) -> str:
        """On what an answer rests where the two captures may be of different programs."""
        return self.say("if_one_program") if "program" in self.comparison.barriers else ""

    def answer_to_all(self, found: Verifications) -> Prose:
        """What became of how many findings, or why that cannot be told."""
        if found.findings and found.barriers:
            why = say_barriers(self.comparison, found.barriers, self.language)
            return (TextPiece(self.say("none known because", why=why), tone="warn"),)
        said = self.say_counts(found) + (self.say_condition() if found.findings else "")
        return (TextPiece(said, tone="good" if found.worked else "bad"),)

    def say_counts(self, found: Verifications) -> str:
        """How many findings there were, and what became of how many."""
        if not found.findings:
            return self.say("nothing")
        counts = ((status, found.having(status)) for status in _ORDER)
        said = (self.say("count_of", count=n, status=self.status_word(one)) for one, n in counts if n)
        total = len(found.findings)
        return self.say("all_are", total=total, counts=self.say("listed").join(said))

    def of_step(self, step: Shift | None) -> str:
        """The step before and after, and what it won."""
        if step is None:
            return self.say("no_step")
        if self.comparison.apart:
            return say_both_times(step, self.comparison, self.language)
        before, after = show_value(step.before_us, "us"), show_value(step.after_us, "us")
        name = step.status if self.times_of == "step" else f"{step.status}_window"
        return self.say(name, before=before, after=after, delta=show_value(abs(step.delta_us), "us"))

    def status_word(self, status: Status) -> str:
        """What became of a finding; one whose rule could not look again was not measured."""
        return self.say("not measured") if status == "not comparable" else STATUSES[status].say(self.language)

    def became_word(self, one: Verification) -> str:
        """What became of a finding; of captures that do not compare that cannot be told."""
        return JUDGEMENTS["not comparable"].say(self.language) if one.barriers else self.status_word(one.status)

    def caveat_blocks(self, changes: Sequence[Change], reasons: Iterable[Text]) -> Iterator[Block]:
        """What came or grew meanwhile, and what limits the answer."""
        yield from self.listed("against", map(self.change_prose, changes[:MOST_AGAINST]))
        said = (plain_prose(clean_line(reason.say(self.language), 500)) for reason in reasons)
        yield from self.listed("reasons", said)

    def change_prose(self, change: Change) -> Prose:
        item = self.items.item(change)
        told = filter(None, [STATUSES[change.status].say(self.language), item.saving])
        about = say_aside(self.comma.join(told), self.language)
        return (*item.title, TextPiece(f"{about} "), *code_prose(item.rule))

    def amount_rows(self, verification: Verification) -> Iterator[tuple[Prose, ...]]:
        """The times that are set side by side: what they are, how much, and what part of the promise."""
        promised, won, freed = verification.promised_us, verification.won_us, verification.freed_us
        named = (
            ("promised", show_value(promised, "us") if promised > 0 else self.say("not_estimated"), ""),
            ("grown", self.time_or_unknown(-freed), "")
            if freed is not None and freed < 0
            else ("freed", self.time_or_unknown(freed), self.share_of_promise(freed, promised)),
            (
                "won",
                self.time_or_unknown(won),
                "  ".join(filter(None, [self.say_won(verification), self.say_step_moved(verification.step)])),
            ),
            ("explained", self.time_or_unknown(verification.explained_us), ""),
        )
        for name, time, note in named:
            label = self.prose_of("won_window" if name == "won" and self.times_of != "step" else name)
            yield label, plain_prose(time), quiet(note)

    def say_won(self, one: Verification) -> str:
        """Which part of the promise the step won; of a step that moved by less than noise that it did."""
        if one.step is not None and one.step.status == "same":
            return self.say("within_noise")
        return self.share_of_promise(one.won_us, one.promised_us) if one.explained_us else ""

    def say_step_moved(self, step: Shift | None) -> str:
        """The step before and after; for what each of them is where the captures do not compare."""
        if step is None:
            return ""
        if self.comparison.apart:
            return say_both_times(step, self.comparison, self.language)
        return f"{show_value(step.before_us, 'us')} → {show_value(step.after_us, 'us')}"

    def time_or_unknown(self, us: float | None) -> str:
        return self.say("unknown") if us is None else signed_amount(us) if us < 0 else show_value(us, "us")

    def share_of_promise(self, us: float | None, promised: float) -> str:
        """Which part of the promise this is; nothing where nothing was promised or nothing won."""
        if us is None or us <= 0 or promised <= 0:
            return ""
        return self.say("of_promise", share=show_value(us / promised, "share"))


def _time_or_dash(us: float | None, promised: float) -> str:
    """A time; a dash where it is not known, or the finding had none to begin with."""
    return "–" if us is None or promised <= 0 else signed_amount(us) if us < 0 else show_value(us, "us")
