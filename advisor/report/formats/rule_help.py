# SPDX-License-Identifier: Apache-2.0
"""What a rule is about, for programs that show it beside a finding: short, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.markup import web_address
from advisor.messages.text import Language, Text
from advisor.model.findings import Finding, RemedyStep, RuleInfo
from advisor.report.blocks import led_by, plain_text
from advisor.report.cards import open_text, open_title
from advisor.report.prose import TextPiece, clean_block, clean_line, flat_text
from advisor.report.renderers.markdown import block_lines, code_block, escape_text, indent_lines, item_lines
from advisor.report.words import say


def unknown_rule(finding: Finding) -> RuleInfo:
    """What stands for a rule of which a saved diagnosis says nothing."""
    blank = Text(en=f"`{finding.rule}`", zh=f"`{finding.rule}`")
    return RuleInfo(id=finding.rule, title=blank, why=blank)


def keep_applying_steps(info: RuleInfo, findings: Iterable[Finding]) -> RuleInfo:
    """The rule with those steps of its remedy that apply to a finding of it; all of them where it found nothing."""
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
    lines = list(block_lines(open_text(info.why, language)))
    if info.fix:
        lines += [f"**{escape_text(say('fix', language))}**", ""]
        for number, step in enumerate(info.fix, 1):
            lines += _markdown_step(number, step, language)
    lines += _markdown_references(info, language)
    return "\n".join(lines).strip() + "\n"


def _plain_steps(info: RuleInfo, language: Language) -> Iterable[str]:
    for number, step in enumerate(info.fix, 1):
        yield f"{number}. {plain_text(open_text(step.do, language))}"
        for command in (step.run, step.code):
            if command:
                yield "\n".join(f"    {line}" for line in clean_block(command).splitlines())


def _markdown_step(number: int, step: RemedyStep, language: Language) -> list[str]:
    lines = list(item_lines(f"{number}.", open_text(step.do, language)))
    for command, info in ((step.run, "bash"), (step.code, "python")):
        if command:
            lines += ["", *indent_lines(code_block(clean_block(command), info), 3)]
    if step.care:
        care = TextPiece(say("care", language) + say("colon", language).rstrip(), emphasis=True)
        lines += ["", *indent_lines(block_lines(led_by((care, TextPiece(" ")), open_text(step.care, language))), 3)]
    return [*lines, ""]


def _markdown_references(info: RuleInfo, language: Language) -> list[str]:
    known = [(item.title, web_address(item.url)) for item in info.references]
    links = [
        f"- [{escape_text(clean_line(name))}]({url.replace(')', '%29').replace('(', '%28')})"
        for name, url in known
        if url
    ]
    return [f"**{escape_text(say('references', language))}**", "", *links] if links else []
