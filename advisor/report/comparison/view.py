# SPDX-License-Identifier: Apache-2.0
"""What is shown of a comparison in one language: words chosen, numbers formatted, lists bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from advisor.messages.text import HOLE, Language
from advisor.model.comparison import STATUSES, Comparison, Moved, Shift
from advisor.model.findings import Confidence, Diagnosis
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.items import FindingGroup, change_groups
from advisor.report.comparison.tables import DifferenceSheet, difference_sheets
from advisor.report.comparison.words import JUDGEMENTS, PARTS, say
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.prose import Prose, clean_line, code_prose, parse_prose, plain_prose
from advisor.report.run_summary import run_facts, run_line
from advisor.report.words import CAUSES, CONFIDENCES, word_for
from advisor.units import show_value

MOST_MOVED = 12
_MOST_MAIN = 3
_WORTH_SAYING = 0.3
"""From this part of what moved the step on, what moved the other way is said too."""
_FEW_STEPS = 2
KEYS = {"step": "step", "compute": "compute", "communication": "comm", "free": "idle"}
"""The names of colours, by the part of a step."""


class ComparedSide(Struct, frozen=True):
    """One of the two captures."""

    when: str
    """`before` or `after`."""
    word: str
    name: str
    line: str
    """The run in a few words."""


class TimeChange(Struct, frozen=True):
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


class AccountEntry(Struct, frozen=True):
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


class RunsLine(Struct, frozen=True):
    """One line about the runs."""

    label: str
    before: Prose
    after: Prose
    differs: bool


class ComparisonVerdict(Struct, frozen=True):
    """The answer: whether it got slower, through what, how sure that is, and how many findings changed."""

    kind: str
    """`worse`, `same`, `better`, `not-comparable` or `blind` (no times)."""
    says: str
    mainly: Prose
    findings: str
    confidence: str
    """`low`, `medium` or `high`."""
    sure: str


class ComparisonView(Struct, frozen=True):
    """All that a report of a comparison shows."""

    language: Language
    sides: tuple[ComparedSide, ComparedSide]
    verdict: ComparisonVerdict
    times: tuple[TimeChange, ...]
    """Step first."""
    entries: tuple[AccountEntry, ...]
    """The largest, then all others as one, then the step; they add up."""
    groups: tuple[FindingGroup, ...]
    sheets: tuple[DifferenceSheet, ...]
    facts: tuple[RunsLine, ...]
    notes: tuple[Prose, ...]
    version: str

    @property
    def name(self) -> str:
        """Both captures by name."""
        return f"{self.sides[0].name} → {self.sides[1].name}"

    @property
    def parts(self) -> tuple[TimeChange, ...]:
        """The times without the step itself."""
        return tuple(time for time in self.times if time.key != "step")


def comparison_view(comparison: Comparison, language: Language, rows: int) -> ComparisonView:
    """What is shown of a comparison; of each table at most this many rows."""
    return ComparisonView(
        language=language,
        sides=(_make_side("before", comparison.before, language), _make_side("after", comparison.after, language)),
        verdict=_make_verdict(comparison, language),
        times=_make_times(comparison, language),
        entries=account_entries(comparison, language),
        groups=change_groups(comparison, language),
        sheets=difference_sheets(comparison.tables, language, rows),
        facts=_make_facts(comparison, language),
        notes=tuple(parse_prose(clean_line(note.say(language), 2000)) for note in comparison.notes),
        version=clean_line(comparison.after.version, 40),
    )


def _make_side(when: str, diagnosis: Diagnosis, language: Language) -> ComparedSide:
    name = clean_line(diagnosis.run.name, 80) or say(when, language)
    return ComparedSide(when, say(when.title(), language), name, run_line(diagnosis.run, language))


# --- the verdict ---


def _make_verdict(comparison: Comparison, language: Language) -> ComparisonVerdict:
    step = comparison.step
    kind = "blind" if step is None else "not comparable" if _is_mixed(comparison) else step.status
    return ComparisonVerdict(
        kind=kind.replace(" ", "-"),
        says=say("no_time", language) if step is None else _step_says(step, comparison, language),
        mainly=_say_main_entries(step, comparison, language),
        findings=_say_counts(comparison, language),
        confidence=comparison.confidence.name,
        sure=_say_confidence(comparison, language),
    )


def _is_mixed(comparison: Comparison) -> bool:
    """Whether one of the two has no steps marked, so that its whole window stands beside a step."""
    return bool(comparison.before.run.steps) != bool(comparison.after.run.steps)


def _step_says(step: Shift, comparison: Comparison, language: Language) -> str:
    window = "" if comparison.before.run.steps or comparison.after.run.steps else "_window"
    return say(
        "mixed" if _is_mixed(comparison) else f"{step.status}{window}",
        language,
        before=show_value(step.before_us, "us"),
        after=show_value(step.after_us, "us"),
        delta=show_value(abs(step.delta_us), "us"),
        percent=percent_change(step.before_us, step.after_us),
    )


def _say_main_entries(step: Shift | None, comparison: Comparison, language: Language) -> Prose:
    """What moved the step, named in the sentence: the largest entries that moved it the same way, beyond noise."""
    if step is None or step.status == "same" or _is_mixed(comparison) or not comparison.moved:
        return ()
    sign = 1 if step.delta_us > 0 else -1
    main, against = (
        [one for one in comparison.moved if one.beyond_noise and one.delta_us * way > 0] for way in (sign, -sign)
    )
    if not main:
        return parse_prose(say("mainly_none", language))
    lost, won = (sum(abs(one.delta_us) for one in entries) for entries in (main, against))
    name = "mainly_offset" if won >= _WORTH_SAYING * lost else "mainly"
    return _fill_prose(
        say(name, language), entries=_list_entries(main, language), others=_list_entries(against, language)
    )


def _list_entries(entries: Sequence[Moved], language: Language) -> Prose:
    """The first few by name, each with its difference."""
    named = [
        (*_in_a_sentence(one, language), *plain_prose(f" {signed_amount(one.delta_us)}"))
        for one in entries[:_MOST_MAIN]
    ]
    between = plain_prose(say("listed", language))
    return tuple(piece for at, one in enumerate(named) for piece in (*(between if at else ()), *one))


def _fill_prose(sentence: str, **holes: Prose) -> Prose:
    """Words with pieces in their holes."""
    pieces = [holes[part] if at % 2 else plain_prose(part) for at, part in enumerate(HOLE.split(sentence)) if part]
    return tuple(piece for some in pieces for piece in some)


def _in_a_sentence(one: Moved, language: Language) -> Prose:
    """The name of an entry; of a collective with what counts of it, for only that part adds to the step."""
    name = entry_name(one, language)
    exposed = one.part == "communication" and one.name
    return (*plain_prose(f"{PARTS[one.part].say(language)} "), *name) if exposed else name


def _say_counts(comparison: Comparison, language: Language) -> str:
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


def _say_confidence(comparison: Comparison, language: Language) -> str:
    """`Confidence: low – one of the two holds a single step …`."""
    word = CONFIDENCES[comparison.confidence.name].say(language)
    said = f"{say('confidence', language)}{say('colon', language)}{word}"
    why = _doubt_word(comparison)
    return f"{said}{' – ' if language == 'en' else '，'}{say(why, language)}" if why else said


def _doubt_word(comparison: Comparison) -> str:
    if comparison.confidence == Confidence.medium:
        return "sure_medium"
    accounts = (comparison.before.account, comparison.after.account)
    few = any(account is None or len(account.steps) < _FEW_STEPS for account in accounts)
    return "sure_low" if comparison.confidence == Confidence.low and few and comparison.shifts else ""


# --- the step and its parts ---


def _make_times(comparison: Comparison, language: Language) -> tuple[TimeChange, ...]:
    longest = max((max(one.before_us, one.after_us) for one in comparison.shifts), default=0.0)
    stepped = bool(comparison.before.run.steps or comparison.after.run.steps)
    known = comparison.shifts
    if _is_mixed(comparison):
        known = tuple(shift.model_copy(update={"status": "not comparable"}) for shift in known)
    return tuple(_make_time(shift, longest, stepped, language) for shift in known)


def _make_time(shift: Shift, longest: float, stepped: bool, language: Language) -> TimeChange:
    key = KEYS[shift.name]
    return TimeChange(
        key=key,
        name=say("window" if key == "step" and not stepped else key, language),
        before=show_value(shift.before_us, "us"),
        after=show_value(shift.after_us, "us"),
        delta=signed_amount(shift.delta_us),
        percent=percent_change(shift.before_us, shift.after_us) if shift.delta_us else "",
        noise=f"±{show_value(shift.noise_us, 'us')}",
        status=shift.status.replace(" ", "-"),
        judged=JUDGEMENTS[shift.status].say(language),
        before_width=_bar_width(shift.before_us, longest),
        after_width=_bar_width(shift.after_us, longest),
    )


def _bar_width(us: float, longest: float) -> float:
    return round(min(max(us, 0.0) / longest, 1.0) * 100, 2) if longest > 0 else 0.0


# --- why it moved ---


def account_entries(comparison: Comparison, language: Language) -> tuple[AccountEntry, ...]:
    """The entries that explain the difference, largest first, all others as one, and their sum.

    None where a window stands beside a step: their accounts cannot be subtracted.
    """
    if not comparison.moved or _is_mixed(comparison):
        return ()
    shown = [one for one in comparison.moved[:MOST_MOVED] if one.delta_us != 0]
    rest = comparison.moved[len(shown) :]
    total = _sum_entry("step", say("total", language), comparison.moved)
    return (*(_make_entry(one, language) for one in shown), *(_rest_entry(rest, language)), total)


def _make_entry(one: Moved, language: Language) -> AccountEntry:
    return AccountEntry(
        key=KEYS[one.part],
        part=PARTS[one.part].say(language),
        name=entry_name(one, language),
        before=show_value(one.before_us, "us"),
        after=show_value(one.after_us, "us"),
        delta=signed_amount(one.delta_us),
        count=_count_change(one),
        noisy=not one.beyond_noise,
        us=one.delta_us,
    )


def entry_name(one: Moved, language: Language) -> Prose:
    """What the time went into, in words where the name is none of the profile's own."""
    if not one.name:
        return plain_prose(say(f"unnamed_{one.part}", language))
    word = word_for(CAUSES, one.name, language) if one.part == "free" else None
    return plain_prose(word) if word else code_prose(one.name, 60)


