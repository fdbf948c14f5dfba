# SPDX-License-Identifier: Apache-2.0
"""What is shown of one finding: its numbers formatted, its holes filled, its tables bounded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from advisor.messages.text import HOLE, Language, Text, TimesOf
from advisor.model.findings import (
    Diagnosis,
    Evidence,
    Finding,
    Param,
    RuleInfo,
    Saving,
    Scalar,
    number_or_none,
    wins_at_most,
)
from advisor.model.findings import RemedyStep as Remedy
from advisor.model.findings import Rows as Table
from advisor.model.run import UNEVEN
from advisor.model.symptoms import OF_RANKS, caused_in_part, finding_numbers, folded_under, partly_explained
from advisor.model.unread import SavedMessage
from advisor.report.blocks import Blocks, Grid, Paragraph, one_line
from advisor.report.column_values import value_word
from advisor.report.columns import COLUMNS
from advisor.report.occurrence_times import When, worst_events
from advisor.report.phrases import Phrases
from advisor.report.places import JoinedPlaces, join_places, say_ranks, say_whole_hosts
from advisor.report.prose import (
    Prose,
    TextPiece,
    clean_block,
    clean_line,
    code_prose,
    join_prose,
    parse_long_prose,
    parse_prose,
    plain_prose,
)
from advisor.report.rule_text import reference_titles, rule_sentence, rule_text
from advisor.report.sources import named_line
from advisor.report.words import (
    CATEGORIES,
    CONFIDENCES,
    RESOURCES,
    SEVERITIES,
    say,
    say_aside,
    word_for,
)
from advisor.units import show_value

MOST_ROWS = 10
MOST_COLUMNS = 8
MOST_SPOTS = 8
ALIKE = 0.1
"""Savings that differ by less than this part are not told apart in words."""
MOST_LINKED = 12

_LAST_NS = 2**63
"""Moments are whole ns that a table can hold; a file may say anything."""
_ALL = 1.005
"""From here on a share would be shown as more than 100 %."""
_ANCHOR = re.compile(r"[0-9A-Za-z_-]{1,64}")
_PLAIN = re.compile(r"[\w.,:/+-]{1,160}", re.ASCII)


class CardMeasure(Struct, frozen=True):
    """One evidence value, and what it was held against."""

    label: Prose
    value: Prose
    threshold: str = ""
    basis: Prose = ()
    """Why this threshold, and whether the project set it."""


class CardRows(Struct, frozen=True):
    """The rows behind a finding; `note` says which part of them is shown, `timed` whether moments are among them."""

    grid: Grid
    note: str
    timed: bool


class Where(Struct, frozen=True):
    """Some places, in words, and what the problem costs there."""

    place: str
    saving: str


class CardStep(Struct, frozen=True):
    """One step of the remedy."""

    do: Blocks
    run: str = ""
    code: str = ""
    care: Blocks = ()


class CardLink(Struct, frozen=True):
    """Another finding of the same report."""

    number: str
    title: Prose
    anchor: str


class Card(Struct, frozen=True):
    """One finding, ready to be written in any format."""

    number: str
    """Its place among the findings that stand for themselves; behind a point that among what is folded under one."""
    finding: Finding
    anchor: str
    rule: str
    status: str
    category: str
    category_word: str
    severity: str
    severity_word: str
    confidence_word: str
    title: Prose
    why: Blocks
    saving: str
    gain: str
    """The same where nothing before it says that it is a saving."""
    saving_time: str
    share: str
    measures: tuple[CardMeasure, ...]
    thresholds: tuple[CardMeasure, ...]
    """Thresholds in force that no shown value was held against."""
    excerpt: CardRows | None
    places: tuple[Where, ...]
    more_places: int
    line: Prose
    """The user's line behind it, where call stacks were recorded."""
    modules: Prose
    """Where in the model its operator runs, where calls of modules were recorded."""
    moments: tuple[When, ...]
    causes: tuple[CardLink, ...]
    caused: str
    """The word for what its causes do to it: bring it about, or a smaller part of it."""
    symptoms: tuple[CardLink, ...]
    folds: tuple[CardLink, ...]
    """Symptoms shown here and not as findings of their own: their time is the same time."""
    partly: tuple[CardLink, ...]
    """Those of them of which the greater part is not explained."""
    doubts: tuple[CardLink, ...]
    """What makes it less certain: findings about the capture."""
    is_folded: bool
    """Whether it is shown under a cause of it."""
    is_partly: bool
    """Whether its causes explain less than half of it."""
    at_most: bool | None
    """Whether the saving is an upper bound and no estimate; None where there is none."""
    bound: str
    """What a bare time is said to be: an estimate, or the most there is."""
    actions: tuple[CardStep, ...]
    assumes: Prose
    references: tuple[Prose, ...]

    @property
    def place_in_short(self) -> str:
        """The worst place, and a sign where there are more; empty where none is known."""
        return self.places[0].place + (" …" if len(self.places) > 1 else "") if self.places else ""

    @property
    def first_step(self) -> str | None:
        """What to do first, in one line; None where nothing is known."""
        return one_line(self.actions[0].do) if self.actions else None

    @property
    def same_time(self) -> tuple[CardLink, ...]:
        """Symptoms shown here whose time is this time."""
        return tuple(link for link in self.folds if link not in self.partly)

    @property
    def other_symptoms(self) -> tuple[CardLink, ...]:
        """What else it shows up as: findings that stand for themselves or under another cause."""
        return tuple(link for link in self.symptoms if link not in self.folds)


