# SPDX-License-Identifier: Apache-2.0
"""How a command ends that does not reach its end: one sentence, a hint, and an exit code that can be trusted."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.exit_codes import BROKEN, UNREADABLE, WRONG
from advisor.cli.standard_error import tell
from advisor.messages.hidden import show_hidden_in_lines

if TYPE_CHECKING:
    from advisor.messages.errors import AdvisorError

_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread", "unable to allocate")
"""How the system, the loader of libraries and the threads of Python say it."""
_SILENT = ("without exception set", "without setting an exception")
"""What Python says of C code that fails and does not say why: it was refused memory, and did not look."""


def tell_ending(error: Exception, language: str, *, debug: bool) -> int:
    """Says on the standard error why a command ended early, and gives the exit code."""
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, MemoryError):  # a sentence takes some too: all that the frames hold is let go
        error.__traceback__ = error.__context__ = error.__cause__ = None
    try:
        spoken = _spoken(error)
        tell(spoken.say(language))
        code = _exit_code(spoken)
    except MemoryError:
        print("advisor: memory ran out", file=sys.stderr)
        code = BROKEN
    tell_notes(error)
    return code


def tell_notes(error: BaseException) -> None:
    """Says what else there is to know of an early end, such as the files that were written."""
    for note in getattr(error, "__notes__", ()):
        print(f"    {show_hidden_in_lines(note)}", file=sys.stderr)


def _spoken(error: Exception) -> AdvisorError:
    """The error as it is told: what was raised on purpose as it is, all else as the end of the work."""
    from advisor.messages.errors import AdvisorError, BrokenDown, reason_of_error
    from advisor.messages.message import Message

    if isinstance(error, AdvisorError):
        return error
    if _lacks_memory(error):
        return BrokenDown(Message("memory_ran_out"), Message("needs_less_memory"))
    kind, why = type(error).__name__, reason_of_error(error)
    return BrokenDown(Message("broke_down", place=_innermost_place(error), kind=kind, why=why), Message("report_bug"))


def _exit_code(error: AdvisorError) -> int:
    from advisor.messages.errors import BrokenDown, ClusterLost, InputError, WorkerLost

    if isinstance(error, BrokenDown | ClusterLost | WorkerLost):
        return BROKEN
    return UNREADABLE if isinstance(error, InputError) else WRONG


def _lacks_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if isinstance(error, SystemError) and any(words in str(error) for words in _SILENT):
        return True
    return isinstance(error, ImportError | RuntimeError | OSError) and any(
        words in str(error).lower() for words in _NO_MEMORY
    )


def _innermost_place(error: Exception) -> str:
    """The last line of this package that was reached, as `engine/rank.py:12`."""
    import traceback

    package = Path(__file__).parent.parent
    places = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    ours = [(file, line) for file, line in places if file.is_relative_to(package)]
    file, line = ours[-1] if ours else (Path(__file__), 0)
    return f"{file.relative_to(package).as_posix()}:{line}"
