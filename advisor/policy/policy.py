# SPDX-License-Identifier: Apache-2.0
"""What a project demands of a profile: which findings fail a run, which only warn, limits, and what it lives with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from advisor.messages.message import Message, did_you_mean
from advisor.messages.wide_signs import hint_on_wide_sign
from advisor.model.comparison import Status
from advisor.model.findings import Severity
from advisor.model.verdict import Action, Budget, Suppression
from advisor.yaml_files.suggestions import close_words

ACTIONS: tuple[Action, ...] = ("off", "warn", "error")
_SINCE: Mapping[str, tuple[Status, ...]] = {"new": ("new", "worse"), "worse": ("worse",)}


class FailCondition(Struct, frozen=True):
    """One entry of `fail_on`: a severity, and whether only what changed against the baseline counts."""

    severity: Severity
    since: str = ""
    """`new` (new or worse), `worse`, or nothing for every finding."""

    def __str__(self) -> str:
        return f"{self.since}:{self.severity.name}" if self.since else self.severity.name

    def fails(self, severity: Severity, status: Status | None) -> bool:
        """Whether a finding of this severity and status is at or above the bar."""
        return severity >= self.severity and (not self.since or status in _SINCE[self.since])


def parse_bars(words: Iterable[str]) -> tuple[FailCondition, ...]:
    """The entries of a `fail_on`; `none` alone gives no entry.

    Raises:
        ValueError: An entry is no severity, or stands after something other than `new:` and `worse:`.
    """
    entries = [word.strip() for word in words]
    return () if entries == ["none"] else tuple(_parse_bar(entry) for entry in entries)


def bar_meant(entry: str) -> Message | None:
    """What somebody may have meant by an entry that is none: a plain sign, or a severity that is close to it."""
    if entry == "none":
        return Message("none_stands_alone")
    if wide := hint_on_wide_sign(entry):
        return wide
    since, colon, level = entry.rpartition(":")
    near = close_words(level.strip(), Severity.__members__)
    before = close_words(since.strip(), _SINCE) if colon else [""]
    return did_you_mean([f"{before[0]}{colon}{near[0]}"] if near and before else [])


def _parse_bar(entry: str) -> FailCondition:
    since, colon, level = entry.rpartition(":")
    if level not in Severity.__members__ or (colon and since not in _SINCE):
        raise ValueError(entry)
    return FailCondition(Severity[level], since)


def pattern_matches(pattern: str, names: Sequence[str]) -> bool:
    """Whether an id, or a pattern such as `memory/*`, means a rule of these names."""
    if pattern.endswith("*"):
        return any(name.startswith(pattern[:-1]) for name in names)
    return pattern in names


@dataclass(frozen=True, slots=True)
class Policy:
    """What a project demands. Without settings nothing is demanded beyond `fail_on`."""

    rules: Mapping[str, Action] = field(default_factory=dict)
    """By id, or by a pattern such as `memory/*`."""
    categories: Mapping[str, Action] = field(default_factory=dict)
    severities: Mapping[Severity, Action] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()
    """Limits; nothing is measured yet."""
    suppressions: tuple[Suppression, ...] = ()

    def asked(self, names: Sequence[str], severity: Severity | None) -> tuple[Action, str] | None:
        """What is to become of a finding, and the setting that says so; None where no setting does.

        `names` are the id of its rule and those it had before. An exact id wins over a pattern, a longer pattern over
        a shorter one, any of them over the category of the rule, and that over the severity, where it is known.
        """
        for key in sorted(self.rules, key=lambda key: (key.endswith("*"), -len(key), key)):
            if pattern_matches(key, names):
                return self.rules[key], f"policy.rules.{key}"
        category = names[0].split("/", 1)[0]
        if category in self.categories:
            return self.categories[category], f"policy.categories.{category}"
        if severity is not None and severity in self.severities:
            return self.severities[severity], f"policy.severities.{severity.name}"
        return None
