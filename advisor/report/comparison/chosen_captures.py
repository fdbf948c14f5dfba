# SPDX-License-Identifier: Apache-2.0
"""Which captures the two sides of a comparison are of, where a folder held several of a rank."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.blocks import Paragraph
from advisor.report.comparison.words import say
from advisor.report.prose import TextPiece
from advisor.report.run_summary import captures_chosen


def sides_chosen(comparison: Comparison, language: Language) -> Iterator[Paragraph]:
    """A sentence for each side of which more was found than read; nothing where all of both was."""
    for when, diagnosis in (("Before", comparison.before), ("After", comparison.after)):
        if said := captures_chosen(diagnosis.run.notes, language):
            yield Paragraph((TextPiece(say(when, language) + say("colon", language), tone="label"), *said))
