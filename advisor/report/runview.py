# SPDX-License-Identifier: Apache-2.0
"""What is shown of the run itself: what was captured, how, and with what."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.run import Run
from advisor.report.places import runs
from advisor.report.prose import Piece, Prose, clean, code, prose, words
from advisor.report.words import NOTES, WORDS, known, say
from advisor.units import show

_MOST_NOTES = 20
FEW_STEPS = 3
"""One step for the edge and two to compare: with fewer, what recurs cannot be told from what happened once."""


class Fact(Struct, frozen=True):
    """One line about the run."""

    label: str
    value: Prose


def run_line(run: Run, language: Language) -> str:
    """The run in a few words: `16 ranks · 5 steps · Ascend910B · Level1`."""
    ranks = f"{len(run.ranks)} rank" + ("s" if language == "en" and len(run.ranks) != 1 else "")
    steps = f"{len(run.steps)} step" + ("s" if language == "en" and len(run.steps) != 1 else "")
    parts = [*([ranks] if run.ranks else []), *([steps] if run.steps else []), run.chip, run.level]
    return " · ".join(clean(part, 40) for part in parts if part)


def run_facts(run: Run, language: Language) -> tuple[Fact, ...]:
    """All that is known of the run; what was not recorded is left out."""
    captures = run.captures
    known_facts: Iterable[tuple[str, Prose]] = (
        ("run_name", code(run.name) if run.name else ()),
        ("source", words(_sources(run, language))),
        ("captured", words(_captured(run, language))),
        ("recorded_steps", words(_steps(run, language))),
        ("parallel", code(_parallel(run)) if _parallel(run) else ()),
        ("framework", code(run.framework) if run.framework else ()),
        ("chip", code(run.chip) if run.chip else ()),
        ("cann", code(run.cann_version) if run.cann_version else ()),
        ("torch_npu", code(run.torch_npu_version) if run.torch_npu_version else ()),
        ("level", code(run.level) if run.level else ()),
        ("activities", code(_activities(run)) if _activities(run) else ()),
        ("size", words(show(sum(c.size_bytes for c in captures), "B")) if any(c.size_bytes for c in captures) else ()),
        ("incomplete", words(_incomplete(run, language))),
        ("notes", _notes(run, language)),
    )
    return tuple(Fact(say(name, language), value) for name, value in known_facts if value and value[0].text)


def _sources(run: Run, language: Language) -> str:
    kinds = dict.fromkeys(capture.source for capture in run.captures)
    return say("comma", language).join(known(WORDS, kind, language) or clean(kind) for kind in kinds)


def _steps(run: Run, language: Language) -> str:
    if not run.steps:
        return say("no_steps", language)
    count, numbers = len(run.steps), runs(run.steps, language)
    name = "step" if count == 1 else "steps"
    return say(
        "few_steps" if count < FEW_STEPS else "enough_steps",
        language,
        count=count,
        steps=say(name, language, items=numbers),
    )


def _captured(run: Run, language: Language) -> str:
    if not run.ranks:
        return ""
    name = "captured_of" if run.world_size > len(run.ranks) else "captured_all"
    return say(name, language, ranks=runs(run.ranks, language), count=len(run.ranks), world=run.world_size)


def _parallel(run: Run) -> str:
    sizes = ((name, getattr(run.parallel, name)) for name in ("tp", "pp", "dp", "cp", "ep"))
    return " ".join(f"{name}={size}" for name, size in sizes if size)


def _activities(run: Run) -> str:
    return ", ".join(sorted({clean(name, 20) for capture in run.captures for name in capture.activities or ()}))


def _incomplete(run: Run, language: Language) -> str:
    ranks = [capture.rank for capture in run.captures if capture.complete is False]
    return say("rank" if len(ranks) == 1 else "ranks", language, items=runs(ranks, language)) if ranks else ""


def _notes(run: Run, language: Language) -> Prose:
    """Notes are `key=value` words of the sources; one that has no words here is shown as it is."""
    pieces: list[Piece] = []
    for note in run.notes[:_MOST_NOTES]:
        name, _, value = note.partition("=")
        said = known(NOTES, name, language)
        pieces += words(say("semicolon", language)) if pieces else ()
        pieces += prose(said, {"value": _value(value)}) if said else code(note)
    return tuple(pieces)


def _value(text: str) -> Piece:
    return Piece(clean(text), code=not text.isdigit())
