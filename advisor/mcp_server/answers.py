# SPDX-License-Identifier: Apache-2.0
"""What an assistant is answered: the published models, or parts of them, with texts in one language."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Language, Text
from advisor.model.comparison import Barrier, Change, Moved, Shift
from advisor.model.findings import ConfidenceName, Finding, Outcome, OutcomeName, Rows, Spent, TimeSplit
from advisor.model.run import Run
from advisor.model.unread import Unread
from advisor.report.blocks import plain_text
from advisor.report.diagnosis.cards import Card
from advisor.report.prose import flat_text

MOST_TEXT = 2000
"""Characters of one text: a name in a capture may have a million."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Remedy(_Model):
    """One step of a remedy, its holes filled."""

    do: str
    run: str = ""
    code: str = ""
    care: str = ""


class FindingAnswer(_Model):
    """A finding as the diagnosis has it, and the words of its rule."""

    number: str
    """Its place as in reports: `1.1` says the time of `1` again."""
    title: str
    why: str
    saving: str
    """What it can win, in words."""
    finding: Finding
    """With the worst of the places it was seen at."""
    fix: tuple[Remedy, ...] = ()
    assumes: str = ""


class Diagnosed(_Model):
    """A diagnosis without what only charts need."""

    version: str
    run: Run
    split: TimeSplit | None
    spent: tuple[Spent, ...]
    """What the step goes into, the first of each part."""
    findings: tuple[FindingAnswer, ...]
    total: int
    """How many findings there are; `findings` holds the first of them."""
    outcomes: dict[OutcomeName, int]
    """How many rules ended in each outcome."""
    not_checked: tuple[Outcome, ...]
    """Rules that could not look, and what to record."""
    unread: tuple[Unread, ...]


class ListedRule(_Model):
    """One rule in a list."""

    id: str
    status: str
    title: Text
    table: str


class RulesAnswer(_Model):
    """The rules whose id matches."""

    rules: tuple[ListedRule, ...]


class ListedTable(_Model):
    """One table in a list."""

    name: str
    holds: str
    observed: bool
    columns: tuple[str, ...]


class TablesAnswer(_Model):
    """The tables that can be asked."""

    tables: tuple[ListedTable, ...]


class ListedColumn(_Model):
    """One column of a table."""

    name: str
    kind: str
    unit: str
    holds: str
    is_stable: bool
    """Whether it is the same from run to run, so that it may name a subject."""


class TableSize(_Model):
    """One table, and how many rows a capture has of it."""

    name: str
    holds: str
    observed: bool
    record_with: Text | None
    columns: tuple[ListedColumn, ...]
    rows: int | None = None
    """None where no capture is asked about, or it does not hold the table."""
    missing: Text | None = None
    """Why the capture does not hold it."""


class QueryAnswer(_Model):
    """The answer to a query."""

    table: str
    rows: Rows


class ComparisonAnswer(_Model):
    """A comparison without the two diagnoses."""

    confidence: ConfidenceName
    shifts: tuple[Shift, ...]
    changes: tuple[Change, ...]
    barriers: tuple[Barrier, ...]
    """What keeps the two from being compared: with any of them no change is certain."""
    moved: tuple[Moved, ...]
    """The largest differences; what is left out is small."""
    notes: tuple[Text, ...]


def model_in_language(model: BaseModel, language: Language) -> dict[str, Any]:
    """A model as plain data, with each text in one language and none of it endless."""
    said = _value_in_language(model.model_dump(mode="json"), language)
    assert isinstance(said, dict)  # noqa: S101 - a model is one
    return said


def _value_in_language(value: object, language: Language) -> object:
    if isinstance(value, dict):
        if value.keys() == {"en", "zh"}:
            return _shorten_text(value[language])
        return {_shorten_text(str(key)): _value_in_language(inner, language) for key, inner in value.items()}
    if isinstance(value, list):
        return [_value_in_language(inner, language) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON knows no such number
    return _shorten_text(value) if isinstance(value, str) else value


def _shorten_text(text: str) -> str:
    cut = text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode()  # JSON on the wire is UTF-8


def finding_with_words(card: Card) -> FindingAnswer:
    """A finding with the words a report would say."""
    return FindingAnswer(
        number=card.number,
        title=flat_text(card.title),
        why=plain_text(card.why),
        saving=card.saving,
        finding=card.finding,
        fix=tuple(Remedy(do=plain_text(a.do), run=a.run, code=a.code, care=plain_text(a.care)) for a in card.actions),
        assumes=flat_text(card.assumes),
    )
