# SPDX-License-Identifier: Apache-2.0
"""A project's `advisor.yaml`: thresholds, severities, on and off, what it demands, and how the command line behaves.

```yaml
language: zh
fail_on: new:high
rules:
  host/free-time: {params: {normal: 0.15}, severity: high}
  ranks/*: off
  ranks/slow-link: on
```

In a pyproject.toml the same stands in the table `[tool.advisor]`.

An exact id wins over a pattern, a longer pattern over a shorter one. Logic is never changed. What a project demands of
a run (`policy`, `budgets`, `suppressions`, `compare`) is described in `policy_file`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.chips.chip_files import read_own_chips, shipped_chips
from advisor.chips.known_chips import ChipTable
from advisor.messages.errors import FilePlace, Mistake, RuleError, Unclear
from advisor.messages.message import Message
from advisor.model.comparison import Tolerance
from advisor.model.findings import Param, Severity
from advisor.model.job import STACKS, TOLD_WORKLOADS, JobKind, told_job
from advisor.policy.policy import FailCondition, Policy, bar_meant, parse_bars
from advisor.policy.policy_file import SECTIONS, read_policy, read_tolerance, unknown_names
from advisor.policy.thresholds import check_threshold, read_threshold
from advisor.yaml_files.amounts import MEMORY, parse_amount
from advisor.yaml_files.document import Path_, RuleDocument, refused_link
from advisor.yaml_files.mistakes import Faults
from advisor.yaml_files.suggestions import suggest_known, suggest_rules

if TYPE_CHECKING:
    from advisor.fact_store.cache_folder import CacheFolder
    from advisor.rules.bind import Rule

_LANGUAGES = ("en", "zh")
TOP_LEVEL = ("rules", "language", "fail_on", "chip", "chips", "workload", "stack", "cache")
_LEVELS = tuple(level.name for level in Severity)
_OF_A_RULE = ("params", "severity")


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
    chip: str = ""
    """The chip, by its name in `chips`, where the captures do not name it; empty where nothing is said."""
    chips: ChipTable = field(default_factory=shipped_chips)
    """What is known of chips, with what the project says of its own."""
    workload: str = ""
    """What ran, in a word of `TOLD_WORKLOADS`; empty where nothing is said."""
    stack: str = ""
    """Whose flags the job has, one of `STACKS`; empty where nothing is said."""
    cache: Path | None = None
    """The folder where facts of captures are kept; None where nothing is kept."""
    cache_bytes: int | None = None
    """How much may be kept there; None leaves it to whoever keeps it."""
    fail_on: tuple[FailCondition, ...] | None = None
    """Which findings fail a run; none at all where it is empty. None leaves it to the command."""
    policy: Policy = field(default_factory=Policy)
    tolerance: Tolerance = field(default_factory=Tolerance)
    document: RuleDocument | None = field(default=None, repr=False, compare=False)
    mistakes: tuple[Mistake, ...] = field(default=(), repr=False, compare=False)
    """What is wrong with the file itself, whatever rules there are."""

    @property
    def job(self) -> JobKind:
        """What is said of the job."""
        return told_job(self.workload, self.stack)

    def open_cache(self, named: Path | None, tell: Callable[[Message], None]) -> CacheFolder | None:
        """The cache in the folder that is `named`, else in that of the settings, with as much room as these give.

        `tell` is told once why nothing can be written there.
        """
        folder = named or self.cache
        if folder is None:
            return None
        from advisor.fact_store.cache_folder import CacheFolder

        return CacheFolder(folder, self.cache_bytes, tell)

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings of a file.

        Raises:
            SettingsError: Everything wrong with it that can be seen without the rules.
            RuleError: It cannot be read at all.
        """
        if mistakes := refused_link(path, _project_of(path)):
            raise RuleError(mistakes)
        faults = Faults(_document_of(path))
        settings = _Reader(faults, path.parent).settings()
        if faults.mistakes:
            raise SettingsError(replace(settings, mistakes=tuple(faults.mistakes)))
        return settings

    @property
    def level(self) -> Severity | None:
        """The severity from which a finding fails a run that is compared with nothing."""
        return min((bar.severity for bar in self.fail_on or () if not bar.since), default=None)

    def check(self, rules: Mapping[str, Rule]) -> list[Mistake]:
        """All that is wrong: the file itself, names of rules, categories and params, thresholds that cannot be."""
        found = [
            mistake for key, override in self.rules.items() for mistake in self._check_override(key, override, rules)
        ]
        known = {rule.id: (rule.id, *rule.formerly) for rule in rules.values()}
        found += [*unknown_names(self.policy, known, self._mistake_at), *self._demanded_but_off(rules)]
        return sorted((*self.mistakes, *found), key=lambda mistake: mistake.place) if self.mistakes else found

    def _demanded_but_off(self, rules: Mapping[str, Rule]) -> Iterator[Mistake]:
        for rule in rules.values():
            for name in (rule.id, *rule.formerly):
                if self.policy.rules.get(name, "off") != "off" and self._override_of_rule(rule).off:
                    what = Message("demanded_but_off", name=name)
                    yield self._mistake_at(("policy", "rules", name), what, Message("turn_it_on"))

    def _check_override(self, key: str, override: Override, rules: Mapping[str, Rule]) -> Iterator[Mistake]:
        path: Path_ = ("rules", key)
        former = {old: rule for rule in rules.values() for old in rule.formerly}
        if key.endswith("*"):
            if not any(name.startswith(key[:-1]) for name in rules):
                what = Message("pattern_matches_no_rule", name=key)
                yield self._mistake_at(path, what, suggest_rules(key, rules))
            return
        rule = rules.get(key) or former.get(key)
        if rule is None:
            yield self._mistake_at(path, Message("unknown_rule", name=key), suggest_rules(key, rules))
            return
        for name in override.params:
            if name not in rule.params:
                hint = suggest_known(name, rule.params)
                yield self._mistake_at((*path, "params", name), Message("rule_has_no_param", rule=key, name=name), hint)
            else:
                yield from self._check_threshold((*path, "params", name), override.params[name], rule.params[name])

    def _check_threshold(self, path: Path_, value: float, param: Param) -> Iterator[Mistake]:
        written = self.document.written(path) if self.document is not None else None
        try:
            check_threshold(param, value, written or f"{value:g}")
        except Unclear as unclear:
            what = Message("part", part=param.name, what=unclear.what)
            yield self._mistake_at(path, what, unclear.hint, key=False)

    def _mistake_at(self, path: Path_, what: Message, hint: Message | None, *, key: bool = True) -> Mistake:
        if self.document is None:
            return Mistake(FilePlace("settings"), what, hint=hint)
        return self.document.mistake(path, what, hint, key=key)

    def applied(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """The rules that stay on, with their thresholds and severities."""
        for rule in rules:
            override = self._override_of_rule(rule)
            if not override.off:
                changed = bool(override.params) or override.severity is not None
                yield rule.tuned(override.params, override.severity) if changed else rule

    def _override_of_rule(self, rule: Rule) -> Override:
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


def _document_of(path: Path) -> RuleDocument:
    if path.suffix.lower() == ".toml":
        from advisor.policy import pyproject

        return pyproject.read_document(path)
    from advisor.yaml_files.source import read_document

    return read_document(path)


class SettingsError(RuleError):
    """A file of settings is wrong in itself; `settings` is what could be read of it, to be checked against rules."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        super().__init__(sorted(settings.mistakes, key=lambda mistake: mistake.place))


class _Reader:
    """Checks the shape of the file."""

    def __init__(self, faults: Faults, folder: Path) -> None:
        self.faults, self.folder = faults, folder

    def settings(self) -> Settings:
        faults, data = self.faults, self.faults.document.data
        if data is None:
            return Settings()
        if not isinstance(data, dict):
            faults.wrong((), Message("settings_are_mapping"))
            return Settings()
        faults.only((), data, (*TOP_LEVEL, *SECTIONS))
        overrides = faults.mapping(("rules",), data.get("rules"), Message("rule_ids"))
        chips = read_own_chips(data.get("chips"), faults)
        cache, cache_bytes = self.cache(data.get("cache"))
        return Settings(
            rules={key: self.override(key, value) for key, value in overrides.items()},
            language=faults.word(("language",), data.get("language"), _LANGUAGES),
            chip=self.chip(data.get("chip"), chips),
            chips=chips,
            workload=faults.word(("workload",), data.get("workload"), tuple(TOLD_WORKLOADS)) or "",
            stack=faults.word(("stack",), data.get("stack"), STACKS) or "",
            cache=cache,
            cache_bytes=cache_bytes,
            fail_on=self.fail_on(data.get("fail_on")),
            policy=read_policy(data, faults),
            tolerance=read_tolerance(data.get("compare"), faults),
            document=faults.document,
        )

    def chip(self, given: Any, chips: ChipTable) -> str:
        """The name of a chip, as in the table, however it is written."""
        if given is None:
            return ""
        if isinstance(given, bool | list | dict):
            self.faults.wrong(("chip",), Message("is_text", name="chip"))
            return ""
        words = str(given)  # a name such as 910_9392 is a number to YAML
        chip, near = chips.named(words), chips.nearest(words)
        if chip is None:
            among, listed = (
                Message("did_you_mean_among", name=near, names=chips.names),
                Message("known_here", names=chips.names),
            )
            self.faults.wrong(("chip",), Message("unknown_chip", name=words), among if near else listed)
        return chip.name if chip else ""

    def cache(self, given: Any) -> tuple[Path | None, int | None]:
        """A folder, relative to that of the settings, and how much it may hold."""
        said = given if isinstance(given, dict) else {"folder": given}
        self.faults.only(("cache",), said, ("folder", "size"))
        path: Path_ = ("cache", "folder") if isinstance(given, dict) else ("cache",)
        words, most = said.get("folder"), None
        if (words is None and given is not None) or not isinstance(words, str | None) or words == "":
            self.faults.wrong(path if words is not None else ("cache",), Message("cache_is"))
            words = None
        if said.get("size") is not None:
            try:
                most = int(parse_amount(self.faults.text(("cache", "size"), said["size"]) or "", MEMORY)[0])
            except Unclear as wrong:
                self.faults.wrong(("cache", "size"), wrong.what, wrong.hint)
        return None if words is None else self.folder / os.path.expanduser(words), most

    def fail_on(self, given: Any) -> tuple[FailCondition, ...] | None:
        """A severity, several as a list or with commas, `new:` or `worse:` before any of them; or none."""
        if given is None:
            return None
        try:
            return parse_bars(str(word) for word in (given if isinstance(given, list) else str(given).split(",")))
        except ValueError as error:
            what = Message("fail_on_is", levels=", ".join(_LEVELS), given=str(error))
            self.faults.wrong(("fail_on",), what, bar_meant(str(error)) or Message("fail_on_since"))
            return None

    def override(self, key: str, value: Any) -> Override:
        path: Path_ = ("rules", key)
        if isinstance(value, bool) or value in ("on", "off"):
            return Override(off=value in (False, "off"))
        if not isinstance(value, dict):
            self.faults.wrong(path, Message("rule_setting", name=key))
            return Override()
        for name in (name for name in value if name not in _OF_A_RULE and isinstance(value[name], int | float)):
            hint = Message("threshold_under_params")
            self.faults.wrong((*path, name), Message("unknown_key", name=name), hint, key=True)
            value = {key: given for key, given in value.items() if key != name}
        self.faults.only(path, value, _OF_A_RULE)
        params = self.params((*path, "params"), value.get("params"))
        if key.endswith("*") and params:
            self.faults.wrong((*path, "params"), Message("params_for_one_rule"), key=True)
        severity = self.faults.word((*path, "severity"), value.get("severity"), _LEVELS)
        return Override(None, params, Severity[severity] if severity else None)

    def params(self, path: Path_, given: Any) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, value in self.faults.mapping(path, given, Message("names_to_numbers")).items():
            number = read_threshold((*path, name), value, self.faults)
            if number is not None:
                found[name] = number
        return found


def _project_of(path: Path) -> Path:
    """The top of the repository a file lies in, within which settings may be a link; outside of one its folder."""
    folder = path.absolute().parent
    return next((one for one in (folder, *folder.parents) if os.path.exists(one / ".git")), folder)
