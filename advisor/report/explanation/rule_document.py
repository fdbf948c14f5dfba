# SPDX-License-Identifier: Apache-2.0
"""A rule as a document: what it is about, when it fires, its thresholds, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.messages.text import Language
from advisor.model.findings import Param, RemedyStep, RuleInfo
from advisor.report.blocks import Block, Blocks, Document, Heading, Paragraph
from advisor.report.diagnosis.cards import open_step, open_text, open_title
from advisor.report.diagnosis.finding import remedy_list
from advisor.report.explanation.words import say_explained
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, Said, TextPiece, code_prose, strong
from advisor.report.rule_text import reference_titles, rule_sentence
from advisor.report.words import say_aside
from advisor.units import show_value

LONGEST_EXPRESSION = 4096


def rule_document(info: RuleInfo, language: Language, logic: Sequence[tuple[str, str]] = ()) -> Document:
    """All that is known of one rule; `logic` is what it looks at and when, as keys and expressions."""
    return Document(language, tuple(RuleBlocks(language).whole(info, logic)))


class RuleBlocks(Phrases):
    """Makes the blocks of rules and of patterns in one language."""

    wording = say_explained

    def whole(self, info: RuleInfo, logic: Sequence[tuple[str, str]]) -> Iterator[Block]:
        """All that is known of one rule."""
        yield from self.introduction(info)
        yield from self.tabled("logic", ("", ""), logic_rows(logic))
        yield from self.tabled("thresholds", ("threshold", "value", "basis"), map(self.param_row, info.params))
        yield from self.remedy(info.fix)
        yield from self.listed("references", reference_titles(info.references, self.language))

    def introduction(self, info: RuleInfo) -> Iterator[Block]:
        """Its id, what it finds, and why to care."""
        status = "" if info.status == "stable" else say_aside(self.say(info.status), self.language)
        yield Heading((*code_prose(info.id), *([TextPiece(status, tone="warn")] if status else [])), 1)
        yield Paragraph(strong(open_title(info, self.language)))
        yield from open_text(info.why, self.language)

    def param_row(self, param: Param) -> tuple[Said, ...]:
        """A threshold, its value, and why it is so."""
        own = say_aside(self.say("overridden"), self.language) if param.overridden else ""
        value = show_value(param.value, param.unit) + own
        return code_prose(param.name), value, rule_sentence(param.basis.say(self.language))

    def remedy(self, fix: Sequence[RemedyStep]) -> Blocks:
        """What to do, where that is known."""
        steps = remedy_list((open_step(step, self.language) for step in fix), self.language)
        return (self.heading("fix"), *steps) if steps else ()


def logic_rows(logic: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Prose]]:
    """Keys and expressions; a key is said once for all that stand under it."""
    for before, (key, said) in zip(("", *(key for key, _ in logic)), logic, strict=False):
        yield "" if key == before else key, code_prose(said, LONGEST_EXPRESSION)
