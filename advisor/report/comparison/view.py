# SPDX-License-Identifier: Apache-2.0
"""What is shown of a comparison in one language: words chosen, numbers formatted, lists bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from advisor.messages.text import HOLE, Language
from advisor.model.comparison import STATUSES, Comparison, Moved, Shift
from advisor.model.findings import Confidence, Diagnosis
from advisor.report.comparison.amounts import percent, signed
from advisor.report.comparison.items import Group, groups
from advisor.report.comparison.tables import Sheet, sheets
from advisor.report.comparison.words import JUDGEMENTS, PARTS, say
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.prose import Prose, clean, code, prose, words
from advisor.report.runview import run_facts, run_line
from advisor.report.words import CAUSES, CONFIDENCES, known
from advisor.units import show

MOST_MOVED = 12
_MOST_MAIN = 3
_WORTH_SAYING = 0.3
"""From this part of what moved the step on, what moved the other way is said too."""
_FEW_STEPS = 2
KEYS = {"step": "step", "compute": "compute", "communication": "comm", "free": "idle"}
"""The names of colours, by the part of a step."""


class Side(Struct, frozen=True):
    """One of the two captures."""

    when: str
    """`before` or `after`."""
    word: str
    name: str
    line: str
    """The run in a few words."""


class Time(Struct, frozen=True):
    """One time of the mean step, before and after."""

    key: str
    """`step`, or the name of the part's colour."""
    name: str
    before: str
    after: str
    delta: str
    percent: str
    noise: str
    status: str
    judged: str
    before_width: float
    """Per cent of the longer of the two steps."""
    after_width: float


class Entry(Struct, frozen=True):
    """One entry of both accounts."""

    key: str
    """The name of the part's colour; `rest` or `step` for what is not an entry itself."""
    part: str
    name: Prose
    before: str
    after: str
    delta: str
    count: str
    noisy: bool
    us: float


class Fact(Struct, frozen=True):
    """One line about the runs."""

    label: str
    before: Prose
    after: Prose
    differs: bool


class Verdict(Struct, frozen=True):
    """The answer: whether it got slower, through what, how sure that is, and how many findings changed."""

    kind: str
    """`worse`, `same`, `better`, `not-comparable` or `blind` (no times)."""
    says: str
    mainly: Prose
    findings: str
    confidence: str
    """`low`, `medium` or `high`."""
    sure: str


class View(Struct, frozen=True):
    """All that a report of a comparison shows."""

    language: Language
    sides: tuple[Side, Side]
    verdict: Verdict
    times: tuple[Time, ...]
    """Step first."""
    entries: tuple[Entry, ...]
    """The largest, then all others as one, then the step; they add up."""
    groups: tuple[Group, ...]
    sheets: tuple[Sheet, ...]
    facts: tuple[Fact, ...]
    notes: tuple[Prose, ...]
    version: str

    @property
    def name(self) -> str:
        """Both captures by name."""
        return f"{self.sides[0].name} → {self.sides[1].name}"

    @property
    def parts(self) -> tuple[Time, ...]:
        """The times without the step itself."""
        return tuple(time for time in self.times if time.key != "step")


def view(comparison: Comparison, language: Language, rows: int) -> View:
    """What is shown of a comparison; of each table at most this many rows."""
    return View(
        language=language,
        sides=(_side("before", comparison.before, language), _side("after", comparison.after, language)),
        verdict=_verdict(comparison, language),
        times=_times(comparison, language),
        entries=entries(comparison, language),
        groups=groups(comparison, language),
        sheets=sheets(comparison.tables, language, rows),
        facts=_facts(comparison, language),
        notes=tuple(prose(clean(note.say(language), 2000)) for note in comparison.notes),
        version=clean(comparison.after.version, 40),
    )


def _side(when: str, diagnosis: Diagnosis, language: Language) -> Side:
    name = clean(diagnosis.run.name, 80) or say(when, language)
    return Side(when, say(when.title(), language), name, run_line(diagnosis.run, language))


# --- the verdict ---


