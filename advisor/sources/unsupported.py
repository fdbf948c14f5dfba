# SPDX-License-Identifier: Apache-2.0
"""What to say about input that no family can open: what it is, and what to do."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from advisor.machine.regular_files import open_regular
from advisor.messages.errors import InputError, hint_beside, reason_of_error
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.sources.detect import DEPTH
from advisor.sources.family import Candidate, Family, Inventory
from advisor.sources.files.heads import begins_as_json, file_head
from advisor.sources.files.utf16 import is_utf16, utf8_of_utf16
from advisor.sources.listing import MOST_NAMES, first_names, show_name, show_relative

_STREAM = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/(self|\d+)/fd/\d+")

_COMMENTS = (b"//", b"/*", b"#")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_DEEPEST = 1000
"""Parsers of JSON go no deeper than that, and no profiler goes a hundredth of it."""


def _wanted_input(families: Sequence[Family]) -> Text:
    """What to give, the commonest first."""
    asked = [family.wanted for family in sorted(families, key=lambda one: one.rare) if family.wanted]
    return Text("; ".join(one.en for one in asked), "；".join(one.zh for one in asked))


def check_reachable(path: Path, families: Sequence[Family]) -> None:
    """Refuse what is neither a folder nor a file that can be looked at.

    Raises:
        InputError: It is neither.
    """
    give = Message("give", what=_wanted_input(families))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(Message("does_not_exist", path=show_name(path)), Message("check_the_path")) from None
    except (OSError, ValueError) as error:
        what = Message("cannot_be_looked_at", path=show_name(path), why=reason_of_error(error))
        raise InputError(what, hint_beside(what, give)) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        what = Message("neither_folder_nor_file", path=show_name(path))
        raise InputError(what, Message("give_as_dash") if stat.S_ISFIFO(mode) or _is_stream(path) else give)
    if stat.S_ISREG(mode):
        if _is_stream(path):
            raise InputError(Message("no_profile_file", path=show_name(path)), Message("give_as_dash"))
        _refuse_closed_file(path)


def _is_stream(path: Path) -> bool:
    """Whether a path names what a process has open, such as its standard input: no name of a file is known of that."""
    return _STREAM.fullmatch(os.path.abspath(path)) is not None


def _refuse_closed_file(path: Path) -> None:
    try:
        open_regular(path).close()
    except PermissionError as error:
        what = Message("cannot_be_looked_at", path=show_name(path), why=reason_of_error(error))
        raise InputError(what, Message("make_readable")) from error
    except OSError:  # whoever reads it says what it is
        return


def too_many_names_error(path: Path) -> InputError:
    """About a folder that holds more than any profile, such as a whole disk."""
    return InputError(
        Message("more_than_a_profile", path=show_name(path), limit=MOST_NAMES), Message("give_profile_folder")
    )


def no_capture_error(path: Path, found: Inventory, families: Sequence[Family]) -> InputError:
    """One sentence about a path without a readable capture, and what to do."""
    known = next((why for family in families if (why := family.refuse(path, found))), None)
    if known:
        return known
    return (
        InputError(*_texts_on_folder(path, found, families))
        if path.is_dir()
        else _foreign_file_error(path, Message("give", what=_wanted_input(families)))
    )


def mixed_profilers_error(path: Path, captures: Sequence[tuple[Family, Sequence[Candidate]]]) -> InputError:
    """About captures of several profilers in one input."""
    names = Text(*(words.join(family.name for family, _ in captures) for words in (" and ", "、")))
    shown = [show_relative(_place_of(some[0]), path) or show_name(path.name) for _, some in captures]
    places = Text(*(words.join(shown) for words in (" and ", "、")))
    return InputError(
        Message("mixes_profilers", path=show_name(path), names=names, places=places),
        Message("give_one_job"),
    )


def _place_of(candidate: Candidate) -> Path:
    """The file that stands for it, where a family names one; else its folder."""
    file = getattr(candidate, "file", Path())
    return file if file != Path() else candidate.root


def _foreign_file_error(path: Path, give: Message) -> InputError:
    if not path.stat().st_size:
        return InputError(Message("file_is_empty", path=show_name(path)), give)
    why = _odd_beginning(file_head(path))
    if why is not None:
        return InputError(Message("trace_unreadable", path=show_name(path), why=why), give)
    return InputError(Message("no_profile_file", path=show_name(path)), give)


def _odd_beginning(head: bytes) -> Message | None:
    """Why a file that would be JSON cannot be told by its beginning; None where it is something else."""
    if is_utf16(head) and begins_as_json(utf8_of_utf16(head)):
        return Message("is_utf16")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_COMMENTS) and any(mark in start for mark in (b"{", b"[")):
        return Message("begins_with_comment")
    if begins_as_json(start) and _levels_open(start) > _DEEPEST:
        return Message("nested_too_deeply")
    return None


def _levels_open(text: bytes) -> int:
    """How many brackets are open where a text ends, those inside of texts aside."""
    bare = _QUOTED.sub(b"", text)
    return sum(bare.count(mark) for mark in (b"{", b"[")) - sum(bare.count(mark) for mark in (b"}", b"]"))


def _texts_on_folder(path: Path, found: Inventory, families: Sequence[Family]) -> tuple[Message, Message]:
    """What is said of a folder, and what to do."""
    if found.unreadable:
        folder, why = next(iter(found.unreadable.items()))
        below = show_relative(folder, path)
        told = Message("folder_in_it_unreadable", path=show_name(path), folder=below, why=why)
        return told if below else Message("cannot_be_listed", path=show_name(path)), Message("check_permissions")
    if not found.files:
        nothing = Message("folder_is_empty", path=show_name(path), levels=DEPTH)
        return nothing, Message("give", what=_wanted_input(families))
    holds = first_names(path)
    other = Message("no_profile", path=show_name(path), names=holds)
    return other, Message("give", what=_wanted_input(families))