def make_cards(diagnosis: Diagnosis, language: Language) -> tuple[Card, ...]:
    """Every finding, in the order of the diagnosis."""
    maker = Maker(diagnosis, language)
    return tuple(map(maker.card, diagnosis.findings))


def by_number(cards: Iterable[Card]) -> list[Card]:
    """The same findings in the order of their numbers: what is folded under one stands behind it."""
    return sorted(cards, key=lambda card: order_of(card.number))


def order_of(number: str) -> tuple[int, ...]:
    """What findings are sorted by to stand in the order of their numbers."""
    return tuple(map(int, number.split(".")))


def describe_saving(saving: Saving, of: TimesOf, language: Language, *, at_most: bool = False) -> tuple[str, str, str]:
    """What can be won: as a phrase, as a bare time, and as a share of the step; empty where nothing is estimated
    or won.

    `at_most` is for upper bounds, and for symptoms: nobody knows how much of their time can be won, only that it is no
    more.
    """
    us, share = saving.us, saving.share
    if us <= 0:
        return say("wins_nothing" if saving.nothing else "no_saving", language), "", ""
    name = "saves_at_most" if at_most else "saves"
    phrase = say(name if of == "step" else f"{name}_in_all", language, time=show_value(us, "us"))
    part = show_value(min(share, 1.0), "share") if share > 0 else ""
    return phrase + (say_aside(part, language) if part else ""), show_value(us, "us"), part


def say_category(name: str, language: Language) -> str:
    """The word for a category of rules; one that is none of ours by its name."""
    return word_for(CATEGORIES, name, language) or clean_line(name)


def unknown_rule(rule: str) -> RuleInfo:
    """What stands for a rule of which a saved diagnosis says nothing: its id has to do."""
    name = f"`{rule or '?'}`"
    return RuleInfo(id=rule, title=Text(name, name), why=Text(name, name))


def shown_unit(name: str, unit: str, info: RuleInfo) -> str:
    """In what a value is shown: as its rule says, or as it is measured."""
    return next((label.show_as for label in info.labels if label.name == name and label.show_as), unit)


def open_title(info: RuleInfo, language: Language) -> Prose:
    """A rule's title where nothing was found: its holes are left open."""
    title = info.title.say(language)
    return parse_prose(title, _left_open(title))


def open_text(text: Text, language: Language) -> Blocks:
    """What a rule says where nothing was found: its holes are left open."""
    said = text.say(language)
    return rule_text(said, _left_open(said))


def open_step(step: Remedy, language: Language) -> CardStep:
    """A step of a remedy where nothing was found: its holes are left open."""
    care = open_text(step.care, language) if step.care else ()
    return CardStep(open_text(step.do, language), clean_block(step.run), clean_block(step.code), care)


