# SPDX-License-Identifier: Apache-2.0
"""Rule: one rule with nothing left to resolve, as `bind` makes it of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct

from advisor.expr.compile import Compiled
from advisor.expr.settings import asked_variables
from advisor.facts.base import Fact
from advisor.facts.derived import RankSplit
from advisor.messages.text import Text
from advisor.model.findings import (
    Confidence,
    Label,
    Param,
    Reference,
    RemedyStep,
    RuleInfo,
    Severity,
    ShownUnit,
    TitleWith,
)
from advisor.model.run import Readers
from advisor.rules.occurrences import Occurrences
from advisor.rules.schema import CaseFile, cases_of_document
from advisor.units import Type
from advisor.yaml_files.document import RuleDocument

Across = Literal["worst", "mean", "least", "critical", "worst_or_critical"]


GAIN_WITHOUT_COMM = "gain_without_comm_us"
"""The piece of evidence that says what limits the saving of a remedy which only makes communication shorter."""


class EvidenceSpec(Struct, frozen=True):
    """One value to show: its name, unit, labels and the param it is held against."""

    name: str
    unit: str
    label: Text
    show_as: ShownUnit
    threshold: str = ""


class ExcerptSpec(Struct, frozen=True):
    """Which rows of a group to show."""

    columns: tuple[tuple[str, Type], ...]
    where: Compiled
    order: Compiled
    top: int
    fact: type[Fact] | None = None
    """The table they are of, where it is not the rule's own."""

    @property
    def selectable(self) -> bool:
        """Whether they can be chosen rank by rank: those of a heavy table, told by its columns alone."""
        if self.fact is None or not self.fact.heavy:
            return False
        return self.where.names | self.order.names <= self.fact.columns().keys()


class SavingSpec(Struct, frozen=True):
    """What fixing could win, and how the savings of many ranks become one."""

    us: Compiled
    across: Across
    assumes: Text
    at_most: bool = False
    """Whether it is an upper bound and no estimate."""
    imposes: Compiled | None = None
    """What others lose by it now, µs per step, where that is more than fixing it wins."""
    host_time: bool = False
    """Whether it is time that the host takes, or that the device waits for the host: where recording slowed that, an
    upper bound."""
    frees: str = ""
    """`communication` where the remedy makes nothing but communication shorter."""

    @property
    def asks_quiet_ranks(self) -> bool:
        """Whether what the remedy wins where the rule stays quiet decides what it wins as a whole."""
        return self.across in {"critical", "least", "worst_or_critical"}


Levels = tuple[tuple[Severity, Compiled | None], ...]
ConfidenceChoice = tuple[tuple[Confidence, Compiled | None], ...]


def _levels_as_written(given: Levels | ConfidenceChoice) -> Iterator[str]:
    """Each level with its condition, as rule files write it; one that always holds is its name alone."""
    for level, condition in given:
        otherwise = ": otherwise" if len(given) > 1 else ""
        yield level.name + (f": {condition.source}" if condition else otherwise)


