# SPDX-License-Identifier: Apache-2.0
"""What lies in one folder, by name, and how names are shown."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from advisor.messages.text import Text


@dataclass(frozen=True, slots=True)
class Listing:
    """One folder: the names of the folders and of the files in it, each in order."""

    folder: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    asked: str = ""
    """The name of the one file that was given, where a file was given and no folder."""


def list_folder(folder: Path, links: bool = True) -> Listing:
    """Names of folders and of files; pipes and sockets are neither, opening one may wait for ever.

    Raises:
        OSError: It cannot be listed.
    """
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not links and entry.is_symlink():
                continue
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.is_file():
                files.append(entry.name)
    return Listing(folder, tuple(sorted(folders)), tuple(sorted(files)))


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
    except OSError:
        return Text("nothing that can be listed", "无法列出的内容")
    names = [show_name(name) for name in (*(f"{name}/" for name in listing.folders), *listing.files)]
    if not names:
        return Text("nothing", "空目录")
    first, more = names[:limit], len(names) - limit
    if more <= 0:
        return Text(", ".join(first), "、".join(first))
    return Text(f"{', '.join(first)} and {more} more", f"{'、'.join(first)} 等 {len(names)} 项")
