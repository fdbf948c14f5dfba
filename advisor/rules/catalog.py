# SPDX-License-Identifier: Apache-2.0
"""Catalog: every rule of some directories, with a project's settings applied."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from advisor.facts.base import Fact
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import FilePlace, Mistake, RuleError, UsageError, reason_of_error
from advisor.messages.message import Message, did_you_mean
from advisor.rules.bind import Rule, bind_rule, causes_first
from advisor.rules.patterns import Pattern, PatternCatalog, gather_patterns, is_pattern_file, shipped_patterns
from advisor.rules.skeleton import new_rule
from advisor.yaml_files.document import read_text, refused_link
from advisor.yaml_files.parsed_files import document_of_text
from advisor.yaml_files.suggestions import close_rules, suggest_rules

__all__ = ["Catalog", "gather_rules", "lint_rules", "new_rule", "read_rule", "unknown_rule"]


LOST_ROWS = "capture/lost-rows"
"""The rule that says which part of a table may be gone, by its parameter `tolerated`."""
LOSSES = (LOST_ROWS, "capture/incomplete-kernels")
"""The rules that tell which rows of a capture are gone."""
MOST_ENTRIES = 100_000
"""Files and folders that are looked at below a directory of rules."""


class Adjustment(Protocol):
    """What a project changes about rules: thresholds, severities, on and off. Its settings do."""

    def check(self, rules: Mapping[str, Rule]) -> list[Mistake]:
        """Everything it asks for that these rules, by id, do not have."""
        ...

    def applied(self, rules: Iterable[Rule]) -> Iterable[Rule]:
        """The rules as changed; those that are off are left out."""
        ...


@dataclass(frozen=True)
class Catalog:
    """Rules, ordered by id."""

    rules: tuple[Rule, ...]
    tolerated_loss: float = 0.0
    """Part of a table that may be gone before nothing found in it stops to count: what `capture/lost-rows` tolerates,
    whether it is asked for or not; nothing may where no rule says so."""
    patterns: PatternCatalog | None = None
    """Chains of kernels that are looked for; what a profile looks for anyway where None."""
    asked: tuple[str, ...] = ()
    """The patterns by which these rules were chosen; empty where none were left out."""

    @classmethod
    def load(cls, directories: Iterable[Path], settings: Adjustment | None = None) -> Catalog:
        """All rules of the directories; a directory may not redefine an id of another.

        Raises:
            RuleError: Everything wrong with the rule files and the settings, at once.
        """
        folders = list(directories)
        rules, mistakes = gather_rules(folders)
        patterns, slips = gather_patterns(_given_patterns(folders))
        if settings is not None and not mistakes:
            mistakes += settings.check({rule.id: rule for rule in rules})
        if mistakes or slips:
            raise RuleError([*mistakes, *slips])
        rules = [patterns.remedies_into(rule) if rule.pattern_fixes else rule for rule in rules]
        applied = tuple(rules if settings is None else settings.applied(rules))
        return cls(applied, _tolerated_loss((*rules, *applied)), patterns)

    def facts(self) -> set[type[Fact]]:
        """Every table some rule wants."""
        return {fact for rule in self.rules for fact in rule.wanted}

    def select(self, patterns: Iterable[str]) -> Catalog:
        """The rules whose id matches one of the patterns, such as `host/*`.

        Raises:
            UsageError: One of the patterns matches no rule.
        """
        wanted = tuple(patterns)
        names = [rule.id for rule in self.rules]
        if lost := [pattern for pattern in wanted if not any(fnmatchcase(name, pattern) for name in names)]:
            raise UsageError(Message("no_rule_matches", patterns=", ".join(lost)), suggest_rules(lost[0], names))
        chosen = tuple(r for r in self.rules if any(fnmatchcase(r.id, pattern) for pattern in wanted))
        return replace(self, rules=chosen, asked=wanted)

    @cached_property
    def by_id(self) -> Mapping[str, Rule]:
        """The rules by id, and by the ids they had before."""
        former = {old: rule for rule in self.rules for old in rule.formerly}
        return former | {rule.id: rule for rule in self.rules}

    def named(self, rule_id: str, *, also: Collection[str] = ()) -> Rule:
        """The rule of this id, or of this former id.

        Raises:
            UsageError: There is none; the message names the nearest, among what else could have been `also` asked for.
        """
        if rule_id in self.by_id:
            return self.by_id[rule_id]
        raise unknown_rule(rule_id, {*self.by_id, *also})

    @cached_property
    def patterns_by_id(self) -> Mapping[str, Pattern]:
        """The patterns of chains by id, such as `patterns/gelu`."""
        return {pattern.id: pattern for pattern in (self.patterns or shipped_patterns()).patterns}

    def rules_telling_of(self, pattern: Pattern) -> tuple[str, ...]:
        """The rules that read chains of this pattern: those whose rows are of it, and where it has steps those that
        show them."""
        named = f'pattern == "{pattern.name}"'
        return tuple(
            rule.id
            for rule in self.rules
            if (rule.where and rule.where.source == named) or (rule.pattern_fixes and pattern.fix)
        )


def shipped_rules(ids: Iterable[str], settings: Adjustment | None = None) -> tuple[Rule, ...]:
    """These of the shipped rules, as the settings leave them; no other one is read.

    Raises:
        RuleError: Something in them is wrong.
    """
    read = [read_rule(shipped_folder("rules") / f"{rule_id}.yaml") for rule_id in ids]
    if mistakes := [mistake for one in read if not isinstance(one, Rule) for mistake in one]:
        raise RuleError(mistakes)
    rules = [one for one in read if isinstance(one, Rule)]
    return tuple(rules if settings is None else settings.applied(rules))


def _tolerated_loss(rules: Iterable[Rule]) -> float:
    """What the last of these rules that tells of lost rows tolerates."""
    told = [rule.params["tolerated"].value for rule in rules if rule.id == LOST_ROWS and "tolerated" in rule.params]
    return told[-1] if told else 0.0


def unknown_rule(rule_id: str, known: Collection[str]) -> UsageError:
    """No rule has this id: which ones come near, or where to see them all."""
    near = did_you_mean(close_rules(rule_id, known))
    return UsageError(Message("no_rule", name=rule_id), near or Message("rules_list_shows"))


def rule_files(directories: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Every rule file with the directory it was found in, ordered by name. A file may stand for a directory.

    Raises:
        RuleError: A directory does not exist, cannot be listed, or holds neither rules nor patterns.
    """
    return (found for found in _files_in(directories) if not is_pattern_file(found[0]))


