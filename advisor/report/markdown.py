# SPDX-License-Identifier: Apache-2.0
"""The Markdown report, for issues and pull requests: verdict first."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.report.blocks import first_paragraph, led_by
from advisor.report.cards import Card, CardMeasure, CardRows
from advisor.report.occurrence_times import When
from advisor.report.prose import TextPiece
from advisor.report.renderers.markdown import (
    block_lines,
    bullet_lines,
    code_block,
    code_span,
    escape_text,
    heading_lines,
    indent_lines,
    item_lines,
    markdown_prose,
    table_lines,
)
from advisor.report.view import ReportView, diagnosis_view
from advisor.report.words import say

MOST_MOMENTS = 3


def diagnosis_markdown(diagnosis: Diagnosis, language: Language) -> str:
    """The report as one GitHub-flavoured Markdown document."""
    return "\n".join(_report_lines(diagnosis_view(diagnosis, language))).rstrip() + "\n"


def _report_lines(shown: ReportView) -> Iterable[str]:
    language = shown.language
    yield f"# {escape_text(say('report', language))}"
    yield ""
    if shown.name or shown.line:
        yield " · ".join(
            [*([code_span(shown.name)] if shown.name else []), *([escape_text(shown.line)] if shown.line else [])]
        )
        yield ""
    yield from _headline_lines(shown)
    yield from _time_lines(shown)
    yield from _ranking_lines(shown)
    yield from _notice_lines(shown)
    for card in shown.cards:
        yield from _card_lines(card, language)
    yield from _short_lines(shown)
    yield from _run_lines(shown)
    yield from _unchecked_lines(shown)
    yield from _checked_lines(shown)
    yield from _unread_lines(shown)
    yield escape_text(say("made_by", language, version=shown.version))


def _headline_lines(shown: ReportView) -> Iterable[str]:
    said, colon = shown.headline, say("colon", shown.language)
    if said.time:
        yield f"**{escape_text(said.time)}**"
        yield ""
    if said.first:
        won = f" — {escape_text(said.won)}" if said.won else ""
        yield f"**{escape_text(said.label)}**{colon}{markdown_prose(said.first.title)}{won}"
        if said.first.actions:
            yield ""
            next_step = escape_text(say("next_step", shown.language))
            yield f"**{next_step}**{colon}{markdown_prose(first_paragraph(said.first.actions[0].do))}"
    else:
        yield escape_text(said.says)
    yield ""
    if said.beyond:
        yield markdown_prose(said.beyond)
        yield ""


def _time_lines(shown: ReportView) -> Iterable[str]:
    if shown.parts:
        heads = tuple(escape_text(part.name) for part in shown.parts)
        yield from table_lines(heads, [tuple(f"{part.time} ({part.share})" for part in shown.parts)])


def _ranking_lines(shown: ReportView) -> Iterable[str]:
    if not shown.cards:
        return
    language = shown.language
    yield from heading_lines(say("findings", language))
    heads = (
        "#",
        *(escape_text(say(name, language)) for name in ("finding", "severity", "confidence", "saving", "seen_at")),
    )
    yield from table_lines(heads, [_ranking_row(card) for card in shown.cards])
    yield escape_text(say("rank_by", language))
    yield ""


def _ranking_row(card: Card) -> tuple[str, ...]:
    """A row of the ranking; what only shows the time of a finding above once more is set back."""
    amount = f"{card.saving_time} ({card.share})" if card.share else card.saving_time or "–"
    more = " …" if len(card.places) > 1 else ""
    place = escape_text(card.places[0].place) + more if card.places else "–"
    title = ("↳ " if card.is_folded else "") + markdown_prose(card.title, in_table=True)
    return str(card.number), title, card.severity_word, card.confidence_word, amount, place


def _notice_lines(shown: ReportView) -> Iterable[str]:
    if shown.recordable:
        if shown.blind_note:
            yield f"> {markdown_prose(shown.blind_note)}"
            yield ">"
        more = " …" if len(shown.unchecked) > 1 else ""
        said = escape_text(shown.blind_words)
        yield f"> {said}{say('colon', shown.language)}{markdown_prose(shown.recordable[0].reason)}{more}"
        yield ""


def _card_lines(card: Card, language: Language) -> Iterable[str]:
    colon = say("colon", language)
    yield f"## {card.number} · {markdown_prose(card.title)}"
    yield ""
    confidence = f"{escape_text(say('confidence', language))}{colon}{card.confidence_word}"
    yield " · ".join(
        [
            card.severity_word,
            escape_text(card.category_word),
            confidence,
            code_span(card.rule),
            escape_text(card.saving),
        ]
    )
    yield ""
    yield from block_lines(card.why)
    for name, links in (
        ("caused_by", card.causes),
        ("same_time", card.folds),
        ("explains", card.other_symptoms),
        ("doubted_by", card.doubts),
    ):
        if links:
            titles = say("semicolon", language).join(markdown_prose(link.title) for link in links)
            yield f"{escape_text(say(name, language))}{colon}{titles}"
            yield ""
    yield from _evidence_lines(card, language)
    if card.excerpt:
        yield from _excerpt_lines(card.excerpt, language)
    yield from _fix_lines(card, language)
    if card.assumes:
        yield f"{escape_text(say('assumes', language))}{colon}{markdown_prose(card.assumes)}"
        yield ""
    yield from _reference_lines(card, language)


def _evidence_lines(card: Card, language: Language) -> Iterable[str]:
    if card.measures:
        heads = tuple(escape_text(say(name, language)) for name in ("measure", "value", "threshold", "basis"))
        yield from table_lines(heads, [_measure_row(item) for item in card.measures])
    places = [escape_text(w.place) + (f"{say('colon', language)}{w.saving}" if w.saving else "") for w in card.places]
    if card.more_places:
        places.append(escape_text(say("more_places", language, count=card.more_places)))
    if card.moments:
        worst = say("semicolon", language).join(map(_moment_text, card.moments[:MOST_MOMENTS]))
        places.append(f"{escape_text(say('worst', language))}{say('colon', language)}{worst}")
    if card.line:
        places.append(f"{escape_text(say('called_from', language))}{say('colon', language)}{markdown_prose(card.line)}")
    if places:
        yield from bullet_lines(places)


def _moment_text(one: When) -> str:
    return f"{escape_text(one.brief)} ({markdown_prose(one.name)})" if one.brief else markdown_prose(one.name)


def _measure_row(item: CardMeasure) -> tuple[str, ...]:
    return (
        markdown_prose(item.label, in_table=True),
        markdown_prose(item.value, in_table=True),
        item.threshold or "–",
        markdown_prose(item.basis, in_table=True),
    )


def _excerpt_lines(shown: CardRows, language: Language) -> Iterable[str]:
    note = f" ({shown.note})" if shown.note else ""
    yield f"<details><summary>{say('excerpt', language)}{note}</summary>"
    yield ""
    heads = tuple(markdown_prose(head.label, in_table=True) for head in shown.heads)
    rows = [tuple(markdown_prose(cell, in_table=True) for cell in row) for row in shown.rows]
    yield from table_lines(heads, rows, tuple(head.numeric for head in shown.heads))
    if shown.timed:
        yield escape_text(say("since_start", language))
        yield ""
    yield "</details>"
    yield ""


def _fix_lines(card: Card, language: Language) -> Iterable[str]:
    if not card.actions:
        return
    yield f"**{escape_text(say('fix', language))}**"
    yield ""
    for number, action in enumerate(card.actions, 1):
        indent = len(str(number)) + 2
        yield from item_lines(f"{number}.", action.do)
        for text, info in ((action.run, "sh"), (action.code, "")):
            if text:
                yield ""
                yield from indent_lines(code_block(text, info), indent)
        if action.care:
            yield ""
            care = TextPiece(say("care", language) + say("colon", language))
            yield from indent_lines(block_lines(led_by((care,), action.care)), indent)
        yield ""


def _reference_lines(card: Card, language: Language) -> Iterable[str]:
    if not card.references:
        return
    titles = (
        f"[{markdown_prose(source.title)}](<{source.url}>)" if source.url else markdown_prose(source.title)
        for source in card.references
    )
    yield f"{escape_text(say('references', language))}{say('colon', language)}{say('semicolon', language).join(titles)}"
    yield ""


def _short_lines(shown: ReportView) -> Iterable[str]:
    lines = [
        f"{card.severity_word} · {markdown_prose(card.title)} · {escape_text(card.saving)}" for card in shown.short
    ]
    if shown.left_out:
        lines.append(escape_text(say("left_out", shown.language, count=shown.left_out)))
    if shown.short:
        yield from heading_lines(say("more_findings", shown.language, count=len(shown.short)))
        yield from bullet_lines(lines)


def _run_lines(shown: ReportView) -> Iterable[str]:
    if shown.facts:
        colon = say("colon", shown.language)
        yield from heading_lines(say("run", shown.language))
        yield from bullet_lines(f"{escape_text(fact.label)}{colon}{markdown_prose(fact.value)}" for fact in shown.facts)


def _unchecked_lines(shown: ReportView) -> Iterable[str]:
    if not shown.unchecked:
        return
    yield from heading_lines(say("unchecked", shown.language))
    if shown.blind_note:
        yield markdown_prose(shown.blind_note)
        yield ""
    colon = say("colon", shown.language)
    yield from bullet_lines(
        f"{markdown_prose(group.reason)} — {escape_text(group.count)}{colon}{' '.join(map(code_span, group.rules))}"
        for group in shown.unchecked
    )


def _checked_lines(shown: ReportView) -> Iterable[str]:
    if not shown.checked:
        return
    language = shown.language
    yield from heading_lines(say("checked", language))
    yield escape_text(shown.counts)
    yield ""
    yield f"<details><summary>{say('all_rules', language)}</summary>"
    yield ""
    rows = [
        (code_span(item.rule, True), item.word, markdown_prose(item.reason, in_table=True)) for item in shown.checked
    ]
    yield from table_lines(tuple(escape_text(say(name, language)) for name in ("rule", "result", "reason")), rows)
    yield "</details>"
    yield ""


def _unread_lines(shown: ReportView) -> Iterable[str]:
    if not shown.unread:
        return
    language = shown.language
    yield from heading_lines(say("unread", language))
    rows = [
        (*(markdown_prose(cell, in_table=True) for cell in (item.file, item.place, item.what)), item.rows)
        for item in shown.unread
    ]
    yield from table_lines(tuple(escape_text(say(name, language)) for name in ("file", "place", "what", "rows")), rows)
    if shown.more_unread:
        yield escape_text(say("more_unread", language, count=shown.more_unread))
        yield ""
