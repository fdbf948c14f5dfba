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
from advisor.report.blocks import first_paragraph
from advisor.report.cards import Card, open_title
from advisor.report.console import terminal_console
from advisor.report.headline import Headline
from advisor.report.line_breaks import Flow
from advisor.report.prose import clean_block, clean_line, flat_text, parse_prose
from advisor.report.renderers.terminal import (
    WIDEST,
    block_renderables,
    code_lines,
    hanging_text,
    marked_blocks,
    styled_prose,
    written_line,
)
from advisor.report.rule_text import rule_sentence, rule_text
from advisor.report.time_split import TimePart
from advisor.report.view import ReportView, diagnosis_view
from advisor.report.words import say, say_rule_count
from advisor.units import show_value

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
    out = console or terminal_console()
    shown = diagnosis_view(diagnosis, language, full=max(top, 1))
    for block in _diagnosis_blocks(shown, top, written, min(out.width, WIDEST)):
        out.print(block, width=min(out.width, WIDEST), highlight=False, crop=False)


def print_rule(
    info: RuleInfo, language: Language, console: Console | None = None, logic: Sequence[tuple[str, str]] = ()
) -> None:
    """Prints all that is known of one rule; `logic` is what it looks at and when, as keys and expressions."""
    out = console or terminal_console()
    width = min(out.width, WIDEST)
    for block in _rule_blocks(info, language, logic):
        out.print(block, width=width, highlight=False, crop=False)


def _diagnosis_blocks(shown: ReportView, top: int, written: Sequence[Path], width: int) -> Iterable[RenderableType]:
    yield from _headline_blocks(shown)
    if shown.parts:
        yield Group(Text(), _time_bar(shown.parts, width), _time_legend(shown.parts, width))
    listed = [card for card in (*shown.cards, *shown.short) if not card.is_folded]
    for card in listed[:top]:
        yield Group(Text(), *_finding_blocks(card, shown.language))
    more = len(listed) + shown.left_out - min(len(listed), top)
    if more:
        name = "more_in_report" if written else "more_findings_short"
        yield Group(Text(), Text(say(name, shown.language, count=more), style="dim"))
    if shown.unchecked:
        yield Group(Text(), *_unchecked_blocks(shown))
    if shown.unread:
        yield Group(Text(), Flow(Text(_unread_line(shown), style="dim")))
    if written:
        yield Group(Text(), *(written_line(path, shown.language) for path in written))


def _headline_blocks(shown: ReportView) -> Iterable[RenderableType]:
    """Where the time goes and what leads; then, where there is something to say, what lies beyond it."""
    said, language = shown.headline, shown.language
    time = Text(said.time, style="bold")
    yield Flow(_join_sentences(time, Text(said.says) if said.says else _leading_sentence(said, language), language))
    if said.beyond:
        yield Flow(styled_prose(said.beyond, "dim"))


def _leading_sentence(said: Headline, language: Language) -> Text:
    """The finding that leads in one sentence; of a symptom or a doubt also what to do next."""
    if said.first is None:
        return Text()
    colon, stop = say("colon", language), say("full_stop", language)
    line = Text.assemble(f"{said.label}{colon}", styled_prose(said.first.title))
    if said.won:
        line.append(f"{' — ' if language == 'en' else '——'}{said.won}")
    line.append(stop)
    if said.kind == "fix" or not said.first.actions:
        return line
    return _join_sentences(
        line,
        Text.assemble(f"{say('next_step', language)}{colon}", styled_prose(first_paragraph(said.first.actions[0].do))),
        language,
    )


def _join_sentences(one: Text, other: Text, language: Language) -> Text:
    between = " " if one.plain and language == "en" else ""
    return Text.assemble(one, between, other)


def _time_bar(parts: Sequence[TimePart], width: int) -> Text:
    """The time split drawn over the width; every part has at least one cell, and the cells add up."""
    room = max(width - len(parts) + 1, len(parts))
    cells = [max(round(part.percent / 100 * room), 1) for part in parts]
    cells[0] += room - sum(cells)
    pieces = ((_SIGNS[part.key] * count, COLOURS[part.key]) for part, count in zip(parts, cells, strict=True))
    return Text(" ").join(Text(*piece) for piece in pieces)


def _time_legend(parts: Sequence[TimePart], width: int) -> Text:
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


