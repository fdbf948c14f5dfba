# SPDX-License-Identifier: Apache-2.0
"""The score as a page: `docs/accuracy.md`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarks.accuracy.mark import HARMLESS_SHARE, WORTH, Mark
from benchmarks.accuracy.plan import ABOVE, AT, BELOW, plan
from benchmarks.accuracy.score import Score, by_fault, by_rule, healthy, ratio, strong, total
from corpus.answers import ANSWERS, ANSWERS_ON_THE_RANK

TARGETS = (
    ("precision of causes", 0.95),
    ("recall of causes", 0.95),
    ("recall of strong single faults", 1.0),
    ("precision at strong single faults", 1.0),
    ("first finding is the strongest cause", 0.95),
    ("saving within 25 % of the truth", 0.8),
    ("healthy jobs left in peace", 0.98),
)


def measures(marks: Sequence[Mark]) -> list[float | None]:
    """The figures of TARGETS, in their order."""
    all_, hard, well = total(marks), strong(marks), healthy(marks)
    return [
        all_.precision, all_.recall, hard.recall, hard.precision, ratio(all_.leads, all_.lead_cases),
        ratio(all_.close, all_.savings), ratio(well.kept_quiet, well.quiet_cases),
    ]  # fmt: skip


def met(marks: Sequence[Mark]) -> bool:
    """Whether every target is reached."""
    return all(
        value is not None and value >= target for value, (_, target) in zip(measures(marks), TARGETS, strict=True)
    )


def page(
    marks: Sequence[Mark], theirs: Sequence[Mark], mapping: Mapping[str, Sequence[str]], seconds: tuple[float, float]
) -> str:
    """The whole page. `seconds` are those of making all captures and of everything."""
    parts = [_head(marks, seconds), _summary(marks)]
    if theirs:
        parts.append(_beside(marks, theirs))
    parts += [_faults(marks), _recordings(marks), _rules(marks), _split()]
    if theirs:
        parts.append(_mapping(mapping))
    return "\n".join(parts)


def _head(marks: Sequence[Mark], seconds: tuple[float, float]) -> str:
    all_ = total(marks)
    return f"""# Accuracy

How often a diagnosis names the cause of a slow step, and how often it names what is none.

Written by `python -m benchmarks.accuracy`. {all_.cases} generated captures with known causes ([corpus](corpus.md))
are diagnosed and marked; {all_.quiet_cases} of them are healthy or hold a trouble too small to act on. On two cores,
making them took {seconds[0]:.0f} s, and diagnosing them with it {seconds[1]:.0f} s.
Faults put into captures of real devices are marked in [accuracy on real captures](accuracy-real.md).

