# SPDX-License-Identifier: Apache-2.0
"""The Markdown report, for issues and pull requests: verdict first."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.report.blocks import lead, led_by
from advisor.report.cards import Card, Excerpt, Measure
from advisor.report.prose import Piece
from advisor.report.renderers.markdown import (
    block_lines,
    bullets,
    code_block,
    heading,
    indented,
    item_lines,
    plain,
    span,
    table,
    words,
)
from advisor.report.view import View, view
from advisor.report.when import When
from advisor.report.words import say

MOST_MOMENTS = 3


def document(diagnosis: Diagnosis, language: Language) -> str:
    """The report as one GitHub-flavoured Markdown document."""
    return "\n".join(_lines(view(diagnosis, language))).rstrip() + "\n"


def _lines(shown: View) -> Iterable[str]:
    language = shown.language
    yield f"# {plain(say('report', language))}"
    yield ""
    if shown.name or shown.line:
        yield " · ".join([*([span(shown.name)] if shown.name else []), *([plain(shown.line)] if shown.line else [])])
        yield ""
    yield from _headline(shown)
    yield from _split(shown)
    yield from _ranking(shown)
    yield from _notice(shown)
    for card in shown.cards:
        yield from _card(card, language)
    yield from _short(shown)
    yield from _run(shown)
    yield from _unchecked(shown)
    yield from _checked(shown)
    yield from _unread(shown)
    yield plain(say("made_by", language, version=shown.version))


def _headline(shown: View) -> Iterable[str]:
    said, colon = shown.headline, say("colon", shown.language)
    if said.time:
        yield f"**{plain(said.time)}**"
        yield ""
    if said.first:
        won = f" — {plain(said.won)}" if said.won else ""
        yield f"**{plain(said.label)}**{colon}{words(said.first.title)}{won}"
        if said.first.actions:
            yield ""
            yield f"**{plain(say('next_step', shown.language))}**{colon}{words(lead(said.first.actions[0].do))}"
    else:
        yield plain(said.says)
    yield ""
    if said.beyond:
        yield words(said.beyond)
        yield ""


def _split(shown: View) -> Iterable[str]:
    if shown.parts:
        heads = tuple(plain(part.name) for part in shown.parts)
        yield from table(heads, [tuple(f"{part.time} ({part.share})" for part in shown.parts)])


def _ranking(shown: View) -> Iterable[str]:
    if not shown.cards:
        return
    language = shown.language
    yield from heading(say("findings", language))
    heads = ("#", *(plain(say(name, language)) for name in ("finding", "severity", "confidence", "saving", "seen_at")))
    yield from table(heads, [_ranked(card) for card in shown.cards])
    yield plain(say("rank_by", language))
    yield ""


def _ranked(card: Card) -> tuple[str, ...]:
    """A row of the ranking; what only shows the time of a finding above once more is set back."""
    amount = f"{card.saving_time} ({card.share})" if card.share else card.saving_time or "–"
    more = " …" if len(card.places) > 1 else ""
    place = plain(card.places[0].place) + more if card.places else "–"
    title = ("↳ " if card.is_folded else "") + words(card.title, in_table=True)
    return str(card.number), title, card.severity_word, card.confidence_word, amount, place


def _notice(shown: View) -> Iterable[str]:
    if shown.recordable:
        if shown.blind_note:
            yield f"> {words(shown.blind_note)}"
            yield ">"
        more = " …" if len(shown.unchecked) > 1 else ""
        said = plain(shown.blind_words)
        yield f"> {said}{say('colon', shown.language)}{words(shown.recordable[0].reason)}{more}"
        yield ""


def _card(card: Card, language: Language) -> Iterable[str]:
    colon = say("colon", language)
    yield f"## {card.number} · {words(card.title)}"
    yield ""
    confidence = f"{plain(say('confidence', language))}{colon}{card.confidence_word}"
    yield " · ".join([card.severity_word, plain(card.category_word), confidence, span(card.rule), plain(card.saving)])
    yield ""
    yield from block_lines(card.why)
    for name, links in (
        ("caused_by", card.causes),
        ("same_time", card.folds),
        ("explains", card.other_symptoms),
        ("doubted_by", card.doubts),
    ):
        if links:
            titles = say("semicolon", language).join(words(link.title) for link in links)
            yield f"{plain(say(name, language))}{colon}{titles}"
            yield ""
    yield from _evidence(card, language)
    if card.excerpt:
        yield from _excerpt(card.excerpt, language)
    yield from _fix(card, language)
    if card.assumes:
        yield f"{plain(say('assumes', language))}{colon}{words(card.assumes)}"
        yield ""
    yield from _references(card, language)


def _evidence(card: Card, language: Language) -> Iterable[str]:
    if card.measures:
        heads = tuple(plain(say(name, language)) for name in ("measure", "value", "threshold", "basis"))
        yield from table(heads, [_measured(item) for item in card.measures])
    places = [plain(w.place) + (f"{say('colon', language)}{w.saving}" if w.saving else "") for w in card.places]
    if card.more_places:
        places.append(plain(say("more_places", language, count=card.more_places)))
    if card.moments:
        worst = say("semicolon", language).join(map(_moment, card.moments[:MOST_MOMENTS]))
        places.append(f"{plain(say('worst', language))}{say('colon', language)}{worst}")
    if card.line:
        places.append(f"{plain(say('called_from', language))}{say('colon', language)}{words(card.line)}")
    if places:
        yield from bullets(places)


def _moment(one: When) -> str:
    return f"{plain(one.brief)} ({words(one.name)})" if one.brief else words(one.name)


def _measured(item: Measure) -> tuple[str, ...]:
    return (
        words(item.label, in_table=True),
        words(item.value, in_table=True),
        item.threshold or "–",
        words(item.basis, in_table=True),
    )


def _excerpt(shown: Excerpt, language: Language) -> Iterable[str]:
    note = f" ({shown.note})" if shown.note else ""
    yield f"<details><summary>{say('excerpt', language)}{note}</summary>"
    yield ""
    heads = tuple(words(head.label, in_table=True) for head in shown.heads)
    rows = [tuple(words(cell, in_table=True) for cell in row) for row in shown.rows]
    yield from table(heads, rows, tuple(head.numeric for head in shown.heads))
    if shown.timed:
        yield plain(say("since_start", language))
        yield ""
    yield "</details>"
    yield ""


def _fix(card: Card, language: Language) -> Iterable[str]:
    if not card.actions:
        return
    yield f"**{plain(say('fix', language))}**"
    yield ""
    for number, action in enumerate(card.actions, 1):
        indent = len(str(number)) + 2
        yield from item_lines(f"{number}.", action.do)
        for text, info in ((action.run, "sh"), (action.code, "")):
            if text:
                yield ""
                yield from indented(code_block(text, info), indent)
        if action.care:
            yield ""
            care = Piece(say("care", language) + say("colon", language))
            yield from indented(block_lines(led_by((care,), action.care)), indent)
        yield ""


def _references(card: Card, language: Language) -> Iterable[str]:
    if not card.references:
        return
    titles = (
        f"[{words(source.title)}](<{source.url}>)" if source.url else words(source.title) for source in card.references
    )
    yield f"{plain(say('references', language))}{say('colon', language)}{say('semicolon', language).join(titles)}"
    yield ""


def _short(shown: View) -> Iterable[str]:
    lines = [f"{card.severity_word} · {words(card.title)} · {plain(card.saving)}" for card in shown.short]
    if shown.left_out:
        lines.append(plain(say("left_out", shown.language, count=shown.left_out)))
    if shown.short:
        yield from heading(say("more_findings", shown.language, count=len(shown.short)))
        yield from bullets(lines)


def _run(shown: View) -> Iterable[str]:
    if shown.facts:
        colon = say("colon", shown.language)
        yield from heading(say("run", shown.language))
        yield from bullets(f"{plain(fact.label)}{colon}{words(fact.value)}" for fact in shown.facts)


def _unchecked(shown: View) -> Iterable[str]:
    if not shown.unchecked:
        return
    yield from heading(say("unchecked", shown.language))
    if shown.blind_note:
        yield words(shown.blind_note)
        yield ""
    colon = say("colon", shown.language)
    yield from bullets(
        f"{words(group.reason)} — {plain(group.count)}{colon}{' '.join(map(span, group.rules))}"
        for group in shown.unchecked
    )


def _checked(shown: View) -> Iterable[str]:
    if not shown.checked:
        return
    language = shown.language
    yield from heading(say("checked", language))
    yield plain(shown.counts)
    yield ""
    yield f"<details><summary>{say('all_rules', language)}</summary>"
    yield ""
    rows = [(span(item.rule, True), item.word, words(item.reason, in_table=True)) for item in shown.checked]
    yield from table(tuple(plain(say(name, language)) for name in ("rule", "result", "reason")), rows)
    yield "</details>"
    yield ""


def _unread(shown: View) -> Iterable[str]:
    if not shown.unread:
        return
    language = shown.language
    yield from heading(say("unread", language))
    rows = [
        (*(words(cell, in_table=True) for cell in (item.file, item.place, item.what)), item.rows)
        for item in shown.unread
    ]
    yield from table(tuple(plain(say(name, language)) for name in ("file", "place", "what", "rows")), rows)
    if shown.more_unread:
        yield plain(say("more_unread", language, count=shown.more_unread))
        yield ""
