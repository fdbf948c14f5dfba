# SPDX-License-Identifier: Apache-2.0
"""The answer of a comparison: whether it got slower, through what, how sure that is, and how many findings changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.comparison.conditions import conditions_between
from advisor.comparison.noise import WIDE, Noise
from advisor.messages.text import HOLE, Language
from advisor.model.comparison import STATUSES, Comparison, Moved
from advisor.model.findings import Confidence
from advisor.report.comparison.account import entry_name
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.sides import compared_times, say_barriers, with_both_times
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.comparison.words import say
from advisor.report.phrases import Phrases
from advisor.report.prose import BETWEEN_SENTENCES, Prose, TextPiece, join_prose, parse_prose, plain_prose
from advisor.report.time_split import PARTS
from advisor.report.words import CONFIDENCES, Wording
from advisor.units import show_value

_MOST_MAIN = 3
_WORTH_SAYING = 0.3
"""From this part of what moved the step on, what moved the other way is said too."""
_FEW_STEPS = 2


class ComparisonVerdict(Phrases):
    """The answer in words: whether it got slower, through what, how sure that is, and how many findings changed."""

    wording = say

    def __init__(self, comparison: Comparison, language: Language) -> None:
        super().__init__(language, compared_times(comparison))
        self.comparison, self.step = comparison, comparison.step

    @property
    def kind(self) -> str:
        """`worse`, `same`, `better`, `not-comparable` or `blind` (no times)."""
        if self.comparison.apart:
            return "not-comparable"
        return "blind" if self.step is None else self.step.status

    @property
    def says(self) -> str:
        """What became of the time, unless the two do not compare: then why."""
        step = self.step
        if self.comparison.apart:
            why = self.say("apart", why=say_barriers(self.comparison, self.comparison.apart, self.language))
            return with_both_times(why, self.comparison, self.language)
        if step is None:
            return self.say("no_time")
        # where it differs by more than may go unnoticed, nobody should read that nothing changed
        is_large = abs(step.delta_us) > WIDE * max(step.before_us, step.after_us)
        said = "unsure" if step.status == "same" and is_large else step.status
        times = {"before": step.before_us, "after": step.after_us, "delta": abs(step.delta_us)}
        return self.say(
            said if self.times_of == "step" else f"{said}_window",
            percent=percent_change(step.before_us, step.after_us),
            **{name: show_value(us, "us") for name, us in times.items()},
        )

    @property
    def mainly(self) -> Prose:
        """What moved the step, named in the sentence: the largest entries that moved it the same way, beyond noise."""
        step, moved = self.step, self.comparison.moved
        if step is None or step.status == "same" or self.comparison.apart or not moved:
            return ()
        sign = 1 if step.delta_us > 0 else -1
        main, against = ([one for one in moved if one.beyond_noise and one.delta_us * way > 0] for way in (sign, -sign))
        if not main:
            return parse_prose(self.say("mainly_none"))
        lost, won = (sum(abs(one.delta_us) for one in entries) for entries in (main, against))
        sentence = self.say("mainly_offset" if won >= _WORTH_SAYING * lost else "mainly")
        holes = {"entries": self._list_entries(main), "others": self._list_entries(against)}
        pieces = (holes[part] if at % 2 else plain_prose(part) for at, part in enumerate(HOLE.split(sentence)) if part)
        return join_prose("", pieces)

    def _list_entries(self, entries: Sequence[Moved]) -> Prose:
        """The first few by name, each with its difference; a collective with what counts of it, for only that part adds
        to the step."""
        named = []
        for one in entries[:_MOST_MAIN]:
            exposed = f"{PARTS[one.part].say(self.language)} " if one.part == "communication" and one.name else ""
            difference = TextPiece(f" {signed_amount(one.delta_us)}")
            named.append((*plain_prose(exposed), *entry_name(one, self.language), difference))
        return join_prose(self.say("listed"), named)

    @property
    def findings(self) -> str:
        """How many findings are new, worse, better … in one sentence."""
        if not self.comparison.changes:
            return self.say("no_findings")
        said = self.say("findings_are", counts=self.comma.join(say_status_counts(self.comparison, say, self.language)))
        if self.comparison.having("new", "worse", "not comparable"):
            return said
        return f"{self.say('none_worse')}{BETWEEN_SENTENCES[self.language]}{said}"

    @property
    def sure(self) -> str:
        """`Confidence: low – one of the two holds a single step …`."""
        word = CONFIDENCES[self.comparison.confidence.name].say(self.language)
        why = say_doubt(self.comparison, self.language)
        said = f"{self.say('confidence')}{self.colon}{word}"
        return f"{said}{' – ' if self.language == 'en' else '，'}{why}" if why else said


def say_status_counts(comparison: Comparison, wording: Wording, language: Language) -> Iterator[str]:
    """How many findings are new, how many worse and so on, in the words of a kind of document."""
    for status in STATUSES:
        if found := comparison.having(status):
            yield wording("count", language, count=len(found), word=STATUS_WORDS[status].say(language))


def _why_medium(comparison: Comparison) -> Iterator[str]:
    """The names of what lowers the confidence of captures that compare and hold several steps."""
    noise = Noise(comparison.before, comparison.after, comparison.tolerance)
    if conditions_between(comparison.before, comparison.after, singles=noise.singles, wide=noise.is_wide).differ:
        yield "sure_medium"
    if noise.is_wide:
        yield "sure_medium_wide"


def say_doubt(comparison: Comparison, language: Language) -> str:
    """Why the comparison is not sure; nothing where it is, or nothing tells."""
    if comparison.barriers:
        return say_barriers(comparison, comparison.barriers, language)
    if comparison.confidence == Confidence.medium:
        return say("semicolon", language).join(say(name, language) for name in _why_medium(comparison))
    accounts = (comparison.before.account, comparison.after.account)
    few = sum(account is None or len(account.steps) < _FEW_STEPS for account in accounts)
    if comparison.confidence != Confidence.low or not (few and comparison.shifts):
        return ""
    if compared_times(comparison) != "step":
        return say("sure_low_unmarked", language)
    return say("sure_low_both" if few > 1 else "sure_low", language)
