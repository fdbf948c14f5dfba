# SPDX-License-Identifier: Apache-2.0
"""When a finding happened, in words: the worst events, where they lie in the step and in the timeline."""

from __future__ import annotations

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import Finding, Occurrence
from advisor.report.prose import Prose, code_prose, parse_prose, plain_prose
from advisor.report.words import say
from advisor.units import show_value

MOST_SHOWN = 5
_WHOLE_STEPS = ("overlaps", "step_windows", "start_up_steps", "step_phases")
_NAMELESS = {
    **dict.fromkeys(("gaps", "launch_pauses"), "idle"),
    **dict.fromkeys(_WHOLE_STEPS, "step_word"),
    "step_phases": "step_phases_word",
    "frequencies": "clock_word",
    "stalls": "pause_word",
    **dict.fromkeys(("unmarked_pauses", "graph_runs"), "pause_word"),
}
"""What an event without a name is called, by its table."""


class When(Struct, frozen=True):
    """One event, ready to be written in any format."""

    name: Prose
    place: str
    since_step: str
    """After the start of its step, such as `+32.1 ms`; empty where there is none."""
    lasts: str
    """Empty for an instant."""
    span: str
    """From when to when after the first event in the timeline of its rank, in ms; empty where that is not known."""
    start_ns: str
    """As recorded."""
    line: Prose
    """Where, when, how long, and its name: `rank 1, step 50, 60.8 ms after its mark, lasting 86.2 ms (aten::item)`."""


def worst_events(finding: Finding, language: Language) -> tuple[When, ...]:
    """The worst events of a finding, worst first."""
    return tuple(_describe_event(one, language) for one in finding.occurrences[:MOST_SHOWN])


def _describe_event(one: Occurrence, language: Language) -> When:
    name, place, lasts = event_name(one, language), _event_place(one, language), _duration_text(one)
    lasting = say("lasting", language, time=lasts) if lasts else ""
    brief = say("comma", language).join(filter(None, (place, _since_text(one, language), lasting)))
    return When(
        name=name,
        place=place,
        since_step=_offset_text(one.since_step_us),
        lasts=lasts,
        span=_span_text(one),
        start_ns=str(one.start_ns),
        line=_event_line(brief, name, language),
    )


def event_name(one: Occurrence, language: Language) -> Prose:
    """What an event is called: as recorded, or what it is."""
    if one.name:
        name = code_prose(one.name, 60)
        return parse_prose(say("peak_word", language), {"name": name[0]}) if one.table == "memory_peaks" else name
    word = _NAMELESS.get(one.table, "event_word")
    return plain_prose(say("window_word" if word == "step_word" and one.step is None else word, language))


def _event_place(one: Occurrence, language: Language) -> str:
    parts = (("rank", one.rank), ("step", one.step))
    return say("comma", language).join(say(word, language, items=at) for word, at in parts if at is not None)


def _duration_text(one: Occurrence) -> str:
    return show_value(one.duration_us, "us") if one.duration_us > 0 else ""


def _offset_text(us: float | None) -> str:
    if us is None:
        return ""
    return f"+{show_value(us, 'us')}" if us >= 0 else f"−{show_value(-us, 'us')}"


def _since_text(one: Occurrence, language: Language) -> str:
    """How long after the start of its step, or of the recording, it began; empty where it is all of its step, and where
    it began with the recording."""
    in_step = one.step is not None and one.since_step_us is not None
    us = one.since_step_us if in_step else one.since_start_us
    if not us:
        return say("at_start_of_step", language) if in_step and one.table not in _WHOLE_STEPS else ""
    from_start = ("after_mark", "before_mark") if one.since_mark else ("into_step", "before_step")
    name = "into_timeline" if not in_step else from_start[us < 0]
    return say(name, language, time=show_value(abs(us), "us"))


def _span_text(one: Occurrence) -> str:
    if one.since_start_us is None:
        return ""
    begin, end = one.since_start_us / 1e3, (one.since_start_us + one.duration_us) / 1e3
    return f"{begin:,.3f} – {end:,.3f} ms" if one.duration_us > 0 else f"{begin:,.3f} ms"


def _event_line(brief: str, name: Prose, language: Language) -> Prose:
    opened, _, closed = say("aside", language).partition("{words}")
    return (*plain_prose(f"{brief}{opened}"), *name, *plain_prose(closed)) if brief else name
