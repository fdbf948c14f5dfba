# SPDX-License-Identifier: Apache-2.0
"""What is said of both captures of a comparison: their names, their runs in a few words, which were not read, what
their times are of; and of two that do not compare why, and both times without calling one the faster."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from advisor.messages.text import Language, TimesOf
from advisor.model.comparison import Barrier, Comparison, Shift, ShiftStatus
from advisor.report.blocks import Paragraph
from advisor.report.comparison.words import BARRIERS, say
from advisor.report.prose import (
    BETWEEN_SENTENCES,
    Prose,
    TextPiece,
    clean_line,
    code_prose,
    join_prose,
    plain_prose,
)
from advisor.report.run_summary import captures_chosen, run_line
from advisor.units import show_value


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


def compared_times(comparison: Comparison) -> TimesOf:
    """What the times of both captures are of; where they are of different things, those of the first."""
    return comparison.before.run.times_of


def summed_times(comparison: Comparison) -> TimesOf:
    """The same for sums that stand side by side, which are called by neither where they are of different things."""
    return "work" if "times" in comparison.barriers else comparison.before.run.times_of


def shift_status(shift: Shift, comparison: Comparison) -> ShiftStatus:
    """What became of a time: nothing that could be told where the two captures do not compare."""
    return "not comparable" if comparison.apart else shift.status


def say_barriers(comparison: Comparison, barriers: Collection[Barrier], language: Language) -> str:
    """Why they do not compare, in a half sentence for each reason."""
    runs = comparison.before.run, comparison.after.run
    first, second = (say(f"a_{run.times_of}", language) for run in runs)
    said = (BARRIERS[barrier].fill(language, first=first, second=second) for barrier in barriers)
    return say("semicolon", language).join(said)


def say_both_times(step: Shift, comparison: Comparison, language: Language) -> str:
    """Each of the two times for what it is, side by side."""
    runs = (comparison.before.run, step.before_us), (comparison.after.run, step.after_us)
    before, after = (say(f"time_of_{run.times_of}", language, time=show_value(us, "us")) for run, us in runs)
    return say("both_times", language, before=before, after=after)


def with_both_times(said: str, comparison: Comparison, language: Language) -> str:
    """A sentence that says why two captures do not compare, and behind it both times where they are known."""
    if comparison.step is None:
        return said
    return f"{said}{BETWEEN_SENTENCES[language]}{say_both_times(comparison.step, comparison, language)}"
