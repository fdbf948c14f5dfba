# SPDX-License-Identifier: Apache-2.0
"""An explanation as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.explanation import Case, Check, Explanation, Linked, Logic, Term, Threshold, Worth
from advisor.model.findings import CodeLine, Diagnosis, Finding, Rows, Scalar
from advisor.model.run import Run
from advisor.report.blocks import Block, Blocks, Document, Grid, Heading, Paragraph, bullet_list
from advisor.report.columns import COLUMNS
from advisor.report.diagnosis.cards import Maker, describe_saving
from advisor.report.explanation.chinese_meanings import chinese_meanings
from advisor.report.explanation.rule_document import RuleBlocks, logic_rows
from advisor.report.explanation.words import WORDS
from advisor.report.occurrence_times import worst_events
from advisor.report.places import join_places
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, parse_long_prose, parse_prose, plain_prose
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


def _titled_blocks(title: Prose, said: Iterable[Prose] = (), grid: Grid | None = None, *, level: int = 2) -> Blocks:
    """A part of an explanation: sentences, then a table."""
    return (Heading(title, level), *map(Paragraph, said), *([grid] if grid is not None else []))


def _subject_blocks(title: Prose, said: Iterable[Prose] = ()) -> Blocks:
    """Where a subject begins: the parts that follow are about it."""
    return _titled_blocks(tuple(replace(piece, tone="subject") for piece in title), said)


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
            yield from self._input_blocks(explanation.logic)
            yield from self._clause_blocks(explanation.logic)
        if explanation.thresholds:
            yield from self._threshold_blocks(explanation.thresholds)
        yield from self._outcome_blocks()
        for case in explanation.cases[:most]:
            yield from self._case_blocks(case)
        if left := explanation.cases[most:]:
            yield from self._left_out_blocks(left)

    def told(self, name: str, /, **pieces: TextPiece) -> Prose:
        """Words with holes for values, which never change how the rest is read."""
        return parse_prose(WORDS[name].say(self.language), pieces)

    def _input_blocks(self, logic: Logic) -> Blocks:
        table = self.told("reads_table", table=TextPiece(logic.table, code=True))
        said = [(*table, TextPiece(self.colon), *parse_prose(self._table_meaning(logic)))]
        if logic.requires:
            said.append(self.told("reads_also", tables=TextPiece(self._join_names(logic.requires), code=True)))
        if logic.record_with is not None:
            said.append(parse_prose(self.say("record", how=logic.record_with.say(self.language))))
        rows = tuple(
            (
                code_prose(column.name),
                parse_prose(self._column_meaning(column.name, column.means)),
                plain_prose(column.unit),
            )
            for column in logic.columns
        )
        return _titled_blocks(
            self.said("reads"),
            tuple(said),
            Grid(self.heads("column", "holds", "unit"), rows),
        )

    def _table_meaning(self, logic: Logic) -> str:
        """What a table holds; the reference of facts is in English, and in Chinese the name of the table leads."""
        if self.language == "en":
            return logic.means
        return "。".join(filter(None, (logic.called.zh, chinese_meanings("tables").get(logic.means)))) or logic.means

    def _column_meaning(self, name: str, doc: str) -> str:
        """What a column holds; the reference of facts is in English: what is not said in Chinese has its label."""
        return (
            doc
            if self.language == "en"
            else chinese_meanings("columns").get(doc) or word_for(COLUMNS, name, self.language) or doc
        )

    def _clause_blocks(self, logic: Logic) -> Blocks:
        rows = logic_rows([(clause.key, clause.text) for clause in logic.clauses])
        pieces = TextPiece(self._join_names(logic.explains), code=True)
        causes = (self.told("may_cause", rules=pieces),) if logic.explains else ()
        grid = Grid(self.heads("key", "expression"), rows)
        return (*_titled_blocks(self.said("logic"), (), grid), *bullet_list(causes))

    def _join_names(self, names: Sequence[str]) -> str:
        return self.comma.join(names)

    def _threshold_blocks(self, thresholds: Sequence[Threshold]) -> Blocks:
        rows = tuple(
            (code_prose(one.name), self._threshold_prose(one), rule_sentence(one.basis.say(self.language)))
            for one in thresholds
        )
        heads = self.heads("name", "value", "basis")
        return _titled_blocks(self.said("thresholds"), (), Grid(heads, rows))

    def _threshold_prose(self, one: Threshold) -> Prose:
        value = self.cards.number(one.value, one.unit)
        if not one.overridden:
            return plain_prose(value)
        if one.shipped is None:
            return plain_prose(f"{value} ({self.say('overridden')})")
        pieces = {"value": TextPiece(value), "shipped": TextPiece(self.cards.number(one.shipped, one.unit))}
        if not one.where:
            return self.told("moved", **pieces)
        return self.told("moved_at", **pieces, where=TextPiece(clean_line(one.where), code=True))

    def _outcome_blocks(self) -> Blocks:
        outcome, language = self.explanation.outcome, self.language
        notes = [parse_prose(note.say(language)) for note in self.explanation.notes]
        title = self.said("outcome")
        if outcome is None:
            asked = [] if self.explanation.run is not None else [self.said("not_asked")]
            return _titled_blocks(title, (*notes, *asked))
        if outcome.outcome == "fired":
            count = sum(case.finding is not None for case in self.explanation.cases)
            said = self.said("fired_one" if count == 1 else "fired", count=count)
        elif outcome.outcome == "quiet":
            said = self.said("quiet" if self.explanation.cases else "quiet_nothing")
        else:
            word = word_for(OUTCOMES, outcome.outcome, language) or outcome.outcome
            reason = outcome.reason.say(language) if outcome.reason else self.say("no_reason")
            said = (TextPiece(f"{word}{self.colon}"), *parse_long_prose(reason, 1000))
        return _titled_blocks(title, (said, *notes))

    def _case_blocks(self, case: Case) -> Iterator[Block]:
        yield from self._lead_blocks(case)
        yield from self._term_blocks(case) if case.terms else self._evidence_blocks(case)
        if case.checks:
            yield from self._check_blocks(case.checks)
        if case.worth is not None and case.worth.saving.us > 0:
            yield from self._worth_blocks(case.worth, self.cards.holes(case.finding) if case.finding else {})
        if case.rows is not None and case.rows.rows:
            yield from self._excerpt_blocks(case.rows)
        if case.finding is not None and case.finding.occurrences:
            yield from self._moment_blocks(case.finding)
        for name, linked in (("caused_by", case.causes), ("explains", case.symptoms)):
            yield from self.listed(name, map(self._linked_prose, linked), 3)

    def _lead_blocks(self, case: Case) -> Blocks:
        if case.finding is None:
            subject = case.measure.subject if case.measure else {}
            title = self.told("near", subject=TextPiece(self._subject_text(subject), code=True))
            return _subject_blocks(title if subject else self.said("near_run"))
        finding = case.finding
        number = plain_prose(f"{case.number}. ") if case.number else ()
        title = (*number, *self.cards.title(finding))
        line = (self._line_prose(finding.source),) if finding.source is not None else ()
        return _subject_blocks(
            title, (plain_prose(self._summary_line(finding)), *line, code_prose(finding.fingerprint))
        )

    def _line_prose(self, source: CodeLine) -> Prose:
        """The user's line behind a finding."""
        return (
            TextPiece(self.say("called_from") + self.colon),
            *code_prose(named_line(source)),
        )

    def _summary_line(self, finding: Finding) -> str:
        """Severity, confidence, saving and place, in one line."""
        language, colon = self.language, self.colon
        said = [
            f"{self.say('severity')}{colon}{SEVERITIES[finding.severity.name].say(language)}",
            f"{self.say('confidence')}{colon}{CONFIDENCES[finding.confidence.name].say(language)}",
            describe_saving(finding.saving.us, finding.saving.share, self.times_of, language)[0],
            *([self._worst_place(finding)] if finding.seen else []),
        ]
        return " · ".join(said)

    def _worst_place(self, finding: Finding) -> str:
        return join_places(finding.seen)[0].say(self.language)

    def _subject_text(self, subject: Mapping[str, Scalar]) -> str:
        return self._join_names([f"{clean_line(key)}={clean_line(value)}" for key, value in subject.items()])

    def _term_blocks(self, case: Case) -> Blocks:
        language = self.language
        where = self.say("measured_near")
        if case.finding is not None and case.finding.seen:
            where = self.say("measured_at", place=join_places(case.finding.seen[:1])[0].say(language))
        rows = tuple(
            (code_prose(term.name), code_prose(term.expression, 4096), self._term_value(term)) for term in case.terms
        )
        unknown = any(term.value is None and not term.per_row for term in case.terms)
        notes = (self.said("not_kept"),) if unknown else ()
        heads = self.heads("name", "expression", "value")
        grid = Grid(heads, rows, (False, False, True))
        return _titled_blocks(self.said("measured"), (plain_prose(where), *notes), grid, level=3)

    def _evidence_blocks(self, case: Case) -> Blocks:
        """What was saved of the values, where the rule that computed them is not at hand."""
        about = case.finding or case.measure
        measures = [self.cards.measure(item, self.info) for item in (about.evidence if about is not None else ())]
        rows = tuple((one.label, one.value, plain_prose(one.threshold)) for one in measures)
        heads = self.heads("measure", "value", "threshold")
        return _titled_blocks(self.said("evidence"), (), Grid(heads, rows, (False, True, True)), level=3)

    def _term_value(self, term: Term) -> Prose:
        if term.per_row:
            return self.said("per_row")
        return self.cards.cell(term.value, term.name, term.unit)

    def _check_blocks(self, checks: Sequence[Check]) -> Blocks:
        rows = tuple(
            (
                self._decides_prose(check),
                code_prose(check.text, 4096),
                self._compared_values(check),
                self._holds_prose(check),
            )
            for check in checks
        )
        levelled = any(check.decides != "when" for check in checks)
        said = (self.said("first_level"),) if levelled else ()
        grid = Grid(self.heads("decides", "condition", "stood", "met"), rows)
        return _titled_blocks(self.said("held_against"), said, grid, level=3)

    def _decides_prose(self, check: Check) -> Prose:
        decides = "when" if check.decides == "when" else f"{check.decides}_level"
        levels = {"severity": SEVERITIES, "confidence": CONFIDENCES}.get(check.decides, {})
        return self.said(decides, level=word_for(levels, check.level, self.language) or "")

    def _compared_values(self, check: Check) -> Prose:
        if not check.sign:
            return ()
        left, right = (self.cards.piece(value, check.unit) for value in (check.left, check.right))
        return (left, TextPiece(f" {check.sign} "), right)

    def _holds_prose(self, check: Check) -> Prose:
        return self.said({True: "yes", False: "no", None: "unknown"}[check.holds])

    def _worth_blocks(self, worth: Worth, holes: Mapping[str, TextPiece]) -> Blocks:
        language = self.language
        at_place = TextPiece(show_value(worth.at_place_us, "us"))
        phrase = describe_saving(worth.saving.us, worth.saving.share, self.times_of, language)[0]
        across = self.say(worth.across)
        said = (
            self.told("worth_place", expression=TextPiece(clean_line(worth.expression, 4096), code=True), us=at_place),
            self.said("worth_all", saving=phrase, across=across),
            rule_sentence(self.say("assumes", words=worth.assumes.say(language)), holes),
        )
        rows = tuple((code_prose(term.name), self._term_value(term)) for term in worth.terms)
        heads = self.heads("name", "value")
        return _titled_blocks(self.said("worth"), said, Grid(heads, rows, (False, True)), level=3)

    def _excerpt_blocks(self, rows: Rows) -> Blocks:
        shown = self.cards.excerpt(rows, self.info, len(rows.rows))
        notes = [shown.note] if shown.note else []
        if shown.timed:
            notes.append(self.say("since_start"))
        title = self.said("excerpt")
        return _titled_blocks(title, map(plain_prose, notes), shown.grid, level=3)

    def _moment_blocks(self, finding: Finding) -> Blocks:
        """Its worst events, with where they lie in the timeline."""
        notes = self.said("how_counted")
        rows = tuple(
            (*one.line, TextPiece("".join(f" · {said}" for said in (one.span, f"{one.start_ns} ns") if said)))
            for one in worst_events(finding, self.language)
        )
        return (*_titled_blocks(self.said("occurrences"), (notes,), level=3), *bullet_list(rows))

    def _linked_prose(self, linked: Linked) -> Prose:
        phrase = describe_saving(linked.saving.us, linked.saving.share, self.times_of, self.language)[0]
        subject = f" {self._subject_text(linked.subject)}" if linked.subject else ""
        name = TextPiece(f"{clean_line(linked.rule)}{subject}", code=True)
        return (name, TextPiece(f" · {phrase} · "), TextPiece(clean_line(linked.fingerprint), code=True))

    def _left_out_blocks(self, left: Sequence[Case]) -> Blocks:
        names = [clean_line(case.fingerprint) for case in left[:MOST_NAMES]]
        more = f" {self.say('more_places', count=len(left) - MOST_NAMES)}" if left[MOST_NAMES:] else ""
        pieces = {"count": TextPiece(str(len(left))), "names": TextPiece(self._join_names(names), code=True)}
        return _subject_blocks((*self.told("more_cases", **pieces), TextPiece(more)))
