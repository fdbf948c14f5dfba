# SPDX-License-Identifier: Apache-2.0
"""What a rule says, as blocks. Values of a profile are put in when the Markdown has been read, and are never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.messages.markup import rule_text_parser, web_address
from advisor.messages.text import CJK, Language
from advisor.report.blocks import Block, Blocks, Code, Grid, ListBlock, Paragraph, Quote
from advisor.report.prose import Prose, TextPiece, clean_block, fill_pieces, join_pieces, parse_prose, strong

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from advisor.model.findings import Reference

_IS_CJK = re.compile(f"[{CJK}]")
_LINE_BREAK = TextPiece("\n")
"""Stands for a line break that was asked for; what follows it is a paragraph of its own."""


def rule_text(text: str, values: Mapping[str, TextPiece] | None = None) -> Blocks:
    """A text of a rule as blocks, with its `{name}` holes filled."""
    return tuple(_Reader(values or {}).blocks(_parse_tree(text, inline=False).children))


def rule_sentence(text: str, values: Mapping[str, TextPiece] | None = None) -> Prose:
    """A text of a rule where there is room for a sentence: emphasis, code and links, but no blocks."""
    (inline,) = _parse_tree(text, inline=True).children
    return _Reader(values or {}).sentence(inline.children)


def reference_titles(references: Iterable[Reference], language: Language) -> Iterator[Prose]:
    """Where to read more: titles, each of which leads there where that is an address of the web."""
    for one in references:
        yield tuple(replace(piece, url=web_address(one.url)) for piece in parse_prose(one.say_title(language)))


@lru_cache(2048)
def _parse_tree(text: str, *, inline: bool) -> SyntaxTreeNode:
    from markdown_it.tree import SyntaxTreeNode

    parser = rule_text_parser()
    return SyntaxTreeNode(parser.parseInline(text) if inline else parser.parse(text))


class _Reader:
    def __init__(self, values: Mapping[str, TextPiece]) -> None:
        self.values = values

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Block]:
        for node in nodes:
            match node.type:
                case "paragraph":
                    yield from self.paragraphs(node)
                case "heading":
                    yield Paragraph(strong(self.cell(node)))
                case "bullet_list" | "ordered_list":
                    items = tuple(tuple(self.blocks(item.children)) for item in node.children)
                    yield ListBlock(items, _first_number(node) if node.type == "ordered_list" else None)
                case "fence" | "code_block":
                    yield Code(clean_block(node.content, holes=False), _fence_language(node.info))
                case "blockquote":
                    yield Quote(tuple(self.blocks(node.children)))
                case "table":
                    yield self.grid(node)

    def paragraphs(self, node: SyntaxTreeNode) -> Iterator[Paragraph]:
        """A paragraph, or several where line breaks were asked for."""
        line: list[TextPiece] = []
        for piece in (*self.pieces(node.children[0].children, TextPiece("")), _LINE_BREAK):
            if piece is not _LINE_BREAK:
                line.append(piece)
            elif line:
                yield Paragraph(join_pieces(line))
                line = []

    def grid(self, node: SyntaxTreeNode) -> Grid:
        rows = [row.children for part in node.children for row in part.children]
        right = tuple("right" in str(cell.attrs.get("style", "")) for cell in rows[0])
        heads, *cells = (tuple(map(self.cell, row)) for row in rows)
        return Grid(heads, tuple(cells), right)

    def cell(self, node: SyntaxTreeNode) -> Prose:
        return self.sentence(node.children[0].children) if node.children else ()

    def sentence(self, nodes: Sequence[SyntaxTreeNode]) -> Prose:
        pieces = self.pieces(nodes, TextPiece(""))
        return join_pieces(TextPiece(" ") if piece is _LINE_BREAK else piece for piece in pieces)

    def pieces(self, nodes: Sequence[SyntaxTreeNode], style: TextPiece) -> Iterator[TextPiece]:
        """What stands in a line, each piece with the style of what it stands in."""
        for at, node in enumerate(nodes):
            match node.type:
                case "strong":
                    yield from self.pieces(node.children, replace(style, strong=True))
                case "em":
                    yield from self.pieces(node.children, replace(style, emphasis=True))
                case "link":
                    yield from self.pieces(node.children, replace(style, url=str(node.attrs["href"])))
                case "code_inline":
                    yield from fill_pieces(node.content, replace(style, code=True), self.values)
                case "softbreak":
                    yield replace(style, text=_between_lines(nodes[:at], nodes[at + 1 :]))
                case "hardbreak":
                    yield _LINE_BREAK
                case _:
                    yield from fill_pieces(node.content, style, self.values)


def _between_lines(before: Sequence[SyntaxTreeNode], after: Sequence[SyntaxTreeNode]) -> str:
    """A blank where a line of the file ends, but for a line of Chinese that goes on in Chinese."""
    ends = (before[-1].content[-1:] if before else "", after[0].content[:1] if after else "")
    return "" if all(map(_IS_CJK.match, ends)) else " "


def _first_number(node: SyntaxTreeNode) -> int:
    return int(node.attrs.get("start", 1))


def _fence_language(info: str) -> str:
    """The name of a language after the fence, where it is a plain word."""
    name = info.split(maxsplit=1)[0] if info.strip() else ""
    return name if re.fullmatch(r"[\w+-]{1,20}", name, re.ASCII) else ""
