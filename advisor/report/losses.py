# SPDX-License-Identifier: Apache-2.0
"""What of a capture was damaged or lost, in the words of a diagnosis, below tables that rest on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis
from advisor.model.unread import Unread
from advisor.report.blocks import Block, Paragraph
from advisor.report.diagnosis.cards import Maker
from advisor.report.diagnosis.outcomes import unread_in_full, unread_in_short
from advisor.report.prose import TextPiece, flat_text
from advisor.report.words import say


def say_losses(losses: Diagnosis) -> tuple[Text, ...]:
    """What is lost, a sentence for each finding, in both languages."""
    english, chinese = Maker(losses, "en"), Maker(losses, "zh")
    return tuple(Text(flat_text(english.title(one)), flat_text(chinese.title(one))) for one in losses.findings)


def losses_told(
    lost: Sequence[Text], unread: Sequence[Unread], language: Language, *, briefly: bool = False
) -> Iterator[Block]:
    """What is lost in a sentence, and every place that could not be read; `briefly` the first of them."""
    if lost:
        said = say("semicolon", language).join(one.say(language) for one in lost)
        yield Paragraph((TextPiece(say("read_with_care", language) + said + say("full_stop", language)),), begins=True)
    yield from unread_in_short(unread, language) if briefly else unread_in_full(unread, language)
