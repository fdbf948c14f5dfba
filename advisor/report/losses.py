# SPDX-License-Identifier: Apache-2.0
"""What of a capture was damaged or lost, in the words of a diagnosis, below tables that rest on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis
from advisor.model.unread import Unread
from advisor.report.blocks import Block, Paragraph
from advisor.report.diagnosis.cards import Maker
from advisor.report.diagnosis.outcomes import unread_in_full, unread_in_short
from advisor.report.prose import TextPiece, flat_text
from advisor.report.words import say

TellLosses = Callable[[Sequence[Text], Sequence[Unread], Language], Iterator[Block]]
"""What says of sentences on what is lost, and of what could not be read, as much as there is room for."""


def say_losses(losses: Diagnosis) -> tuple[Text, ...]:
    """What is lost, a sentence for each finding, in both languages."""
    english, chinese = Maker(losses, "en"), Maker(losses, "zh")
    return tuple(Text(flat_text(english.title(one)), flat_text(chinese.title(one))) for one in losses.findings)


def losses_in_short(lost: Sequence[Text], unread: Sequence[Unread], language: Language) -> Iterator[Block]:
    """What fits on a terminal."""
    yield from _lost(lost, language)
    yield from unread_in_short(unread, language)


def losses_in_full(lost: Sequence[Text], unread: Sequence[Unread], language: Language) -> Iterator[Block]:
    """The same with every place that could not be read."""
    yield from _lost(lost, language)
    yield from unread_in_full(unread, language)


def _lost(lost: Sequence[Text], language: Language) -> Iterator[Block]:
    if lost:
        said = say("semicolon", language).join(one.say(language) for one in lost)
        yield Paragraph((TextPiece(say("read_with_care", language) + said + say("full_stop", language)),), begins=True)
