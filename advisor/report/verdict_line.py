# SPDX-License-Identifier: Apache-2.0
"""A verdict in one line: whether the run passes, and how many findings and budgets decide it. Its words, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.messages.text import Language, Text
from advisor.report.prose import Prose, TextPiece, Tone
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

if TYPE_CHECKING:
    from advisor.model.verdict import Verdict

_t = Text

WORDS: Mapping[str, Text] = {
    "passed": _t("Passed", "通过"),
    "failed": _t("Failed", "未通过"),
    "blind": _t("Not judged", "无法判定"),
    "failing_count": _t("{count} {count|finding|findings}", "{count} 个问题不符合要求"),
    "exceeded_count": _t("{count} {count|budget|budgets} exceeded", "{count} 项预算超限"),
    "warned_count": _t("{count} {count|warning|warnings}", "{count} 条警告"),
    "nothing": _t("no objections", "没有需要处理的问题"),
}

say = Wording(WORDS, OF_REPORTS)
"""The words of the line, else those that all reports share."""


def verdict_line(verdict: Verdict, language: Language) -> Prose:
    """Whether the run passes; what fails it, and what only warns."""
    failing = sum(one.fails for one in verdict.rulings)
    warned = sum(one.warns and not one.is_known for one in verdict.rulings)
    exceeded = [budget for budget in verdict.budgets if budget.kept is False]
    broken = sum(budget.fails for budget in exceeded)
    counts = [("failing", failing), ("exceeded", broken), ("warned", warned + len(exceeded) - broken)]
    said = say("comma", language).join(say(f"{name}_count", language, count=count) for name, count in counts if count)
    word: tuple[str, Tone] = ("passed", "good") if verdict.passed else ("failed", "bad")
    word = ("blind", "bad") if verdict.blind else word
    quiet = not (verdict.rulings or verdict.budgets or verdict.notes)
    tail = said or (say("nothing", language) if quiet else "")
    stop = (f"{say('colon', language)}{tail}" if tail else "") + say("full_stop", language)
    return TextPiece(say(word[0], language), tone=word[1]), TextPiece(stop)
