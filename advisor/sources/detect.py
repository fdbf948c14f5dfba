# SPDX-License-Identifier: Apache-2.0
"""What lies at a path: folders are walked, and families asked what they recognise there."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.sources.family import Family, Inventory, LeftAside
from advisor.sources.listing import MOST_NAMES, Listing, list_folder, show_relative
from advisor.sources.unpacking import packed_in

DEPTH = 5
"""Folders below the input that are looked into."""


def find_candidates(path: Path, families: Sequence[Family], parts: Sequence[Path] = ()) -> Inventory:
    """What lies at a path: a folder and up to five folders below it, or what a single file stands for.

    Of a folder only `parts` are looked into, folders and files in it, where there are any.
    Links are followed, as rank folders often are links, but neither back, nor to a folder above, nor into or out of
    /proc.

    Raises:
        TooManyNames: There is more than a profile may hold.
    """
    found = Inventory()
    if not path.is_dir():
        found.files, found.json = 1, [path]
        beside = _listing_of_file(path)
        _add_recognised(beside, families, found)
        _add_aside(beside, path.parent, families, found)
        return found
    given = _listings_of_files(path, parts)
    folders = [path / part for part in parts if (path / part).is_dir()] if parts else [path]
    for listing in chain(given, _walk_folders(folders, families, found)):
        found.files += len(listing.files)
        _add_aside(listing, path, families, found)
        found.packed += packed_in(listing, families)
        found.json += [listing.folder / name for name in listing.files if name.endswith((".json", ".json.gz"))]
        _add_recognised(listing, families, found)
    return found


def _listing_of_file(path: Path) -> Listing:
    """The folder of a single file, which may belong to what lies there."""
    try:
        listing = list_folder(path.parent)
    except OSError:
        listing = Listing(path.parent, files=(path.name,))
    return Listing(listing.folder, listing.folders, listing.files, asked=path.name)


def _listings_of_files(path: Path, parts: Sequence[Path]) -> Iterator[Listing]:
    """The files among parts of a folder, each folder with those of them that lie in it."""
    names: dict[Path, list[str]] = {}
    for part in parts:
        if not (path / part).is_dir():
            names.setdefault((path / part).parent, []).append(part.name)
    return (Listing(folder, files=tuple(sorted(own))) for folder, own in names.items())


def _add_aside(listing: Listing, base: Path, families: Sequence[Family], found: Inventory) -> None:
    """Add what bears a name that some family reads, and cannot be looked into."""
    found.aside += [
        LeftAside(show_relative(listing.folder / name, base), what)
        for name, what in listing.aside
        if any(family.reads(name) for family in families)
    ]


def closed_rank_folders(path: Path, families: Sequence[Family], found: Inventory) -> list[LeftAside]:
    """The folders that cannot be listed and may hold captures: by their names, or because captures lie beside them."""
    roots = [one.root for family in families for one in found.of(family.name, "capture")]
    return [
        LeftAside(show_relative(folder, path), Message("folder_unreadable", why=why))
        for folder, why in found.unreadable.items()
        if any(family.reads(folder.name) for family in families)
        or any(root.is_relative_to(folder.parent) for root in roots)
    ]


def captures_without_results(path: Path, families: Sequence[Family], found: Inventory) -> list[LeftAside]:
    """The captures that hold nothing to read, as a copy leaves them that failed or changed the names of files.

    A folder of captures may bear the name of one.
    """
    roots = [one.root for family in families for one in found.of(family.name, "capture")]
    return [
        LeftAside(show_relative(one.root, path), Message("holds_no_results"))
        for family in families
        for one in found.of(family.name, "hollow")
        if not any(root.is_relative_to(one.root) for root in roots)
    ]


def _add_recognised(listing: Listing, families: Sequence[Family], found: Inventory) -> None:
    """Add what the first family recognises that recognises anything."""
    for family in families:
        if candidates := list(family.detect(listing)):
            found.candidates.setdefault(family.name, []).extend(candidates)
            return


def _walk_folders(paths: Sequence[Path], families: Sequence[Family], found: Inventory) -> Iterator[Listing]:
    """Folders with the names of what is in them, those above before those below, in order of name."""
    seen = {above for path in paths for above in _identities_above(path)}
    waiting, room = deque((path, 0) for path in paths), MOST_NAMES
    while waiting:
        folder, depth = waiting.popleft()
        try:
            here = _folder_identity(folder)
            if here in seen:
                continue
            seen.add(here)
            listing = list_folder(folder, links=here[0] != _proc_device(), most=room)
        except OSError as error:
            found.unreadable[folder] = reason_of_error(error)
            continue
        room -= len(listing.folders) + len(listing.files) + len(listing.aside)
        yield listing
        if depth < DEPTH:
            waiting += [(folder / name, depth + 1) for name in _worth_a_look(listing, families)]


def _worth_a_look(listing: Listing, families: Sequence[Family]) -> list[str]:
    inner = frozenset[str]().union(*(family.inner(listing) for family in families))
    return [name for name in listing.folders if not name.startswith(".") and name not in inner]


def _folder_identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _identities_above(path: Path) -> Iterator[tuple[int, int]]:
    """The folders a path lies in: a link to one of them would lead to everything beside the path."""
    for folder in path.resolve().parents:
        with contextlib.suppress(OSError):
            yield _folder_identity(folder)


@cache
def _proc_device() -> int:
    """The device of /proc, whose links lead into whatever processes have open; -1 where there is none."""
    return os.stat("/proc").st_dev if os.path.ismount("/proc") else -1