@dataclass(frozen=True)
class Rule:
    """A rule with nothing left to resolve. None as a condition means always."""

    id: str
    path: Path
    fact: type[Fact]
    requires: tuple[type[Fact], ...]
    for_each: tuple[str, ...]
    applies_when: Compiled | None
    where: Compiled | None
    let: Mapping[str, Compiled]
    when: Compiled
    severity: Levels
    confidence: ConfidenceChoice
    params: Mapping[str, Param]
    evidence: tuple[EvidenceSpec, ...]
    excerpt: ExcerptSpec | None
    occurrences: Occurrences | None
    saving: SavingSpec | None
    explains: tuple[str, ...]
    includes: tuple[str, ...]
    """Of what it explains: rules whose findings lose a part of what this one loses."""
    own_reason: str
    """The piece of evidence with which no other finding explains one of it; empty where there is none."""
    scarce: str | None
    """The resource that its findings say there is too little of."""
    symptom: Compiled | None
    """The time per step, µs, that a finding says again and does not explain; None for a cause."""
    coverage: Mapping[str, float]
    """By observed table: the part that has to be there for nothing found to count, where the rule says so itself."""
    doubts: tuple[str, ...]
    """Patterns of rules whose findings on the same ranks are less certain."""
    inflates: str
    """`host_time` where its finding says that the host took longer than usual: on the same ranks savings of such time
    are upper bounds."""
    since: str
    status: Literal["stable", "preview", "deprecated"]
    formerly: tuple[str, ...]
    implements: tuple[str, ...]
    """Statements of guides, such as `mindspore-method/6` (see `guides`)."""
    title: Text
    title_with: Mapping[str, Text]
    """By the name of a piece of evidence: what is said instead where that is known."""
    why: Text
    fix: tuple[RemedyStep, ...]
    fix_when: tuple[Compiled | None, ...]
    """When each step of `fix` is worth saying; None for always."""
    pattern_fixes: bool
    """Whether the steps of patterns come before its own (see `patterns`)."""
    references: tuple[Reference, ...]
    document: RuleDocument = field(repr=False, compare=False)

    @property
    def category(self) -> str:
        return self.id.split("/", 1)[0]

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The keys that name the subject from one run to the next."""
        columns = self.fact.columns()
        return tuple(key for key in self.for_each if not columns[key].volatile)

    @property
    def facts(self) -> tuple[type[Fact], ...]:
        """Every table the rule needs."""
        return (self.fact, *self.requires)

    @property
    def wanted(self) -> tuple[type[Fact], ...]:
        """Every table the rule reads whole; without that of its occurrences it does, and knows no times."""
        others = [self.excerpt.fact] if self.excerpt is not None and not self.excerpt.selectable else []
        if self.occurrences is not None and not self.occurrences.selectable:
            others.append(self.occurrences.fact)
        if self.frees_communication:
            others.append(RankSplit)
        return tuple(dict.fromkeys((*self.facts, *(fact for fact in others if fact is not None))))

    @property
    def frees_communication(self) -> bool:
        """Whether its remedy makes nothing but communication shorter."""
        return self.saving is not None and self.saving.frees == "communication"

    @property
    def row_order(self) -> Compiled | None:
        """The order of its excerpt, where that says one."""
        return self.excerpt.order if self.excerpt is not None and self.excerpt.order.names else None

    @property
    def own_order(self) -> Compiled | None:
        """The same where the excerpt is of its own rows."""
        return self.row_order if self.excerpt is not None and self.excerpt.fact is None else None

    def expressions(self) -> Iterator[Compiled]:
        """Everything the rule computes."""
        conditions = (test for _, test in (*self.severity, *self.confidence))
        times = () if self.saving is None else (self.saving.us, self.saving.imposes)
        judged = (self.applies_when, self.where, *self.let.values(), self.when, *conditions, *self.fix_when)
        yield from (one for one in (*judged, *times, self.symptom) if one is not None)
        if self.excerpt is not None:
            yield from (self.excerpt.where, self.excerpt.order)
        if self.occurrences is not None:
            yield from (one for one in (self.occurrences.where, self.occurrences.order) if one is not None)

    @cached_property
    def settings(self) -> frozenset[str]:
        """The environment variables it asks for."""
        asking = (expression for expression in self.expressions() if "setting" in expression.source)
        return asked_variables(name for expression in asking for name in expression.names)

    @property
    def tests(self) -> tuple[CaseFile, ...]:
        """The rule's own cases, read from its file again: diagnosing does without them.

        Raises:
            RuleError: The file cannot be read any more.
        """
        from advisor.yaml_files.source import read_document

        return cases_of_document(read_document(self.path))[0]

    def info(self, readers: Readers | None = None) -> RuleInfo:
        """What a report says about the rule to these readers; to all of them where none are given."""
        if readers not in self._infos:
            self._infos[readers] = self._make_info(readers)
        return self._infos[readers]

    @cached_property
    def _infos(self) -> dict[Readers | None, RuleInfo]:
        """What reports have said about it, by their readers."""
        return {}

    def _make_info(self, readers: Readers | None) -> RuleInfo:
        return RuleInfo(
            id=self.id,
            status=self.status,
            title=self.title,
            titles=tuple(TitleWith(name=name, title=title) for name, title in self.title_with.items()),
            why=self.why,
            params=tuple(self.params.values()),
            labels=tuple(Label(name=e.name, label=e.label, show_as=e.show_as) for e in self.evidence),
            fix=self.fix,
            assumes=self.saving.assumes if self.saving else None,
            at_most=self.saving is not None and self.saving.at_most,
            references=tuple(one for one in self.references if readers is None or one.concerns(*readers)),
            formerly=self.formerly,
            includes=self.includes,
            scarce=self.scarce,
            symptom=self.symptom is not None,
        )

    def logic(self) -> tuple[tuple[str, str], ...]:
        """What it looks at and when it speaks: the keys of rule files with tables and expressions, in their order."""
        every = (
            ("applies_when", self.applies_when.source if self.applies_when else ""),
            ("for_each", ", ".join(self.for_each)),
            ("in", self.fact.table),
            ("requires", ", ".join(fact.table for fact in self.requires)),
            *(("coverage", f"{table}: {part:g}") for table, part in self.coverage.items()),
            ("where", self.where.source if self.where else ""),
            *(("let", f"{name}: {value.source}") for name, value in self.let.items()),
            ("when", self.when.source),
            *(("severity", said) for said in _levels_as_written(self.severity)),
            *(("confidence", said) for said in _levels_as_written(self.confidence)),
            ("saving", self.saving.us.source if self.saving else ""),
            ("frees", self.saving.frees if self.saving else ""),
            *(("fix", f"{n}: {test.source}") for n, test in enumerate(self.fix_when, 1) if test),
        )
        return tuple((key, said) for key, said in every if said)

    def tuned(self, params: Mapping[str, float], severity: Severity | None) -> Rule:
        """The same rule with other thresholds or a fixed severity."""
        changed = {
            name: param.model_copy(update={"value": params[name], "overridden": True}) if name in params else param
            for name, param in self.params.items()
        }
        return replace(self, params=changed, severity=((severity, None),) if severity is not None else self.severity)
