# SPDX-License-Identifier: Apache-2.0
"""What a rule said of each subject, and on what grounds: from the tables where they are at hand, else as saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.engine.hit import Hit
from advisor.engine.profile_like import ProfileLike
from advisor.explanation.checks import checks_of_rule
from advisor.explanation.evaluated_again import hits_of_findings, hits_of_measures
from advisor.explanation.partial_evaluation import KnownValues, shown_unit, types_of
from advisor.messages.text import Text
from advisor.model.explanation import Case, Linked, Term, Worth
from advisor.model.findings import Diagnosis, Finding, Measure, Place, RuleInfo, Saving, Scalar, wins_at_most
from advisor.model.symptoms import finding_numbers
from advisor.rules.bind import Rule


class Cases:
    """Makes the cases of one rule in one diagnosis."""

    def __init__(
        self, info: RuleInfo, rule: Rule | None, diagnosis: Diagnosis, profile: ProfileLike | None, rows: int
    ) -> None:
        """`info` is the rule as it was evaluated; without the rule itself only what was saved is known."""
        self.rule, self.diagnosis, self.profile, self.rows = rule, diagnosis, profile, rows
        self.params = {param.name: param.value for param in info.params}
        self.numbers = finding_numbers(diagnosis)

    def of_findings(self, findings: Sequence[Finding]) -> Iterator[Case]:
        """What each finding rests on."""
        hits: Mapping[str, Hit] = {}
        if self.rule is not None and self.profile is not None and findings:
            hits = hits_of_findings(self.rule, self.profile, self.diagnosis.run, self.rows)
        for finding in findings:
            yield self._of_finding(finding, hits.get(finding.fingerprint))

    def of_measures(self, measures: tuple[Measure, ...]) -> Iterator[Case]:
        """What was measured where the rule did not fire."""
        hits: Mapping[str, Hit] = {}
        if self.rule is not None and self.profile is not None:
            hits = hits_of_measures(self.rule, self.profile, self.diagnosis.run, self.rows, measures)
        for measure in measures:
            yield self._of_measure(measure, hits.get(measure.fingerprint))

    def _of_finding(self, finding: Finding, hit: Hit | None) -> Case:
        place = finding.seen[0] if finding.seen else Place()
        spot = {"rank": place.rank, "stage": place.stage, "step": place.step}
        shown = {item.name: item.value for item in finding.evidence}
        known = self._known_values({**spot, **finding.subject, **shown}, hit)
        return Case(
            fingerprint=finding.fingerprint,
            number=self.numbers.get(finding.fingerprint, ""),
            finding=finding,
            terms=tuple(self._named_terms(known)) if known else (),
            checks=tuple(checks_of_rule(self.rule, known)) if known and self.rule else (),
            worth=self._worth_of_saving(finding.saving, place.saving_us, known),
            rows=hit.excerpt if hit is not None and hit.excerpt is not None else finding.excerpt,
            causes=self._linked_findings(finding.causes),
            symptoms=self._linked_findings(finding.symptoms),
        )

    def _of_measure(self, measure: Measure, hit: Hit | None) -> Case:
        known = self._known_values({**measure.subject, **{item.name: item.value for item in measure.evidence}}, hit)
        return Case(
            fingerprint=measure.fingerprint,
            measure=measure,
            terms=tuple(self._named_terms(known)) if known else (),
            checks=tuple(checks_of_rule(self.rule, known)) if known and self.rule else (),
            worth=self._worth_of_saving(measure.saving, measure.saving.us, known),
            rows=hit.excerpt if hit is not None else None,
        )

    def _known_values(self, saved: Mapping[str, Scalar], hit: Hit | None) -> KnownValues | None:
        """The values of the place: of the tables where they are at hand, else those that were saved."""
        if self.rule is None:
            return None
        if hit is not None:
            return KnownValues(self.rule, self.diagnosis.run, self.params, hit.values)
        named = {*self.rule.for_each, *self.rule.let}
        values = {name: value for name, value in saved.items() if name in named}
        volatile = [name for name in ("rank", "stage", "step") if values.get(name, 0) is None]
        for name in volatile:  # a place that has none of it was not told apart by it, or it is not known
            del values[name]
        return KnownValues(self.rule, self.diagnosis.run, self.params, values)

    def _named_terms(self, known: KnownValues) -> Iterator[Term]:
        assert self.rule is not None  # noqa: S101 - there are no known values without it
        for name in self.rule.for_each:
            yield Term(name=name, value=known.values.get(name))
        shown = {item.name: item.unit for item in self.rule.evidence}
        for name, compiled in self.rule.let.items():
            yield Term(
                name=name,
                value=known.values.get(name),
                unit=shown.get(name) or shown_unit(compiled.type),
                expression=compiled.source,
                per_row=compiled.type.per_row,
            )

    def _worth_of_saving(self, saving: Saving, at_place_us: float, known: KnownValues | None) -> Worth | None:
        if known is None or self.rule is None or self.rule.saving is None:
            return None
        expression = self.rule.saving.us
        types = types_of(self.rule)
        return Worth(
            expression=expression.source,
            terms=tuple(
                Term(
                    name=name,
                    value=known.values.get(name),
                    unit=shown_unit(types[name]) if name in types else self._unit_of_column(name),
                    per_row=name not in types,
                )
                for name in sorted(expression.names)
            ),
            at_place_us=at_place_us,
            across=self.rule.saving.across,
            saving=saving,
            assumes=self.rule.saving.assumes,
        )

    def _unit_of_column(self, column: str) -> str:
        assert self.rule is not None  # noqa: S101 - asked only of a rule
        if column in self.rule.let:
            return shown_unit(self.rule.let[column].type)
        return self.rule.fact.columns()[column].unit

    def _linked_findings(self, fingerprints: Sequence[str]) -> tuple[Linked, ...]:
        others = self.diagnosis.by_fingerprint
        infos = {info.id: info for info in self.diagnosis.rules}
        return tuple(
            Linked(
                rule=other.rule,
                fingerprint=other.fingerprint,
                title=info.title if info is not None else Text(en=f"`{other.rule}`", zh=f"`{other.rule}`"),
                subject=other.subject,
                saving=other.saving,
                at_most=wins_at_most(other, info),
            )
            for other in (others[name] for name in fingerprints if name in others)
            for info in (infos.get(other.rule),)
        )
