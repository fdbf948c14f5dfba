# SPDX-License-Identifier: Apache-2.0
"""YAML as rules, settings and chips use it: texts, numbers, lists and mappings, each with its place, and no surprises.

Refused, with the place: a key given twice, anchors with aliases, merge keys, tags, more than one document, files
over 256 KiB, bytes that are not UTF-8. `yes`, `no`, `on` and `off` are words, `0x10` and `1:30` are words too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from advisor.messages.errors import FilePlace, Mistake, RuleError, reason_of_error
from advisor.messages.message import Message, did_you_mean
from advisor.messages.parser_reasons import yaml_reason
from advisor.regular_files import NotRegularError, leads_out, read_regular
from advisor.yaml_files.slips import find_slip

MAX_BYTES = 256 * 1024
MAX_NESTING = 20
MAX_BRACKETS = 2000
MAX_LINE = 2000

MANY = 30
"""How many known names a hint lists at most."""

_PREFIX = "tag:yaml.org,2002:"
_PLAIN = {yaml.ScalarNode: _PREFIX + "str", yaml.SequenceNode: _PREFIX + "seq", yaml.MappingNode: _PREFIX + "map"}
_SAFE: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc]
    """The safe loader without guesses at what plain words mean: `_Reader.scalar` decides that, in a third less time."""

    def resolve(self, kind: type[yaml.Node], value: object, implicit: object) -> str:
        return _PLAIN[kind]


_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})$")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?$")

Path_ = tuple[str | int, ...]


class RuleDocument(Struct):
    """What a file says, and where it says it."""

    file: str
    text: bytes
    """All of it, in UTF-8: the lines of 200 files, of which hardly any is asked for, take twice as much."""
    nodes: yaml.Node | None
    """What the parser made of it; None where it was let go, too."""
    data: Any = None
    mistakes: list[Mistake] = field(default_factory=list)
    with_tests: bool = True
    """Whether the section `tests` was read."""
    nodes_are_gone: bool = False
    was_checked: bool = False
    """Whether everything it says was found to be right before, so that it need not be checked again."""

    @property
    def lines(self) -> list[str]:
        """The lines of the text, made anew each time."""
        return self.text.decode().split("\n")

    @property
    def root(self) -> yaml.Node | None:
        """The outermost node; made anew where the nodes were let go."""
        if self.nodes_are_gone:
            self.nodes, self.nodes_are_gone = _compose(self.lines, tests=self.with_tests), False
        return self.nodes

    def let_go_of_nodes(self) -> None:
        """Keeps the data alone. Nodes tell where something stands, and take ten times as much; of a file without
        mistakes hardly anyone asks that."""
        self.nodes, self.nodes_are_gone = None, True

    def mistake(
        self, path: Path_, what: Message, hint: Message | None = None, *, key: bool = False, column: int | None = None
    ) -> Mistake:
        """A mistake at a path: at its value, at its key, or `column` characters into an expression."""
        mark, found = self._find_node(path, key)
        line, start = (mark.line, mark.column) if mark is not None else (0, 0)
        if column is not None and isinstance(found, yaml.ScalarNode):
            line, start = self._place_in_scalar(found, column)
        lines = self.lines
        source = lines[line] if line < len(lines) else ""
        return mistake_at(self.file, (line, start), what, source, hint)

    def written(self, path: Path_) -> str | None:
        """The word at a path as it stands in the file, before it is taken for a number; None for what is no word."""
        node = self.root
        for step in path:
            found = _child_node(node, step)
            node = found[1] if found else None
        return str(node.value) if isinstance(node, yaml.ScalarNode) else None

    def line(self, path: Path_) -> int:
        """The line on which the value at a path begins, counted from 1."""
        mark, _ = self._find_node(path, key=False)
        return 0 if mark is None else int(mark.line) + 1

    def place(self, path: Path_, *, key: bool = False) -> FilePlace:
        """Where the value at a path begins, or its key."""
        mark, _ = self._find_node(path, key)
        return FilePlace(self.file) if mark is None else FilePlace(self.file, mark.line + 1, mark.column + 1)

    def _place_in_scalar(self, node: yaml.ScalarNode, column: int) -> tuple[int, int]:
        """Line and column of one character of a scalar, counting as the lines stand in the file."""
        line, start = node.start_mark.line, node.start_mark.column
        if node.style == "|":
            return self._place_in_literal(node, column)
        if node.style == ">":
            line, start = line + 1, 0
        elif node.style:
            start += 1
        left, last = column, min(node.end_mark.line, len(self.lines) - 1)
        while line <= last:
            text = self.lines[line]
            if line > node.start_mark.line:
                start = len(text) - len(text.lstrip())
            room = len(text.rstrip()) - start
            if left <= room or line == last:
                return line, start + min(left, max(room, 0))
            left, line = left - room - 1, line + 1
        return node.start_mark.line, node.start_mark.column

    def _place_in_literal(self, node: yaml.ScalarNode, column: int) -> tuple[int, int]:
        """The same of a block whose lines are kept as they are, but for their indentation."""
        before = node.value[:column]
        line, begin = node.start_mark.line + 1 + before.count("\n"), before.rfind("\n") + 1
        if line >= len(self.lines):
            return node.start_mark.line, node.start_mark.column
        indent = len(self.lines[line]) - len(node.value[begin:].split("\n", 1)[0])
        return line, indent + column - begin

    def _find_node(self, path: Path_, key: bool) -> tuple[Any, yaml.Node | None]:
        """The mark of the deepest part of a path that exists, and its node."""
        node = self.root
        mark = node.start_mark if node is not None else None
        for depth, step in enumerate(path):
            found = _child_node(node, step)
            if found is None:
                break
            at_key = key and depth == len(path) - 1
            node, mark = found[1], found[0].start_mark if at_key and found[0] is not None else found[1].start_mark
        return mark, node


def _child_node(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None


_WIDEST = 160


def mistake_at(file: str, spot: tuple[int, int], what: Message, source: str, hint: Message | None = None) -> Mistake:
    """A mistake with its source line, cut around the caret where it is long; tabs as blanks.

    Of the indentation only what the caret stands under is shown, with its tabs as arrows.
    """
    line, column = spot
    shown, caret = source.rstrip().replace("\t", " "), column
    indent = len(shown) - len(shown.lstrip())
    if column < indent:
        shown = source[:indent].replace("\t", "→") + shown[indent:]
    if len(shown) > _WIDEST:
        begin = max(0, min(column - _WIDEST // 2, len(shown) - _WIDEST))
        shown, caret = shown[begin : begin + _WIDEST], column - begin
    lead = min(len(shown) - len(shown.lstrip()), caret)
    shown, caret = shown[lead:], max(caret - lead, 0)
    return Mistake(FilePlace(file, line + 1, column + 1), what, shown, caret if shown else -1, hint)


def suggest_close(word: str, known: Iterable[str]) -> Message | None:
    """`did you mean …?` when something known is close."""
    return did_you_mean(close_words(word, known))


def close_words(word: str, known: Iterable[str]) -> list[str]:
    """The known word that is closest, if any is close."""
    return difflib.get_close_matches(word, sorted(map(str, known)), 1, 0.55)


def suggest_known(word: str, known: Iterable[str]) -> Message | None:
    """`did you mean …?` when something known is close, else what is known, as long as that is not much."""
    names = sorted(map(str, known))
    listed = Message("known_here", names=", ".join(names)) if 0 < len(names) <= MANY else None
    return suggest_close(word, names) or listed


def suggest_rules(word: str, ids: Iterable[str]) -> Message:
    """What may be meant by the id of a rule, or by a pattern, that is unknown here.

    Where its category is like none of these it is no slip, but one of somebody's own rules that were not given.
    """
    names = sorted(ids)
    categories = {name.split("/", 1)[0] for name in names}
    category, slash, _ = word.partition("/")
    known = sorted(f"{name}/*" for name in categories)
    if slash and not difflib.get_close_matches(category, sorted(categories), 1):
        return Message("own_rules")
    meant = suggest_known(word, known) if "*" in word else did_you_mean(close_rules(word, names)[:1])
    return meant or Message("own_rules")


def close_rules(rule_id: str, ids: Iterable[str]) -> list[str]:
    """The rules that may be meant, nearest first, by what stands behind the category: that alone makes none alike."""
    named: dict[str, list[str]] = {}
    for one in sorted(ids):
        named.setdefault(one.rpartition("/")[2], []).append(one)
    asked = rule_id.rpartition("/")[2]
    near = difflib.get_close_matches(asked, named, 3, 0.85) or difflib.get_close_matches(asked, named, 1)
    return [one for name in near for one in sorted(named[name], key=lambda one: _unlike(one, rule_id))]


def _unlike(one: str, other: str) -> float:
    return -difflib.SequenceMatcher(None, one, other).ratio()


def read_document(path: Path) -> RuleDocument:
    """The document of a file.

    Raises:
        RuleError: The file cannot be read as the part of YAML described above.
    """
    return parse_document(read_text(path, path.as_posix()), path.as_posix())


def read_text(path: Path, file: str) -> str:
    """The text of a file, which mistakes call `file`.

    Raises:
        RuleError: It cannot be read, is no regular file, or no text.
    """
    try:
        raw = read_regular(path, MAX_BYTES + 1)
    except NotRegularError:
        raise RuleError([Mistake(FilePlace(file), Message("no_regular_file"))]) from None
    except OSError as error:
        raise RuleError([Mistake(FilePlace(file), Message("cannot_be_read", why=reason_of_error(error)))]) from None
    if len(raw) > MAX_BYTES:
        raise RuleError([Mistake(FilePlace(file), Message("file_too_large", limit=MAX_BYTES // 1024))])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1)
        what, hint = Message("not_utf8"), Message("save_as_utf8")
        raise RuleError([mistake_at(file, (line, column), what, "", hint)]) from None
    return text.replace("\r\n", "\n")


def refused_link(path: Path, folder: Path) -> list[Mistake]:
    """The mistake that a file is a link out of its folder: what people send in could show what lies elsewhere."""
    if not leads_out(path, folder):
        return []
    what = Message("link_leads_out", folder=folder.as_posix())
    return [Mistake(FilePlace(path.as_posix()), what, hint=Message("put_file_itself"))]


def parse_document(text: str, file: str, *, tests: bool = True) -> RuleDocument:
    """The document of a text. Without `tests` the section of that name is passed over unread, which halves the time."""
    lines = text.split("\n")
    _refuse_deep_nesting(file, text, lines)
    try:
        root = _compose(lines, tests=tests)
    except yaml.MarkedYAMLError as error:
        raise RuleError([_not_yaml(error, file, lines)]) from None
    except RecursionError:
        raise RuleError([Mistake(FilePlace(file), Message("nested_too_deep"))]) from None
    except yaml.YAMLError as error:
        why = str(getattr(error, "reason", "")) or str(error)
        raise RuleError([Mistake(FilePlace(file), Message("not_yaml", why=yaml_reason(why)))]) from None
    document = RuleDocument(file, text.encode(), root, with_tests=tests)
    document.data = _Reader(document).value(root, 0)
    if document.mistakes:
        raise RuleError(document.mistakes)
    return document


def _compose(lines: Sequence[str], *, tests: bool) -> yaml.Node | None:
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


def _not_yaml(error: yaml.MarkedYAMLError, file: str, lines: Sequence[str]) -> Mistake:
    """What the parser found; what runs to the end of the file is shown where it began, a known slip where it is."""
    mark, what = error.problem_mark or error.context_mark, (error.problem or str(error)).strip()
    why = yaml_reason(what)
    began = error.context_mark.line if error.context_mark is not None else None
    slip = find_slip(f"{what} {error.context}", _spot_of(mark), lines, began)
    if error.context_mark is not None and mark is not None and mark.line >= len(lines) - 1:
        mark, why = error.context_mark, yaml_reason(what, error.context or "")
    spot, hint = slip or (_spot_of(mark), None)
    source = lines[spot[0]] if spot[0] < len(lines) else ""
    return mistake_at(file, spot, Message("not_yaml", why=why), source, hint)


def _spot_of(mark: yaml.Mark | None) -> tuple[int, int]:
    return (mark.line, mark.column) if mark is not None else (0, 0)


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
        elif node.tag not in (_PREFIX + "map", _PREFIX + "seq"):
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
        if not node.tag.startswith(_PREFIX) or node.tag.startswith(_PREFIX + "python"):
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