A cause is *wanted* when the same job without it is at least {WORTH:.0%} faster; one that wins less than
{HARMLESS_SHARE:.0%} must not be named; in between either is right. What counts is each finding of medium severity or
above that the report does not show under another (`benchmarks/standing.py`). A finding is right when its rule names a
cause that was injected (the key is below), wrong otherwise. The truth of a saving is the step time of the same job, run
again without that cause.
"""


def _summary(marks: Sequence[Mark]) -> str:
    lines = ["## In all", "", "| | target | advisor |", "|---|---|---|"]
    for (name, target), value in zip(TARGETS, measures(marks), strict=True):
        lines.append(f"| {name} | {target:.2f} | {_share(value)} |")
    return "\n".join([*lines, ""])


def _beside(marks: Sequence[Mark], theirs: Sequence[Mark]) -> str:
    """Both tools on the captures that both were given."""
    given = {mark.case for mark in theirs}
    ours = [mark for mark in marks if mark.case in given]
    silent = sum(not mark.reported for mark in theirs)
    lines = [
        "## Beside msprof-analyze",
        "",
        f"On {'all' if len(theirs) == len(marks) else f'{len(theirs)}'} of these captures"
        f"{'' if len(theirs) == len(marks) else ', taken evenly from all'}; "
        f"{silent} of its runs ended without a report. It estimates no savings.",
        "",
        "| | advisor | msprof-analyze |",
        "|---|---|---|",
    ]
    for (name, _), value, other in zip(TARGETS, measures(ours), measures(theirs), strict=True):
        if "saving" not in name:
            lines.append(f"| {name} | {_share(value)} | {_share(other)} |")
    mine, others = by_fault(ours), by_fault(theirs)
    lines += ["", "| fault | wanted | advisor finds | msprof-analyze finds |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {score.wanted} | {_share(score.recall)} | {_share(others[name].recall)} |"
        for name, score in mine.items()
        if score.wanted
    ]
    return "\n".join([*lines, ""])


def _faults(marks: Sequence[Mark]) -> str:
    lines = [
        "## By fault",
        "",
        "The place among the findings is the median one: 1 where the cause leads the report.",
        "",
        "| fault | wanted | found | wrong beside it | place among the findings | right rank, stage or link "
        "| saving: median error | within 25 % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {score.wanted} | {_share(score.recall)} | {score.wrong} | {_marked(score)} |"
        for name, score in by_fault(marks).items()
    ]
    return "\n".join([*lines, ""])


def _recordings(marks: Sequence[Mark]) -> str:
    lines = [
        "## By way of recording",
        "",
        "What leaves less than the usual exports, or says it otherwise, stands in `corpus/recordings.py`.",
        "Left in peace is what was healthy or too weak to be named.",
        "",
        "| recording | captures | wanted | found | precision | left in peace | savings within 25 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(mark.case.recording for mark in marks):
        score = total(mark for mark in marks if mark.case.recording == name)
        shares = (
            score.recall, score.precision, ratio(score.kept_quiet, score.quiet_cases),
            ratio(score.close, score.savings),
        )  # fmt: skip
        lines.append(f"| {name or 'usual'} | {score.cases} | {score.wanted} | {' | '.join(map(_share, shares))} |")
    return "\n".join([*lines, ""])


def _rules(marks: Sequence[Mark]) -> str:
    lines = [
        "## By rule",
        "",
        "A cause that several rules may name counts for the one that did, and for each of them where none did.",
        "",
        "| rule | claims | precision | wanted | recall | place among the findings | right rank, stage or link "
        "| saving: median error | within 25 % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {rule} | {score.claims} | {_share(score.precision)} | {score.wanted} | {_share(score.recall)} "
        f"| {_marked(score)} |"
        for rule, score in by_rule(marks).items()
    ]
    return "\n".join([*lines, ""])


def _marked(score: Score) -> str:
    """Place among the findings, whether the right place was named, and the error of the saving."""
    place = _median(score.positions)
    return (
        f"{'–' if place is None else f'{place:g}'} | {_share(ratio(score.placed, score.places))} "
        f"| {_signed(_median(score.errors))} | {_share(ratio(score.close, score.savings))}"
    )


def _answers(fault: str) -> str:
    on_the_rank = (f"`{rule}` on that rank alone" for rule in sorted(ANSWERS_ON_THE_RANK.get(fault, ())))
    return ", ".join([*(f"`{rule}`" for rule in sorted(ANSWERS[fault])), *on_the_rank])


def _split() -> str:
    counts = {name: sum(1 for _ in plan(name)) for name in ("calibration", "scoring")}
    answers = "\n".join(f"| {fault} | {_answers(fault)} |" for fault in ANSWERS)
    return f"""## Calibration and scoring

Thresholds were set on {counts["calibration"]} captures of one split and are marked on {counts["scoring"]} of another:
other seeds (from 1000 on; from 5001 on), and other workloads (in the scoring split models are larger or take other
inputs, have another number of steps, links are faster and durations vary more: `benchmarks/accuracy/plan.py`).
Strengths are
{BELOW:g}, {AT:g} and {ABOVE:g} times what an expert would call a problem. Exports and levels (text and database, Level1
and Level2) alternate.

## Key

| fault | named by any of |
|---|---|
{answers}

Two jobs have habits that cost time where a fault makes them matter: the host of one with experts waits for the counts
of their tokens, and a model of one layer reduces all its gradients at once. What names them, as it would name
`blocking-copies` and `exposed-communication`, is right where the same job without the habit is at least 2% faster.
"""


def _mapping(mapping: Mapping[str, Sequence[str]]) -> str:
    lines = [
        "## How msprof-analyze is marked",
        "",
        "Its report knows no causes. Each problem it lists counts as a claim; any of these names the fault:",
        "",
        "| fault | named by any of |",
        "|---|---|",
    ]
    lines += [f"| {fault} | {', '.join(names) or 'nothing it can say'} |" for fault, names in mapping.items()]
    return "\n".join([*lines, ""])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{math.floor(value * 1000) / 1000:.3f}".rstrip("0").rstrip(".")


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.0%}"


def _median(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None
