# SPDX-License-Identifier: Apache-2.0
"""Which two captures are set side by side: their names, their runs in a few words, and which were not read."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.blocks import Paragraph
from advisor.report.comparison.words import say
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, plain_prose
from advisor.report.run_summary import captures_chosen, run_line


def compared_sides(comparison: Comparison, language: Language) -> Iterator[tuple[str, str, str]]:
    """Of both captures when they were made, their name, and the run in a few words."""
    for when, diagnosis in (("before", comparison.before), ("after", comparison.after)):
        name = clean_line(diagnosis.run.name, 80) or say(when, language)
        yield say(when.title(), language), name, run_line(diagnosis.run, language)


def side_paragraphs(comparison: Comparison, language: Language) -> Iterator[Paragraph]:
    """A line about each of both captures."""
    for word, name, line in compared_sides(comparison, language):
        known = (code_prose(name), *([plain_prose(line)] if line else []))
        yield Paragraph((TextPiece(word + say("colon", language)), *join_prose(" · ", known)))


def sides_chosen(comparison: Comparison, language: Language) -> Iterator[Paragraph]:
    """A sentence for each side of which more was found than read; nothing where all of both was."""
    for when, diagnosis in (("Before", comparison.before), ("After", comparison.after)):
        if said := captures_chosen(diagnosis.run.notes, language):
            yield Paragraph((TextPiece(say(when, language) + say("colon", language), tone="label"), *said))


def sides_in_title(comparison: Comparison, language: Language) -> tuple[Prose, str]:
    """From which capture to which, as it stands at the top of a page, and in its title."""
    (_, before, _), (_, after, _) = compared_sides(comparison, language)
    return (*code_prose(before), TextPiece(" → "), *code_prose(after)), f"{before} → {after}"
