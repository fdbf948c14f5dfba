# SPDX-License-Identifier: Apache-2.0
"""What a file says, where it says it, and how a mistake in it is shown; read without a parser where none is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from advisor.machine.regular_files import NotRegularError, leads_out, read_regular
from advisor.messages.errors import FilePlace, Mistake, RuleError, reason_of_error
from advisor.messages.message import Message

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 256 * 1024

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
            from advisor.yaml_files.nodes import compose

            self.nodes, self.nodes_are_gone = compose(self.lines, tests=self.with_tests), False
        return self.nodes

    def let_go_of_nodes(self) -> None:
        """Keeps the data alone. Nodes tell where something stands, and take ten times as much; of a file without
        mistakes hardly anyone asks that."""
        self.nodes, self.nodes_are_gone = None, True

    def mistake(
        self, path: Path_, what: Message, hint: Message | None = None, *, key: bool = False, column: int | None = None
    ) -> Mistake:
        """A mistake at a path: at its value, at its key, or `column` characters into an expression."""
        from advisor.yaml_files.nodes import find_spot

        lines = self.lines
        line, start = find_spot(self.root, path, lines, key=key, column=column)
        source = lines[line] if line < len(lines) else ""
        return mistake_at(self.file, (line, start), what, source, hint)

    def written(self, path: Path_) -> str | None:
        """The word at a path as it stands in the file, before it is taken for a number; None for what is no word."""
        from advisor.yaml_files.nodes import written_word

        return written_word(self.root, path)

    def line(self, path: Path_) -> int:
        """The line on which the value at a path begins, counted from 1."""
        return self.place(path).line

    def place(self, path: Path_, *, key: bool = False) -> FilePlace:
        """Where the value at a path begins, or its key."""
        from advisor.yaml_files.nodes import find_node

        mark, _ = find_node(self.root, path, key=key)
        return FilePlace(self.file) if mark is None else FilePlace(self.file, mark.line + 1, mark.column + 1)


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
