# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a spreadsheet: findings, their evidence and rows, where a step goes, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from advisor.messages.text import Language, Text
from advisor.report.column_values import CAUSES
from advisor.report.columns import COLUMNS
from advisor.report.diagnosis.cards import Card, make_cards
from advisor.report.diagnosis.outcomes import not_checked
from advisor.report.phrases import Phrases
from advisor.report.prose import clean_line, flat_text
from advisor.report.spreadsheet import UNIT_SIGNS, Sheet, cell_in_words, head_with_unit, workbook_bytes
from advisor.report.time_split import PARTS
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording, word_for

if TYPE_CHECKING:
    from advisor.model.findings import Diagnosis, Head, Scalar

_t = Text

_WORDS: Mapping[str, Text] = {
    "findings": _t("Findings", "问题"),
    "evidence": _t("Evidence", "依据"),
    "excerpt": _t("Rows behind", "相关数据"),
    "account": _t("Where a step goes", "单步耗时构成"),
    "unchecked": _t("Not checked", "未检查"),
    "us": _t("µs per step", "每步 µs"),
    "saving_us": _t("Saving (µs per step)", "收益 (每步 µs)"),
    "estimate": _t("estimate", "估算方式"),
    "share": _t("share of the step", "占单步比例"),
    "count": _t("per step", "每步次数"),
    "where": _t("part of the step", "单步组成"),
    "name": _t("name", "名称"),
    "rules": _t("rules", "规则"),
    "why": _t("reason", "原因"),
    "unit": _t("unit", "单位"),
}
"""What sheets call otherwise than reports do, and what reports do not show."""


def diagnosis_workbook(diagnosis: Diagnosis, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    return workbook_bytes(clean_line(diagnosis.run.name, 200), diagnosis_sheets(diagnosis, language))


def diagnosis_sheets(diagnosis: Diagnosis, language: Language) -> tuple[Sheet, ...]:
    """What stands on each sheet."""
    return tuple(_SheetMaker(diagnosis, language).sheets())


class _SheetMaker(Phrases):
    """Makes the sheets of one diagnosis in one language."""

    wording = Wording(_WORDS, OF_REPORTS)

    def __init__(self, diagnosis: Diagnosis, language: Language) -> None:
        super().__init__(language, diagnosis.run.times_of)
        self.diagnosis, self.cards = diagnosis, make_cards(diagnosis, language)

    def sheets(self) -> Iterator[Sheet]:
        of_findings = ("finding", "severity", "confidence", "saving_us", "estimate", "share", "seen_at", "first_fix")
        yield self.sheet("findings", of_findings, map(_finding_row, self.cards), ("#",), ("id", "fingerprint"))
        evidence = (row for card in self.cards for row in _evidence_rows(card))
        yield self.sheet("evidence", ("finding", "measure", "value", "unit", "threshold"), evidence, ("#",))
        yield self.sheet("excerpt", (), (row for card in self.cards for row in self.excerpt_rows(card)))
        yield self.sheet("account", ("where", "name", "us", "share", "count"), self.account_rows())
        groups = not_checked(self.diagnosis.outcomes, self.language)
        unchecked = ((flat_text(group.reason), ", ".join(group.rules)) for group in groups)
        yield self.sheet("unchecked", ("why", "rules"), unchecked)

    def sheet(
        self,
        name: str,
        heads: Iterable[str],
        rows: Iterable[tuple[Scalar, ...]],
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
    ) -> Sheet:
        """One sheet; `before` and `after` its heads stand those that no language says otherwise."""
        return Sheet(self.say(name), (*before, *map(self.say, heads), *after), tuple(rows))

    def excerpt_rows(self, card: Card) -> Iterator[tuple[Scalar, ...]]:
        """The title of the finding, the names of the columns, the rows, and an empty line."""
        table = card.finding.excerpt
        if table is None or not table.rows:
            return
        yield card.number, flat_text(card.title)
        shown = [(at, table.columns[at]) for at in table.shown]
        yield (None, *(self.column_label(head) for _, head in shown))
        for row in table.rows:
            messages = table.messages(row)
            told = ((row[at], head.name) for at, head in shown if at < len(row))
            yield (None, *(cell_in_words(cell, name, self.language, messages.get(name)) for cell, name in told))
        yield ()

    def column_label(self, head: Head) -> str:
        label = word_for(COLUMNS, head.name, self.language, self.times_of) or clean_line(head.name)
        return head_with_unit(label, head.unit, self.language)

    def account_rows(self) -> Iterator[tuple[Scalar, ...]]:
        account, split = self.diagnosis.account, self.diagnosis.split
        for one in account.spent if account is not None and split is not None else ():
            part = word_for(PARTS, one.part, self.language) or one.part
            cause = word_for(CAUSES, one.name, self.language) if one.part == "free" else None
            share = one.us / split.step_us if split is not None and split.step_us > 0 else None
            yield part, cause or clean_line(one.name), one.us, share, one.count


def _finding_row(card: Card) -> tuple[Scalar, ...]:
    us, share = card.finding.saving.told
    return (
        card.number,
        flat_text(card.title),
        card.severity_word,
        card.confidence_word,
        us,
        card.bound if card.saving_time else None,
        share,
        card.places[0].place if card.places else None,
        card.first_step,
        card.rule,
        clean_line(card.finding.fingerprint),
    )


def _evidence_rows(card: Card) -> Iterator[tuple[Scalar, ...]]:
    told = [item for item in card.finding.evidence if item.value is not None]
    for item, measure in zip(told, card.measures, strict=True):
        value = flat_text(measure.value) if isinstance(item.value, str) else item.value
        unit = UNIT_SIGNS.get(item.unit, item.unit)
        yield card.number, flat_text(card.title), flat_text(measure.label), value, unit, item.threshold
