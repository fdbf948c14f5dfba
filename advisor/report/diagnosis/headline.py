# SPDX-License-Identifier: Apache-2.0
"""The answer in one line: where the time goes, and what to fix first, or what is known where no cause is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.findings import WORTH_SHARE, Diagnosis, Finding, is_grave_doubt, wins_at_most
from advisor.model.leading_findings import (
    LeadKind,
    asked_rules_fired,
    first_findings,
    largest_explained,
    largest_unexplained,
    next_gain,
    quiet_by_category,
)
from advisor.model.run import UNEVEN
from advisor.report.diagnosis.cards import Card, Maker, describe_saving, say_category
from advisor.report.diagnosis.held_time import is_hardly_held, say_held, say_how_to_hold, show_held
from advisor.report.prose import BETWEEN_SENTENCES, Prose, TextPiece, clean_line, code_prose, join_prose, parse_prose
from advisor.report.time_split import TimePart
from advisor.report.words import say
from advisor.units import show_value

_LONGEST_PLACE = 80
"""Letters of a module in the first line: more of them would hide what the line is about."""


class Headline(Struct, frozen=True):
    """The answer in one line, and what stands beside it."""

    kind: LeadKind
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
    held: Prose = ()
    """Where nothing needs fixing: how much of the kernel time was held against what the chip can do."""
    doubts: Prose = ()
    """What of the capture makes the numbers doubtful, where that does not lead itself."""

    @property
    def remarks(self) -> tuple[Prose, ...]:
        """What stands under the answer, a sentence each."""
        return tuple(filter(None, (self.beyond, self.held, self.doubts)))


def make_headline(
    diagnosis: Diagnosis, cards: Sequence[Card], parts: Sequence[TimePart], language: Language
) -> Headline:
    """What a report says first; `cards` are those of the findings, in their order, `parts` those of the mean step."""
    time = time_sentence(diagnosis, parts, language)
    kind, leading = first_findings(diagnosis)
    lead = next(iter(leading), None)
    doubts = say_doubts(diagnosis, lead, language)
    if lead is not None:
        first = _card_of(lead, cards)
        beyond = () if kind == "record" else _say_unexplained(diagnosis, lead, cards, language)
        wins = first.saving if first.saving_time else _say_explained(lead, diagnosis, language)
        won = say("gain", language, saving=wins) if kind == "fix" and wins else ""
        place = _say_place(lead, language)
        return Headline(kind, time, say(f"lead_{kind}", language), first, "", won, place, beyond, doubts=doubts)
    if kind == "blind":
        return Headline("blind", time, "", None, say_unchecked(diagnosis, language), doubts=doubts)
    gain = () if diagnosis.asked else _next_gain(diagnosis, language)  # other rules may know of more
    held = () if diagnosis.asked else _say_held(diagnosis, language)
    says = nothing_to_fix(diagnosis, language)
    return Headline("fine", time, "", None, says, beyond=gain, held=held, doubts=doubts)


def _say_place(lead: Finding, language: Language) -> Prose:
    """The module in which most of the time of an operator lies, and how much of it that is."""
    if not lead.modules:
        return ()
    most = max(lead.modules, key=lambda one: one.share)
    said = say("place_in_model", language, share=show_value(most.share, "share"))
    return parse_prose(said, {"module": code_prose(most.module, _LONGEST_PLACE)[0]})


def _say_explained(lead: Finding, diagnosis: Diagnosis, language: Language) -> str:
    """What a finding without an estimate may win: at most the largest of what it brings about."""
    most = largest_explained(lead, diagnosis)
    return describe_saving(most, diagnosis.run.times_of, language, at_most=True)[0] if most.us > 0 else ""


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


def _say_unexplained(diagnosis: Diagnosis, lead: Finding, cards: Sequence[Card], language: Language) -> Prose:
    """The symptom of which most stays unexplained, where that is worth a word."""
    symptom, share = largest_unexplained(lead, diagnosis) or (None, 0.0)
    if symptom is None:
        return ()
    said = say("unexplained", language, diagnosis.run.times_of, share=show_value(share, "share"))
    return (TextPiece(said), *_card_of(symptom, cards).title, TextPiece(say("full_stop", language)))


def _card_of(finding: Finding, cards: Sequence[Card]) -> Card:
    return next(card for card in cards if card.finding is finding)


def say_doubts(diagnosis: Diagnosis, lead: Finding | None, language: Language) -> Prose:
    """What is wrong with the capture that makes its numbers doubtful, apart from what leads; and what makes that less
    certain where its saving is an upper bound, so that little of it may be left."""
    maker = Maker(diagnosis, language)
    bounded = lead is not None and wins_at_most(lead, maker.rule(lead))
    about_lead = lead.doubted_by if lead is not None and bounded else ()
    doubts = (one for one in diagnosis.findings if is_grave_doubt(one) or one.fingerprint in about_lead)
    titles = [maker.title(one) for one in doubts if one is not lead]
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


def _say_held(diagnosis: Diagnosis, language: Language) -> Prose:
    """How much was held against the chip, and where that is hardly anything what would help."""
    said, account = say_held(diagnosis.account, language), diagnosis.account
    if account is None or not is_hardly_held(account):
        return said
    helps = say_how_to_hold(account, diagnosis.run, language)
    return join_prose(BETWEEN_SENTENCES[language], filter(None, (said, helps)))


def nothing_to_fix(diagnosis: Diagnosis, language: Language) -> str:
    """That nothing needs fixing, and what was looked at: how many rules of each category found all in order.

    Of rules that were asked for alone it is said that these found nothing, which tells little of the job. Where no time
    of a step is known and more rules could not look than did, a job is not called healthy; nor where only the work of
    the device is known, and not what it did in between; nor where hardly anything of its work was held against what the
    chip can do.
    """
    quiet = quiet_by_category(diagnosis)
    looked = [f"{say_category(name, language)} {count}" for name, count in quiet.most_common()]
    blind = sum(outcome.outcome in ("skipped", "failed") for outcome in diagnosis.outcomes)
    trifles = asked_rules_fired(diagnosis) and not quiet
    little = diagnosis.split is None and blind > quiet.total() and not trifles
    begins = "asked_found_trifles" if trifles else "asked_found_nothing" if diagnosis.asked else "nothing_found"
    name = "nothing_found_in_little" if little else f"{begins}_but" if blind else begins
    if name == "nothing_found_but" and diagnosis.run.times_of == "work":
        name = "nothing_found_in_work"
    account, held = diagnosis.account, ""
    if account is not None and not little and not diagnosis.asked and is_hardly_held(account):
        name, held = name.replace("found", "held"), show_held(account)
    comma, asked = say("comma", language), _say_asked(diagnosis, language)
    return say(name, language, looked=comma.join(looked), blind=blind, asked=asked, held=held)


def say_unchecked(diagnosis: Diagnosis, language: Language) -> str:
    """That no rule could look, of all or of those that were asked for."""
    name = "asked_checked_nothing" if diagnosis.asked else "nothing_checked"
    return say(name, language, asked=_say_asked(diagnosis, language))


def _say_asked(diagnosis: Diagnosis, language: Language) -> str:
    return say("comma", language).join(map(clean_line, diagnosis.asked))


def _next_gain(diagnosis: Diagnosis, language: Language) -> Prose:
    """Where the next per cent would be: the largest of what was found or measured though it is not worth acting on.

    What would be worth it, were it as clear as its rule asks for, is no next per cent, and is told as that.
    """
    best = next_gain(diagnosis)
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
