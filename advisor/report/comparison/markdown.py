# SPDX-License-Identifier: Apache-2.0
"""A comparison in Markdown: verdict first; nothing from a profile is markup."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.blocks import led_by
from advisor.report.comparison.items import Group, Item, Value
from advisor.report.comparison.tables import Sheet
from advisor.report.comparison.view import Entry, View, view
from advisor.report.comparison.words import say
from advisor.report.prose import Piece
from advisor.report.renderers.markdown import bullets, heading, indented, item_lines, plain, span, table, words

_ROWS = 15
"""Rows of each table: enough for a comment; spreadsheets hold the others."""


def document(comparison: Comparison, language: Language) -> str:
    """The comparison as one GitHub-flavoured Markdown document."""
    return "\n".join(_lines(view(comparison, language, _ROWS))).rstrip() + "\n"


def _lines(shown: View) -> Iterable[str]:
    language = shown.language
    yield f"# {plain(say('report', language))}"
    yield ""
    yield from _sides(shown)
    yield from _verdict(shown)
    yield from _times(shown)
    yield from _moved(shown)
    yield from _changes(shown)
    yield from _tables(shown)
    if shown.notes:
        yield from heading(say("notes", language))
        yield from bullets(words(note) for note in shown.notes)
    yield from _facts(shown)
    yield plain(say("made_by", language, version=shown.version))


def _sides(shown: View) -> Iterable[str]:
    colon = say("colon", shown.language)
    for side in shown.sides:
        line = f" · {plain(side.line)}" if side.line else ""
        yield f"{plain(side.word)}{colon}{span(side.name)}{line}  "
    yield ""


def _verdict(shown: View) -> Iterable[str]:
    verdict = shown.verdict
    yield f"**{plain(verdict.says)}** {words(verdict.mainly)}".rstrip()
    yield ""
    yield plain(verdict.findings)
    yield ""
    yield plain(verdict.sure)
    yield ""


def _times(shown: View) -> Iterable[str]:
    if not shown.times:
        return
    language = shown.language
    names = ("part", "Before", "After", "Delta", "Noise", "judged")
    heads = tuple(plain(say(name, language)) for name in names)
    rows = [
        (plain(one.name), one.before, one.after, _with(one.delta, one.percent), one.noise, plain(one.judged))
        for one in shown.times
    ]
    yield from table(heads, rows, (False, True, True, True, True, False))


def _with(delta: str, percent: str) -> str:
    return f"{delta} ({percent})" if percent else delta


def _moved(shown: View) -> Iterable[str]:
    language = shown.language
    yield from heading(say("moved", language))
    if not shown.entries:
        yield plain(say("no_account", language))
        yield ""
        return
    names = ("Delta", "where", "what", "Before", "After", "count_column")
    heads = tuple(plain(say(name, language)) for name in names)
    numeric = (True, False, False, True, True, True)
    yield from table(heads, [_moved_row(one, language) for one in shown.entries], numeric)
    yield plain(say("moved_note_text", language))
    yield ""


def _moved_row(one: Entry, language: Language) -> tuple[str, ...]:
    name = words(one.name, in_table=True)
    if one.key == "step":
        return f"**{one.delta}**", "", f"**{name}**", f"**{one.before}**", f"**{one.after}**", ""
    quiet = plain(say("aside", language, words=say("within_noise", language))) if one.noisy and one.part else ""
    return one.delta, plain(one.part), f"{name}{quiet}", one.before, one.after, one.count


def _changes(shown: View) -> Iterable[str]:
    if shown.groups:
        yield from heading(say("changes", shown.language))
    for group in shown.groups:
        yield from _group(group, shown.language)


def _group(group: Group, language: Language) -> Iterable[str]:
    name = f"{plain(group.word)} ({group.count})"
    yield f"<details><summary>{name}</summary>" if group.folded else f"### {name}"
    yield ""
    lines = [line for item in group.items for line in _item(item, group.folded, language)]
    if group.left_out:
        lines.append(f"- {plain(say('more_of_them', language, count=group.left_out))}")
    yield from lines
    yield ""
    if group.folded:
        yield "</details>"
        yield ""


def _item(item: Item, folded: bool, language: Language) -> Iterable[str]:
    parts = [plain(item.severity_words), span(item.rule), plain(item.saving)]
    yield f"- **{words(item.title)}** — {' · '.join(part for part in parts if part)}"
    if item.reason:
        yield f"  - {words(item.reason)}"
    for value in () if folded else item.values:
        yield f"  - {_value(value, language)}"
    if item.status in ("new", "worse") and item.card and item.card.actions:
        fix = Piece(say("fix", language) + say("colon", language))
        yield from indented(item_lines("-", led_by((fix,), item.card.actions[0].do)), 2)


def _value(value: Value, language: Language) -> str:
    colon = say("colon", language)
    said = f"{words(value.label)}{colon}{words(value.before)} → {words(value.after)}"
    if value.change:
        said += plain(say("aside", language, words=value.change))
    if value.threshold:
        said += f"{say('semicolon', language)}{plain(say('threshold', language))}{colon}{value.threshold}"
    return said


def _tables(shown: View) -> Iterable[str]:
    if not shown.sheets:
        return
    yield from heading(say("tables", shown.language))
    yield plain(say("tables_note", shown.language))
    yield ""
    for one in shown.sheets:
        yield from _sheet(one, shown.language)


def _sheet(one: Sheet, language: Language) -> Iterable[str]:
    yield f"<details><summary>{plain(one.title)} ({plain(one.note)})</summary>"
    yield ""
    heads = tuple(
        plain(f"{column.label} {say(column.when, language)}" if column.when else column.label) for column in one.columns
    )
    rows = [tuple(words(cell.says, in_table=True) for cell in row) for row in one.rows]
    yield from table(heads, rows, tuple(column.numeric for column in one.columns))
    if one.cut:
        yield plain(say("more_rows", language))
        yield ""
    yield "</details>"
    yield ""


def _facts(shown: View) -> Iterable[str]:
    language = shown.language
    yield f"<details><summary>{plain(say('runs', language))}</summary>"
    yield ""
    heads = ("", plain(say("Before", language)), plain(say("After", language)))
    rows = [
        (plain(fact.label), words(fact.before, in_table=True) or "–", words(fact.after, in_table=True) or "–")
        for fact in shown.facts
    ]
    yield from table(heads, rows)
    yield "</details>"
    yield ""
