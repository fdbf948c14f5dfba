# SPDX-License-Identifier: Apache-2.0
"""A verification on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.comparison.verification import Verification, Verifications
from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.console import terminal
from advisor.report.flow import Flow
from advisor.report.renderers.terminal import WIDEST, assembled, hanging
from advisor.report.verification.view import Summary, View, summary, view
from advisor.report.verification.words import say

_STYLES = {"kept": "bold green", "partly": "bold yellow", "not kept": "bold red", "worse": "bold red"}
_BECAME = {"gone": "green", "better": "green", "worse": "red", "not comparable": "yellow"}


def print_verification(
    verification: Verification, comparison: Comparison, language: Language, console: Console | None = None
) -> None:
    """Prints whether a fix worked, what was promised and what was won."""
    out = console or terminal()
    for block in _blocks(view(verification, comparison, language)):
        out.print(block, width=min(out.width, WIDEST), highlight=False)


def print_verifications(
    found: Verifications, comparison: Comparison, language: Language, console: Console | None = None
) -> None:
    """Prints what became of each finding, and how much of a shorter step each explains at most."""
    out = console or terminal()
    for block in _all_blocks(summary(found, comparison, language)):
        out.print(block, width=min(out.width, WIDEST), highlight=False)


def _all_blocks(shown: Summary) -> Iterator[RenderableType]:
    yield Flow(Text(shown.says, "bold green" if shown.worked else "bold red"))
    yield Flow(Text(shown.step))
    if shown.rows:
        yield Group(Text(), *_rows(shown), Text(), Flow(Text(say("no_sum", shown.language), "dim")))
    yield from _beside(shown)


def _rows(shown: Summary) -> Iterator[RenderableType]:
    """Each finding with what became of it before it, and its times below it."""
    width = max(cell_len(row.word) for row in shown.rows) + 2
    names = ("promised_short", "freed_short", "explained_short")
    for row in shown.rows:
        yield _line(Text(row.word, _BECAME.get(row.status, "")), assembled(row.title), width)
        times = zip(names, (row.promised, row.freed, row.explained), strict=True)
        said = "  ".join(f"{say(name, shown.language)} {time}" for name, time in times if row.promised != "–")
        yield _line(Text(), Text("  ".join(filter(None, [said, row.rule])), "dim"), width)
        if row.reason:
            yield _line(Text(), assembled(row.reason, "dim"), width)


def _line(word: Text, said: Text, width: int) -> Table:
    """A line whose words begin in the same column as those of all others, and break there."""
    table = Table.grid(padding=0)
    table.add_column(width=width, no_wrap=True)
    table.add_column()
    table.add_row(word, Flow(said))
    return table


def _blocks(shown: View) -> Iterator[RenderableType]:
    yield Flow(Text(shown.says, _STYLES.get(shown.result, "bold")))
    yield Flow(assembled(shown.title))
    yield Text(f"{shown.rule}  {shown.fingerprint}", "dim")
    yield Group(Text(), _amounts(shown))
    if shown.values:
        yield Group(Text(), Text(say("watched", shown.language), "bold"), _values(shown))
    yield from _beside(shown)


def _beside(shown: View | Summary) -> Iterator[RenderableType]:
    """What came or grew meanwhile, and what limits the answer."""
    if shown.against:
        yield Group(Text(), Text(say("against", shown.language), "bold"), *_against(shown))
    if shown.reasons:
        said = (hanging(Text.assemble("· ", assembled(reason)), 2) for reason in shown.reasons)
        yield Group(Text(), Text(say("reasons", shown.language), "bold"), *said)


def _amounts(shown: View) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for amount in shown.amounts:
        table.add_row(amount.name, amount.time, amount.note)
    return table


def _values(shown: View) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("value", "before", "after", "threshold"):
        table.add_column(say(name, shown.language), justify="left" if name == "value" else "right")
    for value in shown.values:
        table.add_row(assembled(value.label), assembled(value.before), assembled(value.after), value.threshold or "–")
    return table


def _against(shown: View | Summary) -> Iterator[RenderableType]:
    for other in shown.against:
        yield hanging(Text.assemble("! ", assembled(other.title)), 2)
        yield Padding(Text("  ".join(filter(None, [other.status, other.saving, other.rule])), "dim"), (0, 0, 0, 2))