def _left_open(text: str) -> Mapping[str, TextPiece]:
    """What stands in the holes of a text where nothing is known."""
    return dict.fromkeys(HOLE.findall(text), TextPiece("…"))


def _first_event_ns(diagnosis: Diagnosis) -> int:
    """When the first event of the timelines was, as far as findings tell their distance from it; 0 where none does."""
    worst = [one for finding in diagnosis.findings for one in finding.occurrences if one.since_start_us is not None]
    return min((one.start_ns - round((one.since_start_us or 0.0) * 1e3) for one in worst), default=0)


class Maker(Phrases):
    """Makes the cards of one diagnosis in one language."""

    wording = say

    def __init__(self, diagnosis: Diagnosis, language: Language) -> None:
        super().__init__(language, diagnosis.run.times_of)
        self.start_ns = diagnosis.run.start_ns or _first_event_ns(diagnosis)
        self.rules = {info.id: info for info in diagnosis.rules}
        self.findings = diagnosis.by_fingerprint
        self.anchors = {name: finding_anchor(one, i) for i, (name, one) in enumerate(self.findings.items(), 1)}
        self.folded = folded_under(diagnosis)
        self.partly = partly_explained(diagnosis)
        self.caused_in_part = caused_in_part(diagnosis)
        self.numbers = finding_numbers(diagnosis)
        self.many_ranks = len(diagnosis.run.ranks) > 1
        self.hosts = diagnosis.run.hosts
        self.step_us = diagnosis.run.step_us
        scarce = ((self.rule(finding).scarce, finding) for finding in reversed(diagnosis.findings))
        self.scarce = {what: finding for what, finding in scarce if what}

    def card(self, finding: Finding) -> Card:
        info = self.rule(finding)
        holes = self.holes(finding)
        name = finding.fingerprint
        bounded = wins_at_most(finding, info)
        phrase, time, share = describe_saving(finding.saving, self.times_of, self.language, at_most=bounded)
        if finding.saving.nothing and finding.alone is not None:
            phrase = self.say("others_last")
        where = join_places(finding.seen)
        measures = tuple(self.measure(item, info) for item in finding.evidence if item.value is not None)
        below = tuple(symptom for symptom, cause in self.folded.items() if cause == name)
        return Card(
            number=self.numbers[name],
            finding=finding,
            anchor=self.anchors[name],
            rule=clean_line(finding.rule),
            status="" if info.status == "stable" else self.say(info.status),
            category=clean_line(info.category),
            category_word=say_category(info.category, self.language),
            severity=finding.severity.name,
            severity_word=SEVERITIES[finding.severity.name].say(self.language),
            confidence_word=CONFIDENCES[finding.confidence.name].say(self.language),
            title=self.title(finding),
            why=rule_text(self.spoken(info.why), holes),
            saving=phrase,
            gain=self.say("gain", saving=phrase) if time else phrase,
            saving_time=time,
            share=share,
            measures=measures,
            thresholds=self.thresholds(info, finding),
            excerpt=self.excerpt(finding.excerpt, info) if finding.excerpt and finding.excerpt.rows else None,
            places=tuple(map(self.where, where[:MOST_SPOTS])),
            more_places=max(len(where) - MOST_SPOTS, 0),
            line=code_prose(named_line(finding.source)) if finding.source else (),
            modules=self.modules(finding),
            moments=worst_events(finding, self.language),
            causes=self.links(finding.causes),
            caused="caused_in_part_by" if name in self.caused_in_part else "caused_by",
            symptoms=self.links(finding.symptoms),
            folds=self.links(below),
            partly=self.links(tuple(symptom for symptom in below if symptom in self.partly)),
            doubts=self.links(finding.doubted_by),
            is_folded=name in self.folded,
            is_partly=name in self.partly,
            at_most=bounded if time else None,
            bound=self.say("at_most" if bounded else "about"),
            actions=tuple(self.action(step, finding, holes) for step in self.steps(finding, info)),
            assumes=self.assumed(finding, info, holes),
            references=tuple(reference_titles(info.references, self.language)),
        )

    def assumed(self, finding: Finding, info: RuleInfo, holes: Mapping[str, TextPiece]) -> Prose:
        """What the saving rests on, and what it would be without other ranks; nothing where none is estimated."""
        if not info.assumes or finding.saving.us <= 0:
            return ()
        said, more = rule_sentence(self.spoken(info.assumes), holes), self.apart(finding)
        return self.in_a_row(said, plain_prose(more) if more else ())

    def apart(self, finding: Finding) -> str:
        """What its worst rank wins by itself, where that is not what all of its ranks win; empty where nothing tells.

        Ranks that hold up the others side by side are mended one by one.
        """
        if finding.alone is not None:
            return self.say("alone", us=show_value(finding.alone.us, "us"))
        costs = {one.rank: one.saving_us for one in finding.seen if one.rank is not None and one.saving_us > 0}
        if not finding.rule.startswith(OF_RANKS) or not finding.rule.endswith("-rank") or len(costs) <= 1:
            return ""
        order = sorted(costs, key=lambda rank: -costs[rank])
        if costs[order[-1]] >= (1 - ALIKE) * costs[order[0]]:
            return self.say("alike_cost")
        shown = [self.say("rank_costs", rank=rank, us=show_value(costs[rank], "us")) for rank in order]
        ranks = self.comma.join([*shown[:MOST_SPOTS], *["…"][: len(order) > MOST_SPOTS]])
        alone = show_value(costs[order[0]] - costs[order[1]], "us")
        return self.say("each_costs", ranks=ranks, rank=order[0], us=alone, next=order[1])

    def spoken(self, text: Text) -> str:
        """What a rule says, of times such as those of the run."""
        return text.say(self.language, of=self.times_of)

    def card_of(self, fingerprint: str) -> Card | None:
        """The card of the finding with this fingerprint; None where it was not found."""
        return self.card(self.findings[fingerprint]) if fingerprint in self.findings else None

    def modules(self, finding: Finding) -> Prose:
        """Modules with the part of the time of its operator that belongs to each."""
        parts = (
            (*code_prose(one.module, 120), TextPiece(f" {show_value(one.share, 'share')}")) for one in finding.modules
        )
        return join_prose(self.comma, parts)

    def title(self, finding: Finding) -> Prose:
        """The state in one sentence with its numbers, and of which rank these are where there are several."""
        template = self.spoken(self.rule(finding).title_of(finding))
        rank = finding.seen[0].rank if finding.seen else None
        measured = set(HOLE.findall(template))
        title = parse_prose(template, self.holes(finding))
        if rank is None or not self.many_ranks or not measured:
            return title
        ranks = {place.rank for place in finding.seen if place.rank is not None}
        named = [] if "rank" in measured else [self.say("of_rank", rank=rank)]
        hosts = say_whole_hosts(ranks, self.hosts, self.language)
        worst = [self.say("worst_of", count=len(ranks))] if (named or hosts) and len(ranks) > 1 else []
        others = tuple(sorted(ranks - {rank}))
        if others and not worst:
            worst = [self.say("also_ranks", ranks=say_ranks(others, {}, self.language))]
        notes = [*named, *self.own_step(finding, measured), *worst, *filter(None, [hosts])]
        return (*title, *self.prose_of("noted", notes=self.comma.join(notes))) if notes else title

    def own_step(self, finding: Finding, measured: Collection[str]) -> list[str]:
        """The step of its rank, where a title holds a share and that step is not the one the report speaks of."""
        own = finding.step_us
        shares = {item.name for item in finding.evidence if item.unit == "share"} & set(measured)
        if own is None or not shares or abs(own - self.step_us) <= UNEVEN * self.step_us:
            return []
        return [self.say(f"own_{self.times_of}", time=show_value(own, "us"))]

    def rule(self, finding: Finding) -> RuleInfo:
        """What is known of the rule; a saved diagnosis may lack it, and then its id has to do."""
        return self.rules.get(finding.rule) or unknown_rule(finding.rule)

    def holes(self, finding: Finding) -> Mapping[str, TextPiece]:
        info = self.rule(finding)
        units = {item.name: shown_unit(item.name, item.unit, info) for item in finding.evidence}
        return {name: self.filling(value, name, units.get(name, "")) for name, value in _hole_values(finding).items()}

    def filling(self, value: Scalar, name: str, unit: str) -> TextPiece:
        """What fills a hole: a value out of a fixed set as a word of the language, not as a name of the profile."""
        word = value_word(value, name, self.language) if isinstance(value, str) else None
        return TextPiece(clean_line(word)) if word else self.piece(value, unit)

    def piece(self, value: Scalar, unit: str) -> TextPiece:
        if isinstance(value, str):
            return TextPiece(clean_line(value), code=True)
        if isinstance(value, bool) or value is None:
            return TextPiece("–" if value is None else "✓" if value else "✗")
        return TextPiece(self.moment(value) if unit == "ns" else self.number(value, unit))

    def number(self, value: float, unit: str) -> str:
        """A number with its unit; a ratio is said as in the language, and more than all is no share but a ratio."""
        said = show_value(value, _unit_told(value, unit))
        return f"{said[:-1]} 倍" if self.language == "zh" and said.endswith("×") else said

    def moment(self, value: float) -> str:
        """An absolute time, as ms since the run began; a value from before that is no moment of this run."""
        if self.start_ns and self.start_ns <= value < _LAST_NS:
            return f"+{(value - self.start_ns) / 1e6:,.3f} ms"
        return show_value(value, "ns")

    def value_label(self, name: str, info: RuleInfo) -> Prose:
        own = next((label.label for label in info.labels if label.name == name), None)
        if own is not None:
            return parse_prose(self.spoken(own))
        word = word_for(COLUMNS, name, self.language, self.times_of)
        return plain_prose(word) if word else code_prose(name)

    def measure(self, item: Evidence, info: RuleInfo) -> CardMeasure:
        unit = shown_unit(item.name, item.unit, info)
        param = _held_against(item, info)
        return CardMeasure(
            label=self.value_label(item.name, info),
            value=self.cell(item.value, item.name, unit),
            threshold="" if item.threshold is None else self.number(item.threshold, _unit_told(item.value, unit)),
            basis=self.basis(param) if param else (),
        )

    def thresholds(self, info: RuleInfo, finding: Finding) -> tuple[CardMeasure, ...]:
        shown = {param.name for item in finding.evidence if (param := _held_against(item, info))}
        return tuple(
            CardMeasure(
                label=self.value_label(param.name, info),
                value=plain_prose(self.number(param.value, param.unit)),
                basis=self.basis(param),
            )
            for param in info.params
            if param.name not in shown
        )

    def basis(self, param: Param) -> Prose:
        """Why this threshold, and whether the project set it."""
        own = plain_prose(say_aside(self.say("overridden"), self.language)) if param.overridden else ()
        return (*rule_sentence(param.basis.say(self.language)), *own)

    def excerpt(self, table: Table, info: RuleInfo, most: int = MOST_ROWS) -> CardRows:
        """The first rows, with the first columns that say anything of them."""
        shown = table.rows[:most]
        told = [at for at in table.shown if any(row[at] is not None for row in shown if at < len(row))]
        told = told[:MOST_COLUMNS]
        columns = [table.columns[at] for at in told]
        rows = [[row[at] for at in told if at < len(row)] for row in shown]
        units = [shown_unit(column.name, column.unit, info) for column in columns]
        counted = [
            unit or any(number_or_none(row[i]) is not None for row in rows if i < len(row))
            for i, unit in enumerate(units)
        ]
        heads = tuple(self.value_label(column.name, info) for column in columns)
        total = max(table.total, len(table.rows))
        note = "" if total <= len(rows) else self.say("rows_of", shown=len(rows), total=f"{total:,}")
        cells = tuple(
            tuple(
                self.cell(value, column.name, unit, said.get(column.name))
                for value, column, unit in zip(row, columns, units, strict=False)
            )
            for row, said in zip(rows, map(table.messages, shown), strict=True)
        )
        return CardRows(Grid(heads, cells, tuple(map(bool, counted))), note, "ns" in units)

    def cell(self, value: Scalar, column: str, unit: str, said: SavedMessage | None = None) -> Prose:
        """A value of a column in words: as a message that is `said`, as one out of a fixed set, or as it is."""
        word = said.say(self.language) if said else None
        if isinstance(value, str) and (word := word or value_word(value, column, self.language)):
            return parse_long_prose(word)
        return (self.piece(value, unit),)

    def where(self, spot: JoinedPlaces) -> Where:
        saving = show_value(spot.saving_us, "us") if spot.saving_us > 0 else ""
        return Where(spot.say(self.language, self.hosts), saving)

    def links(self, fingerprints: tuple[str, ...]) -> tuple[CardLink, ...]:
        here = [self.findings[name] for name in fingerprints if name in self.findings]
        return tuple(
            CardLink(self.numbers[one.fingerprint], self.title(one), self.anchors[one.fingerprint])
            for one in here[:MOST_LINKED]
        )

    def steps(self, finding: Finding, info: RuleInfo) -> Iterator[Remedy]:
        """The steps that apply, without those that the finding says under which this one is folded."""
        above = self.findings.get(self.folded.get(finding.fingerprint, ""))
        said = () if above is None else self.rule(above).remedy(above)
        for step in info.remedy(finding):
            if not any(step.does_the_same(other) for other in said):
                yield step

    def action(self, step: Remedy, finding: Finding, holes: Mapping[str, TextPiece]) -> CardStep:
        care = rule_text(self.spoken(step.care), holes) if step.care else ()
        run, code = (clean_block(command, _shell_values(finding)) for command in (step.run, step.code))
        return CardStep(rule_text(self.spoken(step.do), holes), run, code, (*care, *self.clashes(step, finding)))

    def clashes(self, step: Remedy, finding: Finding) -> Iterator[Paragraph]:
        """What the step takes of that another finding says is scarce, with that finding."""
        for what in step.takes:
            other = self.scarce.get(what)
            if other is not None and other.rule != finding.rule:
                resource = RESOURCES[what].say(self.language) if what in RESOURCES else clean_line(what)
                yield Paragraph((*self.prose_of("takes", what=resource), TextPiece(self.colon), *self.title(other)))


