# SPDX-License-Identifier: Apache-2.0
"""A project's `advisor.yaml`: thresholds, severities, on and off, and how the command line behaves by default.

```yaml
language: zh
fail_on: high
rules:
  host/free-time: {params: {tolerated: 0.15}, severity: high}
  comm/*: off
  comm/slow-link: on
```

An exact id wins over a pattern, a longer pattern over a shorter one. Logic is never changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.errors import Mistake, Place, RuleError
from advisor.findings import Severity
from advisor.rules import source
from advisor.rules.source import Document, Path_, nearest

if TYPE_CHECKING:
    from advisor.rules.bind import Rule

_LANGUAGES = ("en", "zh")
_FAIL_ON = ("none", *(level.name for level in Severity))
OWN_RULES = "`advisor rules list` shows them all; rules of your own need `--rules DIR`"


@dataclass(frozen=True, slots=True)
class Override:
    """What a project changes about a rule, or about all whose id begins the same."""

    off: bool | None = None
    """None leaves it to shorter patterns."""
    params: Mapping[str, float] = field(default_factory=dict)
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project sets. Without a file nothing is changed."""

    rules: Mapping[str, Override] = field(default_factory=dict)
    language: str | None = None
    fail_on: str | None = None
    document: Document | None = field(default=None, repr=False, compare=False)

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings of a file.

        Raises:
            RuleError: Everything wrong with it that can be seen without the rules.
        """
        document = source.read(path)
        reader = _Reader(document)
        settings = reader.settings()
        if reader.mistakes:
            raise RuleError(reader.mistakes)
        return settings

    def check(self, rules: Mapping[str, Rule]) -> list[Mistake]:
        """Names of rules and params that do not exist."""
        return [mistake for key, override in self.rules.items() for mistake in self._check(key, override, rules)]

    def _check(self, key: str, override: Override, rules: Mapping[str, Rule]) -> Iterator[Mistake]:
        path: Path_ = ("rules", key)
        former = {old: rule for rule in rules.values() for old in rule.formerly}
        if key.endswith("*"):
            if not any(name.startswith(key[:-1]) for name in rules):
                yield self._mistake(path, f"no rule matches `{key}`", nearest(key, _patterns(rules)) or OWN_RULES)
            return
        rule = rules.get(key) or former.get(key)
        if rule is None:
            yield self._mistake(path, f"unknown rule `{key}`", nearest(key, rules) or OWN_RULES)
            return
        for name in override.params:
            if name not in rule.params:
                hint = nearest(name, rule.params)
                yield self._mistake((*path, "params", name), f"`{key}` has no param `{name}`", hint)

    def _mistake(self, path: Path_, what: str, hint: str) -> Mistake:
        if self.document is None:
            return Mistake(Place("settings"), what, hint=hint)
        return self.document.mistake(path, what, hint, key=True)

    def applied(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """The rules that stay on, with their thresholds and severities."""
        for rule in rules:
            override = self._for(rule)
            if not override.off:
                changed = bool(override.params) or override.severity is not None
                yield rule.tuned(override.params, override.severity) if changed else rule

    def _for(self, rule: Rule) -> Override:
        """What is set for a rule, from the widest pattern to its own id, the later ones winning."""
        patterns = sorted((key for key in self.rules if key.endswith("*")), key=len)
        names = [key for key in patterns if rule.id.startswith(key[:-1])]
        merged = Override()
        for key in (*names, *rule.formerly, rule.id):
            found = self.rules.get(key)
            if found is not None:
                merged = Override(
                    found.off if found.off is not None else merged.off,
                    {**merged.params, **found.params},
                    found.severity if found.severity is not None else merged.severity,
                )
        return merged


def _patterns(rules: Iterable[str]) -> set[str]:
    return {name.split("/", 1)[0] + "/*" for name in rules}


class _Reader:
    """Checks the shape of the file; collects mistakes."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.mistakes: list[Mistake] = []

    def wrong(self, path: Path_, what: str, hint: str = "", *, key: bool = False) -> None:
        self.mistakes.append(self.document.mistake(path, what, hint, key=key))

    def settings(self) -> Settings:
        data = self.document.data if self.document.data is not None else {}
        if not isinstance(data, dict):
            self.wrong((), "settings are a mapping")
            return Settings()
        known = ("rules", "language", "fail_on")
        for name in data:
            if name not in known:
                self.wrong((name,), f"unknown key `{name}`", nearest(name, known), key=True)
        rules = data.get("rules") or {}
        if not isinstance(rules, dict):
            self.wrong(("rules",), "`rules` is a mapping of rule ids")
            rules = {}
        overrides = {key: self.override(key, value) for key, value in rules.items()}
        language = self.word(data, "language", _LANGUAGES)
        return Settings(overrides, language, self.word(data, "fail_on", _FAIL_ON), self.document)

    def word(self, data: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str | None:
        value = data.get(key)
        if value is None or value in allowed:
            return value
        self.wrong((key,), f"`{key}` is one of {', '.join(allowed)}, not `{value}`")
        return None

    def override(self, key: str, value: Any) -> Override:
        path: Path_ = ("rules", key)
        if isinstance(value, bool) or value in ("on", "off"):
            return Override(off=value in (False, "off"))
        if not isinstance(value, dict):
            self.wrong(path, f"`{key}` is off, on, or a mapping of params and severity")
            return Override()
        for name in value:
            if name not in ("params", "severity"):
                hint = nearest(name, ("params", "severity"))
                self.wrong((*path, name), f"unknown key `{name}`", hint, key=True)
        params = value.get("params") or {}
        if key.endswith("*") and params:
            self.wrong((*path, "params"), "params are set for one rule, not for a pattern", key=True)
        severity = self.severity((*path, "severity"), value.get("severity"))
        return Override(None, self.params((*path, "params"), params), severity)

    def severity(self, path: Path_, value: Any) -> Severity | None:
        if value is None or (isinstance(value, str) and value in Severity.__members__):
            return Severity[value] if value else None
        self.wrong(path, f"severity is one of {', '.join(Severity.__members__)}, not `{value}`")
        return None

    def params(self, path: Path_, given: Any) -> dict[str, float]:
        if not isinstance(given, dict):
            self.wrong(path, "params are a mapping of names to numbers")
            return {}
        found: dict[str, float] = {}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                self.wrong((*path, name), f"`{name}` is a number, not `{value}`")
            else:
                found[name] = float(value)
        return found
