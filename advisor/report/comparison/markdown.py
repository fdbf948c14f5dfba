# SPDX-License-Identifier: Apache-2.0
"""A comparison in Markdown: verdict first; nothing from a profile is markup."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.blocks import led_by
from advisor.report.comparison.items import FindingGroup, Item, WatchedValue
from advisor.report.comparison.tables import DifferenceSheet
from advisor.report.comparison.view import AccountEntry, ComparisonView, comparison_view
from advisor.report.comparison.words import say
from advisor.report.prose import TextPiece
from advisor.report.renderers.markdown import (
    bullet_lines,
    code_span,
    escape_text,
    heading_lines,
    indent_lines,
    item_lines,
    markdown_prose,
    table_lines,
)

_ROWS = 15
"""Rows of each table: enough for a comment; spreadsheets hold the others."""


def comparison_markdown(comparison: Comparison, language: Language) -> str:
    """The comparison as one GitHub-flavoured Markdown document."""
    return "\n".join(_report_lines(comparison_view(comparison, language, _ROWS))).rstrip() + "\n"


def _report_lines(shown: ComparisonView) -> Iterable[str]:
    language = shown.language
    yield f"# {escape_text(say('report', language))}"
    yield ""
    yield from _side_lines(shown)
    yield from _verdict_lines(shown)
    yield from _time_lines(shown)
    yield from _moved_lines(shown)
    yield from _change_lines(shown)
    yield from _difference_lines(shown)
    if shown.notes:
        yield from heading_lines(say("notes", language))
        yield from bullet_lines(markdown_prose(note) for note in shown.notes)
    yield from _fact_lines(shown)
    yield escape_text(say("made_by", language, version=shown.version))


def _side_lines(shown: ComparisonView) -> Iterable[str]:
    colon = say("colon", shown.language)
    for side in shown.sides:
        line = f" · {escape_text(side.line)}" if side.line else ""
        yield f"{escape_text(side.word)}{colon}{code_span(side.name)}{line}  "
    yield ""


def _verdict_lines(shown: ComparisonView) -> Iterable[str]:
    verdict = shown.verdict
    yield f"**{escape_text(verdict.says)}** {markdown_prose(verdict.mainly)}".rstrip()
    yield ""
    yield escape_text(verdict.findings)
    yield ""
    yield escape_text(verdict.sure)
    yield ""


def _time_lines(shown: ComparisonView) -> Iterable[str]:
    if not shown.times:
        return
    language = shown.language
    names = ("part", "Before", "After", "Delta", "Noise", "judged")
    heads = tuple(escape_text(say(name, language)) for name in names)
    rows = [
        (
            escape_text(one.name),
            one.before,
            one.after,
            _with_percent(one.delta, one.percent),
            one.noise,
            escape_text(one.judged),
        )
        for one in shown.times
    ]
    yield from table_lines(heads, rows, (False, True, True, True, True, False))


def _with_percent(delta: str, percent: str) -> str:
    return f"{delta} ({percent})" if percent else delta


def _moved_lines(shown: ComparisonView) -> Iterable[str]:
    language = shown.language
    yield from heading_lines(say("moved", language))
    if not shown.entries:
        yield escape_text(say("no_account", language))
        yield ""
        return
    names = ("Delta", "where", "what", "Before", "After", "count_column")
    heads = tuple(escape_text(say(name, language)) for name in names)
    numeric = (True, False, False, True, True, True)
    yield from table_lines(heads, [_moved_row(one, language) for one in shown.entries], numeric)
    yield escape_text(say("moved_note_text", language))
    yield ""


def _moved_row(one: AccountEntry, language: Language) -> tuple[str, ...]:
    name = markdown_prose(one.name, in_table=True)
    if one.key == "step":
        return f"**{one.delta}**", "", f"**{name}**", f"**{one.before}**", f"**{one.after}**", ""
    quiet = escape_text(say("aside", language, words=say("within_noise", language))) if one.noisy and one.part else ""
    return one.delta, escape_text(one.part), f"{name}{quiet}", one.before, one.after, one.count


def _change_lines(shown: ComparisonView) -> Iterable[str]:
    if shown.groups:
        yield from heading_lines(say("changes", shown.language))
    for group in shown.groups:
        yield from _group_lines(group, shown.language)


def _group_lines(group: FindingGroup, language: Language) -> Iterable[str]:
    name = f"{escape_text(group.word)} ({group.count})"
    yield f"<details><summary>{name}</summary>" if group.folded else f"### {name}"
    yield ""
    lines = [line for item in group.items for line in _finding_lines(item, group.folded, language)]
    if group.left_out:
        lines.append(f"- {escape_text(say('more_of_them', language, count=group.left_out))}")
    yield from lines
    yield ""
    if group.folded:
        yield "</details>"
        yield ""


def _finding_lines(item: Item, folded: bool, language: Language) -> Iterable[str]:
    parts = [escape_text(item.severity_words), code_span(item.rule), escape_text(item.saving)]
    yield f"- **{markdown_prose(item.title)}** — {' · '.join(part for part in parts if part)}"
    if item.reason:
        yield f"  - {markdown_prose(item.reason)}"
    for value in () if folded else item.values:
        yield f"  - {_value_line(value, language)}"
    if item.status in ("new", "worse") and item.card and item.card.actions:
        fix = TextPiece(say("fix", language) + say("colon", language))
        yield from indent_lines(item_lines("-", led_by((fix,), item.card.actions[0].do)), 2)


def _value_line(value: WatchedValue, language: Language) -> str:
    colon = say("colon", language)
    said = f"{markdown_prose(value.label)}{colon}{markdown_prose(value.before)} → {markdown_prose(value.after)}"
    if value.change:
        said += escape_text(say("aside", language, words=value.change))
    if value.threshold:
        said += f"{say('semicolon', language)}{escape_text(say('threshold', language))}{colon}{value.threshold}"
    return said


def _difference_lines(shown: ComparisonView) -> Iterable[str]:
    if not shown.sheets:
        return
    yield from heading_lines(say("tables", shown.language))
    yield escape_text(say("tables_note", shown.language))
    yield ""
    for one in shown.sheets:
        yield from _sheet_lines(one, shown.language)


def _sheet_lines(one: DifferenceSheet, language: Language) -> Iterable[str]:
    yield f"<details><summary>{escape_text(one.title)} ({escape_text(one.note)})</summary>"
    yield ""
    heads = tuple(
        escape_text(f"{column.label} {say(column.when, language)}" if column.when else column.label)
        for column in one.columns
    )
    rows = [tuple(markdown_prose(cell.says, in_table=True) for cell in row) for row in one.rows]
    yield from table_lines(heads, rows, tuple(column.numeric for column in one.columns))
    if one.cut:
        yield escape_text(say("more_rows", language))
        yield ""
    yield "</details>"
    yield ""


def _fact_lines(shown: ComparisonView) -> Iterable[str]:
    language = shown.language
    yield f"<details><summary>{escape_text(say('runs', language))}</summary>"
    yield ""
    heads = ("", escape_text(say("Before", language)), escape_text(say("After", language)))
    rows = [
        (
            escape_text(fact.label),
            markdown_prose(fact.before, in_table=True) or "–",
            markdown_prose(fact.after, in_table=True) or "–",
        )
        for fact in shown.facts
    ]
    yield from table_lines(heads, rows)
    yield "</details>"
    yield ""
