# SPDX-License-Identifier: Apache-2.0
"""The answer of a comparison: whether it got slower, through what, how sure that is, and how many findings changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.comparison.conditions import conditions_between
from advisor.comparison.noise import WIDE, Noise
from advisor.messages.text import HOLE, Language
from advisor.model.comparison import STATUSES, Comparison, Moved, Shift
from advisor.model.findings import Confidence
from advisor.report.comparison.account import entry_name
from advisor.report.comparison.amounts import percent_change, signed_amount
from advisor.report.comparison.apart import compared_times, say_barriers, with_both_times
from advisor.report.comparison.words import PARTS, say
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.prose import BETWEEN_SENTENCES, Prose, join_prose, parse_prose, plain_prose
from advisor.report.words import CONFIDENCES, Wording
from advisor.units import show_value

_MOST_MAIN = 3
_WORTH_SAYING = 0.3
"""From this part of what moved the step on, what moved the other way is said too."""
_FEW_STEPS = 2


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


def compare_verdict(comparison: Comparison, language: Language) -> ComparisonVerdict:
    """The answer in words."""
    step = comparison.step
    kind = "not comparable" if comparison.apart else "blind" if step is None else step.status
    return ComparisonVerdict(
        kind=kind.replace(" ", "-"),
        says=_verdict_says(step, comparison, language),
        mainly=_say_main_entries(step, comparison, language),
        findings=_say_counts(comparison, language),
        confidence=comparison.confidence.name,
        sure=_say_confidence(comparison, language),
    )


def _verdict_says(step: Shift | None, comparison: Comparison, language: Language) -> str:
    """What became of the time, unless the two do not compare: then why."""
    if comparison.apart:
        why = say("apart", language, why=say_barriers(comparison, comparison.apart, language))
        return with_both_times(why, comparison, language)
    return say("no_time", language) if step is None else _step_says(step, comparison, language)


def _step_says(step: Shift, comparison: Comparison, language: Language) -> str:
    times_of = compared_times(comparison)
    said = "unsure" if step.status == "same" and _is_large(step) else step.status
    return say(
        said if times_of == "step" else f"{said}_window",
        language,
        times_of,
        before=show_value(step.before_us, "us"),
        after=show_value(step.after_us, "us"),
        delta=show_value(abs(step.delta_us), "us"),
        percent=percent_change(step.before_us, step.after_us),
    )


def _is_large(step: Shift) -> bool:
    """Whether it differs by more than may go unnoticed: then nobody should read that nothing changed."""
    return abs(step.delta_us) > WIDE * max(step.before_us, step.after_us)


def _say_main_entries(step: Shift | None, comparison: Comparison, language: Language) -> Prose:
    """What moved the step, named in the sentence: the largest entries that moved it the same way, beyond noise."""
    if step is None or step.status == "same" or comparison.apart or not comparison.moved:
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
    return join_prose(say("listed", language), named)


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
    counts = say("comma", language).join(say_status_counts(comparison, say, language))
    said = say("findings_are", language, counts=counts)
    if comparison.having("new", "worse", "not comparable"):
        return said
    return f"{say('none_worse', language)}{BETWEEN_SENTENCES[language]}{said}"


def say_status_counts(comparison: Comparison, wording: Wording, language: Language) -> Iterator[str]:
    """How many findings are new, how many worse and so on, in the words of a kind of document."""
    for status in STATUSES:
        if found := comparison.having(status):
            yield wording("count", language, count=len(found), word=STATUS_WORDS[status].say(language))


def _say_confidence(comparison: Comparison, language: Language) -> str:
    """`Confidence: low – one of the two holds a single step …`."""
    word = CONFIDENCES[comparison.confidence.name].say(language)
    said = f"{say('confidence', language)}{say('colon', language)}{word}"
    why = say_doubt(comparison, language)
    return f"{said}{' – ' if language == 'en' else '，'}{why}" if why else said


def _why_medium(comparison: Comparison) -> Iterator[str]:
    """The names of what lowers the confidence of captures that compare and hold several steps."""
    noise = Noise(comparison.before, comparison.after, comparison.tolerance)
    if conditions_between(comparison.before, comparison.after, singles=noise.singles, wide=noise.is_wide).differ:
        yield "sure_medium"
    if noise.is_wide:
        yield "sure_medium_wide"


def say_doubt(comparison: Comparison, language: Language) -> str:
    """Why the comparison is not sure; nothing where it is, or nothing tells."""
    if comparison.barriers:
        return say_barriers(comparison, comparison.barriers, language)
    if comparison.confidence == Confidence.medium:
        return say("semicolon", language).join(say(name, language) for name in _why_medium(comparison))
    accounts = (comparison.before.account, comparison.after.account)
    few = sum(account is None or len(account.steps) < _FEW_STEPS for account in accounts)
    if comparison.confidence != Confidence.low or not (few and comparison.shifts):
        return ""
    if compared_times(comparison) != "step":
        return say("sure_low_unmarked", language)
    return say("sure_low_both" if few > 1 else "sure_low", language)