def worst_place(card: Card, language: Language) -> str:
    """The worst place, and how many there are; empty for the run as a whole."""
    place = card.places[0].place if card.places else ""
    if not place or place == say("whole_run", language):
        return ""
    count = len(card.places) + card.more_places
    return say("one_of_places", language, place=place, count=count) if count > 1 else place


def finding_anchor(finding: Finding, number: int) -> str:
    """The id of a finding inside a page: its fingerprint, so that a link stays good from run to run."""
    return f"f-{finding.fingerprint}" if _ANCHOR.fullmatch(finding.fingerprint) else f"f-no-{number}"


def _hole_values(finding: Finding) -> dict[str, Scalar]:
    """What holes are filled with: the worst place, the subject and the evidence."""
    place = finding.seen[0].model_dump(include={"rank", "stage", "step"}, exclude_none=True) if finding.seen else {}
    return {**place, **finding.subject, **{item.name: item.value for item in finding.evidence}}


def _shell_values(finding: Finding) -> dict[str, str]:
    """What fills the holes of commands and code: plain numbers, and words that no shell reads anything into."""
    values = _hole_values(finding).items()
    written = {
        name: value if isinstance(value, str) else _plain_number(number_or_none(value)) for name, value in values
    }
    return {name: text for name, text in written.items() if _PLAIN.fullmatch(text)}


def _plain_number(value: float | None) -> str:
    """A number as commands take it: no unit, no signs between thousands; nothing for what is none."""
    return "" if value is None else f"{value:.0f}" if value.is_integer() else f"{value:.6g}"


def _unit_told(value: Scalar, unit: str) -> str:
    """The unit of a value and of the threshold beside it: what is more than all of something is told as a multiple."""
    return "times" if unit == "share" and isinstance(value, int | float) and value > _ALL else unit


def _held_against(item: Evidence, info: RuleInfo) -> Param | None:
    """The threshold that the value is held against; None when there is none."""
    return next((param for param in info.params if param.name == item.param), None) if item.param else None
