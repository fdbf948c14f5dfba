# SPDX-License-Identifier: Apache-2.0
"""YAML as rules, settings and chips use it: texts, numbers, lists and mappings, each with its place, and no surprises.

Refused, with the place: a key given twice, anchors with aliases, merge keys, tags, more than one document, files
over 256 KiB, bytes that are not UTF-8. `yes`, `no`, `on` and `off` are words, `0x10` and `1:30` are words too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from advisor.messages.errors import FilePlace, Mistake, RuleError
from advisor.messages.message import Message
from advisor.yaml_files.document import RuleDocument, mistake_at, read_text
from advisor.yaml_files.nodes import PREFIX, compose, spot_of
from advisor.yaml_files.slips import find_slip

MAX_NESTING = 20
MAX_BRACKETS = 2000
MAX_LINE = 2000

_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})$")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?$")


def read_document(path: Path) -> RuleDocument:
    """The document of a file.

    Raises:
        RuleError: The file cannot be read as the part of YAML described above.
    """
    return parse_document(read_text(path, path.as_posix()), path.as_posix())


def parse_document(text: str, file: str, *, tests: bool = True) -> RuleDocument:
    """The document of a text. Without `tests` the section of that name is passed over unread, which halves the time."""
    lines = text.split("\n")
    _refuse_deep_nesting(file, text, lines)
    try:
        root = compose(lines, tests=tests)
    except yaml.MarkedYAMLError as error:
        raise RuleError([_not_yaml(error, file, lines)]) from None
    except RecursionError:
        raise RuleError([Mistake(FilePlace(file), Message("nested_too_deep"))]) from None
    except yaml.YAMLError as error:
        said = str(getattr(error, "reason", "")) or str(error)
        raise RuleError([Mistake(FilePlace(file), Message("not_yaml", said=said))]) from None
    document = RuleDocument(file, text.encode(), root, with_tests=tests)
    document.data = _Reader(document).value(root, 0)
    if document.mistakes:
        raise RuleError(document.mistakes)
    return document


def _not_yaml(error: yaml.MarkedYAMLError, file: str, lines: Sequence[str]) -> Mistake:
    """What the parser found; what runs to the end of the file is shown where it began, a known slip where it is."""
    mark, began = error.problem_mark or error.context_mark, error.context_mark
    slip = find_slip(spot_of(mark), lines, spot_of(began) if began is not None else None)
    said = error.problem or str(error)
    if began is not None and mark is not None and mark.line >= len(lines) - 1:
        mark, said = began, f"{said} {error.context or ''}"
    spot, hint = slip or (spot_of(mark), Message("check_yaml_here"))
    source = lines[spot[0]] if spot[0] < len(lines) else ""
    return mistake_at(file, spot, Message("not_yaml", said=said.strip()), source, hint)


def _refuse_deep_nesting(file: str, text: str, lines: Sequence[str]) -> None:
    """The parser beneath recurses without a bound, so what could nest is bounded before it starts.

    A level needs a bracket, or at least a column of its line.
    """
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise RuleError([Mistake(FilePlace(file), Message("too_many_brackets", limit=MAX_BRACKETS))])
    longest = max(range(len(lines)), key=lambda number: len(lines[number]))
    if len(lines[longest]) > MAX_LINE:
        raise RuleError([Mistake(FilePlace(file, longest + 1), Message("line_too_long", limit=MAX_LINE))])


class _Reader:
    """Nodes to plain values. Every node is visited once: an alias would visit one again."""

    def __init__(self, document: RuleDocument) -> None:
        self.document = document
        self.seen: set[int] = set()

    def refuse(self, node: yaml.Node, what: Message, hint: Message | None = None) -> None:
        mark, lines = node.start_mark, self.document.lines
        source = lines[mark.line] if mark.line < len(lines) else ""
        self.document.mistakes.append(mistake_at(self.document.file, (mark.line, mark.column), what, source, hint))

    def refuse_tag(self, node: yaml.Node) -> None:
        """Refuses `!mine`, which may be meant for a negation, and `!!set`."""
        own = node.tag.startswith("!")
        self.refuse(node, Message("no_tags"), Message("not_and_tags") if own else None)

    def value(self, node: yaml.Node | None, depth: int) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if node is None or not self.plain(node, depth):
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        return [self.value(item, depth + 1) for item in node.value]

    def plain(self, node: yaml.Node, depth: int) -> bool:
        """Whether a list or mapping is one of those that are allowed, met for the first time."""
        before = len(self.document.mistakes)
        if id(node) in self.seen:
            self.refuse(node, Message("no_aliases"), Message("write_it_out"))
        elif depth > MAX_NESTING:
            self.refuse(node, Message("nested_too_deep"))
        elif node.tag not in (PREFIX + "map", PREFIX + "seq"):
            self.refuse_tag(node)
        self.seen.add(id(node))
        return len(self.document.mistakes) == before

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        places: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(key, Message("key_is_word"))
            elif key.value == "<<":
                self.refuse(key, Message("no_merge_keys"), Message("write_it_out"))
            elif key.value in found:
                first = Message("first_on_line", line=places[key.value])
                self.refuse(key, Message("given_twice", name=key.value), first)
            else:
                places[key.value] = key.start_mark.line + 1
                found[key.value] = self.value(value, depth + 1)
        return found

    def scalar(self, node: yaml.ScalarNode) -> object:
        if id(node) in self.seen:
            self.refuse(node, Message("no_aliases"), Message("write_it_out"))
        self.seen.add(id(node))
        if not node.tag.startswith(PREFIX) or node.tag.startswith(PREFIX + "python"):
            self.refuse_tag(node)
            return None
        text = str(node.value)
        if node.style in ('"', "'", "|", ">"):
            return text
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if text[0] not in "+-.0123456789":
            return text
        if _INT.match(text):
            return int(text)
        return float(text) if _FLOAT.match(text) else text
