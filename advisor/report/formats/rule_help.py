# SPDX-License-Identifier: Apache-2.0
"""What a rule is about, for programs that show it beside a finding: short, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.messages.text import HOLE, Language, Text
from advisor.model.findings import Finding, RuleInfo, Step
from advisor.report.cards import outline, web_address
from advisor.report.markdown import block, plain, words
from advisor.report.prose import Prose, clean, clean_block, flat, prose
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
    return flat(_open(info.why, language)) or clean(info.id)


def text(info: RuleInfo, language: Language) -> str:
    """Why to care and what to do, as plain text."""
    return "\n".join([why(info, language), *_steps(info, language)])


def markdown(info: RuleInfo, language: Language) -> str:
    """Why to care, what to do with the commands, and where to read more."""
    lines = [words(_open(info.why, language)), ""]
    if info.fix:
        lines += [f"**{plain(say('fix', language))}**", ""]
        for number, step in enumerate(info.fix, 1):
            lines += _step(number, step, language)
    lines += _references(info, language)
    return "\n".join(lines).strip() + "\n"


def _steps(info: RuleInfo, language: Language) -> Iterable[str]:
    for number, step in enumerate(info.fix, 1):
        yield f"{number}. {flat(_open(step.do, language))}"
        for command in (step.run, step.code):
            if command:
                yield "\n".join(f"    {line}" for line in clean_block(command).splitlines())


def _step(number: int, step: Step, language: Language) -> list[str]:
    lines = [f"{number}. {words(_open(step.do, language))}"]
    for command, info in ((step.run, "bash"), (step.code, "python")):
        if command:
            lines += ["", *(f"   {line}" for line in block(clean_block(command), info))]
    if step.care:
        lines += [
            "",
            f"   *{plain(say('care', language))}{say('colon', language)}* {words(_open(step.care, language))}",
        ]
    return [*lines, ""]


def _references(info: RuleInfo, language: Language) -> list[str]:
    known = [(item.title, web_address(item.url)) for item in info.references]
    links = [f"- [{plain(clean(name))}]({url.replace(')', '%29').replace('(', '%28')})" for name, url in known if url]
    return [f"**{plain(say('references', language))}**", "", *links] if links else []


def _open(said: Text, language: Language) -> Prose:
    return prose(HOLE.sub("…", said.say(language)))