def _count_change(one: Moved) -> str:
    if one.count_before is None or one.count_after is None:
        return ""
    before, after = (show_value(_round_count(count), "count") for count in (one.count_before, one.count_after))
    return before if before == after else f"{before} → {after}"


def _round_count(count: float | None) -> float | None:
    return None if count is None else round(count, 1)


def _rest_entry(others: Sequence[Moved], language: Language) -> Iterable[AccountEntry]:
    if others:
        name = "one_other" if len(others) == 1 else "all_others"
        yield _sum_entry("rest", say(name, language, count=len(others)), others)


def _sum_entry(key: str, name: str, of: Sequence[Moved]) -> AccountEntry:
    before, after = sum(one.before_us for one in of), sum(one.after_us for one in of)
    delta = sum(one.delta_us for one in of)
    shown = (show_value(before, "us"), show_value(after, "us"), signed_amount(round(delta, 6)))
    return AccountEntry(key, "", plain_prose(name), *shown, "", not any(one.beyond_noise for one in of), delta)


# --- the runs ---


def _make_facts(comparison: Comparison, language: Language) -> tuple[RunsLine, ...]:
    sides = [
        {fact.label: fact.value for fact in run_facts(diagnosis.run, language)}
        for diagnosis in (comparison.before, comparison.after)
    ]
    labels = dict.fromkeys([*sides[0], *sides[1]])
    pairs = ((label, sides[0].get(label, ()), sides[1].get(label, ())) for label in labels)
    return tuple(RunsLine(label, before, after, before != after) for label, before, after in pairs)
