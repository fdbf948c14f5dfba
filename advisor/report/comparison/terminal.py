# SPDX-License-Identifier: Apache-2.0
"""A comparison on the terminal: the verdict, the step and its parts, what moved it, what became of the findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.comparison.items import FindingGroup as Changes
from advisor.report.comparison.items import Item, values_line
from advisor.report.comparison.view import AccountEntry, ComparisonView, comparison_view
from advisor.report.comparison.words import say
from advisor.report.console import terminal_console
from advisor.report.line_breaks import Flow
from advisor.report.prose import clean_line, flat_text
from advisor.report.renderers.terminal import WIDEST, block_renderables, styled_prose

_STYLES = {"worse": "red", "slower": "red", "better": "green", "faster": "green", "new": "red", "gone": "green"}
_COLOURS = {"compute": "cyan", "comm": "dark_orange", "idle": "bright_black"}


def print_comparison(
    comparison: Comparison,
    language: Language,
    console: Console | None = None,
    top: int = 5,
    written: Sequence[Path] = (),
) -> None:
    """Prints the answer: at most `top` entries and `top` findings of each kind, and the files written."""
    out = console or terminal_console()
    shown = comparison_view(comparison, language, rows=0)
    for block in _comparison_blocks(shown, max(top, 1), written):
        out.print(block, width=min(out.width, WIDEST), highlight=False)


def _comparison_blocks(shown: ComparisonView, top: int, written: Sequence[Path]) -> Iterable[RenderableType]:
    yield _names_table(shown)
    yield Group(Text(), *map(Flow, _verdict_texts(shown)))
    if shown.times:
        yield Group(Text(), _times_table(shown))
    if any(one.us for one in shown.entries):
        yield Group(Text(), Text(say("moved", shown.language), style="bold"), _moved_table(shown, top))
    for group in shown.groups:
        yield Group(Text(), *_change_blocks(group, top, shown.language))
    if shown.notes:
        yield Group(Text(), Text(say("notes", shown.language), style="bold"), *_note_blocks(shown))
    if written:
        yield Group(Text(), *_written_lines(written, shown.language))


def _names_table(shown: ComparisonView) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in shown.sides:
        table.add_row(Text(side.word, style="dim"), Text(side.name), Text(side.line, style="dim"))
    return table


def _verdict_texts(shown: ComparisonView) -> Iterable[Text]:
    verdict, between = shown.verdict, " " if shown.language == "en" else ""
    text = Text(verdict.says, style="bold")
    if verdict.mainly:
        text = Text.assemble(text, between, styled_prose(verdict.mainly))
    yield text
    yield Text(verdict.findings)
    yield Text(verdict.sure, style="dim")


def _times_table(shown: ComparisonView) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("before", "after", "delta", "noise"):
        table.add_column(say(name, shown.language), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in shown.times:
        style = _STYLES.get(one.status, "")
        delta = Text(f"{one.delta} {one.percent}".rstrip(), style=style)
        called = Text(one.name, style="bold" if one.key == "step" else "")
        table.add_row(called, one.before, one.after, delta, Text(one.noise, style="dim"), Text(one.judged, style=style))
    return table


def _moved_table(shown: ComparisonView, top: int) -> Table:
    """The largest entries; the others and the sum as one line each, so that they add up."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    own = [one for one in shown.entries if one.key not in ("rest", "step")]
    for entry in own[:top]:
        table.add_row(*_moved_row(entry, shown.language))
    total = shown.entries[-1]
    if len(own) > top or any(one.key == "rest" for one in shown.entries):
        table.add_row(
            Text(_rest_amount(shown, top), style="dim"), "", Text(say("others", shown.language), style="dim"), ""
        )
    table.add_row(Text(total.delta, style="bold"), "", Text(flat_text(total.name), style="bold"), "")
    return table


def _moved_row(one: AccountEntry, language: Language) -> tuple[Text, ...]:
    style = "dim" if one.noisy else "red" if one.us > 0 else "green"
    noisy = say("aside", language, words=say("within_noise", language)) if one.noisy else ""
    count = f"  {one.count}" if "→" in one.count else ""
    name = Text.assemble(styled_prose(one.name), (count + noisy, "dim"))
    return Text(one.delta, style=style), Text(one.part, style=_COLOURS.get(one.key, "")), name, Text()


def _rest_amount(shown: ComparisonView, top: int) -> str:
    from advisor.report.comparison.amounts import signed_amount

    own = [one for one in shown.entries if one.key not in ("rest", "step")]
    return signed_amount(round(shown.entries[-1].us - sum(one.us for one in own[:top]), 6))


def _change_blocks(group: Changes, top: int, language: Language) -> Iterable[RenderableType]:
    head = Text.assemble((group.word, f"bold {_STYLES.get(group.status, '')}".strip()), f" ({group.count})")
    if group.folded:
        names = say("comma", language).join(dict.fromkeys(item.rule for item in group.items[:top]))
        more = " …" if group.count > top else ""
        yield Flow(Text.assemble(head, "  ", (names + more, "dim")))
        if group.status == "not-comparable" and group.items[0].reason:
            yield Padding(Flow(styled_prose(group.items[0].reason, "dim")), (0, 0, 0, 4))
        return
    yield head
    for item in group.items[:top]:
        yield from _finding_blocks(item, language)
    if group.count > top:
        yield Text(f"    {say('more_short', language, count=group.count - top)}", style="dim")


def _finding_blocks(item: Item, language: Language) -> Iterable[RenderableType]:
    yield Padding(Flow(styled_prose(item.title, "bold")), (0, 0, 0, 2))
    parts = (item.severity_words, item.saving, values_line(item.values[:1], language))
    line = "  ".join(part for part in parts if part)
    yield Padding(Flow(Text.assemble(line, (f"  {item.rule}", "dim"))), (0, 0, 0, 4))
    if item.status in ("new", "worse") and item.card and item.card.actions:
        action = block_renderables(item.card.actions[0].do, Text("→ ", "green"))
        yield Padding(Group(*action), (0, 0, 0, 4))


def _note_blocks(shown: ComparisonView) -> Iterable[RenderableType]:
    for note in shown.notes:
        yield Padding(Flow(styled_prose(note)), (0, 0, 0, 2))


def _written_lines(paths: Sequence[Path], language: Language) -> Iterable[RenderableType]:
    """A line for each report; the many files of a CSV in one."""
    lists = [path for path in paths if path.suffix.lower() == ".csv"]
    for name, some in (("written_to", [[path] for path in paths if path not in lists]), ("written_tables", [lists])):
        for together in filter(None, some):
            files = say("comma", language).join(clean_line(path, 4096) for path in together)
            yield Flow(Text.assemble((f"{say(name, language)}{say('colon', language)}", "bold"), files))
