# SPDX-License-Identifier: Apache-2.0
"""What a rule is about, for programs that show it beside a finding: short, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.markup import web_address
from advisor.messages.text import Language, Text
from advisor.model.findings import Finding, RuleInfo, Step
from advisor.report.blocks import led_by, plain_text
from advisor.report.cards import open_text, outline
from advisor.report.prose import Piece, clean, clean_block, flat
from advisor.report.renderers.markdown import block_lines, code_block, indented, item_lines, plain
from advisor.report.words import say


def unknown(finding: Finding) -> RuleInfo:
    """What stands for a rule of which a saved diagnosis says nothing."""
    blank = Text(en=f"`{finding.rule}`", zh=f"`{finding.rule}`")
    return RuleInfo(id=finding.rule, title=blank, why=blank)


def applying(info: RuleInfo, findings: Iterable[Finding]) -> RuleInfo:
    """The rule with those steps of its remedy that apply to a finding of it; all of them where it found nothing."""
    found = [finding for finding in findings if finding.rule == info.id]
    return info.model_copy(update={"fix": info.remedy(*found)}) if found else info


def title(info: RuleInfo, language: Language) -> str:
    """What the rule finds, its numbers left open."""
    return flat(outline(info, language)) or clean(info.id)


def why(info: RuleInfo, language: Language) -> str:
    """Why to care."""
    return plain_text(open_text(info.why, language)) or clean(info.id)


def text(info: RuleInfo, language: Language) -> str:
    """Why to care and what to do, as plain text."""
    return "\n".join([why(info, language), *_steps(info, language)])


def markdown(info: RuleInfo, language: Language) -> str:
    """Why to care, what to do with the commands, and where to read more."""
    lines = list(block_lines(open_text(info.why, language)))
    if info.fix:
        lines += [f"**{plain(say('fix', language))}**", ""]
        for number, step in enumerate(info.fix, 1):
            lines += _step(number, step, language)
    lines += _references(info, language)
    return "\n".join(lines).strip() + "\n"


def _steps(info: RuleInfo, language: Language) -> Iterable[str]:
    for number, step in enumerate(info.fix, 1):
        yield f"{number}. {plain_text(open_text(step.do, language))}"
        for command in (step.run, step.code):
            if command:
                yield "\n".join(f"    {line}" for line in clean_block(command).splitlines())


def _step(number: int, step: Step, language: Language) -> list[str]:
    lines = list(item_lines(f"{number}.", open_text(step.do, language)))
    for command, info in ((step.run, "bash"), (step.code, "python")):
        if command:
            lines += ["", *indented(code_block(clean_block(command), info), 3)]
    if step.care:
        care = Piece(say("care", language) + say("colon", language).rstrip(), emphasis=True)
        lines += ["", *indented(block_lines(led_by((care, Piece(" ")), open_text(step.care, language))), 3)]
    return [*lines, ""]


def _references(info: RuleInfo, language: Language) -> list[str]:
    known = [(item.title, web_address(item.url)) for item in info.references]
    links = [f"- [{plain(clean(name))}]({url.replace(')', '%29').replace('(', '%28')})" for name, url in known if url]
    return [f"**{plain(say('references', language))}**", "", *links] if links else []
