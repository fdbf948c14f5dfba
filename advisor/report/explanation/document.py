# SPDX-License-Identifier: Apache-2.0
"""An explanation as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.explanation import Case, Check, Explanation, Linked, Logic, Term, Threshold, Worth
from advisor.model.findings import CodeLine, Diagnosis, Finding, Rows, Scalar
from advisor.model.run import Run
from advisor.report.blocks import Block, Blocks, Document, Grid, Heading, Paragraph, bullets
from advisor.report.cards import Maker, open_text, outline, saved
from advisor.report.columns import COLUMNS
from advisor.report.explanation.words import WORDS, tell
from advisor.report.places import spots
from advisor.report.prose import Piece, Prose, clean, code, prose, words
from advisor.report.rule_text import rule_sentence
from advisor.report.sources import named_line
from advisor.report.when import whens
from advisor.report.words import CONFIDENCES, OUTCOMES, SEVERITIES, known, say
from advisor.units import show

MOST_CASES = 3
MOST_NAMES = 8


def document(explanation: Explanation, language: Language, most: int | None = None) -> Document:
    """What is shown of an explanation; `most` subjects with all that is known of them, all where nothing is said."""
    made = _Maker(explanation, language).blocks(len(explanation.cases) if most is None else most)
    return Document(language, tuple(made), explanation.version)


def _part(title: Prose, said: Iterable[Prose] = (), grid: Grid | None = None, *, level: int = 2) -> Blocks:
    """A part of an explanation: sentences, then a table."""
    return (Heading(title, level), *map(Paragraph, said), *([grid] if grid is not None else []))


def _about(title: Prose, said: Iterable[Prose] = ()) -> Blocks:
    """Where a subject begins: the parts that follow are about it."""
    return _part(tuple(replace(piece, tone="subject") for piece in title), said)


class _Maker:
    def __init__(self, explanation: Explanation, language: Language) -> None:
        self.explanation, self.language = explanation, language
        self.info = explanation.rule
        findings = tuple(case.finding for case in explanation.cases if case.finding is not None)
        run = explanation.run or Run()
        self.stepped = bool(run.steps)
        self.cards = Maker(Diagnosis(run=run, findings=findings, rules=(self.info,)), language)

    def blocks(self, most: int) -> Iterator[Block]:
        info, language, explanation = self.info, self.language, self.explanation
        status = () if info.status == "stable" else (Piece(f" ({say(info.status, language)})", tone="warn"),)
        yield Heading((*code(info.id), *status), 1)
        yield Paragraph(tuple(replace(piece, strong=True) for piece in outline(info, language)))
        yield from open_text(info.why, language)
        if explanation.logic is not None:
            yield from self._reads(explanation.logic)
            yield from self._clauses(explanation.logic)
        if explanation.thresholds:
            yield from self._thresholds(explanation.thresholds)
        yield from self._outcome()
        for case in explanation.cases[:most]:
            yield from self._case(case)
        if left := explanation.cases[most:]:
            yield from self._left(left)

    def told(self, name: str, /, **pieces: Piece) -> Prose:
        """Words with holes for values, which never change how the rest is read."""
        return prose(WORDS[name].say(self.language), pieces)

    def heads(self, *names: str) -> tuple[Prose, ...]:
        return tuple(words(tell(name, self.language)) for name in names)

    def _reads(self, logic: Logic) -> Blocks:
        table = self.told("reads_table", table=Piece(logic.table, code=True))
        said = [(*table, Piece(say("colon", self.language)), *prose(logic.means))]
        if logic.requires:
            said.append(self.told("reads_also", tables=Piece(self._list(logic.requires), code=True)))
        if logic.record_with is not None:
            said.append(prose(tell("record", self.language, how=logic.record_with.say(self.language))))
        rows = tuple(
            (code(column.name), words(self._means(column.name, column.means)), words(column.unit))
            for column in logic.columns
        )
        return _part(
            words(tell("reads", self.language)), tuple(said), Grid(self.heads("column", "holds", "unit"), rows)
        )

    def _means(self, name: str, doc: str) -> str:
        """What a column holds: in Chinese its label, where it has one; the reference of facts is in English."""
        return doc if self.language == "en" else known(COLUMNS, name, self.language) or doc

    def _clauses(self, logic: Logic) -> Blocks:
        keys = [clause.key for clause in logic.clauses]
        rows = tuple(
            (words("" if number and keys[number - 1] == clause.key else clause.key), code(clause.text, 4096))
            for number, clause in enumerate(logic.clauses)
        )
        pieces = Piece(self._list(logic.explains), code=True)
        causes = (self.told("may_cause", rules=pieces),) if logic.explains else ()
        grid = Grid(self.heads("key", "expression"), rows)
        return (*_part(words(say("logic", self.language)), (), grid), *bullets(causes))

    def _list(self, names: Sequence[str]) -> str:
        return say("comma", self.language).join(names)

    def _thresholds(self, thresholds: Sequence[Threshold]) -> Blocks:
        rows = tuple(
            (code(one.name), self._threshold(one), rule_sentence(one.basis.say(self.language))) for one in thresholds
        )
        heads = (*self.heads("name"), words(say("value", self.language)), words(say("basis", self.language)))
        return _part(words(tell("thresholds", self.language)), (), Grid(heads, rows))

    def _threshold(self, one: Threshold) -> Prose:
        value = self.cards.number(one.value, one.unit)
        if not one.overridden:
            return words(value)
        if one.shipped is None:
            return words(f"{value} ({say('overridden', self.language)})")
        pieces = {"value": Piece(value), "shipped": Piece(self.cards.number(one.shipped, one.unit))}
        if not one.where:
            return self.told("moved", **pieces)
        return self.told("moved_at", **pieces, where=Piece(clean(one.where), code=True))

    def _outcome(self) -> Blocks:
        outcome, language = self.explanation.outcome, self.language
        notes = [prose(note.say(language)) for note in self.explanation.notes]
        title = words(tell("outcome", language))
        if outcome is None:
            asked = [] if self.explanation.run is not None else [words(tell("not_asked", language))]
            return _part(title, (*notes, *asked))
        if outcome.outcome == "fired":
            count = sum(case.finding is not None for case in self.explanation.cases)
            said = words(tell("fired_one" if count == 1 else "fired", language, count=count))
        elif outcome.outcome == "quiet":
            said = words(tell("quiet" if self.explanation.cases else "quiet_nothing", language))
        else:
            word = known(OUTCOMES, outcome.outcome, language) or outcome.outcome
            reason = outcome.reason.say(language) if outcome.reason else say("no_reason", language)
            said = prose(f"{word}{say('colon', language)}{clean(reason, 1000)}")
        return _part(title, (said, *notes))

    def _case(self, case: Case) -> Iterator[Block]:
        yield from self._lead(case)
        yield from self._terms(case) if case.terms else self._evidence(case)
        if case.checks:
            yield from self._checks(case.checks)
        if case.worth is not None and case.worth.saving.us > 0:
            yield from self._worth(case.worth, self.cards.holes(case.finding) if case.finding else {})
        if case.rows is not None and case.rows.rows:
            yield from self._rows(case.rows)
        if case.finding is not None and case.finding.occurrences:
            yield from self._moments(case.finding)
        for name, linked in (("caused_by", case.causes), ("explains", case.symptoms)):
            if linked:
                yield Heading(words(say(name, self.language)), 3)
                yield from bullets(map(self._link, linked))

    def _lead(self, case: Case) -> Blocks:
        language = self.language
        if case.finding is None:
            subject = case.measure.subject if case.measure else {}
            title = self.told("near", subject=Piece(self._subject(subject), code=True))
            return _about(title if subject else words(tell("near_run", language)))
        finding = case.finding
        number = words(f"{case.number}. ") if case.number else ()
        title = (*number, *self.cards.title(finding))
        line = (self._line(finding.source),) if finding.source is not None else ()
        return _about(title, (words(self._measure(finding)), *line, code(finding.fingerprint)))

    def _line(self, source: CodeLine) -> Prose:
        """The user's line behind a finding."""
        return (Piece(say("called_from", self.language) + say("colon", self.language)), *code(named_line(source)))

    def _measure(self, finding: Finding) -> str:
        """Severity, confidence, saving and place, in one line."""
        language, colon = self.language, say("colon", self.language)
        said = [
            f"{say('severity', language)}{colon}{SEVERITIES[finding.severity.name].say(language)}",
            f"{say('confidence', language)}{colon}{CONFIDENCES[finding.confidence.name].say(language)}",
            saved(finding.saving.us, finding.saving.share, self.stepped, language)[0],
            *([self._place(finding)] if finding.seen else []),
        ]
        return " · ".join(said)

    def _place(self, finding: Finding) -> str:
        return spots(finding.seen)[0].say(self.language)

    def _subject(self, subject: Mapping[str, Scalar]) -> str:
        return self._list([f"{clean(key)}={clean(value)}" for key, value in subject.items()])

    def _terms(self, case: Case) -> Blocks:
        language = self.language
        where = tell("measured_near", language)
        if case.finding is not None and case.finding.seen:
            where = tell("measured_at", language, place=spots(case.finding.seen[:1])[0].say(language))
        rows = tuple((code(term.name), code(term.expression, 4096), self._value(term)) for term in case.terms)
        unknown = any(term.value is None and not term.per_row for term in case.terms)
        notes = (words(tell("not_kept", language)),) if unknown else ()
        heads = (*self.heads("name", "expression"), words(say("value", language)))
        grid = Grid(heads, rows, (False, False, True))
        return _part(words(tell("measured", language)), (words(where), *notes), grid, level=3)

    def _evidence(self, case: Case) -> Blocks:
        """What was saved of the values, where the rule that computed them is not at hand."""
        about = case.finding or case.measure
        measures = [self.cards.measure(item, self.info) for item in (about.evidence if about is not None else ())]
        rows = tuple((one.label, one.value, words(one.threshold)) for one in measures)
        heads = tuple(words(say(name, self.language)) for name in ("measure", "value", "threshold"))
        return _part(words(say("evidence", self.language)), (), Grid(heads, rows, (False, True, True)), level=3)

    def _value(self, term: Term) -> Prose:
        if term.per_row:
            return words(tell("per_row", self.language))
        return self.cards.cell(term.value, term.name, term.unit)

    def _checks(self, checks: Sequence[Check]) -> Blocks:
        rows = tuple(
            (self._decides(check), code(check.text, 4096), self._stood(check), self._met(check)) for check in checks
        )
        levelled = any(check.decides != "when" for check in checks)
        said = (words(tell("first_level", self.language)),) if levelled else ()
        grid = Grid(self.heads("decides", "condition", "stood", "met"), rows)
        return _part(words(tell("held_against", self.language)), said, grid, level=3)

    def _decides(self, check: Check) -> Prose:
        levels = {"severity": SEVERITIES, "confidence": CONFIDENCES}.get(check.decides, {})
        return words(tell(check.decides, self.language, level=known(levels, check.level, self.language) or ""))

    def _stood(self, check: Check) -> Prose:
        if not check.sign:
            return ()
        left, right = (self.cards.piece(value, check.unit) for value in (check.left, check.right))
        return (left, Piece(f" {check.sign} "), right)

    def _met(self, check: Check) -> Prose:
        return words(tell({True: "yes", False: "no", None: "unknown"}[check.holds], self.language))

    def _worth(self, worth: Worth, holes: Mapping[str, Piece]) -> Blocks:
        language = self.language
        at_place = Piece(show(worth.at_place_us, "us"))
        phrase = saved(worth.saving.us, worth.saving.share, self.stepped, language)[0]
        across = tell(worth.across, language)
        said = (
            self.told("worth_place", expression=Piece(clean(worth.expression, 4096), code=True), us=at_place),
            words(tell("worth_all", language, saving=phrase, across=across)),
            rule_sentence(tell("assumes", language, words=worth.assumes.say(language)), holes),
        )
        rows = tuple((code(term.name), self._value(term)) for term in worth.terms)
        heads = (*self.heads("name"), words(say("value", language)))
        return _part(words(tell("worth", language)), said, Grid(heads, rows, (False, True)), level=3)

    def _rows(self, rows: Rows) -> Blocks:
        shown = self.cards.excerpt(rows, self.info, len(rows.rows))
        notes = [shown.note] if shown.note else []
        if shown.timed:
            notes.append(say("since_start", self.language))
        heads = tuple(head.label for head in shown.heads)
        grid = Grid(heads, shown.rows, tuple(head.numeric for head in shown.heads))
        return _part(words(say("excerpt", self.language)), tuple(words(note) for note in notes), grid, level=3)

    def _moments(self, finding: Finding) -> Blocks:
        """Its worst events, with where they lie in the timeline."""
        notes = words(say("how_counted", self.language))
        rows = tuple(
            (*one.line, Piece("".join(f" · {said}" for said in (one.span, f"{one.start_ns} ns") if said)))
            for one in whens(finding, self.language)
        )
        return (*_part(words(say("occurrences", self.language)), (notes,), level=3), *bullets(rows))

    def _link(self, linked: Linked) -> Prose:
        phrase = saved(linked.saving.us, linked.saving.share, self.stepped, self.language)[0]
        subject = f" {self._subject(linked.subject)}" if linked.subject else ""
        name = Piece(f"{clean(linked.rule)}{subject}", code=True)
        return (name, Piece(f" · {phrase} · "), Piece(clean(linked.fingerprint), code=True))

    def _left(self, left: Sequence[Case]) -> Blocks:
        names = [clean(case.fingerprint) for case in left[:MOST_NAMES]]
        more = f" {say('more_places', self.language, count=len(left) - MOST_NAMES)}" if left[MOST_NAMES:] else ""
        pieces = {"count": Piece(str(len(left))), "names": Piece(self._list(names), code=True)}
        return _about((*self.told("more_cases", **pieces), Piece(more)))