def _verdict(comparison: Comparison, language: Language) -> Verdict:
    step = next((shift for shift in comparison.shifts if shift.name == "step"), None)
    kind = "blind" if step is None else "not comparable" if _is_mixed(comparison) else step.status
    return Verdict(
        kind=kind.replace(" ", "-"),
        says=say("no_time", language) if step is None else _step_says(step, comparison, language),
        mainly=_mainly(step, comparison, language),
        findings=_counted(comparison, language),
        confidence=comparison.confidence.name,
        sure=_sure(comparison, language),
    )


def _is_mixed(comparison: Comparison) -> bool:
    """Whether one of the two has no steps marked, so that its whole window stands beside a step."""
    return bool(comparison.before.run.steps) != bool(comparison.after.run.steps)


def _step_says(step: Shift, comparison: Comparison, language: Language) -> str:
    window = "" if comparison.before.run.steps or comparison.after.run.steps else "_window"
    return say(
        "mixed" if _is_mixed(comparison) else f"{step.status}{window}",
        language,
        before=show(step.before_us, "us"),
        after=show(step.after_us, "us"),
        delta=show(abs(step.delta_us), "us"),
        percent=percent(step.before_us, step.after_us),
    )


def _mainly(step: Shift | None, comparison: Comparison, language: Language) -> Prose:
    """What moved the step, named in the sentence: the largest entries that moved it the same way, beyond noise."""
    if step is None or step.status == "same" or _is_mixed(comparison) or not comparison.moved:
        return ()
    sign = 1 if step.delta_us > 0 else -1
    main, against = (
        [one for one in comparison.moved if one.beyond_noise and one.delta_us * way > 0] for way in (sign, -sign)
    )
    if not main:
        return prose(say("mainly_none", language))
    lost, won = (sum(abs(one.delta_us) for one in entries) for entries in (main, against))
    name = "mainly_offset" if won >= _WORTH_SAYING * lost else "mainly"
    return _filled(say(name, language), entries=_listed(main, language), others=_listed(against, language))


def _listed(entries: Sequence[Moved], language: Language) -> Prose:
    """The first few by name, each with its difference."""
    named = [(*_in_a_sentence(one, language), *words(f" {signed(one.delta_us)}")) for one in entries[:_MOST_MAIN]]
    between = words(say("listed", language))
    return tuple(piece for at, one in enumerate(named) for piece in (*(between if at else ()), *one))


def _filled(sentence: str, **holes: Prose) -> Prose:
    """Words with pieces in their holes."""
    pieces = [holes[part] if at % 2 else words(part) for at, part in enumerate(HOLE.split(sentence)) if part]
    return tuple(piece for some in pieces for piece in some)


def _in_a_sentence(one: Moved, language: Language) -> Prose:
    """The name of an entry; of a collective with what counts of it, for only that part adds to the step."""
    name = entry_name(one, language)
    exposed = one.part == "communication" and one.name
    return (*words(f"{PARTS[one.part].say(language)} "), *name) if exposed else name


def _counted(comparison: Comparison, language: Language) -> str:
    """How many findings are new, worse, better … in one sentence."""
    if not comparison.changes:
        return say("no_findings", language)
    counts = [
        say("count", language, count=len(found), word=STATUS_WORDS[status].say(language))
        for status in STATUSES
        if (found := comparison.having(status))
    ]
    said = say("findings_are", language, counts=say("comma", language).join(counts))
    if comparison.having("new", "worse", "not comparable"):
        return said
    return f"{say('none_worse', language)}{' ' if language == 'en' else ''}{said}"


def _sure(comparison: Comparison, language: Language) -> str:
    """`Confidence: low – one of the two holds a single step …`."""
    word = CONFIDENCES[comparison.confidence.name].say(language)
    said = f"{say('confidence', language)}{say('colon', language)}{word}"
    why = _doubt(comparison)
    return f"{said}{' – ' if language == 'en' else '，'}{say(why, language)}" if why else said


def _doubt(comparison: Comparison) -> str:
    if comparison.confidence == Confidence.medium:
        return "sure_medium"
    accounts = (comparison.before.account, comparison.after.account)
    few = any(account is None or len(account.steps) < _FEW_STEPS for account in accounts)
    return "sure_low" if comparison.confidence == Confidence.low and few and comparison.shifts else ""


