# SPDX-License-Identifier: Apache-2.0
"""An inspection as a document: what can be judged, one way to record the rest, then ranks, files, tables and rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from advisor.messages.text import Language
from advisor.model.inspection import AlikeRanks, InputFile, InputRefusal, InspectedFact, Inspection
from advisor.model.run import Run
from advisor.report.blocks import (
    Block,
    Code,
    Document,
    Fold,
    Grid,
    Paragraph,
    bullet_list,
    paragraph_of,
    quiet_line,
)
from advisor.report.diagnosis.outcomes import not_checked, unread_in_full
from advisor.report.inspection.words import RECORDERS, say
from advisor.report.phrases import Phrases
from advisor.report.places import number_ranges
from advisor.report.prose import (
    Prose,
    Said,
    TextPiece,
    clean_block,
    clean_line,
    code_prose,
    join_prose,
    parse_long_prose,
    parse_prose,
    plain_prose,
    strong,
    toned,
)
from advisor.report.run_summary import captures_chosen, run_list, run_title, to_read_first
from advisor.report.words import say_rule_count, word_for
from advisor.units import show_value

MOST_RULES = 4
"""Rules that are named where there is room for a line."""
MOST_REASONS = 4
MOST_PARTS = 20


def inspection_document(inspection: Inspection, language: Language) -> Document:
    """All that is known of an input."""
    return Document(language, tuple(_InspectionBlocks(inspection, language).whole()), inspection.version)


def inspection_summary(inspection: Inspection, language: Language) -> Document:
    """What fits on a terminal: what can look, why the rest cannot, what to record."""
    return Document(language, tuple(_InspectionBlocks(inspection, language).short()), inspection.version)


class _InspectionBlocks(Phrases):
    """Makes the blocks of one inspection."""

    wording = say

    def __init__(self, inspection: Inspection, language: Language) -> None:
        super().__init__(language)
        self.inspection = inspection
        self.unchecked = not_checked(inspection.outcomes, language)

    def whole(self) -> Iterator[Block]:
        """Everything."""
        yield from self.answer()
        yield from self.recording()
        yield from self.other_advice()
        if self.inspection.run is not None:
            yield self.heading("run")
            yield from run_list(self.inspection.run, self.language)
        yield from self.ranks()
        yield from self.recognised_parts()
        yield from self.files()
        yield from self.facts()
        yield from self.rules()
        yield from unread_in_full(self.inspection.unread, self.language)

    def short(self) -> Iterator[Block]:
        """What fits on a terminal."""
        yield from self.answer()
        if self.inspection.run is None:
            yield from self.recognised_parts()
            yield from self.files()
            yield from self.recording()
            return
        yield from self.ranks()
        yield from self.recognised_parts()
        yield from self.tables_briefly()
        yield from self.reasons_briefly()
        yield from self.recording(named=False)
        yield from self.other_advice()
        yield quiet_line(self.prose_of("more_with_o"), begins=True)

    def answer(self) -> Iterator[Block]:
        """What was found, and how much of it can be judged; or why nothing can."""
        inspection, language = self.inspection, self.language
        if inspection.refusal is not None:
            yield from self.refused(inspection.refusal)
            return
        yield self.heading("inspection", 1)
        run = inspection.run or Run()
        yield from run_title(run, language)
        yield from paragraph_of(*captures_chosen(run.notes, language))
        counts = {"can": len(inspection.enabled), "blind": len(inspection.blind), "of": len(inspection.outcomes)}
        other = counts["of"] - counts["can"] - counts["blind"]
        can_look = strong(self.prose_of("can_look", **counts))
        yield Paragraph(self.in_a_row(can_look, self.prose_of("cannot_look", **counts, other=other)))
        yield from paragraph_of(*to_read_first(run, language))
        if inspection.recording is None:
            absent = self.comma.join(one.words.say(language) for one in self.absent_tables())
            yield self.sentence("not_in_one", tables=absent) if absent else self.sentence("all_there")

    def refused(self, refusal: InputRefusal) -> Iterator[Block]:
        """Why nothing can be diagnosed, and what to do."""
        yield self.heading("nothing_here", 1)
        yield Paragraph((*parse_long_prose(refusal.what.say(self.language), 1000),))
        if refusal.do is not None:
            label = TextPiece(self.say("do") + self.colon, strong=True)
            yield Paragraph((label, *parse_long_prose(refusal.do.say(self.language), 1000)))

    def recording(self, *, named: bool = True) -> Iterator[Block]:
        """One configuration to copy, and what it adds; `named` says for which rules."""
        made = self.inspection.recording
        if made is None:
            return
        anew = self.inspection.run is None
        yield self.heading("record_anew" if anew else "record")
        recorder = RECORDERS[made.recorder].say(self.language)
        yield self.sentence("begin_with" if anew else "one_configuration", recorder=recorder)
        yield Code(clean_block(made.code, holes=False), made.language)
        if made.adds:
            asked = ((one, self.rules_briefly(one.rules) if named else str(len(one.rules))) for one in made.adds)
            rows = ((code_prose(one.option), one.records.say(self.language), rules) for one, rules in asked)
            yield self.grid(("option", "records", "asked_by"), rows)
        yield from bullet_list(parse_prose(said.say(self.language)) for said in made.care)

    def rules_briefly(self, rules: Sequence[str]) -> Prose:
        """How many rules, and the first of them."""
        names = self.comma.join(clean_line(rule) for rule in rules[:MOST_RULES])
        more = "…" if len(rules) > MOST_RULES else ""
        return (
            TextPiece(say_rule_count(len(rules), self.language) + self.colon),
            TextPiece(names, code=True),
            *([TextPiece(f" {more}")] if more else []),
        )

    def other_advice(self) -> Iterator[Block]:
        """What to do that is no switch."""
        advice = (
            (*parse_prose(one.do.say(self.language)), TextPiece(" — "), *self.rules_briefly(one.rules))
            for one in self.inspection.advice
        )
        yield from self.listed("beside", advice)

    def ranks(self) -> Iterator[Block]:
        """Ranks that are alike, a row each."""
        heads = ("ranks", "read", "source", "level", "recorded", "bytes")
        yield from self.tabled("ranks", heads, map(self.rank_row, self.inspection.ranks), (False,) * 5 + (True,))
        if any(len(group.ranks) > len(group.read) for group in self.inspection.ranks):
            yield self.sentence("stand_for")

    def rank_row(self, group: AlikeRanks) -> tuple[Said, ...]:
        """A row about ranks that are alike."""
        ranks, read = (number_ranges(some, self.language) for some in (group.ranks, group.read))
        source = word_for(say.words, group.source, self.language) or clean_line(group.source)
        return ranks, read, source, group.level or "–", self.switches(group), show_value(group.size_bytes, "B")

    def switches(self, group: AlikeRanks) -> str:
        """What was recorded: the activities and the switches that were on, then those that were off."""
        named = (("stack", group.with_stack), ("memory", group.profile_memory), ("shapes", group.record_shapes))
        on, off = ([self.say(f"switch_{name}") for name, now in named if now is state] for state in (True, False))
        said = ["+".join(map(clean_line, group.activities or ())), *on]
        said += [self.say("without_switches", switches=self.say("listed").join(off))] if off else []
        return self.comma.join(filter(None, said)) or self.say("unknown")

    def recognised_parts(self) -> Iterator[Block]:
        """Folders in which something was recognised that is no capture, or all of them where nothing can be read."""
        refused = self.inspection.refusal is not None
        parts = [one for one in self.inspection.found if refused or one.kind != "capture"]
        rows = (
            (
                code_prose(one.path) if one.path else self.say("whole_input"),
                self.say(f"kind_{one.kind}", family=one.family, tool=one.tool or one.family),
            )
            for one in parts[:MOST_PARTS]
        )
        yield from self.tabled("found" if refused else "found_beside", ("folder", "is"), rows)
        if len(parts) > MOST_PARTS:
            yield quiet_line(self.prose_of("and_more", count=len(parts)))

    def files(self) -> Iterator[Block]:
        """The files that are read, and those that are not."""
        if self.inspection.files:
            yield self.heading("files_here")
            yield self.file_grid(self.inspection.files)
        groups = [group for group in self.inspection.ranks if group.files]
        if groups:
            yield self.heading("files")
        for group in groups:
            read = sum(not file.unused for file in group.files)
            title = self.say("files_of", rank=group.ranks[0], read=read, left=len(group.files) - read)
            yield Fold(plain_prose(title), (self.file_grid(group.files),), is_open=len(groups) == 1)

    def file_grid(self, files: Sequence[InputFile]) -> Grid:
        """Files with their sizes, and whether they are read."""
        rows = ((code_prose(file.path), show_value(file.size_bytes, "B"), self.use_of(file)) for file in files)
        return self.grid(("file", "bytes", "used"), rows, (False, True, False))

    def use_of(self, file: InputFile) -> str:
        """Whether a file is read, and why not."""
        why = "" if file.why is None else file.why.say(self.language)
        if file.unused == "left aside" and self.inspection.refusal is not None:
            return self.say("unused_refused")
        return self.say(f"unused_{file.unused}", **({"why": why} if why else {}))

    def facts(self) -> Iterator[Block]:
        """Every table, with its rows and what it lacks."""
        if not self.inspection.facts:
            return
        yield self.heading("facts")
        read = number_ranges((rank for group in self.inspection.ranks for rank in group.read), self.language)
        yield self.sentence("counted", ranks=read)
        heads = ("table", "rows", "users", "without")
        yield self.grid(heads, map(self.fact_row, self.inspection.facts), (False, True, True, False))

    def fact_row(self, fact: InspectedFact) -> tuple[Said, ...]:
        """A row about one table."""
        lacking: Prose = ()
        if fact.reason is not None:
            lacking = parse_prose(fact.reason.say(self.language))
        elif fact.empty_columns:
            lacking = join_prose(self.comma, map(code_prose, fact.empty_columns))
        rows = TextPiece(self.say("missing"), tone="warn") if fact.rows is None else TextPiece(f"{fact.rows:,}")
        name = (*plain_prose(fact.words.say(self.language)), *toned((TextPiece(" "), *code_prose(fact.table)), "note"))
        return name, (rows,), str(fact.rules), lacking

    def tables_briefly(self) -> Iterator[Block]:
        """The tables that are there and those that are missing, a line each."""
        there = [(one, f" {one.rows:,}") for one in self.inspection.facts if one.rows]
        missing = [(one, "") for one in self.absent_tables()]
        for name, tables in (("there", there), ("missing", missing)):
            if tables:
                label = TextPiece(self.say(name) + self.colon, strong=True)
                words = (one.words.say(self.language) + rows for one, rows in tables)
                yield Paragraph((label, TextPiece(self.comma.join(words))), begins=name == "there")

    def absent_tables(self) -> list[InspectedFact]:
        """The tables without a row that rules read."""
        return [one for one in self.inspection.facts if not one.rows and one.rules]

    def reasons_briefly(self) -> Iterator[Block]:
        """Why rules cannot look, the reason of most of them first."""
        reasons = ((*one.reason, *toned((TextPiece(f"  {one.count}"),), "quiet")) for one in self.unchecked)
        yield from self.listed("rules_blind", islice(reasons, MOST_REASONS))
        if len(self.unchecked) > MOST_REASONS:
            yield quiet_line(self.prose_of("and_more", count=len(self.unchecked)))

    def rules(self) -> Iterator[Block]:
        """Rules that cannot look by their reason, then those that can, then the others."""
        yield from self.listed("rules_blind", ((*one.reason, *one.names(self.language)) for one in self.unchecked))
        concerned = {*self.inspection.enabled, *self.inspection.blind}
        others = [one.rule for one in self.inspection.outcomes if one.rule not in concerned]
        for name, rules in (("rules_that_can", self.inspection.enabled), ("rules_beside", others)):
            if rules:
                title = f"{self.say(name)}{self.colon}{len(rules)}"
                yield Fold(plain_prose(title), paragraph_of(*join_prose(" ", map(code_prose, rules))))
