# SPDX-License-Identifier: Apache-2.0
"""A pattern of chains as a document: which operators it looks for, what replaces them, and what to call instead."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import RemedyStep
from advisor.report.blocks import Block, Document, Heading, Paragraph, bullet_list
from advisor.report.diagnosis.cards import open_step
from advisor.report.diagnosis.finding import remedy_list
from advisor.report.explanation.words import say_explained
from advisor.report.prose import code_prose, plain_prose, strong
from advisor.report.words import say


class PatternInfo(Struct, frozen=True):
    """What there is to say of a pattern."""

    id: str
    operator: str
    workload: str
    orders: tuple[str, ...]
    """The members of each of its chains."""
    spellings: tuple[str, ...]
    """Words that stand for types of operators, each with these."""
    fix: tuple[RemedyStep, ...]
    told_by: tuple[str, ...]
    """Ids of the rules that tell of its chains."""

    def say_title(self, language: Language) -> str:
        """What replaces its chains."""
        word = f"chains_in_{self.workload}" if self.workload else "chains"
        return say_explained(word, language, fused=self.operator)


def pattern_document(info: PatternInfo, language: Language) -> Document:
    """All that is known of one pattern."""
    return Document(language, tuple(_pattern_blocks(info, language)))


def _pattern_blocks(info: PatternInfo, language: Language) -> Iterator[Block]:
    yield Heading(code_prose(info.id), 1)
    yield Paragraph(strong(plain_prose(info.say_title(language))))
    yield Heading(plain_prose(say_explained("orders", language)))
    yield from bullet_list(map(code_prose, info.orders))
    if info.spellings:
        yield Heading(plain_prose(say_explained("spellings", language)))
        yield from bullet_list(map(code_prose, info.spellings))
    if info.fix:
        yield Heading(plain_prose(say("fix", language)))
        yield from remedy_list((open_step(step, language) for step in info.fix), language)
    if info.told_by:
        yield Heading(plain_prose(say_explained("told_by", language)))
        yield from bullet_list(map(code_prose, info.told_by))
