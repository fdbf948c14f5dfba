# SPDX-License-Identifier: Apache-2.0
"""The modules of a model as a document: how much is known, the tree with bars, and the operators of each module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.messages.text import Language
from advisor.model.modules import MergedOperator, ModuleNode, ModuleReport, RankModules
from advisor.report.blocks import (
    Block,
    Blocks,
    Code,
    Document,
    FactLine,
    Grid,
    Heading,
    Paragraph,
    paragraph_of,
    quiet_line,
)
from advisor.report.line_breaks import BELOW
from advisor.report.losses import losses_told, say_losses
from advisor.report.modules.words import Marking, marking_code, say
from advisor.report.phrases import Phrases
from advisor.report.places import number_ranges
from advisor.report.prose import Prose, Said, TextPiece, clean_line, code_prose, parse_prose, plain_prose
from advisor.report.run_summary import captures_chosen, run_title
from advisor.units import show_value

BAR = 10
"""Characters of the longest bar."""
ATTENTION = "FlashAttentionScore"
"""In the names of the kernels whose arguments are marked."""
MOST_ROWS = 40
"""Operators shown of one module; the files for programs hold all of them."""
MOST_RANKS = 8
"""Ranks whose trees are shown; all others differ little, and the files for programs hold them."""
SHORT_DEPTH, SHORT_SHARE = 4, 0.005
"""What a terminal shows: modules around which few others are, and that take at least this part of the kernel time."""


def modules_document(report: ModuleReport, language: Language) -> Document:
    """All that is known."""
    return Document(language, tuple(ModuleBlocks(report, language).whole()), report.version)


def modules_summary(report: ModuleReport, language: Language) -> Document:
    """What fits on a terminal."""
    return Document(language, tuple(ModuleBlocks(report, language).short()), report.version)


class ModuleBlocks(Phrases):
    """Makes the blocks of one report."""

    wording = say

    def __init__(self, report: ModuleReport, language: Language) -> None:
        super().__init__(language, report.run.times_of)
        self.report = report

    def whole(self) -> Iterator[Block]:
        """Everything."""
        yield from self.answer()
        for rank in self.report.ranks[:MOST_RANKS]:
            yield from self.head(rank)
            yield self.tree(rank)
            yield from self.operators(rank)
        yield from self.ranks_left(MOST_RANKS)
        if self.lacks_attention():
            yield self.heading("attention")
            yield from self.attention_marking()
        yield from self.lost()

    def attention_marking(self) -> Iterator[Block]:
        """The code that marks what the masks of attention leave out."""
        yield self.sentence("attention_unmarked")
        yield self.code("attention")

    def code(self, marking: Marking) -> Code:
        """Code that marks something, its comments in the language of the report."""
        return Code(marking_code(marking, self.language), "python")

    def short(self) -> Iterator[Block]:
        """What fits on a terminal: of several ranks the first."""
        yield from self.answer()
        for rank in self.report.ranks[:1]:
            yield from self.head(rank)
            yield self.tree(rank, briefly=True)
            left = sum(not _is_shown_briefly(node) for node in rank.tree)
            if left:
                share = show_value(SHORT_SHARE, "share")
                yield quiet_line(self.prose_of("modules_left", count=f"{left:,}", share=share), begins=True)
        yield from self.ranks_left(1)
        yield from self.lost(briefly=True)
        if self.lacks_attention():
            yield quiet_line(self.prose_of("attention_unmarked_short"), begins=True)
        if self.report.ranks:
            yield quiet_line(self.prose_of("more_with_o"), begins=True)

    def lost(self, *, briefly: bool = False) -> Iterator[Block]:
        """What of the capture was damaged or lost of what they rest on."""
        losses = self.report.losses
        return losses_told(say_losses(losses), losses.unread, self.language, briefly=briefly)

    def ranks_left(self, shown: int) -> Blocks:
        """How many ranks are not among the first that are shown."""
        return self.left_over("ranks_left", len(self.report.ranks) - shown, begins=True)

    def lacks_attention(self) -> bool:
        """Whether products have an MFU, and fused attention of an NPU has none that code of PyTorch would mark."""
        if self.report.run.framework == "MindSpore":
            return False
        rows = [row for rank in self.report.ranks for row in rank.operators]
        attention = [row for row in rows if ATTENTION in row.kernels]
        return any(row.mfu is not None for row in rows) and any(row.mfu is None for row in attention)

    def answer(self) -> Iterator[Block]:
        """How much is known, and where most of the time goes; or what to record."""
        run = self.report.run
        yield self.heading("modules" if self.report.ranks else "nothing", 1)
        yield from run_title(run, self.language)
        yield from paragraph_of(*captures_chosen(run.notes, self.language))
        if not self.report.ranks:
            yield from self.how_to_record()
            return
        rank = self.report.ranks[0]
        inside = sum(node.kernel_share for node in rank.tree if node.path and not node.depth)
        said = self.say("inside", inside=show_value(inside, "share"), rank=rank.rank)
        leading = rank.leading
        words = parse_prose(self.leading(leading)) if leading else ()
        yield Paragraph(self.in_a_row((TextPiece(said, strong=True),), words))
        if self.report.unmarked:
            ranks = f"rank {number_ranges(self.report.unmarked, self.language)}"
            yield from paragraph_of(*self.prose_of("unmarked", ranks=ranks))

    def leading(self, node: ModuleNode) -> str:
        """The module in which most of the time is spent in one place."""
        name = "leading_kernels" if node.step_share is None else "leading"
        return self.say(name, module=clean_line(node.path, 120), share=show_value(node.share, "share"))

    def how_to_record(self) -> Iterator[Block]:
        """What has to be recorded, with the code."""
        run = self.report.run
        if run.recorder == "msprof":  # of what framework, if any, is not recorded: code for one would be of no use
            yield self.sentence("how_msprof")
            yield self.sentence("how")
            return
        if run.framework == "MindSpore":
            yield self.sentence("how")
            yield self.sentence("how_mindspore")
            yield self.code("modules_of_mindspore")
            yield self.sentence("how_mindspore_graph")
            return
        may_mark = run.device_family == "npu"
        yield Paragraph(self.in_a_row(*map(self.prose_of, ("how", "two_ways") if may_mark else ("how",))))
        if may_mark:
            yield self.sentence("how_mark")
            yield self.code("modules_of_pytorch")
            yield self.sentence("how_attention")
            yield self.code("attention")
        yield Paragraph(parse_prose(self.say("or_stack" if may_mark else "how_stack")))

    def head(self, rank: RankModules) -> Iterator[Block]:
        """What stands above the modules of one rank."""
        yield self.heading("tree", rank=rank.rank)
        yield FactLine(tuple(map(plain_prose, self.facts(rank))))
        steps = any(node.step_share is not None for node in rank.tree)
        yield Paragraph(parse_prose(self.say("shares" if steps else "shares_kernels")))
        if not rank.backward and self.report.run.job.workload == "training":
            yield self.sentence("no_backward")

    def facts(self, rank: RankModules) -> Iterator[str]:
        """How the modules were marked, and how far that leads."""
        yield self.say(f"source_{rank.source}", ranges=f"{rank.ranges:,}")
        yield self.say("linked", share=show_value(rank.linked_share, "share"))
        if rank.crossing:
            yield self.say("crossing", count=f"{rank.crossing:,}")

    def tree(self, rank: RankModules, *, briefly: bool = False) -> Grid:
        """The modules, each below the one around it."""
        nodes = [node for node in modules_first(rank.tree) if not briefly or _is_shown_briefly(node)]
        steps = all(node.step_share is not None for node in nodes)
        passes = [
            name
            for name in ("forward", "backward", "recompute", "comm")
            if any(getattr(node, f"{name}_us") > 0 for node in nodes)
        ]
        passes = passes if len(passes) > 1 and not briefly else []
        more = (*(["mfu"] if any(node.mfu is not None for node in nodes) else []), *([] if briefly else ["kernels"]))
        heads = ("module", "share", "", "time", "own", *passes, *more, "instances")
        largest = max((_share(node, steps=steps) for node in nodes), default=0.0)
        rows = (self.cells(node, (*passes, *more), largest, steps=steps) for node in nodes)
        return self.grid(heads, rows, (False, True, False, *[True] * (len(heads) - 3)))

    def cells(self, node: ModuleNode, more: Sequence[str], largest: float, *, steps: bool) -> Iterator[Said]:
        """One row of the tree."""
        share = _share(node, steps=steps)
        named = self.named(node)
        yield (TextPiece(BELOW * node.depth, tone="quiet"), *named) if node.depth else named
        yield show_value(share, "share")
        yield (TextPiece("█" * round(share / largest * BAR) if largest else "", tone="compute"),)
        for name in ("total", "own", *more):
            unit = {"mfu": "share", "kernels": "count"}.get(name, "us")
            value = getattr(node, f"{name}_us" if unit == "us" else name)
            yield show_value(value or None, unit)
        yield f"{node.instances:,}" if node.path else "–"

    def named(self, node: ModuleNode) -> Prose:
        """The name of a module, or of what lies outside of all."""
        return code_prose(node.name, 60) if node.path else self.prose_of("outside")

    def operators(self, rank: RankModules) -> Iterator[Block]:
        """The operators of each module that calls some itself."""
        yield self.heading("operators")
        for node in rank.tree:
            if found := rank.operators_of(node.path) if node.path else ():
                yield Heading(code_prose(node.path, 160), 3)
                yield from self.rows(found)

    def rows(self, found: Sequence[MergedOperator], most: int = MOST_ROWS) -> Iterator[Block]:
        """A table of operators, and how many are not in it."""
        if most:
            yield self.operator_grid(found[:most])
        yield from self.left_over("rows_left", len(found) - most)

    def operator_grid(self, found: Sequence[MergedOperator]) -> Grid:
        """Operators with their kernels, calls and times over the whole capture."""
        passes = len({one.row.phase for one in found}) > 1
        told = any(one.mfu is not None for one in found)
        last = ("calls", "total", "mean", *(["mfu"] if told else []))
        heads = ("operator", *(["phase"] if passes else []), "launched", *last)
        rows = (
            (
                code_prose(one.row.operator, 80) if one.row.operator else "–",
                *([self.say(one.row.phase)] if passes else []),
                code_prose(one.row.kernels, 240),
                f"{one.calls:,}",
                *(show_value(us, "us") for us in (one.total_us, one.total_us / one.calls)),
                *([show_value(one.mfu, "share")] if told else []),
            )
            for one in found
        )
        return self.grid(heads, rows, (*[False] * (len(heads) - len(last)), *[True] * len(last)))


def modules_first(tree: Sequence[ModuleNode]) -> list[ModuleNode]:
    """The modules of a rank in their order, and what lies outside of them last."""
    return sorted(tree, key=lambda node: not node.path)


def _is_shown_briefly(node: ModuleNode) -> bool:
    return not node.path or (node.depth < SHORT_DEPTH and node.kernel_share >= SHORT_SHARE)


def _share(node: ModuleNode, *, steps: bool) -> float:
    return (node.step_share or 0.0) if steps else node.kernel_share
