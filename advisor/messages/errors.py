# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, and where.

```text
AdvisorError
├── InputError      nothing in the input can be read                    exit code 3
├── UsageError      the command line or a setting is wrong              exit code 2
├── ForgeError      a forge cannot be reached or refuses the comment    exit code 2
├── RuleError       one or more rule files or settings are wrong        exit code 2
├── ExprError       one expression is wrong (collected into RuleError)
├── Unclear         a value in a file people write is none (collected into RuleError)
├── FactMissing     a fact was not recorded (becomes the outcome "skipped")
├── ClusterLost     the scheduler or all workers of a cluster are gone        exit code 4
├── WorkerLost      workers were lost over every rank, usually for memory     exit code 4
└── BrokenDown      what nobody raised on purpose                       exit code 4
```
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import NamedTuple

from advisor.messages.message import Message, MessageValue
from advisor.messages.text import Text


class FilePlace(NamedTuple):
    """A spot in a file. Lines and columns count from 1; 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class Mistake(NamedTuple):
    """One thing wrong in a file people write: where, what, the source with a caret, and what would be right."""

    place: FilePlace
    what: Message
    source: str = ""
    caret: int = -1
    hint: Message | None = None

    def say(self, language: str) -> str:
        """The mistake in one language."""
        said = f"{self.place}: {self.what.say(language)}"
        return said + _source_lines(self.source, self.caret) + _hint_line(self.hint, language)

    def __str__(self) -> str:
        return self.say("en")


def _source_lines(source: str, caret: int) -> str:
    """The source on a line of its own, and the caret below it, where there are."""
    if not source:
        return ""
    return f"\n    {source}" + (f"\n    {' ' * caret}^" if caret >= 0 else "")


def _hint_line(hint: Message | Text | None, language: str) -> str:
    """What to do about it, on a line of its own."""
    if hint is None:
        return ""
    return f"\n    {'提示：' if language == 'zh' else 'hint: '}{hint.say(language)}"


class AdvisorError(Exception):
    """The root of everything this package raises on purpose. `str` is the English."""

    def say(self, language: str) -> str:
        """What went wrong, in one language."""
        return super().__str__()

    def __str__(self) -> str:
        return self.say("en")


class SpokenError(AdvisorError):
    """Something to tell the user in their language: one sentence, and what to do about it."""

    def __init__(self, what: Message | Text, hint: Message | Text | None = None) -> None:
        self.what, self.hint = what, hint
        super().__init__(what, hint)

    def say(self, language: str) -> str:
        """The sentence and its hint in one language."""
        return self.what.say(language) + _hint_line(self.hint, language)


class InputError(SpokenError):
    """Nothing in the given input can be read. Says what was found and what to do."""


class UsageError(SpokenError):
    """The command line or a setting asks for something that does not exist."""


class BrokenDown(SpokenError):
    """The work ended early, for lack of memory or by a mistake in this package."""


class ForgeError(SpokenError):
    """A forge cannot be reached or refuses what the bot asks. `status` is its HTTP status, 0 where there was none."""

    def __init__(self, what: Message, hint: Message | Text | None = None, status: int = 0) -> None:
        self.status = status
        super().__init__(what, hint)


class RuleError(AdvisorError):
    """Everything wrong with the rule files or settings that were read, all at once."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(self.mistakes)

    def say(self, language: str) -> str:
        """All mistakes, one after another, in one language."""
        return "\n".join(mistake.say(language) for mistake in self.mistakes)


class ExprError(AdvisorError):
    """A mistake in one expression; `column` counts characters of the expression from 0."""

    def __init__(self, what: Message, source: str, column: int, hint: Message | None = None) -> None:
        self.what, self.source, self.column, self.hint = what, source, column, hint
        super().__init__(what, source, column, hint)

    def say(self, language: str) -> str:
        """The mistake under the expression, in one language."""
        said = Message("in_expression", what=self.what).say(language)
        return said + _source_lines(self.source, self.column) + _hint_line(self.hint, language)


class Unclear(SpokenError, ValueError):
    """A value in a file people write cannot be understood: what is wrong with it, and what would be right.

    `at` counts characters of the text that holds it, where it has a place of its own.
    """

    what: Message
    hint: Message | None

    def __init__(self, what: Message, hint: Message | None = None, at: int | None = None) -> None:
        self.at = at
        super().__init__(what, hint)


