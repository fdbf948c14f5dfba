# SPDX-License-Identifier: Apache-2.0
"""What lies in one folder, by name, and how names are shown."""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path

from msgspec import Struct

from advisor.machine.regular_files import leads_to_system
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.messages.text import Text

MOST_NAMES = 1_000_000
"""Names that are listed below one input: more than ten thousand ranks have."""


class TooManyNames(Exception):
    """A folder, or what was given together, holds more names than are listed."""


class Listing(Struct, frozen=True):
    """One folder: the names of the folders and of the files in it, each in order."""

    folder: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    asked: str = ""
    """The name of the one file that was given, where a file was given and no folder."""
    aside: tuple[tuple[str, Message], ...] = ()
    """Names of what is neither a folder nor a file, such as a pipe or a link to nothing, in order; and what it is."""


def list_folder(folder: Path, links: bool = True, most: int = MOST_NAMES) -> Listing:
    """Names of folders and of files; pipes and sockets are neither, opening one may wait for ever.

    Raises:
        OSError: It cannot be listed.
        TooManyNames: There are more than these.
    """
    folders: list[str] = []
    files: list[str] = []
    aside: list[tuple[str, Message]] = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count == most:
                raise TooManyNames
            if not links and entry.is_symlink():
                continue
            odd = _what_is_odd(entry)
            if odd is not None:
                aside.append((entry.name, odd))
            else:
                (folders if entry.is_dir() else files).append(entry.name)
    return Listing(folder, tuple(sorted(folders)), tuple(sorted(files)), aside=tuple(sorted(aside, key=itemgetter(0))))


def _what_is_odd(entry: os.DirEntry[str]) -> Message | None:
    """What something is that is neither a folder nor a file; None where it is one of them."""
    try:
        if entry.is_symlink() and leads_to_system(Path(entry.path)):
            return Message("link_to_system")
        if entry.is_dir() or entry.is_file():
            return None
        return Message("no_regular_file") if os.path.exists(entry.path) else Message("link_to_nothing")
    except OSError as error:  # a link in a circle
        return Message("cannot_be_opened", why=reason_of_error(error))


def show_name(path: Path | str) -> str:
    """A name as text that can be written anywhere, on one line; bytes that are no UTF-8 are shown as such."""
    return " ".join(os.fsencode(path).decode("utf-8", "backslashreplace").splitlines())


def show_relative(folder: Path, base: Path) -> str:
    """How a folder is called in reports: its path relative to `base`, empty when it is that."""
    name = folder.relative_to(base).as_posix() if folder.is_relative_to(base) else folder.name
    return "" if name == "." else show_name(name)


def first_names(folder: Path, limit: int = 4) -> Text:
    """The first few names in a folder, for a message."""
    try:
        listing = list_folder(folder)
    except (OSError, TooManyNames):
        return Text("nothing that can be listed", "无法列出的内容")
    names = [show_name(name) for name in (*(f"{name}/" for name in listing.folders), *listing.files)]
    if not names:
        return Text("nothing", "空目录")
    first, more = names[:limit], len(names) - limit
    if more <= 0:
        return Text(", ".join(first), "、".join(first))
    return Text(f"{', '.join(first)} and {more} more", f"{'、'.join(first)} 等 {len(names)} 项")
