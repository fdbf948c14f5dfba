# SPDX-License-Identifier: Apache-2.0
"""What all formats say of a finding: how grave it is for a program, where it belongs, and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from advisor.model.findings import Finding, Severity
from advisor.report.comparison.words import STATUSES
from advisor.report.diagnosis.cards import Card, make_cards
from advisor.report.diagnosis.headline import say_unchecked
from advisor.report.formats.words import say_in_format
from advisor.report.prose import BETWEEN_SENTENCES, clean_line, flat_text, parse_prose
from advisor.report.sources import named_line
from advisor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.messages.text import Language
    from advisor.model.comparison import Change
    from advisor.model.findings import Outcome
    from advisor.model.verdict import Ruling, Suppression
    from advisor.report.output_formats import Reported
    from advisor.report.sources import Location

ResultLevel = Literal["error", "warning", "note"]

LEVELS: Mapping[Severity, ResultLevel] = {
    Severity.critical: "error",
    Severity.high: "error",
    Severity.medium: "warning",
    Severity.low: "note",
    Severity.info: "note",
}
"""Where no policy says what a finding is worth."""
LONGEST_PATH = 4096
RULE = "advisor/nothing-checked"
"""Stands for a rule where nothing could be checked, in formats that hold nothing but findings."""
NOWHERE_NAME = "profile"
"""What stands for a file where a format demands one and nothing is known."""


class ToolResult(Struct, frozen=True):
    """One finding, as other programs are told of it."""

    finding: Finding
    card: Card
    level: ResultLevel
    location: Location | None = None
    change: Change | None = None
    suppression: Suppression | None = None
    is_decided: bool = False
    """Whether a setting of the policy, and not its severity, says how grave it is."""

    @property
    def headline(self) -> str:
        """The title in one line, harmless to print."""
        return flat_text(self.card.title)

    def lines(self, language: Language) -> tuple[str, ...]:
        """The title, and below it a line each: change, saving, places, source line, first step of the remedy."""
        card = self.card
        became = STATUSES[self.change.status].say(language) if self.change else None
        named = (
            ("against", became),
            ("saving", card.saving if card.saving_time else None),
            ("seen_at", card.place_in_short or None),
            ("called_from", self.recorded or None),
            (card.caused, flat_text(card.causes[0].title) if card.causes else None),
            ("first_fix", card.first_step),
        )
        told = ((say(name, language), value) for name, value in named if value is not None)
        lines = [say_in_format("where", language, key=key, value=value) for key, value in told]
        accepted = [suppression_text(self.suppression, language)] if self.suppression else []
        return (self.headline, *lines, *accepted)

    def message(self, language: Language) -> str:
        """All of them in one paragraph; the first sentence is the title."""
        stop = say("full_stop", language)
        return BETWEEN_SENTENCES[language].join(
            line if line.endswith((".", "。", "!", "！", "?", "？")) else line + stop for line in self.lines(language)
        )

    @property
    def recorded(self) -> str:
        """The user's line and function, where the profiler recorded them."""
        source = self.finding.source
        if source is None:
            return ""
        here = self.location.file if self.location and self.location.recorded else ""
        return clean_line(named_line(source, here))


def reported_results(reported: Reported) -> tuple[ToolResult, ...]:
    """The findings in the order of the diagnosis, without those that the policy switched off."""
    verdict, comparison = reported.verdict, reported.comparison
    rulings = {ruling.fingerprint: ruling for ruling in verdict.rulings} if verdict else {}
    changes = {change.fingerprint: change for change in comparison.changes} if comparison else {}
    return tuple(
        ToolResult(
            finding=(finding := card.finding),
            card=card,
            level=_level_of_finding(finding, ruling),
            location=_clean_location(reported.locations.get(finding.fingerprint)),
            change=changes.get(finding.fingerprint),
            suppression=ruling.suppressed if ruling else None,
            is_decided=ruling is not None and (ruling.action == "error" or bool(ruling.by)),
        )
        for card in make_cards(reported.diagnosis, reported.language)
        if (ruling := rulings.get(card.finding.fingerprint)) is None or ruling.action != "off"
    )


def open_results(reported: Reported) -> tuple[ToolResult, ...]:
    """Those that nobody has accepted, for formats that cannot mark the others."""
    return tuple(result for result in reported_results(reported) if result.suppression is None)


def nothing_checked(reported: Reported) -> str:
    """What to say where no rule could look; empty where one did. An empty list of findings must not look healthy."""
    diagnosis = reported.diagnosis
    looked = bool(diagnosis.findings) or any(outcome.outcome == "quiet" for outcome in diagnosis.outcomes)
    return "" if looked else say_unchecked(diagnosis, reported.language)


def outcome_reason(outcome: Outcome, language: Language) -> str:
    """Why a rule could not look or does not apply, as text; where nothing says it, the tables that it needs."""
    return flat_text(parse_prose(outcome.reason.say(language) if outcome.reason else ", ".join(outcome.needs)))


def suppression_text(suppression: Suppression, language: Language) -> str:
    """Why a finding is suppressed, by whom and until when."""
    name = "suppressed_by" if suppression.owner else "suppressed"
    said = say_in_format(name, language, reason=clean_line(suppression.reason), owner=clean_line(suppression.owner))
    date = clean_line(suppression.expires)
    return say_in_format("until", language, said=said, date=date) if date else said


def stand_in(reported: Reported) -> str:
    """What stands for a file where a format demands one: the name of the capture."""
    return clean_line(reported.diagnosis.run.name, 80).strip() or NOWHERE_NAME


def _level_of_finding(finding: Finding, ruling: Ruling | None) -> ResultLevel:
    """What the policy says; where no setting of it decided, what the severity says, but nothing that fails the run."""
    own = LEVELS[finding.severity]
    if ruling is None:
        return own
    if ruling.action == "error":
        return "error"
    return "warning" if ruling.by or own == "error" else own


def _clean_location(location: Location | None) -> Location | None:
    """A recorded path may hold anything too; no file that can be found changes."""
    return location and replace(location, file=clean_line(location.file, LONGEST_PATH))
