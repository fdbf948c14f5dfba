# SPDX-License-Identifier: Apache-2.0
"""The answer in one line: where the time goes, and what to fix first, or what is known where no cause is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.findings import (
    WORTH_SHARE,
    Confidence,
    Diagnosis,
    Finding,
    Measure,
    Severity,
    is_grave_doubt,
    seen_by_chance,
    unexplained_part,
    wins_at_most,
)
from advisor.model.run import UNEVEN
from advisor.report.diagnosis.cards import Card, Maker, describe_saving, say_category
from advisor.report.diagnosis.symptoms import folded_under, symptom_fingerprints
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, parse_prose
from advisor.report.time_split import TimePart
from advisor.report.words import say
from advisor.units import show_value

LEAST_SHARE = 0.005
"""Below this part of the step nothing is called the next gain: it is the part that shares are rounded to."""
MUCH = 0.10
"""An unexplained part of the step above this is said beside a cause that is smaller than it: free or exposed time above
10 % calls for attention in the tuning guides of MindStudio and MindSpeed-LLM."""

_LONGEST_PLACE = 80
"""Letters of a module in the first line: more of them would hide what the line is about."""

LeadKind = Literal["fix", "look", "record", "fine", "blind"]


class Headline(Struct, frozen=True):
    """The answer in one line, and what stands beside it."""

    kind: LeadKind
    """A cause to fix; a symptom without one; a capture that cannot be trusted; nothing to fix; nothing checked."""
    time: str
    """Where the time goes; empty where the capture does not tell."""
    label: str
    first: Card | None
    """The finding that leads; None where there is nothing to fix."""
    says: str
    """What to say where there is nothing to fix first."""
    won: str = ""
    """What fixing it wins; empty where it is not estimated, and of a symptom, whose time is no gain."""
    place: Prose = ()
    """Where in the model its operator takes most of its time; empty where calls of modules were not recorded."""
    beyond: Prose = ()
    """Beside a cause: what stays unexplained; beside a capture that cannot be trusted nothing. Where nothing needs
    fixing: where the next per cent would be."""
    doubts: Prose = ()
    """What of the capture makes the numbers doubtful, where that does not lead itself."""

    @property
    def remarks(self) -> tuple[Prose, ...]:
        """What stands under the answer, a sentence each."""
        return tuple(filter(None, (self.beyond, self.doubts)))


def make_headline(
    diagnosis: Diagnosis, cards: Sequence[Card], parts: Sequence[TimePart], language: Language
) -> Headline:
    """What a report says first; `cards` are those of the findings, in their order, `parts` those of the mean step."""
    time = time_sentence(diagnosis, parts, language)
    kind, leading = first_findings(diagnosis)
    if leading:
        lead = leading[0]
        first = next(card for card in cards if card.finding is lead)
        beyond = () if kind == "record" else _say_unexplained(diagnosis, lead, cards, language)
        wins = first.saving if first.saving_time else _say_explained(lead, diagnosis, language)
        won = wins if kind == "fix" else ""
        doubts = say_doubts(diagnosis, lead, language)
        place = _say_place(lead, language)
        return Headline(kind, time, say(f"lead_{kind}", language), first, "", won, place, beyond, doubts)
    doubts = say_doubts(diagnosis, None, language)
    if kind == "blind":
        return Headline("blind", time, "", None, say_unchecked(diagnosis, language), doubts=doubts)
    gain = () if diagnosis.asked else _next_gain(diagnosis, language)  # other rules may know of more
    return Headline("fine", time, "", None, nothing_to_fix(diagnosis, language), beyond=gain, doubts=doubts)


def _say_place(lead: Finding, language: Language) -> Prose:
    """The module in which most of the time of an operator lies, and how much of it that is."""
    if not lead.modules:
        return ()
    most = max(lead.modules, key=lambda one: one.share)
    said = say("place_in_model", language, share=show_value(most.share, "share"))
    return parse_prose(said, {"module": code_prose(most.module, _LONGEST_PLACE)[0]})


def _say_explained(lead: Finding, diagnosis: Diagnosis, language: Language) -> str:
    """What a finding without an estimate may win: at most the largest of what it brings about, symptoms aside."""
    by_name = diagnosis.by_fingerprint
    brought = [by_name[name].saving for name in lead.symptoms if name in by_name and not by_name[name].is_symptom]
    most = max(brought, key=lambda saving: saving.us, default=None)
    if most is None or most.us <= 0:
        return ""
    return describe_saving(most, diagnosis.run.times_of, language, at_most=True)[0]


def time_sentence(diagnosis: Diagnosis, parts: Sequence[TimePart], language: Language) -> str:
    """`A step takes 117 ms: 70 % exposed communication, 22 % idle, 8 % compute.`

    Time and parts are those of one step, the mean over the ranks and steps; where ranks are uneven that is said, with
    the slowest, and where its marks are further apart how far. Empty where the time of a step is not known.
    """
    split, run = diagnosis.split, diagnosis.run
    us = split.step_us if split is not None else run.step_us
    if us <= 0:
        return ""
    time = show_value(us, "us")
    if split is not None and split.usual_us is not None:
        time = say("unlike_steps", language, time=time, usual=show_value(split.usual_us, "us"))
    elif split is not None and split.slowest_us is not None and split.slowest_us > us * (1 + UNEVEN):
        rank, ranks = split.slowest_rank, split.ranks or len(run.ranks)
        time = say("uneven", language, time=time, ranks=ranks, rank=rank, slowest=show_value(split.slowest_us, "us"))
    name = run.times_of
    if not parts:
        return say(f"{name}_only", language, time=time)
    said = [say("part", language, share=part.share, name=part.name) for part in parts]
    marked = None if split is None or name != "step" else split.marked_us
    longer = "" if marked is None else say("from_mark_to_mark", language, time=show_value(marked, "us"))
    return say(f"{name}_takes", language, time=time, parts=say("comma", language).join(said)) + longer


def first_findings(diagnosis: Diagnosis, aside: Collection[str] = ()) -> tuple[LeadKind, tuple[Finding, ...]]:
    """What to act on first, in order, and of which kind it is; none where nothing needs fixing or nothing was checked.

    A symptom with causes stands for the highest of them. `aside` are fingerprints that a project lives with.
    """
    restating, folded = symptom_fingerprints(diagnosis), folded_under(diagnosis)
    by_name = diagnosis.by_fingerprint
    chance = seen_by_chance(diagnosis.findings)
    trusted = [one for one in diagnosis.findings if one.fingerprint not in chance]
    stepless = diagnosis.split is None and not any(map(_hides_time, diagnosis.findings))
    worth = [one.fingerprint for one in trusted if _is_worth_acting(one, restating, stepless=stepless)]
    names = dict.fromkeys(_unpriced_cause(folded.get(name, name), diagnosis, chance) for name in worth)
    names = names or dict.fromkeys(one.fingerprint for one in diagnosis.findings if is_grave_doubt(one))
    names = names or dict.fromkeys(one.fingerprint for one in trusted if one.may_weigh_much)
    found = [by_name[name] for name in names if name not in aside]
    if not found:
        return "fine" if _quiet_by_category(diagnosis) or _asked_rules_fired(diagnosis) else "blind", ()
    kind = _headline_kind(found[0])
    return kind, tuple(finding for finding in found if _headline_kind(finding) == kind)


def _hides_time(finding: Finding) -> bool:
    """Whether time is unknown because most kernels are gone: it may lie elsewhere than what is left of them says."""
    return finding.rule == "capture/incomplete-kernels" and is_grave_doubt(finding)


def _unpriced_cause(name: str, diagnosis: Diagnosis, chance: Collection[str]) -> str:
    """The cause without an estimate that stands above a finding and explains it: worth what that one wins."""
    above = takewhile(lambda one: one.fingerprint != name, diagnosis.findings)
    causes = {*diagnosis.by_fingerprint[name].causes}
    found = (one for one in above if one.fingerprint in causes.difference(chance) and one.may_weigh_much)
    return next((one.fingerprint for one in found if not one.rule.startswith("capture/")), name)


def _is_worth_acting(finding: Finding, restating: frozenset[str], *, stepless: bool) -> bool:
    """Whether a finding may lead: by what it wins; without an estimate by how grave it is and what it brings about.

    `stepless` is a capture in which no time of a step is known to hold it against.
    """
    if finding.rule.startswith("capture/"):
        return finding.severity >= Severity.high
    if finding.worth.share > 0:
        return finding.worth.share >= WORTH_SHARE
    if finding.worth.nothing:
        return False
    brings_about = not restating.isdisjoint(finding.symptoms)
    return finding.severity >= (Severity.medium if brings_about or finding.worth.us > 0 or stepless else Severity.high)


def _headline_kind(lead: Finding) -> LeadKind:
    """What a leading finding asks for."""
    if lead.rule.startswith("capture/"):
        return "record"
    return "look" if lead.is_symptom else "fix"


def _say_unexplained(diagnosis: Diagnosis, lead: Finding, cards: Sequence[Card], language: Language) -> Prose:
    """The symptom of which most stays unexplained, where that is much and more than what the first finding wins.

    What a cause without an estimate explains of a symptom nobody knows: of that nothing is said, slight ones aside.
    """
    by_name = diagnosis.by_fingerprint
    unpriced = {name for name, one in by_name.items() if one.may_weigh_much}
    chance = seen_by_chance(diagnosis.findings)
    left = [
        (unexplained_part(symptom, (by_name[name] for name in symptom.causes if name in by_name)).share, card)
        for card in cards
        if (symptom := card.finding).is_symptom
        and symptom is not lead
        and symptom.fingerprint not in chance
        and unpriced.isdisjoint(symptom.causes)
    ]
    share, card = max(left, key=lambda entry: entry[0], default=(0.0, None))
    if card is None or share <= max(MUCH, lead.saving.share):
        return ()
    said = say("unexplained", language, diagnosis.run.times_of, share=show_value(share, "share"))
    return (TextPiece(said), *card.title, TextPiece(say("full_stop", language)))


def say_doubts(diagnosis: Diagnosis, lead: Finding | None, language: Language) -> Prose:
    """What is wrong with the capture that makes its numbers doubtful, apart from what leads."""
    maker = Maker(diagnosis, language)
    titles = [maker.title(one) for one in diagnosis.findings if is_grave_doubt(one) and one is not lead]
    if not titles:
        return ()
    said = join_prose("", _join_alike(titles, language))
    return (TextPiece(say("read_with_care", language)), *said, TextPiece(say("full_stop", language)))


def _join_alike(titles: Iterable[Prose], language: Language) -> Iterator[Prose]:
    """Titles with what stands between them; what several in a row say up to their colon is said once."""
    before: str | None = None
    for title in titles:
        lead, colon, rest = title[0].text.partition(say("colon", language))
        if colon and lead == before:
            yield (TextPiece(say("comma", language)), replace(title[0], text=rest), *title[1:])
        else:
            yield title if before is None else (TextPiece(say("semicolon", language)), *title)
        before = lead


def nothing_to_fix(diagnosis: Diagnosis, language: Language) -> str:
    """That nothing needs fixing, and what was looked at: how many rules of each category found all in order.

    Of rules that were asked for alone it is said that these found nothing, which tells little of the job. Where no time
    of a step is known and more rules could not look than did, a job is not called healthy.
    """
    quiet = _quiet_by_category(diagnosis)
    looked = [f"{say_category(name, language)} {count}" for name, count in quiet.most_common()]
    blind = sum(outcome.outcome in ("skipped", "failed") for outcome in diagnosis.outcomes)
    trifles = _asked_rules_fired(diagnosis) and not quiet
    little = diagnosis.split is None and blind > quiet.total() and not trifles
    begins = "asked_found_trifles" if trifles else "asked_found_nothing" if diagnosis.asked else "nothing_found"
    name = "nothing_found_in_little" if little else f"{begins}_but" if blind else begins
    comma, asked = say("comma", language), _say_asked(diagnosis, language)
    return say(name, language, looked=comma.join(looked), blind=blind, asked=asked)


def say_unchecked(diagnosis: Diagnosis, language: Language) -> str:
    """That no rule could look, of all or of those that were asked for."""
    name = "asked_checked_nothing" if diagnosis.asked else "nothing_checked"
    return say(name, language, asked=_say_asked(diagnosis, language))


def _say_asked(diagnosis: Diagnosis, language: Language) -> str:
    return say("comma", language).join(map(clean_line, diagnosis.asked))


def _quiet_by_category(diagnosis: Diagnosis) -> Counter[str]:
    """By category how many rules looked and found all in order.

    Those on the capture itself say nothing of the job, and count where they were asked for.
    """
    quiet = (outcome.rule.split("/", 1)[0] for outcome in diagnosis.outcomes if outcome.outcome == "quiet")
    return Counter(category for category in quiet if category != "capture" or diagnosis.asked)


def _asked_rules_fired(diagnosis: Diagnosis) -> bool:
    """Whether rules were asked for alone, and found something."""
    return bool(diagnosis.asked) and any(outcome.outcome == "fired" for outcome in diagnosis.outcomes)


def _next_gain(diagnosis: Diagnosis, language: Language) -> Prose:
    """Where the next per cent would be: the largest of what was found or measured though it is not worth acting on.

    What would be worth it, were it as clear as its rule asks for, is no next per cent, and is told as that.
    """
    best = max(_small_gains(diagnosis), key=lambda finding: finding.saving.us, default=None)
    if best is not None:
        cards = Maker(diagnosis, language)
        bounded = wins_at_most(best, cards.rule(best))
        phrase, *_ = describe_saving(best.saving, diagnosis.run.times_of, language, at_most=bounded)
        title = cards.title(best)
        return (
            TextPiece(say("next_gain" if best.saving.share < WORTH_SHARE else "let_pass", language)),
            *title,
            TextPiece(say("next_gain_wins", language, saving=phrase)),
        )
    spent = diagnosis.account.spent if diagnosis.account is not None else ()
    named = [entry for entry in spent if entry.part == "compute" and entry.name]
    if not named or diagnosis.split is None or diagnosis.split.step_us <= 0:
        return ()
    largest = max(named, key=lambda entry: entry.us)
    share = show_value(largest.us / diagnosis.split.step_us, "share")
    name = TextPiece(clean_line(largest.name), code=True)
    return parse_prose(say("next_operator", language, diagnosis.run.times_of, share=share), {"name": name})


def _small_gains(diagnosis: Diagnosis) -> Iterable[Finding]:
    """Findings that do not lead, and what quiet rules measured short of a threshold, as findings; with a saving."""
    titled = {info.id for info in diagnosis.rules if not info.symptom}
    yield from (one for one in diagnosis.findings if one.saving.share >= LEAST_SHARE and one.rule in titled)
    for outcome in diagnosis.outcomes:
        if outcome.outcome == "quiet" and outcome.rule in titled:
            short = (one for one in outcome.measures if one.short_of and one.saving.share >= LEAST_SHARE)
            yield from (_as_finding(outcome.rule, one) for one in short)


def _as_finding(rule: str, measure: Measure) -> Finding:
    """What a quiet rule measured, in the form in which titles are filled."""
    return Finding(
        rule=rule,
        fingerprint=measure.fingerprint,
        severity=Severity.info,
        confidence=Confidence.low,
        saving=measure.saving,
        subject=measure.subject,
        evidence=measure.evidence,
    )
