# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a spreadsheet: findings, their evidence and rows, where a step goes, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from advisor.messages.text import Language, Text, TimesOf
from advisor.report.blocks import one_line
from advisor.report.column_values import CAUSES
from advisor.report.columns import COLUMNS
from advisor.report.comparison.words import PARTS
from advisor.report.diagnosis.cards import Card, make_cards
from advisor.report.diagnosis.outcomes import not_checked
from advisor.report.prose import clean_line, flat_text
from advisor.report.spreadsheet import UNIT_SIGNS, Sheet, cell_in_words, head_with_unit, workbook_bytes
from advisor.report.words import WORDS, Wording, word_for

if TYPE_CHECKING:
    from advisor.model.findings import Diagnosis, Head, Scalar


_WORDS: Mapping[str, Text] = {
    "findings": Text("Findings", "问题"),
    "evidence": Text("Evidence", "依据"),
    "excerpt": Text("Rows behind", "相关数据"),
    "account": Text("Where a step goes", "单步耗时构成"),
    "unchecked": Text("Not checked", "未检查"),
    "us": Text("µs per step", "每步 µs"),
    "share": Text("share of the step", "占单步比例"),
    "count": Text("per step", "每步次数"),
    "where": Text("part of the step", "单步组成"),
    "name": Text("name", "名称"),
    "rules": Text("rules", "规则"),
    "why": Text("reason", "原因"),
    "unit": Text("unit", "单位"),
}
say_in_sheet = Wording(_WORDS, WORDS)
"""The words of the sheets, else those that all reports share."""


def diagnosis_workbook(diagnosis: Diagnosis, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    return workbook_bytes(clean_line(diagnosis.run.name, 200), diagnosis_sheets(diagnosis, language))


def diagnosis_sheets(diagnosis: Diagnosis, language: Language) -> tuple[Sheet, ...]:
    """What stands on each sheet."""
    cards, times_of = make_cards(diagnosis, language), diagnosis.run.times_of
    unchecked = ((flat_text(one.reason), ", ".join(one.rules)) for one in not_checked(diagnosis.outcomes, language))
    sheets: tuple[tuple[str, tuple[str, ...], Iterable[tuple[Scalar, ...]]], ...] = (
        ("findings", _finding_heads(language), map(_finding_row, cards)),
        (
            "evidence",
            ("#", *_say_words(("finding", "measure", "value", "unit", "threshold"), language)),
            (row for card in cards for row in _evidence_rows(card)),
        ),
        ("excerpt", (), (row for card in cards for row in _excerpt_rows(card, language, times_of))),
        (
            "account",
            _say_words(("where", "name", "us", "share", "count"), language),
            _account_rows(diagnosis, language),
        ),
        ("unchecked", _say_words(("why", "rules"), language), unchecked),
    )
    return tuple(Sheet(say_in_sheet(name, language), heads, tuple(rows)) for name, heads, rows in sheets)


def _finding_heads(language: Language) -> tuple[str, ...]:
    saving = f"{say_in_sheet('saving', language)} ({say_in_sheet('us', language)})"
    said = _say_words(("finding", "severity", "confidence"), language)
    return ("#", *said, saving, *_say_words(("share", "seen_at", "first_fix"), language), "id", "fingerprint")


def _say_words(names: Iterable[str], language: Language) -> tuple[str, ...]:
    return tuple(say_in_sheet(name, language) for name in names)


def _finding_row(card: Card) -> tuple[Scalar, ...]:
    return (
        card.number,
        flat_text(card.title),
        card.severity_word,
        card.confidence_word,
        *card.finding.saving.told,
        card.places[0].place if card.places else None,
        one_line(card.actions[0].do) if card.actions else None,
        card.rule,
        clean_line(card.finding.fingerprint),
    )


def _evidence_rows(card: Card) -> Iterator[tuple[Scalar, ...]]:
    told = [item for item in card.finding.evidence if item.value is not None]
    for item, measure in zip(told, card.measures, strict=True):
        value = flat_text(measure.value) if isinstance(item.value, str) else item.value
        unit = UNIT_SIGNS.get(item.unit, item.unit)
        yield card.number, flat_text(card.title), flat_text(measure.label), value, unit, item.threshold


def _excerpt_rows(card: Card, language: Language, times_of: TimesOf) -> Iterator[tuple[Scalar, ...]]:
    """The title of the finding, the names of the columns, the rows, and an empty line."""
    table = card.finding.excerpt
    if table is None or not table.rows:
        return
    yield card.number, flat_text(card.title)
    yield (None, *(_column_label(head, language, times_of) for head in table.columns))
    for row in table.rows:
        told = zip(row, table.columns, strict=False)
        yield (None, *(cell_in_words(cell, head.name, language) for cell, head in told))
    yield ()


def _column_label(head: Head, language: Language, times_of: TimesOf) -> str:
    label = word_for(COLUMNS, head.name, language, times_of) or clean_line(head.name)
    return head_with_unit(label, head.unit, language)


def _account_rows(diagnosis: Diagnosis, language: Language) -> tuple[tuple[Scalar, ...], ...]:
    if diagnosis.account is None or diagnosis.split is None:
        return ()
    step = diagnosis.split.step_us
    return tuple(
        (
            word_for(PARTS, one.part, language) or one.part,
            (word_for(CAUSES, one.name, language) if one.part == "free" else None) or clean_line(one.name),
            one.us,
            one.us / step if step > 0 else None,
            one.count,
        )
        for one in diagnosis.account.spent
    )
