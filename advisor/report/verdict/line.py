# SPDX-License-Identifier: Apache-2.0
"""A verdict in one line: whether the run passes, and how many findings and budgets decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.messages.text import Language
from advisor.report.prose import Prose, TextPiece, Tone
from advisor.report.verdict.words import say

if TYPE_CHECKING:
    from advisor.model.verdict import Verdict


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
