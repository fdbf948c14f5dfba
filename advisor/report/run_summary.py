# SPDX-License-Identifier: Apache-2.0
"""What is shown of the run itself: what was captured, how, and with what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from advisor.messages.text import Language
from advisor.model.run import InputNote, Run
from advisor.report.blocks import Blocks, FactLine, Grid, bullet_list, grid_of
from advisor.report.columns import COLUMNS
from advisor.report.places import number_ranges
from advisor.report.prose import (
    BETWEEN_SENTENCES,
    Prose,
    TextPiece,
    clean_line,
    code_prose,
    join_prose,
    parse_prose,
    plain_prose,
)
from advisor.report.words import NOTES, WORDS, say, word_for
from advisor.units import show_value

_ENGINE_COLUMNS = ("engine_phase", "steps", "requests", "tokens", "apart_us", "engine_idle", "by")
_EXPORTS = ("text", "database", "text+database")
_OF_MINDSPORE = "FRAMEWORK"
"""The folder in a capture of MindSpore whose files bear the names of those of its old profiler."""
_MOST_NOTES = 20
_MOST_NAMES = 2
_LONGEST_SIGN = 100
FEW_STEPS = 3
"""One step for the edge and two to compare: with fewer, what recurs cannot be told from what happened once."""


def run_line(run: Run, language: Language) -> str:
    """The run in a few words: `16 ranks · 5 steps · Ascend910B · Level1`."""
    counts = (("rank", len(run.ranks)), ("step", len(run.steps)))
    said = [f"{count} {name}{'s' if language == 'en' and count != 1 else ''}" for name, count in counts if count]
    return " · ".join(clean_line(part, 40) for part in (*said, run.chip, run.level) if part)


def run_title(run: Run, language: Language) -> Blocks:
    """Its name and the same few words, as far as they are known, below the title of a document."""
    facts = tuple(said for said in (code_prose(run.name, 80), plain_prose(run_line(run, language))) if said[0].text)
    return (FactLine(facts),) if facts else ()


def run_facts(run: Run, language: Language) -> Mapping[str, Prose]:
    """All that is known of the run, by what it is called; what was not recorded is left out."""
    size = sum(capture.size_bytes for capture in run.captures)
    known_facts: Iterable[tuple[str, Prose]] = (
        ("run_name", _named(run.name)),
        ("source", plain_prose(_say_sources(run, language))),
        ("captured", plain_prose(_say_captured(run, language))),
        ("recorded_steps", plain_prose(_say_steps(run, language))),
        ("parallel", _named(_parallel_sizes(run))),
        ("framework", _named(run.framework)),
        ("workload", _say_job(run, "workload", language)),
        ("stack", _say_job(run, "stack", language)),
        ("chip", _named(run.chip)),
        ("cann", _named(run.cann_version)),
        ("torch_npu", _named(run.torch_npu_version)),
        ("level", _named(run.level)),
        ("activities", _named(_activity_names(run))),
        ("size", plain_prose(show_value(size, "B") if size else "")),
        ("incomplete", plain_prose(_say_incomplete(run, language))),
        ("notes", _say_notes(run, language)),
    )
    return {say(name, language): value for name, value in known_facts if value and value[0].text}


def run_list(run: Run, language: Language, **measured: Prose) -> Blocks:
    """The same as a list, and what was `measured` of it, by the name of its word."""
    colon = say("colon", language)
    told = {say(name, language): value for name, value in measured.items() if value and value[0].text}
    facts = {**run_facts(run, language), **told}.items()
    return bullet_list((TextPiece(label + colon, tone="label"), *value) for label, value in facts)


def captures_chosen(notes: Sequence[InputNote], language: Language) -> Prose:
    """Which captures this is about, how many others there are, and how many nobody parsed and which those are, and
    which lie inside of another one; empty where it was all."""
    told = {note.about: note for note in notes[:_MOST_NOTES]}
    several = "one_of_processes" if "at_once_captures" in told else "one_of_several"
    said = (
        _sentence_of_names(several, "chosen", told, language),
        parse_prose(_sentence_of_count("not_read", told.get("other_captures"), language)),
        parse_prose(_sentence_of_count("not_parsed", told.get("unparsed_captures"), language)),
        _sentence_of_names("not_parsed_names", "unparsed_names", told, language),
        _sentence_of_names("inner_not_read", "inner_captures", told, language),
    )
    return join_prose(BETWEEN_SENTENCES[language], filter(None, said))


def to_read_first(run: Run, language: Language) -> Prose:
    """What to diagnose before anything is recorded again, because it holds what is missing; empty for most captures."""
    raw = any(note.about == "raw_beside" for note in run.notes)
    name = "summary_only" if run.is_summary else "raw_beside_only" if raw else ""
    return parse_prose(say(name, language)) if name else ()


def _sentence_of_names(name: str, about: str, told: Mapping[str, InputNote], language: Language) -> Prose:
    """The sentence with the first of the names that a note tells, where it does."""
    names = told[about].names if about in told else ()
    if not names:
        return ()
    more = ", …" if len(names) > _MOST_NAMES else ""
    shown = TextPiece(clean_line(", ".join(names[:_MOST_NAMES])) + more, code=True)
    return parse_prose(say(name, language, count=len(names)), {about: shown})


def _sentence_of_count(name: str, note: InputNote | None, language: Language) -> str:
    """The sentence with the count of a note; nothing where there is none."""
    return "" if note is None or note.count is None else say(name, language, count=note.count)


def engine_grid(run: Run, language: Language) -> Grid | None:
    """The steps of a serving engine by what they do; None where nothing tells them."""
    if not run.job.engine:
        return None
    heads = (word_for(COLUMNS, name, language) or say(name, language) for name in _ENGINE_COLUMNS)
    rows = (
        (
            say(f"engine_{one.phase}", language),
            *(show_value(value, "count") for value in (one.steps, one.requests, one.tokens)),
            *(show_value(us, "us") for us in (one.apart_us, one.idle_us)),
            say(f"engine_by_{one.by}", language),
        )
        for one in run.job.engine
    )
    return grid_of(heads, rows, (False, *[True] * 5, False), subject=0)


def _named(name: str) -> Prose:
    return code_prose(name) if name else ()


def _say_sources(run: Run, language: Language) -> str:
    kinds = dict.fromkeys(capture.source for capture in run.captures)
    return say("comma", language).join(word_for(WORDS, kind, language) or clean_line(kind) for kind in kinds)


def _reason_for_no_steps(run: Run) -> str:
    if run.recorder == "msprof":
        return "no_steps_of_msprof"
    of_mindspore = run.framework == "MindSpore" and {capture.source for capture in run.captures} == {"database"}
    return "no_steps_in_database" if of_mindspore else "no_steps"


def _say_steps(run: Run, language: Language) -> str:
    if run.unplaced_steps and not run.steps:
        numbers = number_ranges(run.unplaced_steps, language)
        return say("unplaced_steps", language, count=len(run.unplaced_steps), steps=numbers)
    if not run.steps:
        return say(_reason_for_no_steps(run), language)
    count, numbers = len(run.steps), number_ranges(run.steps, language)
    steps = say("step" if count == 1 else "steps", language, items=numbers)
    said = say("few_steps" if count < FEW_STEPS else "enough_steps", language, count=count, steps=steps)
    of_model = run.recorder == "msprof" and run.job.executes_model
    return say("steps_of_model", language, steps=said) if of_model else said


def _say_captured(run: Run, language: Language) -> str:
    if not run.ranks:
        return ""
    name = "captured_of" if run.world_size > len(run.ranks) else "captured_all"
    return say(name, language, ranks=number_ranges(run.ranks, language), count=len(run.ranks), world=run.world_size)


def _say_job(run: Run, about: str, language: Language) -> Prose:
    """What ran, or what drove it, and what told."""
    job = run.job
    kind = say(f"job_{job.half or job.phase or job.workload}", language) if job.workload else ""
    sign = next((one for one in job.signs if one.about == about), None)
    value = kind if about == "workload" else job.stack
    if sign is None or not value:
        return plain_prose(value)
    name = TextPiece(clean_line(sign.name, _LONGEST_SIGN), code=True)
    return parse_prose(say(f"seen_{sign.seen_as}", language), {"value": TextPiece(value), "name": name})


def _parallel_sizes(run: Run) -> str:
    sizes = ((name, getattr(run.parallel, name)) for name in ("tp", "pp", "dp", "cp", "ep"))
    return " ".join(f"{name}={size}" for name, size in sizes if size)


def _activity_names(run: Run) -> str:
    return ", ".join(sorted({clean_line(name, 20) for capture in run.captures for name in capture.activities or ()}))


def _say_incomplete(run: Run, language: Language) -> str:
    ranks = [capture.rank for capture in run.captures if capture.complete is False]
    return say("rank" if len(ranks) == 1 else "ranks", language, items=number_ranges(ranks, language)) if ranks else ""


def _say_notes(run: Run, language: Language) -> Prose:
    """Notes of the sources; one that has no words here is shown as it is.

    Before them stands whether nobody has tried yet how the recorder is read.
    """
    untried = [parse_prose(say("untried", language))] if is_untried(run) else []
    told = [_say_note(note, language) for note in run.notes[:_MOST_NOTES]]
    return join_prose(say("semicolon", language), [*untried, *told])


def is_untried(run: Run) -> bool:
    """Whether the present profiler of MindSpore recorded, of which no public capture is known."""
    by_framework = any(one.source in _EXPORTS and not one.recorder for one in run.captures)
    return run.framework == "MindSpore" and (by_framework or run.name == _OF_MINDSPORE)


def _say_note(note: InputNote, language: Language) -> Prose:
    value = ", ".join(note.names) if note.count is None else str(note.count)
    said, told = word_for(NOTES, note.about, language), TextPiece(clean_line(value), code=note.count is None)
    return parse_prose(said, {"value": told}) if said else code_prose(f"{note.about}={value}")