# --- the step and its parts ---


def _times(comparison: Comparison, language: Language) -> tuple[Time, ...]:
    longest = max((max(one.before_us, one.after_us) for one in comparison.shifts), default=0.0)
    stepped = bool(comparison.before.run.steps or comparison.after.run.steps)
    known = comparison.shifts
    if _is_mixed(comparison):
        known = tuple(shift.model_copy(update={"status": "not comparable"}) for shift in known)
    return tuple(_time(shift, longest, stepped, language) for shift in known)


def _time(shift: Shift, longest: float, stepped: bool, language: Language) -> Time:
    key = KEYS[shift.name]
    return Time(
        key=key,
        name=say("window" if key == "step" and not stepped else key, language),
        before=show(shift.before_us, "us"),
        after=show(shift.after_us, "us"),
        delta=signed(shift.delta_us),
        percent=percent(shift.before_us, shift.after_us) if shift.delta_us else "",
        noise=f"±{show(shift.noise_us, 'us')}",
        status=shift.status.replace(" ", "-"),
        judged=JUDGEMENTS[shift.status].say(language),
        before_width=_width(shift.before_us, longest),
        after_width=_width(shift.after_us, longest),
    )


def _width(us: float, longest: float) -> float:
    return round(min(max(us, 0.0) / longest, 1.0) * 100, 2) if longest > 0 else 0.0


# --- why it moved ---


def entries(comparison: Comparison, language: Language) -> tuple[Entry, ...]:
    """The entries that explain the difference, largest first, all others as one, and their sum.

    None where a window stands beside a step: their accounts cannot be subtracted.
    """
    if not comparison.moved or _is_mixed(comparison):
        return ()
    shown = [one for one in comparison.moved[:MOST_MOVED] if one.delta_us != 0]
    rest = comparison.moved[len(shown) :]
    total = _sum("step", say("total", language), comparison.moved)
    return (*(_entry(one, language) for one in shown), *(_rest(rest, language)), total)


def _entry(one: Moved, language: Language) -> Entry:
    return Entry(
        key=KEYS[one.part],
        part=PARTS[one.part].say(language),
        name=entry_name(one, language),
        before=show(one.before_us, "us"),
        after=show(one.after_us, "us"),
        delta=signed(one.delta_us),
        count=_count(one),
        noisy=not one.beyond_noise,
        us=one.delta_us,
    )


def entry_name(one: Moved, language: Language) -> Prose:
    """What the time went into, in words where the name is none of the profile's own."""
    if not one.name:
        return words(say(f"unnamed_{one.part}", language))
    word = known(CAUSES, one.name, language) if one.part == "free" else None
    return words(word) if word else code(one.name, 60)


def _count(one: Moved) -> str:
    if one.count_before is None or one.count_after is None:
        return ""
    before, after = (show(_tidy(count), "count") for count in (one.count_before, one.count_after))
    return before if before == after else f"{before} → {after}"


def _tidy(count: float | None) -> float | None:
    return None if count is None else round(count, 1)


def _rest(others: Sequence[Moved], language: Language) -> Iterable[Entry]:
    if others:
        name = "one_other" if len(others) == 1 else "all_others"
        yield _sum("rest", say(name, language, count=len(others)), others)


def _sum(key: str, name: str, of: Sequence[Moved]) -> Entry:
    before, after = sum(one.before_us for one in of), sum(one.after_us for one in of)
    delta = sum(one.delta_us for one in of)
    shown = (show(before, "us"), show(after, "us"), signed(round(delta, 6)))
    return Entry(key, "", words(name), *shown, "", not any(one.beyond_noise for one in of), delta)


# --- the runs ---


def _facts(comparison: Comparison, language: Language) -> tuple[Fact, ...]:
    sides = [
        {fact.label: fact.value for fact in run_facts(diagnosis.run, language)}
        for diagnosis in (comparison.before, comparison.after)
    ]
    labels = dict.fromkeys([*sides[0], *sides[1]])
    pairs = ((label, sides[0].get(label, ()), sides[1].get(label, ())) for label in labels)
    return tuple(Fact(label, before, after, before != after) for label, before, after in pairs)