class FactMissing(AdvisorError):
    """A table cannot be had because something was not recorded, or cannot be read.

    `tables` names the observed facts that are absent, so that the report can say how to record them;
    `unreadable` names files that cannot be read, `behind` those of `tables` that are kept in them (all of them, where
    nothing else is said); `incomplete` tables that are there, but lack rows; `unnamed` those whose rows have names that
    do not tell what they are.
    """

    def __init__(
        self,
        tables: Iterable[str],
        unreadable: Iterable[str] = (),
        incomplete: Iterable[str] = (),
        behind: Iterable[str] | None = None,
        unnamed: Iterable[str] = (),
    ) -> None:
        self.tables = tuple(dict.fromkeys(tables))
        self.incomplete = tuple(dict.fromkeys(incomplete))
        self.unreadable = tuple(dict.fromkeys(unreadable))
        self.unnamed = tuple(dict.fromkeys(unnamed))
        if behind is None:
            behind = self.tables if self.unreadable else ()
        self.behind = tuple(dict.fromkeys(behind))
        self.reason: Text | None = None
        super().__init__(self.tables, self.unreadable, self.incomplete, self.behind, self.unnamed)

    def because(self, reason: Text) -> FactMissing:
        """The same as somebody says it who knows what was recorded, and how to have the rest."""
        told = FactMissing(self.tables, self.unreadable, self.incomplete, self.behind, self.unnamed)
        told.reason = reason
        return told

    def say(self, language: str) -> str:
        """What is missing; with what to record where somebody told the reason."""
        if self.reason is not None:
            return self.reason.say(language)
        between, colon, semicolon = ("、", "：", "；") if language == "zh" else (", ", ": ", "; ")
        absent = Text("not recorded", "未采集"), self.tables
        lacking = Text("rows missing in", "缺少数据行"), self.incomplete
        untold = Text("names do not tell in", "名称无法识别"), self.unnamed
        parts = [
            f"{what.say(language)}{colon}{between.join(names)}" for what, names in (absent, lacking, untold) if names
        ]
        files = between.join(self.unreadable)
        why = Text(f" ({files} cannot be read)", f"（{files} 无法读取）").say(language) if files else ""
        return semicolon.join(parts) + why

    @classmethod
    def joined(cls, missing: Iterable[FactMissing]) -> FactMissing:
        """Everything that any of these names."""
        every = tuple(missing)
        return cls(
            (name for one in every for name in one.tables),
            (file for one in every for file in one.unreadable),
            (name for one in every for name in one.incomplete),
            (name for one in every for name in one.behind),
            (name for one in every for name in one.unnamed),
        )


_LONGEST_REASON = 120


_OF_THE_SYSTEM = {
    errno.ENOSPC: "no_space_left",
    errno.EDQUOT: "quota_exceeded",
    errno.EROFS: "file_system_read_only",
    errno.ENOENT: "no_such_file",
    errno.EIO: "input_output_error",
    errno.ENAMETOOLONG: "file_name_too_long",
    errno.EISDIR: "is_directory",
    errno.EBADF: "not_open",
}
"""What the system says of files most often, by its number: libraries put words of their own around it."""

OF_THE_SYSTEM = frozenset({"permission_denied", "quoted_of_system", *_OF_THE_SYSTEM.values()})
"""Codes of what the system says: another reader, or the same one later, may have read what it was said of."""
_SQLITE_OF_SYSTEM = frozenset({3, 5, 6, 7, 10, 13, 14})
"""Numbers of SQLite: no permission, busy, locked, no memory, input or output failed, full, cannot be opened."""


def reason_of_error(error: Exception) -> Message:
    """Why something could not be read: the words of the system or of a parser are quoted, one line without paths."""
    if isinstance(error, SpokenError) and isinstance(error.what, Message):
        return error.what
    if isinstance(error, UnicodeError):
        return Message("no_utf8")
    if isinstance(error, PermissionError):
        return Message("permission_denied")
    if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM:
        return Message(_OF_THE_SYSTEM[error.errno])
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    first = next(iter(said.splitlines()), "")[:_LONGEST_REASON].replace("`", "'")
    words = first.lower() if isinstance(error, OSError) else first
    if not words:
        return Message("unknown_reason")
    return Message("quoted_of_system" if _is_of_system(error) else "quoted", words=words)


def _is_of_system(error: Exception) -> bool:
    """Whether the system, and no content, is why: libraries raise errors of the system without a number for content."""
    of_sqlite = getattr(error, "sqlite_errorcode", None)
    if of_sqlite is not None:
        return of_sqlite & 0xFF in _SQLITE_OF_SYSTEM
    return isinstance(error, OSError) and error.errno is not None


def is_forbidden(what: MessageValue) -> bool:
    """Whether permissions are what something says is wrong."""
    return "permission_denied" in codes_in(what)


def codes_in(what: MessageValue) -> frozenset[str]:
    """The code of a message, and those of the messages within it."""
    if not isinstance(what, Message):
        return frozenset()
    return frozenset([what.code]).union(*(codes_in(value) for _, value in what.values))


def hint_beside(what: Message, usual: Message) -> Message:
    """What to do about something that cannot be read: permissions are no damage, and are mended where it lies."""
    return Message("make_readable") if is_forbidden(what) else usual


class ClusterLost(SpokenError):
    """A cluster is gone in the middle of the work; says how many ranks were done."""

    def __init__(self, what: Message, done: int = 0, total: int = 0) -> None:
        super().__init__(what, Message("cluster_done_so_far", done=done, total=total) if total else None)


class WorkerLost(SpokenError):
    """Workers were lost over every rank, usually because memory ran out; says why the last one was."""

    def __init__(self, why: Message | None = None) -> None:
        self.why = why or Message("worker_died")
        slow = self.why.code == "worker_too_slow"
        super().__init__(
            Message("workers_lost_over_all", why=self.why), Message("allow_more_time" if slow else "allow_more_memory")
        )

    def __reduce__(self) -> tuple[type[WorkerLost], tuple[Message]]:
        return WorkerLost, (self.why,)
