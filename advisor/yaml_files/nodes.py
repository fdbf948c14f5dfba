# SPDX-License-Identifier: Apache-2.0
"""What the parser makes of a text: nodes, each with its place. Who neither parses nor asks for places needs none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

PREFIX = "tag:yaml.org,2002:"
"""Of the tags of YAML itself."""
_PLAIN = {yaml.ScalarNode: PREFIX + "str", yaml.SequenceNode: PREFIX + "seq", yaml.MappingNode: PREFIX + "map"}
_SAFE: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc]
    """The safe loader without guesses at what plain words mean: `source` decides that, in a third less time."""

    def resolve(self, kind: type[yaml.Node], value: object, implicit: object) -> str:
        return _PLAIN[kind]


def compose(lines: Sequence[str], *, tests: bool) -> yaml.Node | None:
    """The nodes of a text.

    Raises:
        yaml.YAMLError: It is no YAML.
    """
    root: yaml.Node | None = yaml.compose("\n".join(lines if tests else _without_tests(lines)), Loader=_Loader)
    return root


def _without_tests(lines: Sequence[str]) -> Iterator[str]:
    """The lines with those of the top-level key `tests` empty, so that all others keep their number."""
    inside = False
    for line in lines:
        inside = line.startswith("tests:") or (inside and (not line or line[0] in " \t#-") and line[:3] != "---")
        yield "" if inside else line


def find_node(root: yaml.Node | None, path: Sequence[str | int], *, key: bool) -> tuple[yaml.Mark | None, Any]:
    """The mark of the deepest part of a path that exists, or of its key, and its node."""
    node = root
    mark = node.start_mark if node is not None else None
    for depth, step in enumerate(path):
        found = _child_node(node, step)
        if found is None:
            break
        at_key = key and depth == len(path) - 1
        node, mark = found[1], found[0].start_mark if at_key and found[0] is not None else found[1].start_mark
    return mark, node


def written_word(root: yaml.Node | None, path: Sequence[str | int]) -> str | None:
    """The word at a path as it is written; None for what is no word."""
    node = root
    for step in path:
        found = _child_node(node, step)
        node = found[1] if found else None
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def spot_of(mark: yaml.Mark | None) -> tuple[int, int]:
    """Line and column of a mark, counted from 0."""
    return (mark.line, mark.column) if mark is not None else (0, 0)


def find_spot(
    root: yaml.Node | None, path: Sequence[str | int], lines: Sequence[str], *, key: bool, column: int | None
) -> tuple[int, int]:
    """Line and column of the deepest part of a path that exists, or of its key, or of one character of its word."""
    mark, node = find_node(root, path, key=key)
    in_word = column is not None and isinstance(node, yaml.ScalarNode)
    return _spot_in_scalar(node, column or 0, lines) if in_word else spot_of(mark)


def _spot_in_scalar(node: yaml.ScalarNode, column: int, lines: Sequence[str]) -> tuple[int, int]:
    """Line and column of one character of a scalar, counting as the lines stand in the file."""
    line, start = spot_of(node.start_mark)
    if node.style == "|":
        return _spot_in_literal(node, column, lines)
    if node.style == ">":
        line, start = line + 1, 0
    elif node.style:
        start += 1
    left, last = column, min(node.end_mark.line, len(lines) - 1)
    while line <= last:
        text = lines[line]
        if line > node.start_mark.line:
            start = len(text) - len(text.lstrip())
        room = len(text.rstrip()) - start
        if left <= room or line == last:
            return line, start + min(left, max(room, 0))
        left, line = left - room - 1, line + 1
    return spot_of(node.start_mark)


def _spot_in_literal(node: yaml.ScalarNode, column: int, lines: Sequence[str]) -> tuple[int, int]:
    """The same of a block whose lines are kept as they are, but for their indentation."""
    before = node.value[:column]
    line, begin = node.start_mark.line + 1 + before.count("\n"), before.rfind("\n") + 1
    if line >= len(lines):
        return spot_of(node.start_mark)
    indent = len(lines[line]) - len(node.value[begin:].split("\n", 1)[0])
    return line, indent + column - begin


def _child_node(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None
