# SPDX-License-Identifier: Apache-2.0
"""From the shape of a rule to its meaning: every name resolved, every expression typed, all mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import TypeVar

from advisor.expr.compile import Compiled, Scope, compile_expr
from advisor.expr.frame import column_scope
from advisor.expr.language import MOMENT, RESERVED, RUN_SCOPE
from advisor.expr.mismatches import say_type, say_wrong_kind
from advisor.facts.base import Fact
from advisor.facts.names import FACTS
from advisor.messages.errors import ExprError, FilePlace, Mistake
from advisor.messages.message import Message
from advisor.messages.text import Text, hole_names, holes_with_more, open_hole_names
from advisor.model.findings import Confidence, Param, Severity
from advisor.rules.occurrences import Occurrences, bound_occurrences
from advisor.rules.rule import (
    GAIN_WITHOUT_COMM,
    ConfidenceChoice,
    EvidenceSpec,
    ExcerptSpec,
    Levels,
    Rule,
    SavingSpec,
)
from advisor.rules.schema import RuleFile, check_shape
from advisor.units import Type, ValueKind
from advisor.yaml_files.document import Path_, RuleDocument
from advisor.yaml_files.suggestions import suggest_known

__all__ = ["EvidenceSpec", "ExcerptSpec", "Rule", "SavingSpec", "bind_rule"]


def bind_rule(document: RuleDocument, path: Path) -> Rule | list[Mistake]:
    """The rule a file describes, or everything wrong with it."""
    written, mistakes, bridged = check_shape(document)
    if written is None:
        return causes_first(mistakes)
    rule = _Binder(document, path, written, mistakes, bridged).bound()
    return causes_first(rule) if isinstance(rule, list) else rule


def causes_first(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """In the order of the files, and last what a rule lacks as a whole: mostly it is there, and misspelt."""

    def order(mistake: Mistake) -> tuple[str, bool, FilePlace]:
        what = mistake.what
        lacks = isinstance(what, Message) and what.code == "is_missing" and "." not in str(dict(what.values)["name"])
        return mistake.place.file, lacks, mistake.place

    return sorted(mistakes, key=order)


_OF_FINDINGS = ("severity", "confidence", "saving", "symptom", "fix", "rows", "occurrences")
"""What is computed of findings alone, and of nothing else that a rule computes."""
_LIMIT = Text(
    en="Limit of the saving: what the step would save if communication were free",
    zh="收益上限：通信不耗时时整步可提前的时间",
)
_WORD = re.compile(r"\w+")
Written = TypeVar("Written", bound=str)


def _plain_levels(given: str | Mapping[Written, str]) -> str | dict[str, str]:
    return given if isinstance(given, str) else {str(name): text for name, text in given.items()}


def _message_of_part(path: Path_, what: Message) -> Message:
    """What is wrong with one part of a rule."""
    return Message("part", part=".".join(map(str, path)), what=what)


class _Binder:
    """Collects mistakes while it resolves; what is wrong becomes a value that does no further harm."""

    def __init__(
        self,
        document: RuleDocument,
        path: Path,
        written: RuleFile,
        mistakes: list[Mistake],
        bridged: Set[Path_] = frozenset(),
    ) -> None:
        self.document, self.path, self.written, self.mistakes = document, path, written, mistakes
        self.bridged = bridged
        """Where something of ours stands in for what is missing, which was told."""
        self.without_key = False
        """Whether a key is misspelt, which then is the reason that nothing fills its hole."""
        self.broken: set[str] = set()
        """Names whose own expression is wrong: what else is wrong where they are used may come from that."""

    def wrong(self, path: Path_, what: Message, hint: Message | None = None, *, key: bool = False) -> None:
        if path not in self.bridged:
            self.mistakes.append(self.document.mistake(path, what, hint, key=key))

    def bound(self) -> Rule | list[Mistake]:
        w = self.written
        if w.in_ not in FACTS:
            self.wrong(("in",), Message("unknown_table", name=w.in_), suggest_known(w.in_, FACTS))
        for number, name in enumerate(w.requires):
            if name not in FACTS:
                self.wrong(("requires", number), Message("unknown_table", name=name), suggest_known(name, FACTS))
        if w.in_ not in FACTS:
            return self.mistakes
        rule = self.resolved(FACTS[w.in_], tuple(FACTS[name] for name in w.requires if name in FACTS))
        return self.mistakes or rule

    def resolved(self, fact: type[Fact], requires: tuple[type[Fact], ...]) -> Rule:
        w = self.written
        self.keys(fact)
        params = {n: Param(name=n, value=p.value, unit=p.unit, basis=p.basis) for n, p in w.params.items()}
        self.names("params", w.params, {**column_scope(fact), **RUN_SCOPE})
        fixed = {**{n: Type("number", p.unit) for n, p in w.params.items()}, **RUN_SCOPE}
        applies = self.compiled(("applies_when",), w.applies_when, Scope(RUN_SCOPE), "bool")
        scope = Scope({**column_scope(fact), **fixed}, frozenset())
        where = self.compiled(("where",), w.where, scope, "bool")
        scope, let = self.let(Scope(scope.names, frozenset(w.for_each)))
        when = self.compiled(("when",), w.when, scope, "bool", group=True)
        excerpt = self.excerpt(fact, scope, fixed)
        self.texts(scope)
        return Rule(
            id=w.id,
            path=self.path,
            fact=fact,
            requires=requires,
            for_each=tuple(w.for_each),
            applies_when=None if w.applies_when == "true" else applies,
            where=None if w.where == "true" else where,
            let=let,
            when=when,
            severity=self.severity(scope),
            confidence=self.confidence(scope),
            params=params,
            evidence=self.evidence(scope),
            excerpt=excerpt,
            occurrences=self.occurrences(excerpt, fact, scope, fixed),
            saving=self.saving(scope),
            explains=tuple(dict.fromkeys((*w.explains, *w.includes))),
            includes=tuple(dict.fromkeys(w.includes)),
            own_reason=w.own_reason,
            scarce=w.scarce,
            symptom=self.symptom(scope),
            coverage=self.coverage(),
            doubts=self.doubts(),
            inflates=w.inflates,
            since=w.since,
            status=w.status,
            formerly=tuple(w.formerly),
            implements=tuple(w.implements),
            title=w.title,
            title_with=dict(w.title_with),
            why=w.why,
            fix=tuple(f.as_step() for f in w.fix),
            fix_when=self.fix_when(scope),
            pattern_fixes=w.pattern_fixes,
            references=tuple(r.as_reference() for r in w.references),
            document=self.document,
        )

    def keys(self, fact: type[Fact]) -> None:
        columns = fact.columns()
        for number, name in enumerate(self.written.for_each):
            if name not in columns:
                self.without_key = True
                what = Message("no_column", table=fact.table, name=name)
                self.wrong(("for_each", number), what, suggest_known(name, columns))
            elif columns[name].store == "float" or columns[name].unit:
                self.wrong(("for_each", number), Message("key_is_measured", name=name))
            elif name in self.written.for_each[:number]:
                self.wrong(("for_each", number), Message("given_twice", name=name))

    def names(self, section: str, given: Mapping[str, object], taken: Mapping[str, Type]) -> None:
        """Refuses names that are no names, or mean something else already."""
        for name in given:
            path = (section, name)
            if not name.isidentifier() or name.startswith("_"):
                self.wrong(path, Message("is_no_name", name=name), Message("small_letters"), key=True)
            elif name in RESERVED:
                self.wrong(path, Message("is_reserved", name=name), Message("choose_another_name"), key=True)
            elif name in taken:
                self.wrong(path, Message("is_taken", name=name), Message("choose_another_name"), key=True)

    def compiled(
        self, path: Path_, text: str, scope: Scope, kind: ValueKind | None = None, *, group: bool = False
    ) -> Compiled:
        """A checked expression; a mistake gives a stand-in of the wanted kind."""
        if self.document.was_checked and path[0] in _OF_FINDINGS:
            return Compiled.when_asked(text, scope)
        try:
            found = compile_expr(text, scope)
        except ExprError as error:
            if path not in self.bridged and not self.broken.intersection(_WORD.findall(text)):
                self.mistakes.append(
                    self.document.mistake(path, _message_of_part(path, error.what), error.hint, column=error.column)
                )
            self.doubt(path)
            return Compiled(text, Type(kind or "number"), frozenset(), lambda _: None)
        if self.broken & found.names:
            self.doubt(path)
        elif kind is not None and found.type.kind != kind:
            self.wrong(path, _message_of_part(path, say_wrong_kind(kind, found.type)))
        elif group and found.type.per_row:
            self.wrong(path, _message_of_part(path, Message("value_per_group_needed")), Message("use_an_aggregate"))
        return found

    def doubt(self, path: Path_) -> None:
        if path[0] == "let":
            self.broken.add(str(path[-1]))

    def let(self, scope: Scope) -> tuple[Scope, dict[str, Compiled]]:
        ours = {GAIN_WITHOUT_COMM: Type("number", "us")} if self.written.saving and self.written.saving.frees else {}
        self.names("let", self.written.let, {**scope.names, **ours})
        bound = {}
        for name, text in self.written.let.items():
            bound[name] = found = self.compiled(("let", name), text, scope)
            scope = scope.having(name, found.type)
        return scope, bound

    def levels(self, section: str, given: str | Mapping[str, str], scope: Scope) -> list[tuple[str, Compiled | None]]:
        if isinstance(given, str):
            return [(given, None)]
        found: list[tuple[str, Compiled | None]] = []
        for name, text in given.items():
            if text == "otherwise":
                found.append((name, None))
            else:
                found.append((name, self.compiled((section, name), text, scope, "bool", group=True)))
        if not found or found[-1][1] is not None or any(test is None for _, test in found[:-1]):
            how = Message("write_it_as", words=f"{section}: {{high: …, medium: otherwise}}")
            self.wrong((section,), Message("last_is_otherwise", name=section), how, key=True)
        return found

    def severity(self, scope: Scope) -> Levels:
        found = self.levels("severity", _plain_levels(self.written.severity), scope)
        return tuple((Severity[name], test) for name, test in found)

    def confidence(self, scope: Scope) -> ConfidenceChoice:
        found = self.levels("confidence", _plain_levels(self.written.confidence), scope)
        return tuple((Confidence[name], test) for name, test in found)

    def evidence(self, scope: Scope) -> tuple[EvidenceSpec, ...]:
        found = []
        for number, shown in enumerate(self.written.evidence):
            path = ("evidence", number)
            kind = scope.names.get(shown.show)
            if kind is None:
                self.wrong(
                    (*path, "show"), Message("unknown_name", name=shown.show), suggest_known(shown.show, scope.names)
                )
                continue
            if kind.per_row and shown.show not in scope.keys:
                what = Message("has_value_per_row", name=shown.show)
                self.wrong((*path, "show"), what, Message("name_an_aggregate"))
            if shown.threshold and shown.threshold not in self.written.params:
                hint = suggest_known(shown.threshold, self.written.params)
                self.wrong((*path, "threshold"), Message("unknown_param", name=shown.threshold), hint)
            unit = shown.as_ or ("ns" if kind.unit == MOMENT else kind.unit)
            label = Text(shown.en, shown.zh).unfolded()
            found.append(EvidenceSpec(shown.show, unit, label, shown.as_, shown.threshold))
        if self.written.saving is not None and self.written.saving.frees:
            found.append(EvidenceSpec(GAIN_WITHOUT_COMM, "us", _LIMIT, ""))
        return tuple(found)

    def excerpt(self, fact: type[Fact], scope: Scope, fixed: Mapping[str, Type]) -> ExcerptSpec | None:
        rows = self.written.rows
        if rows is None:
            return None
        other = self.table_of_rows(rows.in_, fact) if rows.in_ else None
        names = scope.names if other is None else {**fixed, **column_scope(other)}
        possible = {n: t for n, t in names.items() if t.per_row}
        for number, name in enumerate(rows.columns):
            if name not in possible and not (other is None and name in fact.columns()):  # a `let` took it: told there
                what = Message("no_column", table=(other or fact).table, name=name)
                self.wrong(("rows", "columns", number), what, suggest_known(name, possible))
        columns = tuple((name, possible[name]) for name in rows.columns if name in possible)
        inside = Scope(names)
        where = self.compiled(("rows", "where"), rows.where, inside, "bool")
        return ExcerptSpec(
            columns, where, self.compiled(("rows", "order"), rows.order, inside, "number"), rows.top, other
        )

    def table_of_rows(self, name: str, fact: type[Fact]) -> type[Fact] | None:
        """Another table to show rows of; None and a mistake where there is none, or it lacks a key of the rule."""
        other = FACTS.get(name)
        if other is None:
            self.wrong(("rows", "in"), Message("unknown_table", name=name), suggest_known(name, FACTS))
            return None
        columns = {column.name: column.store for column in other.columns().values()}
        for key in self.written.for_each:
            if key in fact.columns() and columns.get(key) != fact.columns()[key].store:
                self.wrong(("rows", "in"), Message("has_no_key", table=name, name=key), suggest_known(key, columns))
        return other

    def occurrences(
        self, excerpt: ExcerptSpec | None, fact: type[Fact], scope: Scope, fixed: Mapping[str, Type]
    ) -> Occurrences | None:
        """Where it happened: among the rows of the rule, or those of its excerpt where that is of another table."""
        written = self.written.occurrences
        shown = excerpt.where if excerpt is not None and excerpt.fact is None else None
        elsewhere = excerpt.fact if excerpt is not None and written is not None and written.in_ else None
        return bound_occurrences(written, elsewhere or fact, FACTS, self, scope=scope, fixed=fixed, shown=shown)

    def doubts(self) -> tuple[str, ...]:
        """Patterns of the rules that it makes less certain."""
        given = self.written.doubts
        return tuple(given) if isinstance(given, list) else ("*",) if given else ()

    def coverage(self) -> dict[str, float]:
        """How much of which observed table the rule needs."""
        for name in self.written.coverage:
            if name not in FACTS or not FACTS[name].observed:
                hint = suggest_known(name, [known for known, fact in FACTS.items() if fact.observed])
                self.wrong(("coverage", name), Message("unknown_table", name=name), hint, key=True)
        return dict(self.written.coverage)

    def symptom(self, scope: Scope) -> Compiled | None:
        """The time that a finding of the rule only says again; None for a rule that names a cause."""
        if not self.written.symptom:
            return None
        us = self.compiled(("symptom",), self.written.symptom, scope, "number", group=True)
        if not self.document.was_checked and us.type.unit != "us":
            self.wrong(("symptom",), _message_of_part(("symptom",), Message("expected_time", found=say_type(us.type))))
        return us

    def saving(self, scope: Scope) -> SavingSpec | None:
        saving = self.written.saving
        if saving is None:
            return None
        us = self.time(("saving", "us"), saving.us, scope)
        imposes = self.time(("saving", "imposes"), saving.imposes, scope) if saving.imposes else None
        return SavingSpec(us, saving.across, saving.assumes, saving.at_most, imposes, saving.host_time, saving.frees)

    def time(self, path: tuple[str, ...], written: str, scope: Scope) -> Compiled:
        """A time per group that is part of what can be won."""
        us = self.compiled(path, written, scope, "number", group=True)
        if self.document.was_checked:
            return us
        if not self.broken & us.names and us.type.kind == "number" and us.type.unit not in ("us", ""):
            self.wrong(path, _message_of_part(path, Message("expected_time", found=say_type(us.type))))
        return us

    def fix_when(self, scope: Scope) -> tuple[Compiled | None, ...]:
        """When each step of the remedy is worth saying."""
        told = [(("fix", number, "when"), step.when) for number, step in enumerate(self.written.fix)]
        return tuple(
            None if text == "true" else self.compiled(path, text, scope, "bool", group=True) for path, text in told
        )

    def texts(self, scope: Scope) -> None:
        """What people read: holes that can be filled, and patterns only where there are some."""
        if self.document.was_checked:
            return
        self.holes(scope)
        self.label_holes()
        self.reason_shown()
        if self.written.pattern_fixes and "pattern" not in self.written.for_each:
            self.wrong(("pattern_fixes",), Message("groups_by_pattern"))

    def reason_shown(self) -> None:
        """The reason of its own that a finding may have must be a piece of evidence."""
        name, shown = self.written.own_reason, [item.show for item in self.written.evidence]
        if name and name not in shown:
            self.wrong(("own_reason",), Message("unknown_name", name=name), suggest_known(name, shown))

    def holes(self, scope: Scope) -> None:
        """Every `{name}` in a text, a command or code must be something a report can fill in."""
        w = self.written
        texts: list[tuple[Path_, Text]] = [(("title",), w.title), (("why",), w.why)]
        shown = [item.show for item in w.evidence]
        for name, title in w.title_with.items():
            texts.append((("title_with", name), title))
            if name not in shown:
                self.wrong(
                    ("title_with", name), Message("unknown_name", name=name), suggest_known(name, shown), key=True
                )
        if w.saving is not None:
            texts.append((("saving", "assumes"), w.saving.assumes))
        for number, step in enumerate(w.fix):
            texts.append((("fix", number, "do"), step.do))
            if step.care is not None:
                texts.append((("fix", number, "care"), step.care))
        for path, text in ((path, text) for path, text in texts if "{" in text.en or "{" in text.zh):
            both = {(*path, "en"): text.en, (*path, "zh"): text.zh}
            written = {place: words for place, words in both.items() if self.document.written(place) is not None}
            for place, words in (written or {path: text.en}).items():  # one language stands for both
                self.refuse_unfilled_holes(place, words, scope)
        for number, step in enumerate(w.fix):
            for key, command in (("run", step.run), ("code", step.code)):
                self.refuse_unfilled_holes(("fix", number, key), command, scope)

    def label_holes(self) -> None:
        """Nothing is filled into what a piece of evidence is called."""
        for number, item in enumerate(self.written.evidence):
            for language, words in (("en", item.en), ("zh", item.zh)):
                for name in hole_names(words):
                    self.wrong(("evidence", number, language), Message("label_has_hole", hole=f"{{{name}}}"))

    def refuse_unfilled_holes(self, path: Path_, words: str, scope: Scope) -> None:
        """Refuses holes that nothing can fill."""
        if "{" not in words:
            return
        known = {shown.show for shown in self.written.evidence} | set(self.written.for_each)
        right = known.intersection(scope.names)  # what is no name itself is nothing to suggest, but what it may mean is
        meant = right if right == known else right.union(self.written.let)
        all_told = not (self.without_key or any(one[0] == "evidence" and one[-1] == "show" for one in self.bridged))
        for name in hole_names(words):
            if name not in known and all_told:
                hint = Message("show_as_evidence", name=name) if name in meant else suggest_known(name, meant)
                self.wrong(path, Message("hole_is_unknown", hole=f"{{{name}}}"), hint)
        for hole, name in holes_with_more(words).items():
            if name in known:
                self.wrong(path, Message("hole_has_more", hole=hole), Message("name_alone", hole=f"{{{name}}}"))
        for name in open_hole_names(words):
            if name in known:
                self.wrong(path, Message("hole_is_open", name=name), Message("close_the_hole"))
