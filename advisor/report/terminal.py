# SPDX-License-Identifier: Apache-2.0
"""The answer on the terminal: verdict, time split, what to fix first, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.messages.markup import web_address
from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, RuleInfo
from advisor.report.blocks import lead
from advisor.report.cards import Card, outline
from advisor.report.console import terminal
from advisor.report.flow import Flow
from advisor.report.headline import Headline
from advisor.report.prose import clean, clean_block, flat, prose
from advisor.report.renderers.terminal import (
    WIDEST,
    assembled,
    beginning,
    code_lines,
    hanging,
    renderables,
    written_line,
)
from advisor.report.rule_text import rule_sentence, rule_text
from advisor.report.time_split import TimePart
from advisor.report.view import View, view
from advisor.report.words import rules, say
from advisor.units import show

COLOURS = {"compute": "cyan", "comm": "dark_orange", "idle": "bright_black"}
_SIGNS = {"compute": "█", "comm": "▓", "idle": "░"}
"""Without colour the parts are still told apart."""
SEVERITY_COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "blue", "info": "bright_black"}
_MOST_REASONS = 4
_MOST_RULES = 3
_LONGEST_EXPRESSION = 4096


def print_diagnosis(
    diagnosis: Diagnosis,
    language: Language,
    console: Console | None = None,
    top: int = 5,
    written: Sequence[Path] = (),
) -> None:
    """Prints the answer: at most `top` findings, each with its saving and first step, and the files written."""
    out = console or terminal()
    shown = view(diagnosis, language, full=max(top, 1))
    for block in _blocks(shown, top, written, min(out.width, WIDEST)):
        out.print(block, width=min(out.width, WIDEST), highlight=False, crop=False)


def print_rule(
    info: RuleInfo, language: Language, console: Console | None = None, logic: Sequence[tuple[str, str]] = ()
) -> None:
    """Prints all that is known of one rule; `logic` is what it looks at and when, as keys and expressions."""
    out = console or terminal()
    width = min(out.width, WIDEST)
    for block in _rule_blocks(info, language, logic):
        out.print(block, width=width, highlight=False, crop=False)


def _blocks(shown: View, top: int, written: Sequence[Path], width: int) -> Iterable[RenderableType]:
    yield from _headline(shown)
    if shown.parts:
        yield Group(Text(), _bar(shown.parts, width), _legend(shown.parts, width))
    listed = [card for card in (*shown.cards, *shown.short) if not card.is_folded]
    for card in listed[:top]:
        yield Group(Text(), *_finding(card, shown.language))
    more = len(listed) + shown.left_out - min(len(listed), top)
    if more:
        name = "more_in_report" if written else "more_findings_short"
        yield Group(Text(), Text(say(name, shown.language, count=more), style="dim"))
    if shown.unchecked:
        yield Group(Text(), *_unchecked(shown))
    if shown.unread:
        yield Group(Text(), Flow(Text(_unread(shown), style="dim")))
    if written:
        yield Group(Text(), *(written_line(path, shown.language) for path in written))


def _headline(shown: View) -> Iterable[RenderableType]:
    """Where the time goes and what leads; then, where there is something to say, what lies beyond it."""
    said, language = shown.headline, shown.language
    time = Text(said.time, style="bold")
    yield Flow(_apart(time, Text(said.says) if said.says else _leading(said, language), language))
    if said.beyond:
        yield Flow(assembled(said.beyond, "dim"))


def _leading(said: Headline, language: Language) -> Text:
    """The finding that leads in one sentence; of a symptom or a doubt also what to do next."""
    if said.first is None:
        return Text()
    colon, stop = say("colon", language), say("full_stop", language)
    line = Text.assemble(f"{said.label}{colon}", assembled(said.first.title))
    if said.won:
        line.append(f"{' — ' if language == 'en' else '——'}{said.won}")
    line.append(stop)
    if said.kind == "fix" or not said.first.actions:
        return line
    return _apart(
        line, Text.assemble(f"{say('next_step', language)}{colon}", assembled(lead(said.first.actions[0].do))), language
    )


def _apart(one: Text, other: Text, language: Language) -> Text:
    between = " " if one.plain and language == "en" else ""
    return Text.assemble(one, between, other)


def _bar(parts: Sequence[TimePart], width: int) -> Text:
    """The time split drawn over the width; every part has at least one cell, and the cells add up."""
    room = max(width - len(parts) + 1, len(parts))
    cells = [max(round(part.percent / 100 * room), 1) for part in parts]
    cells[0] += room - sum(cells)
    pieces = ((_SIGNS[part.key] * count, COLOURS[part.key]) for part, count in zip(parts, cells, strict=True))
    return Text(" ").join(Text(*piece) for piece in pieces)


def _legend(parts: Sequence[TimePart], width: int) -> Text:
    """The parts side by side; one that does not fit begins the next line."""
    lines: list[Text] = []
    for part in parts:
        name = (f"{part.name} {part.time} ", "")
        said = Text.assemble((f"{_SIGNS[part.key]} ", COLOURS[part.key]), name, (part.share, "bold"))
        fits = lines and lines[-1].cell_len + 3 + said.cell_len <= width
        if fits:
            lines[-1] = Text("   ").join((lines[-1], said))
        else:
            lines.append(said)
    return Text("\n").join(lines)


def _finding(card: Card, language: Language) -> Iterable[RenderableType]:
    head = Text.assemble((f"{card.number:>2}  ", "bold"), assembled(card.title, "bold"))
    tail = Text.assemble(
        (card.severity_word, SEVERITY_COLOURS[card.severity]),
        "  ",
        card.saving,
        (f"  {card.category_word}", "dim"),
    )
    yield hanging(head, 4)
    yield Padding(Flow(tail), (0, 0, 0, 4))
    if card.places and card.places[0].place != say("whole_run", language):
        more = f" {say('more_places', language, count=card.more_places)}" if card.more_places else ""
        yield Padding(Flow(Text(card.places[0].place + more, style="dim")), (0, 0, 0, 4))
    if card.folds:
        seen = [assembled(link.title, "dim") for link in card.folds]
        said_as = Text(say("same_time", language) + say("colon", language), style="dim")
        yield Padding(Flow(said_as + Text(say("semicolon", language), style="dim").join(seen)), (0, 0, 0, 4))
    if card.doubts:
        why = Text(say("semicolon", language), style="dim").join(assembled(link.title, "dim") for link in card.doubts)
        said_so = Text(say("doubted_by", language) + say("colon", language), style="dim")
        yield Padding(Flow(said_so + why), (0, 0, 0, 4))
    if card.line:
        said = f"{say('called_from', language)}{say('colon', language)}{flat(card.line)}"
        yield Padding(Flow(Text(said, style="dim")), (0, 0, 0, 4))
    if card.moments:
        worst = f"{say('worst', language)}{say('colon', language)}{flat(card.moments[0].line)}"
        yield Padding(Flow(Text(worst, style="dim")), (0, 0, 0, 4))
    if card.actions:
        action = card.actions[0]
        yield Padding(beginning(Text("→ ", "green"), action.do), (0, 0, 0, 4))
        if action.run or action.code:
            yield code_lines(action.run or action.code)


def _unchecked(shown: View) -> Iterable[RenderableType]:
    groups, language = shown.unchecked, shown.language
    colon = say("colon", language)
    yield Text(f"{say('unchecked', language)}{colon}{rules(shown.blind, language)}", style="bold")
    if shown.blind_note:
        yield Flow(assembled(shown.blind_note))
    for group in groups[:_MOST_REASONS]:
        names = say("comma", language).join(group.rules[:_MOST_RULES])
        more = "…" if len(group.rules) > _MOST_RULES else ""
        yield hanging(
            Text.assemble("  · ", assembled(group.reason), (f"  {group.count}{colon}{names}{more}", "dim")), 4
        )
    if len(groups) > _MOST_REASONS:
        yield Text(f"  {say('and_more', language, count=len(groups))}", style="dim")


def _unread(shown: View) -> str:
    """The first place that could not be read, and how many more there are."""
    first, language = shown.unread[0], shown.language
    where = say("comma", language).join(filter(None, (flat(first.file), flat(first.place))))
    said = f"{say('unread', language)}{say('colon', language)}{where} – {flat(first.what)}"
    more = len(shown.unread) - 1 + shown.more_unread
    return f"{said}{say('semicolon', language)}{say('more_unread_short', language, count=more)}" if more else said


def _rule_blocks(info: RuleInfo, language: Language, logic: Sequence[tuple[str, str]]) -> Iterable[RenderableType]:
    yield Text.assemble(
        (info.id, "bold"), ("" if info.status == "stable" else f"  {say(info.status, language)}", "yellow")
    )
    yield assembled(outline(info, language), "bold")
    yield Group(Text(), *renderables(rule_text(info.why.say(language))))
    if logic:
        yield Group(Text(), Text(say("logic", language), style="bold"), _logic(logic))
    if info.params:
        yield Group(Text(), _params(info, language))
    if info.fix:
        yield Group(Text(), Text(say("fix", language), style="bold"))
    for number, step in enumerate(info.fix, 1):
        yield beginning(f"{number:>2}  ", rule_text(step.do.say(language)))
        if step.run or step.code:
            yield code_lines(clean_block(step.run or step.code))
        if step.care:
            care = Text(say("care", language) + say("colon", language), "yellow")
            yield Padding(Group(*renderables(rule_text(step.care.say(language)), care)), (0, 0, 0, 4))
    if info.references:
        yield Group(Text(), Text(say("references", language), style="bold"))
    for item in info.references:
        yield Text.assemble("    ", assembled(prose(item.title)))
        yield Text("    " + web_address(item.url), "dim", no_wrap=True, overflow="ignore")


def _logic(logic: Sequence[tuple[str, str]]) -> Padding:
    """Keys and expressions in two columns; a key is said once for all that stand under it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    before = ""
    for key, said in logic:
        table.add_row(Text("" if key == before else key, style="dim"), Text(clean(said, _LONGEST_EXPRESSION), "cyan"))
        before = key
    return Padding(table, (0, 0, 0, 4))


def _params(info: RuleInfo, language: Language) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("threshold", "value", "basis"):
        table.add_column(say(name, language), header_style="bold")
    for param in info.params:
        own = f" ({say('overridden', language)})" if param.overridden else ""
        value = Text(show(param.value, param.unit) + own)
        table.add_row(Text(param.name), value, Flow(assembled(rule_sentence(param.basis.say(language)))))
    return table
