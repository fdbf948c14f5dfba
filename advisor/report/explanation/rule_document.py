# SPDX-License-Identifier: Apache-2.0
"""A rule as a document: what it is about, when it fires, its thresholds, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.messages.text import Language
from advisor.model.findings import Param, RuleInfo
from advisor.report.blocks import Block, Document, Grid, Heading, Paragraph, bullet_list
from advisor.report.diagnosis.cards import open_step, open_text, open_title
from advisor.report.diagnosis.finding import remedy_list
from advisor.report.explanation.words import say_explained
from advisor.report.prose import Prose, TextPiece, code_prose, plain_prose, strong
from advisor.report.rule_text import reference_prose, rule_sentence
from advisor.report.words import say, say_aside
from advisor.units import show_value

LONGEST_EXPRESSION = 4096


def rule_document(info: RuleInfo, language: Language, logic: Sequence[tuple[str, str]] = ()) -> Document:
    """All that is known of one rule; `logic` is what it looks at and when, as keys and expressions."""
    return Document(language, tuple(_rule_blocks(info, language, logic)))


def _rule_blocks(info: RuleInfo, language: Language, logic: Sequence[tuple[str, str]]) -> Iterator[Block]:
    yield from introduce_rule(info, language)
    if logic:
        yield Heading(plain_prose(say("logic", language)))
        yield Grid(((), ()), logic_rows(logic))
    if info.params:
        yield Heading(plain_prose(say_explained("thresholds", language)))
        heads = tuple(plain_prose(say(name, language)) for name in ("threshold", "value", "basis"))
        yield Grid(heads, tuple(_param_row(param, language) for param in info.params))
    if info.fix:
        yield Heading(plain_prose(say("fix", language)))
        yield from remedy_list((open_step(step, language) for step in info.fix), language)
    if info.references:
        yield Heading(plain_prose(say("references", language)))
        yield from bullet_list(map(reference_prose, info.references))


def introduce_rule(info: RuleInfo, language: Language) -> Iterator[Block]:
    """Its id, what it finds, and why to care."""
    status = (
        () if info.status == "stable" else (TextPiece(say_aside(say(info.status, language), language), tone="warn"),)
    )
    yield Heading((*code_prose(info.id), *status), 1)
    yield Paragraph(strong(open_title(info, language)))
    yield from open_text(info.why, language)


def logic_rows(logic: Sequence[tuple[str, str]]) -> tuple[tuple[Prose, Prose], ...]:
    """Keys and expressions; a key is said once for all that stand under it."""
    above = ("", *(key for key, _ in logic))
    return tuple(
        (plain_prose("" if key == before else key), code_prose(said, LONGEST_EXPRESSION))
        for before, (key, said) in zip(above, logic, strict=False)
    )


def _param_row(param: Param, language: Language) -> tuple[Prose, ...]:
    own = say_aside(say("overridden", language), language) if param.overridden else ""
    value = plain_prose(show_value(param.value, param.unit) + own)
    return code_prose(param.name), value, rule_sentence(param.basis.say(language))
