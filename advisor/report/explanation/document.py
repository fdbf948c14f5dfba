# SPDX-License-Identifier: Apache-2.0
"""An explanation as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from advisor.messages.text import Language
from advisor.model.explanation import Case, Check, Explanation, Linked, Logic, Term, Threshold, Worth
from advisor.model.findings import Diagnosis, Finding, Rows, Saving, Scalar, wins_at_most
from advisor.model.run import Run
from advisor.report.blocks import Block, Document, Heading, Paragraph, bullet_list
from advisor.report.diagnosis.cards import Maker, describe_saving
from advisor.report.explanation.chinese_meanings import chinese_meanings, meaning_of_column
from advisor.report.explanation.rule_document import LONGEST_EXPRESSION, RuleBlocks, logic_rows
from advisor.report.explanation.words import WORDS
from advisor.report.occurrence_times import worst_events
from advisor.report.places import join_places
from advisor.report.prose import (
    Prose,
    Said,
    TextPiece,
    clean_line,
    code_prose,
    parse_long_prose,
    parse_prose,
    plain_prose,
    toned,
)
from advisor.report.rule_text import rule_sentence
from advisor.report.sources import named_line
from advisor.report.words import CONFIDENCES, OUTCOMES, SEVERITIES, word_for
from advisor.units import show_value

MOST_CASES = 3
MOST_NAMES = 8


def explanation_document(explanation: Explanation, language: Language, most: int | None = None) -> Document:
    """What is shown of an explanation; `most` subjects with all that is known of them, all where nothing is said."""
    made = _Maker(explanation, language).blocks(len(explanation.cases) if most is None else most)
    return Document(language, tuple(made), explanation.version)


class _Maker(RuleBlocks):
    def __init__(self, explanation: Explanation, language: Language) -> None:
        self.info = explanation.rule
        findings = tuple(case.finding for case in explanation.cases if case.finding is not None)
        run = explanation.run or Run()
        super().__init__(language, run.times_of)
        self.explanation = explanation
        self.cards = Maker(Diagnosis(run=run, findings=findings, rules=(self.info,)), language)

    def blocks(self, most: int) -> Iterator[Block]:
        explanation = self.explanation
        yield from self.introduction(self.info)
        if explanation.logic is not None:
            yield from self.inputs(explanation.logic)
            yield from self.clauses(explanation.logic)
        thresholds = map(self.threshold_row, explanation.thresholds)
        yield from self.tabled("thresholds", ("name", "value", "basis"), thresholds)
        yield from self.outcome()
        for case in explanation.cases[:most]:
            yield from self.case(case)
        if left := explanation.cases[most:]:
            yield self.left_out(left)

    def told(self, name: str, /, **pieces: TextPiece) -> Prose:
        """Words with holes for values, which never change how the rest is read."""
        return parse_prose(WORDS[name].say(self.language), pieces)

    def names(self, names: Iterable[str]) -> TextPiece:
        """Names behind each other."""
        return TextPiece(self.comma.join(names), code=True)

    def subject(self, title: Prose) -> Heading:
        """Where a subject begins: the parts that follow are about it."""
        return Heading(toned(title, "subject"))

    def inputs(self, logic: Logic) -> Iterator[Block]:
        """What the rule reads."""
        yield self.heading("reads")
        table = self.told("reads_table", table=TextPiece(logic.table, code=True))
        yield Paragraph((*table, TextPiece(self.colon), *parse_prose(self.table_meaning(logic))))
        if logic.requires:
            yield Paragraph(self.told("reads_also", tables=self.names(logic.requires)))
        if logic.record_with is not None:
            yield Paragraph(parse_prose(self.say("record", how=logic.record_with.say(self.language))))
        rows = (
            (code_prose(one.name), parse_prose(meaning_of_column(one.name, one.means, self.language)), one.unit)
            for one in logic.columns
        )
        yield self.grid(("column", "holds", "unit"), rows)

    def table_meaning(self, logic: Logic) -> str:
        """What a table holds; the reference of facts is in English, and in Chinese the name of the table leads."""
        if self.language == "en":
            return logic.means
        return "。".join(filter(None, (logic.called.zh, chinese_meanings("tables").get(logic.means)))) or logic.means

    def clauses(self, logic: Logic) -> Iterator[Block]:
        """What it looks at and when it fires."""
        rows = logic_rows([(one.key, one.text) for one in logic.clauses])
        yield from self.tabled("logic", ("key", "expression"), rows)
        if logic.explains:
            yield from bullet_list([self.told("may_cause", rules=self.names(logic.explains))])

    def threshold_row(self, one: Threshold) -> tuple[Said, ...]:
        return code_prose(one.name), self.threshold_in_force(one), rule_sentence(one.basis.say(self.language))

    def threshold_in_force(self, one: Threshold) -> Said:
        """Its value, and where it is another than the rule file says what that is and who set it."""
        value = self.cards.number(one.value, one.unit)
        if not one.overridden:
            return value
        if one.shipped is None:
            return f"{value} ({self.say('overridden')})"
        pieces = {"value": TextPiece(value), "shipped": TextPiece(self.cards.number(one.shipped, one.unit))}
        where = TextPiece(clean_line(one.where), code=True)
        return self.told("moved_at" if one.where else "moved", **pieces, where=where)

    def outcome(self) -> Iterator[Block]:
        """What became of the rule in this run."""
        yield self.heading("outcome")
        outcome, cases = self.explanation.outcome, self.explanation.cases
        if outcome is not None and outcome.outcome == "fired":
            yield self.sentence("fired", count=sum(case.finding is not None for case in cases))
        elif outcome is not None and outcome.outcome == "quiet":
            yield self.sentence("quiet" if cases else "quiet_nothing")
        elif outcome is not None:
            word = word_for(OUTCOMES, outcome.outcome, self.language) or outcome.outcome
            reason = outcome.reason.say(self.language) if outcome.reason else self.say("no_reason")
            yield Paragraph((TextPiece(f"{word}{self.colon}"), *parse_long_prose(reason, 1000)))
        yield from (Paragraph(parse_prose(note.say(self.language))) for note in self.explanation.notes)
        if outcome is None and self.explanation.run is None:
            yield self.sentence("not_asked")

    def case(self, case: Case) -> Iterator[Block]:
        """One subject that the rule looked at: what was measured, held against what, and what it is worth."""
        yield from self.lead(case)
        yield from self.terms(case) if case.terms else self.evidence(case)
        if case.checks:
            yield from self.checks(case.checks)
        if case.worth is not None and case.worth.saving.us > 0:
            yield from self.worth(case.worth, case.finding, at_most=self.wins_at_most(case))
        if case.rows is not None and case.rows.rows:
            yield from self.excerpt(case.rows)
        if case.finding is not None and case.finding.occurrences:
            yield from self.moments(case.finding)
        for name, linked in (("caused_by", case.causes), ("explains", case.symptoms)):
            yield from self.listed(name, map(self.linked, linked), 3)

    def lead(self, case: Case) -> Iterator[Block]:
        """What the subject is."""
        finding = case.finding
        if finding is None:
            subject = case.measure.subject if case.measure else {}
            near = TextPiece(self.say_subject(subject), code=True)
            yield self.subject(self.told("near", subject=near) if subject else self.prose_of("near_run"))
            return
        yield self.subject((*plain_prose(f"{case.number}. " if case.number else ""), *self.cards.title(finding)))
        yield Paragraph(plain_prose(self.summary_line(finding)))
        if finding.source is not None:
            yield Paragraph((*self.label("called_from", ""), *code_prose(named_line(finding.source))))
        yield Paragraph(code_prose(finding.fingerprint))

    def summary_line(self, finding: Finding) -> str:
        """Severity, confidence, saving and place, in one line."""
        said = [
            f"{self.say('severity')}{self.colon}{SEVERITIES[finding.severity.name].say(self.language)}",
            f"{self.say('confidence')}{self.colon}{CONFIDENCES[finding.confidence.name].say(self.language)}",
            self.phrase(finding.saving, at_most=wins_at_most(finding, self.info)),
            *(place.say(self.language) for place in join_places(finding.seen)[:1]),
        ]
        return " · ".join(said)

    def wins_at_most(self, case: Case) -> bool:
        """Whether what a subject wins, or would have won, is an upper bound."""
        if case.finding is not None:
            return wins_at_most(case.finding, self.info)
        return case.measure is not None and case.measure.at_most

    def phrase(self, saving: Saving, *, at_most: bool) -> str:
        """What can be won."""
        return describe_saving(saving, self.times_of, self.language, at_most=at_most)[0]

    def say_subject(self, subject: Mapping[str, Scalar]) -> str:
        return self.comma.join(f"{clean_line(key)}={clean_line(value)}" for key, value in subject.items())

    def terms(self, case: Case) -> Iterator[Block]:
        """The values that the rule computed."""
        yield self.heading("measured", 3)
        if case.finding is not None and case.finding.seen:
            yield self.sentence("measured_at", place=join_places(case.finding.seen[:1])[0].say(self.language))
        else:
            yield self.sentence("measured_near")
        if any(term.value is None and not term.per_row for term in case.terms):
            yield self.sentence("not_kept")
        rows = (
            (code_prose(term.name), code_prose(term.expression, LONGEST_EXPRESSION), self.term_value(term))
            for term in case.terms
        )
        yield self.grid(("name", "expression", "value"), rows, (False, False, True))

    def evidence(self, case: Case) -> Iterator[Block]:
        """What was saved of the values, where the rule that computed them is not at hand."""
        about = case.finding or case.measure
        measures = (self.cards.measure(item, self.info) for item in (about.evidence if about is not None else ()))
        rows = ((one.label, one.value, one.threshold) for one in measures)
        yield self.heading("evidence", 3)
        yield self.grid(("measure", "value", "threshold"), rows, (False, True, True))

    def term_value(self, term: Term) -> Said:
        return self.say("per_row") if term.per_row else self.cards.cell(term.value, term.name, term.unit)

    def checks(self, checks: Sequence[Check]) -> Iterator[Block]:
        """What the values were held against."""
        yield self.heading("held_against", 3)
        if any(check.decides != "when" for check in checks):
            yield self.sentence("first_level")
        yield self.grid(("decides", "condition", "stood", "met"), map(self.check_row, checks))

    def check_row(self, check: Check) -> tuple[Said, ...]:
        """What a condition decides, how it reads, with which values, and whether it holds."""
        levels = {"severity": SEVERITIES, "confidence": CONFIDENCES}.get(check.decides, {})
        decides = "when" if check.decides == "when" else f"{check.decides}_level"
        left, right = (self.cards.piece(value, check.unit) for value in (check.left, check.right))
        return (
            self.say(decides, level=word_for(levels, check.level, self.language) or ""),
            code_prose(check.text, LONGEST_EXPRESSION),
            (left, TextPiece(f" {check.sign} "), right) if check.sign else (),
            self.say({True: "yes", False: "no", None: "unknown"}[check.holds]),
        )

    def worth(self, worth: Worth, finding: Finding | None, *, at_most: bool) -> Iterator[Block]:
        """How the saving was computed."""
        holes = self.cards.holes(finding) if finding is not None else {}
        saving = self.phrase(worth.saving, at_most=at_most)
        yield self.heading("worth", 3)
        expression = TextPiece(clean_line(worth.expression, LONGEST_EXPRESSION), code=True)
        at_place = TextPiece(show_value(worth.at_place_us, "us"))
        yield Paragraph(self.told("worth_place", expression=expression, us=at_place))
        yield self.sentence("worth_all", saving=saving, across=self.say(worth.across))
        yield Paragraph(rule_sentence(self.say("assumes", words=worth.assumes.say(self.language)), holes))
        rows = ((code_prose(term.name), self.term_value(term)) for term in worth.terms)
        yield self.grid(("name", "value"), rows, (False, True))

    def excerpt(self, rows: Rows) -> Iterator[Block]:
        """The rows behind it."""
        shown = self.cards.excerpt(rows, self.info, len(rows.rows))
        yield self.heading("excerpt", 3)
        if shown.note:
            yield Paragraph(plain_prose(shown.note))
        if shown.timed:
            yield self.sentence("since_start")
        yield shown.grid

    def moments(self, finding: Finding) -> Iterator[Block]:
        """Its worst events, with where they lie in the timeline."""
        yield self.heading("occurrences", 3)
        yield self.sentence("how_counted")
        yield from bullet_list(
            (*one.line, TextPiece("".join(f" · {said}" for said in (one.span, f"{one.start_ns} ns") if said)))
            for one in worst_events(finding, self.language)
        )

    def linked(self, linked: Linked) -> Prose:
        """Another finding: its rule and subject, what it wins, and its fingerprint."""
        subject = f" {self.say_subject(linked.subject)}" if linked.subject else ""
        name = TextPiece(f"{clean_line(linked.rule)}{subject}", code=True)
        return (
            name,
            TextPiece(f" · {self.phrase(linked.saving, at_most=linked.at_most)} · "),
            *code_prose(linked.fingerprint),
        )

    def left_out(self, left: Sequence[Case]) -> Heading:
        """How many more subjects there are, and which."""
        names = self.names(clean_line(case.fingerprint) for case in left[:MOST_NAMES])
        more = f" {self.say('more_places', count=len(left) - MOST_NAMES)}" if left[MOST_NAMES:] else ""
        said = self.told("more_cases", count=TextPiece(str(len(left))), names=names)
        return self.subject((*said, TextPiece(more)))