def pattern_files(directories: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """The same of files that hold patterns of chains.

    Raises:
        RuleError: As for rules.
    """
    return (found for found in _files_in(directories) if is_pattern_file(found[0]))


def _given_patterns(directories: Iterable[Path]) -> list[tuple[Path, Path]]:
    """The same but of what is shipped, which `gather_patterns` knows; none where the directories cannot be read, which
    their rules have told."""
    ours = shipped_folder("rules")
    try:
        return list(pattern_files(one for one in directories if one != ours))
    except RuleError:
        return []


def _files_in(directories: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Every file of rules or patterns.

    Raises:
        RuleError: A directory does not exist, cannot be listed, or holds none.
    """
    for directory in directories:
        if os.path.isdir(directory):
            found = _yaml_files(directory)
            if not found:
                raise _wrong_folder(directory, Message("no_rules_in_folder"), Message("rules_are_yaml"))
            yield from ((path, directory) for path in found)
        elif os.path.exists(directory):
            yield directory, directory.parent.parent
        else:
            raise _wrong_folder(directory, Message("no_rule_directory"))


def _yaml_files(directory: Path) -> list[Path]:
    """The files below a directory that are named like rules, ordered by name."""
    found: list[str] = []
    for count, entry in enumerate(_entries_below(directory)):
        if count == MOST_ENTRIES:
            raise _wrong_folder(directory, Message("too_many_entries", limit=MOST_ENTRIES))
        if entry.name.endswith((".yaml", ".yml")) and not os.path.isdir(entry.path):
            found.append(entry.path)
    return list(map(Path, sorted(found, key=lambda path: path.split(os.sep))))  # as paths are, but sooner


def _entries_below(directory: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below a directory that is not hidden; links to folders are not followed."""
    waiting = [directory]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    yield entry
        except OSError as error:
            raise _wrong_folder(folder, Message("cannot_be_read", why=reason_of_error(error))) from None


def _wrong_folder(folder: Path, what: Message, hint: Message | None = None) -> RuleError:
    return RuleError([Mistake(FilePlace(folder.as_posix()), what, hint=hint)])


def gather_rules(directories: Iterable[Path], *, tests: bool = False) -> tuple[list[Rule], list[Mistake]]:
    """The rules that are right, ordered by id, and the mistakes of the others; with their own cases where asked."""
    rules: dict[str, Rule] = {}
    mistakes: list[Mistake] = []
    try:
        listed = list(dict.fromkeys(rule_files(directories)))
    except RuleError as error:
        return [], list(error.mistakes)
    for path, folder in listed:
        found = refused_link(path, folder) or read_rule(path, tests=tests)
        if not isinstance(found, Rule):
            mistakes += found
        elif found.id in rules:
            mistakes.append(_defined_twice(found, rules[found.id]))
        else:
            rules[found.id] = found
    return [rules[name] for name in sorted(rules)], mistakes


def _defined_twice(rule: Rule, before: Rule) -> Mistake:
    """A rule has the id of another, which may be a shipped one."""
    if before.path == _shipped_file(rule.id):
        return _defined_before(rule)
    first = Message("first_in", file=before.path.as_posix())
    return rule.document.mistake(("id",), Message("defined_twice", name=rule.id), first)


def _defined_before(rule: Rule) -> Mistake:
    return rule.document.mistake(("id",), Message("id_is_shipped", name=rule.id), Message("change_in_settings"))


def _shipped_file(rule_id: str) -> Path:
    """Where the shipped rule of this id lies, or would lie."""
    return shipped_folder("rules") / f"{rule_id}.yaml"


def rules_named_as_shipped(rules: Iterable[Rule]) -> list[Mistake]:
    """Rules of one's own that have the id of a shipped one: no diagnosis takes both."""
    found = ((rule, _shipped_file(rule.id)) for rule in rules)
    return [_defined_before(rule) for rule, file in found if file.is_file() and file.resolve() != rule.path.resolve()]


def refuse_shipped_id(rule_id: str) -> None:
    """Refuses to begin a rule that no diagnosis would take beside the shipped one.

    Raises:
        UsageError: There is a shipped rule of this id.
    """
    if _shipped_file(rule_id).is_file():
        raise UsageError(Message("id_is_shipped", name=rule_id), Message("change_in_settings"))


def read_rule(path: Path, *, tests: bool = False) -> Rule | list[Mistake]:
    """The rule of one file, or everything wrong with it. What a file said before is not worked out again, and a file
    that nobody wrote to since it was read is not read again."""
    stamp = _stamp_of_settled(path)
    if stamp is not None and (known := _READ.get((path, tests))) is not None and known[0] == stamp:
        return known[1]
    try:
        found = _bound(path, read_text(path, path.as_posix()).encode(), tests)
    except RuleError as error:
        return list(error.mistakes)
    if not isinstance(found, Rule):
        return list(found)
    if stamp is not None and stamp == _stamp_of_settled(path):
        _READ[path, tests] = stamp, found
    return found


_Stamp = tuple[int, int, int, int, int]
_READ: dict[tuple[Path, bool], tuple[_Stamp, Rule]] = {}
"""The rules that were read of files, with what told then whether somebody writes to them."""
_SETTLED_NS = 2 * 10**9
"""A file that was written to less than this ago can be written to again without another time: clocks of file systems
are coarse."""


def _stamp_of_settled(path: Path) -> _Stamp | None:
    """What is another one as soon as somebody writes to this file; None where that cannot be told."""
    try:
        known = os.stat(path)
    except OSError:
        return None
    if time.time_ns() - max(known.st_mtime_ns, known.st_ctime_ns) < _SETTLED_NS:
        return None
    return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns


@lru_cache(maxsize=1024)
def _bound(path: Path, text: bytes, tests: bool) -> Rule | list[Mistake]:
    document = document_of_text(text, path.as_posix(), tests=tests)
    bound = bind_rule(document, path)
    if isinstance(bound, Rule):
        document.let_go_of_nodes()
    return bound


def lint_rules(directories: Iterable[Path]) -> list[Mistake]:
    """Everything wrong with the rules and patterns of directories, and everything to be bettered (see `style`)."""
    from advisor.rules import style

    found = list(directories)
    rules, mistakes = gather_rules(found, tests=True)
    try:
        roots = dict(_files_in(found))
    except RuleError:
        return mistakes
    ours = shipped_folder("rules")
    known = {path.relative_to(ours).with_suffix("").as_posix() for path in ours.rglob("*.yaml")}
    known |= {name for rule in rules for name in (rule.id, *rule.formerly)}
    for root in set(roots.values()):
        beside = [*root.glob("*/*.y*ml"), *root.resolve().glob("*.y*ml")]
        known |= {f"{path.parent.name}/{path.stem}" for path in beside}
    mistakes += rules_named_as_shipped(rules)
    mistakes += style.find_categories((rule, roots[rule.path]) for rule in rules)
    for rule in rules:
        mistakes += style.check_rule(rule, roots[rule.path], known)
    mistakes += style.find_circles({rule.id: rule for rule in rules})
    mistakes += style.find_unsaid_host_times(rules)
    patterns, slips = gather_patterns(_given_patterns(found))
    mistakes += slips
    for pattern in patterns.patterns:
        if pattern.path in roots:
            mistakes += style.check_pattern(pattern, roots[pattern.path])
    return causes_first(mistakes)