def _finding_blocks(card: Card, language: Language) -> Iterable[RenderableType]:
    head = Text.assemble((f"{card.number:>2}  ", "bold"), styled_prose(card.title, "bold"))
    tail = Text.assemble(
        (card.severity_word, SEVERITY_COLOURS[card.severity]),
        "  ",
        card.saving,
        (f"  {card.category_word}", "dim"),
    )
    yield hanging_text(head, 4)
    yield Padding(Flow(tail), (0, 0, 0, 4))
    if card.places and card.places[0].place != say("whole_run", language):
        more = f" {say('more_places', language, count=card.more_places)}" if card.more_places else ""
        yield Padding(Flow(Text(card.places[0].place + more, style="dim")), (0, 0, 0, 4))
    if card.folds:
        seen = [styled_prose(link.title, "dim") for link in card.folds]
        said_as = Text(say("same_time", language) + say("colon", language), style="dim")
        yield Padding(Flow(said_as + Text(say("semicolon", language), style="dim").join(seen)), (0, 0, 0, 4))
    if card.doubts:
        why = Text(say("semicolon", language), style="dim").join(
            styled_prose(link.title, "dim") for link in card.doubts
        )
        said_so = Text(say("doubted_by", language) + say("colon", language), style="dim")
        yield Padding(Flow(said_so + why), (0, 0, 0, 4))
    if card.line:
        said = f"{say('called_from', language)}{say('colon', language)}{flat_text(card.line)}"
        yield Padding(Flow(Text(said, style="dim")), (0, 0, 0, 4))
    if card.moments:
        worst = f"{say('worst', language)}{say('colon', language)}{flat_text(card.moments[0].line)}"
        yield Padding(Flow(Text(worst, style="dim")), (0, 0, 0, 4))
    if card.actions:
        action = card.actions[0]
        yield Padding(marked_blocks(Text("→ ", "green"), action.do), (0, 0, 0, 4))
        if action.run or action.code:
            yield code_lines(action.run or action.code)


def _unchecked_blocks(shown: ReportView) -> Iterable[RenderableType]:
    groups, language = shown.unchecked, shown.language
    colon = say("colon", language)
    yield Text(f"{say('unchecked', language)}{colon}{say_rule_count(shown.blind, language)}", style="bold")
    if shown.blind_note:
        yield Flow(styled_prose(shown.blind_note))
    for group in groups[:_MOST_REASONS]:
        names = say("comma", language).join(group.rules[:_MOST_RULES])
        more = "…" if len(group.rules) > _MOST_RULES else ""
        yield hanging_text(
            Text.assemble("  · ", styled_prose(group.reason), (f"  {group.count}{colon}{names}{more}", "dim")), 4
        )
    if len(groups) > _MOST_REASONS:
        yield Text(f"  {say('and_more', language, count=len(groups))}", style="dim")


def _unread_line(shown: ReportView) -> str:
    """The first place that could not be read, and how many more there are."""
    first, language = shown.unread[0], shown.language
    where = say("comma", language).join(filter(None, (flat_text(first.file), flat_text(first.place))))
    said = f"{say('unread', language)}{say('colon', language)}{where} – {flat_text(first.what)}"
    more = len(shown.unread) - 1 + shown.more_unread
    return f"{said}{say('semicolon', language)}{say('more_unread_short', language, count=more)}" if more else said


def _rule_blocks(info: RuleInfo, language: Language, logic: Sequence[tuple[str, str]]) -> Iterable[RenderableType]:
    yield Text.assemble(
        (info.id, "bold"), ("" if info.status == "stable" else f"  {say(info.status, language)}", "yellow")
    )
    yield styled_prose(open_title(info, language), "bold")
    yield Group(Text(), *block_renderables(rule_text(info.why.say(language))))
    if logic:
        yield Group(Text(), Text(say("logic", language), style="bold"), _logic_table(logic))
    if info.params:
        yield Group(Text(), _param_table(info, language))
    if info.fix:
        yield Group(Text(), Text(say("fix", language), style="bold"))
    for number, step in enumerate(info.fix, 1):
        yield marked_blocks(f"{number:>2}  ", rule_text(step.do.say(language)))
        if step.run or step.code:
            yield code_lines(clean_block(step.run or step.code))
        if step.care:
            care = Text(say("care", language) + say("colon", language), "yellow")
            yield Padding(Group(*block_renderables(rule_text(step.care.say(language)), care)), (0, 0, 0, 4))
    if info.references:
        yield Group(Text(), Text(say("references", language), style="bold"))
    for item in info.references:
        yield Text.assemble("    ", styled_prose(parse_prose(item.title)))
        yield Text("    " + web_address(item.url), "dim", no_wrap=True, overflow="ignore")


def _logic_table(logic: Sequence[tuple[str, str]]) -> Padding:
    """Keys and expressions in two columns; a key is said once for all that stand under it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    before = ""
    for key, said in logic:
        table.add_row(
            Text("" if key == before else key, style="dim"), Text(clean_line(said, _LONGEST_EXPRESSION), "cyan")
        )
        before = key
    return Padding(table, (0, 0, 0, 4))


def _param_table(info: RuleInfo, language: Language) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("threshold", "value", "basis"):
        table.add_column(say(name, language), header_style="bold")
    for param in info.params:
        own = f" ({say('overridden', language)})" if param.overridden else ""
        value = Text(show_value(param.value, param.unit) + own)
        table.add_row(Text(param.name), value, Flow(styled_prose(rule_sentence(param.basis.say(language)))))
    return table
