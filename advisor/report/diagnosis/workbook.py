# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a spreadsheet: findings, their evidence and rows, where a step goes, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from advisor.messages.text import Language, Text, TimesOf
from advisor.report.blocks import one_line
from advisor.report.columns import COLUMNS
from advisor.report.comparison.words import PARTS
from advisor.report.diagnosis.cards import Card, make_cards
from advisor.report.diagnosis.outcomes import not_checked
from advisor.report.prose import clean_line, flat_text
from advisor.report.spreadsheet import Sheet, workbook_bytes
from advisor.report.words import CAUSES, say, word_for

if TYPE_CHECKING:
    from advisor.model.findings import Diagnosis, Finding, Head, Scalar


_FINDINGS = Text(en="Findings", zh="问题")
_EVIDENCE = Text(en="Evidence", zh="依据")
_ROWS = Text(en="Rows behind", zh="相关数据")
_ACCOUNT = Text(en="Where a step goes", zh="单步耗时构成")
_UNCHECKED = Text(en="Not checked", zh="未检查")
_US = Text(en="µs per step", zh="每步 µs")
_SHARE = Text(en="share of the step", zh="占单步比例")
_COUNT = Text(en="per step", zh="每步次数")
_WHERE = Text(en="part of the step", zh="单步组成")
_WHAT = Text(en="name", zh="名称")
_RULES = Text(en="rules", zh="规则")
_REASON = Text(en="reason", zh="原因")
_UNIT = Text(en="unit", zh="单位")


def diagnosis_workbook(diagnosis: Diagnosis, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    return workbook_bytes(clean_line(diagnosis.run.name, 200), diagnosis_sheets(diagnosis, language))


def diagnosis_sheets(diagnosis: Diagnosis, language: Language) -> tuple[Sheet, ...]:
    """What stands on each sheet."""
    shown = list(zip(make_cards(diagnosis, language), diagnosis.findings, strict=True))
    return (
        Sheet(_FINDINGS.say(language), _finding_heads(language), tuple(_finding_row(card, one) for card, one in shown)),
        Sheet(
            _EVIDENCE.say(language),
            (
                "#",
                *_say_words(("finding", "measure", "value"), language),
                _UNIT.say(language),
                say("threshold", language),
            ),
            tuple(row for card, one in shown for row in _evidence_rows(card, one)),
        ),
        Sheet(_ROWS.say(language), (), tuple(row for card, one in shown for row in _excerpt_rows(card, one, language))),
        Sheet(
            _ACCOUNT.say(language),
            tuple(text.say(language) for text in (_WHERE, _WHAT, _US, _SHARE, _COUNT)),
            _account_rows(diagnosis, language),
        ),
        Sheet(
            _UNCHECKED.say(language),
            (_REASON.say(language), _RULES.say(language)),
            tuple((flat_text(one.reason), ", ".join(one.rules)) for one in not_checked(diagnosis.outcomes, language)),
        ),
    )


def _finding_heads(language: Language) -> tuple[str, ...]:
    said = _say_words(("finding", "severity", "confidence"), language)
    wins = (f"{say('saving', language)} ({_US.say(language)})", _SHARE.say(language))
    return ("#", *said, *wins, *_say_words(("seen_at", "first_fix"), language), "id", "fingerprint")


def _say_words(names: Sequence[str], language: Language) -> tuple[str, ...]:
    return tuple(say(name, language) for name in names)


def _finding_row(card: Card, one: Finding) -> tuple[Scalar, ...]:
    return (
        card.number,
        flat_text(card.title),
        card.severity_word,
        card.confidence_word,
        one.saving.us,
        one.saving.share,
        card.places[0].place if card.places else None,
        one_line(card.actions[0].do) if card.actions else None,
        card.rule,
        clean_line(card.fingerprint),
    )


def _evidence_rows(card: Card, one: Finding) -> Iterator[tuple[Scalar, ...]]:
    told = [item for item in one.evidence if item.value is not None]
    for item, measure in zip(told, card.measures, strict=True):
        value = clean_line(item.value) if isinstance(item.value, str) else item.value
        yield card.number, flat_text(card.title), flat_text(measure.label), value, item.unit, item.threshold


def _excerpt_rows(card: Card, one: Finding, language: Language) -> Iterator[tuple[Scalar, ...]]:
    """The title of the finding, the names of the columns, the rows, and an empty line."""
    if one.excerpt is None or not one.excerpt.rows:
        return
    yield card.number, flat_text(card.title)
    yield (None, *(_column_label(head, language, card.times_of) for head in one.excerpt.columns))
    for row in one.excerpt.rows:
        yield (None, *(clean_line(cell) if isinstance(cell, str) else cell for cell in row))
    yield ()


def _column_label(head: Head, language: Language, times_of: TimesOf) -> str:
    label = COLUMNS[head.name].say(language, of=times_of) if head.name in COLUMNS else clean_line(head.name)
    return f"{label} ({head.unit})" if head.unit else label


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
