# SPDX-License-Identifier: Apache-2.0
"""What a rule is about, for programs that show it beside a finding: short, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from advisor.messages.text import Language
from advisor.model.findings import Finding, RuleInfo
from advisor.report.blocks import Block, Document, Paragraph, bullet_list, plain_text
from advisor.report.diagnosis.cards import open_step, open_text, open_title
from advisor.report.diagnosis.finding import remedy_list
from advisor.report.prose import TextPiece, clean_block, clean_line, flat_text
from advisor.report.renderers.markdown import document_text
from advisor.report.rule_text import reference_titles
from advisor.report.words import say


def keep_applying_steps(info: RuleInfo, findings: Iterable[Finding]) -> RuleInfo:
    """The rule with those steps of its remedy that apply to a finding of it; as it is where it found nothing."""
    found = [finding for finding in findings if finding.rule == info.id]
    return info.model_copy(update={"fix": info.remedy(*found)}) if found else info


def title_text(info: RuleInfo, language: Language) -> str:
    """What the rule finds, its numbers left open."""
    return flat_text(open_title(info, language)) or clean_line(info.id)


def why_text(info: RuleInfo, language: Language) -> str:
    """Why to care."""
    return plain_text(open_text(info.why, language)) or clean_line(info.id)


def plain_help(info: RuleInfo, language: Language) -> str:
    """Why to care and what to do, as plain text."""
    return "\n".join([why_text(info, language), *_plain_steps(info, language)])


def markdown_help(info: RuleInfo, language: Language) -> str:
    """Why to care, what to do with the commands, and where to read more."""
    return document_text(Document(language, tuple(_help_blocks(info, language))))


def _help_blocks(info: RuleInfo, language: Language) -> Iterator[Block]:
    yield from open_text(info.why, language)
    if info.fix:
        yield Paragraph((TextPiece(say("fix", language), strong=True),))
        yield from remedy_list((open_step(step, language) for step in info.fix), language, "bash", "python")
    titles = reference_titles(info.references, language)
    if links := [title for title in titles if any(piece.url for piece in title)]:
        yield Paragraph((TextPiece(say("references", language), strong=True),))
        yield from bullet_list(links)


def _plain_steps(info: RuleInfo, language: Language) -> Iterable[str]:
    for number, step in enumerate(info.fix, 1):
        yield f"{number}. {plain_text(open_text(step.do, language))}"
        for command in (step.run, step.code):
            if command:
                yield "\n".join(f"    {line}" for line in clean_block(command).splitlines())
