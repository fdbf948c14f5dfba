# SPDX-License-Identifier: Apache-2.0
"""The modules of a model as a page: a tree that unfolds, a bar for each module, its operators below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from advisor.messages.text import Language
from advisor.model.modules import ModuleNode, ModuleReport, RankModules
from advisor.report.blocks import Block, Document, FactLine, Fold, Meter, Section
from advisor.report.modules.document import MOST_RANKS, ModuleBlocks, modules_first
from advisor.report.pages import document_page, first_small_page, page_part
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, plain_prose
from advisor.units import show_value

OPEN_DEPTH = 3
"""So deep the tree is unfolded at first."""


def modules_page(report: ModuleReport, language: Language) -> str:
    """The report as one HTML document: with as many operators of each module as leave it small enough to open."""
    shown = _PageBlocks(report, language)
    return first_small_page(document_page(shown.page(most)) for most in (40, 10, 3, 0))


class _PageBlocks(ModuleBlocks):
    """The same parts, laid out to be unfolded."""

    def page(self, most: int) -> Document:
        """The page with so many operators of each module."""
        run = self.report.run
        blocks = (Section(tuple(self.answer()), "verdict", element="section"), *self.ranks(most))
        if self.lacks_attention():
            blocks = (*blocks, *page_part("attention", self.attention_marking(), self.say("attention")))
        blocks = (*blocks, *page_part("unread", self.lost(), self.say("unread")))
        title = f"{clean_line(run.name, 80)} · {self.say('modules')}"
        return Document(self.language, blocks, self.report.version, code_prose(run.name, 80), title)

    def ranks(self, most: int) -> Iterator[Block]:
        """Each rank as a section that the contents list."""
        for rank in self.report.ranks[:MOST_RANKS]:
            made = (*self.head(rank), *self.level(rank, modules_first(rank.tree), 0, most))
            yield from page_part(f"rank-{rank.rank}", made, f"rank {rank.rank}")
        yield from self.ranks_left(MOST_RANKS)

    def level(self, rank: RankModules, nodes: Sequence[ModuleNode], depth: int, most: int) -> Iterator[Block]:
        """The modules of this depth, each with those that follow it and lie deeper folded below."""
        heads = [at for at, node in enumerate(nodes) if node.depth == depth]
        for begin, end in pairwise((*heads, len(nodes))):
            node = nodes[begin]
            inner = tuple(self.level(rank, nodes[begin + 1 : end], depth + 1, most))
            own = rank.operators_of(node.path) if node.path else ()
            listed = tuple(self.rows(own, most)) if own else ()
            folded = (Fold(self.prose_of("operators"), listed),) if listed and inner else listed
            below = (Section(inner, "inner"),) if inner else ()
            fold = Fold(self.title(node), (self.parts(node), *folded, *below), depth < OPEN_DEPTH and bool(inner))
            yield Section((Meter(round(min(max(node.share, 0.0), 1.0) * 100, 2)), fold), "module")

    def title(self, node: ModuleNode) -> Prose:
        """The name of a module, its share, and its time."""
        times = f" {show_value(node.share, 'share')} · {show_value(node.total_us, 'us')}"
        several = f" · {self.say('instances')} {node.instances:,}" if node.instances > 1 else ""
        mfu = f" · MFU {show_value(node.mfu, 'share')}" if node.mfu is not None else ""
        return (*self.named(node), TextPiece(times + mfu + several, tone="quiet"))

    def parts(self, node: ModuleNode) -> FactLine:
        """What the time of a module is made of."""
        names = ("own", "forward", "backward", "recompute", "comm")
        told = [
            f"{self.say(name)} {show_value(getattr(node, f'{name}_us'), 'us')}"
            for name in names
            if getattr(node, f"{name}_us") > 0 and node.path
        ]
        kernels = f"{self.say('kernels')} {show_value(node.kernels, 'count')}"
        return FactLine(tuple(map(plain_prose, (*told, kernels))))
