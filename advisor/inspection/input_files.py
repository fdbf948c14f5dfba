# SPDX-License-Identifier: Apache-2.0
"""The files of an input: what families recognise, which files are read, and why others are not."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from advisor.facts.rank_facts import Source
from advisor.messages.text import Text
from advisor.model.inspection import FoundPart, InputFile, Unused
from advisor.sources.detect import find_candidates
from advisor.sources.families import FAMILIES
from advisor.sources.family import paths_of_source
from advisor.sources.listing import Listing, TooManyNames, list_folder, show_name, show_relative

MOST_FILES = 200
"""Names that are told of one folder."""
_PACKED = (".gz", ".zip", ".tar", ".tgz", ".xz", ".zst", ".bz2", ".7z", ".rar")


def parts_found(path: Path, parts: Sequence[Path] = ()) -> tuple[FoundPart, ...]:
    """The folders below a path, or below these parts of it, in which a family recognises something, in the order of the
    walk."""
    try:
        found = find_candidates(path, FAMILIES, parts)
    except TooManyNames:
        return ()
    base = path if path.is_dir() else path.parent
    recognised = (
        FoundPart(
            family=family,
            kind=one.kind,
            path=show_relative(one.root, base),
            tool=getattr(one, "tool", ""),
        )
        for family, candidates in found.candidates.items()
        for one in candidates
    )
    return tuple(dict.fromkeys(recognised))


def files_of_sources(path: Path, sources: Iterable[Source]) -> Mapping[Path, tuple[InputFile, ...]]:
    """By folder: what lies in it, which of its files are read, and folders beside it that are named after it."""
    read = {file for source in sources for file in paths_of_source(source)}
    base = path if path.is_dir() else path.parent
    leading = {folder for file in read for folder in file.parents}
    folders = {file.parent for file in read}
    beside = _folders_beside({folder for folder in folders if base in folder.parents}, base)
    return {folder: (*_files_in(folder, base, read, leading), *beside.get(folder, ())) for folder in folders}


def _folders_beside(folders: Iterable[Path], base: Path) -> Mapping[Path, list[InputFile]]:
    """By folder: those beside it that bear its name with more behind it, and of which nothing is read for a reason."""
    found: dict[Path, list[InputFile]] = {}
    for parent, mine in groupby(sorted(folders), lambda folder: folder.parent):
        try:
            names = list_folder(parent).folders
        except (OSError, TooManyNames):
            continue
        told = [(name, why) for name in names if (why := _reason_for_none(f"{name}/")) is not None]
        for folder in mine:
            found[folder] = [
                InputFile(path=f"{show_relative(parent / name, base)}/", unused="of no use", why=why)
                for name, why in told
                if name.startswith(f"{folder.name}_")
            ]
    return found


def first_files(path: Path) -> tuple[InputFile, ...]:
    """What lies at a path itself: the first names of a folder, or the file."""
    if path.is_dir():
        return tuple(_files_in(path, path, (), ()))
    return (_input_file(path, path.parent, "no part"),)


def _files_in(folder: Path, base: Path, read: Collection[Path], leading: Collection[Path]) -> Iterator[InputFile]:
    """The folders and files in a folder; nothing is told of those that lead to what is read."""
    try:
        listing = list_folder(folder)
    except (OSError, TooManyNames):
        return
    folders = [name for name in listing.folders if folder / name not in leading]
    entries: Sequence[tuple[str, Unused]] = [
        *((name, "" if folder / name in read else _why_not(folder, name)) for name in listing.files),
        *((f"{name}/", "not looked into" if leading else "folder") for name in folders),
        *((name, "cannot be opened") for name, _ in listing.aside),
    ]
    for name, unused in entries[:MOST_FILES]:
        why = _reason_for_none(name)
        if unused in ("not looked into", "folder"):
            path = f"{show_relative(folder / name, base)}/"
            yield InputFile(path=path, unused=unused if why is None else "of no use", why=why)
        else:
            yield _input_file(folder / name, base, unused, why)
    if len(entries) > MOST_FILES:
        yield InputFile(path=f"… ({len(entries) - MOST_FILES})", unused="not listed")


def _why_not(folder: Path, name: str) -> Unused:
    """Why a file is not among those that are read; what a family reads packed as it is, such as a trace, counts."""
    if any(family.reads(name) for family in FAMILIES):
        return "left aside"
    if not name.lower().endswith(_PACKED):
        return "no part"
    alone = Listing(folder, files=(name,), asked=name)
    found = (one for family in FAMILIES for one in family.detect(alone) if one.kind == "capture")
    return "packed" if next(found, None) is None else "left aside"


def _reason_for_none(name: str) -> Text | None:
    """Why nothing is read of what bears this name, as far as a family knows."""
    return next((why for family in FAMILIES if (why := family.unused(name)) is not None), None)


def _input_file(file: Path, base: Path, unused: Unused, why: Text | None = None) -> InputFile:
    try:
        size = os.stat(file).st_size
    except OSError:
        size, unused = 0, "cannot be opened"
    if why is not None and unused in ("", "left aside", "no part"):
        unused = "of no use"
    path = show_relative(file, base) or show_name(file.name)
    return InputFile(path=path, size_bytes=size, unused=unused, why=why if unused == "of no use" else None)
