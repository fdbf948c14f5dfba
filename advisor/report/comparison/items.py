# SPDX-License-Identifier: Apache-2.0
"""What became of each finding, in words: its title, what it costs before and after, the values that moved."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.comparison import STATUSES, Change, Comparison, Metric, Status
from advisor.model.findings import RuleInfo, Saving, number_or_none
from advisor.report.comparison.amounts import percent_change
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.comparison.words import say
from advisor.report.diagnosis.cards import Card, CardStep, Maker, open_title, say_category, shown_unit, unknown_rule
from advisor.report.prose import Prose, clean_line, flat_text, parse_long_prose
from advisor.report.words import CONFIDENCES, SEVERITIES
from advisor.units import show_value

MOST_ITEMS = 100
_MOST_VALUES: Mapping[Status, int] = {"new": 4, "worse": 4, "better": 2, "gone": 1}
"""What got better needs fewer words than what got worse."""
FOLDED: tuple[Status, ...] = ("same", "not comparable")
"""Of these a report says first how many there are."""


class WatchedValue(Struct, frozen=True):
    """One value that a rule looks at, before and after."""

    label: Prose
    before: Prose
    after: Prose
    change: str
    threshold: str


class Item(Struct, frozen=True):
    """What became of one finding."""

    status: str
    anchor: str
    """Empty where the fingerprint is odd: the numbers that stand in for it may be those of either side."""
    title: Prose
    rule: str
    category: str
    severity: str
    """The later severity where there is one: the name of its colour."""
    severity_words: str
    """`high`, or `medium → high`."""
    saving: str
    values: tuple[WatchedValue, ...]
    reason: Prose
    confidence: str
    """Only where it is another than that of the comparison as a whole."""
    card: Card | None
    """All that is known of it where it was found last."""

    @property
    def cause(self) -> Prose:
        """What brings it about, where that is known."""
        return self.card.causes[0].title if self.card and self.card.causes else ()

    @property
    def card_to_act_on(self) -> Card | None:
        """All that is known of what came or got worse; nothing of what is the same time as its cause."""
        return self.card if self.card and self.status in ("new", "worse") and not self.card.is_folded else None

    @property
    def actions(self) -> tuple[CardStep, ...]:
        """What to do about it; nothing where it came no worse, or is the same time as its cause."""
        return self.card_to_act_on.actions if self.card_to_act_on else ()


class FindingGroup(Struct, frozen=True):
    """The findings of one kind of change."""

    status: str
    """As a name of a colour: `not-comparable`."""
    word: str
    folded: bool
    count: int
    items: tuple[Item, ...]
    left_out: int


def change_groups(comparison: Comparison, language: Language) -> tuple[FindingGroup, ...]:
    """Every kind of change that occurs: what got worse first, what cannot be compared last; so many of each."""
    maker = Items(comparison, language)
    found = [(status, comparison.having(status)) for status in STATUSES]
    return tuple(
        FindingGroup(
            status=status.replace(" ", "-"),
            word=STATUS_WORDS[status].say(language),
            folded=status in FOLDED,
            count=len(changes),
            items=tuple(maker.item(change) for change in changes[:MOST_ITEMS]),
            left_out=max(len(changes) - MOST_ITEMS, 0),
        )
        for status, changes in found
        if changes
    )


class Items:
    """Makes what is shown of changes."""

    def __init__(self, comparison: Comparison, language: Language) -> None:
        self.comparison, self.language, self.sure = comparison, language, comparison.confidence
        self.noise = comparison.tolerance.relative
        self.before, self.after = Maker(comparison.before, language), Maker(comparison.after, language)

    def item(self, change: Change) -> Item:
        card = self.after.card_of(change.fingerprint) or self.before.card_of(change.fingerprint)
        info = self.info(change.rule)
        severity = change.severity_after if change.severity_after is not None else change.severity_before
        return Item(
            status=change.status.replace(" ", "-"),
            anchor=card.anchor if card and not card.anchor.startswith("f-no-") else "",
            title=card.title if card else open_title(info, self.language),
            rule=clean_line(change.rule),
            category=say_category(info.category, self.language),
            severity=severity.name if severity is not None else "info",
            severity_words=self.severities(change),
            saving=self.saving(change),
            values=self.values(change, info),
            reason=parse_long_prose(change.reason.say(self.language), 500) if change.reason else (),
            confidence="" if change.confidence == self.sure else CONFIDENCES[change.confidence.name].say(self.language),
            card=card,
        )

    def title_before(self, change: Change) -> Prose:
        """What the finding was called before, with the numbers of then."""
        card = self.before.card_of(change.fingerprint)
        return card.title if card is not None else self.item(change).title

    def info(self, rule: str) -> RuleInfo:
        """What is known of the rule; a saved diagnosis may lack it, and then its id has to do."""
        return self.after.rules.get(rule) or self.before.rules.get(rule) or unknown_rule(rule)

    def severities(self, change: Change) -> str:
        levels = [
            SEVERITIES[level.name].say(self.language)
            for level in (change.severity_before, change.severity_after)
            if level is not None
        ]
        return " → ".join(dict.fromkeys(levels))

    def saving(self, change: Change) -> str:
        """What it could win, before and after; for a finding that came or went only where it was found."""
        before = saving_time(change.saving_before) if change.severity_before is not None else ""
        after = saving_time(change.saving_after) if change.severity_after is not None else ""
        if before and after and before != after:
            return say("saving_from", self.language, before=before, after=after)
        if after:
            return say("saving_now", self.language, after=after)
        return say("saving_then", self.language, before=before) if before else ""

    def values(self, change: Change, info: RuleInfo) -> tuple[WatchedValue, ...]:
        """The values held against a threshold, those that moved first, then others that moved; names and texts only
        where they changed."""
        held = [one for one in change.metrics if one.threshold is not None]
        telling = sorted(held, key=lambda one: not self.moved(one))
        telling += [one for one in change.metrics if one.threshold is None and self.moved(one)]
        return tuple(self.value(metric, info) for metric in telling[: _MOST_VALUES.get(change.status, 1)])

    def moved(self, metric: Metric) -> bool:
        """Whether a value changed beyond noise."""
        before, after = number_or_none(metric.before), number_or_none(metric.after)
        if before is None or after is None:
            return metric.before != metric.after
        return abs(after - before) > self.noise * max(abs(before), abs(after))

    def value(self, metric: Metric, info: RuleInfo) -> WatchedValue:
        unit, maker = shown_unit(metric.name, metric.unit, info), self.after
        amounts = (metric.before, metric.after) if unit else (None, None)  # a rank or a link is no amount
        return WatchedValue(
            label=maker.value_label(metric.name, info),
            before=self.before.cell(metric.before, metric.name, unit),
            after=maker.cell(metric.after, metric.name, unit),
            change=percent_change(*map(number_or_none, amounts)),
            threshold="" if metric.threshold is None else maker.number(metric.threshold, unit),
        )


def saving_time(saving: Saving | None) -> str:
    """The time that can be won; empty where none is estimated."""
    return show_value(saving.us, "us") if saving is not None and saving.us > 0 else ""


def values_line(values: tuple[WatchedValue, ...], language: Language) -> str:
    """The values in one line, for those without a table: `share 4 % → 12 %`."""
    return say("semicolon", language).join(
        f"{flat_text(value.label)} {flat_text(value.before)} → {flat_text(value.after)}" for value in values
    )
