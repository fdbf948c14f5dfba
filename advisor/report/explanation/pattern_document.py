# SPDX-License-Identifier: Apache-2.0
"""A pattern of chains as a document: which operators it looks for, what replaces them, and what to call instead."""

from __future__ import annotations

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import RemedyStep
from advisor.report.blocks import Document, Heading, Paragraph
from advisor.report.explanation.rule_document import RuleBlocks
from advisor.report.explanation.words import say_explained
from advisor.report.prose import code_prose, plain_prose, strong


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
    made = RuleBlocks(language)
    blocks = (
        Heading(code_prose(info.id), 1),
        Paragraph(strong(plain_prose(info.say_title(language)))),
        *made.listed("orders", map(code_prose, info.orders)),
        *made.listed("spellings", map(code_prose, info.spellings)),
        *made.remedy(info.fix),
        *made.listed("told_by", map(code_prose, info.told_by)),
    )
    return Document(language, blocks)
